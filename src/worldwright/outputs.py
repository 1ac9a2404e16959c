"""Outputs that exist whole or not at all.

A folder output is written into a hidden sibling, gets its manifest ``_DONE`` last, and is renamed into place; a reader that finds
no ``_DONE`` refuses the folder. The manifest lists every file with its size and hash.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.ids import canonical_json, hash_file

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


def mark_file(path: Path) -> dict[str, Any]:
    """A file's entry in a manifest: its size in bytes and its hash."""
    return {"bytes": path.stat().st_size, "hash": hash_file(path)}


def write_manifest(folder: Path, kind: str, *, known: Mapping[str, Mapping[str, Any]] | None = None, **extra: Any) -> None:
    """Write ``_DONE`` for the files now in ``folder``: their sizes and hashes. Written aside and renamed, so it is never half there.

    ``known`` holds entries of files that were hashed while they were written, so that gigabytes need not be read again.
    """
    known = known or {}
    files = {name: known[name] if name in known else mark_file(folder / name) for name in list_files(folder)}
    manifest = {"format": f"worldwright.{kind}/1", "files": files, **extra}
    write_text(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True))


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all: aside, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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


def looks_whole(folder: Path, kind: str) -> bool:
    """True when the output was finished and every file is there with its size; hashes are left to ``check_manifest``."""
    try:
        files = read_manifest(folder, kind)["files"]
        return all((folder / name).stat().st_size == mark["bytes"] for name, mark in files.items())
    except (WorldwrightError, OSError, LookupError, TypeError):
        return False


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


@dataclass
class Progress:
    """An output in the making, in steps. ``folder`` becomes the output; ``scratch`` is for pieces that are put together at the end.

    ``steps[k]`` is what step k made: manifest entries by path, ``out/...`` in the folder and ``scratch/...`` in the scratch.
    """

    root: Path
    request_id: str
    steps: list[dict[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """What becomes the output."""
        return self.root / "out"

    @property
    def scratch(self) -> Path:
        """Pieces that do not get into the output as they are."""
        return self.root / "scratch"

    def finish(self, files: Iterable[Path], marks: Mapping[Path, Mapping[str, Any]]) -> None:
        """The next step is done and its files are whole: from here on an interruption keeps them. ``marks`` saves hashing again."""
        step = {path.relative_to(self.root).as_posix(): dict(marks.get(path) or mark_file(path)) for path in files}
        with (self.root / "journal").open("a") as file:
            file.write(json.dumps({"files": step}, sort_keys=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.steps.append(step)

    def known(self) -> dict[str, dict[str, Any]]:
        """The manifest entries of the finished steps' files in the output."""
        return {name.removeprefix("out/"): mark for step in self.steps for name, mark in step.items() if name.startswith("out/")}

    def restore(self) -> None:
        """Take up the steps of an interrupted run of the same request whose files are whole, and clear away all the rest."""
        journal = self.root / "journal"
        lines = journal.read_text(errors="replace").splitlines() if journal.exists() else []
        if lines and lines[0] == canonical_json({"request": self.request_id}):
            for line in lines[1:]:
                if (step := _whole_step(self.root, line)) is None:
                    break
                self.steps.append(step)
        kept = {name for step in self.steps for name in step}
        for path in (self.folder, self.scratch):
            if not kept:
                shutil.rmtree(path, ignore_errors=True)
            path.mkdir(exist_ok=True)
            for name in list_files(path):
                if f"{path.name}/{name}" not in kept:
                    (path / name).unlink()
            (path / MANIFEST).unlink(missing_ok=True)
        part = self.root / "journal.part"
        part.write_text(
            "".join(f"{canonical_json(line)}\n" for line in ({"request": self.request_id}, *({"files": s} for s in self.steps)))
        )
        part.replace(journal)


def _whole_step(root: Path, line: str) -> dict[str, dict[str, Any]] | None:
    """The step that a line of the journal tells of, or None where the line is torn or one of its files is not as it says."""
    try:
        files: dict[str, dict[str, Any]] = json.loads(line)["files"]
        whole = all((root / name).is_file() and mark_file(root / name) == mark for name, mark in files.items())
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return files if whole else None


@contextlib.contextmanager
def resumable_folder(target: Path, kind: str, request_id: str) -> Iterator[Progress]:
    """Like ``new_folder``, for long work: what was finished before an interruption is kept for the next run of the same request.

    The body makes ``progress.folder`` in steps and calls ``progress.finish`` after each; ``progress.steps`` are those that are there
    already, checked by hash. What another request left is thrown away. One process at a time: a second one is refused. Nothing is
    left when the body fails before its first step is finished.
    """
    if is_done(target):
        read_manifest(target, kind)  # refuses what is finished but of another kind
    elif target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise WorldwrightError("exists and is no finished output", where=str(target), fix="name another folder, or remove it")
    root = target.with_name(f".{target.name}.part")
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldwrightError(f"cannot be made ({error.strerror})", where=str(target), fix="name another folder") from error
    with (root / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise WorldwrightError(
                "another process is making this output", where=str(target), fix="wait for it, or stop it"
            ) from error
        progress = Progress(root, request_id)
        progress.restore()
        try:
            yield progress
            write_manifest(progress.folder, kind, known=progress.known())
            if target.exists():
                shutil.rmtree(target)
            progress.folder.rename(target)
        except BaseException:
            if not progress.steps:
                shutil.rmtree(root, ignore_errors=True)
            raise
        shutil.rmtree(root, ignore_errors=True)
