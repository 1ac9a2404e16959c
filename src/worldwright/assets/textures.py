"""Procedural PBR textures: seamless, made of numbers alone, the same every time.

Each kind is a function from a random generator to a ``Relief``: how the two colours mix, how bright, how high, how rough and how
metallic the surface is at each texel. ``surface_of`` paints a relief with a material's colours. Grain (wood, bark, brushed metal)
runs along u. Row 0 is the top: v grows downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Image, Surface
from worldwright.world.spec import Material, Texture

Plane = NDArray[np.floating[Any]]

DETAIL = {"grass": 512, "brick": 512, "stone": 512, "wood": 512}
"""Texels along an edge; 256 for all other kinds."""
MAX_SLOPE = 1.2


@dataclass(frozen=True)
class Relief:
    """A texture before it is painted. All planes are [n, n]."""

    mix: Plane
    """0 the material's base colour, 1 the texture's second colour."""
    tone: Plane
    """A factor on the colour, about 1."""
    height: Plane
    """Metres, for a texture of one metre."""
    rough: Plane
    """A factor on the material's roughness, about 1."""
    metal: Plane | None = None
    """A factor on the material's metalness; None is 1."""
    warm: Plane | None = None
    """A shift of hue, about 0: up is warmer (more red, less blue)."""


@lru_cache(maxsize=128)
def surface_of(material: Material, name: str) -> Surface:
    """The surface of a material, with its images where it has a texture."""
    texture = material.texture
    if texture is None:
        return Surface(
            name=name,
            base_colour=(*material.base_colour, 1.0),
            metallic=material.metallic,
            roughness=material.roughness,
            emissive=material.emissive,
        )
    relief = _relief(texture.kind, texture.seed)
    rough = np.clip(material.roughness * relief.rough, 0.04, 1.0)
    metal = material.metallic * (relief.metal if relief.metal is not None else np.ones_like(rough))
    return Surface(
        name=name,
        metallic=1.0,
        roughness=1.0,
        emissive=material.emissive,
        base_colour_image=Image(_colours(relief, material.base_colour, texture), srgb=True),
        metallic_roughness_image=Image(_rgba(np.ones_like(rough), rough, metal), srgb=False),
        normal_image=Image(_normals(relief.height), srgb=False),
    )


def _colours(relief: Relief, base: tuple[float, float, float], texture: Texture) -> NDArray[np.uint8]:
    mix = relief.mix[..., None]
    linear = np.array(base, np.float32) * (1 - mix) + np.array(texture.second, np.float32) * mix
    linear *= relief.tone[..., None]
    if relief.warm is not None:
        linear *= 1 + relief.warm[..., None] * np.array([0.6, 0.05, -0.5], np.float32)
    coded = _SRGB[np.clip(linear * 4095 + 0.5, 0, 4095).astype(np.int32)]
    return np.concatenate([coded, np.full((*coded.shape[:2], 1), 255, np.uint8)], axis=-1)


_STEPS = np.arange(4096) / 4095
_SRGB = np.rint(255 * np.where(_STEPS <= 0.0031308, _STEPS * 12.92, 1.055 * _STEPS ** (1 / 2.4) - 0.055)).astype(np.uint8)
"""Linear in 1/4095 to 8-bit sRGB."""


def _rgba(r: Plane, g: Plane, b: Plane) -> NDArray[np.uint8]:
    planes = np.stack([r, g, b, np.ones_like(r)], axis=-1)
    return np.clip(planes * 255 + 0.5, 0, 255).astype(np.uint8)


def _normals(height: Plane) -> NDArray[np.uint8]:
    """Tangent-space normals, +Y up, of central differences that wrap around; slopes are held to ``MAX_SLOPE``."""
    n = len(height)
    dx = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) * (n / 2)
    dy = (np.roll(height, 1, 0) - np.roll(height, -1, 0)) * (n / 2)
    steep = np.maximum(np.hypot(dx, dy) / MAX_SLOPE, 1)
    dx, dy = dx / steep, dy / steep
    length = np.sqrt(dx * dx + dy * dy + 1)
    return _rgba(0.5 - 0.5 * dx / length, 0.5 - 0.5 * dy / length, 0.5 + 0.5 / length)


