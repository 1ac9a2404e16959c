"""Videos of many episodes, one after another in a file, by copying packets: nothing is encoded twice, frame i stands at exactly i / fps."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from worldwright.dataset.layout import MAX_VIDEO_SECONDS, VIDEO_MB, VIDEO_PATH, next_file
from worldwright.errors import WorldwrightError


def is_full(error: BaseException) -> bool:
    """True for the errors of a full disk: the system's, and FFmpeg's wrapping of it."""
    return isinstance(error, OSError | av.error.FFmpegError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an episode's video is: the file, and its first frame in it."""

    chunk: int
    file: int
    first_frame: int
    frames: int
    fps: int

    def columns(self, key: str) -> dict[str, Any]:
        """The episode's columns for video ``key``. Times are exact quotients, not sums."""
        return {
            f"videos/{key}/chunk_index": self.chunk,
            f"videos/{key}/file_index": self.file,
            f"videos/{key}/from_timestamp": self.first_frame / self.fps,
            f"videos/{key}/to_timestamp": (self.first_frame + self.frames) / self.fps,
        }


class VideoFiles:
    """Appends episodes to the files of one video key, beginning a new file before one grows too large or too long, or when an episode
    was encoded in another way than those before it (a file has one set of codec parameters)."""

    def __init__(self, root: Path, key: str, fps: int, max_bytes: int = VIDEO_MB << 20) -> None:
        self._root, self.key, self._fps, self._max_bytes = root, key, fps, max_bytes
        self._place = (0, -1)
        self._container: Any = None
        self._stream: Any = None
        self._extradata = b""
        self._frames = self._bytes = 0
        self.total_bytes = 0

    def append(self, source: Path, frames: int) -> Placed:
        """Append an MP4 that must hold exactly ``frames`` frames, each at its time and none displayed out of order."""
        size = source.stat().st_size
        try:
            with av.open(str(source)) as container:
                stream = container.streams.video[0]
                self._make_room(stream, size, frames)
                placed = Placed(*self._place, self._frames, frames, self._fps)
                count = 0
                for packet in container.demux(stream):
                    if packet.pts is None:
                        continue
                    if Fraction(packet.pts) * packet.time_base * self._fps != count or packet.dts != packet.pts:
                        raise WorldwrightError(f"frame {count} is not at {count}/{self._fps} s", where=str(source))
                    if count == 0 and not packet.is_keyframe:
                        raise WorldwrightError("does not begin with a key frame", where=str(source))
                    packet.stream = self._stream
                    packet.time_base = Fraction(1, self._fps)
                    packet.pts = packet.dts = self._frames + count
                    packet.duration = 1
                    self._container.mux(packet)
                    count += 1
        except (av.error.FFmpegError, IndexError) as error:
            if is_full(error):
                raise
            raise WorldwrightError(f"not a readable MP4 ({error})", where=str(source), fix="render the shot again") from error
        if count != frames:
            raise WorldwrightError(f"{count} frames, expected {frames}", where=str(source), fix="render the shot again")
        self._frames += frames
        self._bytes += size
        self.total_bytes += size
        return placed

    def _make_room(self, stream: Any, size: int, frames: int) -> None:
        extradata = bytes(stream.codec_context.extradata or b"")
        full = self._bytes + size > self._max_bytes or self._frames + frames > MAX_VIDEO_SECONDS * self._fps
        if self._container is not None and not full and extradata == self._extradata:
            return
        self.close()
        self._place = next_file(*self._place) if self._place[1] >= 0 else (0, 0)
        path = self._root / VIDEO_PATH.format(video_key=self.key, chunk_index=self._place[0], file_index=self._place[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        self._container = av.open(str(path), "w", options={"movflags": "+faststart", "fflags": "+bitexact"})
        self._stream = self._container.add_stream_from_template(stream)
        self._stream.time_base = Fraction(1, self._fps)
        self._extradata = extradata
        self._frames = self._bytes = 0

    def close(self) -> None:
        """Finish the open file."""
        container, self._container = self._container, None
        if container is not None:
            container.close()


def video_info(path: Path) -> dict[str, Any]:
    """What LeRobot's ``info.json`` says of a video, read from the file."""
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        channels = len([c for c in stream.codec_context.format.components if not c.is_alpha])
        return {
            "video.height": stream.height,
            "video.width": stream.width,
            "video.codec": stream.codec.canonical_name,
            "video.pix_fmt": stream.pix_fmt,
            "video.fps": int(stream.base_rate),
            "video.channels": channels,
            "has_audio": False,
        }
