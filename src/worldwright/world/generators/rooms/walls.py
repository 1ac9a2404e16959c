"""What stands: the shell of each room, and the house's skin of brick."""

from __future__ import annotations

import math
from collections.abc import Sequence

from worldwright.world.generators.draft import box, moved, r3
from worldwright.world.generators.masonry import Opening, panel
from worldwright.world.generators.rooms.house import GROUND, HEIGHT, LAYER, House, Room
from worldwright.world.spec import Part


def _wall(paint: str, length: float, high: float, openings: Sequence[Opening], low: float) -> list[Part]:
    return panel(paint, length, high, LAYER, openings, low=low)


def shell(house: House, room: Room) -> None:
    """Floor, four walls with skirting, ceiling and its lamp."""
    draft, rect = house.draft, room.rect
    wide, deep = rect.x1 - rect.x0, rect.y1 - rect.y0
    x, y = room.middle
    draft.add(
        f"floor_{room.kind.name}", "floor", [box(room.kind.floor, (wide, deep, 0.25), (0, 0, -0.125))], (x, y, 0), friction=0.8
    )
    parts: list[Part] = []
    for side in "nsew":
        length = room.length(side) - (0 if side in "ns" else 2 * LAYER)
        yaw = 0.0 if side in "ns" else math.pi / 2
        px, py = room.on_wall(side, 0, LAYER / 2)
        wall = _wall(room.kind.wall, length, HEIGHT + 0.05, room.openings[side], -0.1)
        inside = {"n": -1, "s": 1, "e": 1, "w": -1}[side] * (LAYER / 2 + 0.006)
        doors = [o for o in room.openings[side] if o.low == 0]
        wall += [
            part.model_copy(update={"collide": False})
            for part in panel(
                "trim", length - 0.002, 0.11, 0.018, [Opening(o.middle, o.width + 0.18, 0, 0.2) for o in doors], inside, low=-0.02
            )
        ]
        parts += moved(wall, (px - x, py - y, 0), yaw)
    draft.add(f"walls_{room.kind.name}", "wall", parts, (x, y, 0))
    draft.add(f"ceiling_{room.kind.name}", "ceiling", [box("ceiling", (wide, deep, 0.2), (0, 0, HEIGHT + 0.1))], (x, y, 0))


def facade(house: House) -> None:
    """The outer skin of brick, a parapet, and posts at the corners of all rooms."""
    draft = house.draft
    parts: list[Part] = []
    corners: set[tuple[float, float]] = set()
    high = HEIGHT + 0.42
    for room in house.rooms:
        r = room.rect
        corners |= {(r.x0, r.y0), (r.x1, r.y0), (r.x0, r.y1), (r.x1, r.y1)}
        for side in "nsew":
            if house.beside(room, side) is not None:
                continue
            px, py = room.on_wall(side, 0, -LAYER / 2)
            yaw = 0.0 if side in "ns" else math.pi / 2
            skin = _wall("brick", room.length(side), high, room.openings[side], GROUND - 0.3)
            skin += [
                box("cap", (room.length(side) + 0.2, 0.26, 0.08), (0, 0, high + 0.02)),
                *[
                    box("cap", (o.width + 0.3, LAYER + 0.05, 0.16), (0, 0, o.high + 0.09)).model_copy(
                        update={"position": r3((o.middle, 0, o.high + 0.13))}
                    )
                    for o in room.openings[side]
                ],
            ]
            parts += moved(skin, (px, py, 0), yaw)
    draft.add("facade", "wall", parts)
    posts: list[Part] = []
    for x, y in sorted(corners):
        posts.append(box("trim", (2 * LAYER + 0.03, 2 * LAYER + 0.03, high + 0.4), (x, y, high / 2 - 0.22)))
        posts.append(box("cap", (0.34, 0.34, 0.1), (x, y, high + 0.03)))
    draft.add("posts", "wall", posts)
