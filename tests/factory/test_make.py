from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from worldwright.documents import parse_document
from worldwright.errors import WorldwrightError
from worldwright.factory.local import finished, only_one, run_plan
from worldwright.factory.plan import make_plan
from worldwright.factory.recipe import Recipe, demo_recipe, load_recipe
from worldwright.outputs import check_manifest
from worldwright.record.loop import record
from worldwright.world.generators import generate

Cli = Callable[..., subprocess.CompletedProcess[str]]


def outputs(run: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of every file that a run made, but its report and summary."""
    return {
        str(path.relative_to(run)): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.relative_to(run).parts[0] in ("worlds", "record", "render", "verify", "tasks", "dataset")
    }


def test_a_run_leaves_something_out(tiny_run: Path) -> None:
    kinds = {json.loads(path.read_text())["kind"] for path in (tiny_run / "tasks").iterdir()}
    assert kinds == {"record", "render", "verify", "pack"}
    shots = list((tiny_run / "render").iterdir())
    assert len(shots) == 2
    for shot in shots:
        assert check_manifest(shot, "shot") == []
    assert check_manifest(tiny_run / "dataset", "dataset") == []
    assert (tiny_run / "report" / "index.html").is_file()


def test_a_second_run_makes_things_twice(tiny_run: Path, cli: Cli) -> None:
    before = outputs(tiny_run)
    again = cli("make", tiny_run.parent / "tiny.yaml", "-o", tiny_run)
    assert again.returncode == 0, again.stderr
    assert outputs(tiny_run) == before
    assert "made:" not in again.stderr


def test_a_changed_camera_makes_the_take_again(tmp_path: Path, tiny: str) -> None:
    first = make_plan(parse_document(tiny, "tiny", Recipe), tmp_path, tmp_path, {})
    second = make_plan(
        parse_document(tiny.replace("[third, first]", "[third, 'orbit:radius=3']"), "tiny", Recipe), tmp_path, tmp_path, {}
    )
    kept = {task.id for task in first.tasks} & {task.id for task in second.tasks}
    assert {task.kind for task in first.tasks if task.id in kept} == {"record", "render", "verify"}
    assert [t.id for t in first.of_kind("record")] == [t.id for t in second.of_kind("record")]
    assert first.of_kind("pack")[0].id != second.of_kind("pack")[0].id


def test_planning_twice_gives_other_tasks(tmp_path: Path) -> None:
    one, two = (make_plan(demo_recipe(), tmp_path, tmp_path / name, {}) for name in "ab")
    assert [task.id for task in one.tasks] == [task.id for task in two.tasks]
    assert len({task.id for task in one.tasks}) == len(one.tasks) == 3 + 6 + 6 + 1


def start(recipe: Path, run: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "worldwright", "make", str(recipe), "-o", str(run)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(condition: object, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_is_lost(tmp_path: Path, how: signal.Signals, cli: Cli, tiny: str) -> None:
    recipe, run = tmp_path / "tiny.yaml", tmp_path / "run"
    recipe.write_text(tiny)
    process = start(recipe, run)
    # A task is done when its answer is kept; a take without one is recorded again.
    wait_for(lambda: (run / "tasks").is_dir() and any((run / "tasks").glob("*.json")), process)
    take = next((run / "record").glob("*.mcap"))
    inode = take.stat().st_ino
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "Traceback" not in said and "run the same command again" in said
    for folder in (run / "render").glob("[!.]*") if (run / "render").is_dir() else ():
        assert (folder / "_DONE").is_file()
    again = cli("make", recipe, "-o", run)
    assert again.returncode == 0, again.stderr
    assert take.stat().st_ino == inode, "the take was recorded again"


def test_two_runs_write_into_one_folder(tmp_path: Path, cli: Cli) -> None:
    with only_one(tmp_path, "demo"):
        done = cli("demo", "-o", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "another run is at work" in done.stderr


def test_a_bad_shot_stops_the_good_ones(tmp_path: Path, cli: Cli, tiny: str) -> None:
    """Where the first-person shot should be made, there is a folder of the user's."""
    recipe, run = tmp_path / "tiny.yaml", tmp_path / "run"
    recipe.write_text(tiny)
    with only_one(run, "tiny"):
        plan = make_plan(load_recipe(recipe), tmp_path, run, {})
    taken = next(task.out for task in plan.of_kind("render") if "first" in task.name)
    taken.mkdir(parents=True)
    (taken / "notes.txt").write_text("mine")
    done = cli("make", recipe, "-o", run)
    assert done.returncode == 1
    assert taken.name in done.stderr and "Traceback" not in done.stderr
    page = (run / "report" / "index.html").read_text()
    assert "What failed" in page and taken.name in page
    assert check_manifest(run / "dataset", "dataset") == []
    assert (taken / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("was", "now", "names"),
    [
        ("policy: grammar", "policy: grammer", "policies[0]: no policy 'grammer'"),
        ("seed: 1}\ncameras", "seed: 1, params: {nonsense: 3}}\ncameras", "nonsense"),
        ("[third, first]", "[third, nowhere.yaml]", "nowhere.yaml: cannot be read"),
        ("[third, first]", "[third, thrid]", "cameras[1]: camera: no camera 'thrid'"),
        ("[third, first]", "['orbit:']", "cameras[0]: camera orbit"),
        ("96x54", "97x54", "presets[0]: preset"),
        ("96x54}", "96x54, fps: 60}\ntick_rate: 100\nsample_rate: 50", "frame rate: 24 a second is no whole number"),
        ("96x54}", "96x54}\nengine: pandora", "engine: no engine 'pandora'"),
        ("seconds: 0.5", "seconds: 0.001", "policies[0]: seconds: 0.001 s are too short"),
        ("policy: grammar, seconds: 0.5", "policy: loop, seconds: 4.5", "policies[0]: seconds: 4.5 s are too short"),
        ("96x54}", "96x54}\nrenderers: [rasta]", "renderers[0]: no renderer 'rasta'"),
        ("96x54}", "96x54}\nlooks: [null, hail]", "look: no look 'hail'"),
        ("96x54}", "96x54, renderers: [rasta]}", "presets[0]: renderers[0]: no renderer 'rasta'"),
        ("seed: 1}\npolicies", "seed: 1, params: {size: 3}}\npolicies", "worlds[0]: playground"),
    ],
)
def test_a_typing_error_is_found_after_minutes_of_recording(tmp_path: Path, was: str, now: str, names: str, tiny: str) -> None:
    assert was in tiny
    with pytest.raises(WorldwrightError) as caught:
        make_plan(parse_document(tiny.replace(was, now), "tiny", Recipe), tmp_path, tmp_path, {})
    assert f"recipe tiny: {names}" in caught.value.line() or names in caught.value.line()
    assert list((tmp_path / "worlds").iterdir()) == []


def test_a_renderer_or_a_look_more_makes_the_others_again(tmp_path: Path, tiny: str) -> None:
    plain = make_plan(parse_document(tiny, "tiny", Recipe), tmp_path, tmp_path, {})
    more = make_plan(parse_document(tiny.replace("96x54}", "96x54}\nlooks: [null, fog]"), "tiny", Recipe), tmp_path, tmp_path, {})
    assert {t.id for t in plain.of_kind("render")} < {t.id for t in more.of_kind("render")}
    added = [t for t in more.of_kind("render") if t.id not in {p.id for p in plain.of_kind("render")}]
    assert [t.args["look"] for t in added] == ["fog", "fog"] and all(t.name.endswith("-fog") for t in added)
    assert len(more.of_kind("pack")) == 1


def test_an_edited_look_in_a_file_keeps_the_old_shot(tmp_path: Path, tiny: str) -> None:
    recipe = parse_document(tiny.replace("96x54}", "96x54}\nlooks: [late.yaml]"), "tiny", Recipe)
    ids = []
    for exposure in (1.5, 1.5, 2.0):
        (tmp_path / "late.yaml").write_text(f"name: late\nexposure: {exposure}\n")
        plan = make_plan(recipe, tmp_path, tmp_path / "run", {})
        assert {task.args["look"] for task in plan.of_kind("render")} == {str(tmp_path / "late.yaml")}
        assert all(task.name.endswith("-late") for task in plan.of_kind("render"))
        ids.append([task.id for task in plan.of_kind("render")])
    assert ids[0] == ids[1] != ids[2]


def test_the_demo_cannot_name_renderers_looks_and_engine(tmp_path: Path) -> None:
    plan = make_plan(demo_recipe(looks=[None, "night"]), tmp_path, tmp_path / "a", {})
    assert len(plan.of_kind("render")) == 12 and {t.args["look"] for t in plan.of_kind("render")} == {None, "night"}
    pytest.importorskip("vizdoom")
    doom = make_plan(demo_recipe("vizdoom"), tmp_path, tmp_path / "b", {})
    assert {t.args["engine"] for t in doom.of_kind("record")} == {"vizdoom"}
    assert {t.args["renderer"] for t in doom.of_kind("render")} == {"vizdoom"}


PATH = "t,x,y,z,yaw_deg,pitch_deg\n0,0,0,{z},0,0\n1,1,0,{z},0,0\n"


def test_an_edited_camera_file_keeps_the_old_shot(tmp_path: Path, tiny: str) -> None:
    """The file lies beside the recipe, wherever the command runs; what is in it counts, not where it lies."""
    recipe = parse_document(tiny.replace("[third, first]", "[path.csv]"), "tiny", Recipe)
    ids = []
    for name, z in (("one", 2), ("moved", 2), ("edited", 3)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "path.csv").write_text(PATH.format(z=z))
        plan = make_plan(recipe, folder, tmp_path / "run", {})
        (render,) = plan.of_kind("render")
        assert render.args["camera"] == str(folder / "path.csv")
        ids.append((plan.of_kind("record")[0].id, render.id))
    assert ids[0] == ids[1] and ids[0][0] == ids[2][0] and ids[0][1] != ids[2][1]


def test_another_take_is_replayed_under_the_same_id(tiny_run: Path, tmp_path: Path, tiny: str) -> None:
    take = next((tiny_run / "record").glob("*.mcap"))
    ids = []
    for k in range(2):
        folder = tmp_path / str(k)
        folder.mkdir()
        shutil.copyfile(take, folder / "t.mcap")
        text = tiny.replace("policy: grammar", "policy: replay, params: {take: t.mcap}")
        plan = make_plan(parse_document(text, "tiny", Recipe), folder, tmp_path / "run", {})
        assert plan.of_kind("record")[0].args["policy_params"]["take"] == str(folder / "t.mcap")
        ids.append(plan.of_kind("record")[0].id)
        # Another seed of the same policy: another take.
        worldwright_take(tmp_path / "other.mcap")
        take = tmp_path / "other.mcap"
    assert ids[0] != ids[1]


def worldwright_take(out: Path) -> None:
    if not out.exists():
        record(generate("playground", 1, {}), {}, out, policy="grammar", policy_params={}, seconds=0.5, seed=9)


def test_shots_of_two_sizes_are_made_and_never_packed(tmp_path: Path, tiny: str) -> None:
    text = tiny.replace("  - {size: 96x54}", "  - {size: 96x54}\n  - {size: 96x54, motion_blur: true}\n  - {size: 64x36, fps: 30}")
    plan = make_plan(parse_document(text, "tiny", Recipe), tmp_path, tmp_path / "run", {})
    packs = {task.out.name: len(task.args["shots"]) for task in plan.of_kind("pack")}
    assert packs == {"dataset-96x54": 4, "dataset-64x36-30fps": 2}
    assert all(set(task.args["verdicts"]) == set(task.args["shots"]) for task in plan.of_kind("pack"))


def test_a_long_camera_makes_a_name_that_no_disk_takes(tmp_path: Path, tiny: str) -> None:
    long = "orbit:radius=4." + "0" * 300
    plan = make_plan(parse_document(tiny.replace("[third, first]", f"['{long}']"), "tiny", Recipe), tmp_path, tmp_path / "run", {})
    assert all(len(task.out.name) < 200 for task in plan.tasks)


def test_a_verdict_outlives_the_shot_that_it_judged(tiny_run: Path, tmp_path: Path, tiny: str) -> None:
    """A take that was lost is recorded again, and all that was made from it is made again."""
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    plan = make_plan(parse_document(tiny, "tiny", Recipe), tmp_path, run, {})
    next(task for task in plan.tasks if task.kind == "record").out.unlink()
    seen: list[tuple[str, str]] = []
    run_plan(plan, lambda h: seen.append((h.task.kind, h.what)) if h.what in ("kept", "done") else None)
    assert sorted(seen) == [("pack", "kept"), ("record", "done"), *[("render", "done")] * 2, *[("verify", "done")] * 2]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("famly: courtyard", "famly"),
        ("family: atlantis", "atlantis"),
        ("file: ../../etc/passwd", "leaves its folder"),
        ("file: none.yaml", "none.yaml"),
    ],
)
def test_a_bad_recipe_is_told_in_many_lines(tmp_path: Path, change: str, names: str, cli: Cli, tiny: str) -> None:
    recipe = tmp_path / "r.yaml"
    recipe.write_text(tiny.replace("{family: playground, seed: 1}", "{" + change + "}"))
    done = cli("make", recipe, "-o", tmp_path / "run")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and names in done.stderr, done.stderr


