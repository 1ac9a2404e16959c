"""Small things for outdoors: crates, barrels, benches, lamp posts, stalls, banners. Each stands on z = 0."""

from __future__ import annotations

import math
from collections.abc import Sequence

from worldwright.world.generators.draft import box, cone, cylinder, sphere, turn
from worldwright.world.spec import Part


def crate(wood: str, frame: str, size: float) -> list[Part]:
    """A crate centred on its own middle: boards between a lid, a bottom and four posts. Lid, bottom and boards are touched."""
    inset, lid, post = 0.02, 0.07, 0.075
    at = size / 2 - post / 2 - 0.004
    return [
        box(wood, (size - 2 * inset, size - 2 * inset, size - 0.02)),
        box(frame, (size, size, lid), (0, 0, size / 2 - lid / 2)),
        box(frame, (size, size, lid), (0, 0, lid / 2 - size / 2)),
        *[box(frame, (post, post, size - 0.02), (x * at, y * at, 0), collide=False) for x in (-1, 1) for y in (-1, 1)],
    ]


def barrel(wood: str, hoop: str, radius: float, height: float) -> list[Part]:
    """A barrel centred on its own middle; its hoops are only seen."""
    return [
        cylinder(wood, radius, height),
        *[cylinder(hoop, radius + 0.008, 0.05, (0, 0, z * height), collide=False) for z in (-0.38, -0.16, 0.16, 0.38)],
    ]


def bench(wood: str, iron: str, length: float = 1.7) -> list[Part]:
    """A bench along X that faces -Y."""
    parts = [box(wood, (length, 0.12, 0.04), (0, -0.17 + 0.15 * k, 0.45)) for k in range(3)]
    parts += [box(wood, (length, 0.035, 0.12), (0, 0.27 + 0.03 * k, 0.66 + 0.16 * k), turn("x", -0.18)) for k in range(2)]
    for side in (-1, 1):
        x = side * (length / 2 - 0.18)
        parts += [
            box(iron, (0.05, 0.06, 0.46), (x, -0.2, 0.2)),
            box(iron, (0.05, 0.06, 0.92), (x, 0.27, 0.44), turn("x", -0.1)),
            box(iron, (0.05, 0.5, 0.05), (x, 0.02, 0.41)),
        ]
    return parts


LANTERN = 2.95
"""Height of the light of a lamp post, just below its lantern."""


def lamp_post(iron: str, light: str) -> list[Part]:
    """A lamp post 3.4 m high."""
    return [
        cylinder(iron, 0.17, 0.34, (0, 0, 0.07)),
        cylinder(iron, 0.055, 2.9, (0, 0, 1.5)),
        cylinder(iron, 0.09, 0.08, (0, 0, 1.1)),
        cylinder(iron, 0.19, 0.05, (0, 0, 2.97)),
        cylinder(light, 0.13, 0.3, (0, 0, 3.12), collide=False),
        cone(iron, 0.25, 0.22, (0, 0, 3.37)),
        sphere(iron, 0.045, (0, 0, 3.5)),
    ]


def stall(wood: str, cloths: Sequence[str], goods: Sequence[str], width: float = 2.6) -> list[Part]:
    """A market stall along X that opens to -Y, with a striped awning and goods on its table."""
    parts = [
        box(wood, (0.09, 0.09, 2.45 if y < 0 else 2.75), (x * (width / 2 - 0.08), y * 0.75, 1.2 if y < 0 else 1.35))
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    parts += [box(wood, (width - 0.02, 0.95, 0.06), (0, -0.22, 0.9)), box(wood, (width - 0.3, 0.05, 0.72), (0, -0.62, 0.5))]
    stripes = 8
    pitch = width * 1.12 / stripes
    slope = math.atan2(0.35, 1.5)
    for k in range(stripes):
        x = (k - (stripes - 1) / 2) * pitch
        cloth = cloths[k % len(cloths)]
        parts.append(box(cloth, (pitch - 0.002, 2.0, 0.04), (x, -0.08, 2.56), turn("x", slope), collide=False))
        parts.append(box(cloth, (pitch - 0.008, 0.03, 0.24), (x, -1.04, 2.2), collide=False))
    for k, good in enumerate(goods):
        x = (k - (len(goods) - 1) / 2) * (width - 0.5) / len(goods)
        parts.append(box(wood, (0.56, 0.5, 0.14), (x, -0.25, 0.99)))
        for j in range(9):
            parts.append(sphere(good, 0.075, (x + (j % 3 - 1) * 0.15, -0.25 + (j // 3 - 1) * 0.14, 1.08), collide=False))
    return parts


def banner(pole: str, cloth: str, edge: str) -> list[Part]:
    """A hanging banner, flat against a wall at y = 0 that lies towards +Y; its top at z = 0."""
    return [
        cylinder(pole, 0.03, 1.0, (0, -0.12, 0), turn("y", math.pi / 2), collide=False),
        box(cloth, (0.8, 0.02, 1.5), (0, -0.12, -0.76), collide=False),
        box(edge, (0.8, 0.026, 0.12), (0, -0.12, -1.42), collide=False),
        box(edge, (0.3, 0.026, 0.3), (0, -0.12, -0.7), turn("y", math.pi / 4), collide=False),
        *[box(pole, (0.04, 0.14, 0.04), (x, -0.06, 0), collide=False) for x in (-0.44, 0.44)],
    ]


def pergola(wood: str, leaf: str, length: float, width: float) -> list[Part]:
    """Posts and beams that shade a way along X."""
    parts = []
    count = max(2, round(length / 1.7) + 1)
    for k in range(count):
        x = k / (count - 1) * (length - 0.3) - (length - 0.3) / 2
        parts += [box(wood, (0.13, 0.13, 2.5), (x, y * width / 2, 1.2)) for y in (-1, 1)]
    parts += [box(wood, (length + 0.3, 0.09, 0.16), (0, y * width / 2, 2.5)) for y in (-1, 1)]
    bars = round(length / 0.42)
    for k in range(bars):
        x = (k + 0.5) / bars * length - length / 2
        parts.append(box(wood, (0.06, width + 0.7, 0.11), (x, 0, 2.6)))
        if k % 3 == 0:
            parts.append(
                box(
                    leaf,
                    (0.75, width * 0.5, 0.1),
                    (x + 0.1, width * 0.22 * (1 if k % 2 else -1), 2.69),
                    turn("z", 0.3 * k),
                    collide=False,
                )
            )
    return parts
