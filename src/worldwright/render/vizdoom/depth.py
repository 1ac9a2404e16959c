"""What the 8 bits of ViZDoom's depth buffer mean, in metres.

The software renderer notes for each pixel the step by which it walks through a texture, or the distance of a floor, in 255 parts of
constants (viz_depth.cpp, r_segs.cpp, r_plane.cpp and r_draw.cpp of ViZDoom). All of them are planar depth. In map units, with c the code:

* floors and ceilings: 10.925 + 7.1595 (c + 1/2), at any size;
* walls: with k = height / 480 first c0 = floor of the same at 480 rows, at most 255, then c = floor(k c0), at most 255; and planar depth is
  k (10.872 + 7.138 (c0 + 1/2));
* things: the same with 2.93 and 7.341.

The sky has the largest code that a wall can have. Measured against rays on ten maps, no wall or floor is off by more than half a step but
0.1 % of them at edges: ``docs/engines.md``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from worldwright.render.declared import DeclaredDepth
from worldwright.render.passes import encode_depth
from worldwright.world.generators.doom import ACROSS

F64 = NDArray[np.float64]

ROWS = 480
FLAT, WALL, THING = (10.925, 7.1595), (10.872, 7.138), (2.93, 7.341)
"""Where code 0 begins and how far a step is, in map units."""
MARGIN = 1.05
"""On half a step, for the rounding of what the renderer computes in whole numbers."""
MARGIN_M = 0.01


def sky_code(height: int) -> int:
    """The code of the sky, and of walls that are as far."""
    return min(255, 255 * height // ROWS)


def _upright(scale: tuple[float, float], height: int) -> F64:
    """Metres of the codes of what stands: the middle of all depths that give it."""
    first, step = scale
    k = height / ROWS
    code = np.arange(256)
    low = np.ceil(code / k)
    high = np.maximum(np.ceil((code + 1) / k) - 1, low)
    return k * (first + step * (low + high + 1) / 2) * ACROSS


def declared_depth(height: int) -> DeclaredDepth:
    """How exact depth is at a picture height."""
    k = height / ROWS
    flat = FLAT[1] / 2
    wall = max(WALL[1], THING[1]) * k * math.ceil(1 / k) / 2
    last = FLAT[0] + FLAT[1] * 255
    wall_last = k * (WALL[0] + WALL[1] * min(255, math.floor(254 / k)))
    first = max(FLAT[0] + FLAT[1], k * (WALL[0] + WALL[1] * math.ceil(1 / k)))
    return DeclaredDepth(
        error_m=round(max(flat, wall) * ACROSS * MARGIN + MARGIN_M, 4),
        near_m=round(first * ACROSS, 4),
        far_m=round(min(last, wall_last) * ACROSS, 4),
    )


def depth_tables(height: int) -> NDArray[np.uint16]:
    """[3, 256]: our depth code of ViZDoom's, for walls, for floors and ceilings, and for things; 0 is no surface."""
    declared = declared_depth(height)
    flat = (FLAT[0] + FLAT[1] * (np.arange(256) + 0.5)) * ACROSS
    metres = np.stack([_upright(WALL, height), flat, _upright(THING, height)])
    metres = np.where(metres < declared.near_m, declared.near_m, metres)
    metres[:, 0] = declared.near_m
    metres[metres > declared.far_m] = np.inf
    metres[0, sky_code(height) :] = np.inf
    metres[1, 255] = np.inf
    return encode_depth(metres)