def test_zip_of_unequal_lists_loses_some(tiny: str) -> None:
    with pytest.raises(WorldwrightError, match="1 worlds and 2 policies"):
        parse_document(tiny.replace("cameras:", "  - {policy: explore}\npair: zip\ncameras:"), "r.yaml", Recipe)


def test_a_recipe_outside_limits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("[" * 5000)
    with pytest.raises(WorldwrightError) as error:
        load_recipe(path)
    assert "\n" not in error.value.line()
    assert os.fspath(path) in error.value.line()


@pytest.mark.parametrize("twice", ["cameras: [third, third]", "presets: [{size: 96x54}, {size: 96x54}]"])
def test_one_thing_is_made_twice_at_once(tmp_path: Path, twice: str, tiny: str) -> None:
    text = tiny.replace("cameras: [third, first]", twice if "cameras" in twice else "cameras: [third]")
    text = text if "cameras" in twice else text.replace("presets:\n  - {size: 96x54}", twice)
    with pytest.raises(WorldwrightError, match="the same render twice"):
        make_plan(parse_document(text, "tiny", Recipe), tmp_path, tmp_path, {})


def test_the_same_world_twice_is_one_key_error(tmp_path: Path, tiny: str) -> None:
    text = tiny.replace("  - {family: playground, seed: 1}", "  - {family: playground, seed: 1}\n  - {family: playground, seed: 1}")
    with pytest.raises(WorldwrightError, match="the same record twice"):
        make_plan(parse_document(text, "tiny", Recipe), tmp_path, tmp_path, {})


