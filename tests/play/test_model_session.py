"""A model's world is walked by the walker, or from where somebody else says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from worldwright.errors import WorldwrightError
from worldwright.model.walker import Motion, Ride, Walker
from worldwright.play.dream import ModelSession, Starts
from worldwright.transforms import camera_look, intrinsics


@dataclass
class Frame:
    rgb: np.ndarray
    depth: np.ndarray
    c2w: np.ndarray
    frame: int


class Double:
    """Stands in for a dreamer: its pictures say where it was asked to look from."""

    fps, width, height = 24, 8, 4
    K = intrinsics(8, 4, 1.0)

    def begin(self, *, rgb: Any, depth: Any, c2w: Any, seed: int = 0, memory: str = "capture") -> Frame:
        self.memory, self.frame = memory, 0
        return Frame(np.asarray(rgb), np.asarray(depth), np.asarray(c2w), 0)

    def step(self, action: Any, c2w: Any) -> Frame:
        self.frame += 1
        return Frame(np.full((4, 8, 3), self.frame, np.uint8), np.ones((4, 8), np.float32), np.asarray(c2w), self.frame)


def starts() -> Starts:
    poses = [camera_look((k, 0.0, 1.6), 0.5 * k, 0.0) for k in range(4)]
    state = np.array([[k, 0.0, 0.0, 0.5 * k, 0, 0, 0, 0] for k in range(4)], np.float32)
    return Starts(np.zeros((4, 4, 8, 3), np.uint8), np.ones((4, 4, 8), np.float32), np.array(poses), state)


def session(**more: Any) -> ModelSession:
    motion = Motion(
        turn=-0.0025, pitch=-0.0025, lowest=-1, highest=1, keep=0.0, forward=(0.1, 0, 0), back=(0.1, 0, 0), side=(0.1, 0, 0)
    )
    ride = Ride(offset=((0, 0, 0), (0, 0, 0), (1.6, 0, 0)), drop=0, settle=0.3)
    return ModelSession(Double(), Walker(24, motion, ride), starts(), **more)


def test_the_walker_leads_the_camera() -> None:
    own = session()
    own.reset(0)
    picture = own.step(np.eye(10)[0])
    assert picture.c2w == pytest.approx(camera_look((0.1, 0.0, 1.6), 0.0, 0.0), abs=1e-6)
    assert picture.frame == 1 and picture.info["memory"] == "capture"


def test_beside_an_engine_it_looks_from_the_engines_camera() -> None:
    own, pose = session(memory="imagination"), camera_look((2.1, 0.0, 1.6), 1.02, 0.0)
    assert starts().nearest(pose) == 2
    assert own.reset_at(pose).c2w == pytest.approx(pose)
    further = camera_look((2.3, 0.1, 1.6), 1.1, 0.0)
    assert own.step_to(np.zeros(10), further).c2w == pytest.approx(further)


def test_a_memory_that_is_none_is_refused() -> None:
    with pytest.raises(WorldwrightError, match="capture or imagination"):
        session(memory="elephant")


def test_nobody_walks_before_the_beginning() -> None:
    with pytest.raises(WorldwrightError, match="reset first"):
        session().step(np.zeros(10))
