"""Training clips from a dataset: any one by its number, or all in a shuffled order.

No torch is needed; the arrays are in C order and shared with nobody, so that ``torch.from_numpy`` takes them without a copy. A ``Dataset`` can be given
to worker processes, forked or spawned: files are opened lazily, by each process for itself.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.dataset.actions import join_actions, join_effects
from worldwright.dataset.codecs import CODECS, decode_planes
from worldwright.dataset.index import Episode, Index, episode_rows, load_index
from worldwright.errors import WorldwrightError
from worldwright.render.passes import PASSES, PassInfo, decode
from worldwright.render.planes import STORE, open_store, shard_path
from worldwright.render.video import VideoReader

Array = NDArray[Any]
Clip = dict[str, Any]

OPEN_EPISODES = 8
"""Episodes whose rows and arrays a process keeps at hand."""
OPEN_STREAMS = 8
"""Videos that a process keeps half decoded, to go on where it was."""


class _Cache:
    """The last few things made, by key; the oldest is let go first."""

    def __init__(self, size: int) -> None:
        self._size, self._kept = size, OrderedDict[Any, Any]()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def pop(self, key: Any) -> Any:
        return self._kept.pop(key, None)

    def put(self, key: Any, value: Any) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)


class Dataset:
    """Clips of ``length`` frames, ``stride`` frames apart, starting every ``hop`` frames of every episode. Made by ``open``.

    A clip is a dict of arrays, T = length: each pass asked for [T, height, width(, channels)]; the columns of the dataset
    (``action`` [T, 10], ``effective_action`` [T, 5], ``flags`` [T], ``observation.state`` [T, 8], ``tick`` [T], ``t_ns`` [T],
    ``camera.c2w`` [T, 4, 4], ``camera.K`` [T, 3, 3], ``camera.near_far`` [T, 2], ...); and ``task``, ``episode`` and ``frame``, the
    number of its first frame in the episode. ``action[i]`` leads from frame i of the clip to frame i + 1; where the stride is
    greater than 1 the actions in between are joined. No clip crosses the end of an episode: the last action lies within it too.
    """

    def __init__(self, index: Index, length: int, stride: int, hop: int, passes: Sequence[str], decoded: bool, tier: str) -> None:
        self.index, self.length, self.stride, self.hop = index, length, stride, hop
        self.passes, self.decoded, self.tier = tuple(passes), decoded, tier
        spans = [max(0, (episode.length - length * stride) // hop + 1) for episode in index.episodes]
        self._ends = np.cumsum(spans)
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._rows, self._zarr, self._streams = _Cache(OPEN_EPISODES), _Cache(OPEN_EPISODES), _Cache(OPEN_STREAMS)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_rows", "_zarr", "_streams")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The episodes, in order."""
        return self.index.episodes

    def __len__(self) -> int:
        return int(self._ends[-1])

    def place(self, i: int) -> tuple[int, int]:
        """(episode, first frame) of clip ``i``."""
        count = len(self)
        if not -count <= i < count:
            raise IndexError(f"clip {i} of {count}")
        i %= count
        episode = int(np.searchsorted(self._ends, i, side="right"))
        return episode, (i - int(self._ends[episode - 1] if episode else 0)) * self.hop

    def __getitem__(self, i: int) -> Clip:
        return self.clip(*self.place(i))

    def __iter__(self) -> Iterator[Clip]:
        return (self[i] for i in range(len(self)))

    def clip(self, episode: int, frame: int) -> Clip:
        """The clip that starts at ``frame`` of ``episode``."""
        if os.getpid() != self._pid:  # forked: the parent's open files are not ours to read from
            self._reset()
        if not 0 <= episode < len(self.episodes):
            raise IndexError(f"episode {episode} of {len(self.episodes)}")
        entry = self.episodes[episode]
        span = self.length * self.stride
        if not 0 <= frame <= entry.length - span:
            raise IndexError(f"frames {frame} to {frame + span} of {entry.length} in episode {episode}")
        frames = range(frame, frame + span, self.stride)
        clip: Clip = {name: self.pictures(entry, name, frames) for name in self.passes}
        rows = self._rows.get(episode, lambda: episode_rows(self.index.root, entry))
        every = {name: values[frame : frame + span] for name, values in rows.items()}
        clip |= {
            name: np.array(values[:: self.stride]) for name, values in every.items()
        }  # copies: the rows are kept for later clips
        if self.stride > 1:
            clip["action"] = join_actions(every["action"], self.stride)
            clip["effective_action"] = join_effects(every["effective_action"], self.stride)
            clip["flags"] = np.bitwise_or.reduce(every["flags"].reshape(self.length, self.stride), axis=1)
        clip["camera.c2w"] = clip["camera.c2w"].reshape(-1, 4, 4)
        clip["camera.K"] = clip["camera.K"].reshape(-1, 3, 3)
        return clip | {"task": entry.task, "episode": episode, "frame": frame}

    def clips(self, seed: int = 0, *, epoch: int = 0, worker: int = 0, workers: int = 1) -> Iterator[Clip]:
        """Every clip once, in an order drawn from ``seed`` and ``epoch``; each of ``workers`` processes gets its own share of it."""
        if not 0 <= worker < workers:
            raise ValueError(f"worker {worker} of {workers}")
        order = np.random.default_rng([seed, epoch]).permutation(len(self))
        return (self[int(i)] for i in order[worker::workers])

    def pictures(self, episode: Episode, name: str, frames: range) -> Array:
        """One pass of some frames of an episode, [T, height, width(, channels)]."""
        if name == "rgb":
            path = self.index.root / episode.rgb.path
            return self._from_video(path, self._rgb_stream(path), episode.rgb.first_frame, frames)
        if self.tier == "master":
            stored = self._from_zarr(episode, name, frames)
        else:
            codec, fps = CODECS[name, episode.codecs[name]], self.index.info.fps
            if name == "depth":
                assert episode.depth is not None  # the index has checked it
                path, first = self.index.root / episode.depth.path, episode.depth.first_frame
            else:
                path, first = self.index.root / episode.compact_file(name), 0
            stored = self._from_video(path, lambda start: decode_planes(path, codec, fps, start), first, frames)
        return np.ascontiguousarray(decode(name, stored)) if self.decoded else stored

    def _rgb_stream(self, path: Path) -> Callable[[int], Iterator[tuple[int, Array]]]:
        own = self.index.own
        reader = VideoReader(path, own.width, own.height, Fraction(own.fps))
        return lambda start: ((start + i, picture) for i, picture in enumerate(reader.frames(start)))

    def _from_zarr(self, episode: Episode, name: str, frames: range) -> Array:
        own, folder = self.index.own, self.index.root / episode.master
        infos = [PASSES[every] for every in self.index.passes if every != "rgb"]
        arrays = self._zarr.get(episode.index, lambda: _whole_store(folder, infos, episode.length, own.height, own.width))
        path, array = folder / STORE, arrays[name]
        try:
            return np.ascontiguousarray(array[frames.start : frames.stop : frames.step])
        except Exception as error:  # zarr and its codecs raise many kinds for damaged bytes
            raise WorldwrightError(
                f"frames from {frames.start} on are unreadable ({error})", where=str(path / name), fix="pack again"
            ) from error

    def _from_video(self, path: Path, stream: Callable[[int], Iterator[tuple[int, Array]]], first: int, frames: range) -> Array:
        """Frames of a video. A stream that stands a little before the first one goes on; else a new one seeks."""
        wanted = [first + frame for frame in frames]
        found = self._streams.pop(path)
        position, iterator = found if found is not None else (-1, None)
        if iterator is None or not position <= wanted[0] <= position + self.index.info.fps:
            position, iterator = wanted[0], stream(wanted[0])
        out: Array | None = None
        for k, frame in enumerate(wanted):
            picture = None
            while position <= frame:
                item = next(iterator, None)
                if item is None:
                    raise WorldwrightError(f"ends before frame {frame}", where=str(path), fix="pack again")
                picture = item[1]
                position += 1
            assert picture is not None  # position was at or before the frame
            if out is None:
                out = np.empty((len(wanted), *picture.shape), dtype=picture.dtype)
            if picture.shape != out.shape[1:]:
                raise WorldwrightError(f"frame {frame} is {picture.shape}, not {out.shape[1:]}", where=str(path), fix="pack again")
            out[k] = picture
        self._streams.put(path, (position, iterator))
        assert out is not None  # a clip has at least one frame
        return out


