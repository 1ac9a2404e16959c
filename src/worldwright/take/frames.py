"""Rows a frame, derived from inputs and samples: the writer and the reader use the same function, so that they always agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from worldwright.controls import ACTION_NAMES, KEYS, Flag


class Change(NamedTuple):
    """An input: from this tick's step on ``keys`` are held; the mouse's counts belong to this tick alone."""

    tick: int
    keys: int
    mouse_dx: int
    mouse_dy: int


Track = tuple[float, float, float, float, float]
"""x y z yaw pitch of the played character at a sample, rounded to float32 as stored."""


def short_turn(angle: float) -> float:
    """The angle in (-pi, pi] that is the same turn."""
    turn = math.remainder(angle, 2 * math.pi)
    return math.pi if turn == -math.pi else turn


def issued_row(tick: int, frame_ticks: int, keys: int, changes: Sequence[Change]) -> list[float]:
    """What was held over the ticks [tick, tick + frame_ticks): ``controls.ACTION_NAMES``.

    Args:
        tick: the frame's tick.
        frame_ticks: its length.
        keys: the mask held before ``tick``.
        changes: the inputs within the frame, ascending.
    """
    held = [0] * len(KEYS)
    dx = dy = 0
    since = tick
    for change in (*changes, Change(tick + frame_ticks, 0, 0, 0)):
        if keys and change.tick > since:
            for k in range(len(KEYS)):
                if keys >> k & 1:
                    held[k] += change.tick - since
        since, keys = change.tick, change.keys
        dx += change.mouse_dx
        dy += change.mouse_dy
    return [ticks / frame_ticks for ticks in held] + [float(dx), float(dy)]


def effective_row(start: Track, end: Track) -> list[float]:
    """What the frame did to the character: ``controls.EFFECT_NAMES``, along its own axes at the start."""
    dx, dy, dz = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    cos, sin = math.cos(start[3]), math.sin(start[3])
    return [dx * cos + dy * sin, dx * sin - dy * cos, dz, short_turn(end[3] - start[3]), end[4] - start[4]]


class FrameTotals:
    """Sums over a take's frames, for reports.

    Attributes:
        frames: how many.
        issued: for each of ``controls.ACTION_NAMES`` the sum of the absolute values.
        flags: for each flag the frames in which it held.
        distance: metres over ground.
    """

    def __init__(self) -> None:
        self.frames = 0
        self.issued = [0.0] * len(ACTION_NAMES)
        self.flags = dict.fromkeys(Flag, 0)
        self.distance = 0.0

    def add(self, issued: Sequence[float], effective: Sequence[float], flags: int) -> None:
        """One frame's row."""
        self.frames += 1
        self.issued = [total + abs(value) for total, value in zip(self.issued, issued, strict=True)]
        self.distance += math.hypot(effective[0], effective[1])
        for flag in self.flags:
            self.flags[flag] += bool(flags & flag)
