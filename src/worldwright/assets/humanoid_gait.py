"""Foot paths that neither slide nor sink: designed so that the touching part of a foot moves back exactly at the clip's speed.

A foot lands on its heel (or flat), lies flat, rises on its ball and swings forward. While the heel touches, the foot turns about the
heel; while it rises, about the ball, and the toes stay flat. The swing joins both ends with equal velocity (cubic Hermite).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.humanoid_rig import ANKLE, BALL, HEEL

F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gait:
    """One foot's cycle. ``duty`` is the share of the cycle on the ground; ``travel`` metres go by under the foot in it; ``land`` and
    ``leave`` are the pitch in radians when it touches down (toes up) and lifts off (heel up); ``flat`` is the share of the stance by
    which the foot lies flat and the one from which the heel rises; ``lift`` metres is how high the ankle goes in the swing."""

    duty: float
    travel: float
    land: float
    leave: float
    flat: tuple[float, float]
    lift: float
    centre: float = 0.0
    """Where the ankle is in the middle of the stance, metres ahead of the body."""


def _smooth(t: F64) -> F64:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _stance(gait: Gait, phase: F64, height: float) -> F64:
    """x, z, pitch, toes [F, 4] of a foot on the ground; ``phase`` in [0, duty] (a little beyond is well defined)."""
    s = phase / gait.duty
    x = gait.centre + gait.travel * (0.5 - s)
    land = gait.land * (1.0 - _smooth(s / gait.flat[0])) if gait.flat[0] > 0 else np.zeros_like(s)
    rise = gait.leave * np.clip((s - gait.flat[1]) / (1.0 - gait.flat[1]), 0.0, 1.5) ** 2
    pitch = land - rise
    pivot_x = np.where(pitch >= 0, HEEL, BALL) * height
    ankle_z = ANKLE * height
    angle = -pitch
    return np.stack(
        [
            x + pivot_x + np.cos(angle) * -pivot_x + np.sin(angle) * ankle_z,
            np.sin(angle) * pivot_x + np.cos(angle) * ankle_z,
            pitch,
            np.where(pitch < 0, -pitch, 0.0),
        ],
        axis=-1,
    )


def foot_path(gait: Gait, phase: F64, height: float) -> F64:
    """x, z, pitch, toes [F, 4] of a foot over its cycle: metres and radians; ``phase`` in [0, 1), 0 is the touch-down."""
    phase = np.asarray(phase, dtype=np.float64) % 1.0
    eps = 1e-4
    first, last = _stance(gait, np.array([0.0]), height)[0], _stance(gait, np.array([gait.duty]), height)[0]
    slope_first = (_stance(gait, np.array([eps]), height)[0] - first) / eps
    slope_last = (last - _stance(gait, np.array([gait.duty - eps]), height)[0]) / eps
    span = 1.0 - gait.duty
    t = ((phase - gait.duty) / span)[:, None]
    swing = (
        (2 * t**3 - 3 * t**2 + 1) * last
        + (t**3 - 2 * t**2 + t) * span * slope_last
        + (-2 * t**3 + 3 * t**2) * first
        + (t**3 - t**2) * span * slope_first
    )
    swing[:, 1] = last[1] + (first[1] - last[1]) * _smooth(t[:, 0]) + gait.lift * np.sin(np.pi * np.clip(t[:, 0], 0, 1)) ** 2
    swing[:, 3] = last[3] * (1 - _smooth(t[:, 0] * 1.6))
    return np.where((phase < gait.duty)[:, None], _stance(gait, phase, height), swing)
