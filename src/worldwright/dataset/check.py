"""Is a dataset whole and consistent? Files against the manifest, rows against episodes, pictures against rows, figures against the rows.

What the pictures show is verified before they are packed: ``shots_verified`` says of how many. Nothing may have been lost, moved or changed
since.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from worldwright.dataset.codecs import CODECS, LIMITS, decode_planes, measure
from worldwright.dataset.episode import rows_hash, store_hashes
from worldwright.dataset.features import COLUMNS, RGB_KEY
from worldwright.dataset.index import Episode, Index, episode_rows, load_index, pick_columns, read_json
from worldwright.dataset.layout import PROVENANCE_PATH, STATS_PATH, WORLDS_PATH
from worldwright.dataset.reader import Dataset
from worldwright.dataset.stats import number_stats, same
from worldwright.dataset.tables import read_column
from worldwright.errors import WorldwrightError
from worldwright.outputs import check_manifest, list_files, read_manifest
from worldwright.render.passes import PASSES
from worldwright.render.video import VideoReader
from worldwright.verify.measure import skipped
from worldwright.verify.verdict import Check
from worldwright.words import counted

Progress = Callable[[int, int], None]


def check_dataset(path: Path, *, progress: Progress | None = None) -> list[Check]:
    """All checks of a dataset. Its metadata must be readable for the later ones: if it is not, the list ends with that failure.

    Every frame of every video is decoded and every frame of every array is read.
    """
    try:
        list_files(path)
    except WorldwrightError as error:  # a link or a pipe: nothing else is read, for that could lead outside or wait for ever
        return [Check("manifest", False, 0.0, error.line())]
    checks = [_run("manifest", lambda: _manifest(path))]
    index: list[Index] = []
    checks.append(_run("index", lambda: _index(path, index)))
    if index:
        found = index[0]
        done = [0]

        def step() -> None:
            done[0] += 1
            if progress:
                progress(done[0], 2 * len(found.episodes))

        checks.append(_run("shots_verified", lambda: _shots_verified(found)))
        checks.append(_run("rows", lambda: _rows(found, step)))
        checks.append(_run("stats", lambda: _stats(found)))
        checks.append(_run("pictures", lambda: _pictures(found, step)))
        if found.own.tier == "both":
            checks.append(_run("errors", lambda: _errors(found)))
    return checks


Outcome = tuple[str, dict[str, Any]]


class _Wrong(Exception):  # noqa: N818 - a finding, not an error of ours
    """What does not hold."""

    def __init__(
        self, message: str, *, frame: int | None = None, value: float | str | None = None, limit: float | str | None = None
    ) -> None:
        super().__init__(message)
        self.frame, self.value, self.limit = frame, value, limit


class _NotSaid(Exception):  # noqa: N818 - as above
    """Why nothing can be said."""


def _run(name: str, work: Callable[[], Outcome]) -> Check:
    try:
        message, evidence = work()
    except _Wrong as wrong:
        return Check(name, False, 0.0, str(wrong), wrong.frame, wrong.value, wrong.limit)
    except _NotSaid as reason:
        return skipped(name, str(reason))
    except WorldwrightError as error:
        return Check(name, False, 0.0, error.line())
    return Check(name, True, 1.0, message, evidence=evidence)


def _manifest(path: Path) -> Outcome:
    if wrong := check_manifest(path, "dataset"):
        raise _Wrong(wrong[0] + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""))
    return "every file is as it was written", {}


def _index(path: Path, out: list[Index]) -> Outcome:
    index = load_index(path)
    out.append(index)
    worlds = read_json(path / WORLDS_PATH)
    for episode in index.episodes:
        named = worlds.get(episode.world_hash) if isinstance(worlds, dict) else None
        if not isinstance(named, dict) or not isinstance(named.get("entities"), dict):
            raise _Wrong(f"{WORLDS_PATH}: does not name the entities of episode {episode.index}", value=episode.world_hash)
    return "episodes follow one another, and every figure fits", {"episodes": len(index.episodes), "rows": index.info.total_frames}


def _shots_verified(index: Index) -> Outcome:
    """The verdicts that the shots had when they were packed. They are not judged again here: that takes the shots and their takes."""
    table = pick_columns(index.root / PROVENANCE_PATH, ["verified", "checks"])
    true = 0
    for episode, (verified, text) in enumerate(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)):
        try:
            found = json.loads(text)
            holds = bool(found) and all(check["passed"] or check["skipped"] for check in found)
        except (ValueError, RecursionError, TypeError, LookupError):
            raise _Wrong(f"{PROVENANCE_PATH}: episode {episode}: checks is no list of checks", value=str(text)[:120]) from None
        if verified and not holds:
            raise _Wrong(f"{PROVENANCE_PATH}: episode {episode} is said to be verified, its checks do not hold")
        true += bool(verified)
    if true < len(table):
        raise _NotSaid(
            f"{len(table) - true} of {counted(len(table), 'shot')} {'was' if len(table) - true == 1 else 'were'} packed without being verified"
        )
    return f"all {len(table)} shots were verified when packed" if true > 1 else "the shot was verified when packed", {"shots": true}


def _rows(index: Index, step: Callable[[], None]) -> Outcome:
    """Timestamps, indices and tasks as they must be, and the rows those that the shots had."""
    stores = store_hashes(read_manifest(index.root, "dataset")["files"])
    for episode in index.episodes:
        rows = episode_rows(index.root, episode)
        count = np.arange(episode.length)
        if episode.task not in index.tasks:
            raise _Wrong(f"episode {episode.index}: its task is not in tasks.parquet", value=episode.task)
        expected: dict[str, Any] = {
            "timestamp": (count / index.info.fps).astype(np.float32),
            "frame_index": count,
            "episode_index": np.full(episode.length, episode.index),
            "index": episode.first_row + count,
            "task_index": np.full(episode.length, index.tasks.index(episode.task)),
        }
        for name, values in expected.items():
            if len(off := np.flatnonzero(rows[name] != values)):
                k = int(off[0])
                raise _Wrong(f"episode {episode.index}: {name}", frame=k, value=float(rows[name][k]), limit=float(values[k]))
        if len(np.unique(np.diff(rows["tick"]))) > 1 or (episode.length > 1 and rows["tick"][1] <= rows["tick"][0]):
            raise _Wrong(
                f"episode {episode.index}: ticks are not evenly spaced", frame=int(np.argmax(np.diff(rows["tick"], n=2) != 0)) + 2
            )
        if rows_hash(rows) != episode.rows_hash:
            raise _Wrong(
                f"episode {episode.index}: its rows are not those of its shot", value=rows_hash(rows), limit=episode.rows_hash
            )
        if index.own.tier != "compact" and (found := stores.get(episode.master, "")) != episode.store_hash:
            raise _Wrong(f"episode {episode.index}: its passes are not those of its shot", value=found, limit=episode.store_hash)
        step()
    return "all rows are there, in order, and those of their shots", {"rows": index.info.total_frames}


def _stats(index: Index) -> Outcome:
    """Statistics of numbers, computed again."""
    stored = read_json(index.root / STATS_PATH)
    if not isinstance(stored, dict):
        raise _Wrong(f"{STATS_PATH}: is no mapping")
    for column in COLUMNS:
        again = number_stats(read_column(index.root, column.name))
        for key, value in again.items():
            entry = stored.get(column.name)
            got = entry.get(key) if isinstance(entry, dict) else None
            if not _numbers(got) or not same(value, got, relative=1e-6):
                raise _Wrong(f"{STATS_PATH}: {column.name}.{key}", value=str(got)[:120], limit=str(value)[:120])
    if not isinstance(stored.get(RGB_KEY), dict):
        raise _Wrong(f"{STATS_PATH}: {RGB_KEY} is missing")
    return "statistics computed again are the same", {"features": len(COLUMNS)}


def _numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(_numbers(item) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _pictures(index: Index, step: Callable[[], None]) -> Outcome:
    """Each pass of each episode has exactly as many readable frames as rows; videos hold nothing but their episodes."""
    counted = 0
    own, info = index.own, index.info
    videos: dict[str, int] = {}
    for episode in index.episodes:
        for place in (episode.rgb, episode.depth):
            if place is not None:
                if place.first_frame != videos.get(place.path, 0):
                    raise _Wrong(
                        f"episode {episode.index}: begins at frame {place.first_frame} of {place.path}",
                        limit=videos.get(place.path, 0),
                    )
                videos[place.path] = place.first_frame + episode.length
    for path, frames in videos.items():
        if path == index.episodes[0].rgb.path or RGB_KEY in path:
            reader = VideoReader(index.root / path, own.width, own.height, Fraction(info.fps))
            found = sum(1 for _ in reader.frames())
        else:
            found = _packets(index.root / path)
        if found != frames:
            raise _Wrong(f"{path}: {found} frames, its episodes have {frames}", value=found, limit=frames)
        counted += found
    for episode in index.episodes:
        for name, frames in _passes(index, episode):
            if frames != episode.length:
                raise _Wrong(
                    f"episode {episode.index}: pass {name} has {frames} frames, {episode.length} rows",
                    value=frames,
                    limit=episode.length,
                )
            counted += frames
        step()
    return "every pass has a readable frame for every row", {"pictures": counted}


def _spans(length: int, size: int = 16) -> Iterator[range]:
    """Frames a few at a time."""
    return (range(start, min(start + size, length)) for start in range(0, length, size))


def _packets(path: Path) -> int:
    try:
        with av.open(str(path)) as container:
            return sum(1 for packet in container.demux(container.streams.video[0]) if packet.size)
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise WorldwrightError(f"unreadable ({error})", where=str(path), fix="pack again") from error


def _passes(index: Index, episode: Episode) -> Iterator[tuple[str, int]]:
    names = [name for name in PASSES if name in index.own.passes]
    if index.own.tier in ("master", "both"):
        frames = Dataset(index, 1, 1, 1, names, False, "master")
        for name in names:
            yield f"{name} (master)", sum(len(frames.pictures(episode, name, span)) for span in _spans(episode.length))
    if index.own.tier in ("compact", "both"):
        for name in names:
            codec, first = CODECS[name, episode.codecs[name]], 0
            path = index.root / episode.compact_file(name) if name != "depth" else None
            if path is None:
                assert episode.depth is not None  # the index has checked it
                path, first = index.root / episode.depth.path, episode.depth.first_frame
            shape = (
                (index.own.height, index.own.width)
                if PASSES[name].channels == 1
                else (index.own.height, index.own.width, PASSES[name].channels)
            )
            count = 0
            for frame, values in decode_planes(path, codec, index.info.fps, first):
                if name == "depth" and frame >= first + episode.length:
                    break
                if values.shape != shape:
                    raise WorldwrightError(f"frame {frame} is {values.shape}, expected {shape}", where=str(path), fix="pack again")
                count += 1
            yield f"{name} (compact)", count


def _errors(index: Index) -> Outcome:
    """Where both tiers are there: the compact one's errors, measured again."""
    names = [name for name in PASSES if name in index.own.passes]
    both = [Dataset(index, 1, 1, 1, names, False, tier) for tier in ("master", "compact")]
    for episode in index.episodes:
        for name in names:
            limit = LIMITS[name]
            for span in _spans(episode.length):
                for i, truth, got in zip(span, *(frames.pictures(episode, name, span) for frames in both), strict=True):
                    if not limit.holds(value := measure(name, truth, got)):
                        message = f"episode {episode.index}: {limit.metric} of compact {name} is {value:g} {limit.unit}"
                        raise _Wrong(message, frame=i, value=value, limit=limit.limit)
    return "the compact tier is as near to the master as it promises", {"pictures": len(names) * index.info.total_frames}
