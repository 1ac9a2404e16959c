"""A packed dataset as a world model wants it: clips of pictures with depth, poses and actions, of one size and through one lens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import worldwright.dataset
from worldwright.dataset.reader import Dataset
from worldwright.errors import WorldwrightError
from worldwright.model.checkpoint import Lens

PASSES = ("rgb", "depth")
PIECE = 32
"""Frames that are in memory at once when a dataset is gone through."""


class Footage:
    """Opened by its folder. ``lens`` is that of all pictures."""

    def __init__(self, path: Path, length: int) -> None:
        """``length``: frames of a clip. Raises WorldwrightError for a dataset without depth, without actions, with two lenses, or with
        nothing as long as a clip."""
        index = worldwright.dataset.open(path, length=1).index
        if missing := [name for name in PASSES if name not in index.passes]:
            raise WorldwrightError(
                f"has no pass {', '.join(missing)}: a world model remembers places by their depth",
                where=str(path),
                fix="render with depth and pack again",
            )
        self.path, self.length = path, length
        self.clips: Dataset = worldwright.dataset.open(path, length=length, passes=PASSES)
        self.frames = sum(episode.length for episode in self.clips.episodes)
        if not len(self.clips):
            longest = max((episode.length for episode in self.clips.episodes), default=0)
            raise WorldwrightError(
                f"the longest of its episodes has {longest} frames", where=str(path), fix=f"record at least {length}"
            )
        self.lens = self._one_lens()

    def _one_lens(self) -> Lens:
        own = self.clips.index.own
        lenses = set()
        for k in range(len(self.clips.episodes)):
            rows = self.rows(k)["camera.K"]
            lenses.add(tuple(np.round(rows[0, [0, 4, 2, 5]], 4)))
            if np.ptp(rows, axis=0).max() > 1e-6:
                raise WorldwrightError(
                    "its lens changes while it runs", where=f"{self.path}: episode {k}", fix="train from shots with one lens"
                )
        if len(lenses) != 1:
            raise WorldwrightError(
                f"has pictures through {len(lenses)} lenses", where=str(self.path), fix="pack shots of one camera in one dataset"
            )
        fx, fy, cx, cy = (float(x) for x in next(iter(lenses)))
        return Lens(own.width, own.height, int(own.fps), (fx, fy, cx, cy), "recorded")

    def rows(self, episode: int) -> dict[str, NDArray[Any]]:
        """The columns of an episode, all its frames (``dataset.index.episode_rows``)."""
        from worldwright.dataset.index import episode_rows

        return episode_rows(self.clips.index.root, self.clips.episodes[episode])

    def clip(self, index: int) -> dict[str, Any]:
        """Clip ``index`` of ``len(self.clips)``."""
        return self.clips[index]

    def episodes(self) -> Iterator[tuple[int, int]]:
        """(number, frames) of every episode."""
        return ((k, episode.length) for k, episode in enumerate(self.clips.episodes))

    def pieces(self, episode: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """An episode from its beginning to its end: (first frame, clip of at most ``PIECE`` frames)."""
        length = self.clips.episodes[episode].length
        first = 0
        while first < length:
            count = min(PIECE, length - first)
            reader = worldwright.dataset.open(self.path, length=count, passes=PASSES) if count != PIECE else self._long()
            yield first, reader.clip(episode, first)
            first += count

    def _long(self) -> Dataset:
        if not hasattr(self, "_pieces"):
            self._pieces = worldwright.dataset.open(self.path, length=PIECE, passes=PASSES)
        return self._pieces
