"""The statistics that LeRobot keeps for each feature, of an episode and of the whole dataset.

Of numbers they are exact over all rows. Of pictures they are taken from evenly spaced frames, every k-th pixel in both directions, through
histograms: so that those of episodes add up exactly to those of the dataset, quantiles too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Stats = dict[str, list[Any]]

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
MAX_SAMPLES = 100
"""Pictures of an episode that are looked at."""
MAX_SIDE = 160
"""Pictures are thinned to about this many pixels on the longer side."""


def number_stats(values: Array) -> Stats:
    """Statistics of rows [N] or [N, D], N > 0: lists of D numbers, computed in float64; ``count`` is [N]."""
    wide = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    mean = wide.mean(axis=0)
    stats: Stats = {
        "min": wide.min(axis=0).tolist(),
        "max": wide.max(axis=0).tolist(),
        "mean": mean.tolist(),
        "std": np.sqrt(np.mean((wide - mean) ** 2, axis=0)).tolist(),
        "count": [len(wide)],
    }
    for key, value in zip(QUANTILES, np.quantile(wide, list(QUANTILES.values()), axis=0), strict=True):
        stats[key] = value.tolist()
    return stats


def sample_frames(count: int) -> list[int]:
    """Which frames of an episode of ``count`` are looked at: at most ``MAX_SAMPLES``, evenly spaced, both ends among them."""
    return sorted({round(i) for i in np.linspace(0, count - 1, min(count, MAX_SAMPLES)).tolist()})


class PictureStats:
    """Histograms of pictures: ``levels`` possible values a channel, and how many pictures were counted."""

    def __init__(self, channels: int, levels: int) -> None:
        self.histogram = np.zeros((channels, levels), dtype=np.int64)
        self.pictures = 0

    def add(self, picture: Array) -> None:
        """Count a picture [height, width(, channels)] of integers in [0, levels)."""
        step = max(1, math.ceil(max(picture.shape[:2]) / MAX_SIDE))
        thin = picture[::step, ::step].reshape(-1, len(self.histogram))
        for channel in range(len(self.histogram)):
            self.histogram[channel] += np.bincount(thin[:, channel], minlength=self.histogram.shape[1])
        self.pictures += 1

    def merge(self, other: PictureStats) -> None:
        """Add another's counts."""
        self.histogram += other.histogram
        self.pictures += other.pictures

    def stats(self, values: Array) -> Stats:
        """LeRobot's form: nested lists of shape [channels, 1, 1]. ``values`` [levels] says what each level means; NaN is left out."""
        known = np.isfinite(values)
        meaning = values[known].astype(np.float64)
        order = np.argsort(meaning, kind="stable")
        meaning = meaning[order]
        columns: dict[str, list[float]] = {key: [] for key in ("min", "max", "mean", "std", *QUANTILES)}
        for counts in self.histogram:
            weights = counts[known][order]
            total = int(weights.sum())
            if total == 0:  # no pixel has a value, such as the depth of an empty sky
                for column in columns.values():
                    column.append(0.0)
                continue
            seen = meaning[weights > 0]
            mean = float(meaning @ weights / total)
            columns["min"].append(float(seen[0]))
            columns["max"].append(float(seen[-1]))
            columns["mean"].append(mean)
            columns["std"].append(float(math.sqrt((meaning - mean) ** 2 @ weights / total)))
            steps = np.cumsum(weights)
            for key, quantile in QUANTILES.items():
                columns[key].append(float(meaning[np.searchsorted(steps, quantile * total)]))
        stats: Stats = {key: [[[value]] for value in column] for key, column in columns.items()}
        order_of_keys = ("min", "max", "mean", "std", "count", *QUANTILES)
        stats["count"] = [self.pictures]
        return {key: stats[key] for key in order_of_keys}


COLOUR_LEVELS = np.arange(256) / 255.0
"""What the levels of rgb mean in LeRobot's statistics."""


def flatten(stats: dict[str, Stats]) -> dict[str, list[Any]]:
    """``stats/KEY/NAME`` to value: the columns of the episodes table."""
    return {f"stats/{key}/{name}": value for key, entry in stats.items() for name, value in entry.items()}


def same(a: Any, b: Any, *, relative: float = 1e-9) -> bool:
    """True when two nested lists of numbers agree but for rounding."""
    if isinstance(a, Sequence) and isinstance(b, Sequence) and not isinstance(a, str) and not isinstance(b, str):
        return len(a) == len(b) and all(same(x, y, relative=relative) for x, y in zip(a, b, strict=True))
    if isinstance(a, Sequence) or isinstance(b, Sequence):
        return False
    return math.isclose(a, b, rel_tol=relative, abs_tol=1e-12)
