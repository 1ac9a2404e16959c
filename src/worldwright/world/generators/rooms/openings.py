"""Doorways and windows: where they are, and what they are made of."""

from __future__ import annotations

import math

from worldwright.world.generators.draft import box, cylinder, sphere, turn
from worldwright.world.generators.masonry import Opening
from worldwright.world.generators.place import Rect
from worldwright.world.generators.rooms.house import ACROSS, LAYER, YAW, House, Room
from worldwright.world.generators.rooms.kinds import BATH, KITCHEN, LIBRARY
from worldwright.world.spec import Hinge

DOOR_WIDTH, DOOR_HEIGHT = 1.2, 2.2
WINDOW_LOW, WINDOW_HIGH = 0.9, 2.2


def doorways(house: House) -> None:
    """Doorways that connect all rooms, some that make rounds, and door leaves in some of them, ajar."""
    pairs = []
    for room in house.rooms:
        for side in "ne":
            other = house.beside(room, side)
            if other is not None:
                pairs.append((room, side, other))
    order = house.rng.permutation(len(pairs))
    reached = {house.rooms[0].cell}
    chosen: list[int] = []
    while len(reached) < len(house.rooms):
        for k in order:
            room, _, other = pairs[k]
            if (room.cell in reached) != (other.cell in reached):
                reached |= {room.cell, other.cell}
                chosen.append(int(k))
                break
    chosen += [int(k) for k in order if int(k) not in chosen and house.rng.random() < 0.55]
    for index, k in enumerate(chosen):
        room, side, other = pairs[k]
        shift = round(float(house.rng.uniform(-0.22, 0.22)) * room.length(side), 2)
        hole = Opening(shift, DOOR_WIDTH, 0.0, DOOR_HEIGHT)
        room.openings[side].append(hole)
        other.openings[ACROSS[side]].append(hole)
        _doorway(house, room, side, shift, leaf=index % 2 == 0)
        x, y = room.on_wall(side, shift)
        for place in (room, other):
            half = (0.75, 1.15) if side in "ns" else (1.15, 0.75)
            place.site.taken.append(Rect.around(x, y, *half))


def _doorway(house: House, room: Room, side: str, shift: float, leaf: bool) -> None:
    x, y = room.on_wall(side, shift)
    yaw = 0.0 if side in "ns" else math.pi / 2
    edge = DOOR_WIDTH / 2 + 0.02
    parts = [box("trim", (0.14, 2 * LAYER + 0.05, DOOR_HEIGHT), (s * edge, 0, DOOR_HEIGHT / 2)) for s in (-1, 1)]
    parts += [
        box("trim", (DOOR_WIDTH + 0.22, 2 * LAYER + 0.06, 0.15), (0, 0, DOOR_HEIGHT + 0.02)),
        box("wood_dark", (DOOR_WIDTH - 0.05, 2 * LAYER + 0.02, 0.02), (0, 0, -0.004), collide=False),
    ]
    house.draft.add("door_frame", "door_frame", parts, (x, y, 0), yaw)
    if not leaf:
        return
    width, high = DOOR_WIDTH - 0.18, DOOR_HEIGHT - 0.1
    ajar = round(float(house.rng.uniform(1.15, 1.45)) * float(house.rng.choice([-1, 1])), 3)
    hinge = -width / 2
    door = [
        box("wood", (width, 0.042, high)),
        *[box("wood_dark", (width - 0.3, 0.052, h), (0, 0, z), collide=False) for h, z in ((0.74, -0.52), (0.82, 0.5))],
        *[sphere("brass", 0.028, (width / 2 - 0.08, s * 0.055, -0.05), collide=False) for s in (-1, 1)],
    ]
    turned = yaw + ajar
    foot_x = x + hinge * math.cos(yaw) + width / 2 * math.cos(turned)
    foot_y = y + hinge * math.sin(yaw) + width / 2 * math.sin(turned)
    house.draft.add("door", "door", door, (foot_x, foot_y, 0.012 + high / 2), turned, body="dynamic", mass=16.0, pushable=True, friction=0.3,
        joint=Hinge(kind="hinge", anchor=(hinge, 0.0, 0.0), axis=(0.0, 0.0, 1.0), lower=round(-1.5 - ajar, 3), upper=round(1.5 - ajar, 3), friction=0.8))  # fmt: skip


def windows(house: House) -> None:
    """Windows in the outer walls."""
    for room in house.rooms:
        outer = [side for side in "nsew" if house.beside(room, side) is None]
        for side in outer[:1] if room.kind in {KITCHEN, LIBRARY} else outer:  # those need walls for what is tall
            length = room.length(side)
            bath = room.kind is BATH
            width = 0.9 if bath else 1.5
            spots = [0.0] if length < 5.4 or bath else [-length * 0.24, length * 0.24]
            for spot in spots:
                middle = round(spot + float(house.rng.uniform(-0.15, 0.15)), 2)
                room.openings[side].append(Opening(middle, width, 1.4 if bath else WINDOW_LOW, WINDOW_HIGH))
                _window(house, room, side, room.openings[side][-1])


def _window(house: House, room: Room, side: str, hole: Opening) -> None:
    """Frame, bars and a sill; curtains inside. In its frame the outside is +Y."""
    width, tall, middle = hole.width, hole.high - hole.low, (hole.low + hole.high) / 2
    parts = [box("trim", (0.09, 2 * LAYER + 0.05, tall + 0.06), (s * width / 2, 0, middle)) for s in (-1, 1)]
    parts += [box("trim", (width + 0.16, 2 * LAYER + 0.06, 0.09), (0, 0, z)) for z in (hole.low, hole.high)]
    parts += [box("trim", (0.045, 0.06, tall), (0, 0.02, middle)), box("trim", (width, 0.05, 0.04), (0, 0.02, middle + 0.12))]
    parts.append(box("trim", (width + 0.24, 0.2, 0.035), (0, -LAYER - 0.06, hole.low + 0.03)))
    if room.kind is not BATH:
        parts.append(cylinder("brass", 0.016, width + 0.9, (0, -LAYER - 0.11, hole.high + 0.2), turn("y", math.pi / 2)))
        for s in (-1, 1):
            for k in range(4):
                x = s * (width / 2 + 0.08 + 0.085 * k)
                parts.append(
                    cylinder(
                        "curtain",
                        0.052,
                        hole.high + 0.1,
                        (x, -LAYER - 0.11 - 0.02 * (k % 2), (hole.high + 0.18) / 2 + 0.06),
                    )
                )
    x, y = room.on_wall(side, hole.middle)
    house.draft.add("window", "window", parts, (x, y, 0), YAW[side])
