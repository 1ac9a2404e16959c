"""What an engine says in a take's settings of how exact its looks are, and how quickly it settles: within bounds, so that nothing is excused
that should be found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from worldwright.errors import WorldwrightError

PITCH_LIMIT = 1.4


@dataclass(frozen=True, slots=True)
class Exactness:
    """``look_step``: radians of the smallest turn; ``look_up`` and ``look_down``: how far the look goes; ``settle``: seconds in which motion
    follows a change of keys, beside those that every engine is given."""

    look_step: float = 0.0
    look_up: float = PITCH_LIMIT
    look_down: float = PITCH_LIMIT
    settle: float = 0.0


_BOUNDS = {
    "look_step_rad": ("look_step", 0.0, 2e-4),
    "look_up_rad": ("look_up", 0.2, PITCH_LIMIT),
    "look_down_rad": ("look_down", 0.2, PITCH_LIMIT),
    "settle_seconds": ("settle", 0.0, 1.0),
}


def exactness_of(settings: Mapping[str, str]) -> Exactness:
    """From a take's settings; an engine that says nothing is held to what ours keeps. Raises WorldwrightError for what is absurd."""
    found: dict[str, float] = {}
    for key, (name, low, high) in _BOUNDS.items():
        if key in settings:
            try:
                value = float(settings[key])
            except ValueError:
                value = math.nan
            if not low <= value <= high:
                raise WorldwrightError(f"{key} is {settings[key][:40]!r}, not from {low:g} to {high:g}", where="settings")
            found[name] = value
    return Exactness(**found)
