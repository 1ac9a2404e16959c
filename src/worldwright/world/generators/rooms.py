"""Furnished rooms."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators.draft import Draft, box, glow, material, sphere
from worldwright.world.spec import Bounds, Goal, Hinge, Light, Spawn, Strict, World


class Rooms(Strict):
    """Parameters of ``rooms``."""

    rooms: Annotated[int, Field(ge=2, le=9)] = 5
    furniture: Annotated[float, Field(ge=0, le=1)] = 0.7
    """How full the rooms are."""
    lamps: Annotated[float, Field(ge=0, le=4)] = 1.0
    """Brightness of the lamps; 0 leaves them off."""


def rooms(params: Rooms, seed: int) -> World:
    rng = np.random.default_rng([seed, 2])
    draft = Draft()
    draft.paint(
        floor=material("#a9794a", "wood", "#6f4a28", 1.5, roughness=0.5),
        plaster=material("#e7dcc8", "plaster", "#d8cbb2", 2.0, roughness=0.9),
        wood=material("#7d5533", "wood", "#57381f", 1.0, roughness=0.5),
        shade=glow("#ffd9a0", 3.0),
    )
    w, d, n = 5.0, 5.0, params.rooms
    draft.add("floor", "floor", [box("floor", (n * w + 0.2, d + 0.2, 0.3), (n * w / 2, 0, -0.15))])
    draft.add("ceiling", "ceiling", [box("plaster", (n * w + 0.2, d + 0.2, 0.2), (n * w / 2, 0, 2.8))])
    for side in (-1, 1):
        draft.add("wall", "wall", [box("plaster", (n * w + 0.4, 0.2, 0.98), (n * w / 2, 0, 0.47)), box("plaster", (n * w + 0.4, 0.2, 0.72), (n * w / 2, 0, 2.36)),
            *[box("plaster", (2.0, 0.199, 1.1), (k * w, 0, 1.5)) for k in range(n + 1)]], (0, side * (d / 2 + 0.1), 0))  # fmt: skip
    for k in range(n + 1):
        if 0 < k < n:
            parts = [box("plaster", (0.16, d / 2 - 0.6, 2.7), (0, s * (d / 4 + 0.3), 1.35)) for s in (-1, 1)] + [
                box("plaster", (0.16, 1.2, 0.6), (0, 0, 2.4))
            ]
        else:
            parts = [box("plaster", (0.2, d, 2.7), (0, 0, 1.35))]
        draft.add("wall", "wall", parts, (k * w, 0, 0))
    draft.add(
        "door",
        "door",
        [box("wood", (0.05, 1.1, 2.04))],
        (w, 0, 1.04),
        body="dynamic",
        mass=18.0,
        pushable=True,
        joint=Hinge(kind="hinge", anchor=(0, 0.55, 0), lower=-1.5, upper=1.5, friction=0.5),
    )
    for k in range(n):
        draft.add("lamp", "lamp", [sphere("shade", 0.18, collide=False)], (k * w + 2.5, 0, 2.3))
        draft.lamp("room", (k * w + 2.5, 0, 2.0), intensity=3.0 * params.lamps)
        draft.add(
            "table",
            "table",
            [
                box("wood", (1.4, 0.8, 0.05), (0, 0, 0.725)),
                *[box("wood", (0.06, 0.06, 0.7), (x * 0.62, y * 0.32, 0.35)) for x in (-1, 1) for y in (-1, 1)],
            ],
            (k * w + 2.5, float(rng.choice([-1.4, 1.4])), 0),
        )
    return World(
        name=f"rooms_{seed}",
        bounds=Bounds(min=(-2, -d / 2 - 2, -1.5), max=(n * w + 2, d / 2 + 2, 5)),
        materials=draft.used_materials(),
        entities=draft.entities,
        light=Light(lamps=draft.lamps),
        spawns=[Spawn(position=(1.5, 0, 0))],
        goals=[Goal(name="last_room", position=(n * w - 1.5, 0, 0))],
    )
