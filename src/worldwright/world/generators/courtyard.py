"""A walled courtyard outdoors."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators.draft import Draft, box, cylinder, material, sphere, wedge
from worldwright.world.spec import Bounds, Goal, Heightfield, Light, Part, Spawn, Strict, World


class Courtyard(Strict):
    """Parameters of ``courtyard``."""

    size: Annotated[float, Field(ge=20, le=48)] = 28.0
    """Metres along each side."""
    trees: Annotated[int, Field(ge=0, le=24)] = 8
    crates: Annotated[int, Field(ge=0, le=40)] = 10
    roughness: Annotated[float, Field(ge=0, le=1)] = 0.5
    """How uneven the ground is: 0 is flat, 1 has mounds of half a metre."""


def courtyard(params: Courtyard, seed: int) -> World:
    rng = np.random.default_rng([seed, 1])
    draft = Draft()
    half = params.size / 2
    draft.paint(
        grass=material("#6f8f3f", "grass", "#4d6b2c", 2.0, roughness=0.95),
        stone=material("#b5a88f", "stone", "#8c8069", 2.0, roughness=0.9),
        brick=material("#a8553d", "brick", "#b8ab98", 1.2, roughness=0.85),
        bark=material("#6b4c35", "bark", "#3f2b1d", 0.8, roughness=0.95),
        leaf=material("#5c8a3a", "grass", "#39602a", 0.8, roughness=0.9),
        crate=material("#b8874f", "wood", "#7c5527", 0.8, roughness=0.7),
    )
    n = int(params.size * 2) + 1
    xs = np.linspace(-half, half, n)
    x, y = np.meshgrid(xs, xs)
    bumps = params.roughness * 0.3 * (np.sin(0.55 * x + rng.uniform(0, 6)) + np.sin(0.47 * y + rng.uniform(0, 6)))
    away = np.clip((np.hypot(x, y) - 7) / 4, 0, 1) * np.clip((half - np.maximum(abs(x), abs(y)) - 3) / 2, 0, 1)
    heights = np.round(bumps * away, 3) + 0.0
    draft.add(
        "ground",
        "ground",
        [
            Part(
                geometry=Heightfield(shape="heightfield", size=(params.size, params.size), heights=heights.tolist()),
                material="grass",
            )
        ],
    )
    for name, px, py, sx, sy in (
        ("wall_n", 0, half, 2 * half, 0.5),
        ("wall_s", 0, -half, 2 * half, 0.5),
        ("wall_e", half, 0, 0.5, 2 * half - 0.5),
        ("wall_w", -half, 0, 0.5, 2 * half - 0.5),
    ):
        draft.add(
            name,
            "wall",
            [box("brick", (sx, sy, 3.6), (0, 0, 1.3)), box("stone", (sx + 0.2, sy + 0.2, 0.16), (0, 0, 3.14))],
            (px, py, 0),
        )
    draft.add(
        "stairs",
        "stairs",
        [box("stone", (0.35, 3, 0.2 * (k + 1) + 0.3), (k * 0.35, 0, 0.1 * (k + 1) - 0.15)) for k in range(5)],
        (half - 6.5, 4, 0),
    )
    draft.add("terrace", "terrace", [box("stone", (4.2, 6, 1.5), (0, 0, 0.25))], (half - 2.64, 4, 0))
    draft.add("ramp", "ramp", [wedge("stone", (3.0, 2.0, 1.0), (0, 0, 0.5))], (half - 3.5, -1.0, 0), math.pi / 2)
    for _ in range(params.trees):
        a, d = rng.uniform(0, 2 * math.pi), rng.uniform(8, half - 4)
        h = rng.uniform(2.2, 3.2)
        parts = [cylinder("bark", 0.18, h + 0.4, (0, 0, h / 2 - 0.2))] + [
            sphere("leaf", rng.uniform(0.7, 1.2), (*rng.uniform(-0.7, 0.7, 2), h + rng.uniform(-0.2, 0.8)), collide=False)
            for _ in range(5)
        ]
        draft.add("tree", "tree", parts, (-abs(d * math.cos(a)), d * math.sin(a), -0.2))
    for k in range(params.crates):
        draft.add(
            "crate",
            "crate",
            [box("crate", (0.6, 0.6, 0.6))],
            (2.5 + 0.8 * (k % 4), -3.0 + 0.9 * (k // 4), 0.3),
            body="dynamic",
            mass=15.0,
            pushable=True,
        )
    return World(
        name=f"courtyard_{seed}",
        bounds=Bounds(min=(-half - 2, -half - 2, -3), max=(half + 2, half + 2, 14)),
        materials=draft.used_materials(),
        entities=draft.entities,
        light=Light(),
        spawns=[Spawn(position=(0, 0, 0))],
        goals=[Goal(name="terrace", position=(half - 2.6, 4, 1.0))],
    )
