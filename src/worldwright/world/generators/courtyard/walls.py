"""The walls around, with towers and a gatehouse."""

from __future__ import annotations

import math

from worldwright.world.generators import masonry, props
from worldwright.world.generators.courtyard.court import WALL, Court
from worldwright.world.generators.draft import box, moved
from worldwright.world.generators.masonry import Opening


def walls(court: Court) -> None:
    """Four walls with buttresses, the southern one with a gate; battlements and banners or plain copings."""
    draft, half = court.draft, court.half
    height = round(float(court.rng.uniform(2.9, 3.5)), 2)
    toothed = bool(court.rng.random() < 0.6)
    length = 2 * half - 2.2

    def segment(stem: str, middle: float, size: float, side: tuple[float, float, float]) -> None:
        top = masonry.battlements("wall", "cap", size, WALL, height) if toothed else masonry.coping("cap", size, WALL, height)
        parts = [*masonry.panel("wall", size, height, WALL, low=-0.5), *top, box("cap", (size, WALL + 0.12, 0.7), (0, 0, 0.05))]
        for k in range(max(1, round(size / 4.5))):
            x = (k + 0.5) / max(1, round(size / 4.5)) * size - size / 2
            parts += [
                box("wall", (0.7, WALL + 0.5, height * 0.78 + 0.4), (x, 0, height * 0.39 - 0.2)),
                box("cap", (0.8, WALL + 0.6, 0.12), (x, 0, height * 0.78)),
            ]
        x0, y0, yaw = side
        draft.add(stem, "wall", moved(parts, (middle, 0, 0)), (x0, y0, 0), yaw)

    segment("wall_north", 0, length, (0, half, 0))
    segment("wall_east", 0, length, (half, 0, -math.pi / 2))
    segment("wall_west", 0, length, (-half, 0, math.pi / 2))
    wing = (length - 4.4) / 2
    for side, stem in ((-1, "wall_south_a"), (1, "wall_south_b")):
        segment(stem, side * (2.2 + wing / 2), wing, (0, -half, 0))
    gate = [
        *masonry.panel("wall", 4.6, 4.4, 1.1, [Opening(0, 2.2, -0.5, 3.0)], low=-0.5),
        *masonry.arch("cap", "wall", 2.2, 1.9, 1.2, 13),
        *masonry.battlements("wall", "cap", 4.6, 1.1, 4.4),
    ]
    draft.add("gatehouse", "wall", gate, (0, -half, 0))
    leaves = [box("dark_wood", (1.08, 0.12, 3.3), (s * 0.55, 0, 1.45)) for s in (-1, 1)]
    leaves += [box("iron", (2.16, 0.15, 0.09), (0, 0, z)) for z in (0.55, 1.5, 2.4)]
    draft.add("gate", "door", leaves, (0, -half, 0))
    for name, sx, sy in (("tower_ne", 1, 1), ("tower_nw", -1, 1), ("tower_sw", -1, -1), ("tower_se", 1, -1)):
        draft.add(
            name,
            "tower",
            masonry.tower("wall", "cap", "roof", 1.5, height + float(court.rng.uniform(1.0, 1.8))),
            (sx * half, sy * half, 0),
        )
    if not toothed:
        return
    for k, x in enumerate((-4.6, 4.6)):
        draft.add(
            "banner",
            "banner",
            props.banner("iron", ("cloth_a", "gold")[k % 2], "cloth_b"),
            (x, half - WALL / 2 - 0.01, height - 0.35),
        )
