"""The land and its paths."""

from __future__ import annotations

import numpy as np

from worldwright.world.generators.courtyard.court import OUTSIDE, PATH_TOP, PLAZA_RADIUS, WALL, Court
from worldwright.world.generators.draft import box
from worldwright.world.generators.place import Rect
from worldwright.world.spec import Heightfield, Part


def ground_and_paths(court: Court) -> None:
    """Uneven ground, flat where something stands; paved paths that cross."""
    half, draft = court.half, court.draft
    court.flat += [
        Rect(-1.2, -half, 1.2, half),
        Rect(-half, -1.1, half, 1.1),
        Rect(half - 8.6, half - 10.4, half, half),
        Rect(-half, half - 10.6, -half + 8.0, half),
        Rect(-half, -half, -half + 7.4, -half + 6.8),
        Rect(-4.6, 5.4, 4.6, 7.8),
    ]
    edge = half + OUTSIDE
    n = 2 * round(edge / 0.85) + 1
    x, y = np.meshgrid(np.linspace(-edge, edge, n), np.linspace(-edge, edge, n))
    heights = np.round(court.ground(x, y), 3) + 0.0
    field = Heightfield(shape="heightfield", size=(2 * edge, 2 * edge), heights=heights.tolist())
    draft.add("ground", "ground", [Part(geometry=field, material="grass")], friction=0.9)
    thick = 0.3
    reach = half - WALL / 2
    long = reach - PLAZA_RADIUS + 0.6
    mid = PLAZA_RADIUS - 0.6 + long / 2
    paths = [box("paving", (2.2, long, thick), (0, s * mid, PATH_TOP - thick / 2)) for s in (-1, 1)]
    paths += [box("paving", (long - 0.5, 1.8, thick), (s * (mid - 0.25), 0, PATH_TOP - thick / 2)) for s in (-1, 1)]
    draft.add("paths", "path", paths, friction=0.9)
    for r in (Rect(-1.5, -half, 1.5, half), Rect(-half, -1.3, half, 1.3), Rect.around(0, 0, PLAZA_RADIUS + 0.3)):
        court.site.taken.append(r)
