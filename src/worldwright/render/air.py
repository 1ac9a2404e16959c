"""What the air (or the water) between things does to light: one extinction and one colour, whatever it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.sky import mean_radiance
from worldwright.world.spec import World

Array = NDArray[Any]

THIN = 0.01
"""Fog a metre below which its light is the same everywhere: over ten metres it hides a tenth, and nobody sees where it is lit from."""
CEILING = 120.0
"""Metres of such air above the ground: it hides the zenith less than the horizon."""
DUSTY, RAINY, SNOWY = np.array([0.030, 0.040, 0.055]), np.full(3, 0.012), np.full(3, 0.028)
"""Extinction a metre of as much dust, rain and snow as there can be; dust takes blue light first."""


@dataclass(frozen=True)
class Air:
    """The share exp(-extinction * metres) [3] of light comes through; the rest has the radiance ``colour`` [3] in the open, where light of
    ``open_light`` [3] (mean radiance) falls on the air. ``local``: where other light falls on it, it has that share of the colour."""

    extinction: Array
    colour: Array
    open_light: Array
    local: bool

    @property
    def clear(self) -> bool:
        """Whether there is nothing to be seen of it."""
        return not self.extinction.any()


def air_of(world: World) -> Air:
    """The air of a world: fog, dust, rain, snow and water together."""
    weather = world.weather
    light = np.maximum(mean_radiance(world), 1e-4)
    grey = np.full(3, float(light.mean()))
    parts = [
        (np.full(3, weather.fog_density), np.array(weather.fog_colour)),
        (DUSTY * weather.dust, grey * (1.30, 0.92, 0.58)),
        (RAINY * weather.rain, (light + grey) * 0.5),
        (SNOWY * weather.snow, grey * 1.15),
    ]
    if weather.water is not None:
        parts.append((np.array(weather.water.absorption), np.array(weather.water.scatter)))
    extinction = np.sum([much for much, _ in parts], axis=0)
    mixed = np.sum([much * colour for much, colour in parts], axis=0)
    # Fog alone keeps the very numbers that the world says.
    alone = not (weather.dust or weather.rain or weather.snow or weather.water)
    colour = np.array(weather.fog_colour) if alone else mixed / np.maximum(extinction, 1e-12)
    return Air(extinction, colour, light, not (alone and weather.fog_density < THIN))
