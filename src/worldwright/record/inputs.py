"""The input device between a policy and the engine: what a person does in a frame, tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from worldwright.controls import KEYS, Control
from worldwright.errors import WorldwrightError

ALL_KEYS = (1 << len(KEYS)) - 1
MOST_COUNTS = 20_000
"""Mouse counts of a frame: eight turns around."""


@dataclass(frozen=True, slots=True)
class FrameInput:
    """What a policy does in one frame.

    Attributes:
        keys: mask of the keys held during the whole frame.
        mouse_dx: counts over the frame, spread evenly over its ticks.
        mouse_dy: as ``mouse_dx``.
        intent: what the policy is about, a few words.
        controls: the controls of every tick, one each; instead of the above, for input that was recorded and not made up.
    """

    keys: int = 0
    mouse_dx: int = 0
    mouse_dy: int = 0
    intent: str = ""
    controls: Sequence[Control] | None = None


def _spread(counts: int, ticks: int) -> list[int]:
    """Whole counts for every tick that sum up to ``counts``, as even as whole numbers can be."""
    if not counts:
        return [0] * ticks
    size, sign = abs(counts), 1 if counts > 0 else -1
    ends = [size * k // ticks for k in range(ticks + 1)]
    return [sign * (b - a) for a, b in pairwise(ends)]


def tick_controls(frame: FrameInput, ticks: int) -> Sequence[Control]:
    """The controls of each of a frame's ticks. Raises WorldwrightError for keys that are not there or a wrong number of controls."""
    if frame.controls is not None:
        if len(frame.controls) != ticks:
            raise WorldwrightError(f"the policy gave {len(frame.controls)} controls for a frame of {ticks} ticks")
        return frame.controls
    if not 0 <= frame.keys <= ALL_KEYS:
        raise WorldwrightError(f"the policy presses keys {frame.keys}, a mask of {len(KEYS)} bits is needed")
    if not frame.mouse_dx and not frame.mouse_dy:
        return [Control(frame.keys)] * ticks
    return [
        Control(frame.keys, dx, dy) for dx, dy in zip(_spread(frame.mouse_dx, ticks), _spread(frame.mouse_dy, ticks), strict=True)
    ]


def action_controls(action: Sequence[float], ticks: int) -> list[Control]:
    """The controls of a frame's ticks for an issued action (``controls.ACTION_NAMES``): each key is held from the frame's start on for its share
    of the ticks, and the mouse's counts, rounded, are spread over them. Raises WorldwrightError for shares beyond 0 to 1 or too many counts."""
    values = [float(value) for value in action]
    keys, mouse = values[: len(KEYS)], values[len(KEYS) :]
    if len(mouse) != 2 or not all(0.0 <= share <= 1.0 for share in keys) or not all(abs(counts) <= MOST_COUNTS for counts in mouse):
        raise WorldwrightError(
            f"an action of {len(values)} numbers, keys {keys}, mouse {mouse}",
            fix=f"{len(KEYS)} shares from 0 to 1 and two mouse counts of at most {MOST_COUNTS}",
        )
    until = [round(share * ticks) for share in keys]
    across, down = (_spread(round(counts), ticks) for counts in mouse)
    return [Control(sum(1 << k for k, end in enumerate(until) if tick < end), across[tick], down[tick]) for tick in range(ticks)]
