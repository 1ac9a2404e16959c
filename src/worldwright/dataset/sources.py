"""Shots on their way into a dataset: which may go in, and what is told of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worldwright.dataset.layout import MAX_VIDEO_SECONDS
from worldwright.errors import WorldwrightError
from worldwright.outputs import manifest_hash, read_manifest
from worldwright.render.info import ShotInfo, read_info

MAX_VERDICT_BYTES = 64 << 20
MAX_SHOTS = 1_000_000

TASKS = {
    "explore": "explore {world}",
    "grammar": "try every kind of movement in {world}",
    "loop": "go somewhere in {world} and come back the same way",
    "replay": "repeat a recording in {world}",
}


def task_text(policy: str, world: str) -> str:
    """What the character is about, in words."""
    return TASKS.get(policy, f"{policy.replace('_', ' ')} in {{world}}").format(world=world)


def verdict_path(shot: Path) -> Path:
    """Where a shot's verdict is looked for when the caller gives none: beside it."""
    return shot.with_name(f"{shot.name}.verdict.json")


def read_verdict(path: Path) -> dict[str, Any]:
    """A verdict as ``worldwright verify --json`` prints it."""
    try:
        if path.stat().st_size > MAX_VERDICT_BYTES:
            raise WorldwrightError(f"larger than {MAX_VERDICT_BYTES} bytes", where=str(path))
        verdict = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise WorldwrightError(f"unreadable verdict ({error})", where=str(path), fix="verify the shot again") from error
    if not isinstance(verdict, dict):
        raise WorldwrightError("is no verdict", where=str(path), fix="verify the shot again")
    return verdict


@dataclass(frozen=True, slots=True)
class Source:
    """A shot that may go in. ``manifest`` is the hash of its manifest; ``verdict`` is None until ``with_verdicts``, and after it only where
    unverified shots were allowed."""

    path: Path
    info: ShotInfo
    manifest: str
    verdict: dict[str, Any] | None = None

    @property
    def verified(self) -> bool:
        """True when all checks hold."""
        return self.verdict is not None and self.verdict.get("passed") is True


def _verdict_of(source: Source, given: Mapping[Path, Mapping[str, Any]], allow_unverified: bool) -> dict[str, Any] | None:
    path, info, manifest = source.path, source.info, source.manifest
    verdict = dict(given[path.resolve()]) if path.resolve() in given else None
    if verdict is None and verdict_path(path).is_file():
        verdict = read_verdict(verdict_path(path))
    if verdict is None:
        if allow_unverified:
            return None
        raise WorldwrightError("is not verified", where=str(path), fix="worldwright verify it first, or pass --allow-unverified")
    if verdict.get("kind") != "shot" or not isinstance(verdict.get("checks"), list):
        raise WorldwrightError(
            f"the verdict is of a {verdict.get('kind')!r}, not of a shot", where=str(path), fix="verify the shot again"
        )
    if verdict.get("id") not in ("", None, info.id):
        raise WorldwrightError(
            f"the verdict is of another shot ({verdict.get('id')!r})", where=str(path), fix="verify the shot again"
        )
    if verdict.get("manifest") != manifest:
        # The id is that of the request: a shot that was rendered again, or edited and sealed, keeps it.
        what = (
            "the verdict is of other files than are there now" if verdict.get("manifest") else "the verdict does not name its files"
        )
        raise WorldwrightError(what, where=str(path), fix="verify the shot again")
    if verdict.get("passed") is not True and not allow_unverified:
        failed: Mapping[str, Any] = next((c for c in verdict["checks"] if not c.get("passed") and not c.get("skipped")), {})
        raise WorldwrightError(
            f"failed verification: {failed.get('name', '?')}: {failed.get('message', '')}", where=str(path), fix="leave it out"
        )
    return verdict


def open_sources(shots: Sequence[Path]) -> list[Source]:
    """Check that these shots fit into one dataset: finished, none twice, of one size, rate and set of passes. Only their shot.json is
    read: this is for before what takes long."""
    if not shots:
        raise WorldwrightError("no shots to pack", fix="name at least one shot folder")
    if len(shots) > MAX_SHOTS:
        raise WorldwrightError(f"{len(shots)} shots, at most {MAX_SHOTS}")
    sources: list[Source] = []
    seen: dict[str, Path] = {}
    for path in shots:
        read_manifest(path, "shot")
        manifest, info = manifest_hash(path), read_info(path)
        where = str(path)
        if info.rgb is None:
            raise WorldwrightError("has no rgb", where=where, fix="render it with rgb")
        if info.rate.denominator != 1:
            raise WorldwrightError(
                f"{info.rate} frames a second: LeRobot wants a whole number", where=where, fix="render it at 24, 30 or 60"
            )
        if info.n_frames > MAX_VIDEO_SECONDS * info.rate:
            raise WorldwrightError(
                f"{float(info.n_frames / info.rate):.0f} s long: LeRobot's readers find frames by 32-bit float times, exact enough for "
                f"{MAX_VIDEO_SECONDS} s",
                where=where,
                fix="render it in parts",
            )
        if info.id in seen:
            raise WorldwrightError(f"is the same shot as {seen[info.id]}", where=where, fix="name it once")
        seen[info.id] = path
        if sources:
            _agree(sources[0], path, info)
        sources.append(Source(path, info, manifest))
    return sources


def with_verdicts(sources: Sequence[Source], verdicts: Mapping[Path, Mapping[str, Any]], allow_unverified: bool) -> list[Source]:
    """The shots with their verdicts. Raises WorldwrightError for the first that is not verified, or not true, unless that is allowed."""
    given = {path.resolve(): verdict for path, verdict in verdicts.items()}
    return [replace(source, verdict=_verdict_of(source, given, allow_unverified)) for source in sources]


def _agree(first: Source, path: Path, info: ShotInfo) -> None:
    """One dataset has one picture size, one rate, one set of passes."""
    for what, a, b in (
        ("size", f"{first.info.width}x{first.info.height}", f"{info.width}x{info.height}"),
        ("rate", f"{first.info.rate} Hz", f"{info.rate} Hz"),
        ("passes", ", ".join(first.info.all_passes), ", ".join(info.all_passes)),
    ):
        if a != b:
            raise WorldwrightError(
                f"its {what} is {b}, that of {first.path} is {a}", where=str(path), fix="pack them into two datasets"
            )
