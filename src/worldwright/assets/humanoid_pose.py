"""From a designed motion to joint rotations: two-bone inverse kinematics for the legs, direct angles for everything else.

Angles are radians, arrays [F] over the frames of a clip. Pitch is about +Y (positive leans forward), roll about +X, yaw about +Z.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.humanoid_rig import REST_ARM, SIDES, Rig
from worldwright.transforms import matrix_to_quat, quat_axis_angle, quat_conjugate, quat_multiply, quat_rotate

F64 = NDArray[np.float64]
X, Y, Z = np.eye(3)


@dataclass
class Angles:
    """A turn of a trunk joint against its parent."""

    pitch: F64 | float = 0.0
    roll: F64 | float = 0.0
    yaw: F64 | float = 0.0


@dataclass
class Arm:
    """``swing`` forward, ``spread`` away from the body, ``elbow`` bend, ``inward`` turn of the forearm across the body, ``wrist`` bend
    towards the palm, ``curl`` of the fingers."""

    swing: F64 | float = 0.0
    spread: F64 | float = 0.12
    elbow: F64 | float = 0.25
    inward: F64 | float = 0.25
    wrist: F64 | float = 0.0
    curl: F64 | float = 0.35
    shrug: F64 | float = 0.0


@dataclass
class Foot:
    """The ankle's place in the model [F, 3] in metres, ``pitch`` (positive: toes up), ``yaw`` (positive: to the left), and the bend of
    the toes against the foot (positive: up)."""

    ankle: F64
    pitch: F64 | float = 0.0
    yaw: F64 | float = 0.0
    toes: F64 | float = 0.0
    knee_out: float = 0.12
    """How far the knee points outward, radians."""


@dataclass
class Motion:
    """A whole body over F frames. ``hips`` [F, 3] metres."""

    hips: F64
    feet: dict[str, Foot]
    pelvis: Angles = field(default_factory=Angles)
    spine: Angles = field(default_factory=Angles)
    chest: Angles = field(default_factory=Angles)
    neck: Angles = field(default_factory=Angles)
    head: Angles = field(default_factory=Angles)
    arms: dict[str, Arm] = field(default_factory=lambda: {"l": Arm(), "r": Arm()})


def solve(rig: Rig, motion: Motion) -> tuple[F64, F64]:
    """Local poses of a motion: translations [F, J, 3] and rotations [F, J, 4] wxyz, continuous in sign."""
    frames = len(motion.hips)
    count = len(rig.index)
    translations = np.tile(rig.skeleton.rest_translations.astype(np.float64), (frames, 1, 1))
    translations[:, rig.index["hips"]] = motion.hips
    local = np.zeros((frames, count, 4))
    local[..., 0] = 1.0

    for name, angles in (
        ("hips", motion.pelvis),
        ("spine", motion.spine),
        ("chest", motion.chest),
        ("neck", motion.neck),
        ("head", motion.head),
    ):
        local[:, rig.index[name]] = _turn(angles, frames)
    for side, sign in SIDES:
        for joint, rotation in _arm(motion.arms[side], sign, frames).items():
            local[:, rig.index[f"{joint}.{side}"]] = rotation
        for joint, rotation in _leg(rig, motion, side, sign, local[:, rig.index["hips"]]).items():
            local[:, rig.index[f"{joint}.{side}"]] = rotation
    turns = np.sum(local[1:] * local[:-1], axis=-1) < 0
    local[1:] *= np.where(np.cumsum(turns, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    return translations, local


def _about(axis: F64, angle: F64 | float, frames: int) -> F64:
    return np.asarray(quat_axis_angle(axis, np.broadcast_to(np.asarray(angle, dtype=np.float64), (frames,))))


def _turn(angles: Angles, frames: int) -> F64:
    tilt = quat_multiply(_about(Y, angles.pitch, frames), _about(X, angles.roll, frames))
    return np.asarray(quat_multiply(_about(Z, angles.yaw, frames), tilt))


def _arm(arm: Arm, sign: float, frames: int) -> dict[str, F64]:
    """Rotations of the arm's joints. At rest it points along (0, sign sin a, -cos a): spreading is about X, swinging about Y, and the
    elbow's axis is square to both the arm and X."""
    along = np.array([0.0, sign * np.sin(REST_ARM), -np.cos(REST_ARM)])
    bend = np.cross(along, X)
    spread = _about(X, sign * (np.asarray(arm.spread) - REST_ARM), frames)
    swing = _about(Y, -np.asarray(arm.swing), frames)
    inward = _about(along, sign * np.asarray(arm.inward), frames)
    upper = quat_multiply(swing, quat_multiply(spread, inward))
    return {
        "clavicle": _about(X, sign * np.asarray(arm.shrug), frames),
        "upperarm": np.asarray(upper),
        "forearm": _about(bend, arm.elbow, frames),
        "hand": _about(X, -sign * np.asarray(arm.wrist), frames),
        "fingers": _about(X, -sign * np.asarray(arm.curl), frames),
    }


