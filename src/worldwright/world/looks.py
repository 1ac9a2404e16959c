"""Looks: one take, many lights and weathers."""

from __future__ import annotations

from worldwright.errors import WorldwrightError
from worldwright.world.spec import Look, Sky, Sun, Weather, World

LOOKS = {
    look.name: look
    for look in (
        Look(
            name="clear",
            description="Sun from a blue sky.",
            sun=Sun(azimuth_deg=40, elevation_deg=48),
            sky=Sky(),
            weather=Weather(),
        ),
        Look(
            name="overcast",
            description="A grey sky without a sun.",
            weather=Weather(cloud_cover=0.95),
        ),
        Look(
            name="fog",
            description="Thick fog: one sees some twenty metres.",
            weather=Weather(fog_density=0.09, fog_colour=(0.62, 0.66, 0.70), cloud_cover=0.8),
        ),
    )
}
"""The built-in ones."""


def find_look(world: World, name: str) -> Look:
    """A look by name: the world's own, else a built-in one. Raises WorldwrightError for a name that is neither."""
    own = {look.name: look for look in world.looks}
    try:
        return (LOOKS | own)[name]
    except KeyError:
        known = ", ".join(sorted(LOOKS | own))
        raise WorldwrightError(f"no look {name!r}", where="look", fix=f"choose one of {known}") from None


def put_on(world: World, look: Look) -> World:
    """The world as the look shows it: the same shapes, surfaces and bodies in another light and weather."""
    light = world.light
    changes = {
        "sun": look.sun or light.sun,
        "sky": look.sky or light.sky,
        "exposure": look.exposure or light.exposure,
    }
    return world.model_copy(update={"light": light.model_copy(update=changes), "weather": look.weather or world.weather})
