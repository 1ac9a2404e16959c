"""Surfaces for the GPU: two texels say everything about a point of a surface.

A surface with images gets two (with an emissive image three) layers in the texture array of its page size: the base colour with alpha,
sRGB-coded, and (normal x, normal y, roughness, metallic); factors are multiplied in here, once. So a fragment takes two fetches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from worldwright.assets.model import Image, Surface
from worldwright.render.passes import linear_to_srgb, srgb_to_linear

Array = NDArray[Any]

MOST_PAGE = 2048
"""Longest side of a page, texels; larger images are reduced."""
EMISSIVE_MOST = 64.0
"""Largest radiance that a surface emits; stored as the square root in 10 bits a channel."""


@dataclass(frozen=True, slots=True)
class SurfaceRow:
    """A surface as three words. base: sRGB-coded R, G, B, and alpha, 8 bits each from the lowest. params: layer in 16 bits, roughness and metallic in 8 bits each. emissive: square root in 3 x 10 bits. ``page`` is the side of its pages, 0 without."""

    base: int
    params: int
    emissive: int
    page: int


@dataclass(frozen=True)
class Paint:
    """All surfaces: ``pages[side]`` [layers, side, side, 4] uint8, and each surface's row."""

    pages: dict[int, Array]
    rows: dict[int, SurfaceRow]
    surfaces: tuple[Surface, ...]

    def row(self, surface: Surface) -> SurfaceRow:
        """The row of a surface that was given to ``paint_surfaces``."""
        return self.rows[id(surface)]


def paint_surfaces(surfaces: Sequence[Surface]) -> Paint:
    """Pages and rows for every surface (told apart by identity; the same object twice is one). Surfaces that look the same share their
    layers: the parts of a pack all have a material of their own, with the same image."""
    rows: dict[int, SurfaceRow] = {}
    layers: dict[int, list[Array]] = {}
    known: dict[tuple[object, ...], int] = {}
    for surface in surfaces:
        if id(surface) in rows:
            continue
        images = [surface.base_colour_image, surface.metallic_roughness_image, surface.normal_image, surface.emissive_image]
        sides = [max(image.pixels.shape[:2]) for image in images if image is not None]
        if not sides:
            rows[id(surface)] = _flat_row(surface)
            continue
        side = min(1 << int(np.ceil(np.log2(max(sides)))), MOST_PAGE)
        stack = layers.setdefault(side, [])
        look = (
            side,
            *(id(image) for image in images),
            surface.base_colour,
            surface.metallic,
            surface.roughness,
            surface.alpha_cutoff,
        )
        if look not in known:
            known[look] = len(stack)
            stack += _pages(surface, side)
        rows[id(surface)] = _flat_row(surface, side, known[look])
    return Paint({side: np.stack(stack) for side, stack in sorted(layers.items())}, rows, tuple(surfaces))


def _alpha(surface: Surface, alpha: Array) -> Array:
    """Alpha scaled so that the cut is at one half, whatever the surface's own cut-off."""
    if surface.alpha_cutoff is None:
        return np.ones_like(alpha)
    return np.clip(alpha * (0.5 / max(surface.alpha_cutoff, 1e-3)), 0, 1)


def _byte(value: float) -> int:
    return int(np.clip(np.rint(value * 255), 0, 255))


def _flat_row(surface: Surface, page: int = 0, layer: int = 0) -> SurfaceRow:
    red, green, blue = (_byte(float(c)) for c in linear_to_srgb(np.array(surface.base_colour[:3])))
    emissive = 0
    for k, value in enumerate(surface.emissive):
        emissive |= int(np.rint(np.sqrt(min(value, EMISSIVE_MOST) / EMISSIVE_MOST) * 1023)) << (10 * k)
    return SurfaceRow(
        base=red | green << 8 | blue << 16 | _byte(float(_alpha(surface, np.array(surface.base_colour[3])))) << 24,
        params=layer | _byte(surface.roughness) << 16 | _byte(surface.metallic) << 24,
        emissive=emissive,
        page=page,
    )


def _resized(image: Image | None, side: int) -> Array | None:
    if image is None:
        return None
    if image.pixels.shape[:2] == (side, side):
        return image.pixels
    return np.asarray(PillowImage.fromarray(image.pixels).resize((side, side), PillowImage.Resampling.BICUBIC))


def _pages(surface: Surface, side: int) -> list[Array]:
    base = np.empty((side, side, 4), np.uint8)
    image = _resized(surface.base_colour_image, side)
    if image is None:
        row = _flat_row(surface).base
        base[:] = [row >> shift & 255 for shift in (0, 8, 16, 24)]
    else:
        codes = np.arange(256) / 255.0
        for k in range(4):
            factor = surface.base_colour[k]
            curve = _alpha(surface, codes * factor) if k == 3 else linear_to_srgb(srgb_to_linear(codes) * factor)
            table = np.rint(np.clip(curve, 0, 1) * 255).astype(np.uint8)
            same = bool(np.all(table == np.arange(256)))  # mostly: then a copy will do
            base[..., k] = image[..., k] if same else np.take(table, image[..., k])
    data = np.empty((side, side, 4), np.uint8)
    data[:] = [128, 128, _byte(surface.roughness), _byte(surface.metallic)]
    normal = _resized(surface.normal_image, side)
    if normal is not None:
        data[..., :2] = normal[..., :2]
    rough = _resized(surface.metallic_roughness_image, side)
    if rough is not None:
        data[..., 2] = np.rint(rough[..., 1] * surface.roughness)
        data[..., 3] = np.rint(rough[..., 2] * surface.metallic)
    glow = _resized(surface.emissive_image, side)
    return [base, data] if glow is None else [base, data, glow]
