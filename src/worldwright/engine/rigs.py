"""The cameras that ride with a character: through its eyes, and behind its shoulder on a boom.

The boom is a sphere swept from the head: the camera stands where the sphere still fits, so that no geometry comes nearer than its
radius, which is more than the distance from the eye to a corner of the near plane. Pulling in is immediate; easing out is smooth.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet

from worldwright.engine.person.body import Person
from worldwright.engine.physics import Physics
from worldwright.world.spec import Camera

F64 = NDArray[np.float64]
Vec = tuple[float, float, float]

BOOM_RADIUS = 0.2
"""Metres kept between the third-person camera and anything that collides, at most the character's own radius."""
BOOM_SKIN = 0.01
EASE_SECONDS = 0.25
"""Time constant with which the boom grows again."""
RIG_TICKS = 2
"""The boom is eased every so many ticks, whoever looks and when."""


class Views(NamedTuple):
    """Where the cameras of the first and the third person stand, and where both look."""

    first: Vec
    third: Vec
    yaw: float
    pitch: float

    def cameras(self) -> dict[str, F64]:
        """Rig name to c2w [4, 4] (OpenCV)."""
        return {"first": _look(self.first, self.yaw, self.pitch), "third": _look(self.third, self.yaw, self.pitch)}


class Rigs:
    """First and third person for one character. ``advance`` every tick; ``views`` when somebody looks."""

    def __init__(self, camera: Camera, character: Person, physics: Physics) -> None:
        self.camera, self.character, self.physics = camera, character, physics
        self.mask = character.mask
        self._sphere = bullet.BulletSphereShape(min(BOOM_RADIUS, 0.9 * character.radius))
        self._keep = math.exp(-RIG_TICKS * physics.dt / EASE_SECONDS)
        self.pivot, self.length = self._room()

    def advance(self) -> None:
        """After every tick: ease the boom out, as far as there is room."""
        if self.physics.tick % RIG_TICKS == 0:
            self.pivot, free = self._room()
            self.length = min(free, free + (self.length - free) * self._keep)

    def views(self) -> Views:
        """Where they stand and look after the last tick."""
        c = self.character
        pivot, n = self.pivot, self.length
        if self.physics.tick % RIG_TICKS:
            pivot, free = self._room()
            n = min(n, free)
        bx, by, bz = self._back()
        third = (pivot[0] + n * bx, pivot[1] + n * by, pivot[2] + n * bz)
        return Views(c.eye(self.camera.eye), third, c.yaw, c.pitch)

    def _back(self) -> Vec:
        yaw, pitch = self.character.yaw, self.character.pitch
        return (-math.cos(yaw) * math.cos(pitch), -math.sin(yaw) * math.cos(pitch), -math.sin(pitch))

    def _room(self) -> tuple[Vec, float]:
        """Where the boom starts and how long it can be. The sweep starts in the chest, where a sphere of this size is free since the
        body is; goes up to above the eye; then back."""
        eye = self.character.eye(self.camera.eye)
        pivot, _ = self._far(self.character.chest(), (eye[0], eye[1], eye[2] + self.camera.boom_height))
        n = self.camera.boom
        bx, by, bz = self._back()
        return pivot, self._far(pivot, (pivot[0] + n * bx, pivot[1] + n * by, pivot[2] + n * bz))[1]

    def _far(self, a: Vec, b: Vec) -> tuple[Vec, float]:
        d = math.dist(a, b)
        if d < 1e-9:
            return a, 0.0
        hit = self.physics.sweep(self._sphere, a, b, self.mask)
        free = d if hit is None else max(0.0, hit.fraction * d - BOOM_SKIN)
        t = free / d
        return (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])), free


def _look(position: Vec, yaw: float, pitch: float) -> F64:
    """``transforms.camera_look`` without its batches: it is called twice a sample."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    x, y, z = position
    # Columns: right (sy, -cy, 0), down = forward x right, forward (cy cp, sy cp, sp), position.
    return np.array([[sy, cy * sp, cy * cp, x], [-cy, sy * sp, sy * cp, y], [0.0, -cp, sp, z], [0.0, 0.0, 0.0, 1.0]])
