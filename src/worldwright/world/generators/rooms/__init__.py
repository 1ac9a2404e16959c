"""Furnished rooms on a grid: doorways, windows, lamps, things to push.

Each room is a shell of four walls in its own paint; where two rooms meet, their shells stand back to back and share the openings.
Posts at the corners of the grid hide the joints.
"""

from __future__ import annotations

import numpy as np

from worldwright.world.generators.draft import Draft, colour
from worldwright.world.generators.rooms.furnish import furnish
from worldwright.world.generators.rooms.garden import garden
from worldwright.world.generators.rooms.house import House, Rooms
from worldwright.world.generators.rooms.openings import doorways, windows
from worldwright.world.generators.rooms.paint import paint
from worldwright.world.generators.rooms.plan import open_spot, plan, start
from worldwright.world.generators.rooms.walls import facade, shell
from worldwright.world.spec import Bounds, Goal, Light, Sky, Spawn, Sun, World

__all__ = ["Rooms", "rooms"]


def rooms(params: Rooms, seed: int) -> World:
    """The rooms of a seed."""
    rng = np.random.default_rng([seed, 2])
    house = House(Draft(), rng, params, [])
    paint(house)
    plan(house)
    doorways(house)
    windows(house)
    first = house.rooms[0]
    spawn = start(first)
    for room in house.rooms:
        shell(house, room)
    facade(house)
    for room in house.rooms:
        furnish(house, room)
    garden(house)
    goals = [Goal(name=f"{room.kind.name}_{k + 1}", position=open_spot(room)) for k, room in enumerate(house.rooms)]
    x0, y0, x1, y1 = house.extent()
    sun = Sun(
        azimuth_deg=round(float(rng.uniform(0, 360)), 1),
        elevation_deg=round(float(rng.uniform(24, 42)), 1),
        colour=colour("#ffe2b8"),
        intensity=4.2,
    )
    return World(
        name=f"rooms_{seed}",
        description=f"A flat of {len(house.rooms)} rooms: {', '.join(room.kind.name for room in house.rooms)}.",
        bounds=Bounds(min=(x0 - 16, y0 - 16, -2.0), max=(x1 + 16, y1 + 16, 12.0)),
        materials=house.draft.used_materials(),
        entities=house.draft.entities,
        light=Light(
            sun=sun,
            sky=Sky(zenith=colour("#5f93dd"), horizon=colour("#d3e2f0"), ground=(0.2, 0.18, 0.14), intensity=0.8),
            lamps=house.draft.lamps,
            exposure=1.3,
        ),
        spawns=[Spawn(name="start", position=(spawn[0], spawn[1], 0.0), yaw=spawn[2])],
        goals=goals,
    )
