"""A walled yard of physics that reacts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators.draft import Draft, box, colour, cylinder, material, sphere, turn, wedge
from worldwright.world.spec import Bounds, Goal, Hinge, Light, Shuttle, Sky, Spawn, Strict, Sun, World

PITCH = 5.6
"""Metres from the middle of one station to the next."""
FLOOR = 0.0


class Playground(Strict):
    """Parameters of ``playground``."""

    bodies: Annotated[int, Field(ge=1, le=400)] = 64
    """Things that move, exactly."""
    machines: bool = True
    """Seesaws, swinging doors, pendulums and shuttles; without them only blocks, dominoes, pins and balls."""
    launch: Annotated[float, Field(ge=0, le=6)] = 1.8
    """Speed of the balls at the start, m/s."""


@dataclass
class _Yard:
    draft: Draft
    rng: np.random.Generator
    params: Playground


def playground(params: Playground, seed: int) -> World:
    """Stations on a grid in a walled yard, in an order that the seed shuffles. The spawn's place and the lanes stay free."""
    rng = np.random.default_rng([seed, 3])
    yard = _Yard(Draft(), rng, params)
    _paint(yard)
    plan = _plan(params, rng)
    columns = max(4, math.ceil((len(plan) + 1) / 3))
    places = [(c, r) for c in range(columns) for r in range(3) if (c, r) != (0, 1)]
    order = rng.permutation(len(places))[: len(plan)]
    size_x, size_y = columns * PITCH + 1.6, 3 * PITCH + 1.6

    def middle(c: int, r: int) -> tuple[float, float]:
        return ((c - (columns - 1) / 2) * PITCH, (r - 1) * PITCH)

    _grounds(yard, size_x, size_y)
    goals: list[Goal] = []
    for k, (station, count) in zip(order, plan, strict=True):
        x, y = middle(*places[k])
        station(yard, x, y, count)
        goals.append(
            Goal(
                name=f"{station.__name__.strip('_')}_{len(goals) + 1}",
                position=(round(x - PITCH / 2, 3), round(y, 3), FLOOR),
                radius=0.6,
            )
        )
    sx, sy = middle(0, 1)
    sun = Sun(
        azimuth_deg=float(rng.integers(200, 320)),
        elevation_deg=float(rng.integers(34, 58)),
        colour=colour("#fff1d8"),
        intensity=3.4,
    )
    return World(
        name=f"playground_{seed}",
        description="A walled yard with stacks, dominoes, seesaws, balls, doors and moving platforms.",
        bounds=Bounds(min=(-size_x / 2 - 2, -size_y / 2 - 2, -1.5), max=(size_x / 2 + 2, size_y / 2 + 2, 12.0)),
        materials=yard.draft.used_materials(),
        entities=yard.draft.entities,
        light=Light(sun=sun, sky=Sky(), lamps=yard.draft.lamps),
        spawns=[Spawn(name="start", position=(round(sx, 3), round(sy, 3), FLOOR), yaw=0.0)],
        goals=goals[:12],
    )


Station = Callable[[_Yard, float, float, int], None]


def _plan(params: Playground, rng: np.random.Generator) -> list[tuple[Station, int]]:
    """Which stations, with how many bodies each: machines while they are few, then blocks, dominoes, pins and balls."""
    left = params.bodies
    plan: list[tuple[Station, int]] = []
    if params.machines:
        machines: list[tuple[Station, int]] = [(_seesaw, 1), (_doors, 2), (_ferry, 1), (_pendulum, 1), (_lift, 1)]
        for station, count in machines:
            if left >= count + 6:
                plan.append((station, count))
                left -= count
    kinds: list[tuple[Station, int]] = [(_pyramid, 14), (_dominoes, 16), (_balls, 6), (_pins, 11), (_tower, 10)]
    k = 0
    while left > 0:
        station, most = kinds[k % len(kinds)]
        count = min(left, most)
        plan.append((station, count))
        left -= count
        k += 1
    return plan


