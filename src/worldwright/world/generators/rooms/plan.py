"""Which rooms there are, and where one starts and goes to."""

from __future__ import annotations

import math

import numpy as np

from worldwright.world.generators.draft import Triple, r3
from worldwright.world.generators.place import Rect, Site
from worldwright.world.generators.rooms.house import LAYER, House, Room
from worldwright.world.generators.rooms.kinds import BATH, BEDROOM, DINING, KITCHEN, LIBRARY, LIVING, PLAY, STORE, STUDY


def plan(house: House) -> None:
    """Which rooms there are, where, and how large."""
    rng, count = house.rng, house.params.rooms
    down = 2 if count <= 6 else 3
    across = math.ceil(count / down)
    xs = np.concatenate([[0.0], np.cumsum(np.round(rng.uniform(4.8, 6.2, across), 1))])
    ys = np.concatenate([[0.0], np.cumsum(np.round(rng.uniform(4.6, 5.8, down), 1))])
    xs, ys = xs - round(xs[-1] / 2, 1), ys - round(ys[-1] / 2, 1)
    others = [STUDY, BATH, DINING, PLAY, LIBRARY, STORE]
    kinds = [LIVING, KITCHEN, BEDROOM, *[others[k] for k in rng.permutation(len(others))]][:count]
    cells = [(c, r if c % 2 == 0 else down - 1 - r) for c in range(across) for r in range(down)][:count]
    for kind, (c, r) in zip(kinds, cells, strict=True):
        rect = Rect(float(xs[c]), float(ys[r]), float(xs[c + 1]), float(ys[r + 1]))
        house.rooms.append(Room(kind, (c, r), rect, Site(rect.grown(-LAYER - 0.02))))


def start(room: Room) -> tuple[float, float, float]:
    """Where the player starts: a metre free, beside the room's middle, looking across it. Taken before anything is furnished."""
    x, y = room.middle
    corners = ((-1.15, -1.05), (1.15, -1.05), (-1.15, 1.05), (1.15, 1.05))
    # A doorway reaches one of the four at most, and the first room, at the house's corner, has two doorways at most.
    dx, dy = next((dx, dy) for dx, dy in corners if room.site.free(Rect.around(x + dx, y + dy, 0.4)))
    room.site.taken.append(Rect.around(x + dx, y + dy, 1.0))
    return round(x + dx, 3), round(y + dy, 3), round(math.atan2(-dy, -dx), 4)


def open_spot(room: Room) -> Triple:
    """A free place on the floor of a furnished room, near its middle."""
    x, y = room.middle
    offsets = sorted(((dx * 0.2, dy * 0.2) for dx in range(-9, 10) for dy in range(-9, 10)), key=lambda o: (math.hypot(*o), o))
    doors = {id(r) for r in room.site.taken[: sum(1 for side in "nsew" for o in room.openings[side] if o.low == 0)]}
    solid = [r for r in room.site.taken if id(r) not in doors]
    for dx, dy in offsets:
        if not any(Rect.around(x + dx, y + dy, 0.4).meets(r) for r in solid):
            return r3((x + dx, y + dy, 0))
    px, py = room.on_wall(*next((side, o.middle) for side in "nsew" for o in room.openings[side] if o.low == 0))
    return r3((px, py, 0))
