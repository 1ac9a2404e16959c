"""Instants: exact on samples, smooth between, the same however one gets there."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldwright.errors import WorldwrightError
from worldwright.take.codec import camera_matrix, camera_row
from worldwright.take.model import Instant
from worldwright.take.reader import Take
from worldwright.transforms import matrix_to_quat, pose_matrix, quat_between, quat_normalise


def same(a: Instant, b: Instant) -> bool:
    arrays = all(np.array_equal(getattr(a, n), getattr(b, n)) for n in ("positions", "rotations", "linear", "angular", "contacts"))
    cameras = all(np.array_equal(a.cameras[r], b.cameras[r]) for r in a.cameras)
    return arrays and cameras and np.array_equal(a.characters[0].bones, b.characters[0].bones)


def test_an_instant_on_a_sample_is_what_the_engine_said(take_path: Path, made_up: SimpleNamespace) -> None:
    with Take.open(take_path) as take:
        for tick in (0, 2, 6, 100, 238, 240):
            got, state = take.instant(tick), made_up.state(tick)
            for name in ("positions", "rotations", "linear", "angular", "contacts"):
                np.testing.assert_array_equal(getattr(got, name), getattr(state, name))
            person, truth = got.characters[0], state.characters[0]
            np.testing.assert_array_equal(person.bones, truth.bones)
            np.testing.assert_array_equal(person.position, np.float32(truth.position))
            assert (person.flags, person.clip, person.ground, person.id) == (truth.flags, truth.clip, truth.ground, truth.id)
            for rig in ("first", "third"):
                np.testing.assert_allclose(got.cameras[rig], state.cameras[rig], atol=1e-14)


def test_halfway_between_samples_is_halfway(take_path: Path, made_up: SimpleNamespace) -> None:
    with Take.open(take_path) as take:
        a, b, middle = take.instant(4), take.instant(6), take.instant(5)
    np.testing.assert_allclose(middle.positions, (a.positions + b.positions) / 2, atol=1e-12)
    np.testing.assert_allclose(middle.rotations, quat_between(a.rotations, b.rotations, 0.5), atol=1e-12)
    np.testing.assert_allclose(middle.characters[0].bones[:, :3], (a.characters[0].bones[:, :3] + b.characters[0].bones[:, :3]) / 2)
    rotation = middle.cameras["first"][:3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)


def test_yaw_between_samples_takes_the_short_way_over_pi(take_path: Path) -> None:
    with Take.open(take_path) as take:
        yaws = [take.instant(t).characters[0].yaw for t in np.arange(32, 36, 0.25)]
    steps = np.abs((np.diff(yaws) + np.pi) % (2 * np.pi) - np.pi)
    assert yaws[0] > 3 and yaws[-1] < -3, "the made-up yaw passes pi at tick 33.98"
    assert steps.max() < 0.01


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ticks=st.lists(st.integers(0, 960).map(lambda k: k / 4), min_size=1, max_size=8))
def test_the_way_to_an_instant_does_not_matter(take_path: Path, ticks: list[float]) -> None:
    with Take.open(take_path) as wandering:
        for tick in ticks:
            there = wandering.instant(tick)
        with Take.open(take_path) as fresh:
            assert same(there, fresh.instant(ticks[-1]))


@pytest.mark.parametrize("tick", [-0.5, 240.5, float("nan")])
def test_an_instant_outside_of_the_take_is_refused(take_path: Path, tick: float) -> None:
    with Take.open(take_path) as take, pytest.raises(WorldwrightError, match="the take has ticks 0 to 240"):
        take.instant(tick)


def test_controls_come_back_tick_by_tick(take_path: Path, made_up: SimpleNamespace) -> None:
    with Take.open(take_path) as take:
        assert list(take.controls()) == [made_up.control(t) for t in range(240)]


@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
    st.lists(st.floats(-9, 9), min_size=3, max_size=3),
)
def test_cameras_survive_being_written(q: list[float], p: list[float]) -> None:
    c2w = pose_matrix(p, quat_normalise(q))
    row = camera_row(c2w)
    np.testing.assert_allclose(row[3:], matrix_to_quat(c2w[:3, :3]), atol=1e-12)
    np.testing.assert_array_equal(camera_matrix(row), pose_matrix(row[:3], row[3:]))
    np.testing.assert_allclose(camera_matrix(row), c2w, atol=1e-12)


def test_memory_does_not_grow_with_the_takes_length(tmp_path: Path, made_up: SimpleNamespace) -> None:
    peaks = []
    for ticks in (1920, 5760):
        path = tmp_path / f"{ticks}.mcap"
        made_up.write(path, ticks)
        with Take.open(path) as take:
            tracemalloc.start()
            for tick in range(0, ticks + 1, 10):
                take.instant(tick)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 50_000


def test_going_forward_is_cheap(take_path: Path) -> None:
    with Take.open(take_path) as take:
        take.instant(0)
        start = time.process_time()
        for tick in range(0, 241, 2):
            take.instant(tick)
        assert (time.process_time() - start) / 121 < 0.002, "ten times the budget: only a rescan from the start costs that much"
