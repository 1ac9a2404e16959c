"""The sky as a picture: one formula for whoever cannot run ``shaders/light.glsl``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.frame import daylight
from worldwright.world.spec import World

SIZE = (256, 512)


def directions(height: int, width: int) -> NDArray[np.float64]:
    """Unit directions [h, w, 3] of the centres of a lat-long picture: row 0 is about +Z, column 0 about +X, columns go
    counter-clockwise seen from above."""
    polar = (np.arange(height) + 0.5) / height * np.pi
    turn = (np.arange(width) + 0.5) / width * 2 * np.pi
    flat = np.sin(polar)[:, None]
    return np.stack(np.broadcast_arrays(flat * np.cos(turn), flat * np.sin(turn), np.cos(polar)[:, None]), axis=-1)


def sky_picture(world: World, size: tuple[int, int] = SIZE) -> NDArray[np.float32]:
    """Linear radiance [h, w, 3] of the sky with the glow around the sun, without the sun itself: ``sky_radiance`` of
    shaders/light.glsl. The layout is that of ``directions``."""
    block = daylight(world).block
    d = directions(*size)
    up: NDArray[Any] = d[..., 2:]
    zenith, horizon, ground = (block[name][:3].astype(np.float64) for name in ("sky_zenith", "sky_horizon", "sky_ground"))
    above = horizon + (zenith - horizon) * (1 - np.exp2(-4 * np.maximum(up, 0)))
    dome = above + (ground - above) * np.clip(-up * 6, 0, 1)
    towards = np.maximum(d @ block["sun_direction"][:3].astype(np.float64), 0)[..., None]
    glow = 0.05 * towards**8 + 0.12 * towards**32
    return np.asarray(dome + block["sun_radiance"][:3] * (block["sun_radiance"][3] * glow), dtype=np.float32)