def _paint(yard: _Yard) -> None:
    yard.draft.paint(
        paving=material("#b9b1a2", "tile", "#8d867a", 1.6, roughness=0.85, seed=1),
        brick=material("#a8553d", "brick", "#b8ab98", 1.2, roughness=0.85, seed=2),
        coping=material("#cfc6b4", "concrete", "#a79f90", 2.0, roughness=0.8, seed=3),
        red=material("#d1493f", "wood", "#a5322b", 1.0, roughness=0.5, seed=4),
        yellow=material("#e8b23a", "wood", "#bf8a22", 1.0, roughness=0.5, seed=5),
        teal=material("#2f8f8b", "wood", "#1f6d6b", 1.0, roughness=0.5, seed=6),
        navy=material("#31456f", "wood", "#223150", 1.0, roughness=0.5, seed=7),
        cream=material("#ead9b8", "wood", "#c9b48b", 1.0, roughness=0.55, seed=8),
        steel=material("#b8bcc2", "metal", "#8c9096", 0.8, roughness=0.38, metallic=1.0, seed=9),
    )


def _grounds(yard: _Yard, size_x: float, size_y: float) -> None:
    draft = yard.draft
    draft.add("floor", "floor", [box("paving", (size_x, size_y, 0.5), (0, 0, -0.25))])
    for name, x, y, sx, sy in (
        ("wall_north", 0, size_y / 2, size_x + 0.6, 0.3),
        ("wall_south", 0, -size_y / 2, size_x + 0.6, 0.3),
        ("wall_east", size_x / 2, 0, 0.3, size_y),
        ("wall_west", -size_x / 2, 0, 0.3, size_y),
    ):
        draft.add(
            name,
            "wall",
            [box("brick", (sx, sy, 1.8), (0, 0, 0.6)), box("coping", (sx + 0.12, sy + 0.12, 0.12), (0, 0, 1.54))],
            (x, y, 0),
        )


COLOURS = ("red", "yellow", "teal", "navy", "cream")


def _pyramid(yard: _Yard, x: float, y: float, count: int) -> None:
    size = 0.4
    base = 1
    while base * (base + 1) // 2 < count:
        base += 1
    row, k, made = 0, 0, 0
    while made < count:
        px = x + (k - (base - row - 1) / 2) * (size + 0.03)
        paint = COLOURS[(row + k) % len(COLOURS)]
        yard.draft.add(
            "block",
            "block",
            [box(paint, (size, size, size))],
            (px, y, FLOOR + size * (row + 0.5)),
            body="dynamic",
            mass=6.0,
            pushable=True,
        )
        made += 1
        k += 1
        if k == base - row:
            row, k = row + 1, 0


def _tower(yard: _Yard, x: float, y: float, count: int) -> None:
    length, thick = 0.66, 0.2
    for k in range(count):
        layer, side = divmod(k, 2)
        offset = (side - 0.5) * 0.44
        at = (x + offset, y) if layer % 2 else (x, y + offset)
        size = (thick, length, thick) if layer % 2 else (length, thick, thick)
        yard.draft.add(
            "plank",
            "block",
            [box(COLOURS[layer % 5], size)],
            (*at, FLOOR + thick * (layer + 0.5)),
            body="dynamic",
            mass=4.0,
            pushable=True,
        )


def _dominoes(yard: _Yard, x: float, y: float, count: int) -> None:
    for k in range(count):
        t = -0.85 + 1.7 * k / max(1, count - 1)
        px, py = x + 2.0 * math.sin(1.5 * t), y + 2.0 * t
        yaw = math.atan2(1.0, 1.5 * math.cos(1.5 * t))
        yard.draft.add(
            "domino",
            "domino",
            [box(COLOURS[k % 5], (0.09, 0.36, 0.7))],
            (px, py, FLOOR + 0.35),
            yaw,
            body="dynamic",
            mass=2.5,
            friction=0.4,
            pushable=True,
        )


def _balls(yard: _Yard, x: float, y: float, count: int) -> None:
    for k in range(count):
        radius = (0.2, 0.26, 0.32)[k % 3]
        angle = 2 * math.pi * k / count
        at = (x + 1.3 * math.cos(angle), y + 1.3 * math.sin(angle), FLOOR + radius)
        speed = yard.params.launch
        yard.draft.add("ball", "ball", [sphere(COLOURS[k % 5], radius)], at, body="dynamic", mass=2.0, restitution=0.75, angular_damping=0.1,
            velocity=(round(-speed * math.sin(angle), 3), round(speed * math.cos(angle), 3), 0.0), pushable=True)  # fmt: skip


