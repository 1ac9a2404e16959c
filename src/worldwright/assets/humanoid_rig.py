"""The built-in humanoid's proportions and skeleton.

All lengths here are shares of the body's height; the skeleton comes out in metres. At rest every joint is turned as the model is (looks
along +X, left is +Y), the arms hang ``REST_ARM`` away from the body, the feet stand flat at z = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Skeleton

Build = Literal["slim", "average", "broad", "child"]
F64 = NDArray[np.float64]

REST_ARM = math.radians(32.0)
"""Angle of the arms to the vertical in the bind pose: half-way between hanging and raised, where shoulders deform least."""

SIDES = (("l", 1.0), ("r", -1.0))
"""Name suffix and sign of Y."""


@dataclass(frozen=True, slots=True)
class Proportions:
    """Shares of the height. ``girth`` scales the trunk's width, ``limb`` the limbs' thickness, ``head`` is chin to crown."""

    hip: float = 0.515
    head: float = 0.141
    neck: float = 0.043
    shoulder: float = 0.098
    girth: float = 1.0
    depth: float = 1.0
    limb: float = 1.0
    arm: float = 1.0


PROPORTIONS: dict[Build, Proportions] = {
    "slim": Proportions(hip=0.522, shoulder=0.092, girth=0.90, depth=0.90, limb=0.90),
    "average": Proportions(),
    "broad": Proportions(hip=0.508, shoulder=0.108, girth=1.15, depth=1.17, limb=1.13),
    "child": Proportions(hip=0.465, head=0.182, neck=0.040, shoulder=0.092, girth=0.98, depth=1.05, limb=1.02, arm=0.92),
}

ANKLE = 0.046
HEEL = -0.038
BALL = 0.074
TOE = 0.112
"""The foot along X from the ankle: back of the heel, ball (toe joint), tip."""
UPPER_ARM, FOREARM, HAND = 0.168, 0.146, 0.052
"""Bone lengths; the hand's is wrist to knuckles."""


def joint_positions(p: Proportions) -> dict[str, F64]:
    """Joint name to its place at rest, shares of the height; parents come first (see ``PARENTS``)."""
    skull = 1.0 - p.head * 0.93
    neck = skull - p.neck
    trunk = neck - p.hip
    places = {
        "hips": (0.0, 0.0, p.hip + 0.012),
        "spine": (0.0, 0.0, p.hip + 0.20 * trunk),
        "chest": (0.0, 0.0, p.hip + 0.48 * trunk),
        "neck": (-0.008, 0.0, neck),
        "head": (-0.004, 0.0, skull),
    }
    joints = {name: np.array(place) for name, place in places.items()}
    knee = ANKLE + (p.hip - ANKLE) * 0.495
    for side, sign in SIDES:
        along = np.array([0.0, sign * math.sin(REST_ARM), -math.cos(REST_ARM)])
        shoulder = np.array([-0.006, sign * p.shoulder, neck - 0.032])
        elbow = shoulder + along * UPPER_ARM * p.arm
        wrist = elbow + along * FOREARM * p.arm
        hip_y = sign * 0.050 * (0.4 + 0.6 * p.girth)
        joints |= {
            f"clavicle.{side}": np.array([-0.002, sign * 0.022, neck - 0.020]),
            f"upperarm.{side}": shoulder,
            f"forearm.{side}": elbow,
            f"hand.{side}": wrist,
            f"fingers.{side}": wrist + along * HAND * p.arm,
            f"thigh.{side}": np.array([0.0, hip_y, p.hip]),
            f"shin.{side}": np.array([0.004, hip_y, knee]),
            f"foot.{side}": np.array([-0.008, hip_y, ANKLE]),
            f"toes.{side}": np.array([-0.008 + BALL, hip_y, 0.012]),
        }
    return joints


def parent_of(joint: str) -> str | None:
    """The parent's name; None for ``hips``."""
    stem, _, side = joint.partition(".")
    if not side:
        return {"hips": None, "spine": "hips", "chest": "spine", "neck": "chest", "head": "neck"}[stem]
    chain = {"clavicle": "chest", "thigh": "hips"}
    if stem in chain:
        return chain[stem]
    before = {
        "upperarm": "clavicle",
        "forearm": "upperarm",
        "hand": "forearm",
        "fingers": "hand",
        "shin": "thigh",
        "foot": "shin",
        "toes": "foot",
    }
    return f"{before[stem]}.{side}"


@dataclass(frozen=True)
class Rig:
    """A skeleton in metres, with its joints by name: ``place[name]`` [3] at rest in the model, ``index[name]``."""

    skeleton: Skeleton
    place: dict[str, F64]
    index: dict[str, int]
    height: float
    proportions: Proportions


def make_rig(build: Build, height: float) -> Rig:
    """The skeleton of a build, ``height`` metres tall before clothes."""
    p = PROPORTIONS[build]
    place = {name: at * height for name, at in joint_positions(p).items()}
    names = tuple(place)
    index = {name: k for k, name in enumerate(names)}
    parents = [parent_of(name) for name in names]
    rest = np.array([place[name] - (place[parent] if parent else 0.0) for name, parent in zip(names, parents, strict=True)])
    inverse_bind = np.tile(np.eye(4), (len(names), 1, 1))
    inverse_bind[:, :3, 3] = -np.array([place[name] for name in names])
    skeleton = Skeleton(
        names=names,
        parents=np.array([index[parent] if parent else -1 for parent in parents], dtype=np.int32),
        rest_translations=rest.astype(np.float32),
        rest_rotations=np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(names), 1)),
        rest_scales=np.ones((len(names), 3), dtype=np.float32),
        inverse_bind=inverse_bind.astype(np.float32),
    )
    return Rig(skeleton, place, index, height, p)
