"""Checks and verdicts: one executable test on a world, a take or a shot, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check. ``score`` in [0, 1], 1 is perfect. A failed check names the frame (or tick) and the value that is
    wrong. ``skipped`` says why a check does not apply; it is never silent and never counts as passed evidence."""

    name: str
    passed: bool
    score: float
    message: str
    frame: int | None = None
    value: float | str | None = None
    limit: float | str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """All checks on one subject. ``kind`` is world, take, shot or dataset; ``subject`` its path; ``id`` its content id.

    ``manifest`` is the hash of the ``_DONE`` of a shot or dataset as it was before the first check: it names every byte that was judged,
    where ``id`` names only what was asked for. A shot that was rendered again has the same id and, if one byte differs, another manifest.
    """

    kind: str
    subject: str
    id: str
    checks: Sequence[Check]
    manifest: str = ""

    @property
    def passed(self) -> bool:
        """True when every check that applies holds."""
        return all(check.passed or check.skipped for check in self.checks)

    @property
    def failures(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.passed and not check.skipped]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "id": self.id,
            "manifest": self.manifest,
            "passed": self.passed,
            "checks": [asdict(c) for c in self.checks],
        }
