"""A recording for the viewer is whole or not there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("rerun", reason="the extra view is not installed")


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory, cli: Cli) -> Path:
    folder = tmp_path_factory.mktemp("view")
    assert cli("world", "new", "playground", "--seed", 1, "-o", folder / "w.yaml").returncode == 0
    done = cli("record", folder / "w.yaml", "--policy", "grammar", "--seconds", 0.25, "-o", folder / "t.mcap")
    assert done.returncode == 0, done.stderr
    return folder / "t.mcap"


def test_a_recording_is_missing_or_leaves_something_beside_it(take: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("view", take, "--save", tmp_path / "t.rrd")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace("\n", "").endswith("t.rrd: a Rerun recording of it")
    assert [path.name for path in tmp_path.iterdir()] == ["t.rrd"]
    assert (tmp_path / "t.rrd").read_bytes()[:4] == b"RRF2"


def test_a_damaged_take_leaves_a_recording(take: Path, tmp_path: Path, cli: Cli) -> None:
    bad = tmp_path / "bad.mcap"
    bad.write_bytes(take.read_bytes()[:-1])
    done = cli("view", bad, "--save", tmp_path / "t.rrd")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.mcap"]


def test_a_full_disk_gives_half_a_recording(take: Path, tmp_path: Path, cli: Cli) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here (needs root)")
    try:
        done = cli("view", take, "--save", disk / "t.rrd")
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "t.rrd" in done.stderr, done.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
