"""One entry for everything that can be verified: what a path is, is decided by what it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.outputs import MANIFEST, manifest_hash
from worldwright.render.info import INFO_FILE
from worldwright.verify.context import Context
from worldwright.verify.shot import verify_shot
from worldwright.verify.take import verify_take
from worldwright.verify.verdict import Verdict
from worldwright.verify.world import verify_world

__all__ = ["verify_dataset", "verify_path", "verify_shot", "verify_take", "verify_world"]

Progress = Callable[[int, int], None]
WORLD_SUFFIXES = {".yaml", ".yml", ".json"}


def verify_dataset(path: Path) -> Verdict:
    """Check a packed dataset: its files, counts, ranges and frames (``dataset.check.check_dataset``)."""
    from worldwright.dataset.check import check_dataset  # dataset imports verify, not the other way round, but for this entry

    manifest = manifest_hash(path)
    return Verdict("dataset", str(path), hash_file(path / "meta" / "info.json"), check_dataset(path), manifest)


def verify_path(
    path: Path,
    packs: Mapping[str, Path],
    *,
    fast: bool = False,
    workers: int | None = 1,
    progress: Progress | None = None,
    context: Context | None = None,
) -> Verdict:
    """Verify a world file, a take, a shot folder or a dataset folder.

    Args:
        path: what to verify.
        packs: folders of the asset packs that worlds use.
        fast: look at a seeded sample of a shot's frames.
        workers: processes for a shot's frames; None: one a core.
        progress: called with (done, all) frames.
        context: keeps what is costly between calls.

    Raises:
        WorldwrightError: it is none of these, was never finished, or a pack is missing.
    """
    if not path.exists():
        raise WorldwrightError("no such file or folder", where=str(path))
    if path.is_file():
        if path.suffix == ".mcap":
            return verify_take(path, packs, progress=progress, context=context)
        if path.suffix.lower() in WORLD_SUFFIXES:
            return verify_world(path, packs)
        raise WorldwrightError("is no world (.yaml, .json) and no take (.mcap)", where=str(path))
    if (path / "meta" / "info.json").is_file():
        return verify_dataset(path)
    if (path / INFO_FILE).is_file() or (path / MANIFEST).is_file():
        return verify_shot(path, packs, fast=fast, workers=workers, progress=progress, context=context)
    raise WorldwrightError(
        f"is no shot ({INFO_FILE}) and no dataset (meta/info.json)",
        where=str(path),
        fix="name a world file, a take, a shot or a dataset",
    )
