"""From linear light to the picture: fog, exposure and the tone curve of ``shaders/light.glsl``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.passes import decode_depth
from worldwright.render.protocol import View
from worldwright.transforms import pixel_rays
from worldwright.world.spec import Weather

SKY_METRES = 400.0
"""How much fog lies before the sky."""

Array = NDArray[Any]


def develop(radiance: Array, exposure: float) -> NDArray[np.uint8]:
    """sRGB codes [h, w, 3] of linear radiance [h, w, 3]: exposure, then ``graded`` of shaders/light.glsl."""
    x = np.maximum(radiance * np.float32(exposure), np.float32(0))
    s = np.sqrt(x)
    top = x * (s + np.float32(0.33998))
    bottom = x * (s + np.float32(0.27709)) + s * np.float32(0.20034) + np.float32(0.1221)
    return np.rint(np.minimum(top / bottom, 1) * 255).astype(np.uint8)


def fogged(radiance: Array, weather: Weather, depth: NDArray[np.uint16], view: View) -> NDArray[np.float32]:
    """Radiance [h, w, 3] behind exponential fog, for the depth codes of the frame [h, w]; the sky lies behind ``SKY_METRES`` of it."""
    height, width = depth.shape
    pixels = np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5), axis=-1)
    metres = decode_depth(depth) * np.linalg.norm(pixel_rays(pixels, view.K), axis=-1)
    through = np.exp(-weather.fog_density * np.where(np.isnan(metres), SKY_METRES, metres))[..., None]
    fog = np.array(weather.fog_colour)
    return np.asarray(fog + (radiance - fog) * through, dtype=np.float32)
