"""What stands in a room: lamp, rugs, tables, and pieces with their backs to the walls."""

from __future__ import annotations

import math

import numpy as np

from worldwright.world.generators.draft import box, cylinder, sphere
from worldwright.world.generators.place import Rect
from worldwright.world.generators.rooms import furniture as f
from worldwright.world.generators.rooms.house import HEIGHT, LAYER, STEP, YAW, House, Room
from worldwright.world.generators.rooms.pictures import pictures


def furnish(house: House, room: Room) -> None:
    """Everything in a room, as full as the parameters want it."""
    fullness = house.params.furniture
    _pendant(house, room)
    if fullness > 0:
        _in_the_middle(house, room)
        count = max(1, round(len(room.kind.along) * (0.35 + 0.65 * fullness)))
        for maker in room.kind.along[:count]:
            _along_a_wall(house, room, maker(house.rng))
        for maker in room.kind.loose[: round(len(room.kind.loose) * (0.3 + 0.7 * fullness))]:
            piece = maker(house.rng)
            place = room.site.find(house.rng, max(piece.width, piece.depth) / 2 + 0.06)
            if place is not None:
                yaw = float(house.rng.uniform(-0.1, 0.1)) + math.pi / 2 * int(house.rng.integers(4))
                _loose(house, piece, place[0], place[1], piece.middle, yaw)
    pictures(house, room)


def _pendant(house: House, room: Room) -> None:
    x, y = room.middle
    drop = 0.62
    z = HEIGHT - drop
    parts = [
        cylinder("black", 0.008, drop, (0, 0, HEIGHT - drop / 2 + 0.02), collide=False),
        cylinder("brass", 0.05, 0.03, (0, 0, HEIGHT - 0.01), collide=False),
    ]
    style = int(house.rng.integers(3))
    if style == 0:
        parts.append(sphere("shade", 0.17, (0, 0, z)))
    elif style == 1:
        parts += [
            cylinder("shade", 0.24, 0.2, (0, 0, z)),
            cylinder("brass", 0.245, 0.03, (0, 0, z + 0.11)),
        ]
    else:
        parts += [sphere("shade", 0.11, (0.2 * math.cos(a), 0.2 * math.sin(a), z)) for a in (0.5, 2.6, 4.7)]
        parts.append(cylinder("brass", 0.22, 0.02, (0, 0, z + 0.1)))
    house.draft.add("pendant_lamp", "lamp", parts, (x, y, 0))
    if house.params.lamps > 0:
        house.draft.lamp("ceiling", (x, y, z - 0.28), "#ffe6c4", 6.5 * house.params.lamps, 8.0, shadow=room is house.rooms[0])


def _rug(house: House, paint: str, x: float, y: float, wide: float, deep: float) -> None:
    parts = [
        box("rug_edge", (wide, deep, 0.02), (0, 0, -0.005), collide=False),
        box(paint, (wide - 0.24, deep - 0.24, 0.02), (0, 0, -0.001), collide=False),
    ]
    house.draft.add("rug", "rug", parts, (x, y, 0))


def _in_the_middle(house: House, room: Room) -> None:
    x, y = room.middle
    for thing in room.kind.middle:
        if thing.startswith("rug"):
            _rug(house, thing, x, y, 2.6, 1.9)
            continue
        piece = f.dining_table(house.rng) if thing == "dining_table" else f.coffee_table(house.rng)
        for dx, dy in ((0, 0), (0.3, 0), (-0.3, 0), (0, 0.3), (0, -0.3), (0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)):
            if room.site.take(Rect.around(x + dx, y + dy, piece.width / 2, piece.depth / 2)):
                _stand(house, piece, x + dx, y + dy, 0.0)
                break


def _along_a_wall(house: House, room: Room, piece: f.Piece) -> None:
    """Put a piece with its back to a wall, where there is room for it and for somebody before it."""
    for side in [str(s) for s in house.rng.permutation(list("nsew"))]:
        span = room.length(side) / 2 - LAYER - 0.03 - piece.width / 2
        if span < 0:
            continue
        for shift in [float(s) for s in house.rng.permutation(np.linspace(-span, span, 13))]:
            if piece.tall and any(
                abs(o.middle - shift) < (o.width + piece.width) / 2 + 0.45 for o in room.openings[side] if o.low > 0
            ):
                continue
            near, far = room.on_wall(side, shift, LAYER + 0.025), room.on_wall(side, shift, LAYER + 0.025 + piece.depth)
            dx, dy = (piece.width / 2, 0.0) if side in "ns" else (0.0, piece.width / 2)
            rect = Rect(min(near[0], far[0]) - dx, min(near[1], far[1]) - dy, max(near[0], far[0]) + dx, max(near[1], far[1]) + dy)
            ox, oy = -STEP[side][0] * 0.5, -STEP[side][1] * 0.5
            before = Rect(
                min(rect.x0, rect.x0 + ox), min(rect.y0, rect.y0 + oy), max(rect.x1, rect.x1 + ox), max(rect.y1, rect.y1 + oy)
            )
            if not room.site.free(before.grown(-0.001)):
                continue
            room.site.taken.append(rect)
            room.hung[side].append((shift - piece.width / 2, shift + piece.width / 2) if piece.tall else (shift, shift))
            _stand(house, piece, *near, YAW[side])
            return


def _stand(house: House, piece: f.Piece, x: float, y: float, yaw: float) -> None:
    house.draft.add(piece.label, piece.label, piece.parts, (x, y, 0), yaw)
    c, s = math.cos(yaw), math.sin(yaw)
    if piece.light is not None and house.params.lamps > 0:
        lx, ly, lz = piece.light
        house.draft.lamp(piece.label, (x + c * lx - s * ly, y + s * lx + c * ly, lz), "#ffcf94", 1.8 * house.params.lamps, 5.0)
    for loose, lx, ly, lz, turned in piece.extras:
        _loose(house, loose, x + c * lx - s * ly, y + s * lx + c * ly, lz, yaw + turned)


def _loose(house: House, piece: f.Piece, x: float, y: float, z: float, yaw: float) -> None:
    house.draft.add(
        piece.label, piece.label, piece.parts, (x, y, z), yaw, body="dynamic", mass=piece.mass, friction=0.5, pushable=True
    )
