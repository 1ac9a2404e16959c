"""Maps of Doom as worlds: the level, its doors and lifts, its monsters and things, where the engine ``vizdoom`` has them at tick 0.

The maps come with the package vizdoom (Freedoom, BSD-3-Clause); nothing of them is copied into ours. A pixel of Doom is 1.2 times as high
as wide, so that a map unit measures more upwards than sideways: ``ACROSS`` and ``UP`` make its pictures those of a camera with square
pixels, and its player 1.75 m high.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.world.generators.doom.actors import Actor, read_actors
from worldwright.world.generators.doom.shape import Plane, Surface, sector_at, surfaces
from worldwright.world.generators.doom.wad import Level, Wad
from worldwright.world.generators.parameters import Params
from worldwright.world.spec import (
    Bounds,
    Camera,
    Character,
    Cylinder,
    Entity,
    LevelRef,
    Light,
    Material,
    Part,
    Sky,
    Spawn,
    TriangleMesh,
    World,
)

F64 = NDArray[np.float64]

UP = 1 / 32
"""Metres a map unit upwards."""
ACROSS = UP / 1.2
"""Metres a map unit east or north."""
TO_METRES = np.array([ACROSS, ACROSS, UP])

PLAYER_RADIUS, PLAYER_HEIGHT, PLAYER_EYE, PLAYER_STEP = 16.0, 56.0, 41.0, 24.0
HALF_FOV = 0.75
"""Tangent of half the vertical field of view: 90 degrees across a 4:3 picture."""
WALK, RUN, JUMP = 8.33, 16.67, 8.0
"""Map units a tic at which friction and push balance, and the speed of a jump (``PlayerPawn`` in ViZDoom's definitions)."""
TICS = 35

SPARES = 96
"""Entities for what appears while playing: projectiles, drops, sparks."""
PLAYER_START = 1
NOT_ALONE = 16
"""Flag of things that are there in games of several players only."""

WADS = ("freedoom2", "freedoom1")
LICENCE = "BSD-3-Clause"

_MATERIALS = {
    "floor": Material(base_colour=(0.24, 0.21, 0.17), roughness=0.9),
    "wall": Material(base_colour=(0.42, 0.38, 0.33), roughness=0.85),
    "ceiling": Material(base_colour=(0.33, 0.32, 0.32), roughness=0.9),
    "sky": Material(base_colour=(0.0, 0.0, 0.0), roughness=1.0, emissive=(0.08, 0.11, 0.16)),
    "grate": Material(base_colour=(0.3, 0.3, 0.3), metallic=0.5, roughness=0.5),
    "door": Material(base_colour=(0.20, 0.30, 0.42), roughness=0.5),
    "lift": Material(base_colour=(0.45, 0.36, 0.14), roughness=0.6),
    "monster": Material(base_colour=(0.55, 0.16, 0.12), roughness=0.7),
    "item": Material(base_colour=(0.18, 0.48, 0.24), roughness=0.5),
    "barrel": Material(base_colour=(0.35, 0.42, 0.12), roughness=0.4),
    "decoration": Material(base_colour=(0.32, 0.30, 0.45), roughness=0.7),
    "spare": Material(base_colour=(0.7, 0.7, 0.2), roughness=0.5),
}

_LABELS = {"level": "level", "sky": "sky", "grates": "grate"}
_ORDER = ("level", "sky", "grates", "floor", "ceiling")


class Doom(Params):
    """A map of Doom, played in the engine vizdoom."""

    map: Annotated[str, Field(pattern=r"^(MAP\d\d|E\dM\d)$")] = "MAP01"
    """The map's name in the WAD: MAP01 to MAP32 (freedoom2), E1M1 to E4M9 (freedoom1)."""
    wad: Literal["freedoom2", "freedoom1"] = "freedoom2"
    """The WAD file inside the package vizdoom."""
    skill: Annotated[int, Field(ge=1, le=5)] = 3
    """Which things are there and how hard monsters hit, 1 is easiest."""
    monsters: bool = True
    """Whether there are monsters."""


def vizdoom_folder() -> Path:
    """The folder of the installed package vizdoom, which is not imported. Raises WorldwrightError where there is none."""
    found = find_spec("vizdoom")
    if found is None or not found.submodule_search_locations:
        raise WorldwrightError(
            "the package vizdoom is not installed", where="doom", fix="in the checkout: .venv/bin/pip install -e '.[vizdoom]'"
        )
    return Path(found.submodule_search_locations[0])


def map_names(wad: str) -> list[str]:
    """The maps of a WAD inside the package vizdoom."""
    return Wad(vizdoom_folder() / f"{wad}.wad").maps()


def doom(params: Doom, seed: int) -> World:
    """The world of a map. ``seed`` takes no part in it: it is the game's own, given when recording."""
    folder = vizdoom_folder()
    wad = folder / f"{params.wad}.wad"
    level = Wad(wad).level(params.map)
    planes: dict[Plane, list[Surface]] = defaultdict(list)
    for surface in surfaces(level):
        planes[surface.plane].append(surface)
    if not planes:
        raise WorldwrightError("has no surface", where=f"{wad.name} {params.map}", fix="choose another map")
    points = np.concatenate([s.points for group in planes.values() for s in group]) * TO_METRES
    margin = np.array([2.0, 2.0, 4.0])
    spawn, yaw = _start(level, f"{wad.name} {params.map}")
    entities = [
        _mesh(plane, level, group)
        for plane, group in sorted(planes.items(), key=lambda item: (item[0].sector, _ORDER.index(item[0].part)))
    ]
    entities += _things(level, read_actors(folder / "vizdoom.pk3"), params)
    spare_at = (*_round(points.min(axis=0) - margin / 2),)
    entities += [_stand_in(f"spare {k + 1}", "spare", spare_at, 6.0, 8.0) for k in range(SPARES)]
    return World(
        name=f"{params.wad} {params.map}",
        description=f"{params.map} of {wad.name} at skill {params.skill}{'' if params.monsters else ', without monsters'}: a map of Doom.",
        level=LevelRef(
            engine="vizdoom",
            file=wad.name,
            hash=hash_file(wad),
            name=params.map,
            licence=LICENCE,
            options={"skill": params.skill, "monsters": params.monsters},
        ),
        bounds=Bounds(min=_round(points.min(axis=0) - margin), max=_round(points.max(axis=0) + margin)),
        materials=_MATERIALS,
        entities=entities,
        # No sun: everything is indoors or below a sky that hangs at the height of a ceiling.
        light=Light(
            sun=None,
            sky=Sky(zenith=(0.9, 0.9, 0.95), horizon=(0.6, 0.6, 0.6), ground=(0.45, 0.43, 0.4), intensity=1.5),
            exposure=4.0,
        ),
        characters=[
            Character(
                label="player",
                radius=PLAYER_RADIUS * ACROSS,
                height=PLAYER_HEIGHT * UP,
                walk_speed=WALK * TICS * ACROSS,
                run_speed=RUN * TICS * ACROSS,
                crouch_speed=WALK * TICS * ACROSS / 2,
                jump_speed=JUMP * TICS * UP,
                step_height=PLAYER_STEP * UP,
            )
        ],
        spawns=[Spawn(position=spawn, yaw=yaw)],
        camera=Camera(fov_y_deg=math.degrees(2 * math.atan(HALF_FOV)), eye=PLAYER_EYE / PLAYER_HEIGHT, shear=True),
    )


def _round(point: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = (round(float(value), 6) for value in point)
    return x, y, z


def _start(level: Level, where: str) -> tuple[tuple[float, float, float], float]:
    starts = level.things[level.things["type"] == PLAYER_START]
    if not len(starts):
        raise WorldwrightError("has no player start", where=where, fix="choose another map")
    start = starts[-1]  # as the game does: the last one counts
    x, y = float(start["x"]), float(start["y"])
    floor = float(level.sectors["floor"][sector_at(level, x, y)])
    return _round(np.array([x, y, floor]) * TO_METRES), math.radians(int(start["angle"]) // 45 * 45)


def _triangles(polygons: Sequence[F64], origin: F64) -> TriangleMesh:
    """Convex polygons in map units as a mesh in metres about ``origin``, each a fan."""
    points: list[tuple[float, float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    for polygon in polygons:
        first = len(points)
        points += [_round(point) for point in (polygon - origin) * TO_METRES]
        triangles += [(first, first + k, first + k + 1) for k in range(1, len(polygon) - 1)]
    return TriangleMesh(shape="mesh", vertices=points, triangles=triangles)


def _mesh(plane: Plane, level: Level, group: Sequence[Surface]) -> Entity:
    """The level, or one moving plane: that one stands at its sector's height, so that the height is its position's z."""
    looks: dict[str, list[F64]] = defaultdict(list)
    height = 0.0
    if plane.sector >= 0:
        height = float(level.sectors[plane.part][plane.sector])
    for surface in group:
        looks[surface.look].append(surface.points)
    moves = None if plane.sector < 0 else _mover(plane, level)
    origin = np.array([0.0, 0.0, height])
    return Entity(
        name=plane.part if moves is None else f"{moves} {plane.sector}",
        label=moves or _LABELS[plane.part],
        body="static" if moves is None else "kinematic",
        stand_in=plane.part == "grates",
        position=_round(origin * TO_METRES),
        parts=[
            Part(geometry=_triangles(polygons, origin), material=moves or look, collide=plane.part != "grates")
            for look, polygons in sorted(looks.items())
        ],
    )


def _mover(plane: Plane, level: Level) -> str:
    """What a moving plane is: a ceiling so low that nobody gets through is a door."""
    if plane.part == "floor":
        return "lift"
    row = level.sectors[plane.sector]
    return "door" if int(row["ceiling"]) - int(row["floor"]) < PLAYER_HEIGHT else "ceiling"


def _stand_in(name: str, label: str, position: tuple[float, float, float], radius: float, height: float) -> Entity:
    """A cylinder in place of what the game draws flat. Its position is that of the thing: on its foot."""
    shape = Cylinder(shape="cylinder", radius=radius * ACROSS, height=height * UP)
    part = Part(geometry=shape, position=(0.0, 0.0, height * UP / 2), material=label, collide=False)
    return Entity(name=name, label=label, body="kinematic", stand_in=True, position=position, parts=[part])


def _things(level: Level, actors: dict[int, Actor], params: Doom) -> list[Entity]:
    """What stands on the map at this skill, in the map's order: the same rule as the game's."""
    bit = 1 if params.skill <= 2 else 2 if params.skill == 3 else 4
    out, counts = [], defaultdict[str, int](int)
    for thing in level.things:
        actor = actors.get(int(thing["type"]))
        if actor is None or not int(thing["flags"]) & bit or int(thing["flags"]) & NOT_ALONE:
            continue
        if actor.kind == "monster" and not params.monsters:
            continue
        x, y = float(thing["x"]), float(thing["y"])
        sector = level.sectors[sector_at(level, x, y)]
        z = float(sector["ceiling"]) - actor.height if actor.hangs else float(sector["floor"])
        counts[actor.name] += 1
        place = _round(np.array([x, y, z]) * TO_METRES)
        out.append(_stand_in(f"{actor.name} {counts[actor.name]}", actor.kind, place, actor.radius, actor.height))
    return out
