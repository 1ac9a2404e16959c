"""Rates that fit: frames and samples fall on ticks, and frames on samples. One integer clock."""

from __future__ import annotations

from worldwright.errors import WorldwrightError


def ticks_of(name: str, rate: int, tick_rate: int) -> int:
    """Ticks between two of ``rate`` a second. Raises WorldwrightError when that is no whole number."""
    if rate < 1 or tick_rate % rate:
        raise WorldwrightError(
            f"{rate} a second is no whole number of ticks at {tick_rate} ticks a second",
            where=name,
            fix=f"choose a divisor of {tick_rate}, or another tick rate",
        )
    return tick_rate // rate


def check_rates(tick_rate: int, frame_rate: int, sample_rate: int) -> tuple[int, int]:
    """Ticks a frame and ticks a sample. Raises WorldwrightError when rates do not fit each other."""
    frame_ticks, sample_ticks = ticks_of("frame rate", frame_rate, tick_rate), ticks_of("sample rate", sample_rate, tick_rate)
    if frame_ticks % sample_ticks:
        raise WorldwrightError(
            f"frames at {frame_rate} Hz do not fall on samples at {sample_rate} Hz",
            where="sample rate",
            fix=f"choose a multiple of {frame_rate} that divides {tick_rate}",
        )
    return frame_ticks, sample_ticks