@lru_cache(maxsize=128)
def _relief(kind: str, seed: int) -> Relief:
    n = DETAIL.get(kind, 256)
    return _KINDS[kind](np.random.default_rng([seed, n, sorted(_KINDS).index(kind)]), n)


# --- noise ------------------------------------------------------------------------------------------------------------------


def _noise(rng: np.random.Generator, n: int, slope: float, low: float, high: float, stretch: float = 1.0) -> Plane:
    """Seamless noise of mean 0 and deviation 1: white noise whose waves, ``low`` to ``high`` a repeat, fall as frequency ** -slope.

    ``stretch`` > 1 draws it out along u.
    """
    waves = np.fft.rfft2(rng.standard_normal((n, n), dtype=np.float32))
    out = np.fft.irfft2(waves * _gain(n, slope, low, high, stretch), s=(n, n)).astype(np.float32, copy=False)
    return (out - out.mean()) / (out.std() + 1e-9)


@lru_cache(maxsize=64)
def _gain(n: int, slope: float, low: float, high: float, stretch: float) -> Plane:
    """The spectrum of ``_noise``, [n, n // 2 + 1]."""
    fy = np.fft.fftfreq(n, 1 / n).astype(np.float32)[:, None]
    fx = np.fft.rfftfreq(n, 1 / n).astype(np.float32)[None] * np.float32(stretch)
    square = fx * fx + fy * fy
    square[0, 0] = 1.0
    gain = (
        square ** np.float32(-slope / 2) * np.exp(-square / np.float32(high * high)) * (1 - np.exp(-square / np.float32(low * low)))
    )
    gain[0, 0] = 0.0
    return gain


def _grid(n: int) -> tuple[Plane, Plane]:
    """u and v of texel centres, [1, n] and [n, 1]."""
    a = ((np.arange(n) + 0.5) / n).astype(np.float32)
    return a[None], a[:, None]


def _smooth(low: float, high: float, x: Plane) -> Plane:
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def _wobbled(plane: Plane, du: Plane, dv: Plane) -> Plane:
    """``plane`` read at places shifted by du, dv (in repeats), to the nearest texel."""
    n = len(plane)
    k = np.arange(n)
    rows = (k[:, None] + np.rint(dv * n).astype(np.int32)) % n
    columns = (k[None] + np.rint(du * n).astype(np.int32)) % n
    return plane[rows, columns]


def _cells(rng: np.random.Generator, n: int, across: int, down: int, jitter: float) -> tuple[Plane, Plane, NDArray[np.int32]]:
    """Seamless Voronoi cells of jittered points: distance to the nearest point and to the border (in cells), and the cell's number."""
    points = rng.uniform(-jitter / 2, jitter / 2, (down, across, 2)).astype(np.float32)
    u, v = _grid(n)
    x, y = u * across, v * down
    cx, cy = np.floor(x).astype(np.int32), np.floor(y).astype(np.int32)
    first, second = np.full((n, n), 9.0, np.float32), np.full((n, n), 9.0, np.float32)
    who = np.zeros((n, n), np.int32)
    for oy in (-1, 0, 1):
        for ox in (-1, 0, 1):
            cell = (cy + oy) % down * across + (cx + ox) % across
            dx = points[..., 0].ravel()[cell] + (cx + np.float32(ox + 0.5) - x)
            dy = points[..., 1].ravel()[cell] + (cy + np.float32(oy + 0.5) - y)
            d = dx * dx + dy * dy
            nearer = d < first
            np.minimum(second, np.maximum(first, d), out=second)
            np.copyto(who, cell, where=nearer)
            np.minimum(first, d, out=first)
    first, second = np.sqrt(first), np.sqrt(second)
    return first, (second - first) / 2, who


