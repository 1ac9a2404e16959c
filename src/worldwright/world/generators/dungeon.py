"""A dungeon laid out from the parts of the KayKit dungeon pack: a hall and a treasury joined by a corridor, stairs up to a dais, torches.

The parts are made on a grid: floor tiles are 4 x 4 units, walls 4 long and 4 high, a corner takes 2 units of both its walls, foundations
are 2 high, a step of the stairs is 0.5. A unit is ``UNIT`` metres here, so that a step (0.325 m) can be climbed and the doorways are 1.8 m high.
Positions below are in units; walls have their face along their own -Y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from worldwright.world.generators.draft import Draft, Triple, box, colour, cone, glow, material, r3, sphere, turn
from worldwright.world.generators.parameters import Params
from worldwright.world.spec import (
    Bounds,
    Camera,
    Character,
    Entity,
    GltfCharacter,
    GltfModel,
    Goal,
    Humanoid,
    Light,
    PackRef,
    Part,
    Sky,
    Spawn,
    Sun,
    Weather,
    World,
)

UNIT = 0.65
FLOOR = 0.05
"""Top of a floor tile, in units above where it is placed."""
DAIS = 2.0
TILE = 4
HALL = (0, 16)
"""The hall's extent in x; both rooms reach from 0 to 16 in y."""
TREASURY = (24, 40)
DOOR_Y = 8
DAIS_X = 32
PACK, PEOPLE = "dungeon", "adventurers"
NOT_GLTF_GLB = frozenset({"chest", "chest_gold", "wall_doorway", "wall_doorway_scaffold", "floor_tile_big_spikes"})
"""Files of the pack that end in .glb alone."""

NORTH, SOUTH, EAST, WEST = 0.0, math.pi, -math.pi / 2, math.pi / 2
"""Yaw of a wall on that side of a room: its face looks into the room."""

SMALL_TILES = (
    "floor_tile_small",
    "floor_tile_small",
    "floor_tile_small_weeds_A",
    "floor_tile_small_weeds_B",
    "floor_tile_small_broken_A",
)

HIDDEN: dict[str, tuple[str, ...]] = {
    "Knight": ("1H_Sword_Offhand", "Badge_Shield", "Rectangle_Shield", "Spike_Shield", "2H_Sword"),
    "Barbarian": ("1H_Axe_Offhand", "2H_Axe", "Mug"),
    "Mage": ("Spellbook", "Spellbook_open", "1H_Wand"),
    "Rogue": ("Knife_Offhand", "1H_Crossbow", "2H_Crossbow", "Throwable"),
    "Rogue_Hooded": ("Knife_Offhand", "1H_Crossbow", "2H_Crossbow", "Throwable"),
}
"""The models carry every weapon at once: these are put away."""

LABELS = (
    ("wall", "wall"),
    ("floor", "floor"),
    ("stairs", "stairs"),
    ("barrier", "railing"),
    ("torch", "torch"),
    ("candle", "candle"),
    ("banner", "banner"),
    ("sword_shield", "shield"),
    ("pillar", "pillar"),
    ("column", "pillar"),
    ("barrel", "barrel"),
    ("keg", "barrel"),
    ("box", "crate"),
    ("crates", "crate"),
    ("chest", "chest"),
    ("trunk", "trunk"),
    ("table", "table"),
    ("chair", "chair"),
    ("stool", "stool"),
    ("bed", "bed"),
    ("coin", "coins"),
    ("plate", "tableware"),
    ("bottle", "tableware"),
    ("shelf", "shelf"),
)


RADII = {
    "pillar": 1.15,
    "table_long": 2.1,
    "table_small": 0.75,
    "table_medium_broken": 1.7,
    "chair": 0.55,
    "stool": 0.55,
    "keg_decorated": 1.9,
    "keg": 1.1,
    "crates_stacked": 1.55,
    "candle": 0.4,
    "barrel_large": 0.95,
    "barrel_small": 0.55,
    "box_small": 0.75,
    "box_large": 1.1,
    "box_stacked": 2.4,
    "trunk_large": 1.02,
}
"""Units around the middle of a piece that nothing else may stand in."""


