"""The cameras that ride along."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from worldwright.controls import KEY_BITS
from worldwright.engine.rigs import _look
from worldwright.transforms import camera_look


def boxes_distance(points: Any, boxes: list[tuple[Any, Any]]) -> Any:
    """Distance of points [N, 3] to the nearest of axis-aligned boxes (size, centre)."""
    away = [np.linalg.norm(np.maximum(np.abs(points - np.array(c)) - np.array(s) / 2, 0), axis=1) for s, c in boxes]
    return np.min(away, axis=0)


def third(played: Any) -> Any:
    return np.array([s.cameras["third"][:3, 3] for s in played.states])


def test_the_first_person_camera_is_not_at_the_eye(kit: Any) -> None:
    played = kit.play(kit.world(yaw=0.7), 0, 0.1, mouse=lambda t: (3, -2))
    c = played.last
    expected = camera_look((0, 0, c.position[2] + 0.92 * 1.75), c.yaw, c.pitch)
    assert np.allclose(played.states[-1].cameras["first"], expected, atol=1e-9)


@pytest.mark.parametrize("yaw", [-3.0, 0.0, 1.3])
@pytest.mark.parametrize("pitch", [-1.4, 0.0, 0.6])
def test_the_fast_look_differs_from_the_convention(yaw: float, pitch: float) -> None:
    assert np.allclose(_look((1, 2, 3), yaw, pitch), camera_look((1, 2, 3), yaw, pitch), atol=1e-12)


def test_the_boom_is_shorter_than_it_could_be(kit: Any) -> None:
    played = kit.play(kit.world(), 0, 0.2)
    eye = np.array([0, 0, 0.92 * 1.75 + 0.35])
    assert np.linalg.norm(third(played)[-1] - eye) == pytest.approx(3.2, abs=0.01)


def test_the_boom_enters_a_wall_in_a_narrow_corridor(kit: Any) -> None:
    """Spin and look up and down while walking a corridor 1.2 m wide and 2.1 m high, with a pillar in it: never nearer than 0.1 m."""
    walls = [
        ((20, 0.2, 3), (0, 0.7, 1.5)),
        ((20, 0.2, 3), (0, -0.7, 1.5)),
        ((20, 2, 0.2), (0, 0, 2.2)),
        ((0.2, 2, 3), (-1.5, 0, 1.5)),
        ((0.3, 0.3, 3), (-0.8, 0.45, 1.5)),
    ]
    world = kit.world([kit.box(f"w{k}", s, p) for k, (s, p) in enumerate(walls)])
    played = kit.play(
        world, lambda t: KEY_BITS["forward"] | (KEY_BITS["crouch"] if t % 300 > 200 else 0) | (KEY_BITS["jump"] if t % 97 < 5 else 0), 4.0,
        mouse=lambda t: (15, round(12 * math.cos(t / 40))),
    )  # fmt: skip
    solid = [*walls, ((60, 60, 1), (0, 0, -0.5))]
    assert boxes_distance(third(played), solid).min() > 0.1
    eyes = np.array([s.cameras["first"][:3, 3] for s in played.states])
    assert boxes_distance(eyes, solid).min() > 0.1


def test_the_boom_goes_through_something_that_moves(kit: Any) -> None:
    """A wall that shuttles behind the person pushes the camera in at once, and it eases out after."""
    wall = kit.box(
        "wall", (0.4, 4, 4), (-5, 0, 2.05), body="kinematic", path={"kind": "shuttle", "to": (-1.2, 0, 2.05), "period": 2}
    )
    played = kit.play(kit.world(wall), 0, 2.0)
    for state, eye in zip(played.states, third(played), strict=True):
        box = [((0.4, 4, 4), state.positions[0])]
        assert boxes_distance(eye[None], box)[0] > 0.1
    length = -third(played)[:, 0]
    assert length.min() < 1.0
    assert np.diff(length).max() < 0.06, "it eases out"
    assert length[-1] > 2.5


def test_stepping_down_lifts_the_eye_into_a_low_lintel(kit: Any) -> None:
    lintel = ((1, 4, 0.4), (1.1, 0, 2.05))
    world = kit.world(
        kit.box("top", (2, 4, 0.3), (0, 0, 0.15)), kit.box("lintel", *lintel), spawn=(-0.5, 0, 0.3), characters=[{"height": 1.5}]
    )
    played = kit.play(world, KEY_BITS["forward"] | KEY_BITS["run"], 1.0)
    eyes = np.array([s.cameras["first"][:3, 3] for s in played.states])
    assert played.path[-1][0] > 1.5
    assert boxes_distance(eyes, [lintel]).min() > 0.1
