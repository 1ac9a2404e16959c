"""Numbers measured on single frames, and the check that they add up to.

A check on a shot is many measurements: one or more a frame, each against its limit. ``summarise`` names the worst one, so that a
failure always says which frame, which value, which limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from worldwright.verify.verdict import Check

NAMED_FRAMES = 20
"""Failing frames listed in a check's evidence; the count is always complete."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One value of one frame. It holds when ``value <= limit``; NaN never holds. ``what`` says in words what the value is."""

    check: str
    frame: int
    value: float
    limit: float
    what: str

    @property
    def holds(self) -> bool:
        """True when the value is within its limit."""
        return bool(self.value <= self.limit)

    @property
    def badness(self) -> float:
        """How far beyond the limit, as a ratio: above 1 (or infinite) is a failure."""
        if self.holds:
            return self.value / self.limit if self.limit > 0 else 0.0
        return max(1.0, self.value / self.limit) if self.limit > 0 and np.isfinite(self.value) else float("inf")


def summarise(name: str, measures: Iterable[Measure], *, nothing: str) -> Check:
    """One check out of its measurements. ``nothing`` says why there can be none: then the check is skipped, with that reason."""
    found = sorted((m for m in measures if m.check == name), key=lambda m: (m.frame, m.what))
    if not found:
        return skipped(name, nothing)
    frames = sorted({m.frame for m in found})
    failing = sorted({m.frame for m in found if not m.holds})
    worst = max(found, key=lambda m: (m.badness, -m.frame))
    values = np.array([m.value for m in found if m.what == worst.what])
    evidence = {
        "frames_measured": len(frames),
        "frames_failing": len(failing),
        "failing": failing[:NAMED_FRAMES],
        "median": float(np.median(values)),
        "worst_ratio": float(min(worst.badness, 1e9)),
    }
    score = 1.0 - len(failing) / len(frames)
    if failing:
        text = f"{worst.what} is {worst.value:.6g}, the limit is {worst.limit:.6g}; {len(failing)} of {len(frames)} frames fail"
    else:
        text = f"{len(frames)} frames; at most: {worst.what} {worst.value:.4g}, limit {worst.limit:.4g}"
    return Check(name, not failing, score, text, worst.frame, float(worst.value), float(worst.limit), evidence)


def passed(name: str, message: str, evidence: Mapping[str, Any] | None = None) -> Check:
    """A check that holds."""
    return Check(name, True, 1.0, message, evidence=evidence or {})


def failed(
    name: str,
    message: str,
    *,
    frame: int | None = None,
    value: float | str | None = None,
    limit: float | str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Check:
    """A check that does not hold."""
    return Check(name, False, 0.0, message, frame, value, limit, evidence or {})


def skipped(name: str, reason: str) -> Check:
    """A check that does not apply, and why."""
    return Check(name, False, 0.0, reason, skipped=True)


def from_problems(name: str, problems: Sequence[str], held: str, evidence: Mapping[str, Any] | None = None) -> Check:
    """A check over a list of differences: the first one is told, all are counted."""
    if not problems:
        return passed(name, held, evidence)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    found = {"problems": list(problems[:NAMED_FRAMES]), "count": len(problems), **(evidence or {})}
    return Check(name, False, 0.0, problems[0] + more, evidence=found)
