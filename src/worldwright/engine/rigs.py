"""The cameras that ride with a character: through its eyes, and behind its shoulder on a boom.

The boom is a sphere swept from the head: the camera stands where the sphere still fits, so that no geometry comes nearer than its
radius, which is more than the distance from the eye to a corner of the near plane. Pulling in is immediate; easing out is smooth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet, core

from worldwright.engine.physics import EVERYTHING, Physics
from worldwright.transforms import camera_look
from worldwright.world.spec import Camera

F64 = NDArray[np.float64]
Vec = tuple[float, float, float]

BOOM_RADIUS = 0.2
"""Metres kept between the third-person camera and anything that collides."""
BOOM_SKIN = 0.01
EASE_SECONDS = 0.25
"""Time constant with which the boom grows again."""
MIN_BOOM = 0.0


class Rigs:
    """First and third person for one character. ``advance`` every tick; ``cameras`` when somebody looks."""

    def __init__(self, camera: Camera, radius: float, group: int, physics: Physics) -> None:
        self.camera, self.physics = camera, physics
        self.radius = min(BOOM_RADIUS, 0.8 * radius)
        self.mask = core.BitMask32(EVERYTHING & ~(1 << group))
        self._sphere = bullet.BulletSphereShape(self.radius)
        self._decay = math.exp(-physics.dt / EASE_SECONDS)
        self.length = camera.boom
        self._first = True

    def head(self, feet: Vec, base_z: float, height: float) -> Vec:
        """The eye."""
        return (feet[0], feet[1], feet[2] + self.camera.eye * height)

    def advance(self, eye: Vec, yaw: float, pitch: float) -> None:
        """Ease the boom out, as far as there is room."""
        self._pivot, free = self._free(eye, yaw, pitch)
        eased = free + (self.length - free) * self._decay if not self._first else free
        self.length = min(free, eased)
        self._first = False

    def _free(self, eye: Vec, yaw: float, pitch: float) -> tuple[Vec, float]:
        """The point that the boom starts from, and how long it can be."""
        pivot = eye
        rise = self.camera.boom_height
        if abs(rise) > 1e-6:
            pivot = self._towards(eye, (eye[0], eye[1], eye[2] + rise))[0]
        back = (-math.cos(yaw) * math.cos(pitch), -math.sin(yaw) * math.cos(pitch), -math.sin(pitch))
        n = self.camera.boom
        _, free = self._towards(pivot, (pivot[0] + n * back[0], pivot[1] + n * back[1], pivot[2] + n * back[2]))
        return pivot, free

    def _towards(self, a: Vec, b: Vec) -> tuple[Vec, float]:
        d = math.dist(a, b)
        hit = self.physics.sweep(self._sphere, a, b, self.mask)
        free = d if hit is None else max(0.0, hit.fraction * d - BOOM_SKIN)
        t = free / d
        return (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])), free

    def cameras(self, eye: Vec, yaw: float, pitch: float) -> dict[str, F64]:
        """Rig name to c2w [4, 4] (OpenCV) for the last tick."""
        p, n = self._pivot, self.length
        back = (-math.cos(yaw) * math.cos(pitch), -math.sin(yaw) * math.cos(pitch), -math.sin(pitch))
        third = (p[0] + n * back[0], p[1] + n * back[1], p[2] + n * back[2])
        return {"first": camera_look(eye, yaw, pitch), "third": camera_look(third, yaw, pitch)}
