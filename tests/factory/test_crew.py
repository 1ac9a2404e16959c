"""Children that are kept between tasks: real processes, real tasks."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from worldwright.errors import WorldwrightError
from worldwright.factory.crew import Crew
from worldwright.factory.plan import Task


def make_task(kind: str, source: str) -> Task:
    return Task(f"{kind}-{source}", kind, source, (), {}, Path("out"), source)


def nothing(_done: int, _total: int) -> None:
    return


@pytest.fixture
def world(tmp_path: Path) -> Path:
    from worldwright.world.files import save_world
    from worldwright.world.generators import generate

    save_world(generate("playground", 1, {}), tmp_path / "w.yaml")
    return tmp_path / "w.yaml"


def test_a_child_that_died_waiting_fails_the_next_task(world: Path) -> None:
    crew = Crew(1, 1)
    try:
        task = make_task("verify", "a")
        args = {"path": str(world), "packs": {}, "out": str(world.with_suffix(".verdict"))}
        first = crew.take(task)
        assert first.run(args, nothing)["result"]["passed"]
        crew.give_back(task, well=True)
        assert crew.take(task) is first, "a child that waits is used again"
        crew.give_back(task, well=True)
        for process in psutil.Process().children():
            process.kill()
            process.wait()
        second = crew.take(task)
        assert second is not first and second.run(args, nothing)["result"]["passed"]
    finally:
        crew.dismiss()
    assert psutil.Process().children() == []


def test_a_child_that_failed_is_used_again(tmp_path: Path) -> None:
    crew = Crew(1, 1)
    try:
        task = make_task("verify", "a")
        child = crew.take(task)
        with pytest.raises(WorldwrightError, match="no such file"):
            child.run({"path": str(tmp_path / "none"), "packs": {}, "out": str(tmp_path / "v.json")}, nothing)
        crew.give_back(task, well=False)
        assert psutil.Process().children() == []
        assert crew.take(task) is not child
    finally:
        crew.dismiss()


def test_takes_are_spread_so_that_nothing_is_kept_warm() -> None:
    """A child that knows a take gets its next task; a free slot takes another take than those at work; and when there is none, any."""
    crew = Crew(2, 1)
    ready = [make_task("render", "a"), make_task("verify", "a"), make_task("render", "b")]
    try:
        assert crew.choose(ready) is ready[0]
        crew.take(ready[0])
        assert crew.choose([make_task("render", "a"), ready[2]]) is ready[2]
        assert crew.choose([ready[0]]) is ready[0]
        crew.give_back(ready[0], well=True)
        assert crew.choose([ready[1], ready[2], ready[0]]) is ready[0]
        assert crew.has_room()
    finally:
        crew.dismiss()