def _pins(yard: _Yard, x: float, y: float, count: int) -> None:
    yard.draft.add(
        "ball",
        "ball",
        [sphere("navy", 0.25)],
        (x - 2.0, y, FLOOR + 0.25),
        body="dynamic",
        mass=7.0,
        velocity=(yard.params.launch, 0, 0),
        pushable=True,
    )
    row, k = 0, 0
    for _ in range(count - 1):
        at = (x + row * 0.42, y + (k - row / 2) * 0.46, FLOOR + 0.3)
        yard.draft.add("pin", "pin", [cylinder("cream", 0.11, 0.6)], at, body="dynamic", mass=1.5, pushable=True)
        k += 1
        if k > row:
            row, k = row + 1, 0


def _seesaw(yard: _Yard, x: float, y: float, count: int) -> None:
    yard.draft.add(
        "seesaw_stand",
        "seesaw",
        [wedge("steel", (0.4, 0.3, 0.4), (-0.2, 0, 0.2)), wedge("steel", (0.4, 0.3, 0.4), (0.2, 0, 0.2), turn("z", math.pi))],
        (x, y, FLOOR),
    )
    yard.draft.add(
        "seesaw",
        "seesaw",
        [box("red", (3.4, 0.6, 0.08))],
        (x, y, 0.5),
        body="dynamic",
        mass=22.0,
        joint=Hinge(kind="hinge", anchor=(0, 0, 0.06), axis=(0, 1, 0), lower=-0.25, upper=0.25, friction=0.5),
    )


def _doors(yard: _Yard, x: float, y: float, count: int) -> None:
    posts = [box("steel", (0.12, 0.12, 2.3), (0, s * 1.06, 1.15)) for s in (-1, 1)]
    yard.draft.add("gate_frame", "door_frame", [*posts, box("steel", (0.12, 2.24, 0.12), (0, 0, 2.36))], (x, y, FLOOR))
    for side, lower, upper in ((-1, -1.6, 1.6), (1, -1.6, 1.6)):
        yard.draft.add("gate", "door", [box("teal", (0.05, 0.96, 2.1))], (x, y + side * 0.5, FLOOR + 1.1), body="dynamic", mass=14.0, pushable=True,
            joint=Hinge(kind="hinge", anchor=(0, side * 0.48, 0), lower=lower, upper=upper, friction=0.6))  # fmt: skip


def _ferry(yard: _Yard, x: float, y: float, count: int) -> None:
    for side in (-1, 1):
        yaw = 0.0 if side < 0 else math.pi
        yard.draft.add(
            "deck",
            "platform",
            [box("coping", (0.9, 1.4, 0.6), (0.35, 0, 0.3)), wedge("coping", (1.3, 1.4, 0.6), (-0.75, 0, 0.3))],
            (x, y + side * 1.7, FLOOR),
            yaw,
        )
    yard.draft.add(
        "ferry",
        "platform",
        [box("yellow", (1.2, 0.9, 0.12))],
        (x, y - 0.5, 0.54),
        body="kinematic",
        path=Shuttle(kind="shuttle", to=(round(x, 4), round(y + 0.5, 4), 0.54), period=8.0),
    )


def _lift(yard: _Yard, x: float, y: float, count: int) -> None:
    yard.draft.add(
        "deck",
        "platform",
        [box("brick", (1.8, 1.8, 1.3), (1.0, 0, 0.65)), box("coping", (1.9, 1.9, 0.1), (1.0, 0, 1.33))],
        (x, y, FLOOR),
    )
    yard.draft.add(
        "lift",
        "platform",
        [box("yellow", (1.3, 1.5, 0.12))],
        (x - 0.7, y, 0.07),
        body="kinematic",
        path=Shuttle(kind="shuttle", to=(round(x - 0.7, 4), round(y, 4), 1.32), period=9.0),
    )


def _pendulum(yard: _Yard, x: float, y: float, count: int) -> None:
    posts = [box("steel", (0.14, 0.14, 2.8), (0, s * 0.8, 1.4)) for s in (-1, 1)]
    yard.draft.add("pendulum_frame", "pendulum", [*posts, box("steel", (0.14, 1.74, 0.14), (0, 0, 2.87))], (x, y, FLOOR))
    tilt = 0.7
    centre = (x - 1.9 * math.sin(tilt), y, 2.8 - 1.9 * math.cos(tilt))
    yard.draft.add("pendulum", "pendulum", [sphere("red", 0.3), cylinder("steel", 0.03, 1.6, (0, 0, 1.05))], centre, rotation=turn("y", tilt), body="dynamic", mass=12.0, linear_damping=0.0, angular_damping=0.0,
        joint=Hinge(kind="hinge", anchor=(0, 0, 1.9), axis=(0, 1, 0)))  # fmt: skip