def _courses(n: int, across: int, down: int, shift: Any) -> tuple[Plane, Plane, NDArray[np.int32]]:
    """Rows of rectangles, row k shifted by shift[k] rectangles: distances to the nearest side and end (in rectangles), number."""
    u, v = _grid(n)
    row = np.floor(v * down).astype(np.int32)
    x = u * across + np.asarray(shift, np.float32)[row]
    column = np.floor(x).astype(np.int32) % across
    fx, fy = x - np.floor(x), v * down - row
    return np.minimum(fx, 1 - fx), np.broadcast_to(np.minimum(fy, 1 - fy), (n, n)), row * across + column


# --- kinds ------------------------------------------------------------------------------------------------------------------


def _brick(rng: np.random.Generator, n: int) -> Relief:
    across, down = 5, 16
    fine, coarse = _noise(rng, n, 0.6, 8, 200), _noise(rng, n, 1.4, 2, 60)
    end, side, who = _courses(n, across, down, np.arange(down) % 2 * 0.5)
    edge = np.minimum(end / across, side / down) + 0.0016 * coarse  # in repeats
    face = _smooth(0.0035, 0.0075, edge)
    shade = rng.normal(0, 0.11, across * down).astype(np.float32)
    burnt = np.where(rng.random(across * down) < 0.09, -0.3, 0).astype(np.float32)
    tone = 1 + face * ((shade + burnt)[who] + 0.06 * fine) + 0.05 * coarse
    tint = rng.normal(0, 0.06, across * down).astype(np.float32)[who] * face
    height = 0.006 * face + 0.0008 * fine + 0.0006 * coarse * face
    return Relief(1 - face, tone, height, 1.04 - 0.08 * face, warm=tint)


def _tile(rng: np.random.Generator, n: int) -> Relief:
    across = 4
    coarse, fine = _noise(rng, n, 1.6, 2, 40), _noise(rng, n, 0.4, 20, 200)
    end, side, who = _courses(n, across, across, np.zeros(across))
    edge = np.minimum(end, side)
    face = _smooth(0.012, 0.022, edge)
    shade = rng.normal(0, 0.045, across * across).astype(np.float32)[who]
    tone = 1 + face * (shade + 0.025 * coarse) + 0.02 * fine
    height = 0.004 * _smooth(0.01, 0.05, edge) + 0.0001 * fine
    return Relief(1 - face, tone, height, np.where(face > 0.5, 0.9 + 0.05 * coarse, 1.25).astype(np.float32))


def _wood(rng: np.random.Generator, n: int) -> Relief:
    boards = 6
    bend = _noise(rng, n, 1.8, 1, 12, 3.0)
    rings, fine, broad = _noise(rng, n, 0.9, 5, 90, 12.0), _noise(rng, n, 0.3, 40, 250, 24.0), _noise(rng, n, 1.6, 2, 30, 5.0)
    end, side, who = _courses(n, 1, boards, rng.random(boards))
    slide = (rng.random(boards) * n).astype(np.int32)
    row = np.floor(_grid(n)[1][:, 0] * boards).astype(np.int32)
    columns = (np.arange(n)[None] + slide[row][:, None]) % n  # each board from another tree
    rows = np.arange(n)[:, None]
    grain = _wobbled(rings, 0 * bend, 0.012 * bend)[rows, columns]
    gap = np.minimum(side / boards, end)
    face = _smooth(0.001, 0.0035, gap)
    shade = rng.normal(0, 0.1, boards).astype(np.float32)[who]
    mix = np.clip(0.34 + 0.24 * grain + 0.1 * fine, 0, 1) * face + (1 - face)
    tone = (1 + shade + 0.05 * broad[rows, columns] + 0.03 * fine) * (0.45 + 0.55 * face)
    height = 0.003 * face + 0.0003 * grain + 0.00015 * fine
    return Relief(mix, tone, height, 1 + 0.1 * grain * face + 0.15 * (1 - face), warm=0.35 * shade)


def _concrete(rng: np.random.Generator, n: int) -> Relief:
    broad, middle, fine = _noise(rng, n, 1.8, 1, 20), _noise(rng, n, 1.0, 6, 80), _noise(rng, n, 0.2, 30, 128)
    pores = _smooth(2.0, 2.6, _noise(rng, n, 0.2, 20, 70))
    mix = np.clip(0.25 + 0.15 * broad + 0.09 * middle + 0.5 * pores, 0, 1)
    return Relief(mix, 1 + 0.04 * middle + 0.04 * fine, 0.0006 * middle - 0.003 * pores + 0.0002 * fine, 1 + 0.06 * broad)


