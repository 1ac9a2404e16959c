"""The engine as others use it: determinism, lifetime, questions, registry."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from worldwright.controls import KEY_BITS, Control
from worldwright.engine.panda import PandaEngine
from worldwright.engine.protocol import State
from worldwright.engine.registry import engine_names, make_engine
from worldwright.errors import WorldwrightError

DIGEST = """
import hashlib, json, sys
from worldwright.controls import Control
from worldwright.engine.panda import PandaEngine
from worldwright.world.spec import World
engine = PandaEngine()
engine.load(World.model_validate(json.load(sys.stdin)), {})
digest = hashlib.blake2b()
for tick in range(int(sys.argv[1])):
    engine.tick(Control((tick // 17 * 7) % 128, tick % 5 - 2, tick % 3 - 1))
    if tick % 2:
        s = engine.state()
        for a in (s.positions, s.rotations, s.linear, s.angular, s.contacts, s.characters[0].bones, *s.cameras.values()):
            digest.update(a.tobytes())
        c = s.characters[0]
        digest.update(repr((c.position, c.yaw, c.pitch, c.velocity, c.flags, c.clip, c.clip_time, s.events)).encode())
print(digest.hexdigest())
"""


def busy_world(kit: Any) -> Any:
    pile = [
        kit.box(f"b{k}", (0.4, 0.4, 0.4), (1.5 + 0.05 * (k % 3), 0.1 * (k % 2), 0.2 + 0.42 * k), body="dynamic", mass=4)
        for k in range(6)
    ]
    lift = kit.box("lift", (1, 1, 0.2), (-2, 0, 0.1), body="kinematic", path={"kind": "shuttle", "to": (-2, 2, 0.5), "period": 2})
    ball = kit.thing("ball", {"shape": "sphere", "radius": 0.3}, (0, 2, 1), body="dynamic", mass=2, velocity=(1, -1, 0))
    return kit.world(pile, lift, ball)


def run_digest(world: Any, ticks: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", DIGEST, str(ticks)],
        input=world.model_dump_json(),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.strip()


def digest(engine: PandaEngine, ticks: int) -> str:
    out = hashlib.blake2b()
    for tick in range(ticks):
        engine.tick(Control((tick // 17 * 7) % 128, tick % 5 - 2, tick % 3 - 1))
    state = engine.state()
    for array in (state.positions, state.rotations, state.linear, state.characters[0].bones, *state.cameras.values()):
        out.update(array.tobytes())
    out.update(repr(state.characters[0].position).encode())
    return out.hexdigest()


def test_two_processes_disagree_on_a_run(kit: Any) -> None:
    """A fresh process and this one, which has run many worlds."""
    world = busy_world(kit)
    here = io.StringIO()
    with contextlib.redirect_stdout(here), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["-c", "240"])
        patch.setattr(sys, "stdin", io.StringIO(world.model_dump_json()))
        exec(DIGEST, {})  # our own text above, the same that the other process runs
    assert run_digest(world, 240) == here.getvalue().strip()


def test_a_reset_engine_remembers_the_run_before(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(busy_world(kit), {})
    first = digest(engine, 240)
    engine.reset()
    assert digest(engine, 240) == first


def test_reading_the_state_changes_what_follows(kit: Any) -> None:
    ends = []
    for every in (1, 7, 241):
        engine = PandaEngine()
        engine.load(busy_world(kit), {})
        for tick in range(240):
            engine.tick(Control(KEY_BITS["forward"] | KEY_BITS["run"], 9, 0))
            if tick % every == 0:
                engine.state()
        state = engine.state()
        ends.append(
            (
                state.positions.tobytes(),
                state.characters[0].bones.tobytes(),
                state.cameras["third"].tobytes(),
                state.contacts.tobytes(),
            )
        )
    assert len(set(ends)) == 1


def test_ten_thousand_ticks_leak(kit: Any) -> None:
    engine = PandaEngine()
    ball = kit.thing("ball", {"shape": "sphere", "radius": 0.3}, (1, 0, 0.3), body="dynamic", mass=2)
    engine.load(kit.world(ball), {})
    process = psutil.Process()

    def ticks(count: int) -> None:
        for tick in range(count):
            engine.tick(Control(KEY_BITS["forward"], 5, 0))
            if tick % 16 == 0:
                engine.state()

    ticks(1000)
    before = process.memory_info().rss
    ticks(10_000)
    assert process.memory_info().rss - before < 3e6


def test_resets_leak(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(busy_world(kit), {})
    for _ in range(10):
        engine.reset()
    before = psutil.Process().memory_info().rss
    for _ in range(25):
        engine.reset()
    assert psutil.Process().memory_info().rss - before < 4e6


def test_the_state_has_other_shapes_than_promised(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(busy_world(kit), {})
    state = engine.state()
    count = len(engine.body_ids)
    assert engine.body_ids == (2, 3, 4, 5, 6, 7, 8, 9)
    assert engine.character_ids == (10,)
    assert state.tick == 0
    for array, width in ((state.positions, 3), (state.rotations, 4), (state.linear, 3), (state.angular, 3)):
        assert array.shape == (count, width)
        assert array.dtype == np.float32
    assert state.contacts.dtype == np.int32
    assert state.contacts.shape[1] == 2
    assert set(state.cameras) == {"first", "third"}
    bones = state.characters[0].bones
    assert bones.dtype == np.float32
    assert bones.shape[1] == 8
    assert all(isinstance(value, str) for value in json.loads(json.dumps(engine.snapshot())).values())


def test_a_state_changes_after_it_was_read(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(busy_world(kit), {})
    state: State = engine.state()
    kept = state.positions.copy(), state.characters[0].bones.copy()
    for _ in range(20):
        engine.tick(Control(KEY_BITS["forward"]))
    engine.state()
    assert np.array_equal(kept[0], state.positions)
    assert np.array_equal(kept[1], state.characters[0].bones)


def test_a_second_character_is_forgotten(kit: Any) -> None:
    world = kit.world(
        characters=[{}, {"name": "other", "spawn": "there"}],
        spawns=[{"position": (0, 0, 0)}, {"name": "there", "position": (2, 0, 0.5)}],
    )
    played = kit.play(world, KEY_BITS["forward"], 2.0)
    you, other = played.states[-1].characters
    assert other.position == pytest.approx((2, 0, 0), abs=0.01)
    assert you.position[0] == pytest.approx(1.4, abs=0.02), "one cannot walk through the other"


def test_rays_and_sweeps_miss_what_is_there_or_meet_what_is_ignored(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(
        kit.world(
            kit.box("wall", (0.2, 10, 3), (3, 0, 1.5)),
            kit.thing("ball", {"shape": "sphere", "radius": 0.5}, (2, 0, 1), body="dynamic", mass=1),
        ),
        {},
    )
    player = engine.character_ids[0]
    hits = engine.cast_rays(
        np.array([[0, 0, 1.0], [0, 3, 1.0], [0, 0, 1.0]]), np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1]]), 50, ignore=(player,)
    )
    assert hits.entity.tolist() == [3, 2, 0]
    assert hits.distance[:2] == pytest.approx([1.5, 2.9], abs=1e-3)
    assert np.isinf(hits.distance[2])
    assert hits.normal[1] == pytest.approx([-1, 0, 0], abs=1e-4)
    assert engine.cast_rays(np.array([[-2.0, 0, 1]]), np.array([[1.0, 0, 0]]), 50).entity[0] == player
    ball = engine.sweep_sphere(0.2, np.array([0, 0, 1.0]), np.array([4, 0, 1.0]), ignore=(player,))
    assert (ball.entity, ball.fraction) == (3, pytest.approx(1.3 / 4, abs=2e-3))
    wall = engine.sweep_capsule(0.3, 1.7, np.array([0, 0, 1.0]), np.array([4, 0, 1.0]), ignore=(player, 3))
    assert (wall.entity, wall.fraction) == (2, pytest.approx(2.6 / 4, abs=2e-3))
    assert engine.sweep_sphere(0.2, np.array([0, 5, 1.0]), np.array([0, 9, 1.0])).entity == 0
    # Ignoring is for one question only.
    assert engine.cast_rays(np.array([[0, 0, 1.0]]), np.array([[1.0, 0, 0]]), 50, ignore=(player,)).entity[0] == 3


def test_a_ray_meets_a_body_where_it_was(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(
        kit.world(
            kit.box("slider", (1, 1, 1), (3, 0, 1), body="kinematic", path={"kind": "shuttle", "to": (3, 8, 1), "period": 2})
        ),
        {},
    )
    for _ in range(240):
        engine.tick(Control())
    hits = engine.cast_rays(np.array([[3, 0, 5.0], [3, 8, 5.0]]), np.array([[0, 0, -1.0]] * 2), 20)
    assert hits.entity.tolist() == [1, 2]


def test_an_engine_without_a_world_fails_obscurely() -> None:
    with pytest.raises(WorldwrightError, match="no world"):
        PandaEngine().tick(Control())
    with pytest.raises(WorldwrightError, match="no world"):
        PandaEngine().state()


def test_a_closed_engine_still_runs(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(kit.world(), {})
    engine.close()
    engine.close()
    with pytest.raises(WorldwrightError):
        engine.state()
    engine.load(kit.world(), {})
    assert engine.state().tick == 0


def test_a_senseless_tick_rate_is_taken(kit: Any) -> None:
    with pytest.raises(WorldwrightError, match="tick rate"):
        PandaEngine().load(kit.world(), {}, tick_rate=3)


def test_another_tick_rate_walks_another_way(kit: Any) -> None:
    far = []
    for rate in (60, 120, 480):
        engine = PandaEngine()
        engine.load(kit.world(kit.stairs(0.2)), {}, tick_rate=rate)
        for _ in range(2 * rate):
            engine.tick(Control(KEY_BITS["forward"]))
        far.append(engine.state().characters[0].position)
    assert far[0] == pytest.approx(far[2], abs=0.05)
    assert far[1] == pytest.approx(far[2], abs=0.03)


def test_an_unknown_engine_is_not_told_what_there_is() -> None:
    assert make_engine("panda").name == "panda"
    assert "panda" in engine_names()
    with pytest.raises(WorldwrightError, match="panda"):
        make_engine("unreal")


def test_an_installed_engine_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_engine.py").write_text("class Other:\n    name = 'other'\n")
    info = tmp_path / "other_engine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[worldwright.engines]\nother = other_engine:Other\nbroken = no_such_module_at_all:X\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert make_engine("other").name == "other"
    with pytest.raises(WorldwrightError, match="does not import"):
        make_engine("broken")
