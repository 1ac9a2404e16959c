"""Doom's numbers as ours: map units to metres, its angles to radians, and the camera that its pictures are drawn through.

The software renderer looks up sines in a table of FINE angles a circle, each entry for the middle of its step, and looks up and down by
shifting the picture: the camera stays level. Recorded is a camera that looks there; ``render.cameras`` draws it as it is drawn here.
Doom's vertical unit is 1.2 of its horizontal ones (``world.generators.doom``), and so is the tangent of an angle upwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from vizdoom import GameVariable

from worldwright.transforms import camera_look
from worldwright.world.generators.doom import ACROSS, TICS, UP

F64 = NDArray[np.float64]
Vec = tuple[float, float, float]

FINE = 8192
STRETCH = UP / ACROSS

_V = GameVariable
CAMERA = {
    "x": _V.CAMERA_POSITION_X, "y": _V.CAMERA_POSITION_Y, "z": _V.CAMERA_POSITION_Z, "angle": _V.CAMERA_ANGLE, "pitch": _V.CAMERA_PITCH,
}  # fmt: skip
"""What ``camera`` needs to know."""


def place(x: float, y: float, z: float) -> Vec:
    """Map units to metres."""
    return x * ACROSS, y * ACROSS, z * UP


def speed(x: float, y: float, z: float) -> Vec:
    """Map units a tic to metres a second."""
    return x * ACROSS * TICS, y * ACROSS * TICS, z * UP * TICS


def yaw_of(angle: float) -> float:
    """Degrees counter-clockwise from east to radians in (-pi, pi]."""
    return math.radians(angle - 360 if angle > 180 else angle)


def pitch_of(pitch: float) -> float:
    """Degrees down to radians up."""
    return -math.radians(pitch)


def _fine(degrees: float) -> int:
    """The place in the table of sines of an angle."""
    return round(degrees / 360 * 2**32) >> 19


def camera(variables: Mapping[str, float]) -> F64:
    """c2w [4, 4] (OpenCV) of the picture, from the variables CAMERA."""
    yaw = (_fine(variables["angle"]) + 0.5) * math.tau / FINE
    up = (_fine(90 - variables["pitch"]) - FINE // 4 + 0.5) * math.tau / FINE
    where = place(variables["x"], variables["y"], variables["z"])
    return camera_look(where, yaw, math.atan(STRETCH * math.tan(up)))
