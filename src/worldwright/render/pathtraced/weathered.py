"""What weather leaves on surfaces, for the tracer: ``render/weathering.py`` on Dr.Jit's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import drjit as dr
import mitsuba as mi

from worldwright.render.weathering import SNOW
from worldwright.world.spec import Weather

ABOVE = 0.03
"""Metres over a point at which the way up begins."""


@dataclass(frozen=True)
class Covered:
    """A surface's normal, linear base colour, metallic and roughness as the weather leaves them."""

    n: Any
    base: Any
    metallic: Any
    rough: Any


def cover(weather: Weather, open_above: Any, p: Any, n: Any, base: Any, metallic: Any, rough: Any, moves: Any) -> Covered:
    """See ``weathering.cover``. ``open_above`` is 1 where nothing stands above, ``moves`` true of bodies and characters; a puddle's normal is
    straight up."""
    flat = mi.Point2f(p.x, p.y)
    coarse = dr.select(moves, 0.5, _patches(flat * 0.7))
    fine = dr.select(moves, 0.5, _patches(flat * 3.1 + 17.0))
    if weather.wetness > 0:
        wet = weather.wetness * open_above
        porous = dr.clip((rough - 0.25) * 1.7, 0, 1) * (1 - metallic)
        base = base * (1 - 0.62 * porous * wet)
        rough = rough + (dr.minimum(rough, 0.28) - rough) * wet * 0.8
        puddle = _step(0.60, 0.70, 0.75 * coarse + 0.25 * fine + 0.12 * weather.wetness) * _step(0.965, 0.99, n.z) * wet
        puddle = dr.select(moves, 0, puddle)
        rough = rough + (0.05 - rough) * puddle
        base = base * (1 - 0.35 * puddle)
        metallic = metallic * (1 - puddle)
        n = dr.normalize(dr.lerp(n, mi.Vector3f(0, 0, 1), puddle))
    if weather.snow > 0:
        level = 0.98 + (0.42 - 0.98) * weather.snow * dr.select(moves, mi.Float(0.55), mi.Float(1))
        share = open_above * _step(0.0, 0.30, n.z - level + (0.65 * coarse + 0.35 * fine - 0.5) * 0.5)
        base = dr.lerp(base, mi.Vector3f(*SNOW.tolist()), share)
        rough = rough + (0.8 - rough) * share
        metallic = metallic * (1 - share)
    return Covered(n, base, metallic, rough)


def caustics(strength: float, sun: Any, p: Any, seconds: Any) -> Any:
    """Sunlight that waves have gathered, 1 on the mean: ``caustics`` of raster's shaders/weathering.glsl. ``sun``: direction towards it."""
    along = p.z / dr.maximum(sun.z, 0.2)
    x, y = (p.x - sun.x * along) * 3.4, (p.y - sun.y * along) * 3.4
    t = seconds * 1.1
    for k in range(3):
        x, y = (
            x + 0.62 * dr.sin(y * 1.3 + t * (0.7 + 0.2 * k) + k * 1.9),
            y + 0.62 * dr.cos(x * 1.1 - t * (0.6 + 0.15 * k) + k * 2.7),
        )
        x, y = 0.8 * x + 0.6 * y, -0.6 * x + 0.8 * y
    w = [(1 - dr.abs(dr.sin(c))) ** 4 for c in (x, y)]
    return 1 + strength * (2.4 * (w[0] * w[0] + w[1] * w[1]) - 0.343)  # the mean of w^8 over a wave is 0.0714


def _step(low: float, high: float, x: Any) -> Any:
    t = dr.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def _patches(p: Any) -> Any:
    cell = dr.floor(p)
    f = p - cell
    f = f * f * (3 - 2 * f)
    x, y = mi.UInt32(mi.Int32(cell.x)), mi.UInt32(mi.Int32(cell.y))  # negative cells wrap around, as the shader's do
    rows = [dr.lerp(_chance(x, y + j), _chance(x + 1, y + j), f.x) for j in (0, 1)]
    return dr.lerp(rows[0], rows[1], f.y)


def _chance(x: Any, y: Any) -> Any:
    """The first number of pcg3d (Jarzynski and Olano 2020) of (x, y, 3)."""
    x, y, z = (v * 1664525 + 1013904223 for v in (x, y, mi.UInt32(3)))
    x += y * z
    y += z * x
    z += x * y
    x, y, z = (v ^ (v >> 16) for v in (x, y, z))
    x += y * z
    return mi.Float(x >> 8) * (1 / (1 << 24))
