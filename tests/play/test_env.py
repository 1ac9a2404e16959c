"""Environments keep Gymnasium's rules, and reward what they say they reward."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from worldwright.errors import WorldwrightError
from worldwright.model.walker import Motion, Ride, Walker
from worldwright.play.dream import ModelSession, Starts
from worldwright.play.env import EngineEnv, Place, SessionEnv, place_of, reward_of
from worldwright.transforms import camera_look, intrinsics
from worldwright.world.files import load_world

AHEAD = np.eye(10, dtype=np.float32)[0]


class Frame:
    def __init__(self, rgb: np.ndarray, c2w: np.ndarray, frame: int) -> None:
        self.rgb, self.c2w, self.frame, self.depth = rgb, c2w, frame, np.ones(rgb.shape[:2], np.float32)


class Double:
    """Stands in for a dreamer: its pictures are drawn from the seed and the place."""

    fps, width, height = 24, 8, 4
    K = intrinsics(8, 4, 1.0)

    def begin(self, *, rgb: Any, depth: Any, c2w: Any, seed: int = 0, memory: str = "capture") -> Frame:
        self.seed, self.frame = seed, 0
        return Frame(np.asarray(rgb), np.asarray(c2w), 0)

    def step(self, action: Any, c2w: Any) -> Frame:
        self.frame += 1
        rgb = np.random.default_rng([self.seed, self.frame]).integers(0, 256, (4, 8, 3), dtype=np.uint8)
        return Frame(rgb, np.asarray(c2w), self.frame)


def dreamed(**more: Any) -> SessionEnv:
    poses = np.array([camera_look((k, 0.0, 1.6), 0.5 * k, 0.0) for k in range(4)])
    state = np.array([[k, 0.0, 0.0, 0.5 * k, 0, 0, 0, 0] for k in range(4)], np.float32)
    starts = Starts(np.zeros((4, 4, 8, 3), np.uint8), np.ones((4, 4, 8), np.float32), poses, state)
    motion = Motion(
        turn=-0.0025, pitch=-0.0025, lowest=-1, highest=1, keep=0.0, forward=(0.1, 0, 0), back=(0.1, 0, 0), side=(0.1, 0, 0)
    )
    ride = Ride(offset=((0, 0, 0), (0, 0, 0), (1.6, 0, 0)), drop=0, settle=0.3)
    return SessionEnv(ModelSession(Double(), Walker(24, motion, ride), starts), **more)


@pytest.fixture(scope="module")
def engine(courtyard_file: Path) -> Iterator[EngineEnv]:
    env = EngineEnv(load_world(courtyard_file), width=32, height=18, device="cpu", frames=5, vary=False)
    yield env
    env.close()


def checked(env: SessionEnv) -> None:
    with warnings.catch_warnings():
        # It advises a symmetric action space (a key is held or not), and to make environments by gymnasium.make.
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)


def test_a_model_breaks_gymnasiums_rules() -> None:
    checked(dreamed())


def test_an_engine_breaks_gymnasiums_rules(engine: EngineEnv) -> None:
    checked(engine)


def test_model_and_engine_have_different_actions(engine: EngineEnv) -> None:
    assert dreamed().action_space == engine.action_space
    assert engine.observation_space.shape == (18, 32, 3) and engine.observation_space.dtype == np.uint8


def test_the_same_seed_gives_another_episode() -> None:
    def play(env: SessionEnv, seed: int | None) -> list[np.ndarray]:
        env.reset(seed=seed)
        return [env.step(AHEAD)[0] for _ in range(3)]

    env = dreamed()
    one, next_, again = play(env, 3), play(env, None), play(env, 3)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0], next_[0])  # no seed: another episode
    still = dreamed(vary=False)
    assert np.array_equal(play(still, 1)[0], play(still, 2)[0])


def test_walking_ahead_in_the_engine_is_worth_nothing(engine: EngineEnv) -> None:
    _, info = engine.reset(seed=0)
    steps = [engine.step(AHEAD) for _ in range(5)]
    gone = steps[-1][4]["c2w"][0, 3] - info["c2w"][0, 3]  # the spawn looks along +X
    assert gone > 0.05 and sum(s[1] for s in steps) == pytest.approx(gone, abs=1e-6)
    assert [s[3] for s in steps] == [False] * 4 + [True]


def test_a_step_backwards_is_rewarded_as_one_ahead() -> None:
    env = dreamed(vary=False)
    env.reset(seed=0)
    assert env.step(AHEAD)[1] == pytest.approx(0.1)
    assert env.step(np.eye(10, dtype=np.float32)[1])[1] == pytest.approx(-0.1)


def test_a_goal_is_not_reached_or_reached_from_afar() -> None:
    env = dreamed(vary=False, goal=Place(1.0, 0.0, radius=0.75))
    _, info = env.reset(seed=0)
    assert info["distance"] == pytest.approx(1.0)
    steps = [env.step(AHEAD) for _ in range(3)]
    assert [s[2] for s in steps] == [False, False, True]
    assert [s[1] for s in steps] == pytest.approx([0.1, 0.1, 1.1])


def test_looking_straight_down_divides_by_nothing() -> None:
    down = np.eye(4)
    down[:3, :3] = np.diag([1.0, -1.0, -1.0])
    assert reward_of(down, down, None) == (0.0, False)


def test_environments_side_by_side_share_a_world() -> None:
    both = SyncVectorEnv([dreamed, dreamed])
    seen, _ = both.reset(seed=[1, 2])
    actions = np.stack([AHEAD, AHEAD])
    seen, reward, *_ = both.step(actions)
    assert seen.shape == (2, 4, 8, 3) and not np.array_equal(seen[0], seen[1]) and reward.shape == (2,)
    both.close()


@pytest.mark.parametrize("bad", [np.zeros(9), np.full(10, np.nan)])
def test_what_is_no_action_reaches_the_session(bad: np.ndarray) -> None:
    env = dreamed()
    with pytest.raises(WorldwrightError, match="reset first"):
        env.step(AHEAD)
    env.reset(seed=0)
    with pytest.raises(WorldwrightError, match="an action of"):
        env.step(bad)


def test_a_goal_that_is_not_there_is_made_up(courtyard_file: Path) -> None:
    with pytest.raises(WorldwrightError, match="it has none"):
        place_of(load_world(courtyard_file), "door")
