"""What users type wrong: one clear line, a status, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, cli: Cli) -> Path:
    path = tmp_path_factory.mktemp("world") / "w.yaml"
    done = cli("world", "new", "playground", "--seed", 1, "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("world", "new", "atlantis", "-o", "{tmp}/x.yaml"), ("atlantis", "courtyard")),
        (("world", "new", "courtyard", "-p", "tres=4", "-o", "{tmp}/x.yaml"), ("tres",)),
        (("world", "new", "courtyard", "-p", "size", "-o", "{tmp}/x.yaml"), ("NAME=VALUE",)),
        (("world", "show", "{tmp}/none.yaml"), ("none.yaml",)),
        (("world", "show", "{world}", "--look", "smoke", "-o", "{tmp}/w.png"), ("smoke", "underwater")),
        (("world", "show", "{world}", "--look", "fog"), ("--out",)),
        (("looks", "{tmp}/none.yaml"), ("none.yaml",)),
        (("record", "{tmp}/none.yaml", "-o", "{tmp}/t.mcap"), ("none.yaml",)),
        (("record", "{world}", "--policy", "fly", "--seconds", "1", "-o", "{tmp}/t.mcap"), ("fly", "explore")),
        (("record", "{world}", "--frame-rate", "25", "--seconds", "1", "-o", "{tmp}/t.mcap"), ("25",)),
        (("record", "{world}", "--engine", "unreal", "--seconds", "1", "-o", "{tmp}/t.mcap"), ("unreal", "panda")),
        (("record", "{world}", "--seconds", "1", "-o", "{world}/no/t.mcap"), ("w.yaml/no",)),
        (("record", "{world}", "-o", "{tmp}"), ("{tmp}", "is a folder")),
        (("record", "{world}", "-o", "/"), ("is a folder",)),
        (("record", "{world}", "-o", "{world}"), ("w.yaml", "is no take")),
        (("record", "{world}", "-p", "x={a", "-o", "{tmp}/t.mcap"), ("--param x",)),
        (("record", "{world}", "--tick-rate", "0", "-o", "{tmp}/t.mcap"), ("--tick-rate",)),
        (("record", "{world}", "--seed", "99999999999999999999", "-o", "{tmp}/t.mcap"), ("--seed",)),
        (("render", "{tmp}/none.mcap", "-o", "{tmp}/s"), ("none.mcap",)),
        (("render", "{world}", "-o", "{tmp}/s"), ("w.yaml",)),
        (("verify", "{tmp}/none"), ("none",)),
        (("verify", "{tmp}"), ("{tmp}",)),
        (("pack", "{tmp}/none", "-o", "{tmp}/d"), ("none",)),
        (("seal", "{tmp}/none"), ("none",)),
        (("report", "{tmp}"), ("run.json",)),
        (("view", "{tmp}/none.mcap"), ("none.mcap",)),
        (("make", "{tmp}/none.yaml"), ("none.yaml",)),
        (("verify", "{world}", "--pack", "dungeon={tmp}/none"), ("dungeon",)),
    ],
)
def test_a_mistake_gives_a_traceback(args: tuple[str, ...], names: tuple[str, ...], world: Path, tmp_path: Path, cli: Cli) -> None:
    places = {"{tmp}": str(tmp_path), "{world}": str(world)}

    def fill(text: str) -> str:
        for name, value in places.items():
            text = text.replace(name, value)
        return text

    done = cli(*map(fill, args))
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    assert "internal" not in done.stderr
    for name in names:
        assert fill(name) in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_takes_long_or_loads_an_engine() -> None:
    code = "import sys, worldwright.cli; sys.exit(bool({'panda3d', 'moderngl', 'zarr', 'av'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("args", [("--help",), ("world", "families")])
def test_a_reader_that_has_gone_is_told_as_a_check_that_does_not_hold(args: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "worldwright", *args], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_narrow_terminal_hides_the_names_of_options(cli: Cli) -> None:
    done = cli("render", "--help", env=os.environ | {"COLUMNS": "40"})
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("--camera", "--motion-blur", "--partial", "--renderer"))


def test_the_help_does_not_say_what_an_engine_or_a_renderer_may_be(cli: Cli) -> None:
    for command, name in (("record", "panda, vizdoom"), ("render", "raster, pathtraced, vizdoom")):
        said = " ".join(cli(command, "--help", env=os.environ | {"COLUMNS": "200"}).stdout.split())
        assert f"{name}, or one that another package brings" in said


def test_an_option_out_of_range_is_no_usage_error(cli: Cli) -> None:
    done = cli("record", "w.yaml", "--seconds", "-1", "-o", "t.mcap")
    assert done.returncode == 2 and "Traceback" not in done.stderr and "--seconds" in done.stderr


def test_an_early_ctrl_c_is_a_traceback(tmp_path: Path) -> None:
    for delay in (0.15, 0.6):
        command = [sys.executable, "-m", "worldwright", "world", "new", "rooms", "-o", str(tmp_path / "w.yaml")]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        if process.returncode > 0:  # below zero: Python itself was not up yet
            assert process.returncode == 130 and said.startswith("stopped") and said.count("\n") == 1, said
        if process.returncode == 0:  # on a busy machine the signal came after the end
            assert [path.name for path in tmp_path.iterdir()] == ["w.yaml"]
            (tmp_path / "w.yaml").unlink()
        assert list(tmp_path.iterdir()) == []
