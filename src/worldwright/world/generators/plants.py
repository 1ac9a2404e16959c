"""Trees, bushes, rocks and flowers. Foliage is seen but not touched.

Crowns and rocks are low-poly lumps: an icosahedron's faces divided, each corner moved in or out, so that no two are alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from worldwright.world.generators.draft import box, capsule, cone, cylinder, r3, sphere, turn
from worldwright.world.spec import Part, TriangleMesh

_G = (1 + math.sqrt(5)) / 2
_CORNERS = [(-1, _G, 0), (1, _G, 0), (-1, -_G, 0), (1, -_G, 0), (0, -1, _G), (0, 1, _G), (0, -1, -_G), (0, 1, -_G), (_G, 0, -1), (_G, 0, 1), (-_G, 0, -1), (-_G, 0, 1)]  # fmt: skip
_FACES = [
    (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
    (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
]  # fmt: skip


def _divided() -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """An icosahedron with each face cut in four: 42 unit corners, 80 faces."""
    corners = [np.array(c, float) / math.hypot(1, _G) for c in _CORNERS]
    middles: dict[tuple[int, int], int] = {}

    def middle(a: int, b: int) -> int:
        key = (min(a, b), max(a, b))
        if key not in middles:
            m = corners[a] + corners[b]
            middles[key] = len(corners)
            corners.append(m / np.linalg.norm(m))
        return middles[key]

    faces = []
    for a, b, c in _FACES:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        faces += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return np.array(corners), faces


_UNIT, _TRIANGLES = _divided()


def lump(
    rng: np.random.Generator, material: str, radii: Sequence[float], at: Sequence[float], rough: float, collide: bool = False
) -> Part:
    """A lump of half-axes ``radii``; ``rough`` is how far its corners move, as a share."""
    corners = _UNIT * np.asarray(radii) * (1 + rough * rng.uniform(-1, 1, (len(_UNIT), 1)))
    vertices = [(round(float(x), 3) + 0.0, round(float(y), 3) + 0.0, round(float(z), 3) + 0.0) for x, y, z in corners]
    return Part(
        geometry=TriangleMesh(shape="mesh", vertices=vertices, triangles=_TRIANGLES),
        position=r3(at),
        material=material,
        collide=collide,
    )


def broadleaf(rng: np.random.Generator, bark: str, leaves: Sequence[str], height: float) -> list[Part]:
    """A trunk that forks, under a crown of lumps. ``height`` is where the crown's middle is."""
    radius = 0.05 * height + 0.06
    parts = [cylinder(bark, radius, height + 0.3, (0, 0, height / 2 - 0.3)), cone(bark, radius * 1.9, 0.7, (0, 0, 0.1))]
    spread = 0.36 * height
    crown = int(rng.integers(4, 7))
    for k in range(crown):
        a = 2 * math.pi * k / crown + rng.uniform(-0.3, 0.3)
        d = spread * rng.uniform(0.55, 0.95)
        z = height + rng.uniform(-0.25, 0.45)
        size = spread * rng.uniform(0.6, 0.8)
        parts.append(
            lump(rng, str(rng.choice(list(leaves))), (size, size, size * 0.82), (d * math.cos(a), d * math.sin(a), z), 0.13)
        )
        if k % 2 == 0:
            reach = d * 0.8
            angle = math.atan2(reach, 0.9)
            at = (reach / 2 * math.cos(a), reach / 2 * math.sin(a), height - 0.45)
            half = angle / 2
            q = (math.cos(half), -math.sin(half) * math.sin(a), math.sin(half) * math.cos(a), 0.0)
            parts.append(
                capsule(
                    bark,
                    radius * 0.42,
                    math.hypot(reach, 0.9),
                    at,
                    (round(q[0], 7), round(q[1], 7), round(q[2], 7), 0.0),
                    collide=False,
                )
            )
    top = spread * rng.uniform(0.75, 0.9)
    parts.append(lump(rng, leaves[0], (top, top, top * 0.85), (0, 0, height + spread * 0.62), 0.13))
    return parts


