"""What counts as walkable: found in real physics, with the sizes derived from the character's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from worldwright.engine.panda import PandaEngine
from worldwright.errors import WorldwrightError
from worldwright.record.navigation import NavigationGrid
from worldwright.world.spec import World


def grid_of(world: World, engine: PandaEngine) -> NavigationGrid:
    engine.load(world, {})
    return NavigationGrid.build(engine, world, world.spawns[0].position)


def near(grid: NavigationGrid, x: float, y: float, z: float = 0.0) -> bool:
    d = grid.points - (x, y, z)
    return bool((np.linalg.norm(d, axis=1) < 0.75 * grid.cell).any())


def test_the_ground_keeps_a_bodys_width_from_the_walls(make_yard: Any, engine: PandaEngine) -> None:
    grid = grid_of(make_yard[0](), engine)
    inside = np.abs(grid.points[:, :2]).max(axis=0)
    assert 5.9 - 0.3 - 0.3 < inside[0] <= 5.9 - 0.285 and 3.9 - 0.3 - 0.3 < inside[1] <= 3.9 - 0.285
    assert len(grid) == pytest.approx((2 * 5.6) * (2 * 3.6) / grid.cell**2, rel=0.1)
    np.testing.assert_allclose(grid.points[:, 2], 0, atol=1e-3)


def test_a_step_is_climbed_and_a_table_is_not(make_yard: Any, engine: PandaEngine) -> None:
    yard, box = make_yard
    world = yard([box("step", [2, 2, 0.3], [3, 2, 0.15]), box("table", [2, 2, 0.6], [3, -2, 0.3])])
    grid = grid_of(world, engine)
    assert near(grid, 3, 2, 0.3)
    assert not near(grid, 3, -2, 0.6) and not near(grid, 3, -2, 0.0)


def test_stairs_lead_to_a_terrace_and_what_is_under_it_is_found_too(make_yard: Any, engine: PandaEngine) -> None:
    yard, box = make_yard
    stairs = [box(f"stair{k}", [0.3, 2, 0.25 * (k + 1)], [-0.85 + 0.3 * k, 2.5, 0.125 * (k + 1)]) for k in range(9)]
    world = yard([*stairs, box("terrace", [3, 2, 0.2], [3.2, 2.5, 2.15])], bounds={"min": [-6, -4, -1], "max": [6, 4, 6]})
    grid = grid_of(world, engine)
    assert near(grid, 3, 2.5, 2.25), "on the terrace"
    assert near(grid, 3, 2.5, 0.0), "under it"
    top, below = grid.nearest((3, 2.5, 2.25)), grid.nearest((3, 2.5, 0))
    way = grid.path(below, top)
    assert way is not None and way[:, 0].min() < -0.3, "up by the stairs, not through the terrace"


def test_a_gentle_ramp_is_ground_and_a_steep_one_is_not(make_yard: Any, engine: PandaEngine) -> None:
    yard, box = make_yard

    def ramp(name: str, size: list[float], at: list[float]) -> dict[str, Any]:
        return box(name, size, at, parts=[{"geometry": {"shape": "wedge", "size": size}, "material": "grey"}])

    world = yard([ramp("gentle", [2, 1.5, 1], [2, 2, 0.5]), ramp("steep", [1, 1.5, 2], [2, -2, 1])])
    grid = grid_of(world, engine)
    assert near(grid, 2, 2, 0.5)
    assert not near(grid, 2, -2, 1.0)


def test_the_way_leads_through_the_doorway_not_through_the_wall(two_rooms: World, engine: PandaEngine) -> None:
    grid = grid_of(two_rooms, engine)
    way = grid.path(grid.nearest((-3, 3, 0)), grid.nearest((3, 3, 0)))
    assert way is not None
    crossing = np.interp(0.0, way[:, 0], way[:, 1])
    assert abs(crossing) < 0.3, "the door is at y = 0, closed, and is passed"
    assert grid.door_near((-0.8, 0, 0)) and not grid.door_near((-4, 0, 0))


def test_ground_that_cannot_be_reached_is_not_in_the_grid(make_yard: Any, engine: PandaEngine) -> None:
    yard, box = make_yard
    grid = grid_of(yard([box("wall9", [0.2, 8, 2.5], [1, 0, 1.25])]), engine)
    assert grid.points[:, 0].max() < 1


def test_a_low_passage_is_found_for_crouching_only(make_yard: Any, engine: PandaEngine) -> None:
    yard, box = make_yard
    grid = grid_of(yard([box("beam", [0.6, 7.9, 1.2], [1, 0, 1.25 + 0.6])]), engine)
    under = np.abs(grid.points[:, 0] - 1) < 0.3
    assert under.any() and grid.low[under].all() and not grid.low[np.abs(grid.points[:, 0] - 1) > 0.8].any()


def test_a_gap_between_two_platforms_is_not_walked_over(make_yard: Any, engine: PandaEngine) -> None:
    yard, box = make_yard
    world = yard()
    entities = [e.model_dump(mode="json") for e in world.entities if e.name != "floor"]
    document = world.model_dump(mode="json") | {
        "entities": [box("left", [6, 8, 0.5], [-3, 0, -0.25]), box("right", [4.5, 8, 0.5], [3.75, 0, -0.25]), *entities]
    }
    grid = grid_of(World.model_validate(document), engine)
    assert grid.points[:, 0].max() < 0.2


def test_a_spawn_over_nothing_is_refused(make_yard: Any, engine: PandaEngine) -> None:
    world = make_yard[0]()
    engine.load(world, {})
    with pytest.raises(WorldwrightError, match="no ground below"):
        NavigationGrid.build(engine, world, (100.0, 0.0, 0.0))


def test_a_penalty_makes_the_way_go_round(make_yard: Any, engine: PandaEngine) -> None:
    grid = grid_of(make_yard[0](), engine)
    a, b = grid.nearest((-3, 0, 0)), grid.nearest((3, 0, 0))
    middle = {n: 50.0 for n in range(len(grid)) if abs(grid.points[n][0]) < 0.5 and abs(grid.points[n][1]) < 1.5}
    straight, round_ = grid.route(a, b), grid.route(a, b, middle)
    assert straight is not None and round_ is not None
    assert not set(round_) & set(middle) and set(straight) & set(middle)
    assert len(grid.straighten(straight)) == 2, "open ground: one straight line"


def test_the_same_world_gives_the_same_grid(two_rooms: World, engine: PandaEngine) -> None:
    a = grid_of(two_rooms, engine)
    b = grid_of(two_rooms, engine)
    np.testing.assert_array_equal(a.points, b.points)
    assert a.neighbours == b.neighbours
