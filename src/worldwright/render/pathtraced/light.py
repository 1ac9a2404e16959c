"""Sun, lamps and sky as tables for the tracer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.pathtraced.geometry import Geometry
from worldwright.render.sky import has_sun, sky_picture, sun_direction, sun_irradiance
from worldwright.world.spec import World

SKY_ROWS = 256
SUN_RADIUS = 0.0047
"""Radians that the sun's disc is wide on each side: 0.27 degrees."""
BULB = 0.5
"""Metres about a lamp in which glowing triangles are its own bulb or shade."""
INDIRECT_MOST = 10.0
"""Light of a bounce is held to this over the exposure: what is rarer and brighter would be specks (Blender Cycles holds it alike)."""


@dataclass(frozen=True)
class Light:
    """``sun`` [7]: direction towards it, irradiance R, G, B, 1 where there is one. ``lamps`` [L, 8]: position, 1 / reach, radiant
    intensity R, G, B, and the metres around the lamp in which nothing shades. ``sky`` [h, w, 4]: radiance as in ``sky_picture``, 0.
    ``most``: bound on the light of a bounce."""

    sun: NDArray[np.float32]
    lamps: NDArray[np.float32]
    sky: NDArray[np.float32]
    most: float


def light_of(world: World, geometry: Geometry) -> Light:
    """All light of a world but what glows. A lamp's own bulb does not darken it: see ``draw_shadow`` of the raster renderer."""
    sun = np.array([*sun_direction(world), *sun_irradiance(world), has_sun(world.light)], np.float32)
    glows = np.array([any(surface.emissive) for surface in geometry.surfaces])
    corners = geometry.positions[geometry.triangles[glows[geometry.surface]].ravel()]
    lamps = np.zeros((len(world.light.lamps), 8), np.float32)
    for k, lamp in enumerate(world.light.lamps):
        far = np.linalg.norm(corners - np.array(lamp.position), axis=1)
        clear = float(far[far < BULB].max(initial=0.0)) * 1.02
        lamps[k] = [*lamp.position, 1 / lamp.reach, *(np.array(lamp.colour) * lamp.intensity), clear]
    sky: NDArray[Any] = sky_picture(world, SKY_ROWS)
    sky = np.concatenate([sky, np.zeros_like(sky[..., :1])], axis=-1)
    return Light(sun, lamps, sky.astype(np.float32), INDIRECT_MOST / world.light.exposure)
