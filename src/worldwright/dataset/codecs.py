"""The compact tier: a video per pass, within errors that are declared here and measured on every pixel of every frame.

Stored values (``render.passes``) are rounded to fewer levels, as coarse as the declared error allows, and those levels are coded without loss
in 10- or 12-bit HEVC: so the error is that of the rounding, at edges too, where lossy coding of geometry goes wrong. Only albedo is coded
with loss, in RGB. Reading gives stored values again, so one decoder serves both tiers.

Two channels of one pass (normal, flow) lie one above the other in a grey picture: codecs never mix them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.render.passes import (
    DEPTH_FAR,
    DEPTH_NEAR,
    DEPTH_STEPS,
    FLOW_INVALID,
    FLOW_SCALE,
    NORMAL_STEPS,
    PASSES,
    decode_normal,
)

Array = NDArray[Any]

COMPACT_DEPTH_STEPS = 4094
"""Levels of compact depth between near and far: half a step is 0.12 %."""
COMPACT_DEPTH_NONE = 4095
"""No surface. LeRobot knows no mask: its readers see this as the declared maximum, just beyond the farthest surface."""
COMPACT_DEPTH_MAX = DEPTH_NEAR * (DEPTH_FAR / DEPTH_NEAR) ** (4095 / COMPACT_DEPTH_STEPS)
"""What ``depth_max`` is in LeRobot's convention, so that its logarithmic quantiser (``shift`` 0) is ours."""
COMPACT_NORMAL_STEPS = 300
"""Octahedral levels: at most 0.9 degrees."""
COMPACT_NORMAL_NONE = 1023
COMPACT_FLOW_STEP = 10
"""Flow codes (1/32 pixel) a level: at most 0.222 pixels."""
FLOW_MIDDLE = 2048
MOST_FLOW = (FLOW_MIDDLE - 1) * COMPACT_FLOW_STEP


@dataclass(frozen=True, slots=True)
class Limit:
    """What is promised of a pass: ``metric`` of every frame is at most (``best`` is "low") or at least ("high") ``limit``."""

    metric: str
    limit: float
    unit: str
    best: str = "low"

    def holds(self, value: float) -> bool:
        """True when a frame is as good as promised."""
        return value <= self.limit if self.best == "low" else value >= self.limit

    def worse(self, a: float, b: float) -> float:
        """The worse of two frames."""
        return max(a, b) if self.best == "low" else min(a, b)


LIMITS = {
    "depth": Limit("largest relative error", 0.5, "%"),
    "normal": Limit("largest angle", 1.0, "degrees"),
    "flow": Limit("largest end point error", 0.25, "px"),
    "entity": Limit("wrong ids", 0.0, "pixels"),
    "albedo": Limit("PSNR of the sRGB-coded colour", 45.0, "dB", best="high"),
    "metallic": Limit("largest error", 0.0, "1/255"),
    "roughness": Limit("largest error", 0.0, "1/255"),
}
"""What the compact tier promises. A surface where there is none, or none where there is one, counts as an infinite error."""

