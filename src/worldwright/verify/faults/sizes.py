"""How large the faults are, and whether an edit of a picture shows."""

from __future__ import annotations

import numpy as np

from worldwright.transforms import pose_matrix, quat_axis_angle
from worldwright.verify.faults.registry import Array, Rng

CENTIMETRE = 0.01
HALF_DEGREE = float(np.radians(0.5))
CHANGED_SHARE = 0.002
VISIBLE_LEVELS = 16
"""An edit of rgb matters when more than ``CHANGED_SHARE`` of the pixels change by more than this; of another pass, when they change at all."""


def matters(name: str, before: Array, after: Array) -> bool:
    """Whether one picture of a pass was really changed."""
    gap = np.abs(before.astype(np.int64) - after.astype(np.int64))
    gap = gap.max(axis=-1) if gap.ndim == 3 else gap
    return bool((gap > (VISIBLE_LEVELS if name == "rgb" else 0)).mean() > CHANGED_SHARE)


def shift(rng: Rng) -> Array:
    """A camera's move, [4, 4]: a centimetre, any way."""
    direction = rng.normal(size=3)
    return pose_matrix(direction / np.linalg.norm(direction) * CENTIMETRE, [1.0, 0, 0, 0])


def turn(rng: Rng) -> Array:
    """A camera's turn, [4, 4]: half a degree, about any axis."""
    axis = rng.normal(size=3)
    return pose_matrix(np.zeros(3), quat_axis_angle(axis / np.linalg.norm(axis), HALF_DEGREE))
