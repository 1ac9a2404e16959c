"""A world played by hand: it moves as it is told, and what is recorded is a take like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from worldwright.errors import WorldwrightError
from worldwright.play.engine import EngineSession
from worldwright.record.inputs import action_controls
from worldwright.take.reader import Take
from worldwright.verify.take import verify_take
from worldwright.world.files import load_world

STILL = np.zeros(10, np.float32)
AHEAD = np.eye(10, dtype=np.float32)[0]


@pytest.fixture(scope="module")
def session(courtyard_file: Path) -> Iterator[EngineSession]:
    session = EngineSession(load_world(courtyard_file), {}, width=96, height=54, passes=("rgb", "depth"), device="cpu")
    yield session
    session.close()


def test_keys_move_the_picture_and_the_same_keys_the_same_way(session: EngineSession) -> None:
    def play() -> list[np.ndarray]:
        first = session.reset(0)
        return [first.rgb, *(session.step(AHEAD + 20 * np.eye(10)[8]).rgb for _ in range(8))]

    one, two = play(), play()
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert np.abs(one[0].astype(int) - one[-1]).mean() > 2
    again = session.reset(0)
    for _ in range(4):
        again = session.step(STILL)
    assert np.abs(one[0].astype(int) - again.rgb).mean() < 1


def test_depth_is_that_of_the_picture(session: EngineSession) -> None:
    picture = session.reset(0)
    assert picture.depth is not None
    # The eye looks level along +X at the wall, whose near face is at x = 5.9.
    assert picture.depth[27, 48] == pytest.approx(5.9 - picture.c2w[0, 3], rel=2e-3)


def test_what_a_person_plays_is_a_take_that_verifies(session: EngineSession, tmp_path: Path) -> None:
    out = tmp_path / "t.mcap"
    session.reset(0)
    for _ in range(5):
        session.step(AHEAD)
    assert session.start_recording(out, {"input": "test"}).frame == 0  # from the beginning, not from where one stood
    for k in range(30):
        session.step(AHEAD if k < 20 else 15 * np.eye(10)[8])
    assert session.stop_recording() == out
    assert session.stop_recording() is None
    with Take.open(out) as take:
        assert (take.header.policy, take.n_frames) == ("person", 30)
        issued = take.frames().issued
        assert issued[3, 0] == 1 and issued[25, 8] == 15
    assert verify_take(out, {}).passed


def test_a_recording_is_kept_when_the_session_ends(courtyard_file: Path, tmp_path: Path) -> None:
    session = EngineSession(load_world(courtyard_file), {}, width=32, height=18, device="cpu")
    session.start_recording(tmp_path / "t.mcap")
    session.advance(AHEAD)
    session.close()
    with Take.open(tmp_path / "t.mcap") as take:
        assert take.n_frames == 1


def test_a_recording_of_nothing_leaves_nothing(session: EngineSession, tmp_path: Path) -> None:
    session.start_recording(tmp_path / "t.mcap")
    assert session.stop_recording() is None
    assert not list(tmp_path.iterdir())


def test_a_slow_machine_gets_smaller_pictures(courtyard_file: Path) -> None:
    # 240 frames a second leave 3 ms for a picture: no CPU draws one in that.
    session = EngineSession(load_world(courtyard_file), {}, width=640, height=360, fps=240, sample_rate=240, device="cpu")
    try:
        session.suit()
        assert (session.width, session.height) == (320, 180)
        assert session.reset(0).rgb.shape == (180, 320, 3)
    finally:
        session.close()


def test_parts_of_a_frame_are_held_that_long() -> None:
    controls = action_controls([0.3, 0, 0, 0, 0, 0, 0, 0, 7, -3], 10)
    assert [c.keys for c in controls] == [1] * 3 + [0] * 7
    assert (sum(c.mouse_dx for c in controls), sum(c.mouse_dy for c in controls)) == (7, -3)


@pytest.mark.parametrize("bad", [[0.0] * 9, [2.0] + [0.0] * 9, [float("nan")] + [0.0] * 9, [0.0] * 8 + [1e9, 0.0]])
def test_what_is_no_action_is_refused(bad: list[float]) -> None:
    with pytest.raises(WorldwrightError, match="action"):
        action_controls(bad, 10)
