"""Which instants a picture is the mean of, and how its samples are shared among them."""

from __future__ import annotations

from dataclasses import dataclass

from worldwright.render.protocol import Moment, View
from worldwright.take.model import Instant


@dataclass(frozen=True, slots=True)
class Slice:
    """``samples`` paths a pixel at an instant; the first of them is number ``first`` of the picture."""

    instant: Instant
    view: View
    first: int
    samples: int


def slices(moment: Moment, samples: int) -> list[Slice]:
    """The sub-frames of a picture, or its one instant. The budget is the whole picture's: where it is smaller than the number of
    sub-frames, that many of them are taken, spread evenly over the shutter."""
    open_at = moment.shutter or ((moment.now, moment.view),)
    count = min(len(open_at), samples)
    out: list[Slice] = []
    first = 0
    for k in range(count):
        instant, view = open_at[(2 * k + 1) * len(open_at) // (2 * count)]
        own = samples // count + (k < samples % count)
        out.append(Slice(instant, view, first, own))
        first += own
    return out
