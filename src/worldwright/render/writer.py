"""Writes a shot: rows and pictures in, a sealed folder out; a thread per pass, bounded queues, whole segments kept when interrupted."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.ids import content_id
from worldwright.outputs import Progress, mark_file, resumable_folder
from worldwright.render.declared import DECLARED
from worldwright.render.info import RGB_FILE, ROWS_FILE, TAKE_FILE, ShotInfo, write_info
from worldwright.render.passes import PassInfo
from worldwright.render.planes import ShardWriter, create_store, plane_shape, shard_path
from worldwright.render.rows import FrameRow, join_rows, write_rows
from worldwright.render.video import VideoWriter, group_size, join_segments

QUEUE = 2
"""Pictures that wait before a pass's encoder."""


def segment_frames(info: ShotInfo) -> int:
    """Frames of a segment (and of a shard): about 64, in whole groups of the video. This much an interruption loses at most."""
    group = group_size(info.rate)
    return group * max(1, round(64 / group))


class _Lane:
    """One pass's encoder in a thread of its own."""

    def __init__(
        self, name: str, begin: Callable[[int], Any], done: Callable[[int, str, Path, dict[str, Any]], None], segment: int
    ) -> None:
        self.name, self._begin, self._done, self._segment = name, begin, done, segment
        self.error: BaseException | None = None
        self.cpu = 0.0
        self._queue: queue.Queue[tuple[int, NDArray[Any]] | None] = queue.Queue(QUEUE)
        self._thread = threading.Thread(target=self._run, name=f"encode-{name}", daemon=True)
        self._thread.start()

    def put(self, index: int, picture: NDArray[Any]) -> None:
        """Hand over frame ``index``; waits while the encoder is behind."""
        self._queue.put((index, picture))

    def finish(self) -> None:
        """Encode what waits, and end."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        encoder: Any = None
        index = -1
        item: tuple[int, NDArray[Any]] | None = None
        try:
            while (item := self._queue.get()) is not None:
                index, picture = item
                if encoder is None:
                    encoder = self._begin(index // self._segment)
                encoder.add(picture)
                if (index + 1) % self._segment == 0:
                    self._close(encoder, index)
                    encoder = None
                self.cpu = time.thread_time()
            if encoder is not None:
                self._close(encoder, index)
            self.cpu = time.thread_time()
        except BaseException as error:  # handed to the thread that feeds this one, which raises it
            self.error = error
            if encoder is not None:
                with contextlib.suppress(OSError):
                    encoder.abort()
            while item is not None:  # so that nobody waits for a place in the queue; the end may have been taken from it already
                item = self._queue.get()

    def _close(self, encoder: Any, index: int) -> None:
        mark = encoder.close() or mark_file(encoder.path)
        self._done(index // self._segment, self.name, encoder.path, mark)


class ShotWriter:
    """Takes the frames of a shot in order. Made by ``write_shot``.

    ``start`` is how many frames an interrupted run has left finished: the next frame to add. ``bytes`` and ``cpu_seconds`` say what
    each pass has cost so far.
    """

    def __init__(self, info: ShotInfo, progress: Progress) -> None:
        self.info, self._progress = info, progress
        self.segment = segment_frames(info)
        self.start = min(len(progress.steps) * self.segment, info.n_frames)
        self.bytes = dict.fromkeys(info.all_passes, 0)
        self._next = self.start
        self._rows: list[FrameRow] = []
        self._lock = threading.Lock()
        self._open: dict[int, dict[Path, dict[str, Any]]] = {}
        self._lanes: list[_Lane] = []
        for name in info.all_passes:
            for step in progress.steps:
                self.bytes[name] += sum(mark["bytes"] for file, mark in step.items() if _pass_of(file) == name)
            self._lanes.append(_Lane(name, self._opener(name), self._file_done, self.segment))

    def _opener(self, name: str) -> Callable[[int], Any]:
        info, progress = self.info, self._progress
        if name == "rgb":
            return lambda k: VideoWriter(self._piece(k, "mp4"), info.width, info.height, info.rate)
        plane: PassInfo = next(p for p in info.pass_infos if p.name == name)
        shape = plane_shape(plane, info.height, info.width)
        return lambda k: ShardWriter(shard_path(progress.folder, plane, k), plane, self.segment, shape)

    def _piece(self, k: int, kind: str) -> Path:
        return self._progress.scratch / f"{k:06d}.{kind}"

    def _file_done(self, k: int, name: str, path: Path, mark: dict[str, Any]) -> None:
        with self._lock:
            if name in self.bytes:
                self.bytes[name] += mark["bytes"]
            files = self._open.setdefault(k, {})
            files[path] = mark
            if (
                len(files) == len(self._lanes) + 1
            ):  # every pass and the rows; segments end in order, since each lane does them in order
                del self._open[k]
                self._progress.finish(sorted(files), files)

    def add(self, row: FrameRow, pictures: Mapping[str, NDArray[Any]]) -> None:
        """The next frame: its row, and the stored form of every pass of the shot (``rgb``: [height, width, 3] uint8).

        The arrays are handed over: they must not change afterwards. Waits while the encoders are behind.
        """
        index = self._next
        if row.frame != index or index >= self.info.n_frames:
            raise WorldwrightError(f"frame {row.frame}, expected {index} of {self.info.n_frames}", where="shot")
        if missing := [lane.name for lane in self._lanes if lane.name not in pictures]:
            raise WorldwrightError(f"the renderer gave no {', '.join(missing)}", where=f"frame {index}")
        self.check()
        self._rows.append(row)
        for lane in self._lanes:
            lane.put(index, pictures[lane.name])
        self._next = index + 1
        if self._next % self.segment == 0 or self._next == self.info.n_frames:
            self._end_rows(index // self.segment)

    def _end_rows(self, k: int) -> None:
        path = self._piece(k, "parquet")
        write_rows(path, self._rows)
        self._rows = []
        self._file_done(k, "rows", path, mark_file(path))

    @property
    def cpu_seconds(self) -> dict[str, float]:
        """CPU seconds of each pass's encoder."""
        return {lane.name: lane.cpu for lane in self._lanes}

    def check(self) -> None:
        """Raise what went wrong in an encoder."""
        for lane in self._lanes:
            if lane.error is not None:
                raise lane.error

    def _drain(self) -> None:
        for lane in self._lanes:
            lane.finish()

    def _assemble(self, take: Path) -> None:
        info, folder = self.info, self._progress.folder
        self.check()
        if self._next != info.n_frames:
            raise WorldwrightError(f"{self._next} frames were given, expected {info.n_frames}", where="shot")
        pieces = range(len(self._progress.steps))
        if info.rgb is not None:
            counts = [min(self.segment, info.n_frames - k * self.segment) for k in pieces]
            join_segments([self._piece(k, "mp4") for k in pieces], counts, info.rate, folder / RGB_FILE)
        join_rows([self._piece(k, "parquet") for k in pieces], folder / ROWS_FILE)
        write_info(folder, info)
        place_take(take, folder / TAKE_FILE)


