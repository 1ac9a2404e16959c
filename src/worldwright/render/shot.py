"""Shots on disk: open one, and seal one that was edited. ``write_shot`` makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.outputs import MANIFEST, list_files, read_manifest, write_manifest
from worldwright.render.info import RGB_FILE, ROWS_FILE, TAKE_FILE, ShotInfo, read_info
from worldwright.render.passes import decode
from worldwright.render.planes import open_store
from worldwright.render.rows import FrameRow, FrameRows, read_rows
from worldwright.render.video import VideoReader
from worldwright.render.writer import ShotWriter, write_shot

if TYPE_CHECKING:
    from worldwright.take.reader import Take

__all__ = ["FrameRow", "FrameRows", "Shot", "ShotInfo", "ShotWriter", "seal", "write_shot"]


READ_AT_ONCE = 16 << 20


class Shot:
    """A finished shot, read lazily: opening it reads shot.json and the rows, and checks that the arrays are what shot.json says.

    ``info`` is shot.json; ``frames`` its rows as columns. Pictures come a frame at a time.
    """

    def __init__(self, path: Path, info: ShotInfo, frames: FrameRows, arrays: dict[str, zarr.Array[Any]]) -> None:
        self.path, self.info, self.frames, self._arrays = path, info, frames, arrays

    @staticmethod
    def open(path: Path) -> Shot:
        """Open a shot folder. Raises WorldwrightError for one that was never finished or is not what its shot.json says.

        Hashes are not compared here: ``outputs.check_manifest`` does that.
        """
        read_manifest(path, "shot")
        return _open_unsealed(path)

    def __len__(self) -> int:
        return self.info.n_frames

    def _check_index(self, name: str, i: int) -> None:
        if not 0 <= i < self.info.n_frames:
            raise WorldwrightError(f"no frame {i}, there are {self.info.n_frames}", where=f"{self.path}: {name}")

    def read(self, name: str, i: int) -> NDArray[Any]:
        """Pass ``name`` of frame ``i`` as stored (``passes.PASSES``): [height, width(, channel)]."""
        if name not in self._arrays:
            raise WorldwrightError(f"has no pass {name!r}, only {', '.join(self.info.all_passes)}", where=str(self.path))
        self._check_index(name, i)
        try:
            return np.asarray(self._arrays[name][i])
        except Exception as error:  # zarr and its codecs raise many kinds for damaged bytes
            raise WorldwrightError(
                f"frame {i} is unreadable ({type(error).__name__}: {error})",
                where=f"{self.path}: {name}",
                fix="render the shot again",
            ) from error

    def read_frames(self, frames: Sequence[int]) -> Iterator[dict[str, NDArray[Any]] | WorldwrightError]:
        """All stored passes of these frames (ascending), frame by frame; in its place the error of a frame that cannot be read.

        Neighbours are read together, as many as fit in ``READ_AT_ONCE`` bytes: a call into the store costs as much as a small frame.
        """
        size = sum(np.dtype(info.dtype).itemsize * info.channels for info in self.info.pass_infos)
        most = max(1, READ_AT_ONCE // max(size * self.info.height * self.info.width, 1))
        at = 0
        while at < len(frames):
            first, count = frames[at], 1
            while count < most and at + count < len(frames) and frames[at + count] == first + count:
                count += 1
            try:
                self._check_index("frames", first + count - 1)
                block = {name: np.asarray(array[first : first + count]) for name, array in self._arrays.items()}
            except Exception:
                # zarr and its codecs raise many kinds for damaged bytes: read one by one, each frame tells its own error.
                yield from (self._whole_frame(k) for k in range(first, first + count))
            else:
                yield from ({name: planes[i] for name, planes in block.items()} for i in range(count))
            at += count

    def _whole_frame(self, i: int) -> dict[str, NDArray[Any]] | WorldwrightError:
        try:
            return {name: self.read(name, i) for name in self._arrays}
        except WorldwrightError as error:
            return error

    def decode(self, name: str, i: int) -> NDArray[Any]:
        """Pass ``name`` of frame ``i`` in its unit (``passes.decode``)."""
        return decode(name, self.read(name, i))

    @cached_property
    def _video(self) -> VideoReader:
        if self.info.rgb is None:
            raise WorldwrightError("has no rgb", where=str(self.path))
        return VideoReader(self.path / RGB_FILE, self.info.width, self.info.height, self.info.rate)

    def rgb_frames(self, start: int = 0) -> Iterator[NDArray[np.uint8]]:
        """The pictures in order, [height, width, 3] uint8 sRGB-coded, decoded as they are asked for."""
        return self._video.frames(start)

    def rgb(self, i: int) -> NDArray[np.uint8]:
        """One picture; decodes at most a group."""
        self._check_index("rgb", i)
        return self._video.frame(i)

    def rgb_count(self) -> int:
        """Frames in the video, each exactly at its time; counted in the file."""
        return self._video.count()

    def take(self) -> Take:
        """The shot's take."""
        from worldwright.take.reader import Take

        return Take.open(self.path / TAKE_FILE, partial=self.info.take_partial)


def _open_unsealed(path: Path) -> Shot:
    if not path.is_dir():
        raise WorldwrightError("no such folder", where=str(path))
    list_files(path)  # refuses links
    info = read_info(path)
    frames = read_rows(path / ROWS_FILE, info.n_frames)
    arrays = open_store(path, info.pass_infos, info.n_frames, info.height, info.width) if info.passes else {}
    return Shot(path, info, frames, arrays)


def seal(path: Path) -> Shot:
    """Write a shot's manifest anew, after an adapter wrote or edited its files.

    First the files must be a shot: shot.json valid, rows, arrays and the video's frames as many as it says, the take there. What the
    pictures show is for ``verify`` to judge.
    """
    shot = _open_unsealed(path)
    if not (path / TAKE_FILE).is_file():
        raise WorldwrightError("is missing", where=str(path / TAKE_FILE), fix="put the take there")
    if shot.info.rgb is not None and (count := shot.rgb_count()) != shot.info.n_frames:
        raise WorldwrightError(f"{count} frames, shot.json says {shot.info.n_frames}", where=str(path / RGB_FILE))
    (path / MANIFEST).unlink(missing_ok=True)
    write_manifest(path, "shot")
    return shot