def test_a_run_is_made_in_a_users_folder(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "index.html").write_text("mine")
    done = cli("demo", "-o", tmp_path)
    assert done.returncode == 2 and "not the folder of a run" in done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["report", "index.html"]


def test_another_recipe_takes_over_a_run(tmp_path: Path) -> None:
    with only_one(tmp_path / "run", "one"):
        pass
    with only_one(tmp_path / "run", "one"):
        pass
    with pytest.raises(WorldwrightError, match="run of recipe 'one'"), only_one(tmp_path / "run", "two"):
        pass


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000, '{"id": 3}'])
def test_a_damaged_answer_stops_the_next_run(tiny_run: Path, tmp_path: Path, text: str, tiny: str) -> None:
    plan = make_plan(parse_document(tiny, "tiny", Recipe), tmp_path, tiny_run, {})
    task = plan.tasks[0]
    path = plan.record_path(task)
    before = path.read_text()
    assert finished(plan, task) is not None
    try:
        path.write_text(text)
        assert finished(plan, task) is None
    finally:
        path.write_text(before)


def test_an_output_that_lost_a_file_counts_as_made(tiny_run: Path, tmp_path: Path, tiny: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    plan = make_plan(parse_document(tiny, "tiny", Recipe), tmp_path, run, {})
    assert all(finished(plan, task) for task in plan.tasks)
    (plan.of_kind("render")[0].out / "rgb.mp4").unlink()
    os.truncate(plan.of_kind("record")[0].out, 100)
    assert finished(plan, plan.of_kind("render")[0]) is None
    assert finished(plan, plan.of_kind("record")[0]) is None
    assert finished(plan, plan.of_kind("render")[1]) is not None


def test_a_killed_run_leaves_its_children_at_work(tmp_path: Path, tiny: str) -> None:
    recipe, run = tmp_path / "tiny.yaml", tmp_path / "run"
    recipe.write_text(tiny)
    process = start(recipe, run)
    wait_for(lambda: (run / "record").is_dir() and children(process.pid), process)
    ids = children(process.pid)
    process.kill()
    process.communicate(timeout=60)
    end = time.monotonic() + 20
    while any(Path(f"/proc/{ident}").exists() and "Z" not in Path(f"/proc/{ident}/stat").read_text().split()[2] for ident in ids):
        assert time.monotonic() < end, "a child outlived its parent"
        time.sleep(0.05)


def children(ident: int) -> list[str]:
    return Path(f"/proc/{ident}/task/{ident}/children").read_text().split()
