"""Bad worlds fail the check that is there for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from worldwright.verify.world import check_world
from worldwright.world.spec import World

MakeWorld = Callable[..., World]


def _entity(name: str, position: list[float], **more: Any) -> dict[str, Any]:
    part = {"geometry": {"shape": "box", "size": [0.5, 0.5, 0.5]}, "material": "red"}
    return {"name": name, "label": "thing", "position": position, "parts": [part], **more}


def _with(make_world: MakeWorld, *entities: dict[str, Any], **changes: Any) -> World:
    kept = [e.model_dump(mode="json") for e in make_world().entities]
    return make_world(entities=[*kept, *entities], **({"goals": []} | changes))


def failures(world: World) -> set[str]:
    return {c.name for c in check_world(world, {}) if not c.passed and not c.skipped}


def test_a_good_world_fails_nothing(make_world: MakeWorld) -> None:
    assert failures(make_world()) == set()


def test_a_thing_out_of_bounds_is_found(make_world: MakeWorld) -> None:
    assert "inside" in failures(_with(make_world, _entity("lost", [40, 0, 0])))


def test_a_world_without_light_is_found(make_world: MakeWorld) -> None:
    assert "light" in failures(make_world(light={"sun": None, "sky": {"intensity": 0.0}}, goals=[]))


def test_crates_put_into_each_other_are_found(make_world: MakeWorld) -> None:
    pair = [_entity(f"crate{k}", [-3 + 0.1 * k, -3, 0.25 + 0.05 * k], body="dynamic", mass=1.0) for k in range(4)]
    assert {"apart", "settled"} & failures(_with(make_world, *pair))


def test_a_crate_in_the_air_is_not_settled(make_world: MakeWorld) -> None:
    assert "settled" in failures(_with(make_world, _entity("high", [-3, -3, 2], body="dynamic", mass=1.0)))


def test_a_thing_that_falls_out_of_the_world_is_found(make_world: MakeWorld) -> None:
    assert "stays" in failures(_with(make_world, _entity("off", [7.6, 7.6, 0.0], body="dynamic", mass=1.0)))


def test_a_spawn_over_nothing_is_found(make_world: MakeWorld) -> None:
    assert "supported" in failures(make_world(spawns=[{"position": [7.5, -7.5, 0]}], goals=[]))


@pytest.mark.parametrize(
    ("position", "check"), [([0, 0, 4], "goals_on_ground"), ([7.4, 0, 0], "goals_on_ground"), ([0, 0, 40], "inside")]
)
def test_a_goal_that_is_not_on_the_ground_is_found(make_world: MakeWorld, position: list[float], check: str) -> None:
    assert check in failures(make_world(goals=[{"name": "g", "position": position}]))


def test_a_goal_behind_walls_cannot_be_reached(make_world: MakeWorld) -> None:
    pen = [
        {
            "name": "pen",
            "label": "wall",
            "position": [-4, -4, 1],
            "parts": [
                {"geometry": {"shape": "box", "size": size}, "position": at, "material": "wall"}
                for size, at in (
                    ([3, 0.2, 2], [0, 1.5, 0]),
                    ([3, 0.2, 2], [0, -1.5, 0]),
                    ([0.2, 3, 2], [1.5, 0, 0]),
                    ([0.2, 3, 2], [-1.5, 0, 0]),
                )
            ],
        }
    ]
    assert failures(_with(make_world, *pen, goals=[{"name": "g", "position": [-4, -4, 0], "radius": 0.3}])) == {"reachable"}