class Dungeon(Params):
    """Parameters of ``dungeon``. Needs the pack ``dungeon``, and the pack ``adventurers`` for all characters but ``humanoid``."""

    character: Literal["Knight", "Barbarian", "Mage", "Rogue", "Rogue_Hooded", "humanoid"] = "Knight"
    """Who is played: a model of the pack adventurers, or the built-in figure, which needs no such pack."""


def dungeon(params: Dungeon, seed: int) -> World:
    """The level. The seed chooses tiles, wall parts, banners and where loose things stand."""
    level = _Level(seed)
    level.ground()
    level.room(HALL, door="east")
    level.room(TREASURY, door="west")
    level.corridor()
    level.dais()
    level.furnish_hall()
    level.furnish_treasury()
    packs = {PACK: PackRef(licence="CC0-1.0")}
    if params.character != "humanoid":
        packs[PEOPLE] = PackRef(licence="CC0-1.0")
    return World(
        name=f"dungeon_{seed}_{params.character}",
        description="Two rooms of a dungeon, from the parts of the KayKit dungeon pack.",
        bounds=Bounds(min=_metres(-12, -12, -3), max=_metres(52, 28, 14)),
        packs=packs,
        materials=level.draft.used_materials(),
        entities=level.draft.entities,
        light=Light(
            sun=Sun(azimuth_deg=205.0, elevation_deg=58.0, colour=colour("#b9c8ff"), intensity=1.1),
            sky=Sky(zenith=colour("#26365c"), horizon=colour("#5a6a8c"), ground=(0.05, 0.045, 0.05), intensity=0.9),
            lamps=level.draft.lamps,
            exposure=1.7,
        ),
        weather=Weather(fog_density=0.006, fog_colour=colour("#39435c")),
        characters=[_player(params)],
        spawns=[
            Spawn(name="start", position=_metres(3.4, 3.4, FLOOR), yaw=math.radians(40)),
            Spawn(name="treasury", position=_metres(27, 12.5, FLOOR), yaw=0.0),
        ],
        goals=[
            Goal(name="hall", position=_metres(12.5, 3, FLOOR)),
            Goal(name="corridor", position=_metres(20, DOOR_Y, FLOOR)),
            Goal(name="treasury", position=_metres(27, 3, FLOOR)),
            Goal(name="treasure", position=_metres(35.2, DOOR_Y, DAIS + FLOOR)),
        ],
        camera=Camera(fov_y_deg=64.0, boom=2.7, boom_height=0.25),
    )


def _player(params: Dungeon) -> Character:
    """The adventurers have short legs: they are slower than grown people."""
    if params.character == "humanoid":
        return Character(look=Humanoid(model="humanoid", outfit="worker"))
    look = GltfCharacter(
        model="gltf", pack=PEOPLE, path=f"characters/{params.character}.glb", height=1.7, hide=list(HIDDEN[params.character])
    )
    return Character(look=look, height=1.7, radius=0.32, walk_speed=1.1, run_speed=3.0, crouch_speed=0.6)


def _metres(x: float, y: float, z: float) -> Triple:
    return r3((x * UNIT, y * UNIT, z * UNIT))


def _label(piece: str) -> str:
    return next(label for prefix, label in LABELS if piece.startswith(prefix))


def _model(piece: str, at: Sequence[float] = (0.0, 0.0, 0.0), yaw: float = 0.0, collide: bool = True) -> Part:
    """A part of the pack; ``at`` in units."""
    suffix = ".glb" if piece in NOT_GLTF_GLB else ".gltf.glb"
    return Part(
        geometry=GltfModel(shape="gltf", pack=PACK, path=f"models/{piece}{suffix}", scale=UNIT),
        position=_metres(at[0], at[1], at[2]),
        rotation=turn("z", yaw),
        collide=collide,
    )


