"""Framed pictures on the walls."""

from __future__ import annotations

import math

import numpy as np

from worldwright.world.generators.draft import box, cylinder, turn
from worldwright.world.generators.rooms.house import LAYER, YAW, House, Room


def pictures(house: House, room: Room) -> None:
    """Framed pictures where the wall is free at the height of the eyes."""
    rng = house.rng
    for side in [str(s) for s in rng.permutation(list("nsew"))][:3]:
        wide, tall = float(rng.uniform(0.5, 1.0)), float(rng.uniform(0.45, 0.7))
        span = room.length(side) / 2 - LAYER - wide / 2 - 0.3
        for shift in [float(s) for s in rng.permutation(np.linspace(-span, span, 7))]:
            blocked = any(abs(o.middle - shift) < (o.width + wide) / 2 + 0.55 for o in room.openings[side])
            blocked = blocked or any(a - wide / 2 - 0.15 < shift < b + wide / 2 + 0.15 for a, b in room.hung[side] if b > a)
            if blocked:
                continue
            sky, land = rng.choice(["book_blue", "book_cream", "paint_ochre"]), rng.choice(["book_green", "book_red", "book_ochre"])
            low = tall * float(rng.uniform(0.3, 0.5))
            parts = [
                box("wood_dark", (wide + 0.08, 0.03, tall + 0.08), (0, -0.012, 0), collide=False),
                box("linen", (wide, 0.03, tall), (0, -0.016, 0), collide=False),
                box(str(sky), (wide - 0.12, 0.03, tall - 0.12), (0, -0.02, 0), collide=False),
                box(str(land), (wide - 0.12, 0.03, low), (0, -0.024, -(tall - 0.12 - low) / 2), collide=False),
                cylinder("book_ochre", 0.05, 0.03, (wide * 0.18, -0.0245, tall * 0.2), turn("x", math.pi / 2), collide=False),
            ]
            x, y = room.on_wall(side, shift, LAYER)
            house.draft.add("picture", "picture", parts, (x, y, round(float(rng.uniform(1.5, 1.65)), 3)), YAW[side])
            room.hung[side].append((shift - wide / 2, shift + wide / 2))
            break
