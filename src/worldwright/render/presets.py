"""Picture sizes and frame rates."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from worldwright.errors import WorldwrightError
from worldwright.take.model import TakeHeader

SMALLEST, LARGEST = 16, 8192
MOST_SAMPLES = 16_384


@dataclass(frozen=True, slots=True)
class Preset:
    """A picture size in pixels, both even (H.264 4:2:0 halves the colour), and the samples a pixel of a renderer that samples: None is
    its own choice."""

    name: str
    width: int
    height: int
    samples: int | None = None


PRESETS = {
    p.name: p
    for p in (
        Preset("90p", 160, 90),
        Preset("180p", 320, 180),
        Preset("360p", 640, 360),
        Preset("540p", 960, 540),
        Preset("720p", 1280, 720),
        Preset("1080p", 1920, 1080),
    )
}


def parse_preset(text: str) -> Preset:
    """A preset by name, or any size as ``128x72``; with ``@64`` behind it 64 samples a pixel."""
    size, sign, number = text.partition("@")
    if sign:
        if not re.fullmatch(r"[0-9]{1,6}", number) or not 1 <= int(number) <= MOST_SAMPLES:
            raise WorldwrightError(
                f"{number!r} samples in {text!r}", where="preset", fix=f"write a number from 1 to {MOST_SAMPLES}, such as 720p@16"
            )
        plain = parse_preset(size)
        return replace(plain, name=f"{plain.name}@{int(number)}", samples=int(number))
    if text in PRESETS:
        return PRESETS[text]
    if not (found := re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text)):
        raise WorldwrightError(
            f"no preset {text!r}",
            where="preset",
            fix=f"choose one of {', '.join(PRESETS)}, or WIDTHxHEIGHT such as 128x72, and @SAMPLES behind it",
        )
    width, height = int(found[1]), int(found[2])
    if not (min(width, height) >= SMALLEST and max(width, height) <= LARGEST) or width % 2 or height % 2:
        raise WorldwrightError(f"size {text}", where="preset", fix=f"both sides must be even, from {SMALLEST} to {LARGEST}")
    return Preset(f"{width}x{height}", width, height)


def frame_ticks_for(header: TakeHeader, fps: int | None) -> int:
    """Ticks between frames at ``fps`` (the take's own where None): a whole number of ticks and of samples."""
    if fps is None:
        return header.frame_ticks
    if fps <= 0 or header.tick_rate % fps or (header.tick_rate // fps) % header.sample_ticks:
        good = [
            str(f)
            for f in range(1, header.tick_rate + 1)
            if header.tick_rate % f == 0 and (header.tick_rate // f) % header.sample_ticks == 0
        ]
        raise WorldwrightError(
            f"{fps} frames a second are not a whole number of samples of this take ({header.tick_rate} ticks a second, one sample in {header.sample_ticks})",
            where="fps",
            fix=f"choose one of {', '.join(good)}",
        )
    return header.tick_rate // fps