class _Level:
    """The draft and the dice."""

    def __init__(self, seed: int) -> None:
        self.draft = Draft()
        self.rng = np.random.default_rng([seed, 0x64756E])
        self.taken: list[tuple[float, float, float]] = []
        self.banners = self._pick("red", "blue", "green", "yellow", "white", "brown"), self._pick("red", "blue", "green", "yellow")
        self.draft.paint(earth=material("#4a4742", "dirt", "#3b3833", 3.0, roughness=0.95), flame=glow("#ff9a3c", 14.0))

    def _pick(self, *options: str) -> str:
        return options[int(self.rng.integers(len(options)))]

    def put(self, piece: str, x: float, y: float, z: float = 0.0, yaw: float = 0.0, **fields: Any) -> Entity:
        """A piece as an entity of its own, at a place in units."""
        radius = max((radius for prefix, radius in RADII.items() if piece.startswith(prefix)), default=None)
        if radius is not None:
            self.taken.append((x, y, radius))
        return self.draft.add(piece, _label(piece), [_model(piece)], _metres(x, y, z), yaw, **fields)

    def loose(self, piece: str, x: float, y: float, mass: float, z: float = FLOOR, yaw: float | None = None) -> None:
        """A piece that can be pushed about."""
        facing = float(self.rng.uniform(-math.pi, math.pi)) if yaw is None else yaw
        self.put(piece, x, y, z + 0.001, facing, body="dynamic", mass=mass, friction=0.7, angular_damping=0.15, pushable=True)

    # --- the building -------------------------------------------------------------------------------------------------------

    def ground(self) -> None:
        """Earth below and around, so that a cracked tile has a bottom."""
        size = (100 * UNIT, 76 * UNIT, 0.4)
        self.draft.add("earth", "ground", [box("earth", size)], (20 * UNIT, 8 * UNIT, -0.2 - 0.12 * UNIT))

    def _floor(self, x: float, y: float, z: float, *, wood: bool = False) -> None:
        """One 4 x 4 tile, or four small ones."""
        if wood:
            self.put(self._pick("floor_wood_large", "floor_wood_large_dark"), x, y, z, self._quarter())
        elif self.rng.random() < 0.72 or z > 0:
            self.put("floor_tile_large", x, y, z, self._quarter())
        else:
            parts = []
            for dx, dy in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
                piece = self._pick(*SMALL_TILES)
                parts.append(_model(piece, (dx, dy, 0), self._quarter()))
                if "weeds" in piece and z == 0:
                    self.taken.append((x + dx, y + dy, 0.8))
            self.draft.add("floor_small_tiles", "floor", parts, _metres(x, y, z))

    def _quarter(self) -> float:
        return float(self.rng.integers(4)) * math.pi / 2

    def _wall(self, x: float, y: float, yaw: float, *, plain: bool = False) -> None:
        kinds = (
            "wall",
            "wall",
            "wall_cracked",
            "wall_arched",
            "wall_scaffold",
            "wall_pillar",
            "wall_archedwindow_gated",
            "wall_window_closed",
        )
        self.put("wall" if plain else self._pick(*kinds), x, y, 0.0, yaw)

    def room(self, across: tuple[int, int], *, door: Literal["east", "west"]) -> None:
        """A room of 4 x 4 tiles with a doorway in the middle of one side."""
        west, east = across
        south, north = 0, 16
        for x in range(west + 2, east, TILE):
            for y in range(south + 2, north, TILE):
                inner = door == "east" and 4 < y < 12 and 4 < x < 12
                self._floor(x, y, 0.0, wood=inner)
        for corner, yaw in (
            ((east, north), 0.0),
            ((west, north), math.pi / 2),
            ((west, south), math.pi),
            ((east, south), -math.pi / 2),
        ):
            self.put("wall_corner", *corner, 0.0, yaw)
        for along in range(TILE, 16, TILE):
            self._wall(west + along, north, NORTH)
            self._wall(west + along, south, SOUTH)
            if door == "east":
                self._wall(west, south + along, WEST)
            else:
                self._wall(east, south + along, EAST)
        # The doorway is 8 long and its arms reach 2 into the corridor, along its own -Y; half a wall is left on both sides.
        side, yaw = (east, math.pi / 2) if door == "east" else (west, -math.pi / 2)
        self.put("wall_doorway_Tsplit", side, DOOR_Y, 0.0, yaw)
        for y in (2, 12):
            self.put("wall_half", side, y, 0.0, math.pi / 2)

    def corridor(self) -> None:
        """Two tiles long, one wide."""
        for x in (HALL[1] + 2, HALL[1] + 6):
            self._floor(x, DOOR_Y, 0.0)
        middle = (HALL[1] + TREASURY[0]) / 2
        self._wall(middle, DOOR_Y + 2, NORTH, plain=True)
        self._wall(middle, DOOR_Y - 2, SOUTH, plain=True)
        self.torch(middle, DOOR_Y + 2, NORTH)

    def dais(self) -> None:
        """A raised floor at the treasury's end. The stairs are 4 high and sunk by 2, so that their upper half leads up."""
        for x in (DAIS_X + 2, DAIS_X + 6):
            for y in range(2, 16, TILE):
                self._floor(x, y, DAIS)
        for y in range(1, 16, 2):
            self.put("floor_foundation_front", DAIS_X + 1, y, 0.0, -math.pi / 2)
        self.put("stairs_wide", DAIS_X, DOOR_Y, DAIS - 4.0, -math.pi / 2)
        for middle in (2.4, 13.6):
            self.put("barrier", DAIS_X + 0.4, middle, DAIS + FLOOR, math.pi / 2)

    def torch(self, x: float, y: float, yaw: float, *, high: float = 2.3, shadow: bool = False, lit: bool = True) -> None:
        """A torch on the wall at a place, and its light."""
        inward = np.array([math.sin(yaw), -math.cos(yaw)])
        at = np.array([x, y]) + inward * 0.36
        parts = [_model("torch_mounted")]
        if lit:
            parts += [
                sphere("flame", 0.13 * UNIT, (0, -0.30 * UNIT, 0.74 * UNIT)),
                cone("flame", 0.125 * UNIT, 0.42 * UNIT, (0, -0.30 * UNIT, 0.98 * UNIT)),
            ]
            light = at + inward * 0.55
            self.draft.lamp("torch", _metres(light[0], light[1], high + 1.0), "#ffac57", 5.5, 8.5, shadow)
        self.draft.add("torch_mounted", "torch", parts, _metres(at[0], at[1], high), yaw)

    # --- what stands in it --------------------------------------------------------------------------------------------------

    def furnish_hall(self) -> None:
        """A guard room: tables and stools, stores in the corners, banners."""
        first, second = self.banners
        for x in (4, 12):
            self.put(f"banner_{first}", x, 16, 0.0, NORTH)
            self.torch(x + (2 if x < 8 else -2), 0, SOUTH, shadow=x == 4)
        self.put(f"banner_shield_{second}", 0, 8, 0.0, WEST)
        self.torch(8, 16, NORTH)
        self.torch(0, 4, WEST)
        self.torch(0, 12, WEST)
        for at in ((4.6, 4.9), (11.4, 4.9), (4.6, 11.1), (11.4, 11.1)):
            self.put(self._pick("pillar", "pillar_decorated"), *at, FLOOR, self._quarter())
        self.put(
            self._pick("table_long_decorated_A", "table_long_tablecloth_decorated_A"),
            7.6,
            8,
            FLOOR,
            float(self.rng.uniform(-0.1, 0.1)),
        )
        for row in (6.7, 8.0, 9.3):
            self.loose(self._pick("chair", "stool"), 6.0, row, 6.0, yaw=math.pi / 2 + float(self.rng.uniform(-0.4, 0.4)))
            self.loose(self._pick("chair", "stool"), 9.2, row, 6.0, yaw=-math.pi / 2 + float(self.rng.uniform(-0.4, 0.4)))
        self.put("keg_decorated", 2.6, 14.2, FLOOR, 0.0)
        self.put("crates_stacked", 14.1, 14.0, FLOOR, float(self.rng.uniform(-0.3, 0.3)))
        self.put("table_small_decorated_B", 14.6, 1.6, FLOOR, self._quarter())
        self.put("candle_triple", 8.4, 1.2, FLOOR, 0.0)
        self.put("barrel_large", 1.8, 10.0, FLOOR, self._quarter())
        self.keep_free((3.4, 3.4, 1.6), (12.5, 3.0, 1.0), *((x, DOOR_Y, 1.6) for x in (12.5, 14.0, 15.5)))
        self._scatter((0.0, 0.0, 16.0, 16.0), 8)

    def furnish_treasury(self) -> None:
        """Stores below, treasure above."""
        first, second = self.banners
        self.put("sword_shield_gold", 40 - 0.36, DOOR_Y, DAIS + 1.2, EAST)
        for side in (4, 12):
            self.put(f"banner_{second}", 40, side, 0.6, EAST)
        self.put(f"banner_triple_{first}", 28, 16, 0.0, NORTH)
        for x, y, yaw, high, shadow in (
            (40, 6, EAST, DAIS + 1.0, False),
            (40, 10, EAST, DAIS + 1.0, True),
            (30, 16, NORTH, 2.3, False),
            (30, 0, SOUTH, 2.3, False),
            (26, 0, SOUTH, 2.3, True),
            (36, 16, NORTH, DAIS + 1.0, False),
            (36, 0, SOUTH, DAIS + 1.0, False),
        ):
            self.torch(x, y, yaw, high=high, shadow=shadow)
        up = DAIS + FLOOR
        self.put("chest_gold", 37.6, DOOR_Y, up, -math.pi / 2)
        self.put("chest", 37.4, 12.6, up, -math.pi / 2 + 0.3)
        for piece, *place in (
            ("coin_stack_large", 37.4, 10.2),
            ("coin_stack_medium", 36.2, 9.9),
            ("coin_stack_small", 37.7, 6.0),
            ("coin_stack_medium", 36.4, 6.2),
        ):
            self.put(piece, place[0], place[1], up, self._quarter())
        self.loose("trunk_medium_A", 37.2, 3.6, 25.0, up)
        self.loose("trunk_small_B", 35.4, 2.0, 12.0, up)
        for at in ((27.5, 4.6), (27.5, 11.4)):
            self.put("pillar_decorated", *at, FLOOR, self._quarter())
        self.put("keg", 25.6, 14.6, FLOOR, 0.0)
        self.put("box_stacked", 29.4, 13.6, FLOOR, float(self.rng.uniform(-0.2, 0.2)))
        self.put("table_medium_broken", 29.6, 2.6, FLOOR, self._quarter())
        self.keep_free((27.0, 12.5, 1.2), (27.0, 3.0, 1.0), *((x, DOOR_Y, 1.8) for x in (24.5, 26.0, 28.0, 29.5)))
        self.keep_free(*((x, y, 0.8) for x in (29.8, 31.0) for y in range(4, 13)))
        self._scatter((24.0, 0.0, 31.8, 16.0), 7)

    def keep_free(self, *places: tuple[float, float, float]) -> None:
        """Nothing may be scattered within a radius of these places."""
        self.taken += places

    def _scatter(self, floor: tuple[float, float, float, float], count: int) -> None:
        """Up to ``count`` barrels, boxes and trunks to push, where there is room; most of them stand along the walls."""
        kinds = (("barrel_small", 22.0), ("box_small", 16.0), ("box_small", 16.0), ("box_large", 40.0), ("trunk_large_A", 30.0))
        west, south, east, north = floor
        for _ in range(count):
            piece, mass = kinds[int(self.rng.integers(len(kinds)))]
            radius = max(radius for prefix, radius in RADII.items() if piece.startswith(prefix))
            margin = radius + 0.95
            for _ in range(60):
                x, y = (
                    float(self.rng.uniform(west + margin, east - margin)),
                    float(self.rng.uniform(south + margin, north - margin)),
                )
                if self.rng.random() < 0.6:
                    y = (south + margin) if self.rng.random() < 0.5 else (north - margin)
                if all(math.hypot(x - ox, y - oy) > radius + other + 0.05 for ox, oy, other in self.taken):
                    self.loose(piece, x, y, mass)
                    break
