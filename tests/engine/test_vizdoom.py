"""ViZDoom is played exactly: same controls, same bytes; nothing of it is left behind, and nothing of it hangs."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Control, Flag
from worldwright.engine.registry import engine_names, habits_of
from worldwright.errors import WorldwrightError
from worldwright.world.generators import generate
from worldwright.world.spec import World

pytest.importorskip("vizdoom", reason="vizdoom is not installed")

from worldwright.engine.vizdoom import VizdoomEngine
from worldwright.engine.vizdoom.game import own_processes
from worldwright.engine.vizdoom.player import LOOK_UP, STEP, Look

ACROSS = 1 / 38.4
FORWARD = KEY_BITS["forward"]


@pytest.fixture(scope="module")
def world() -> World:
    return generate("doom", 0, {"map": "MAP02", "monsters": False})


@pytest.fixture
def engine(world: World) -> Iterator[VizdoomEngine]:
    made = VizdoomEngine()
    made.load(world, {}, tick_rate=35, seed=4)
    yield made
    made.close()


def controls(count: int) -> list[Control]:
    keys = [FORWARD, FORWARD | KEY_BITS["run"], KEY_BITS["left"], KEY_BITS["jump"], KEY_BITS["use"], 0]
    return [Control(keys[k // 6 % 6], (k * 7) % 23 - 11, (k * 5) % 9 - 4) for k in range(count)]


def test_it_is_there_with_its_own_rates() -> None:
    assert "vizdoom" in engine_names()
    habits = habits_of("vizdoom")
    assert habits is not None and (habits.tick_rate, habits.sample_rate, habits.frame_rate, habits.rigs) == (35, 35, 35, ("first",))


def test_the_first_step_is_the_push_that_doom_gives(engine: VizdoomEngine) -> None:
    before = engine.state()
    assert before.tick == 0 and before.characters[0].position == (640 * ACROSS, -15.0, 0.0)
    assert [e.kind for e in before.events] == ["health", "armour", "weapon", "ammo"] and before.events[0].value == 100
    engine.tick(Control(FORWARD))
    after = engine.state().characters[0]
    # 25 / 32 of a map unit north, which friction then leaves 0.90625 of a tic later.
    assert after.position[1] - before.characters[0].position[1] == pytest.approx(0.78125 * ACROSS, abs=1e-6)
    assert after.velocity[1] == pytest.approx(0.78125 * 0.90625 * 35 * ACROSS, rel=1e-3)
    assert after.ground == 1 and not after.flags


def test_the_look_follows_the_mouse_to_its_smallest_turn(engine: VizdoomEngine) -> None:
    start = engine.state().characters[0]
    for _ in range(20):
        engine.tick(Control(0, 13, 3))
    end = engine.state().characters[0]
    assert abs(end.yaw - start.yaw + 260 * MOUSE_RADIANS) <= STEP and abs(end.pitch + 60 * MOUSE_RADIANS) <= STEP
    for _ in range(10):
        engine.tick(Control(0, 0, -60))
    assert engine.state().characters[0].pitch == pytest.approx(LOOK_UP, abs=STEP)
    c2w = engine.state().cameras["first"]
    assert c2w[2, 2] == pytest.approx(math.sin(math.atan(1.2 * math.tan(LOOK_UP))), abs=1e-3)
    assert c2w[2, 3] == pytest.approx(41 / 32, abs=0.05)


def test_what_the_mouse_may_not_turn_is_held() -> None:
    look = Look(0.0, 0.0)
    look.turn(Control(0, 100, 0), 0.0, 0.0)
    assert not look.follow(0.0, 0.0)  # asked for 0.25 rad, and nothing came of it
    assert look.turn(Control(0, 0, 0), 0.0, 0.0) == (0.0, 0.0)


def run(engine: VizdoomEngine, count: int) -> tuple[bytes, bytes]:
    states = []
    for control in controls(count):
        engine.tick(control)
        state = engine.state()
        states.append(
            state.positions.tobytes() + state.cameras["first"].tobytes() + np.array(state.characters[0].position).tobytes()
        )
    return b"".join(states), engine.attachments()["demo.lmp"]


def test_the_same_controls_give_the_same_bytes_in_another_process(engine: VizdoomEngine, world: World) -> None:
    first = run(engine, 50)
    engine.reset()
    assert engine.state().tick == 0
    assert run(engine, 50) == first
    other = VizdoomEngine()
    other.load(world, {}, tick_rate=35, seed=4)
    assert run(other, 50) == first
    other.close()


def test_rays_meet_the_level_where_the_player_stands(engine: VizdoomEngine) -> None:
    x, y, z = engine.state().characters[0].position
    hits = engine.cast_rays(np.array([[x, y, z + 1.0]]), np.array([[0.0, 0.0, -1.0]]), 10.0)
    assert hits.entity[0] == 1 and hits.distance[0] == pytest.approx(1.0, abs=1e-3) and hits.normal[0, 2] == pytest.approx(1)
    up, far = np.array([x, y, z + 1.0]), np.array([x, y, z + 50.0])
    assert engine.sweep_capsule(0.3, 1.0, up, far).fraction < 1


def test_nothing_is_left_where_it_is_started(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "a b"))
    (tmp_path / "a b").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    engine = VizdoomEngine()
    engine.load(world, {}, tick_rate=35)
    engine.tick(Control(FORWARD))
    assert engine.attachments()["demo.lmp"].startswith(b"FORM")
    engine.close()
    assert [p.name for p in tmp_path.iterdir()] == ["a b"] and not list((tmp_path / "a b").iterdir())


def test_a_game_that_hangs_ends_in_one_line(engine: VizdoomEngine) -> None:
    game = engine._running()
    game.patience = 0.5
    (pid,) = own_processes(str(game.folder).encode())
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(WorldwrightError, match=r"did not answer for 0\.5 s and was ended"):
        engine.tick(Control())
    assert not own_processes(str(game.folder).encode())


def test_what_it_cannot_play_is_refused(world: World) -> None:
    engine = VizdoomEngine()
    with pytest.raises(WorldwrightError, match="35 tics a second"):
        engine.load(world, {}, tick_rate=240)
    with pytest.raises(WorldwrightError, match="no level of Doom"):
        engine.load(generate("playground", 1, {}), {}, tick_rate=35)
    assert world.level is not None
    other = world.model_copy(update={"level": world.level.model_copy(update={"hash": "0" * 32})})
    with pytest.raises(WorldwrightError, match="not the file that the world was read from"):
        engine.load(other, {}, tick_rate=35)
    with pytest.raises(WorldwrightError, match="call load first"):
        engine.tick(Control())


def test_death_or_an_exit_holds_the_state(engine: VizdoomEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.tick(Control(FORWARD))
    before = engine.state()
    game = engine._running()._game
    game.send_game_command("kill")
    for _ in range(4):
        engine.tick(Control(FORWARD, 5, 0))
    after = engine.state()
    assert "death" in [e.kind for e in after.events] and after.tick == before.tick + 4
    assert after.characters[0].flags == Flag.HELD and after.characters[0].velocity == (0.0, 0.0, 0.0)
    engine.tick(Control(FORWARD, 5, 0))
    again = engine.state()
    assert replace(again.characters[0], bones=after.characters[0].bones) == after.characters[0]


def test_a_killed_recording_leaves_the_game_running() -> None:
    """Nobody else would end it: it waits for its master with all of a core."""
    code = (
        "import sys, time\nfrom worldwright.engine.vizdoom import VizdoomEngine\nfrom worldwright.world.generators import generate\n"
        "e = VizdoomEngine()\ne.load(generate('doom', 0, {'map': 'MAP02'}), {}, tick_rate=35)\nprint('up', flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline().strip() == "up"
        games = [child for child in psutil.Process(process.pid).children(recursive=True) if "vizdoom" in child.name()]
        assert games
        process.kill()
    _, alive = psutil.wait_procs(games, timeout=10)
    assert not alive
