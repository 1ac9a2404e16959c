"""Surfaces for the tracer: a row of words each, and every texel in one list. What they hold is what the raster renderer's pages hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Surface
from worldwright.render.raster.textures import EMISSIVE_MOST, paint_surfaces

Array = NDArray[Any]

HOLES, DOUBLE_SIDED, BENT, GLOW_PAGE = 1, 2, 4, 8
"""Flags of a surface: cut out by alpha; seen from behind; with a normal image; with an emissive image."""
FLAG_BITS = 4
WORDS = 8


@dataclass(frozen=True)
class Paint:
    """``rows`` [S, WORDS] uint32: base colour (8 bits R, G, B, alpha, sRGB-coded); roughness and metallic (8 bits each from bit 16); flags,
    and above them the logarithm of the side of its pages plus 1 (0: none); the place of its first texel; texels of a page with its
    smaller copies; emitted radiance R, G, B (float bits). ``texels`` uint32: RGBA, each page followed by its halves down to one texel."""

    rows: NDArray[np.uint32]
    texels: NDArray[np.uint32]
    holes: bool
    glow_pages: bool


def paint(surfaces: tuple[Surface, ...]) -> Paint:
    """Rows and texels of these surfaces."""
    painted = paint_surfaces(surfaces)
    texels: list[Array] = []
    starts: dict[int, int] = {}
    at = 0
    for side, layers in painted.pages.items():
        starts[side] = at
        pyramids = [_pyramid(layer) for layer in layers]
        texels += pyramids
        at += sum(len(p) for p in pyramids)
    rows = np.zeros((len(surfaces), WORDS), np.uint32)
    for k, surface in enumerate(surfaces):
        row = painted.row(surface)
        flags = HOLES * (surface.alpha_cutoff is not None) + DOUBLE_SIDED * surface.double_sided
        flags += BENT * (surface.normal_image is not None) + GLOW_PAGE * (surface.emissive_image is not None)
        size = 0
        if row.page:
            level = row.page.bit_length() - 1
            size = (4 ** (level + 1) - 1) // 3
            flags |= (level + 1) << FLAG_BITS
            rows[k, 3] = starts[row.page] + (row.params & 0xFFFF) * size
        glow = np.minimum(np.array(surface.emissive, np.float32), np.float32(EMISSIVE_MOST))
        rows[k, [0, 1, 2, 4]] = row.base, row.params & 0xFFFF0000, flags, size
        rows[k, 5:8] = glow.view(np.uint32)
    return Paint(
        rows,
        np.concatenate(texels) if texels else np.zeros(1, np.uint32),
        any(s.alpha_cutoff is not None for s in surfaces),
        any(s.emissive_image is not None for s in surfaces),
    )


def _pyramid(layer: NDArray[np.uint8]) -> Array:
    """A page [n, n, 4] and its halves, as words. Averaged as coded, like the graphics driver's."""
    levels = [np.ascontiguousarray(layer).view("<u4").ravel()]
    wide = layer.astype(np.float32)
    while len(wide) > 1:
        wide = (wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]) * np.float32(0.25)
        levels.append(np.rint(wide).astype(np.uint8).view("<u4").ravel())
    return np.concatenate(levels)