_LOSSLESS = "lossless=1"
PRESET = "superfast"


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to keep a pass: ``pack`` gives a picture in ``pix_fmt`` (2-D integers, or [height, width, 3] uint8 for colour), or None when
    the values do not fit; ``unpack`` gives stored values again."""

    name: str
    encoder: str
    pix_fmt: str
    options: str
    pack: Callable[[Array], Array | None]
    unpack: Callable[[Array], Array]


def _depth_pack(code: Array) -> Array:
    scaled = np.rint((code.astype(np.float32) - 1) * np.float32(COMPACT_DEPTH_STEPS / DEPTH_STEPS))
    return np.where(code == 0, COMPACT_DEPTH_NONE, scaled).astype(np.uint16)


def _depth_unpack(level: Array) -> Array:
    code = np.rint(level.astype(np.float64) * (DEPTH_STEPS / COMPACT_DEPTH_STEPS)) + 1
    return np.where(level == COMPACT_DEPTH_NONE, 0, code).astype(np.uint16)


def _stack(code: Array) -> Array:
    return np.concatenate([code[..., 0], code[..., 1]], axis=0)


def _unstack(level: Array) -> Array:
    return np.stack(np.split(level, 2, axis=0), axis=-1)


def _normal_pack(code: Array) -> Array:
    level = np.rint(code.astype(np.float32) * np.float32(COMPACT_NORMAL_STEPS / NORMAL_STEPS))
    return _stack(np.where(code > NORMAL_STEPS, COMPACT_NORMAL_NONE, level).astype(np.uint16))


def _normal_unpack(level: Array) -> Array:
    level = _unstack(level)
    code = np.rint(level.astype(np.float64) * (NORMAL_STEPS / COMPACT_NORMAL_STEPS))
    return np.where(level == COMPACT_NORMAL_NONE, 65535, code).astype(np.uint16)


def _flow_pack(code: Array) -> Array | None:
    unknown = np.any(code == FLOW_INVALID, axis=-1, keepdims=True)
    known = np.where(unknown, 0, code).astype(np.int32)
    if np.abs(known).max(initial=0) > MOST_FLOW:
        return None
    level = np.rint(known / COMPACT_FLOW_STEP) + FLOW_MIDDLE
    return _stack(np.where(unknown, 0, level).astype(np.uint16))


def _flow_unpack(level: Array) -> Array:
    level = _unstack(level)
    return np.where(level == 0, FLOW_INVALID, (level.astype(np.int32) - FLOW_MIDDLE) * COMPACT_FLOW_STEP).astype(np.int16)


def _flow_pack_whole(code: Array) -> Array:
    return _stack((code.astype(np.int32) + 32768).astype(np.uint16))


def _flow_unpack_whole(level: Array) -> Array:
    return (_unstack(level).astype(np.int32) - 32768).astype(np.int16)


def _id_pack(code: Array) -> Array | None:
    return code if code.max(initial=0) < 4096 else None


def _same(value: Array) -> Array:
    return value


def _byte_pack(value: Array) -> Array:
    return value.astype(np.uint16)


def _byte_unpack(level: Array) -> Array:
    return level.astype(np.uint8)


LADDERS: dict[str, tuple[Codec, ...]] = {
    "depth": (Codec("depth-log12", "libx265", "gray12le", _LOSSLESS, _depth_pack, _depth_unpack),),
    "normal": (Codec("normal-oct300", "libx265", "gray10le", _LOSSLESS, _normal_pack, _normal_unpack),),
    "flow": (
        Codec("flow-12", "libx265", "gray12le", _LOSSLESS, _flow_pack, _flow_unpack),
        Codec("flow-16", "ffv1", "gray16le", "", _flow_pack_whole, _flow_unpack_whole),
    ),
    "entity": (
        Codec("id-12", "libx265", "gray12le", _LOSSLESS, _id_pack, _same),
        Codec("id-16", "ffv1", "gray16le", "", _same, _same),
    ),
    "albedo": (
        Codec("rgb10-crf12", "libx265", "gbrp10le", "crf=12", _same, _same),
        Codec("rgb10-crf6", "libx265", "gbrp10le", "crf=6", _same, _same),
        Codec("rgb8-lossless", "libx265", "gbrp", _LOSSLESS, _same, _same),
    ),
    "metallic": (Codec("byte-10", "libx265", "gray10le", _LOSSLESS, _byte_pack, _byte_unpack),),
    "roughness": (Codec("byte-10", "libx265", "gray10le", _LOSSLESS, _byte_pack, _byte_unpack),),
}
"""The ways to keep each pass, the smallest first: the first one whose every frame is as good as promised is taken."""

CODECS = {(name, codec.name): codec for name, ladder in LADDERS.items() for codec in ladder}

CONTAINERS = {"libx265": "mp4", "ffv1": "mkv"}


def measure(name: str, truth: Array, got: Array) -> float:
    """How far ``got`` is from ``truth``, both stored values of pass ``name``, in the metric of ``LIMITS``."""
    match name:
        case "depth":
            if np.any((truth == 0) != (got == 0)):
                return math.inf
            largest = int(np.abs(truth.astype(np.int32) - got.astype(np.int32)).max(initial=0))
            return 100 * math.expm1(largest / DEPTH_STEPS * math.log(DEPTH_FAR / DEPTH_NEAR))
        case "normal":
            gone = truth[..., 0] == 65535
            if np.any(gone != (got[..., 0] == 65535)):
                return math.inf
            a, b = decode_normal(truth[~gone]).astype(np.float64), decode_normal(got[~gone]).astype(np.float64)
            chord = np.sqrt(((a - b) ** 2).sum(axis=-1).max(initial=0.0))
            return math.degrees(2 * math.asin(min(1.0, float(chord) / 2)))
        case "flow":
            unknown = np.any(truth == FLOW_INVALID, axis=-1)
            if np.any(unknown != np.any(got == FLOW_INVALID, axis=-1)):
                return math.inf
            apart = (truth.astype(np.int32) - got.astype(np.int32))[~unknown]
            return math.sqrt(float((apart**2).sum(axis=-1).max(initial=0))) / FLOW_SCALE
        case "entity":
            return float(np.count_nonzero(truth != got))
        case "albedo":
            square = float(np.mean((truth.astype(np.float32) - got.astype(np.float32)) ** 2))
            return math.inf if square == 0 else 10 * math.log10(255.0**2 / square)
        case _:
            return float(np.abs(truth.astype(np.int32) - got.astype(np.int32)).max(initial=0))


class DoesNotFit(Exception):  # noqa: N818 - not an error: the next way is tried
    """The values of a frame do not fit a codec."""


def encode_planes(frames: Iterable[Array], codec: Codec, path: Path, fps: int) -> None:
    """Write stored values, a picture a frame, frame i at exactly i / fps seconds, in closed groups of one second without B frames.

    One thread and fixed parameters: the same frames give the same bytes. Raises ``DoesNotFit``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"flags": "+bitexact"}
    if codec.encoder == "libx265":
        fixed = (
            f"log-level=none:info=0:pools=none:frame-threads=1:bframes=0:keyint={fps}:min-keyint={fps}:scenecut=0:open-gop=0:ctu=16"
        )
        options |= {"preset": PRESET, "x265-params": f"{fixed}:{codec.options}"}
    else:
        options |= {"level": "3", "coder": "1", "context": "0", "slicecrc": "1"}
    container_options = {"fflags": "+bitexact"} | ({"movflags": "+faststart"} if path.suffix == ".mp4" else {})
    with av.open(str(path), "w", options=container_options) as container:
        stream: Any = container.add_stream(codec.encoder, rate=fps, options=options)
        stream.pix_fmt = codec.pix_fmt
        stream.time_base = stream.codec_context.time_base = Fraction(1, fps)
        stream.codec_context.thread_count = 1
        stream.gop_size = fps if codec.encoder == "libx265" else 1
        for i, values in enumerate(frames):
            plane = codec.pack(values)
            if plane is None:
                raise DoesNotFit(codec.name)
            if i == 0:
                stream.height, stream.width = plane.shape[:2]
            if plane.ndim == 3:
                picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(plane), format="rgb24").reformat(format=codec.pix_fmt)
            else:
                picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(plane), format=codec.pix_fmt)
            picture.pts, picture.time_base = i, Fraction(1, fps)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


