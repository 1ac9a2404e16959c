"""A walled yard of physics that reacts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators import masonry, plants, props
from worldwright.world.generators.draft import Draft, box, colour, cylinder, material, moved, sphere, turn, wedge
from worldwright.world.generators.parameters import Params
from worldwright.world.spec import Bounds, Goal, Hinge, Light, Part, Shuttle, Sky, Spawn, Sun, World

PITCH = 5.4
"""Metres from the middle of one station to the next."""
FLOOR = 0.014
"""Height of the mats that stations stand on."""
DOMINOES = 16
"""In a whole run of them."""
PINS_SPEED = 1.5
"""m/s at most of the ball on the ramp at the start: it reaches the pins after the first second, in which what was put down rests."""
LAND = 16.0
"""Metres of meadow beyond the walls."""


class Playground(Params):
    """Parameters of ``playground``."""

    bodies: Annotated[int, Field(ge=1, le=400)] = 72
    """How many things move, exactly."""
    machines: bool = True
    """Seesaws, swinging doors, pendulums and shuttles; without them only blocks, dominoes, pins and balls."""
    launch: Annotated[float, Field(ge=0, le=6)] = 1.8
    """Speed of the balls at the start, m/s; of the one above the pins half of it, 0.6 to 1.5."""


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
    _around(yard, size_x, size_y)
    goals: list[Goal] = []
    for k, (station, count) in zip(order, plan, strict=True):
        x, y = middle(*places[k])
        _mat(yard, x, y, len(goals))
        station(yard, x, y, count)
        goals.append(
            Goal(
                name=f"{station.__name__.strip('_')}_{len(goals) + 1}",
                position=(round(x - PITCH / 2, 3), round(y, 3), 0.0),
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
        bounds=Bounds(min=(-size_x / 2 - LAND, -size_y / 2 - LAND, -2.0), max=(size_x / 2 + LAND, size_y / 2 + LAND, 14.0)),
        materials=yard.draft.used_materials(),
        entities=yard.draft.entities,
        light=Light(
            sun=sun, sky=Sky(zenith=colour("#4f8ae0"), horizon=colour("#c9def2"), ground=(0.2, 0.2, 0.16)), lamps=yard.draft.lamps
        ),
        spawns=[Spawn(name="start", position=(round(sx, 3), round(sy, 3), 0.0), yaw=0.0)],
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
    kinds: list[tuple[Station, int]] = [(_pyramid, 14), (_dominoes, DOMINOES), (_balls, 6), (_pins, 11), (_tower, 10)]
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
        mat_a=material("#5f9ea0", "fabric", "#4d8587", 0.5, roughness=0.95, seed=1),
        mat_b=material("#e0a458", "fabric", "#c98d43", 0.5, roughness=0.95, seed=1),
        mat_c=material("#7c9a5e", "fabric", "#69864d", 0.5, roughness=0.95, seed=1),
        mat_d=material("#c06c5a", "fabric", "#a75948", 0.5, roughness=0.95, seed=1),
        mat_edge=material("#efe6d2", roughness=0.8),
        ball_red=material("#d1493f", "checker", "#f4ead6", 0.7, roughness=0.35, seed=1),
        ball_teal=material("#2f8f8b", "checker", "#f4ead6", 0.7, roughness=0.35, seed=1),
        ball_navy=material("#31456f", "checker", "#e8b23a", 0.7, roughness=0.35, seed=1),
        grass=material("#a3bd66", "grass", "#6a8a3e", 2.2, roughness=0.95),
        leaf=material("#7fae52", "grass", "#5d8a3e", 1.1, roughness=0.9, seed=3),
        leaf_light=material("#a3c25a", "grass", "#7d9a45", 1.1, roughness=0.9, seed=3),
        fir=material("#55804c", "grass", "#3a5f36", 1.0, roughness=0.9, seed=3),
        bark=material("#93765b", "bark", "#5c4734", 0.6, roughness=0.95),
        dirt=material("#7b5a3c", "dirt", "#56402b", 1.4, roughness=1.0),
        iron=material("#3a3d42", "metal", "#26282c", 0.6, roughness=0.5, metallic=0.9),
        plank=material("#b98d58", "wood", "#7e5a30", 1.0, roughness=0.65),
        steel=material("#b8bcc2", "metal", "#8c9096", 0.8, roughness=0.38, metallic=1.0, seed=9),
    )


def _grounds(yard: _Yard, size_x: float, size_y: float) -> None:
    draft = yard.draft
    draft.add("floor", "floor", [box("paving", (size_x, size_y, 0.5), (0, 0, -0.25))], friction=0.8)
    draft.add("meadow", "ground", [box("grass", (size_x + 2 * LAND - 1, size_y + 2 * LAND - 1, 0.6), (0, 0, -0.36))], friction=0.9)
    for name, x, y, along, yaw in (
        ("wall_north", 0.0, size_y / 2, size_x, 0.0),
        ("wall_south", 0.0, -size_y / 2, size_x, 0.0),
        ("wall_east", size_x / 2, 0.0, size_y, math.pi / 2),
        ("wall_west", -size_x / 2, 0.0, size_y, math.pi / 2),
    ):
        parts = [box("brick", (along, 0.3, 1.6), (0, 0, 0.5)), *masonry.coping("coping", along, 0.3, 1.3)]
        count = max(2, round(along / 3.6))
        for k in range(count + 1):
            at = k / count * along - along / 2
            parts += [box("brick", (0.46, 0.46, 1.85), (at, 0, 0.62)), box("coping", (0.58, 0.58, 0.12), (at, 0, 1.58))]
            parts.append(sphere(COLOURS[k % 4], 0.17, (at, 0, 1.78)))
        draft.add(name, "wall", parts, (x, y, 0), yaw)


def _mat(yard: _Yard, x: float, y: float, index: int) -> None:
    paint = ("mat_a", "mat_b", "mat_c", "mat_d")[index % 4]
    parts = [cylinder("mat_edge", 2.5, 0.2, (0, 0, FLOOR - 0.104)), cylinder(paint, 2.36, 0.2, (0, 0, FLOOR - 0.1))]
    yard.draft.add("mat", "mat", parts, (x, y, 0), friction=0.9)


def _around(yard: _Yard, size_x: float, size_y: float) -> None:
    """Flags with bunting, an arch of colours by the start, benches, planters, trees on the meadow."""
    draft, rng = yard.draft, yard.rng
    ends = [(sx * (size_x / 2 - 0.5), sy * (size_y / 2 - 0.5)) for sx in (-1, 1) for sy in (-1, 1)]
    for k, (x, y) in enumerate(ends):
        flag = [
            cylinder("steel", 0.05, 5.2, (0, 0, 2.55)),
            sphere("yellow", 0.09, (0, 0, 5.2)),
            box(COLOURS[k], (0.9, 0.02, 0.55), (0.5, 0, 4.8), collide=False),
        ]
        draft.add("flag", "flag", [*flag, cylinder("coping", 0.2, 0.3, (0, 0, 0.12))], (x, y, 0), float(rng.uniform(-0.4, 0.4)))
    for name, (x0, y0), (x1, y1) in (("bunting", ends[0], ends[2]), ("bunting", ends[1], ends[3])):
        count = round(math.hypot(x1 - x0, y1 - y0) / 0.55)
        pennants = []
        for k in range(1, count):
            t = k / count
            sag = 4.3 - 1.5 * 4 * t * (1 - t)
            pennants.append(
                box(
                    COLOURS[k % 5],
                    (0.24, 0.014, 0.24),
                    ((t - 0.5) * (x1 - x0), 0, sag - 0.12),
                    turn("y", math.pi / 4),
                    collide=False,
                )
            )
        draft.add(name, "bunting", pennants, ((x0 + x1) / 2, y0, 0))
    ring: list[Part] = []
    for layer, paint in enumerate(("red", "yellow", "teal", "navy")):
        radius, pieces = 1.95 - 0.2 * layer, 22
        for k in range(pieces):
            a = math.pi * (k + 0.5) / pieces
            size = (0.2, 0.5 - 0.012 * layer, 2 * (radius + 0.1) * math.tan(math.pi / 2 / pieces) + 0.004)
            ring.append(box(paint, size, (radius * math.cos(a), 0, radius * math.sin(a) + 0.7), turn("y", -a)))
        ring += [box(paint, (0.2, 0.5 - 0.012 * layer, 0.9), (s * radius, 0, 0.3)) for s in (-1, 1)]
    draft.add("rainbow_arch", "arch", ring, (-size_x / 2 + 1.3 + PITCH * 0.86, 0, 0), math.pi / 2)
    for s in (-1, 1):
        draft.add("bench", "bench", props.bench("plank", "iron"), (-size_x / 2 + 0.75, s * 1.9, 0), math.pi / 2)
        tub = [
            box("coping", (1.1, 1.1, 0.7), (0, 0, 0.3)),
            box("dirt", (0.94, 0.94, 0.1), (0, 0, 0.63)),
            *moved(plants.bush(rng, ["leaf", "leaf_light", "fir"], 0.55), (0, 0, 0.62)),
        ]
        draft.add("planter", "plant", tub, (-size_x / 2 + 0.85, s * 3.6, 0))
    count = 18
    for k in range(count):
        a = 2 * math.pi * (k + float(rng.uniform(0.1, 0.9))) / count
        reach = float(rng.uniform(4.5, LAND - 4))
        scale = min((size_x / 2 + reach) / max(abs(math.cos(a)), 1e-6), (size_y / 2 + reach) / max(abs(math.sin(a)), 1e-6))
        tree = (
            plants.conifer(rng, "bark", ["fir", "leaf"], float(rng.uniform(4.5, 7)))
            if k % 3 == 0
            else plants.broadleaf(rng, "bark", ["leaf", "leaf_light"], float(rng.uniform(2.9, 4.2)))
        )
        draft.add("tree", "tree", tree, (scale * math.cos(a), scale * math.sin(a), -0.06))


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
    # The two ends of a whole run stand half off the mat, and tip over: kept, for what was recorded of such worlds. In a short run they would
    # be a great part of what should rest.
    reach = 0.85 if count == DOMINOES else 0.7
    for k in range(count):
        t = -reach + 2 * reach * k / max(1, count - 1)
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
        yard.draft.add("ball", "ball", [sphere(("ball_red", "ball_teal", "ball_navy")[k % 3], radius)], at, body="dynamic", mass=2.0, restitution=0.75, angular_damping=0.4,
            velocity=(round(-speed * math.sin(angle), 3), round(speed * math.cos(angle), 3), 0.0), pushable=True)  # fmt: skip


def _pins(yard: _Yard, x: float, y: float, count: int) -> None:
    """Pins, and a ball that rolls down a ramp upon them."""
    high = 0.7
    ramp = [
        box("coping", (0.9, 1.2, high), (-1.75, 0, high / 2)),
        wedge("coping", (1.7, 1.2, high), (-0.45, 0, high / 2), turn("z", math.pi)),
    ]
    ramp += [box("steel", (0.9, 0.08, 0.2), (-1.75, s * 0.57, high + 0.06)) for s in (-1, 1)]
    yard.draft.add("ramp", "ramp", ramp, (x, y, FLOOR), friction=0.8)
    yard.draft.add(
        "ball",
        "ball",
        [sphere("ball_navy", 0.25)],
        (x - 1.7, y, FLOOR + high + 0.25),
        body="dynamic",
        mass=7.0,
        velocity=(min(max(0.6, yard.params.launch / 2), PINS_SPEED), 0, 0),
        pushable=True,
    )
    row, k = 0, 0
    for _ in range(count - 1):
        at = (x + 0.75 + row * 0.36, y + (k - row / 2) * 0.4, FLOOR + 0.3)
        neck = [cylinder("cream", 0.1, 0.6), cylinder("red", 0.103, 0.06, (0, 0, 0.16), collide=False)]
        yard.draft.add("pin", "pin", neck, at, body="dynamic", mass=1.5, pushable=True)
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
        (x, y - 0.5, FLOOR + 0.54),
        body="kinematic",
        path=Shuttle(kind="shuttle", to=(round(x, 4), round(y + 0.5, 4), FLOOR + 0.54), period=8.0),
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
        (x - 0.7, y, FLOOR + 0.07),
        body="kinematic",
        path=Shuttle(kind="shuttle", to=(round(x - 0.7, 4), round(y, 4), FLOOR + 1.32), period=9.0),
    )


def _pendulum(yard: _Yard, x: float, y: float, count: int) -> None:
    posts = [box("steel", (0.14, 0.14, 2.8), (0, s * 0.8, 1.4)) for s in (-1, 1)]
    yard.draft.add("pendulum_frame", "pendulum", [*posts, box("steel", (0.14, 1.74, 0.14), (0, 0, 2.87))], (x, y, FLOOR))
    tilt = 0.7
    centre = (x - 1.9 * math.sin(tilt), y, FLOOR + 2.8 - 1.9 * math.cos(tilt))
    yard.draft.add("pendulum", "pendulum", [sphere("red", 0.3), cylinder("steel", 0.03, 1.6, (0, 0, 1.05))], centre, rotation=turn("y", tilt), body="dynamic", mass=12.0, linear_damping=0.0, angular_damping=0.0,
        joint=Hinge(kind="hinge", anchor=(0, 0, 1.9), axis=(0, 1, 0)))  # fmt: skip
