"""The world in which adapters are tried: few shapes at known places, nothing symmetric, so that a mirrored or a turned one shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.engine.puppets import Puppet
from worldwright.render.protocol import Scenery
from worldwright.take.model import CharacterInstant, Instant
from worldwright.world.spec import World

F64 = NDArray[np.float64]

TICK_RATE = 240
FLOOR, WALL, BALL, BOX, PILLAR, MOVER, CARD = range(1, 8)
"""Ids of the entities."""
PLAYER = 8

WALL_X = 6.0
"""The wall's face that looks along -X is the plane x = WALL_X."""
BALL_CENTRE, BALL_RADIUS = (4.0, 1.3, 1.0), 0.5
BOX_CENTRE = (3.0, -0.9, 0.5)
PILLAR_CENTRE = (4.5, -1.7, 0.8)
MOVER_START = (4.2, 0.1, 2.3)
CARD_CENTRE = (5.0, 2.4, 2.4)
SPAWN = (1.5, 2.0, 0.0)
SPAWN_YAW = 0.7


def _box(name: str, size: tuple[float, float, float], centre: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    part = {"geometry": {"shape": "box", "size": size}, "material": more.pop("material", "grey")}
    return {"name": name, "label": name, "position": centre, "parts": [part], **more}


def arena_world(*, glow: float | None = None) -> World:
    """The world. With ``glow`` nothing gives light but the card, which emits that radiance, white."""
    dark = {"sun": None, "sky": {"zenith": (0, 0, 0), "horizon": (0, 0, 0), "ground": (0, 0, 0)}}
    ball = {"geometry": {"shape": "sphere", "radius": BALL_RADIUS}, "material": "grey"}
    return World.model_validate(
        {
            "name": "arena",
            "bounds": {"min": (-30, -30, -5), "max": (30, 30, 20)},
            "materials": {
                "grey": {"base_colour": (0.18, 0.18, 0.18), "roughness": 1.0},
                "card": {"base_colour": (0, 0, 0), "roughness": 1.0, "emissive": (glow or 0.0,) * 3},
            },
            "entities": [
                _box("floor", (50, 50, 1), (0, 0, -0.5)),
                _box("wall", (0.2, 7, 4), (WALL_X + 0.1, 0.4, 2)),
                {"name": "ball", "label": "ball", "position": BALL_CENTRE, "parts": [ball]},
                _box("box", (0.4, 0.4, 0.4), BOX_CENTRE),
                _box("pillar", (0.3, 0.3, 1.6), PILLAR_CENTRE),
                _box("mover", (0.5, 0.4, 0.3), MOVER_START, body="dynamic", mass=5.0),
                _box("card", (0.02, 0.8, 0.6), CARD_CENTRE, material="card"),
            ],
            "light": dark if glow is not None else {"sun": {"azimuth_deg": 200, "elevation_deg": 50}},
            "spawns": [{"position": SPAWN, "yaw": SPAWN_YAW}],
        }
    )


def scenery(world: World, *, people: bool = True) -> Scenery:
    """The arena as a renderer gets it; without ``people`` nobody stands in it."""
    geometry = build_scene(world, {})
    if not people:
        geometry = SceneGeometry(geometry.entities, geometry.collision, {}, geometry.asset_hashes)
    return Scenery(world, geometry, (MOVER,), TICK_RATE)


def instant(place: Scenery, tick: float, mover: tuple[float, float, float] = MOVER_START) -> Instant:
    """The arena at a tick, the mover upright at a place, the player at its spawn in its idle pose."""
    people = tuple(
        CharacterInstant(id, np.array(SPAWN), SPAWN_YAW, 0.0, np.zeros(3), 0, "idle", 0.0, FLOOR, Puppet(model).pose().bones)
        for id, model in place.geometry.characters.items()
    )
    still = np.zeros((1, 3))
    return Instant(tick, np.array([mover]), np.array([[1.0, 0.0, 0.0, 0.0]]), still, still, people, np.zeros((0, 2), np.int32), {})