def _pass_of(name: str) -> str:
    """Which pass a file of a step belongs to."""
    if name.startswith("out/passes.zarr/"):
        return name.split("/")[2]
    return "rgb" if name.endswith(".mp4") else "rows"


def place_take(take: Path, target: Path) -> None:
    """The take beside its shot: the same file where the file system can link it, else a copy."""
    try:
        os.link(take, target)
    except OSError:
        shutil.copyfile(take, target)


@contextlib.contextmanager
def write_shot(target: Path, info: ShotInfo, take: Path) -> Iterator[ShotWriter]:
    """Make the shot folder ``target`` from the frames that the body adds to the writer.

    The folder appears whole, with its manifest, or not at all. If the body fails or the process dies, the finished segments wait
    beside ``target`` for the next call with the same ``info``, which begins at ``writer.start``. A full disk is one clear error.
    """
    key = content_id({"id": info.id, "renderer": info.renderer.model_dump(), "versions": info.versions, "frames": info.n_frames})
    writer: ShotWriter | None = None
    try:
        with resumable_folder(target, "shot", key) as progress:
            create_store(
                progress.folder,
                info.pass_infos,
                info.n_frames,
                info.height,
                info.width,
                segment_frames(info),
                {"format": info.format, "shot": info.id, "conventions": info.conventions.model_dump()},
                {name: {DECLARED: e.attributes[DECLARED]} for name, e in info.passes.items() if DECLARED in e.attributes},
            )
            writer = ShotWriter(info, progress)
            try:
                yield writer
            finally:
                writer._drain()
            writer._assemble(take)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _disk_full(target, info, writer) from error


def _disk_full(target: Path, info: ShotInfo, writer: ShotWriter | None) -> WorldwrightError:
    done = 0 if writer is None else min(len(writer._progress.steps) * writer.segment, info.n_frames)
    fix = "free some space and run again"
    if writer is not None and done:
        need = round(sum(writer.bytes.values()) / done * (info.n_frames - done) * 1.05) + (1 << 20)
        fix = f"about {need} bytes more are needed: free them and run again, it goes on after the {done} frames that are finished"
    return WorldwrightError(f"the disk is full at frame {done} of {info.n_frames}", where=str(target.parent), fix=fix)
