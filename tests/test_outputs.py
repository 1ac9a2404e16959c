"""Outputs: whole or not at all, one writer at a time, and nothing of a user's is ever lost."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from worldwright.errors import WorldwrightError
from worldwright.outputs import check_manifest, check_new_file, looks_whole, new_folder, read_manifest, resumable_folder, write_text


def make(target: Path, kind: str = "dataset", text: str = "1") -> None:
    with new_folder(target, kind) as part:
        (part / "a.txt").write_text(text)


def test_a_finished_output_cannot_be_made_again(tmp_path: Path) -> None:
    make(tmp_path / "out")
    make(tmp_path / "out", text="2")
    assert (tmp_path / "out" / "a.txt").read_text() == "2"
    assert check_manifest(tmp_path / "out", "dataset") == []
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_packing_onto_a_shot_deletes_the_shot(tmp_path: Path) -> None:
    make(tmp_path / "out", "shot")
    with pytest.raises(WorldwrightError, match="is no dataset"):
        make(tmp_path / "out", "dataset")
    assert (tmp_path / "out" / "a.txt").read_text() == "1"


@pytest.mark.parametrize("place", ["notes.txt", "sub/notes.txt"])
def test_a_users_file_in_an_output_is_deleted(tmp_path: Path, place: str) -> None:
    make(tmp_path / "out")
    notes = tmp_path / "out" / place
    notes.parent.mkdir(exist_ok=True)
    notes.write_text("mine")
    with pytest.raises(WorldwrightError, match="notes"):
        make(tmp_path / "out")
    with pytest.raises(WorldwrightError, match="notes"), resumable_folder(tmp_path / "out", "dataset", "r"):
        pass
    assert notes.read_text() == "mine"


def test_a_users_folder_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine")
    with pytest.raises(WorldwrightError, match="no finished output"):
        make(tmp_path / "mine")
    assert (tmp_path / "mine" / "a.txt").read_text() == "mine"


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_without_a_name_breaks(name: str) -> None:
    with pytest.raises(WorldwrightError, match="no name"):
        make(Path(name))


def test_a_link_is_found_out_only_after_hours(tmp_path: Path) -> None:
    make(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(WorldwrightError, match="symbolic link"):
        make(tmp_path / "link")
    assert looks_whole(tmp_path / "out", "dataset")


def test_two_commands_write_one_output(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out", "dataset") as part:
        (part / "a.txt").write_text("first")
        with pytest.raises(WorldwrightError, match="another process"):
            make(tmp_path / "out")
    assert (tmp_path / "out" / "a.txt").read_text() == "first"
    assert check_manifest(tmp_path / "out", "dataset") == []


def test_a_failure_leaves_something_or_loses_the_old(tmp_path: Path) -> None:
    make(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "out", "dataset") as part:
        (part / "b.txt").write_text("half")
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert check_manifest(tmp_path / "out", "dataset") == []


def test_what_a_kill_left_stands_in_the_way(tmp_path: Path) -> None:
    make(tmp_path / "out")
    shutil.copytree(tmp_path / "out", tmp_path / ".out.part" / "old")
    shutil.copytree(tmp_path / "out", tmp_path / ".out.part" / "out")
    (tmp_path / ".out.part" / "out" / "half.txt").write_text("half")
    make(tmp_path / "out", text="2")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == ["_DONE", "a.txt"]


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[]", "{", json.dumps({"format": "worldwright.shot/1", "files": {"a": 5}}), '{"files": {}}', "\0", "1" * 6000],
)
def test_a_damaged_manifest_is_no_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "_DONE").write_text(text)
    with pytest.raises(WorldwrightError) as error:
        read_manifest(tmp_path, "shot")
    assert "_DONE" in error.value.line()
    assert not looks_whole(tmp_path, "shot")


def test_a_pipe_in_an_output_is_waited_for(tmp_path: Path) -> None:
    make(tmp_path / "out")
    os.mkfifo(tmp_path / "out" / "b.txt")
    with pytest.raises(WorldwrightError, match="neither a file nor a folder"):
        check_manifest(tmp_path / "out", "dataset")


def test_a_file_of_the_users_is_written_over(tmp_path: Path) -> None:
    notes, link, pipe = tmp_path / "notes.txt", tmp_path / "link", tmp_path / "pipe"
    notes.write_text("mine")
    link.symlink_to(notes)
    os.mkfifo(pipe)
    for path in (notes, link, pipe, tmp_path, Path(".."), Path("/")):
        with pytest.raises(WorldwrightError):
            check_new_file(path, "take", b"\x89MCAP")
    notes.write_bytes(b"\x89MCAP0\r\n")
    check_new_file(notes, "take", b"\x89MCAP")
    check_new_file(tmp_path / "new.mcap", "take", b"\x89MCAP")


@contextmanager
def no_room() -> Iterator[None]:
    """No file of more than 1000 bytes: to the code it is a full disk, and needs no disk to fill."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def folder_of(target: Path) -> None:
    with new_folder(target, "dataset") as part:
        (part / "a").write_bytes(bytes(2000))


def folder_in_steps(target: Path) -> None:
    with resumable_folder(target, "shot", "0" * 32) as progress:
        (progress.folder / "a").write_bytes(bytes(2000))


def folder_of_copies(target: Path) -> None:
    source = target.with_name("source")
    with new_folder(target, "dataset") as part:
        shutil.copyfile(source, part / "a")


@pytest.mark.parametrize("write", [lambda p: write_text(p, "x" * 2000), folder_of, folder_in_steps, folder_of_copies])
def test_a_full_disk_is_told_without_a_name_or_with_that_of_the_source(write: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(bytes(2000))
    with pytest.raises(OSError, match="large") as told, no_room():
        write(tmp_path / "target")
    assert told.value.errno == errno.EFBIG and told.value.filename == str(tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_file_that_cannot_be_written_is_told_by_a_name_that_nobody_gave(tmp_path: Path) -> None:
    (tmp_path / ".w.png.part").mkdir()  # in the way of the file that is written aside, as a folder without leave to write is
    with pytest.raises(OSError, match="directory") as told:
        write_text(tmp_path / "w.png", "x")
    assert told.value.filename == str(tmp_path / "w.png")