def _whole_store(folder: Path, infos: Sequence[PassInfo], frames: int, height: int, width: int) -> dict[str, Any]:
    """The arrays of an episode. To zarr a shard that is not there is one full of zeros: here it is an error."""
    arrays = open_store(folder, list(infos), frames, height, width)
    for info in infos:
        size = (arrays[info.name].shards or arrays[info.name].chunks)[0]
        for k in range(-(-frames // size)):
            if not (path := shard_path(folder, info, k)).is_file():
                raise WorldwrightError("is missing", where=str(path), fix="pack again")
    return arrays


def open(
    path: Path | str,
    *,
    length: int = 16,
    stride: int = 1,
    hop: int = 1,
    passes: Sequence[str] = ("rgb",),
    decode: bool = True,
    tier: str | None = None,
) -> Dataset:
    """Open a dataset for training.

    Args:
        path: its folder.
        length: frames of a clip.
        stride: frames from one frame of a clip to the next.
        hop: frames from the start of one clip to that of the next.
        passes: which pictures a clip has, of ``Dataset.index.passes``.
        decode: passes in their units (``render.passes.decode``: float32; rgb stays uint8, sRGB-coded); else as stored.
        tier: ``master`` or ``compact``, for a dataset that has both; the master by default.

    Raises:
        WorldwrightError: for what is no whole dataset, or lacks a pass or tier that is asked for.
    """
    for name, value in (("length", length), ("stride", stride), ("hop", hop)):
        if not isinstance(value, int) or value < 1:
            raise WorldwrightError(f"{name} is {value!r}", fix="a whole number from 1 on")
    root = Path(path)
    index = load_index(root)
    if missing := [name for name in passes if name not in index.passes]:
        raise WorldwrightError(f"has no pass {', '.join(missing)}", where=str(root), fix=f"one of {', '.join(index.passes)}")
    has = ("master", "compact") if index.own.tier == "both" else (index.own.tier,)
    if tier is not None and tier not in has:
        raise WorldwrightError(f"has no tier {tier!r}", where=str(root), fix=f"one of {', '.join(has)}")
    return Dataset(index, length, stride, hop, passes, decode, tier or has[0])
