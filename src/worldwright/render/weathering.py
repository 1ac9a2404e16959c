"""What weather leaves on surfaces: wetness, puddles, lying snow. The formulas of raster's shaders/weathering.glsl on arrays, for renderers
that change surfaces before they draw. The passes albedo, roughness and metallic never show it: they are the surface's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.world.spec import Weather

Array = NDArray[Any]

SNOW = np.array([0.82, 0.85, 0.90])
"""Base colour of snow, linear."""


@dataclass(frozen=True)
class Covered:
    """Points of surfaces as the weather leaves them: linear base colour [..., 3], metallic and roughness [...]; ``puddle`` [...] is the
    share that is standing water, whose normal is straight up."""

    base: Array
    metallic: Array
    roughness: Array
    puddle: Array


def changes_surfaces(weather: Weather) -> bool:
    """Whether surfaces look other than dry and bare."""
    return weather.wetness > 0 or weather.snow > 0


def cover(
    weather: Weather,
    at: Array,
    normal: Array,
    sky_above: Array,
    base: Array,
    metallic: Array,
    roughness: Array,
    *,
    moves: bool = False,
) -> Covered:
    """Surfaces after the weather.

    Args:
        weather: of the world, its look put on.
        at: points [..., 3], world, metres.
        normal: unit shading normals [..., 3], world.
        sky_above: share [...] of them with nothing above: 0 under a roof (raster takes four points around, by a map from above).
        base, metallic, roughness: the surface's own; linear base colour.
        moves: of a body or a character: no puddles, less snow, no pattern that would swim.
    """
    base, metallic, rough = (np.asarray(x, dtype=np.float64) for x in (base, metallic, roughness))
    if moves:
        coarse = fine = np.full(at.shape[:-1], 0.5)
    else:
        coarse, fine = patches(at[..., :2] * 0.7), patches(at[..., :2] * 3.1 + 17.0)
    up = normal[..., 2]
    puddle = np.zeros_like(up)
    if weather.wetness > 0:
        wet = weather.wetness * sky_above
        # Water in the pores of rough things that are no metals darkens them (Lagarde 2013).
        porous = np.clip((rough - 0.25) * 1.7, 0, 1) * (1 - metallic)
        base = base * (1 - 0.62 * porous * wet)[..., None]
        rough = rough + (np.minimum(rough, 0.28) - rough) * wet * 0.8
        if not moves:
            puddle = _step(0.60, 0.70, 0.75 * coarse + 0.25 * fine + 0.12 * weather.wetness) * _step(0.965, 0.99, up) * wet
        rough = rough + (0.05 - rough) * puddle
        base = base * (1 - 0.35 * puddle)[..., None]
        metallic = metallic * (1 - puddle)
        level = normal * (1 - puddle)[..., None] + np.array([0.0, 0.0, 1.0]) * puddle[..., None]
        up = (level / np.linalg.norm(level, axis=-1, keepdims=True))[..., 2]
    if weather.snow > 0:
        thick = weather.snow * (0.55 if moves else 1.0)
        level = 0.98 + (0.42 - 0.98) * thick
        share = sky_above * _step(0.0, 0.30, up - level + (0.65 * coarse + 0.35 * fine - 0.5) * 0.5)
        base = base + (SNOW - base) * share[..., None]
        rough = rough + (0.8 - rough) * share
        metallic = metallic * (1 - share)
    return Covered(base, metallic, rough, puddle)


def patches(p: Array) -> Array:
    """Value noise [...] in [0, 1] at points [..., 2], the same on every machine."""
    cell = np.floor(p)
    f = p - cell
    f = f * f * (3 - 2 * f)
    corner = cell.astype(np.int64).astype(np.uint32)  # negative cells wrap around, as the shader's do
    value = [
        [
            _chance(np.stack([corner[..., 0] + np.uint32(i), corner[..., 1] + np.uint32(j), np.full_like(corner[..., 0], 3)], -1))[
                ..., 0
            ]
            for i in (0, 1)
        ]
        for j in (0, 1)
    ]
    rows = [row[0] + (row[1] - row[0]) * f[..., 0] for row in value]
    return np.asarray(rows[0] + (rows[1] - rows[0]) * f[..., 1])


def _chance(v: NDArray[np.uint32]) -> Array:
    """Numbers [..., 3] in [0, 1) by chance from integers [..., 3] (pcg3d, Jarzynski and Olano 2020)."""
    with np.errstate(over="ignore"):
        x, y, z = np.moveaxis(v * np.uint32(1664525) + np.uint32(1013904223), -1, 0)
        for last in (False, True):
            x = x + y * z
            y = y + z * x
            z = z + x * y
            if not last:
                x, y, z = (part ^ (part >> np.uint32(16)) for part in (x, y, z))
    return np.asarray((np.stack([x, y, z], axis=-1) >> np.uint32(8)) / np.float64(1 << 24))


def _step(low: float, high: float, x: Array) -> Array:
    t = np.clip((x - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t))
