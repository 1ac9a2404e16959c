"""Recordings made by the real engine: what policies do, that it is repeatable, and what goes wrong in one line."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldwright.controls import KEYS, Control
from worldwright.errors import WorldwrightError
from worldwright.record.loop import record
from worldwright.record.policies import make_policy, policy_names
from worldwright.record.policies.grammar import ATOMS
from worldwright.take.model import FrameTable
from worldwright.take.reader import Take
from worldwright.take.replay import replay, replay_hash
from worldwright.take.writer import part_path
from worldwright.world.files import save_world
from worldwright.world.spec import World


def rows(path: Path) -> FrameTable:
    with Take.open(path) as take:
        return take.frames()


@pytest.mark.parametrize("policy", ["explore", "grammar", "loop"])
def test_the_same_world_policy_and_seed_give_the_same_bytes(yard: World, tmp_path: Path, policy: str) -> None:
    for name in ("a", "b"):
        record(yard, {}, tmp_path / name, policy=policy, seconds=5, seed=3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_another_process_gives_the_same_bytes(yard: World, tmp_path: Path) -> None:
    record(yard, {}, tmp_path / "here.mcap", policy="explore", seconds=2, seed=3)
    save_world(yard, tmp_path / "w.yaml")
    code = (
        "import sys; from pathlib import Path; from worldwright.record.loop import record; from worldwright.world.files import load_world\n"
        "record(load_world(Path(sys.argv[1])), {}, Path(sys.argv[2]), policy='explore', seconds=2, seed=3)"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "w.yaml"), str(tmp_path / "there.mcap")],
        check=True,
        timeout=120,
        env=os.environ | {"PYTHONHASHSEED": "77"},
    )
    assert (tmp_path / "here.mcap").read_bytes() == (tmp_path / "there.mcap").read_bytes()


def test_another_seed_gives_another_take(yard: World, tmp_path: Path) -> None:
    a = record(yard, {}, tmp_path / "a", policy="explore", seconds=2, seed=1)
    b = record(yard, {}, tmp_path / "b", policy="explore", seconds=2, seed=2)
    assert a.state_hash != b.state_hash


def test_a_replay_of_a_take_has_the_same_samples(yard: World, tmp_path: Path) -> None:
    first = record(yard, {}, tmp_path / "a", policy="grammar", seconds=3, seed=5)
    again = record(yard, {}, tmp_path / "b", policy="replay", policy_params={"take": str(tmp_path / "a")}, seconds=None)
    assert again.state_hash == first.state_hash
    a, b = rows(tmp_path / "a"), rows(tmp_path / "b")
    np.testing.assert_array_equal(a.issued, b.issued)
    np.testing.assert_array_equal(a.effective, b.effective)


def test_a_take_played_again_has_its_state_hash(yard: World, out: Path) -> None:
    report = record(yard, {}, out, policy="explore", seconds=3, seed=5)
    with Take.open(out) as take:
        assert replay_hash(take, {}) == report.state_hash == take.state_hash


def test_a_replay_that_differs_names_the_first_sample_and_the_field(yard: World, out: Path) -> None:
    record(yard, {}, out, policy="grammar", policy_params={"atoms": ["forward"]}, seconds=1, seed=5)
    with Take.open(out) as take:
        controls = list(take.controls())
        controls[100] = Control(0)
        take.controls = lambda: iter(controls)  # type: ignore[method-assign]
        result = replay(take, {})
    assert not result.equal and result.tick == 102, "the key let go at tick 100 shows at the sample after it"
    assert result.what.startswith("character 'player'")
    assert result.expected != result.got


def test_recorded_rows_equal_derived_ones_in_a_real_take(yard: World, out: Path) -> None:
    record(yard, {}, out, policy="grammar", seconds=4, seed=2, frame_rate=30)
    with Take.open(out) as take:
        recorded, derived = take.frames(), take.derive_frames(8)
    np.testing.assert_array_equal(recorded.issued, derived.issued)
    np.testing.assert_array_equal(recorded.effective, derived.effective)
    np.testing.assert_array_equal(recorded.flags, derived.flags)


def test_the_grammar_gives_every_atom_the_same_share(yard: World, out: Path) -> None:
    frames = 24 * 12
    report = record(yard, {}, out, policy="grammar", seconds=12, seed=4)
    shares = report.details["atoms"]
    assert set(shares) == {atom.name for atom in ATOMS}
    counts = [round(share * frames) for share in shares.values()]
    assert max(counts) - min(counts) <= 1 and sum(counts) == frames
    assert report.actions["forward"] < 0.45, "forward does not dominate"
    assert report.flags["blocked"] < 0.25
    issued = rows(out).issued
    for k, key in enumerate(KEYS):
        assert report.details["keys"][key] == pytest.approx(float(issued[:, k].mean()), abs=1e-6)
    assert issued[:, 8].max() > 0 > issued[:, 8].min(), "it turns both ways"


def test_the_grammar_stays_on_a_small_platform(make_yard: Any, out: Path) -> None:
    yard, box = make_yard
    document = yard().model_dump(mode="json") | {"entities": [box("floor", [12, 8, 0.5], [0, 0, -0.25])]}
    report = record(World.model_validate(document), {}, out, policy="grammar", seconds=15, seed=1)
    with Take.open(out) as take:
        assert take.path_of_feet()[:, 2].min() > -0.2
    assert report.distance_m > 5


def test_the_loop_comes_back_to_where_it_began_and_uses_its_time(yard: World, out: Path) -> None:
    report = record(yard, {}, out, policy="loop", seconds=12, seed=6)
    with Take.open(out) as take:
        path = take.path_of_feet()
        waiting = sum(intent == "stand where it began" for intent in take.intents) / 24
    assert math.dist(path[0, :3], path[-1, :3]) < 0.3
    assert abs(math.remainder(float(path[0, 3] - path[-1, 3]), math.tau)) < math.radians(10)
    assert waiting < 2.0
    assert report.distance_m > 6
    middle = len(path) // 2
    out_way, back_way = path[:middle, :2], path[middle:, :2]
    away = [float(np.hypot(*(out_way - p).T).min()) for p in back_way[:: len(back_way) // 40]]
    assert max(away) < 0.4, "the same way back"


def test_the_loop_refuses_a_time_too_short(yard: World, out: Path) -> None:
    with pytest.raises(WorldwrightError, match="too short to go and come back"):
        record(yard, {}, out, policy="loop", seconds=2, seed=6)
    assert not out.exists() and not part_path(out).exists()


def test_the_explorer_goes_through_a_closed_door_and_sees_both_rooms(two_rooms: World, out: Path) -> None:
    report = record(two_rooms, {}, out, policy="explore", seconds=20, seed=2)
    with Take.open(out) as take:
        x = take.path_of_feet()[:, 0]
        kinds = {event.kind for event in take.events()}
    assert x.min() < -1 and x.max() > 1
    assert "door" in kinds
    assert report.details["ground_seen"] > 0.4


def test_the_explorer_turns_like_a_hand_not_like_a_switch(yard: World, out: Path) -> None:
    record(yard, {}, out, policy="explore", seconds=8, seed=3)
    turn = rows(out).issued[:, 8] * 0.0025 * 24
    assert np.abs(turn).max() < 3.0, "radians a second"
    assert np.abs(np.diff(turn)).max() < 14.0 / 24 + 0.1, "and no jumps of the speed"


def test_the_explorer_pushes_what_can_be_pushed(yard: World, out: Path) -> None:
    report = record(yard, {}, out, policy="explore", policy_params={"push": 1.0}, seconds=12, seed=3)
    with Take.open(out) as take:
        moved = np.linalg.norm(take.instant(take.last_tick).positions - take.instant(0).positions)
    assert report.details["pushes"] >= 1 and moved > 0.1


def test_a_character_caged_in_looks_around(make_yard: Any, out: Path) -> None:
    yard, box = make_yard
    cage = [
        box(f"bar{k}", s, a)
        for k, (s, a) in enumerate(
            [([0.1, 2, 2], [-4.5, 0, 1]), ([0.1, 2, 2], [-3.5, 0, 1]), ([1, 0.1, 2], [-4, 0.5, 1]), ([1, 0.1, 2], [-4, -0.5, 1])]
        )
    ]
    report = record(yard(cage), {}, out, policy="explore", seconds=3, seed=1)
    assert report.distance_m < 0.5
    with Take.open(out) as take:
        assert set(take.intents) == {"look around"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": "wander"}, "no policy 'wander'; there are: explore, grammar, loop, replay"),
        ({"policy_params": {"speed": 3}}, "speed = 3.*Extra inputs.*parameters: run, look, push, jump, crouch"),
        ({"policy_params": {"run": 2}}, "run = 2.*less than or equal to 1"),
        ({"policy": "grammar", "policy_params": {"atoms": ["fly"]}}, "no atom 'fly'"),
        ({"frame_rate": 25}, "25 a second is no whole number of ticks at 240"),
        ({"sample_rate": 80, "frame_rate": 60}, "frames at 60 Hz do not fall on samples at 80 Hz"),
        ({"seconds": 0.0}, "0.0 seconds cannot be recorded"),
        ({"seconds": float("nan")}, "cannot be recorded"),
        ({"engine": "doom"}, "no engine 'doom'"),
        ({"policy": "replay", "policy_params": {}}, "take.*Field required"),
        ({"policy": "replay", "policy_params": {"take": "/nowhere.mcap"}}, "cannot be opened"),
    ],
)
def test_a_request_that_cannot_be_met_is_told_in_one_line(yard: World, out: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(WorldwrightError, match=message) as error:
        record(yard, {}, out, **({"policy": "explore", "seconds": 1.0, "seed": 0} | arguments))
    assert "\n" not in error.value.line()
    assert not out.exists() and not part_path(out).exists()


def test_every_policy_named_can_be_made() -> None:
    assert policy_names() == ["explore", "grammar", "loop", "replay"]
    for name in ("explore", "grammar", "loop"):
        assert make_policy(name).name == name


def test_a_full_disk_is_told_in_one_line_and_leaves_no_take(yard: World, out: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    part_path(out).symlink_to("/dev/full")
    with pytest.raises(WorldwrightError, match="the disk is full; make room") as error:
        record(yard, {}, out, policy="grammar", seconds=2, seed=0)
    assert "\n" not in error.value.line()
    assert not out.exists()


def test_a_folder_that_cannot_be_made_is_told_in_one_line(yard: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WorldwrightError, match="cannot be written"):
        record(yard, {}, tmp_path / "file" / "t.mcap", policy="grammar", seconds=2, seed=0)


def test_ctrl_c_leaves_no_take_but_what_was_recorded(yard: World, out: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(yard, {}, out, policy="grammar", seconds=5, seed=0, progress=interrupt)
    assert not out.exists()
    with Take.open(part_path(out), partial=True) as take:
        assert not take.complete and take.last_tick == 120 and take.n_frames == 12


def test_a_killed_recording_is_readable_up_to_the_last_whole_chunk(yard: World, tmp_path: Path) -> None:
    save_world(yard, tmp_path / "w.yaml")
    code = (
        "import sys; from pathlib import Path; from worldwright.record.loop import record; from worldwright.world.files import load_world\n"
        "record(load_world(Path(sys.argv[1])), {}, Path(sys.argv[2]), policy='grammar', seconds=600, seed=3)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "w.yaml"), str(tmp_path / "t.mcap")])
    part = tmp_path / ".t.mcap.part"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not part.exists() or part.stat().st_size < 300_000):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    assert not (tmp_path / "t.mcap").exists()
    with pytest.raises(WorldwrightError, match=r"whole up to tick \d+ .* --partial"):
        Take.open(part)
    with Take.open(part, partial=True) as take:
        assert take.last_tick > 200 and not take.complete
        take.instant(take.last_tick)
        record(yard, {}, tmp_path / "again.mcap", policy="replay", policy_params={"take": str(part), "partial": True}, seconds=1)


def test_a_second_recording_to_the_same_file_is_refused_and_the_first_loses_nothing(yard: World, out: Path, tmp_path: Path) -> None:
    record(yard, {}, tmp_path / "alone.mcap", policy="grammar", seconds=2, seed=3)
    save_world(yard, tmp_path / "w.yaml")
    code = (
        "import sys; from pathlib import Path; from worldwright.record.loop import record; from worldwright.world.files import load_world\n"
        "def wait(done, total):\n"
        "    if done == 12: print('half', flush=True); sys.stdin.readline()\n"
        "record(load_world(Path(sys.argv[1])), {}, Path(sys.argv[2]), policy='grammar', seconds=2, seed=3, progress=wait)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "w.yaml"), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdin is not None and first.stdout is not None
        assert first.stdout.readline() == "half\n"
        with pytest.raises(WorldwrightError, match="another recording is being written there") as error:
            record(yard, {}, out, policy="grammar", seconds=2, seed=4)
        assert "\n" not in error.value.line()
        first.stdin.write("\n")
        first.stdin.flush()
        assert first.wait(timeout=60) == 0
    assert out.read_bytes() == (tmp_path / "alone.mcap").read_bytes()
    record(yard, {}, out, policy="grammar", seconds=1, seed=4)  # the lock is gone with the process


def test_the_report_adds_up(yard: World, out: Path) -> None:
    seen: list[tuple[int, int]] = []
    report = record(yard, {}, out, policy="grammar", seconds=2, seed=0, progress=lambda a, b: seen.append((a, b)))
    table = rows(out)
    assert report.frames == len(table) == 48 and seen[-1] == (48, 48)
    assert sum(report.shares.values()) == pytest.approx(1)
    assert report.distance_m == pytest.approx(float(np.hypot(table.effective[:, 0], table.effective[:, 1]).sum()), rel=1e-5)
    assert report.actions["mouse_dx"] == np.abs(table.issued[:, 8]).sum()
    assert report.flags["crouched"] == pytest.approx(((table.flags & 8) > 0).mean())
    assert str(out) in report.line() and "times real time" in report.line()
