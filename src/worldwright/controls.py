"""What a person can press, and how it is written down, everywhere the same.

``action[i]`` is what was held from frame i to frame i + 1; frame i + 1 shows its effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

KEYS = ("forward", "back", "left", "right", "run", "jump", "crouch", "use")
"""Bit k of a key mask is KEYS[k]. ``use`` opens and pushes."""

ACTION_NAMES = (*KEYS, "mouse_dx", "mouse_dy")
"""An issued action: for each key the share of the frame's ticks in which it was held (0 to 1), then mouse counts summed over the frame."""

EFFECT_NAMES = ("forward_m", "right_m", "up_m", "turn_rad", "pitch_rad")
"""An effective action: how the character moved from frame i to frame i + 1, in metres along its own axes at frame i, and how far the
look turned (turn: counter-clockwise from above; pitch: up)."""

MOUSE_RADIANS = 0.0025
"""Radians a mouse count. dx > 0 turns right (clockwise), dy > 0 looks down, as mice report."""

KEY_BITS = {name: 1 << k for k, name in enumerate(KEYS)}


class Flag(IntFlag):
    """What became of a character between a frame and the next: the reasons for which an action shows less effect than issued."""

    BLOCKED = 1
    """Wanted to go, and something was in the way."""
    SLIDING = 2
    """Moved along an obstacle or down a steep slope rather than where it wanted."""
    AIRBORNE = 4
    CROUCHED = 8
    PUSHING = 16
    STEPPING = 32
    """Went up or down a step."""
    HELD = 64
    """Could not act: dead, moved elsewhere, or the game is over."""


@dataclass(frozen=True, slots=True)
class Control:
    """Input for one tick: the keys held (a mask) and the mouse's counts that arrive in this tick."""

    keys: int = 0
    mouse_dx: int = 0
    mouse_dy: int = 0
