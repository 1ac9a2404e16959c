"""Looks: one take, many lights and weathers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worldwright.documents import parse_document, read_text
from worldwright.errors import WorldwrightError
from worldwright.world.spec import Grade, Look, Sky, Sun, Water, Weather, World

FILE_ENDINGS = (".yaml", ".yml", ".json")
"""Of documents that hold a look of their own."""

_EARTH = (0.20, 0.19, 0.16)


def _sunny(
    elevation: float,
    azimuth: float,
    intensity: float,
    *,
    turbidity: float,
    dome: float,
    colour: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> dict[str, Any]:
    return {
        "sun": Sun(azimuth_deg=azimuth, elevation_deg=elevation, colour=colour, intensity=intensity),
        "sky": Sky(model="physical", ground=_EARTH, turbidity=turbidity, intensity=dome),
    }


def _night(moon: float, dome: float, stars: float) -> dict[str, Any]:
    return {
        "sun": Sun(azimuth_deg=238, elevation_deg=34, colour=(0.62, 0.76, 1.0), intensity=moon),
        "sky": Sky(zenith=(0.10, 0.16, 0.34), horizon=(0.20, 0.28, 0.46), ground=(0.06, 0.07, 0.09), intensity=dome, stars=stars),
    }


LOOKS = {
    look.name: look
    for look in (
        Look(
            name="clear",
            description="Sun from a blue sky, whatever the world's own light.",
            sun=Sun(azimuth_deg=40, elevation_deg=48),
            sky=Sky(),
            weather=Weather(),
        ),
        Look(
            name="morning",
            description="A low, slightly warm sun in clean air; long shadows, a little haze.",
            **_sunny(19, 25, 5.0, turbidity=2.6, dome=3.0),
            weather=Weather(fog_density=0.003, fog_colour=(0.62, 0.66, 0.70)),
            exposure=1.2,
        ),
        Look(
            name="noon",
            description="A high sun from a physical sky.",
            **_sunny(62, 250, 4.0, turbidity=2.2, dome=3.0),
            weather=Weather(),
            exposure=1.15,
        ),
        Look(
            name="golden",
            description="The last hour of sun: warm light from low down, hazy air.",
            **_sunny(13, 205, 9.0, turbidity=3.0, dome=2.6),
            weather=Weather(fog_density=0.003, fog_colour=(0.8, 0.58, 0.38)),
            grade=Grade(temperature=7200, saturation=1.05),
            exposure=1.2,
        ),
        Look(
            name="dusk",
            description="The sun has set: an even, blue light and a glow where it went.",
            **_sunny(-3.5, 205, 60.0, turbidity=2.2, dome=26.0, colour=(0.50, 0.88, 1.0)),
            weather=Weather(),
            grade=Grade(temperature=5800, saturation=0.8),
            exposure=1.1,
        ),
        Look(
            name="overcast",
            description="A grey sky, no sun, hardly a shadow.",
            sky=Sky(zenith=(0.62, 0.66, 0.72), horizon=(0.78, 0.80, 0.82), ground=(0.22, 0.21, 0.19)),
            weather=Weather(cloud_cover=0.95),
            grade=Grade(saturation=0.92),
            exposure=1.1,
        ),
        Look(
            name="fog",
            description="Thick fog: one sees some twenty metres; indoors it is as dark as the room.",
            weather=Weather(fog_density=0.09, fog_colour=(0.62, 0.66, 0.70), cloud_cover=0.8),
        ),
        Look(
            name="rain",
            description="Rain from low clouds: streaks, wet surfaces, puddles; dry under roofs.",
            sky=Sky(zenith=(0.44, 0.48, 0.55), horizon=(0.62, 0.65, 0.69), ground=(0.14, 0.14, 0.13)),
            weather=Weather(cloud_cover=1.0, rain=0.8, wetness=0.95, wind=(0.9, 0.5, 0.0)),
            grade=Grade(temperature=6250, saturation=0.85, contrast=1.05),
            exposure=1.25,
        ),
        Look(
            name="snow",
            description="Snow falling from a white sky, and lying on all that looks up; none under roofs.",
            sky=Sky(zenith=(0.60, 0.64, 0.70), horizon=(0.74, 0.77, 0.80), ground=(0.50, 0.52, 0.55)),
            weather=Weather(cloud_cover=1.0, snow=0.8, wind=(0.7, -0.4, 0.0)),
            grade=Grade(temperature=6300, saturation=0.95),
            exposure=1.1,
        ),
        Look(
            name="dust",
            description="A dust storm: brown air, a pale sun, motes in the wind.",
            **_sunny(40, 60, 3.6, turbidity=8, dome=3.6),
            weather=Weather(dust=0.9, cloud_cover=0.55, wind=(2.2, 1.1, 0.0)),
            grade=Grade(saturation=0.9),
            exposure=1.2,
        ),
        Look(
            name="night",
            description="A starry night with hardly a moon: lamps light what there is to see.",
            **_night(0.42, 0.52, 1.2),
            weather=Weather(),
            exposure=1.25,
        ),
        Look(
            name="moonlight",
            description="A full moon: blue light with clear shadows.",
            **_night(1.3, 0.48, 0.8),
            weather=Weather(),
            grade=Grade(saturation=0.8),
            exposure=1.3,
        ),
        Look(
            name="underwater",
            description="Some metres under the sea: blue-green, dim with distance, light that plays on what looks up.",
            sun=Sun(azimuth_deg=70, elevation_deg=66, colour=(0.36, 0.70, 0.95), intensity=2.5),
            sky=Sky(zenith=(0.14, 0.44, 0.62), horizon=(0.05, 0.24, 0.38), ground=(0.03, 0.08, 0.11), intensity=1.1),
            weather=Weather(water=Water(caustics=0.6), wind=(0.4, 0.2, 0.0)),
            exposure=1.3,
        ),
    )
}  # fmt: skip
"""The built-in ones."""


def known_looks(world: World) -> Mapping[str, Look]:
    """All looks that a world can be shown in, by name: the built-in ones, and its own, which win."""
    return LOOKS | {look.name: look for look in world.looks}


def find_look(world: World, name: str) -> Look:
    """A look by name: the world's own, else a built-in one; or the one that a file holds, where the name ends as a document's does.

    Raises:
        WorldwrightError: for a name that is none of these, or a bad file.
    """
    if name.endswith(FILE_ENDINGS):
        return parse_document(read_text(Path(name), "look"), name, Look)
    known = known_looks(world)
    if name not in known:
        raise WorldwrightError(f"no look {name!r}", where="look", fix=f"choose one of {', '.join(sorted(known))}, or a file .yaml")
    return known[name]


def find_looks(world: World, names: Sequence[str]) -> list[Look]:
    """Several looks by name, in order. Raises WorldwrightError for a name that is none, or is there twice."""
    found = [find_look(world, name) for name in names]
    called = [look.name for look in found]
    for name in called:
        if called.count(name) > 1:
            raise WorldwrightError(f"{name!r} is named twice", where="look", fix="name each look once")
    return found


def sun_at(hour: float, latitude_deg: float) -> tuple[float, float]:
    """Azimuth, counter-clockwise from +X (east; +Y is north), and elevation of the sun, degrees, at a local solar time on the day of an
    equinox, when it goes round in the plane of the equator (declination 0)."""
    turn, latitude = math.radians((hour - 6) * 15), math.radians(latitude_deg)
    east, up_plane = math.cos(turn), math.sin(turn)
    north, up = -up_plane * math.sin(latitude), up_plane * math.cos(latitude)
    return math.degrees(math.atan2(north, east)) % 360, math.degrees(math.asin(max(-1.0, min(1.0, up))))


def put_on(world: World, look: Look) -> World:
    """The world as the look shows it: the same shapes, surfaces, lamps and bodies in another light and weather, graded another way."""
    light = world.light
    sun = look.sun or light.sun
    if look.hour is not None:
        azimuth, elevation = sun_at(look.hour, look.latitude_deg)
        sun = (sun or Sun()).model_copy(update={"azimuth_deg": azimuth, "elevation_deg": elevation})
    changes = {"sun": sun, "sky": look.sky or light.sky, "exposure": look.exposure or light.exposure}
    return world.model_copy(
        update={
            "light": light.model_copy(update=changes),
            "weather": look.weather or world.weather,
            "grade": look.grade or world.grade,
        }
    )
