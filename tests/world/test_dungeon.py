"""The dungeon is a level that can be walked, from the real pack's parts."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from worldwright.controls import KEY_BITS, Control
from worldwright.engine.registry import make_engine
from worldwright.errors import WorldwrightError
from worldwright.world.files import world_hash
from worldwright.world.generators import generate
from worldwright.world.spec import GltfModel, World


@pytest.fixture(scope="module")
def packs() -> dict[str, Path]:
    shared = Path(os.environ.get("WORLDWRIGHT_SHARED", Path(__file__).parents[3] / "shared")) / "assets"
    found = {"dungeon": shared / "kaykit-dungeon", "adventurers": shared / "kaykit-adventurers"}
    if not all(path.is_dir() for path in found.values()):
        pytest.skip(f"the KayKit packs are not in {shared}: set WORLDWRIGHT_SHARED")
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_level_has_all_that_a_level_needs(seed: int) -> None:
    world = generate("dungeon", seed, {})
    pieces = [p.geometry.path for e in world.entities for p in e.parts if isinstance(p.geometry, GltfModel)]
    assert len(pieces) >= 60
    labels = Counter(e.label for e in world.entities)
    assert {"wall", "floor", "stairs", "torch", "banner", "pillar", "chest", "table", "barrel", "ground"} <= set(labels)
    assert labels["torch"] >= 6
    assert sum(e.body == "dynamic" for e in world.entities) >= 8
    assert 6 <= len(world.light.lamps) <= 64
    assert world.packs["dungeon"].licence == "CC0-1.0"


def test_same_seed_same_level_other_seed_another() -> None:
    hashes = [world_hash(generate("dungeon", seed, {})) for seed in (1, 1, 2, 3)]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_an_unknown_character_is_refused() -> None:
    with pytest.raises(WorldwrightError, match="character"):
        generate("dungeon", 1, {"character": "Wizard"})


def test_every_part_is_in_the_pack(packs: dict[str, Path]) -> None:
    for seed in range(12):
        for entity in generate("dungeon", seed, {}).entities:
            for part in entity.parts:
                if isinstance(part.geometry, GltfModel):
                    assert (packs["dungeon"] / part.geometry.path).is_file(), part.geometry.path


def _spawned(world: World, x: float, y: float, yaw: float) -> World:
    spawn = world.spawns[0].model_copy(update={"position": (x, y, 0.05), "yaw": yaw})
    return world.model_copy(update={"spawns": [spawn, *world.spawns[1:]]})


@pytest.mark.parametrize("seed", [1, 2])
def test_loose_things_lie_still_from_the_first_tick(seed: int, packs: dict[str, Path]) -> None:
    engine = make_engine("panda")
    engine.load(generate("dungeon", seed, {"character": "humanoid"}), packs)
    before = engine.state().positions.copy()
    for _ in range(120):
        engine.tick(Control())
    assert np.linalg.norm(engine.state().positions - before, axis=1).max() < 0.01
    engine.close()


def test_one_walks_through_the_corridor_and_up_the_stairs(packs: dict[str, Path]) -> None:
    world = _spawned(generate("dungeon", 1, {"character": "humanoid"}), 9.5, 5.2, 0.0)
    engine = make_engine("panda")
    engine.load(world, packs)
    for _ in range(240 * 6):
        engine.tick(Control(keys=KEY_BITS["forward"] | KEY_BITS["run"]))
    state = engine.state()
    x, _, z = state.characters[0].position
    assert x > 22.0
    assert z == pytest.approx((2.0 + 0.05) * 0.65, abs=0.02)
    engine.close()
