"""Adapters of other packages: found by entry point, tried in a process of their own; one that raises, hangs or crashes is told in a line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from worldwright.world.files import save_world
from worldwright.world.generators import generate

ADAPTERS = """
import os, time
from worldwright.engine.panda import PandaEngine
from worldwright.render.raster import RasterRenderer

class Good(PandaEngine):
    name = "good"

class Raises(PandaEngine):
    def tick(self, control):
        raise RuntimeError("the licence server\\nis away")

class Hangs(PandaEngine):
    def reset(self):
        if getattr(self, "_physics", None) is not None:
            time.sleep(3600)
        super().reset()

class Crashes(PandaEngine):
    def snapshot(self):
        os.abort()

class Sleeps(PandaEngine):
    def tick(self, control):
        time.sleep(3600)

class Dies(PandaEngine):
    def tick(self, control):
        os.abort()

class Talks(RasterRenderer):
    def collect(self):
        print("frame done")
        return super().collect()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like site-packages with a package that brings adapters."""
    root = tmp_path_factory.mktemp("site")
    (root / "strangers.py").write_text(ADAPTERS)
    info = root / "strangers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n")
    engines = "\n".join(f"{name.lower()} = strangers:{name}" for name in ("Good", "Raises", "Hangs", "Crashes", "Sleeps", "Dies"))
    (info / "entry_points.txt").write_text(
        f"[worldwright.engines]\n{engines}\nabsent = not_installed_here:Engine\n[worldwright.renderers]\ntalks = strangers:Talks\n"
    )
    return root


def conformance(site: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "worldwright", "conformance", *args],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
        check=False,
    )


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, object]]:
    assert "Traceback" not in done.stderr, done.stderr
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_third_party_engine_runs_the_suite(site: Path) -> None:
    done = conformance(site, "engine", "good", "--json", "--case", "spawn", "--case", "deterministic", "--case", "walk")
    assert done.returncode == 0, done.stderr
    found = checks(done)
    assert set(found) == {"spawn", "walk", "deterministic"} and "another process" in str(found["deterministic"]["message"])


def test_an_engine_that_raises_is_a_traceback(site: Path) -> None:
    done = conformance(site, "engine", "raises", "--json", "--case", "spawn", "--case", "fixed_ticks")
    found = checks(done)
    assert done.returncode == 1 and found["spawn"]["passed"]
    assert found["fixed_ticks"]["message"] == "raised RuntimeError: the licence server is away"


def test_an_engine_that_hangs_is_waited_for(site: Path) -> None:
    done = conformance(site, "engine", "hangs", "--json", "--case", "reset", "--case", "spawn", "--seconds", "8")
    found = checks(done)
    assert done.returncode == 1 and "no answer in 8 s" in str(found["reset"]["message"])
    assert found["spawn"]["passed"], "the cases after it are still tried"


def test_an_engine_that_crashes_takes_the_suite_with_it(site: Path) -> None:
    done = conformance(site, "engine", "crashes", "--json", "--case", "snapshot", "--case", "spawn")
    found = checks(done)
    assert done.returncode == 1 and "SIGABRT" in str(found["snapshot"]["message"]) and found["spawn"]["passed"]


def test_what_an_adapter_prints_is_taken_for_an_answer(site: Path) -> None:
    done = conformance(site, "renderer", "talks", "--json", "--case", "depth", "--device", "cpu")
    assert done.returncode == 0 and checks(done)["depth"]["passed"], done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("engine", "unreal"), "no engine 'unreal'"),
        (("engine", "absent"), "does not import"),
        (("renderer", "cycles"), "no renderer 'cycles'"),
        (("engine", "good", "--case", "fly"), "no case 'fly'"),
        (("engine", "good", "--world", "none.yaml"), "none.yaml"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(site: Path, args: tuple[str, ...], says: str) -> None:
    done = conformance(site, *args)
    assert done.returncode == 2 and says in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr


def worldwright(site: Path, *args: object) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])}
    command = [sys.executable, "-m", "worldwright", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)


@pytest.mark.parametrize(
    ("engine", "timeout", "says"),
    [
        ("raises", 60, "RuntimeError: the licence server is away"),
        ("sleeps", 5, "the record process did nothing for 5 s and was ended"),
        ("dies", 60, "the record process ended by SIGABRT"),
    ],
)
def test_an_engine_that_fails_while_recording_is_told_in_one_line_and_leaves_no_take(
    site: Path, tmp_path: Path, engine: str, timeout: int, says: str
) -> None:
    save_world(generate("playground", 1, {"bodies": 4}), tmp_path / "w.yaml")
    out = tmp_path / "t.mcap"
    done = worldwright(
        site,
        "record",
        tmp_path / "w.yaml",
        "--policy",
        "grammar",
        "--seconds",
        1,
        "--engine",
        engine,
        "--timeout",
        timeout,
        "-o",
        out,
    )
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2 and len(lines) == 1 and says in lines[0], done.stderr
    assert not out.exists()
