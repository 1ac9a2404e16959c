"""The paved round in the middle."""

from __future__ import annotations

import math

from worldwright.world.generators import masonry, props
from worldwright.world.generators.courtyard.court import PATH_TOP, PLAZA_RADIUS, PLAZA_TOP, Court
from worldwright.world.generators.draft import cylinder
from worldwright.world.generators.place import Rect


def plaza(court: Court) -> None:
    """Fountain, lamps, benches, and the arcade north of them."""
    draft = court.draft
    draft.add(
        "plaza",
        "floor",
        [
            cylinder("paving", PLAZA_RADIUS, 0.3, (0, 0, PLAZA_TOP - 0.15)),
            cylinder("cap", PLAZA_RADIUS + 0.16, 0.3, (0, 0, PLAZA_TOP - 0.164)),
        ],
        friction=0.9,
    )
    draft.add("fountain", "fountain", masonry.fountain("cap", "water", 1.5), (0, 0, PLAZA_TOP))
    for k in range(4):
        a = math.pi / 4 + k * math.pi / 2
        x, y = 4.15 * math.cos(a), 4.15 * math.sin(a)
        draft.add("lamp_post", "lamp", props.lamp_post("iron", "lantern"), (x, y, PLAZA_TOP))
        draft.lamp("post", (x, y, PLAZA_TOP + props.LANTERN - 0.12), intensity=2.5, reach=7.0)
    for k, a in enumerate((math.pi * 0.06, math.pi * 0.94)):
        x, y = 3.9 * math.cos(a + math.pi), 3.9 * math.sin(a + math.pi)
        draft.add("bench", "bench", props.bench("plank", "iron"), (x, y - 0.9, PLAZA_TOP), (math.pi / 2, -math.pi / 2)[k] + math.pi)
    spring = 2.0
    draft.add("arcade", "arch", masonry.arcade("cap", "wall", "cap", 3, 1.9, spring, 0.72), (0, 6.6, PATH_TOP - 0.03))
    court.site.taken.append(Rect(-4.8, 5.6, 4.8, 7.6))
