"""Datasets: pack shots into LeRobotDataset v3 with every pass beside it, and read training clips."""

from __future__ import annotations

from worldwright.dataset.reader import Dataset, open

__all__ = ["Dataset", "open"]
