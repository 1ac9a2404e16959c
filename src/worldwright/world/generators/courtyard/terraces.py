"""Two terraces in the northern corners."""

from __future__ import annotations

import math

from worldwright.world.generators import masonry, plants, props
from worldwright.world.generators.courtyard.court import WALL, Court
from worldwright.world.generators.draft import box, wedge
from worldwright.world.generators.place import Rect
from worldwright.world.spec import Goal


def terrace_by_stairs(court: Court) -> list[Goal]:
    """In the north-east, one metre high."""
    draft, half = court.draft, court.half
    x0, y0, top = half - 7.0, half - 6.6, 1.0
    x1 = y1 = half - WALL / 2
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    parts = [
        box("wall", (x1 - x0, y1 - y0, top + 0.3), (middle_x, middle_y, top / 2 - 0.2)),
        box("paving", (x1 - x0 + 0.1, y1 - y0 + 0.1, 0.12), (middle_x - 0.05, middle_y - 0.05, top - 0.06)),
    ]
    draft.add("terrace", "terrace", parts, friction=0.9)
    width, steps, going = 2.4, 5, 0.34
    draft.add(
        "stairs",
        "stairs",
        masonry.stairs("wall", "cap", width, top - 0.005, steps, going),
        (x0 - going * steps + 0.0, middle_y, 0),
        friction=0.9,
    )
    for side in (-1, 1):
        long = (y1 - y0 - width) / 2 - 0.25
        at = middle_y + side * (width / 2 + 0.15 + long / 2)
        draft.add("balustrade", "railing", masonry.balustrade("cap", long), (x0 + 0.12, at, top), math.pi / 2)
    draft.add("balustrade", "railing", masonry.balustrade("cap", x1 - x0 - 0.5), (middle_x + 0.2, y0 + 0.12, top))
    draft.add("bench", "bench", props.bench("plank", "iron"), (middle_x + 0.6, y1 - 0.9, top))
    for k, (x, y) in enumerate(((x0 + 0.7, y1 - 0.75), (x1 - 0.8, y0 + 0.9))):
        draft.add("potted_plant", "plant", plants.potted(court.rng, "clay", "dirt", court.leaves, 0.32 + 0.04 * k), (x, y, top))
    draft.add("lamp_post", "lamp", props.lamp_post("iron", "lantern"), (x1 - 0.7, y1 - 1.2, top))
    draft.lamp("post", (x1 - 0.7, y1 - 1.2, top + props.LANTERN - 0.12), intensity=2.5, reach=7.0)
    court.site.taken.append(Rect(x0 - 2.8, y0 - 0.6, half, half))
    return [Goal(name="terrace", position=(round(middle_x - 0.8, 3), round(middle_y, 3), top))]


def terrace_by_ramp(court: Court) -> list[Goal]:
    """In the north-west, 1.15 m high, under a pergola."""
    draft, half = court.draft, court.half
    x1, y0, top = -half + 6.6, half - 5.6, 1.15
    x0, y1 = -half + WALL / 2, half - WALL / 2
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    parts = [
        box("wall", (x1 - x0, y1 - y0, top + 0.3), (middle_x, middle_y, top / 2 - 0.2)),
        box("paving", (x1 - x0 + 0.1, y1 - y0 + 0.1, 0.12), (middle_x + 0.05, middle_y - 0.05, top - 0.06)),
    ]
    draft.add("terrace", "terrace", parts, friction=0.9)
    run, width = 3.4, 2.2
    ramp_x = middle_x - 0.9
    ramp = [
        wedge("paving", (run, width, top + 0.05), (0, 0, (top + 0.05) / 2 - 0.055)),
        *[wedge("wall", (run + 0.05, 0.16, top + 0.2), (-0.02, s * (width / 2 + 0.06), (top + 0.2) / 2 - 0.1)) for s in (-1, 1)],
    ]
    draft.add("ramp", "ramp", ramp, (ramp_x, y0 - run / 2 - 0.04, 0), math.pi / 2, friction=0.9)
    for a, b in ((x0, ramp_x - width / 2 - 0.1), (ramp_x + width / 2 + 0.1, x1)):
        if b - a > 0.8:
            draft.add("balustrade", "railing", masonry.balustrade("cap", b - a - 0.1), ((a + b) / 2, y0 + 0.12, top))
    draft.add("balustrade", "railing", masonry.balustrade("cap", y1 - y0 - 0.5), (x1 - 0.12, middle_y + 0.2, top), math.pi / 2)
    draft.add("pergola", "pergola", props.pergola("dark_wood", court.leaves[0], 4.4, 2.2), (middle_x, middle_y + 0.5, top))
    draft.add("bench", "bench", props.bench("plank", "iron"), (middle_x, y1 - 0.75, top))
    draft.add("potted_plant", "plant", plants.potted(court.rng, "clay", "dirt", court.leaves, 0.3), (x1 - 0.75, y1 - 0.7, top))
    court.site.taken.append(Rect(-half, y0 - run - 1.6, x1 + 0.6, half))
    return [Goal(name="pergola", position=(round(middle_x, 3), round(middle_y + 0.4, 3), top))]