def conifer(rng: np.random.Generator, bark: str, leaves: Sequence[str], height: float) -> list[Part]:
    """A straight trunk under tiers that taper."""
    parts = [cylinder(bark, 0.035 * height + 0.03, height * 0.5, (0, 0, height * 0.25 - 0.25))]
    tiers = 5
    for k in range(tiers):
        t = k / (tiers - 1)
        radius = height * (0.27 - 0.17 * t) * rng.uniform(0.94, 1.06)
        deep = height * (0.34 - 0.1 * t)
        z = height * (0.2 + 0.62 * t) + deep / 2
        parts.append(
            cone(leaves[k % len(leaves)], radius, deep, (0, 0, z), turn("x", float(rng.uniform(-0.05, 0.05))), collide=False)
        )
    return parts


def cypress(rng: np.random.Generator, bark: str, leaves: Sequence[str], height: float) -> list[Part]:
    """A slender dark column."""
    parts = [cylinder(bark, 0.09, 1.0, (0, 0, 0.1))]
    for k, (share, width) in enumerate(((0.3, 0.13), (0.52, 0.12), (0.74, 0.085))):
        r = width * height
        parts.append(lump(rng, leaves[k % len(leaves)], (r, r, height * 0.29), (0, 0, height * share + 0.1), 0.07))
    return parts


def bush(rng: np.random.Generator, leaves: Sequence[str], size: float, blossom: str | None = None) -> list[Part]:
    """Lumps close to the ground, some with blossoms."""
    parts = []
    for k in range(3):
        a = 2 * math.pi * k / 3 + rng.uniform(0, 1)
        r = size * rng.uniform(0.55, 0.75)
        parts.append(
            lump(
                rng,
                leaves[k % len(leaves)],
                (r, r, r * 0.85),
                (0.45 * size * math.cos(a), 0.45 * size * math.sin(a), r * 0.55),
                0.14,
            )
        )
    if blossom is not None:
        for _ in range(10):
            a, up = rng.uniform(0, 2 * math.pi), rng.uniform(0.25, 0.95)
            d = size * 0.98 * math.sqrt(1 - 0.6 * up * up)
            parts.append(sphere(blossom, 0.042, (d * math.cos(a), d * math.sin(a), size * up), collide=False))
    return parts


def rock(rng: np.random.Generator, material: str, size: float) -> list[Part]:
    """A boulder, a third of it in the ground."""
    return [
        lump(
            rng,
            material,
            (size, size * rng.uniform(0.7, 1.0), size * rng.uniform(0.55, 0.8)),
            (0, 0, size * 0.2),
            0.16,
            collide=True,
        )
    ]


def flowers(rng: np.random.Generator, stem: str, blossoms: Sequence[str], half_x: float, half_y: float, count: int) -> list[Part]:
    """Flowers strewn over a rectangle: stalks and heads."""
    parts = []
    for _ in range(count):
        x, y, h = rng.uniform(-half_x, half_x), rng.uniform(-half_y, half_y), rng.uniform(0.2, 0.36)
        parts += [
            cone(stem, 0.05, h, (x, y, h / 2), collide=False),
            sphere(str(rng.choice(list(blossoms))), 0.055, (x, y, h), collide=False),
        ]
    return parts


def potted(rng: np.random.Generator, pot: str, earth: str, leaves: Sequence[str], size: float = 0.3) -> list[Part]:
    """A pot with a plant, on z = 0."""
    return [
        cylinder(pot, size * 0.85, size * 1.3, (0, 0, size * 0.65)),
        cylinder(pot, size, size * 0.3, (0, 0, size * 1.25)),
        cylinder(earth, size * 0.8, 0.04, (0, 0, size * 1.4), collide=False),
        *[
            lump(
                rng,
                leaves[k % len(leaves)],
                (size * 0.75, size * 0.75, size * 0.9),
                (size * 0.4 * math.cos(k * 2.1), size * 0.4 * math.sin(k * 2.1), size * (2.0 + 0.35 * k)),
                0.18,
            )
            for k in range(3)
        ],
    ]


def hedge(leaf: str, length: float) -> list[Part]:
    """A clipped hedge along X."""
    return [box(leaf, (length, 0.7, 1.1), (0, 0, 0.45))]
