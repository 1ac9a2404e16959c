"""What masons build: walls with openings, battlements, arches, stairs, railings, columns, towers.

All in the builder's frame: a wall runs along X about the origin and stands on z = 0. Parts that meet either overlap by volume or step
back by at least 3 mm: no two visible faces of different materials share a plane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from worldwright.world.generators.draft import box, cone, cylinder, moved, sphere, turn
from worldwright.world.spec import Part


@dataclass(frozen=True, slots=True)
class Opening:
    """A hole in a wall: its middle along the wall, width, and from which height to which."""

    middle: float
    width: float
    low: float
    high: float


def panel(
    material: str, length: float, height: float, thick: float, openings: Sequence[Opening] = (), y: float = 0.0, low: float = 0.0
) -> list[Part]:
    """A wall from z = ``low`` to ``height`` with rectangular openings that do not overlap, its middle plane at ``y``."""
    parts: list[Part] = []

    def piece(x0: float, x1: float, z0: float, z1: float) -> None:
        if x1 - x0 > 1e-4 and z1 - z0 > 1e-4:
            parts.append(box(material, (x1 - x0, thick, z1 - z0), ((x0 + x1) / 2, y, (z0 + z1) / 2)))

    x = -length / 2
    for hole in sorted(openings, key=lambda o: o.middle):
        left, right = hole.middle - hole.width / 2, hole.middle + hole.width / 2
        piece(x, left, low, height)
        piece(left, right, low, hole.low)
        piece(left, right, hole.high, height)
        x = right
    piece(x, length / 2, low, height)
    return parts


def battlements(stone: str, cap: str, length: float, thick: float, top: float) -> list[Part]:
    """A coping on a wall of height ``top``, and merlons upon it."""
    parts = [box(cap, (length, thick + 0.16, 0.14), (0, 0, top + 0.05))]
    count = max(2, round(length / 1.5))
    for k in range(count):
        x = (k + 0.5) / count * length - length / 2
        parts.append(box(stone, (0.75, thick * 0.8, 0.62), (x, 0, top + 0.4)))
        parts.append(box(cap, (0.83, thick * 0.8 + 0.08, 0.07), (x, 0, top + 0.73)))
    return parts


def coping(cap: str, length: float, thick: float, top: float) -> list[Part]:
    """A plain coping with a rounded ridge."""
    return [
        box(cap, (length, thick + 0.18, 0.12), (0, 0, top + 0.04)),
        cylinder(cap, thick * 0.42, length - 0.02, (0, 0, top + 0.09), turn("y", math.pi / 2)),
    ]


def arch(stone: str, fill: str, span: float, spring: float, thick: float, blocks: int = 11) -> list[Part]:
    """A round arch over a free way of width ``span``, from its springing at height ``spring``; its voussoirs stand out of the fill."""
    inner, depth = span / 2, 0.34
    middle = inner + depth / 2
    parts: list[Part] = []
    width = 2 * (inner + depth) * math.tan(math.pi / 2 / blocks) + 0.01
    for k in range(blocks):
        a = math.pi * (k + 0.5) / blocks
        key = 0.1 if k == blocks // 2 else 0.0
        at = (math.cos(a) * (middle + key / 2), 0, spring + math.sin(a) * (middle + key / 2))
        parts.append(box(stone, (depth + key, thick + key * 0.6, width * 0.985), at, turn("y", -a)))
    half, rows = inner + depth, 6
    rise = inner + depth + 0.25
    for k in range(rows):
        low, high = rise * k / rows, rise * (k + 1) / rows
        edge = math.sqrt(max(0.0, (inner + 0.16) ** 2 - low**2))
        if edge < 0.05:
            parts.append(box(fill, (2 * half, thick - 0.1, high - low), (0, 0, spring + (low + high) / 2)))
        else:
            for side in (-1, 1):
                parts.append(
                    box(fill, (half - edge, thick - 0.1, high - low), (side * (half + edge) / 2, 0, spring + (low + high) / 2))
                )
    return parts


def pier(stone: str, fill: str, width: float, thick: float, height: float) -> list[Part]:
    """A pier with foot and head."""
    return [
        box(fill, (width, thick, height + 0.2), (0, 0, height / 2 - 0.1)),
        box(stone, (width + 0.16, thick + 0.16, 0.56), (0, 0, 0.02)),
        box(stone, (width + 0.14, thick + 0.14, 0.14), (0, 0, height - 0.07)),
    ]


def arcade(stone: str, fill: str, cap: str, count: int, span: float, spring: float, thick: float) -> list[Part]:
    """A row of arches along X, on piers; one walks through each."""
    pitch = span + 0.68
    parts: list[Part] = []
    for k in range(count + 1):
        parts += moved(pier(stone, fill, 0.62, thick - 0.06, spring), ((k - count / 2) * pitch, 0, 0))
    for k in range(count):
        parts += moved(arch(stone, fill, span, spring, thick), ((k - (count - 1) / 2) * pitch, 0, 0))
    top = spring + span / 2 + 0.34 + 0.25
    length = count * pitch + 0.3
    parts.append(box(fill, (length - 0.02, thick - 0.13, 0.36), (0, 0, top + 0.1)))
    parts.append(box(cap, (length + 0.2, thick + 0.16, 0.13), (0, 0, top + 0.31)))
    for side in (-1, 1):  # the haunches beyond the last piers
        parts.append(box(fill, (0.3, thick - 0.12, top - spring + 0.2), (side * (count * pitch / 2 + 0.02), 0, (spring + top) / 2)))
    return parts


def stairs(stone: str, nosing: str, width: float, rise: float, steps: int, going: float = 0.34) -> list[Part]:
    """Steps that rise towards +X from x = 0 to height ``rise``, the last one level with it, each with a nosing."""
    parts: list[Part] = []
    for k in range(steps):
        top = rise * (k + 1) / steps
        parts.append(
            box(
                stone,
                (going * (steps - k), width, rise / steps + (0.2 if k == 0 else 0.0)),
                (going * (steps + k) / 2, 0, top - rise / steps / 2 - (0.1 if k == 0 else 0.0)),
            )
        )
        parts.append(box(nosing, (0.1, width + 0.04, 0.05), (going * k + 0.03, 0, top - 0.02)))
    return parts


def balustrade(stone: str, length: float) -> list[Part]:
    """A railing along X of height 0.95: foot, balusters, rail."""
    parts = [
        box(stone, (length, 0.24, 0.14), (0, 0, 0.06)),
        box(stone, (length, 0.22, 0.11), (0, 0, 0.895)),
    ]
    count = max(1, round((length - 0.3) / 0.36))
    for k in range(count):
        x = (k + 0.5) / count * (length - 0.2) - (length - 0.2) / 2
        parts += [cylinder(stone, 0.05, 0.76, (x, 0, 0.48)), cylinder(stone, 0.085, 0.24, (x, 0, 0.34), collide=False)]
    for side in (-1, 1):
        x = side * (length / 2 - 0.14)
        parts += [box(stone, (0.3, 0.3, 1.02), (x, 0, 0.5)), sphere(stone, 0.13, (x, 0, 1.1))]
    return parts


def tower(wall: str, cap: str, roof: str, radius: float, height: float) -> list[Part]:
    """A round tower with a cornice and a pointed roof; its foot reaches 0.6 m into the ground."""
    return [
        cylinder(wall, radius, height + 0.6, (0, 0, height / 2 - 0.3)),
        cylinder(cap, radius + 0.12, 0.5, (0, 0, 0.0)),
        cylinder(cap, radius + 0.16, 0.22, (0, 0, height - 0.02)),
        cone(roof, radius + 0.45, radius * 1.9, (0, 0, height + 0.08 + radius * 0.95)),
        sphere(cap, 0.13, (0, 0, height + 0.1 + radius * 1.9)),
    ]


def fountain(stone: str, water: str, radius: float) -> list[Part]:
    """An eight-sided basin with water, and a pillar that carries a bowl."""
    parts: list[Part] = [cylinder(stone, radius - 0.08, 0.3, (0, 0, 0.08)), cylinder(water, radius - 0.12, 0.2, (0, 0, 0.29))]
    edge = 2 * radius * math.tan(math.pi / 8)
    for k in range(8):
        a = math.pi / 4 * k
        at = (math.cos(a) * radius, math.sin(a) * radius)
        parts.append(box(stone, (0.24, edge + 0.06, 0.56), (*at, 0.22), turn("z", a)))
        parts.append(box(stone, (0.36, edge + 0.14 + 0.004 * (k % 2), 0.08), (*at, 0.53 + 0.004 * (k % 2)), turn("z", a)))
    parts += [
        cylinder(stone, 0.34, 0.5, (0, 0, 0.4)),
        cylinder(stone, 0.17, 1.3, (0, 0, 0.9)),
        cylinder(stone, 0.62, 0.07, (0, 0, 1.4)),
        cylinder(stone, 0.74, 0.1, (0, 0, 1.48)),
        cylinder(water, 0.66, 0.04, (0, 0, 1.525)),
        cylinder(stone, 0.1, 0.42, (0, 0, 1.7)),
        sphere(stone, 0.17, (0, 0, 1.97)),
    ]
    return parts
