"""rgb on disk: H.264 in MP4, frame i at exactly i / rate seconds, decodable in order and from any group of pictures.

A long video is encoded in segments of whole groups, each by an encoder of its own, and the segments are joined by copying packets: so
an interrupted rendering goes on after its last whole segment, and the result does not depend on where it was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc, Interpolation
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError

CRF, PRESET = 16, "veryfast"
U8 = NDArray[np.uint8]
_EXACT = Interpolation.BILINEAR | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
"""swscale's fast way back to RGB is 1.3 of 255 too dark on average; this one 0.3, for 6 ms more a 720p picture."""


def group_size(rate: Fraction) -> int:
    """Frames of a group of pictures: one second."""
    return max(1, round(rate))


class VideoWriter:
    """Encodes one segment: yuv420p, BT.709 (limited range), constant rate, closed groups of one second, no B frames."""

    def __init__(self, path: Path, width: int, height: int, rate: Fraction) -> None:
        if width % 2 or height % 2:
            raise WorldwrightError(
                f"{width}x{height} is not even in both directions", where="rgb", fix="H.264 4:2:0 needs even sizes"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self._size = path, (width, height)
        self._container = av.open(str(path), "w", format="mp4", options={"fflags": "+bitexact"})
        stream = self._container.add_stream("libx264", rate=rate)
        group = group_size(rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.time_base = stream.codec_context.time_base = 1 / rate
        stream.gop_size = group
        stream.codec_context.thread_count = 1  # the bytes depend on x264's number of threads
        stream.codec_context.colorspace = Colorspace.ITU709
        stream.codec_context.color_range = ColorRange.MPEG
        stream.codec_context.color_primaries = ColorPrimaries.BT709
        stream.codec_context.color_trc = ColorTrc.BT709
        stream.options = {
            "crf": str(CRF),
            "preset": PRESET,
            "bf": "0",
            "flags": "+cgop+bitexact",
            "x264-params": f"keyint={group}:min-keyint={group}:scenecut=0:open-gop=0",
        }
        self._stream, self._count = stream, 0

    def add(self, picture: U8) -> None:
        """Append the next picture [height, width, 3], sRGB-coded uint8."""
        width, height = self._size
        if picture.shape != (height, width, 3) or picture.dtype != np.uint8:
            raise WorldwrightError(
                f"a picture of {picture.dtype} {picture.shape}, expected uint8 {(height, width, 3)}", where="pass rgb"
            )
        source = av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(picture), format="rgb24")
        frame = source.reformat(
            format="yuv420p",
            src_colorspace=Colorspace.ITU709,
            dst_colorspace=Colorspace.ITU709,
            src_color_range=ColorRange.JPEG,
            dst_color_range=ColorRange.MPEG,
            interpolation="AREA",
            threads=1,
        )
        frame.pts, frame.time_base = self._count, self._stream.codec_context.time_base
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Flush the encoder and close the file."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abort(self) -> None:
        """Let go of the file as it is. Where it cannot even be closed properly (a full disk), freeing the container closes it."""
        try:
            self._container.close()
        finally:
            del self._container, self._stream


def join_segments(segments: Sequence[Path], counts: Sequence[int], rate: Fraction, out: Path) -> None:
    """Write the segments one after another into one fast-start MP4, by copying packets. ``counts`` are their frames."""
    with av.open(str(out), "w", format="mp4", options={"movflags": "+faststart", "fflags": "+bitexact"}) as target:
        stream: Any = None
        first = 0
        for path, count in zip(segments, counts, strict=True):
            with av.open(str(path), format="mp4") as source:
                if stream is None:
                    stream = target.add_stream_from_template(source.streams.video[0])
                    stream.time_base = 1 / rate
                seen = 0
                for packet in source.demux(source.streams.video[0]):
                    if packet.pts is None:
                        continue
                    index = Fraction(packet.pts) * packet.time_base * rate
                    packet.stream = stream
                    packet.time_base = 1 / rate
                    packet.pts = packet.dts = first + int(index)
                    packet.duration = 1
                    target.mux(packet)
                    seen += 1
            if seen != count:
                raise WorldwrightError(f"{seen} frames, expected {count}", where=str(path), fix="render the shot again")
            first += count


class VideoReader:
    """Reads a shot's rgb. Everything in the file is checked against what shot.json says before a picture is decoded."""

    def __init__(self, path: Path, width: int, height: int, rate: Fraction) -> None:
        self.path, self._size, self._rate = path, (width, height), rate

    def _open(self) -> tuple[Any, Any]:
        try:
            container = av.open(str(self.path), format="mp4")
        except (av.error.FFmpegError, OSError) as error:
            raise WorldwrightError(f"not a readable MP4 ({error})", where=str(self.path), fix="render the shot again") from error
        streams = container.streams.video
        if len(streams) != 1 or (streams[0].width, streams[0].height) != self._size:
            container.close()
            raise WorldwrightError(f"not one video stream of {self._size[0]}x{self._size[1]}", where=str(self.path))
        streams[0].thread_type = "AUTO"
        return container, streams[0]

    def _index(self, pts: int | None, time_base: Fraction) -> int:
        index = None if pts is None else Fraction(pts) * time_base * self._rate
        if index is None or index.denominator != 1:
            raise WorldwrightError(f"a time stamp {pts} x {time_base} s is on no frame at {self._rate} Hz", where=str(self.path))
        return int(index)

    def count(self) -> int:
        """How many frames the file holds, each exactly at its time: 0, 1, 2, ... frame durations."""
        container, stream = self._open()
        with container:
            try:
                found = sorted(self._index(p.pts, p.time_base) for p in container.demux(stream) if p.size)
            except av.error.FFmpegError as error:
                raise WorldwrightError(f"unreadable ({error})", where=str(self.path), fix="render the shot again") from error
        if found != list(range(len(found))):
            wrong = next(i for i, index in enumerate(found) if i != index)
            raise WorldwrightError(f"frame {wrong} stands at {found[wrong]} frame durations", where=str(self.path))
        return len(found)

    def frames(self, start: int = 0) -> Iterator[U8]:
        """The pictures in order from frame ``start``, [height, width, 3] uint8 sRGB-coded, decoded as they are asked for."""
        container, stream = self._open()
        expected = start
        with container:
            try:
                if start:
                    container.seek(int(start / self._rate / stream.time_base), stream=stream, backward=True, any_frame=False)
                for frame in container.decode(stream):
                    index = self._index(frame.pts, frame.time_base)
                    if index < start:
                        continue
                    if index != expected or (frame.width, frame.height) != self._size:
                        raise WorldwrightError(
                            f"frame {index} ({frame.width}x{frame.height}) where {expected} should be", where=str(self.path)
                        )
                    expected += 1
                    yield _to_rgb(frame)
            except av.error.FFmpegError as error:
                raise WorldwrightError(
                    f"frame {expected} is unreadable ({error})", where=str(self.path), fix="render the shot again"
                ) from error

    def frame(self, index: int) -> U8:
        """One picture: decodes from the start of its group."""
        for picture in self.frames(index):
            return picture
        raise WorldwrightError(f"no frame {index}", where=str(self.path))


def _to_rgb(frame: Any) -> U8:
    picture = frame.reformat(
        format="rgb24",
        src_colorspace=Colorspace.ITU709,
        dst_colorspace=Colorspace.ITU709,
        src_color_range=ColorRange.MPEG,
        dst_color_range=ColorRange.JPEG,
        interpolation=_EXACT,
        threads=1,
    ).to_ndarray()
    return np.ascontiguousarray(picture)
