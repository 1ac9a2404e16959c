"""Passes against the same pictures drawn again by the same renderer from the take: every pixel of every pass.

On the device that the shot names the integers must be equal. Another driver or card rounds differently: then a few pixels may lie beyond a
tolerance, and none of a pass may do so in a heap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from worldwright.render.passes import PASSES
from worldwright.verify.measure import Measure

TOLERANCE = {"depth": 4, "normal": 24, "albedo": 8, "metallic": 8, "roughness": 8, "entity": 0, "flow": 4}
"""Codes that another device may differ by."""
SHARE = 0.002
HEAP = 7
HEAP_SHARE = 0.6
"""Share of a 7 x 7 neighbourhood that may differ on another device: rounding differs along edges, not over areas."""

Array = NDArray[Any]


def check_name(name: str) -> str:
    """The check's name for a pass."""
    return f"again_{name}"


def _difference(name: str, stored: Array, drawn: Array) -> NDArray[np.int64]:
    gap = np.abs(stored.astype(np.int64) - drawn.astype(np.int64))
    return gap.max(axis=-1) if gap.ndim == 3 else gap


def measure_again(index: int, stored: Mapping[str, Array], drawn: Mapping[str, Array], *, exact: bool) -> list[Measure]:
    """Compare the stored passes of a frame with those drawn again. ``exact``: the same renderer, version and device."""
    out: list[Measure] = []
    for name in PASSES:
        if name not in stored or name not in drawn:
            continue
        check = check_name(name)
        if exact and np.array_equal(stored[name], drawn[name]):
            out.append(Measure(check, index, 0.0, 0.0, "pixels that differ from the picture drawn again"))
            continue
        gap = _difference(name, stored[name], drawn[name])
        if exact:
            v, u = np.unravel_index(int(np.argmax(gap > 0)), gap.shape)
            what = (
                "pixels that differ from the picture drawn again "
                f"(first: row {v}, column {u} is {stored[name][v, u].tolist()}, drawn {drawn[name][v, u].tolist()})"
            )
            out.append(Measure(check, index, float((gap > 0).sum()), 0.0, what))
            continue
        beyond = gap > TOLERANCE[name]
        heap = uniform_filter(beyond.astype(np.float32), HEAP)
        out.append(
            Measure(
                check,
                index,
                float(beyond.mean()),
                SHARE,
                f"share of pixels over {TOLERANCE[name]} codes off the picture drawn again",
            )
        )
        out.append(
            Measure(check, index, float(heap.max()), HEAP_SHARE, "densest area of pixels off the picture drawn again (share)")
        )
    return out
