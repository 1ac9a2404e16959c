"""Actions over several frames, for clips that take every k-th frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import KEYS

Array = NDArray[Any]


def join_actions(action: Array, stride: int) -> Array:
    """Issued actions [T * stride, 10] of single frames to those of steps of ``stride`` frames [T, 10]: keys as the share of the step's
    time in which they were held, mouse counts summed."""
    steps = action.reshape(-1, stride, action.shape[-1])
    keys = steps[..., : len(KEYS)].mean(axis=1)
    return np.concatenate([keys, steps[..., len(KEYS) :].sum(axis=1)], axis=-1).astype(action.dtype)


def join_effects(effect: Array, stride: int) -> Array:
    """Effective actions [T * stride, 5] to those of steps [T, 5]. Each frame's motion is along the character's axes at that frame, so it
    is turned back to the axes at the step's start by what the character has turned since (counter-clockwise from above; forward at
    angle a is cos(a) forward - sin(a) right)."""
    steps = effect.reshape(-1, stride, effect.shape[-1]).astype(np.float64)
    forward, right, up, turn, pitch = np.moveaxis(steps, -1, 0)
    angle = np.cumsum(turn, axis=1) - turn
    c, s = np.cos(angle), np.sin(angle)
    joined = [(c * forward + s * right).sum(1), (c * right - s * forward).sum(1), up.sum(1), turn.sum(1), pitch.sum(1)]
    return np.stack(joined, axis=-1).astype(effect.dtype)