def _metal(rng: np.random.Generator, n: int) -> Relief:
    brushed, broad = _noise(rng, n, 0.4, 10, 128, 40.0), _noise(rng, n, 1.7, 1, 16)
    scratch = _smooth(2.2, 2.8, _noise(rng, n, 0.4, 8, 120, 18.0))
    mix = np.clip(0.25 + 0.12 * broad + 0.1 * brushed, 0, 1)
    return Relief(mix, 1 + 0.03 * brushed + 0.1 * scratch, 0.00012 * brushed - 0.0006 * scratch, 1 + 0.12 * broad + 0.1 * brushed)


def _grass(rng: np.random.Generator, n: int) -> Relief:
    """Blades strewn over tufts: each a curved stroke that is darker at its foot; the highest blade is seen."""
    blades, steps = 9000, 22
    broad = _noise(rng, n, 1.5, 1, 10)
    x, y = rng.random((2, blades, 1)) * n
    angle = rng.uniform(0, 2 * math.pi, (blades, 1))
    length = rng.uniform(0.025, 0.07, (blades, 1)) * n
    t = np.linspace(0, 1, steps)[None]
    bend = angle + rng.normal(0, 0.9, (blades, 1)) * t
    px = (x + length * t * np.cos(bend)).astype(np.int64) % n
    py = (y + length * t * np.sin(bend)).astype(np.int64) % n
    lift = (rng.uniform(0.35, 1.0, (blades, 1)) * (0.2 + 0.8 * t)).ravel()
    shade = np.broadcast_to(rng.normal(0, 0.16, (blades, 1)), (blades, steps)).ravel()
    order = np.argsort(lift, kind="stable")  # later writes win: the highest last
    place = (py * n + px).ravel()[order]
    height, tint = np.zeros(n * n), np.zeros(n * n)
    height[place], tint[place] = lift[order], shade[order]
    h: Plane = height.reshape(n, n).astype(np.float32)
    s: Plane = tint.reshape(n, n).astype(np.float32)
    h, s = (3 * h + np.roll(h, 1, 0) + np.roll(h, 1, 1)) / 5, (3 * s + np.roll(s, 1, 0) + np.roll(s, 1, 1)) / 5
    mix = np.clip(0.75 - 0.7 * h + 0.16 * broad, 0, 1)
    return Relief(mix, 0.62 + 0.55 * h + s * 0.5, 0.006 * h, 1 - 0.1 * h, warm=0.8 * s + 0.12 * broad)


def _fabric(rng: np.random.Generator, n: int) -> Relief:
    threads = 48
    u, v = _grid(n)
    fine, broad = _noise(rng, n, 0.3, 20, 128), _noise(rng, n, 1.6, 1, 12)
    across = np.abs(np.sin(math.pi * threads * u)) + 0 * v
    down = np.abs(np.sin(math.pi * threads * v)) + 0 * u
    over = (np.floor(u * threads) + np.floor(v * threads)) % 2 < 0.5
    h = np.where(over, across * (0.6 + 0.4 * down), down * (0.6 + 0.4 * across)).astype(np.float32)
    mix = np.clip(np.where(over, 0.1, 0.42) + 0.05 * broad, 0, 1).astype(np.float32)
    return Relief(mix, 0.78 + 0.3 * h + 0.05 * fine, 0.0025 * h, 1.05 - 0.05 * h)


def _plaster(rng: np.random.Generator, n: int) -> Relief:
    broad, trowel, fine = _noise(rng, n, 1.8, 1, 12), _noise(rng, n, 1.3, 4, 60, 1.6), _noise(rng, n, 0.3, 30, 128)
    mix = np.clip(0.4 + 0.22 * broad + 0.12 * trowel, 0, 1)
    return Relief(mix, 1 + 0.015 * trowel + 0.012 * fine, 0.00035 * trowel + 0.0001 * fine, 1 + 0.03 * trowel)


