"""Furniture. Each piece stands on z = 0 with its back at y = 0 and its front towards -Y, its middle at x = 0; loose pieces (chairs,
stools, boxes) are centred on their middle. Materials are those that ``rooms`` paints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from worldwright.world.generators.draft import box, capsule, cone, cylinder, sphere, turn
from worldwright.world.generators.plants import potted
from worldwright.world.spec import Part

BOOKS = ("book_red", "book_blue", "book_green", "book_cream", "book_ochre")


@dataclass(frozen=True)
class Piece:
    """A piece of furniture: its label, parts, and footprint (width along the wall, depth from it). ``tall`` ones hide windows.

    ``light`` is where it shines, if it does; ``mass`` makes it loose: its parts are then centred on ``middle``, z above the floor.
    """

    label: str
    parts: list[Part]
    width: float
    depth: float
    tall: bool = False
    light: tuple[float, float, float] | None = None
    mass: float | None = None
    middle: float = 0.0
    extras: list[tuple[Piece, float, float, float, float]] = field(default_factory=list)
    """Loose pieces that stand by it: piece, x, y, z, yaw in its frame."""


def _legs(wood: str, half_x: float, half_y: float, height: float, thick: float, y: float = 0.0, z: float = 0.0) -> list[Part]:
    return [box(wood, (thick, thick, height), (x * half_x, y + s * half_y, z + height / 2)) for x in (-1, 1) for s in (-1, 1)]


def sofa(rng: np.random.Generator) -> Piece:
    """A three-seat sofa with cushions."""
    cloth = str(rng.choice(["fabric_a", "fabric_b"]))
    width = 2.0
    parts = [
        box(cloth, (width - 0.3, 0.72, 0.24), (0, -0.5, 0.28)),
        box(cloth, (width, 0.2, 0.72), (0, -0.12, 0.5), turn("x", -0.08)),
        *[box(cloth, (0.2, 0.88, 0.52), (s * (width / 2 - 0.1), -0.47, 0.38)) for s in (-1, 1)],
        *[box(cloth, (0.53, 0.66, 0.13), (k * 0.545, -0.55, 0.455), collide=False) for k in (-1, 0, 1)],
        *[box("cushion", (0.42, 0.14, 0.4), (s * 0.62, -0.34, 0.7), turn("x", -0.3), collide=False) for s in (-1, 1)],
        *_legs("wood_dark", width / 2 - 0.12, 0.36, 0.17, 0.06, -0.47),
    ]
    return Piece("sofa", parts, width, 0.95)


def armchair(rng: np.random.Generator) -> Piece:
    """An armchair."""
    cloth = str(rng.choice(["fabric_a", "fabric_b"]))
    parts = [
        box(cloth, (0.6, 0.66, 0.24), (0, -0.48, 0.28)),
        box(cloth, (0.84, 0.18, 0.74), (0, -0.12, 0.52), turn("x", -0.1)),
        *[box(cloth, (0.16, 0.8, 0.46), (s * 0.37, -0.44, 0.38)) for s in (-1, 1)],
        box(cloth, (0.54, 0.6, 0.12), (0, -0.5, 0.45), collide=False),
        *_legs("wood_dark", 0.34, 0.3, 0.17, 0.05, -0.44),
    ]
    return Piece("armchair", parts, 0.9, 0.88)


def chair(rng: np.random.Generator) -> Piece:
    """A chair to push; it faces -Y and is centred on z = 0.45."""
    wood, low = "wood", -0.45
    parts = [
        box(wood, (0.42, 0.42, 0.04), (0, 0, 0.0)),
        *_legs(wood, 0.185, 0.185, 0.43, 0.04, 0.0, low),
        *[box(wood, (0.036, 0.036, 0.46), (s * 0.187, 0.187, 0.245)) for s in (-1, 1)],
        *[box(wood, (0.34, 0.022, 0.07), (0, 0.187, 0.2 + 0.12 * k)) for k in range(3)],
        box("cushion", (0.38, 0.38, 0.03), (0, -0.01, 0.032), collide=False),
    ]
    return Piece("chair", parts, 0.46, 0.46, mass=5.0, middle=0.45)


def stool(rng: np.random.Generator) -> Piece:
    """A round stool."""
    parts = [cylinder("wood", 0.18, 0.04, (0, 0, 0.0)), *_legs("wood_dark", 0.11, 0.11, 0.43, 0.035, 0.0, -0.45)]
    return Piece("stool", parts, 0.4, 0.4, mass=3.5, middle=0.45)


def dining_table(rng: np.random.Generator) -> Piece:
    """A table with chairs at its long sides, a bowl of fruit upon it; it stands free."""
    length, width = round(float(rng.uniform(1.4, 1.7)), 2), 0.85
    parts = [
        box("wood", (length, width, 0.045), (0, 0, 0.735)),
        box("wood", (length - 0.2, width - 0.2, 0.08), (0, 0, 0.68)),
        *_legs("wood", length / 2 - 0.1, width / 2 - 0.1, 0.72, 0.07),
        *_bowl(0.76),
    ]
    seats: list[tuple[Piece, float, float, float, float]] = []
    for side in (-1, 1):
        for x in (-length / 4, length / 4):
            seats.append(
                (chair(rng), x, side * (width / 2 + 0.24), 0.45, (0.0 if side > 0 else math.pi) + float(rng.uniform(-0.15, 0.15)))
            )
    return Piece("table", parts, length + 0.1, width + 1.2, extras=seats)


def _bowl(z: float) -> list[Part]:
    fruit = [
        sphere(("apple", "orange", "lime")[k], 0.05, (0.06 * math.cos(2.1 * k), 0.06 * math.sin(2.1 * k), z + 0.08), collide=False)
        for k in range(3)
    ]
    return [cylinder("ceramic", 0.14, 0.05, (0, 0, z + 0.024)), *fruit]


def coffee_table(rng: np.random.Generator) -> Piece:
    """A low table with a book and a mug."""
    parts = [
        box("wood_dark", (1.05, 0.55, 0.05), (0, 0, 0.385)),
        box("wood_dark", (0.95, 0.45, 0.03), (0, 0, 0.14)),
        *_legs("wood_dark", 0.46, 0.22, 0.37, 0.05),
        box("book_blue", (0.2, 0.28, 0.03), (-0.22, 0.02, 0.425), turn("z", 0.3), collide=False),
        box("book_ochre", (0.18, 0.25, 0.028), (-0.22, 0.02, 0.453), turn("z", 0.05), collide=False),
        cylinder("ceramic", 0.04, 0.09, (0.26, -0.08, 0.455), collide=False),
    ]
    return Piece("table", parts, 1.05, 0.55)


def shelf(rng: np.random.Generator) -> Piece:
    """A bookcase full of books of all sizes, some lying."""
    width, depth, height, boards = 1.2, 0.32, 2.0, 5
    parts = [
        *[box("wood", (0.03, depth, height), (s * (width / 2 - 0.015), -depth / 2, height / 2)) for s in (-1, 1)],
        box("wood", (width - 0.04, 0.02, height - 0.02), (0, -0.012, height / 2)),
    ]
    gap = (height - 0.1) / boards
    for k in range(boards + 1):
        parts.append(box("wood", (width - 0.05, depth - 0.01, 0.03), (0, -depth / 2, 0.07 + gap * k)))
    for k in range(boards):
        floor, x = 0.085 + gap * k, -width / 2 + 0.05
        while x < width / 2 - 0.1:
            if rng.random() < 0.1:
                x += float(rng.uniform(0.06, 0.2))
                continue
            thick, tall, deep = (
                float(rng.uniform(0.028, 0.06)),
                float(rng.uniform(0.2, min(0.32, gap - 0.05))),
                float(rng.uniform(0.17, 0.24)),
            )
            if x + thick > width / 2 - 0.04:
                break
            parts.append(
                box(
                    str(rng.choice(BOOKS)),
                    (thick - 0.003, deep, tall),
                    (x + thick / 2, -depth + deep / 2 + 0.03, floor + tall / 2),
                    collide=False,
                )
            )
            x += thick
    return Piece("shelf", parts, width, depth, tall=True)


def cabinet(rng: np.random.Generator) -> Piece:
    """A sideboard with doors, a vase and a lamp upon it."""
    width, depth, height = 1.5, 0.45, 0.82
    parts = [
        box("wood", (width, depth, height - 0.1), (0, -depth / 2, height / 2 + 0.05)),
        box("wood_dark", (width + 0.04, depth + 0.03, 0.035), (0, -depth / 2 - 0.005, height + 0.012)),
        *[
            box("wood", (width / 3 - 0.03, 0.02, height - 0.2), (k * width / 3, -depth - 0.008, height / 2 + 0.05), collide=False)
            for k in (-1, 0, 1)
        ],
        *[sphere("brass", 0.018, (k * width / 3 + 0.16, -depth - 0.03, height * 0.6), collide=False) for k in (-1, 0, 1)],
        *_legs("wood_dark", width / 2 - 0.08, depth / 2 - 0.07, 0.12, 0.05, -depth / 2),
        capsule("ceramic", 0.075, 0.32, (-0.45, -depth / 2, height + 0.17), collide=False),
        cylinder("brass", 0.08, 0.02, (0.48, -depth / 2, height + 0.035), collide=False),
        cylinder("brass", 0.014, 0.3, (0.48, -depth / 2, height + 0.18), collide=False),
        cylinder("shade", 0.12, 0.17, (0.48, -depth / 2, height + 0.37), collide=False),
    ]
    return Piece("cabinet", parts, width, depth + 0.05, light=(0.48, -depth / 2 - 0.26, height + 0.42))


def bed(rng: np.random.Generator) -> Piece:
    """A double bed, its head at the wall."""
    parts = [
        box("wood_dark", (1.66, 0.06, 1.05), (0, -0.04, 0.525)),
        box("wood_dark", (1.62, 2.0, 0.2), (0, -1.05, 0.25)),
        box("wood_dark", (1.66, 0.05, 0.5), (0, -2.06, 0.25)),
        box("linen", (1.54, 1.92, 0.2), (0, -1.06, 0.44)),
        box("fabric_a", (1.62, 1.35, 0.09), (0, -1.36, 0.53), collide=False),
        box("linen", (1.61, 0.22, 0.1), (0, -0.72, 0.545), collide=False),
        *[box("linen", (0.62, 0.38, 0.13), (s * 0.38, -0.32, 0.6), turn("x", -0.2), collide=False) for s in (-1, 1)],
        box("cushion", (0.4, 0.13, 0.36), (0, -0.5, 0.7), turn("x", -0.5), collide=False),
    ]
    return Piece("bed", parts, 1.7, 2.12)


def nightstand(rng: np.random.Generator) -> Piece:
    """A small table with a lamp."""
    parts = [
        box("wood_dark", (0.45, 0.38, 0.5), (0, -0.19, 0.25)),
        box("wood", (0.38, 0.02, 0.17), (0, -0.385, 0.34), collide=False),
        sphere("brass", 0.016, (0, -0.405, 0.34), collide=False),
        cylinder("ceramic", 0.07, 0.14, (0, -0.19, 0.57), collide=False),
        cone("shade", 0.13, 0.22, (0, -0.19, 0.74), collide=False),
    ]
    return Piece("nightstand", parts, 0.47, 0.42, light=(0, -0.45, 0.75))


def wardrobe(rng: np.random.Generator) -> Piece:
    """A wardrobe with two doors."""
    parts = [
        box("wood", (1.3, 0.56, 2.0), (0, -0.28, 1.04)),
        box("wood_dark", (1.36, 0.61, 0.06), (0, -0.295, 2.06)),
        box("wood_dark", (1.26, 0.52, 0.09), (0, -0.28, 0.045)),
        *[box("wood", (0.6, 0.02, 1.84), (s * 0.315, -0.567, 1.05), collide=False) for s in (-1, 1)],
        *[capsule("brass", 0.012, 0.16, (s * 0.05, -0.594, 1.05), collide=False) for s in (-1, 1)],
    ]
    return Piece("wardrobe", parts, 1.36, 0.63, tall=True)


def desk(rng: np.random.Generator) -> Piece:
    """A desk with a screen, papers, a lamp and a chair before it."""
    parts = [
        box("wood", (1.4, 0.68, 0.04), (0, -0.34, 0.74)),
        box("wood", (0.4, 0.6, 0.7), (0.47, -0.34, 0.365)),
        *[box("wood_dark", (0.35, 0.02, 0.2), (0.47, -0.646, 0.15 + 0.22 * k), collide=False) for k in range(3)],
        *[box("wood", (0.05, 0.05, 0.72), (-0.66, y, 0.36)) for y in (-0.04, -0.64)],
        box("black", (0.62, 0.03, 0.36), (-0.08, -0.2, 1.04), collide=False),
        box("screen", (0.58, 0.01, 0.32), (-0.08, -0.219, 1.04), collide=False),
        box("black", (0.05, 0.04, 0.16), (-0.08, -0.18, 0.82), collide=False),
        cylinder("black", 0.1, 0.02, (-0.08, -0.2, 0.769), collide=False),
        box("linen", (0.21, 0.3, 0.012), (-0.47, -0.42, 0.765), turn("z", 0.2), collide=False),
        cylinder("brass", 0.075, 0.02, (0.55, -0.2, 0.769), collide=False),
        cylinder("brass", 0.012, 0.36, (0.55, -0.2, 0.94), collide=False),
        cone("shade", 0.12, 0.16, (0.55, -0.24, 1.15), collide=False),
    ]
    return Piece(
        "desk",
        parts,
        1.42,
        1.3,
        light=(0.5, -0.48, 1.0),
        extras=[(chair(rng), -0.08, -0.88, 0.45, math.pi + float(rng.uniform(-0.3, 0.3)))],
    )


def counter(rng: np.random.Generator) -> Piece:
    """A kitchen's working top with stove and sink, cupboards above it, and a fridge."""
    width, depth = 2.4, 0.6
    parts = [
        box("cupboard", (width - 0.02, depth - 0.02, 0.8), (0, -depth / 2, 0.49)),
        box("black", (width - 0.06, depth - 0.1, 0.1), (0, -depth / 2 + 0.04, 0.05)),
        box("marble", (width, depth + 0.03, 0.04), (0, -depth / 2 - 0.015, 0.905)),
        *[box("cupboard", (0.56, 0.02, 0.72), ((k - 1.5) * 0.6, -depth + 0.003, 0.5), collide=False) for k in range(4)],
        *[capsule("brass", 0.01, 0.12, ((k - 1.5) * 0.6 + 0.2, -depth - 0.02, 0.72), collide=False) for k in range(4)],
        box("black", (0.56, 0.5, 0.012), (0.62, -depth / 2, 0.929), collide=False),
        *[
            cylinder(
                "steel",
                0.08 + 0.02 * (k % 2),
                0.01,
                (0.62 + (k % 2 - 0.5) * 0.26, -depth / 2 + (k // 2 - 0.5) * 0.24, 0.938),
                collide=False,
            )
            for k in range(4)
        ],
        cylinder("steel", 0.1, 0.13, (0.49, -depth / 2 - 0.12, 1.006), collide=False),
        box("steel", (0.5, 0.4, 0.014), (-0.5, -depth / 2, 0.93), collide=False),
        box("black", (0.42, 0.3, 0.01), (-0.5, -depth / 2 - 0.02, 0.935), collide=False),
        capsule("steel", 0.015, 0.26, (-0.5, -0.1, 1.03), collide=False),
        capsule("steel", 0.013, 0.2, (-0.5, -0.18, 1.14), turn("x", math.pi / 2), collide=False),
        box("cupboard", (1.2, 0.33, 0.62), (-0.6, -0.165, 1.8)),
        *[box("cupboard", (0.56, 0.02, 0.56), (-0.9 + 0.6 * k, -0.337, 1.8), collide=False) for k in range(2)],
        box("steel", (0.6, 0.42, 0.1), (0.62, -0.21, 1.72)),
        box("steel", (0.24, 0.24, 0.8), (0.62, -0.125, 2.15)),
    ]
    return Piece("counter", parts, width, depth + 0.06, tall=True)


def fridge(rng: np.random.Generator) -> Piece:
    """A fridge."""
    parts = [
        box("ceramic", (0.66, 0.62, 1.82), (0, -0.31, 0.93)),
        box("ceramic", (0.64, 0.03, 0.6), (0, -0.632, 1.5), collide=False),
        box("ceramic", (0.64, 0.03, 1.12), (0, -0.632, 0.62), collide=False),
        *[capsule("black", 0.012, 0.3, (-0.26, -0.665, z), collide=False) for z in (0.95, 1.4)],
    ]
    return Piece("fridge", parts, 0.68, 0.68, tall=True)


def bathtub(rng: np.random.Generator) -> Piece:
    """A bathtub: four sides, a bottom, water."""
    parts = [
        *[box("ceramic", (1.7, 0.09, 0.58), (0, y, 0.29)) for y in (-0.05, -0.73)],
        *[box("ceramic", (0.09, 0.7, 0.576), (s * 0.8, -0.39, 0.288)) for s in (-1, 1)],
        box("ceramic", (1.6, 0.66, 0.12), (0, -0.39, 0.06)),
        box("water", (1.56, 0.62, 0.04), (0, -0.39, 0.4), collide=False),
        capsule("steel", 0.018, 0.22, (0.62, -0.06, 0.68), collide=False),
        capsule("steel", 0.015, 0.18, (0.62, -0.13, 0.77), turn("x", math.pi / 2), collide=False),
    ]
    return Piece("bathtub", parts, 1.72, 0.8)


def washstand(rng: np.random.Generator) -> Piece:
    """A basin on a cupboard, and a mirror's frame above."""
    parts = [
        box("cupboard", (0.8, 0.44, 0.7), (0, -0.22, 0.43)),
        box("marble", (0.84, 0.48, 0.04), (0, -0.235, 0.8)),
        cylinder("ceramic", 0.19, 0.11, (0, -0.24, 0.87)),
        cylinder("water", 0.165, 0.01, (0, -0.24, 0.927), collide=False),
        capsule("steel", 0.014, 0.26, (0, -0.06, 0.93), collide=False),
        box("wood_dark", (0.7, 0.03, 0.9), (0, 0.01, 1.55), collide=False),
        box("mirror", (0.62, 0.02, 0.82), (0, -0.008, 1.55), collide=False),
    ]
    return Piece("washstand", parts, 0.86, 0.5, tall=True)


def floor_lamp(rng: np.random.Generator) -> Piece:
    """A standing lamp."""
    parts = [
        cylinder("black", 0.15, 0.03, (0, -0.2, 0.015)),
        cylinder("black", 0.014, 1.45, (0, -0.2, 0.74)),
        cylinder("shade", 0.19, 0.28, (0, -0.2, 1.58), collide=False),
    ]
    return Piece("lamp", parts, 0.42, 0.42, light=(0, -0.2, 1.36))


def plant(rng: np.random.Generator) -> Piece:
    """A plant in a pot."""
    size = float(rng.uniform(0.17, 0.22))
    parts = [
        part.model_copy(update={"position": (part.position[0], round(part.position[1] - 0.3, 4), part.position[2])})
        for part in potted(rng, "clay", "dirt", ["leaf", "leaf_light"], size)
    ]
    return Piece("plant", parts, 0.6, 0.6)


def television(rng: np.random.Generator) -> Piece:
    """A low board with a screen."""
    parts = [
        box("wood_dark", (1.5, 0.4, 0.4), (0, -0.2, 0.24)),
        *[box("wood", (0.7, 0.02, 0.3), (s * 0.37, -0.404, 0.25), collide=False) for s in (-1, 1)],
        box("black", (1.15, 0.05, 0.66), (0, -0.17, 0.84), collide=False),
        box("screen", (1.1, 0.01, 0.6), (0, -0.199, 0.84), collide=False),
        box("black", (0.3, 0.16, 0.08), (0, -0.17, 0.47), collide=False),
    ]
    return Piece("television", parts, 1.52, 0.43)


def carton(rng: np.random.Generator) -> Piece:
    """A moving box to push."""
    a, b, c = (round(float(v), 2) for v in rng.uniform((0.36, 0.32, 0.3), (0.52, 0.44, 0.44)))
    parts = [box("carton", (a, b, c)), box("tape", (a + 0.003, 0.05, c + 0.003), collide=False)]
    return Piece("box", parts, a + 0.06, b + 0.06, mass=3.0, middle=c / 2)


def ball(rng: np.random.Generator) -> Piece:
    """A ball to kick."""
    radius = 0.14
    return Piece(
        "ball", [sphere(str(rng.choice(["book_red", "book_ochre", "book_blue"])), radius)], 0.34, 0.34, mass=0.5, middle=radius
    )


def blocks(rng: np.random.Generator) -> Piece:
    """A tower of toy blocks, each loose."""
    size = 0.17
    tower: list[tuple[Piece, float, float, float, float]] = []
    for k in range(6):
        row, column = (0, k) if k < 3 else (1, k - 3) if k < 5 else (2, 0)
        x = (column - (2 - row) / 2) * (size + 0.012)
        tower.append(
            (Piece("block", [box(BOOKS[k % 5], (size, size, size))], size, size, mass=0.6), x, -0.3, size * (row + 0.5), 0.0)
        )
    parts = [box("rug_b", (1.1, 0.9, 0.016), (0, -0.45, -0.002), collide=False)]
    return Piece("rug", parts, 1.1, 0.9, extras=tower)


Maker = Callable[[np.random.Generator], Piece]
