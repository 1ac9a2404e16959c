"""Generated worlds: valid, settled, reachable, labelled, and the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from worldwright.assets.scene import build_scene
from worldwright.errors import WorldwrightError
from worldwright.verify.world import check_world
from worldwright.world.files import parse_world, save_world, world_hash
from worldwright.world.generators import FAMILIES, generate
from worldwright.world.generators.parameters import parameters_of
from worldwright.world.spec import Wedge, World

MADE = ("courtyard", "rooms", "playground")
SEEDS = range(5)
Made = Callable[[str, int], World]

every_world = pytest.mark.parametrize(("family", "seed"), [(family, seed) for family in MADE for seed in SEEDS])


@every_world
def test_no_body_starts_inside_another(space: Any, made: Made, family: str, seed: int) -> None:
    world = made(family, seed)
    solids = space.solids_of(world)
    moving = {k for k, entity in enumerate(world.entities) if entity.body != "static"}
    found = {solid.name: hits for solid in solids if solid.entity in moving and (hits := space.overlaps(solid, solids, 0.002))}
    assert not found


@every_world
def test_no_loose_body_floats(space: Any, made: Made, family: str, seed: int) -> None:
    world = made(family, seed)
    solids = space.solids_of(world)
    loose = {k for k, entity in enumerate(world.entities) if entity.body == "dynamic" and entity.joint is None}
    held = set()
    for solid in solids:
        if solid.entity in loose - held:
            lower = space.lowered(solid, 0.002)
            if space.overlaps(lower, solids, 0.0005):
                held.add(solid.entity)
    assert {world.entities[k].name for k in loose - held} == set()


@every_world
def test_a_spawn_has_a_metre_free_around_it_and_ground_below(space: Any, made: Made, family: str, seed: int) -> None:
    world = made(family, seed)
    solids = space.solids_of(world)
    for spawn in world.spawns:
        assert space.overlaps(space.box_at(spawn.position, 0.15, 1.8, 0.95), solids, 0) == [], spawn.name
        assert space.overlaps(space.box_at(spawn.position, -0.01, 0.5, 0.2), solids, 0.005), spawn.name


@every_world
def test_a_goal_is_free_and_on_ground(space: Any, made: Made, family: str, seed: int) -> None:
    world = made(family, seed)
    solids = space.solids_of(world)
    assert len(world.goals) >= 3
    for goal in world.goals:
        assert space.overlaps(space.box_at(goal.position, 0.2, 1.8, 0.3), solids, 0) == [], goal.name
        assert space.overlaps(space.box_at(goal.position, -0.02, 0.5, 0.2), solids, 0.005), goal.name


@every_world
def test_bounds_hold_everything(space: Any, made: Made, family: str, seed: int) -> None:
    world = made(family, seed)
    solids = space.solids_of(world)
    assert ((solids.middles - solids.reaches).min(axis=0) >= world.bounds.min).all()
    assert ((solids.middles + solids.reaches).max(axis=0) <= world.bounds.max).all()


@pytest.mark.parametrize("family", MADE)
def test_the_same_seed_gives_the_same_world_and_another_seed_another(made: Made, family: str) -> None:
    hashes = [world_hash(made(family, seed)) for seed in SEEDS]
    assert len(set(hashes)) == len(hashes)
    assert world_hash(generate(family, 2, {})) == hashes[2]
    bodies = {tuple(e.position for e in made(family, seed).entities if e.body == "dynamic") for seed in SEEDS}
    assert len(bodies) == len(SEEDS)


@pytest.mark.parametrize("family", MADE)
def test_a_generated_world_is_the_same_after_being_written_and_read(made: Made, family: str, tmp_path: Path) -> None:
    world = made(family, 1)
    path = tmp_path / "w.yaml"
    save_world(world, path)
    assert world_hash(parse_world(path.read_text(), "w.yaml")) == world_hash(world)
    assert path.stat().st_size < 1_500_000


LABELS = {
    "courtyard": {"ground", "wall", "tower", "door", "stairs", "ramp", "terrace", "arch", "tree", "bush", "crate", "fountain", "bench", "lamp"},
    "rooms": {"floor", "wall", "ceiling", "door", "door_frame", "window", "lamp", "table", "chair", "sofa", "bed", "picture", "rug"},
    "playground": {"floor", "wall", "block", "domino", "ball", "pin", "seesaw", "door", "pendulum", "platform", "ramp"},
}  # fmt: skip


@every_world
def test_what_a_family_promises_is_there_and_labelled(made: Made, family: str, seed: int) -> None:
    labels = {entity.label for entity in made(family, seed).entities}
    assert LABELS[family] - labels == set()


@pytest.mark.parametrize("family", MADE)
def test_a_world_stays_cheap_to_draw(made: Made, family: str) -> None:
    world = made(family, 0)
    geometry = build_scene(world, {}, images=False)
    assert sum(len(mesh.indices) for meshes in geometry.entities.values() for mesh in meshes) < 62_000
    assert len(world.entities) < 260
    assert len(world.light.lamps) <= 32


def test_a_lamp_of_the_world_gives_light(made: Made) -> None:
    for family in ("courtyard", "rooms"):
        world = made(family, 0)
        assert len(world.light.lamps) >= sum(entity.label == "lamp" for entity in world.entities)


@pytest.mark.parametrize("bodies", [1, 7, 50, 120])
def test_a_playground_has_exactly_as_many_bodies_as_asked_for(bodies: int) -> None:
    world = generate("playground", 4, {"bodies": bodies})
    assert sum(entity.body != "static" for entity in world.entities) == bodies


@pytest.mark.parametrize(
    ("seed", "params"),
    [
        (2, {"bodies": 25, "machines": True, "launch": 3}),  # five dominoes, the ends of the run half off their mat
        (1, {"bodies": 40, "machines": False, "launch": 6}),  # the ball comes down upon the pins
        (2, {"bodies": 150, "machines": True, "launch": 6}),
    ],
)
def test_a_generated_playground_fails_its_own_check(seed: int, params: dict[str, Any]) -> None:
    found = check_world(generate("playground", seed, params), {})
    assert [check.message for check in found if not check.passed and not check.skipped] == []


def test_a_playground_without_machines_has_no_joints() -> None:
    world = generate("playground", 4, {"machines": False})
    assert all(entity.joint is None and entity.path is None for entity in world.entities)


@pytest.mark.parametrize("count", [2, 5, 9])
def test_every_room_can_be_reached_through_doorways(space: Any, count: int) -> None:
    """Joins the free cells of the plan, 15 cm wide: doorways are open, walls are not."""
    step = 0.15
    for seed in range(2):
        world = generate("rooms", seed, {"rooms": count, "furniture": 0.0})
        low, high = np.array(world.bounds.min[:2]), np.array(world.bounds.max[:2])
        free = np.ones(np.ceil((high - low) / step).astype(int), bool)
        for s in space.solids_of(world):
            entity = world.entities[s.entity]
            if entity.body == "static" and entity.label in {"wall", "door_frame"} and abs(s.middle[2] - 1.0) < s.reach[2]:
                a, b = (
                    np.floor(((s.middle - s.reach)[:2] - low) / step).astype(int),
                    np.floor(((s.middle + s.reach)[:2] - low) / step).astype(int),
                )
                free[a[0] : b[0] + 1, a[1] : b[1] + 1] = False
        joined, _ = ndimage.label(free)
        places = [world.spawns[0].position, *(goal.position for goal in world.goals)]
        numbers = {int(joined[tuple(np.floor((np.array(p[:2]) - low) / step).astype(int))]) for p in places}
        assert len(world.goals) == count
        assert len(numbers) == 1
        assert numbers != {0}


def test_stairs_can_be_climbed_and_the_ramp_walked(made: Made) -> None:
    world = made("courtyard", 0)
    stairs = next(entity for entity in world.entities if entity.label == "stairs")
    tops = sorted({round(part.position[2] + part.geometry.size[2] / 2, 3) for part in stairs.parts if part.material == "wall"})  # type: ignore[union-attr]
    assert len(tops) >= 4
    assert max(np.diff([0.0, *tops])) <= 0.25
    ramp = next(entity for entity in world.entities if entity.label == "ramp")
    slopes = [np.degrees(np.arctan2(p.geometry.size[2], p.geometry.size[0])) for p in ramp.parts if isinstance(p.geometry, Wedge)]
    assert max(slopes) < 35


def test_doors_of_a_flat_turn_and_swing_both_ways(made: Made) -> None:
    doors = [entity for seed in SEEDS for entity in made("rooms", seed).entities if entity.label == "door"]
    assert doors
    for door in doors:
        assert door.joint is not None
        assert door.joint.lower < 0 < door.joint.upper


@pytest.mark.parametrize(
    ("family", "seed", "params", "told"),
    [
        ("courtyart", 1, {}, "courtyard"),
        ("courtyard", -1, {}, "seed -1"),
        ("courtyard", 1, {"tree": 3}, "trees"),
        ("courtyard", 1, {"trees": 1000}, "trees = 1000"),
        ("playground", 1, {"bodies": 0}, "bodies = 0"),
        ("rooms", 1, {"rooms": "many"}, "rooms = 'many'"),
        ("courtyard", 1, {"roughness": float("nan")}, "roughness = nan"),
    ],
)
def test_a_wrong_request_is_told_in_one_line(family: str, seed: int, params: dict[str, object], told: str) -> None:
    with pytest.raises(WorldwrightError) as caught:
        generate(family, seed, params)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_extreme_parameters_give_valid_worlds(space: Any) -> None:
    for family, params in (
        ("courtyard", {"size": 24, "trees": 24, "crates": 40, "roughness": 1}),
        ("courtyard", {"size": 44, "trees": 0, "crates": 0, "roughness": 0}),
        ("rooms", {"rooms": 9, "furniture": 1.0, "lamps": 4}),
        ("rooms", {"rooms": 2, "furniture": 0.0, "lamps": 0}),
    ):
        world = generate(family, 5, params)
        solids = space.solids_of(world)
        loose = {k for k, entity in enumerate(world.entities) if entity.body == "dynamic"}
        assert not [s.name for s in solids if s.entity in loose and space.overlaps(s, solids, 0.002)]


def test_families_say_what_they_make() -> None:
    assert all(family.description and family.params.model_fields for family in FAMILIES.values())


def test_a_parameter_is_listed_without_its_range_or_meaning() -> None:
    listed = {(family.name, p.name): p for family in FAMILIES.values() for p in parameters_of(family.params)}
    assert all(p.values and p.default and p.meaning.endswith(".") for p in listed.values())
    bodies = listed["playground", "bodies"]
    assert (bodies.values, bodies.default, bodies.meaning) == ("1 to 400, whole", "72", "How many things move, exactly.")
    assert (listed["playground", "machines"].values, listed["playground", "machines"].default) == ("true or false", "true")
    assert listed["dungeon", "character"].values.startswith("Knight, Barbarian")
    page = (Path(__file__).parents[2] / "docs" / "worlds.md").read_text()
    assert [name for family, name in listed if f"`{name}`" not in page.partition("## Written by hand")[0]] == []