def _stone(rng: np.random.Generator, n: int) -> Relief:
    across, down = 5, 8
    coarse, fine = _noise(rng, n, 1.5, 2, 60), _noise(rng, n, 0.7, 10, 220)
    _, border, who = _cells(rng, n, across, down, 0.62)
    border = border + 0.018 * coarse
    face = _smooth(0.02, 0.075, border)
    dome = _smooth(0.02, 0.32, border)
    shade = rng.normal(0, 0.13, across * down).astype(np.float32)[who]
    tint = rng.normal(0, 0.07, across * down).astype(np.float32)[who]
    mix = np.clip(1 - face + face * (0.18 + 0.12 * coarse), 0, 1)
    tone = 1 + face * (shade + 0.07 * fine + 0.06 * coarse) - 0.12 * (1 - face)
    return Relief(mix, tone, 0.012 * dome + 0.0022 * coarse * face + 0.0009 * fine, 1 + 0.05 * coarse, warm=tint * face)


def _checker(rng: np.random.Generator, n: int) -> Relief:
    across = 4
    broad, fine = _noise(rng, n, 1.6, 2, 30), _noise(rng, n, 0.4, 20, 128)
    end, side, who = _courses(n, across, across, np.zeros(across))
    odd = ((who // across + who % across) % 2).astype(np.float32)
    joint = 1 - _smooth(0.004, 0.012, np.minimum(end, side))
    veins = _smooth(0.0, 0.25, np.abs(_noise(rng, n, 1.7, 2, 40)))
    tone = (1 + 0.03 * broad + 0.015 * fine - 0.1 * (1 - veins)) * (1 - 0.5 * joint)
    return Relief(odd, tone, -0.001 * joint, 1 + 0.1 * broad + 0.5 * joint)


def _bark(rng: np.random.Generator, n: int) -> Relief:
    bend, ridges = _noise(rng, n, 1.6, 2, 14, 1.5), _noise(rng, n, 0.8, 6, 40, 4.5)
    fine, moss = _noise(rng, n, 0.5, 15, 128, 2.0), _noise(rng, n, 1.6, 1, 10)
    ridge = _wobbled(np.abs(ridges), 0 * bend, 0.02 * bend)
    crack = 1 - _smooth(0.05, 0.75, ridge)
    return Relief(
        np.clip(crack + 0.1 * fine, 0, 1),
        1 + 0.1 * fine + 0.08 * moss - 0.35 * crack,
        0.016 * (1 - crack) + 0.002 * fine,
        1 + 0 * fine,
        warm=-0.06 * moss,
    )


def _dirt(rng: np.random.Generator, n: int) -> Relief:
    broad, middle, fine = _noise(rng, n, 1.6, 1, 14), _noise(rng, n, 1.0, 8, 100), _noise(rng, n, 0.3, 40, 250)
    near, _, who = _cells(rng, n, 22, 22, 0.8)
    size = np.where(rng.random(22 * 22) < 0.22, rng.uniform(0.16, 0.36, 22 * 22), 0.0).astype(np.float32)[who]
    pebble = _smooth(0.0, 0.12, size - near)
    shade = rng.normal(0.1, 0.16, 22 * 22).astype(np.float32)[who]
    mix = np.clip(0.4 + 0.25 * broad + 0.12 * middle, 0, 1) * (1 - 0.6 * pebble)
    tone = 1 + 0.09 * middle + 0.07 * fine + pebble * shade
    return Relief(mix, tone, 0.002 * middle + 0.0005 * fine + 0.006 * pebble, 1 - 0.12 * pebble)


_KINDS: dict[str, Callable[[np.random.Generator, int], Relief]] = {
    "brick": _brick,
    "tile": _tile,
    "wood": _wood,
    "concrete": _concrete,
    "metal": _metal,
    "grass": _grass,
    "fabric": _fabric,
    "plaster": _plaster,
    "stone": _stone,
    "checker": _checker,
    "bark": _bark,
    "dirt": _dirt,
}
