"""What grows, within the walls and beyond."""

from __future__ import annotations

import math

import numpy as np

from worldwright.world.generators import plants
from worldwright.world.generators.courtyard.court import OUTSIDE, Court
from worldwright.world.generators.draft import box, moved
from worldwright.world.generators.place import Rect


def planting(court: Court) -> None:
    """A flower bed, trees, bushes and rocks where there is room."""
    draft, rng, site, half = court.draft, court.rng, court.site, court.half

    def at_ground(x: float, y: float) -> float:
        return round(float(court.ground(np.array(x), np.array(y))), 3)

    bed = Rect(half - 7.2, -6.4, half - 2.4, -4.6)
    if site.take(bed.grown(0.4)):
        middle = ((bed.x0 + bed.x1) / 2, (bed.y0 + bed.y1) / 2)
        ends = (bed.x1 - bed.x0, bed.y1 - bed.y0)
        low = min(at_ground(x, y) for x in (bed.x0, bed.x1) for y in (bed.y0, bed.y1))
        parts = [box("dirt", (ends[0], ends[1], 0.6), (0, 0, 0.0))]
        parts += [box("cap", (ends[0] + 0.2, 0.2, 0.7), (0, s * ends[1] / 2, 0.0)) for s in (-1, 1)]
        parts += [box("cap", (0.2, ends[1] + 0.19, 0.694), (s * ends[0] / 2, 0, 0.0)) for s in (-1, 1)]
        parts += moved(
            plants.flowers(rng, "hedge", ("white", "violet", "rose", "yolk"), ends[0] / 2 - 0.3, ends[1] / 2 - 0.3, 34),
            (0, 0, 0.29),
        )
        draft.add("flower_bed", "flowers", parts, (*middle, low + 0.05))
    for k in range(court.params.trees):
        place = site.find(rng, 1.15)
        if place is None:
            break
        z = at_ground(*place)
        kind = k % 4
        if kind == 2:
            draft.add(
                "cypress",
                "tree",
                plants.cypress(rng, "bark", ["cypress"], float(rng.uniform(4.2, 6.0))),
                (*place, z),
                float(rng.uniform(0, 6)),
            )
        elif kind == 3:
            draft.add(
                "conifer",
                "tree",
                plants.conifer(rng, "bark", ["cypress", "hedge"], float(rng.uniform(4.0, 5.6))),
                (*place, z),
                float(rng.uniform(0, 6)),
            )
        else:
            draft.add(
                "tree",
                "tree",
                plants.broadleaf(rng, "bark", court.leaves, float(rng.uniform(2.7, 3.6))),
                (*place, z),
                float(rng.uniform(0, 6)),
            )
    for k in range(9):
        place = site.find(rng, 0.75)
        if place is not None:
            blossom = ("white", "rose", "violet", None)[k % 4]
            draft.add(
                "bush",
                "bush",
                plants.bush(rng, [*court.leaves[:2], "hedge"], float(rng.uniform(0.45, 0.75)), blossom),
                (*place, at_ground(*place) - 0.03),
            )
    for _ in range(7):
        place = site.find(rng, 0.6)
        if place is not None:
            draft.add(
                "rock",
                "rock",
                plants.rock(rng, "rock", float(rng.uniform(0.25, 0.55))),
                (*place, at_ground(*place)),
                float(rng.uniform(0, 6)),
            )


def outside(court: Court) -> None:
    """Trees beyond the walls, so that the sky has an edge."""
    draft, rng = court.draft, court.rng
    count = 14
    for k in range(count):
        a = 2 * math.pi * (k + float(rng.uniform(0.1, 0.9))) / count
        d = (court.half + float(rng.uniform(5.0, 10.0))) / max(abs(math.cos(a)), abs(math.sin(a)))
        d = min(d, (court.half + OUTSIDE - 2.5) / max(abs(math.cos(a)), abs(math.sin(a))))
        x, y = round(d * math.cos(a), 3), round(d * math.sin(a), 3)
        z = round(float(court.ground(np.array(x), np.array(y))), 3)
        tree = (
            plants.conifer(rng, "bark", ["cypress", "hedge"], float(rng.uniform(5, 8)))
            if k % 2
            else plants.broadleaf(rng, "bark", court.leaves, float(rng.uniform(3.4, 5.0)))
        )
        draft.add("far_tree", "tree", tree, (x, y, z))
