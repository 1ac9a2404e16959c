"""The market corner."""

from __future__ import annotations

import math

from worldwright.world.generators import props
from worldwright.world.generators.courtyard.court import PAD_TOP, Court
from worldwright.world.generators.draft import box
from worldwright.world.generators.place import Rect
from worldwright.world.spec import Goal


def market(court: Court) -> list[Goal]:
    """A paved corner in the south-west: a stall, barrels and crates to push."""
    draft, half, rng = court.draft, court.half, court.rng
    x0, y0 = -half + 0.9, -half + 0.9
    x1, y1 = -half + 6.6, -half + 6.0
    draft.add(
        "market_floor",
        "floor",
        [box("paving", (x1 - x0, y1 - y0, 0.3), ((x0 + x1) / 2, (y0 + y1) / 2, PAD_TOP - 0.15))],
        friction=0.9,
    )
    court.site.taken.append(Rect(-half, -half, x1 + 0.6, y1 + 0.6))
    draft.add(
        "stall",
        "stall",
        props.stall("dark_wood", ("cloth_a", "cloth_b"), ("apple", "orange", "lime")),
        (x0 + 2.0, y1 - 1.15, PAD_TOP),
        math.pi,
    )
    for k in range(3):
        radius, height = 0.31, 0.86
        draft.add("barrel", "barrel", props.barrel("frame", "hoop", radius, height), (x1 - 0.5, y1 - 0.6 - 0.9 * k, PAD_TOP + height / 2), float(rng.uniform(0, 3)),
            body="dynamic", mass=24.0, pushable=True)  # fmt: skip
    left = court.params.crates
    places = [(column, row) for row in range(3) for column in range(6 if row < 2 else 4)]
    for k, (column, row) in enumerate(places):
        size, low = float(rng.choice([0.5, 0.6, 0.7])), PAD_TOP
        x, y = x0 + 1.45 + 0.82 * column, y0 + 0.55 + 0.92 * row
        levels = 3 if left > 2 * (len(places) - k) else int(rng.integers(1, 4)) if row < 2 else 1
        for _ in range(min(levels, left)):
            twist = float(rng.uniform(-0.06, 0.06))
            mass = round(60 * size**3 + 4, 1)
            draft.add(
                "crate",
                "crate",
                props.crate("plank", "frame", size),
                (x, y, low + size / 2),
                twist,
                body="dynamic",
                mass=mass,
                pushable=True,
            )
            low, size, left = low + size, max(0.4, size - 0.1), left - 1
    return [Goal(name="market", position=(round(x1 - 1.7, 3), round(y1 - 1.8, 3), PAD_TOP))]
