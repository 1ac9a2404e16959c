"""Good worlds, takes and shots pass, and every check has looked at something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.render.run import render_shot
from worldwright.verify.context import Context
from worldwright.verify.run import verify_path
from worldwright.verify.shot import verify_shot
from worldwright.verify.show import print_verdict
from worldwright.verify.take import verify_take
from worldwright.world.files import save_world
from worldwright.world.spec import World


def test_a_good_shot_passes_and_no_check_is_skipped(shot_path: Path, context: Context) -> None:
    verdict = verify_shot(shot_path, {}, context=context)
    assert [(c.name, c.message) for c in verdict.failures] == []
    # The take is too short to hold keys against steps.
    assert [c.name for c in verdict.checks if c.skipped] == ["take_action_effect"]


def test_a_first_person_shot_with_motion_blur_passes(take_path: Path, tmp_path: Path, context: Context) -> None:
    render_shot(take_path, tmp_path / "s", camera="first", preset="96x54", first=2, count=4, motion_blur=True, packs={})
    verdict = verify_path(tmp_path / "s", {}, context=context)
    assert [(c.name, c.message) for c in verdict.failures] == []
    assert verdict.as_dict()["manifest"] == hash_file(tmp_path / "s" / "_DONE")  # a verdict names the very files that it judged


def test_two_workers_and_one_find_the_same(shot_path: Path, context: Context) -> None:
    one = verify_shot(shot_path, {}, context=context, workers=1)
    two = verify_shot(shot_path, {}, context=context, workers=2)
    assert one.checks == two.checks  # frames at the seam between two parts too
    assert one.passed


def test_a_good_take_passes_by_its_path(take_path: Path) -> None:
    verdict = verify_path(take_path, {})
    assert verdict.kind == "take" and [(c.name, c.message) for c in verdict.failures] == []


def test_a_good_world_passes_by_its_path(yard: World, tmp_path: Path) -> None:
    save_world(yard, tmp_path / "w.yaml")
    verdict = verify_path(tmp_path / "w.yaml", {})
    assert verdict.kind == "world" and [(c.name, c.message) for c in verdict.failures] == []


def test_the_verdict_is_plain_json_and_its_table_names_every_check(shot_path: Path, context: Context) -> None:
    verdict = verify_shot(shot_path, {}, context=context)
    json.dumps(verdict.as_dict(), allow_nan=False)
    console = Console(record=True, width=160, file=None, force_terminal=False)
    with console.capture() as shown:
        print_verdict(verdict, console)
    assert all(c.name in shown.get() for c in verdict.checks) and "verified" in shown.get()


@pytest.mark.parametrize("name", ["nothing", "w.txt", "folder"])
def test_what_cannot_be_verified_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "w.txt").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(WorldwrightError):
        verify_path(tmp_path / name, {})


def test_a_shot_that_was_never_finished_is_refused(shot_path: Path, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "shot.json").write_bytes((shot_path / "shot.json").read_bytes())
    with pytest.raises(WorldwrightError, match="never finished"):
        verify_path(tmp_path / "s", {})


def test_a_damaged_take_fails_and_says_how_far_it_is_whole(take_path: Path, tmp_path: Path) -> None:
    data = take_path.read_bytes()
    (tmp_path / "t.mcap").write_bytes(data[: len(data) // 2])
    verdict = verify_take(tmp_path / "t.mcap", {})
    assert not verdict.passed and verdict.failures[0].name == "whole"