def _leg(rig: Rig, motion: Motion, side: str, sign: float, hips: F64) -> dict[str, F64]:
    """Thigh, shin, foot and toes so that the ankle is where the motion wants it; the knee points where the foot does, a little out."""
    frames = len(motion.hips)
    foot = motion.feet[side]
    thigh0, shin0, foot0 = (rig.place[f"{name}.{side}"] for name in ("thigh", "shin", "foot"))
    socket = motion.hips + quat_rotate(hips, thigh0 - rig.place["hips"])
    upper, lower = float(np.linalg.norm(shin0 - thigh0)), float(np.linalg.norm(foot0 - shin0))
    reach = foot.ankle - socket
    distance = np.clip(np.linalg.norm(reach, axis=1), abs(upper - lower) * 1.01, (upper + lower) * 0.9995)
    down = reach / np.linalg.norm(reach, axis=1, keepdims=True)

    yaw = np.broadcast_to(np.asarray(foot.yaw, dtype=np.float64), (frames,)) * 0.6 + sign * foot.knee_out
    pole = np.stack([np.cos(yaw), np.sin(yaw), np.zeros(frames)], axis=1)
    forward = pole - down * np.sum(pole * down, axis=1, keepdims=True)
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    cosine = (upper**2 + distance**2 - lower**2) / (2 * upper * distance)
    knee = socket + upper * (down * cosine[:, None] + forward * np.sqrt(np.clip(1 - cosine**2, 0, 1))[:, None])
    ankle = socket + down * distance[:, None]

    thigh = quat_multiply(_basis(knee - socket, forward), quat_conjugate(_basis((shin0 - thigh0)[None], X[None])))
    shin = quat_multiply(_basis(ankle - knee, forward), quat_conjugate(_basis((foot0 - shin0)[None], X[None])))
    sole = quat_multiply(_about(Z, foot.yaw, frames), _about(Y, -np.asarray(foot.pitch), frames))
    return {
        "thigh": np.asarray(quat_multiply(quat_conjugate(hips), thigh)),
        "shin": np.asarray(quat_multiply(quat_conjugate(thigh), shin)),
        "foot": np.asarray(quat_multiply(quat_conjugate(shin), sole)),
        "toes": _about(Y, -np.asarray(foot.toes), frames),
    }


def _basis(along: F64, forward: F64) -> F64:
    """Quaternions [F, 4] of frames whose z is ``along`` and whose x is the part of ``forward`` square to it."""
    z = along / np.linalg.norm(along, axis=-1, keepdims=True)
    x = forward - z * np.sum(forward * z, axis=-1, keepdims=True)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(matrix_to_quat(np.stack([x, np.cross(z, x), z], axis=-1)))


def mirrored(motion: Motion) -> Motion:
    """The same motion with left and right exchanged."""
    flip = np.array([1.0, -1.0, 1.0])
    other = {"l": "r", "r": "l"}

    def negated(value: F64 | float) -> F64 | float:
        return -value

    trunk = {
        f.name: Angles(a.pitch, negated(a.roll), negated(a.yaw))
        for f in fields(motion)
        if isinstance(a := getattr(motion, f.name), Angles)
    }
    feet = {
        other[side]: Foot(foot.ankle * flip, foot.pitch, negated(foot.yaw), foot.toes, foot.knee_out)
        for side, foot in motion.feet.items()
    }
    return Motion(hips=motion.hips * flip, feet=feet, arms={other[side]: arm for side, arm in motion.arms.items()}, **trunk)