def decode_planes(path: Path, codec: Codec, fps: int, start: int = 0) -> Iterator[tuple[int, Array]]:
    """(frame, stored values) from frame ``start`` on, in order. A frame off its time is an error."""
    native = "rgb24" if codec.pix_fmt.startswith("gbrp") else codec.pix_fmt
    expected = start
    try:
        with av.open(str(path)) as container:
            stream: Any = container.streams.video[0]
            stream.thread_type = "NONE"
            if stream.pix_fmt != codec.pix_fmt:
                raise WorldwrightError(
                    f"its pictures are {stream.pix_fmt}, expected {codec.pix_fmt}", where=str(path), fix="pack again"
                )
            if start:
                container.seek(int(Fraction(start, fps) / stream.time_base), stream=stream, backward=True, any_frame=False)
            for picture in container.decode(stream):
                index = Fraction(picture.pts) * picture.time_base * fps
                if path.suffix == ".mkv":  # Matroska's times are whole milliseconds
                    index = Fraction(round(index))
                if index < start:
                    continue
                if index != expected:
                    raise WorldwrightError(f"frame {index} where {expected} should be", where=str(path), fix="pack again")
                expected += 1
                yield int(index), codec.unpack(picture.to_ndarray(format=native))
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise WorldwrightError(f"frame {expected} is unreadable ({error})", where=str(path), fix="pack again") from error


@dataclass(frozen=True, slots=True)
class Encoded:
    """A pass of an episode as it was written: file, codec, the worst frame's error and its number, and bytes."""

    path: Path
    codec: Codec
    worst: float
    worst_frame: int
    bytes: int


def encode_pass(name: str, frames: Callable[[], Iterable[Array]], stem: Path, fps: int) -> Encoded:
    """Write one pass of an episode beside ``stem`` by the first codec that keeps the promise, decoding and comparing every frame.

    ``frames`` gives the stored values in order, each time it is called.
    """
    limit = LIMITS[name]
    for codec in LADDERS[name]:
        path = stem.with_name(f"{stem.name}.{CONTAINERS[codec.encoder]}")
        try:
            encode_planes(frames(), codec, path, fps)
        except DoesNotFit:
            path.unlink(missing_ok=True)
            continue
        worst, worst_frame = (-math.inf if limit.best == "low" else math.inf), 0
        decoded = decode_planes(path, codec, fps)
        for i, truth in enumerate(frames()):
            found = next(decoded, None)
            if found is None:
                raise WorldwrightError(f"pass {name}: frame {i} is missing after encoding", where=str(path))
            value = measure(name, truth, found[1])
            if limit.worse(worst, value) != worst:
                worst, worst_frame = value, i
        if next(decoded, None) is not None:
            raise WorldwrightError(f"pass {name}: more frames than were written", where=str(path))
        if limit.holds(worst):
            return Encoded(path, codec, worst, worst_frame, path.stat().st_size)
        path.unlink()
    raise WorldwrightError(
        f"pass {name}: no codec keeps the {limit.metric} within {limit.limit:g} {limit.unit}",
        where=str(stem),
        fix="pack with tier master",
    )


def lerobot_depth_info() -> dict[str, Any]:
    """How LeRobot is told to read our depth: its logarithmic quantiser with our range, in metres."""
    return {
        "is_depth_map": True,
        "depth_unit": "m",
        "video.depth_min": DEPTH_NEAR,
        "video.depth_max": COMPACT_DEPTH_MAX,
        "video.shift": 0.0,
        "video.use_log": True,
        "video.preset": PRESET,
        "video.extra_options": {"x265-params": _LOSSLESS},
    }


def check_pass_name(name: str, where: str) -> None:
    """An error for a pass that this package does not know."""
    if name not in PASSES:
        raise WorldwrightError(f"unknown pass {name!r}", where=where, fix=f"one of {', '.join(PASSES)}")
