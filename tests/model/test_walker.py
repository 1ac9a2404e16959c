"""Who walks without an engine: as the capture walked, and not through its walls."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.controls import KEYS, Flag
from worldwright.errors import WorldwrightError
from worldwright.model.walker import Motion, Ride, Stand, Walker, _widen, fit_motion, fit_ride
from worldwright.transforms import camera_look

TRUTH = Motion(
    turn=-0.0025,
    pitch=-0.0025,
    lowest=-1.2,
    highest=1.2,
    keep=0.6,
    forward=(0.03, 0.03, -0.015),
    back=(0.02, 0.01, -0.01),
    side=(0.025, 0.02, -0.01),
)
EYE = Ride(offset=((0.05, 0.0, 0.0), (0.0, 0.0, 0.0), (1.6, 0.0, 0.0)), drop=0.5, settle=0.3)


def rows_of(walker: Walker, frames: int, seed: int) -> dict[str, Any]:
    """What a dataset would say of a walk with random keys."""
    rng = np.random.default_rng(seed)
    stand, held = Stand((0.0, 0.0, 0.0), 0.3, 0.0), np.zeros(10)
    states, actions, effects, cameras = [], [], [], []
    for k in range(frames):
        if k % 7 == 0:
            held[: len(KEYS)] = rng.random(len(KEYS)) < 0.4
            held[5] = 0
            held[8:] = rng.integers(-40, 41, 2)
        states.append([*stand.position, stand.yaw, stand.pitch, 0, 0, 0])
        cameras.append(walker.c2w(stand))
        after = walker.step(stand, held)
        d = np.subtract(after.position, stand.position)
        cos, sin = math.cos(stand.yaw), math.sin(stand.yaw)
        effects.append([d[0] * cos + d[1] * sin, d[0] * sin - d[1] * cos, d[2], after.yaw - stand.yaw, after.pitch - stand.pitch])
        actions.append(held.copy())
        stand = after
    return {
        "observation.state": np.array(states, np.float32),
        "action": np.array(actions, np.float32),
        "effective_action": np.array(effects, np.float32),
        "flags": np.zeros(frames, np.int64),
        "camera.c2w": np.array(cameras).reshape(-1, 16),
    }


def test_walking_is_learned_as_it_was() -> None:
    rows = [rows_of(Walker(24, TRUTH, EYE), 600, seed) for seed in (1, 2)]
    found = fit_motion(rows)
    assert (found.turn, found.pitch, found.keep) == pytest.approx((-0.0025, -0.0025, 0.6), abs=2e-3)
    assert [*found.forward, *found.back, *found.side] == pytest.approx([*TRUTH.forward, *TRUTH.back, *TRUTH.side], abs=2e-3)


def test_the_camera_is_where_the_eyes_were() -> None:
    walker = Walker(24, TRUTH, EYE)
    rows = [rows_of(walker, 600, 3)]
    own = Walker(24, TRUTH, fit_ride(rows))
    for stand in (Stand((1.0, 2.0, 0.5), 2.0, 0.4), Stand((0, 0, 0), -1.0, -0.7, low=1.0)):
        assert np.abs(own.c2w(stand) - walker.c2w(stand)).max() < 0.01


def test_a_camera_that_stands_still_is_no_ride() -> None:
    rows = rows_of(Walker(24, TRUTH, EYE), 200, 4)
    rows["camera.c2w"] = np.tile(camera_look((0.0, 0.0, 2.0), 0.0, 0.0).reshape(1, 16), (200, 1))
    with pytest.raises(WorldwrightError, match="does not ride"):
        fit_ride([rows])


def test_too_few_free_frames_are_said() -> None:
    rows = rows_of(Walker(24, TRUTH, EYE), 200, 5)
    rows["flags"][:] = int(Flag.BLOCKED)
    with pytest.raises(WorldwrightError, match="without hindrance"):
        fit_motion([rows])


def walled(blocked: np.ndarray) -> Walker:
    """A map of 0.1 m cells whose corner is the origin."""
    import base64
    import zlib

    from worldwright.model.walker import Ground

    bits = base64.b64encode(zlib.compress(np.packbits(blocked).tobytes())).decode()
    ground = Ground(cell=0.1, origin=(0.0, 0.0), shape=blocked.shape, walls=bits, floor_cell=0.5, floor=[])
    return Walker(24, TRUTH, EYE, ground)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 255), st.integers(-300, 300)), min_size=5, max_size=60))
def test_nobody_walks_through_a_wall(keys: list[tuple[int, int]]) -> None:
    blocked = np.zeros((40, 40), bool)
    blocked[[0, -1]] = blocked[:, [0, -1]] = True
    blocked[20, :] = True
    walker = walled(blocked)
    stand = Stand((1.0, 1.0, 0.0), 0.0, 0.0)
    for mask, dx in keys:
        action = np.array([mask >> k & 1 for k in range(8)] + [dx, 0], np.float32)
        for _ in range(8):
            stand = walker.step(stand, action)
            assert 0.1 <= stand.position[0] <= 3.9 and 0.1 <= stand.position[1] <= 2.0


def test_a_wall_stops_head_on_and_lets_slide() -> None:
    blocked = np.zeros((40, 40), bool)
    blocked[:, 30:] = True
    walker, ahead = walled(blocked), np.eye(10)[0]
    stand = Stand((2.5, 2.0, 0.0), 0.0, 0.0)
    for _ in range(60):
        stand = walker.step(stand, ahead)
    assert stand.position[0] == pytest.approx(3.0, abs=0.06) and stand.flags & Flag.BLOCKED
    slanted = Stand((2.9, 1.0, 0.0), math.pi / 4, 0.0)
    for _ in range(12):
        slanted = walker.step(slanted, ahead)
    assert slanted.position[1] > 1.3 and slanted.flags & Flag.SLIDING


def test_widening_reaches_every_side() -> None:
    one = np.zeros((9, 9), bool)
    one[4, 4] = True
    assert _widen(one, 2).sum() == 13  # 1 + 3 + 5 + 3 + 1: a disc of radius 2


def test_a_document_gives_the_same_walk() -> None:
    blocked = np.random.default_rng(0).random((30, 50)) < 0.2
    walker = walled(blocked)
    again = Walker.from_document(json.loads(json.dumps(walker.to_document())))
    a = b = Stand((1.0, 1.0, 0.0), 0.0, 0.0)
    for k in range(50):
        action = np.array([1, 0, 0, 0, k % 2, 0, 0, 0, 20, -3], np.float32)
        a, b = walker.step(a, action), again.step(b, action)
    assert a == b


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"fps": 0}, "fps"),
        ({"motion": None}, "motion"),
        ({"more": 1}, "more"),
        ({"ground": {"walls": "!!"}}, "walls"),
        ({"ground": {"shape": [4000, 4000]}}, "walls"),
    ],
)
def test_a_bad_document_is_one_line(change: dict[str, Any], told: str) -> None:
    document = walled(np.ones((5, 5), bool)).to_document()
    if "ground" in change:
        change = {"ground": document["ground"] | change["ground"]}
    with pytest.raises(WorldwrightError, match=told) as caught:
        Walker.from_document(document | change)
    assert "\n" not in caught.value.line()
