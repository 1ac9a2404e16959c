"""The floor plan of the report's map."""

from __future__ import annotations

import numpy as np
import pytest

from worldwright.report.charts import shown_part
from worldwright.report.plan import CUT, floor_plan, sections, triangles
from worldwright.world.generators import generate

# A tetrahedron with one corner up and one with one corner down: the cut at half height of each is a triangle of half its edges.
UP = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], dtype=float)
SIDES = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize("turned", [1, -1])
def test_a_wall_is_cut_at_another_height(turned: int) -> None:
    found = sections(UP[SIDES] * [1, 1, turned], turned * 1.0)
    ends = {tuple(np.round(end, 9)) for segment in found for end in segment}
    assert len(found) == 3 and ends == {(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)}
    assert len(sections(UP[SIDES] * [1, 1, turned], 5.0)) == 0


def test_a_map_of_a_room_shows_its_roof() -> None:
    """The picture has floor, furniture and dark walls, not the one colour of the ceiling."""
    from worldwright.assets.scene import build_scene

    world = generate("rooms", 5, {})
    geometry = build_scene(world, {}, images=False)
    spawn = np.array(world.spawns[0].position)
    lo, hi = shown_part(world, np.stack([spawn, spawn + np.array([0.5, 0, 0])]))
    assert np.all(hi - lo > 10)
    plan = np.asarray(floor_plan(world, geometry, lo, hi, spawn[2] + 1.2)).reshape(-1, 3)
    assert len(np.unique(plan, axis=0)) > 30 and np.mean((plan == CUT).all(axis=1)) > 0.005
    assert triangles(world, geometry)[0][:, :, 2].max() > spawn[2] + 2.2  # there is a ceiling
