"""Entity ids are known, whole and where there is a surface: an id that was filtered, invented or left over is found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worldwright.render.passes import PASSES
from worldwright.verify.frame import Frame
from worldwright.verify.measure import Measure

NAME = "entity_ids"
VALIDITY = "validity"


def measure_entities(frame: Frame, known: NDArray[np.bool_]) -> list[Measure]:
    """Pixels with an id for which ``known[id]`` is false (not in the world's table), over the whole picture."""
    if "entity" not in frame.stored:
        return []
    ids = frame.stored["entity"]
    present = np.flatnonzero(np.bincount(ids.ravel(), minlength=len(known)))
    bad = [int(k) for k in present if k >= len(known) or not known[k]]
    what = f"pixels with an id that the world does not have ({', '.join(map(str, bad[:5]))})" if bad else "pixels with unknown ids"
    return [Measure(NAME, frame.index, float(np.isin(ids, bad).sum()) if bad else 0.0, 0.0, what)]


def measure_validity(frame: Frame) -> list[Measure]:
    """Pixels where depth and normal do not agree with entity about there being a surface."""
    if "entity" not in frame.stored:
        return []
    surface = frame.stored["entity"] != 0
    out: list[Measure] = []
    for name in ("depth", "normal"):
        if name in frame.stored:
            stored = frame.stored[name]
            seen = stored != PASSES[name].invalid
            seen = seen if seen.ndim == 2 else seen.all(axis=-1)
            out.append(
                Measure(
                    VALIDITY, frame.index, float((seen != surface).sum()), 0.0, f"pixels where {name} and entity disagree about sky"
                )
            )
    return out
