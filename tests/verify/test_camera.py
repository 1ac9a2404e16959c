"""A camera inside a wall is found; one among leaves is not blamed."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.engine.probe import GeometryProbe
from worldwright.transforms import camera_look, intrinsics
from worldwright.verify.shot_camera import measure_camera
from worldwright.world.spec import World


def _free(world: World, position: list[float]) -> bool:
    geometry = build_scene(world, {})
    solid = SceneGeometry(geometry.collision, geometry.collision, {}, {})
    probe = GeometryProbe(solid, world, [])
    frame: Any = SimpleNamespace(index=0, width=64, height=36, K=intrinsics(64, 36, 1.0), c2w=camera_look(position, 0.0, 0.0))
    return all(m.holds for m in measure_camera(frame, probe, np.zeros(0, dtype=np.int64)))


@pytest.mark.parametrize(
    ("position", "free"), [([0, 0, 1], True), ([6, 0, 1], False), ([5.82, 0, 1], False), ([0, 0, -0.1], False)]
)
def test_a_camera_inside_or_cutting_into_a_wall_is_found(
    make_world: Callable[..., World], position: list[float], free: bool
) -> None:
    assert _free(make_world(), position) is free


def test_a_camera_among_leaves_is_free(make_world: Callable[..., World]) -> None:
    leaves = {"geometry": {"shape": "sphere", "radius": 1.0}, "material": "red", "collide": False}
    kept = [e.model_dump(mode="json") for e in make_world().entities]
    tree = {"name": "tree", "label": "tree", "position": [-3, -3, 2], "parts": [leaves]}
    assert _free(make_world(entities=[*kept, tree]), [-3, -3, 2])
