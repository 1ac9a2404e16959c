"""Outputs that exist whole or not at all.

A folder output is written into a hidden sibling, gets its manifest ``_DONE`` last, and is renamed into place; a reader that finds
no ``_DONE`` refuses the folder. The manifest lists every file with its size and hash.
"""

from __future__ import annotations

import contextlib
import errno
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
MAX_MANIFEST_BYTES = 256 << 20
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says when there is no room: on the disk, in the user's share of it, in one file."""


def list_files(folder: Path) -> list[str]:
    """Every file below ``folder`` but the manifest, as sorted POSIX paths. Links are refused: they could leave the folder."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise WorldwrightError("is a symbolic link", where=str(path), fix="replace it by the file itself")
        if not (path.is_file() or path.is_dir()):  # reading a pipe would wait for ever
            raise WorldwrightError("is neither a file nor a folder", where=str(path), fix="remove it")
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


@contextlib.contextmanager
def naming_full_disk(target: Path) -> Iterator[None]:
    """A full disk in the body is told with the name of ``target``. The system names no file with it, and what it names after a failed
    copy is the source."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


def write_text(path: Path, text: str) -> None:
    """Write a small file, UTF-8, whole or not at all: aside, then renamed. OSErrors name ``path``."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a small file whole or not at all: aside, then renamed. OSErrors name ``path``."""
    part = path.with_name(f".{path.name}.part")
    with naming_full_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename == str(part):  # nobody asked for that name
                raise OSError(error.errno, error.strerror, str(path)) from error
            raise


def check_new_file(target: Path, kind: str, start: bytes) -> None:
    """Refuse to write ``target`` over anything but a file of this kind, one that begins with the bytes ``start``; before the work."""
    fix = "name another file"
    if target.name in ("", "..") or target.is_dir():
        raise WorldwrightError("is a folder", where=str(target), fix=f"name a file for the {kind}")
    if not target.exists() and not target.is_symlink():
        return
    if target.is_symlink() or not target.is_file():
        raise WorldwrightError("exists and is no plain file", where=str(target), fix=fix)
    with target.open("rb") as file:
        found = file.read(len(start))
    if found not in (b"", start):
        raise WorldwrightError(f"exists and is no {kind}", where=str(target), fix=fix)


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
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise WorldwrightError(f"larger than {MAX_MANIFEST_BYTES} bytes", where=str(path), fix="make it again")
        manifest = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError) as error:
        raise WorldwrightError(f"unreadable manifest ({error})", where=str(path), fix="make it again") from error
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict) or manifest.get("format") != f"worldwright.{kind}/1":
        raise WorldwrightError(f"not the manifest of a {kind}", where=str(path))
    if odd := [name for name, mark in files.items() if not isinstance(mark, dict)]:
        raise WorldwrightError("is no size and hash", where=f"{path}: files.{odd[0]}", fix="make it again")
    return manifest


def manifest_hash(folder: Path) -> str:
    """The hash of a finished output's manifest, and through it of every file; empty when there is no manifest."""
    path = folder / MANIFEST
    return hash_file(path) if path.is_file() else ""


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


def check_new_folder(target: Path, kind: str) -> None:
    """Refuse to replace anything but a finished output of this kind with nothing else in it: no file of a user's is ever lost."""
    fix = "name another folder, or remove it"
    if target.name in ("", ".."):
        raise WorldwrightError("is no name of a new folder", where=str(target), fix="name one inside it")
    if target.is_symlink():
        raise WorldwrightError("is a symbolic link", where=str(target), fix="name the folder itself")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not is_done(target):
        raise WorldwrightError("exists and is no finished output", where=str(target), fix=fix)
    try:
        ours = read_manifest(target, kind)["files"]
    except WorldwrightError as error:
        raise WorldwrightError(f"exists and is no {kind} ({error.what})", where=str(target), fix=fix) from error
    if others := sorted(set(list_files(target)) - set(ours)):
        raise WorldwrightError(
            f"holds {others[0]!r}, which is not of this {kind}", where=str(target), fix="move it elsewhere, or name another folder"
        )


@contextlib.contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """A hidden folder beside ``target`` for one process at a time; a second one is refused. The lock goes with the process."""
    root = target.with_name(f".{target.name}.part")
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / "lock").open("w")
    except OSError as error:
        raise WorldwrightError(f"cannot be made ({error.strerror})", where=str(target), fix="name another folder") from error
    with lock:
        busy = WorldwrightError("another process is making this output", where=str(target), fix="wait for it, or stop it")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before us may have ended, and taken its folder away, between our opening the lock and getting it.
            if not os.path.samestat(os.fstat(lock.fileno()), (root / "lock").stat()):
                raise busy
        except OSError as error:
            raise busy from error
        shutil.rmtree(root / "old", ignore_errors=True)
        yield root


def _put_in_place(made: Path, target: Path, old: Path) -> None:
    """Rename ``made`` to ``target``; what was there goes to ``old``. A kill between the two leaves nothing half there."""
    if target.exists():
        target.rename(old)
    try:
        made.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise


@contextlib.contextmanager
def new_folder(target: Path, kind: str) -> Iterator[Path]:
    """A temporary folder that becomes ``target``, sealed by its manifest, if the body succeeds.

    Nothing is left when the body fails or is interrupted. A finished ``target`` of the same kind is replaced; anything else there is
    refused, so that no user's folder is ever overwritten. One process at a time: a second one is refused.
    """
    check_new_folder(target, kind)
    with _workplace(target) as root:
        part = root / "out"
        try:
            shutil.rmtree(part, ignore_errors=True)
            with naming_full_disk(target):
                part.mkdir()
                yield part
                write_manifest(part, kind)
                _put_in_place(part, target, root / "old")
        finally:
            shutil.rmtree(root, ignore_errors=True)


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
    check_new_folder(target, kind)
    with _workplace(target) as root:
        progress = Progress(root, request_id)
        try:
            with naming_full_disk(target):
                progress.restore()
                yield progress
                write_manifest(progress.folder, kind, known=progress.known())
                _put_in_place(progress.folder, target, root / "old")
        except BaseException:
            if not progress.steps:
                shutil.rmtree(root, ignore_errors=True)
            raise
        shutil.rmtree(root, ignore_errors=True)
