"""The uniform block that tells the shaders about one picture (shaders/frame.glsl)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.air import CEILING, Air, air_of
from worldwright.render.grade import grade_matrix
from worldwright.render.passes import DEPTH_NEAR
from worldwright.render.protocol import View
from worldwright.render.sky import has_sun, sky_colours, sun_direction, sun_irradiance
from worldwright.transforms import invert_rigid
from worldwright.world.spec import Lamp, World

Array = NDArray[Any]

FRAME = np.dtype(
    [
        *((name, "<f4", (4, 4)) for name in ("to_clip", "to_view", "to_next")),
        *((name, "<f4", 4) for name in ("rays", "eye", "near_size", "sun_direction", "sun_radiance", "sky_zenith", "sky_horizon")),
        *((name, "<f4", 4) for name in ("sky_ground", "air", "air_colour", "air_light", "grade")),
        *((name, "<f4", (4, 4)) for name in ("sun_still", "sun_moving")),
        *((name, "<f4", 4) for name in ("sun_texels", "covers", "clock")),
        ("grade_rows", "<f4", (3, 4)),
        ("roof", "<f4", (4, 4)),
    ]
)
MOST_LAMPS = 16
"""Lamps that light one picture."""
LAMPS = np.dtype([("count", "<f4", 4), ("lamps", "<f4", (64, 2, 4))])
"""Room for every lamp that a world can have."""


def pixel_matrix(view: View) -> Array:
    """World to homogeneous pixels [4, 4]: rows (u w, v w, w, 1)."""
    out = np.eye(4)
    out[:3] = view.K @ invert_rigid(view.c2w)[:3]
    return out


def clip_matrix(view: View, width: int, height: int) -> Array:
    """World to clip space [4, 4] with depth near / z (reversed, no far plane) and the picture's top row at y = -1."""
    pixels = pixel_matrix(view)
    u, v, w = pixels[:3]
    return np.stack([u * (2 / width) - w, v * (2 / height) - w, np.array([0, 0, 0, DEPTH_NEAR]), w])


@dataclass(frozen=True)
class Daylight:
    """The parts of the block that a world fixes once."""

    block: Array
    air: Air


def daylight(world: World) -> Daylight:
    """Sun, sky, air, exposure, grade and what lies on surfaces, of a world. Clouds take from the sun and grey the sky."""
    block = np.zeros((), FRAME)
    light, weather = world.light, world.weather
    cover = weather.cloud_cover
    if has_sun(light):
        block["sun_direction"] = [*sun_direction(world), 1.0]
        block["sun_radiance"] = [*sun_irradiance(world), 0.25]
    zenith, horizon, ground = sky_colours(world)
    block["sky_zenith"] = [*zenith, cover]
    block["sky_horizon"] = [*horizon, light.sky.stars * (1 - cover)]
    block["sky_ground"] = [*ground, 0]
    air = air_of(world)
    block["air"] = [*air.extinction, CEILING]
    block["air_colour"] = [*air.colour, 0]
    block["air_light"] = [*air.open_light, 0]
    block["grade"] = [light.exposure, world.grade.contrast, 0, 0]
    block["grade_rows"][:, :3] = grade_matrix(world.grade)
    caustics = 0.0 if weather.water is None else weather.water.caustics
    block["covers"] = [weather.wetness, weather.snow, caustics, weather.rain]
    return Daylight(block, air)


def frame_block(
    base: Daylight,
    view: View,
    next_view: View,
    width: int,
    height: int,
    seconds: float,
    shift: tuple[float, float] = (0.0, 0.0),
) -> Array:
    """The block of a picture at a time of the take. ``shift`` moves the picture by part of a pixel, for sub-frames."""
    block = base.block.copy()
    block["clock"] = [seconds, 0, 0, 0]
    K = view.K.copy()
    K[0, 2] += shift[0]
    K[1, 2] += shift[1]
    view = View(view.c2w, K)
    block["to_clip"] = clip_matrix(view, width, height).T
    block["to_view"] = invert_rigid(view.c2w).T
    block["to_next"] = pixel_matrix(next_view).T
    fx, fy = K[0, 0], K[1, 1]
    block["rays"] = [1 / fx, -K[0, 2] / fx, 1 / fy, -K[1, 2] / fy]
    block["eye"] = [*view.c2w[:3, 3], K[0, 1] / fx]
    block["near_size"] = [DEPTH_NEAR, width, height, 0]
    return block


def lamps_block(lamps: Sequence[Lamp], rows: Sequence[int] = ()) -> Array:
    """The uniform block of lamps; ``rows`` are their rows in the atlas of lamp shadows, -1 for none."""
    block = np.zeros((), LAMPS)
    block["count"][0] = len(lamps)
    for k, lamp in enumerate(lamps):
        block["lamps"][k, 0] = [*lamp.position, 1 / lamp.reach]
        block["lamps"][k, 1] = [*(np.array(lamp.colour) * lamp.intensity), rows[k] if rows else -1]
    return block


def lamps_in_view(lamps: Sequence[Lamp], planes: Array, eye: Array) -> list[int]:
    """Numbers of the lamps whose light reaches what the camera sees: at most MOST_LAMPS, those with most light at the camera first."""
    seen: list[tuple[float, int]] = []
    for k, lamp in enumerate(lamps):
        place = np.array(lamp.position)
        if np.all(planes[:, :3] @ place + planes[:, 3] > -lamp.reach):
            distance = float(np.linalg.norm(place - eye))
            seen.append((max(distance - lamp.reach, 0.0) + distance * 0.1, k))
    return [k for _, k in sorted(seen)[:MOST_LAMPS]]
