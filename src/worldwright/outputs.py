"""Outputs that exist whole or not at all.

A folder output is written into a hidden sibling, gets its manifest ``_DONE`` last, and is renamed into place; a reader that finds
no ``_DONE`` refuses the folder. The manifest lists every file with its size and hash.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file

MANIFEST = "_DONE"


def list_files(folder: Path) -> list[str]:
    """Every file below ``folder`` but the manifest, as sorted POSIX paths. Links are refused: they could leave the folder."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise WorldwrightError("is a symbolic link", where=str(path), fix="replace it by the file itself")
        if path.is_file() and path.name != MANIFEST:
            found.append(path.relative_to(folder).as_posix())
    return found


def write_manifest(folder: Path, kind: str, **extra: Any) -> None:
    """Write ``_DONE`` for the files now in ``folder``: their sizes and hashes. Written aside and renamed, so it is never half there."""
    files = {name: {"bytes": (folder / name).stat().st_size, "hash": hash_file(folder / name)} for name in list_files(folder)}
    part = folder / f".{MANIFEST}.part"
    with part.open("w") as file:
        json.dump({"format": f"worldwright.{kind}/1", "files": files, **extra}, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / MANIFEST)


def is_done(folder: Path) -> bool:
    """True when the output was finished."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The manifest of a finished output of this kind, or an error that says what to do."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise WorldwrightError("no such folder", where=str(folder))
    if not path.is_file():
        raise WorldwrightError(f"no {MANIFEST}: this {kind} was never finished", where=str(folder), fix="make it again")
    try:
        manifest = json.loads(path.read_text())
    except (ValueError, OSError) as error:
        raise WorldwrightError(f"unreadable manifest ({error})", where=str(path), fix="make it again") from error
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != f"worldwright.{kind}/1"
        or not isinstance(manifest.get("files"), dict)
    ):
        raise WorldwrightError(f"not the manifest of a {kind}", where=str(path))
    return manifest


def check_manifest(folder: Path, kind: str) -> list[str]:
    """What differs between the manifest and the files, one line each; empty when all hashes hold."""
    manifest = read_manifest(folder, kind)
    listed: dict[str, dict[str, Any]] = manifest["files"]
    present = set(list_files(folder))
    wrong = [f"{name}: missing" for name in sorted(set(listed) - present)]
    wrong += [f"{name}: not in the manifest" for name in sorted(present - set(listed))]
    for name in sorted(present & set(listed)):
        if (folder / name).stat().st_size != listed[name].get("bytes"):
            wrong.append(f"{name}: {(folder / name).stat().st_size} bytes, the manifest says {listed[name].get('bytes')}")
        elif hash_file(folder / name) != listed[name].get("hash"):
            wrong.append(f"{name}: content differs from the manifest's hash")
    return wrong


@contextlib.contextmanager
def new_folder(target: Path, kind: str) -> Iterator[Path]:
    """A temporary folder beside ``target`` that becomes ``target``, sealed by its manifest, if the body succeeds.

    Nothing is left when the body fails or is interrupted. A finished ``target`` is replaced; anything else there is refused, so
    that no user's folder is ever overwritten.
    """
    if target.exists() and not is_done(target) and (not target.is_dir() or any(target.iterdir())):
        raise WorldwrightError("exists and is no finished output", where=str(target), fix="name another folder, or remove it")
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        write_manifest(part, kind)
        if target.exists():
            shutil.rmtree(target)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
