"""Furnished rooms on a grid: doorways, windows, lamps, things to push.

Each room is a shell of four walls in its own paint; where two rooms meet, their shells stand back to back and share the openings.
Posts at the corners of the grid hide the joints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators import furniture as f
from worldwright.world.generators import plants
from worldwright.world.generators.draft import Draft, Triple, box, colour, cylinder, glow, material, moved, r3, sphere, turn
from worldwright.world.generators.masonry import Opening, panel
from worldwright.world.generators.place import Rect, Site
from worldwright.world.spec import Bounds, Goal, Hinge, Light, Part, Sky, Spawn, Strict, Sun, World

LAYER = 0.1
"""Thickness of one room's shell; a wall between two rooms is twice that."""
HEIGHT = 2.75
DOOR_WIDTH, DOOR_HEIGHT = 1.2, 2.2
WINDOW_LOW, WINDOW_HIGH = 0.9, 2.2
GROUND = -0.12


class Rooms(Strict):
    """Parameters of ``rooms``."""

    rooms: Annotated[int, Field(ge=2, le=9)] = 5
    furniture: Annotated[float, Field(ge=0, le=1)] = 0.75
    """How full the rooms are."""
    lamps: Annotated[float, Field(ge=0, le=4)] = 1.0
    """Brightness of the lamps; 0 puts them out."""


@dataclass(frozen=True)
class _Kind:
    """A kind of room: its paint and floor, what stands in the middle, what stands along the walls, the most needed first."""

    name: str
    wall: str
    floor: str
    middle: tuple[str, ...]
    along: tuple[f.Maker, ...]
    loose: tuple[f.Maker, ...] = ()


_LIVING = _Kind(
    "living",
    "paint_sage",
    "parquet",
    ("rug_a", "coffee_table"),
    (f.sofa, f.television, f.shelf, f.armchair, f.floor_lamp, f.plant, f.cabinet),
    (f.carton,),
)
_KITCHEN = _Kind(
    "kitchen", "paint_cream", "chequer", ("dining_table",), (f.counter, f.fridge, f.cabinet, f.plant), (f.stool, f.stool)
)
_BEDROOM = _Kind(
    "bedroom", "paint_blue", "oak", ("rug_b",), (f.bed, f.nightstand, f.wardrobe, f.plant, f.armchair, f.floor_lamp), (f.carton,)
)
_STUDY = _Kind(
    "study",
    "paint_ochre",
    "parquet",
    ("rug_a",),
    (f.desk, f.shelf, f.shelf, f.armchair, f.floor_lamp, f.plant),
    (f.carton, f.carton),
)
_BATH = _Kind("bath", "paint_tile", "tiles", (), (f.bathtub, f.washstand, f.cabinet, f.plant), (f.stool,))
_DINING = _Kind("dining", "paint_clay", "oak", ("rug_b", "dining_table"), (f.cabinet, f.shelf, f.plant, f.floor_lamp, f.plant), ())
_PLAY = _Kind(
    "playroom", "paint_mint", "oak", (), (f.blocks, f.shelf, f.armchair, f.plant, f.cabinet), (f.ball, f.ball, f.carton, f.carton)
)
_LIBRARY = _Kind(
    "library",
    "paint_clay",
    "parquet",
    ("rug_a", "coffee_table"),
    (f.shelf, f.shelf, f.shelf, f.armchair, f.armchair, f.floor_lamp, f.plant),
    (f.stool,),
)
_STORE = _Kind("store", "paint_cream", "concrete", (), (f.shelf, f.cabinet, f.wardrobe), (f.carton,) * 7)


@dataclass
class _Room:
    kind: _Kind
    cell: tuple[int, int]
    rect: Rect
    site: Site
    openings: dict[str, list[Opening]] = field(default_factory=lambda: {side: [] for side in "nsew"})
    """By side, along X or Y from the middle of that side: doorways stand on the floor, windows do not."""
    hung: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {side: [] for side in "nsew"})
    """Stretches of wall that carry something tall or a picture."""

    @property
    def middle(self) -> tuple[float, float]:
        return (self.rect.x0 + self.rect.x1) / 2, (self.rect.y0 + self.rect.y1) / 2

    def length(self, side: str) -> float:
        """Length of a side."""
        return self.rect.x1 - self.rect.x0 if side in "ns" else self.rect.y1 - self.rect.y0


_STEP = {"n": (0, 1), "s": (0, -1), "e": (1, 0), "w": (-1, 0)}
_ACROSS = {"n": "s", "s": "n", "e": "w", "w": "e"}
_YAW = {"n": 0.0, "s": math.pi, "e": -math.pi / 2, "w": math.pi / 2}
"""Turns furniture, whose back is at +Y, to this wall."""


@dataclass
class _House:
    draft: Draft
    rng: np.random.Generator
    params: Rooms
    rooms: list[_Room]

    def at(self, cell: tuple[int, int]) -> _Room | None:
        """The room in a cell of the grid."""
        return next((room for room in self.rooms if room.cell == cell), None)


def rooms(params: Rooms, seed: int) -> World:
    """The rooms of a seed."""
    rng = np.random.default_rng([seed, 2])
    house = _House(Draft(), rng, params, [])
    _paint(house)
    _plan(house)
    _doorways(house)
    _windows(house)
    first = house.rooms[0]
    start = _start(first)
    for room in house.rooms:
        _shell(house, room)
    _facade(house)
    for room in house.rooms:
        _furnish(house, room)
    _garden(house)
    goals = [Goal(name=f"{room.kind.name}_{k + 1}", position=_open_spot(room)) for k, room in enumerate(house.rooms)]
    x0, y0, x1, y1 = _extent(house)
    sun = Sun(
        azimuth_deg=round(float(rng.uniform(0, 360)), 1),
        elevation_deg=round(float(rng.uniform(24, 42)), 1),
        colour=colour("#ffe2b8"),
        intensity=4.2,
    )
    return World(
        name=f"rooms_{seed}",
        description=f"A flat of {len(house.rooms)} rooms: {', '.join(room.kind.name for room in house.rooms)}.",
        bounds=Bounds(min=(x0 - 16, y0 - 16, -2.0), max=(x1 + 16, y1 + 16, 12.0)),
        materials=house.draft.used_materials(),
        entities=house.draft.entities,
        light=Light(
            sun=sun,
            sky=Sky(zenith=colour("#5f93dd"), horizon=colour("#d3e2f0"), ground=(0.2, 0.18, 0.14), intensity=0.8),
            lamps=house.draft.lamps,
            exposure=1.3,
        ),
        spawns=[Spawn(name="start", position=(start[0], start[1], 0.0), yaw=start[2])],
        goals=goals,
    )


def _paint(house: _House) -> None:
    rng = house.rng
    covers = [
        ("#5d7a86", "#4a6470"),
        ("#a4583f", "#86452f"),
        ("#6f7f5a", "#586647"),
        ("#7a5573", "#5f4059"),
        ("#c08a3e", "#9c6d2c"),
    ]
    a, b, c = rng.permutation(len(covers))[:3]
    house.draft.paint(
        parquet=material("#b07d4a", "wood", "#7c5330", 1.1, roughness=0.42, seed=1),
        oak=material("#c9a06c", "wood", "#9a7344", 1.3, roughness=0.48, seed=1),
        chequer=material("#e9e2d3", "checker", "#4c5a60", 1.6, roughness=0.3, seed=1),
        tiles=material("#dfe6e4", "tile", "#9fb0ae", 1.2, roughness=0.25, seed=1),
        concrete=material("#b4b0a8", "concrete", "#918d84", 2.0, roughness=0.7, seed=1),
        paint_sage=material("#b9c4a6", "plaster", "#adb89a", 2.0, roughness=0.92, seed=1),
        paint_cream=material("#f0e4cc", "plaster", "#e6d8bc", 2.0, roughness=0.92, seed=1),
        paint_blue=material("#a9bccb", "plaster", "#9cb0c0", 2.0, roughness=0.92, seed=1),
        paint_ochre=material("#dcb983", "plaster", "#d0ab73", 2.0, roughness=0.92, seed=1),
        paint_tile=material("#cfe0dd", "tile", "#f0f3f0", 0.6, roughness=0.25, seed=1),
        paint_clay=material("#c98f74", "plaster", "#bd8266", 2.0, roughness=0.92, seed=1),
        paint_mint=material("#bcd8c8", "plaster", "#aecdbb", 2.0, roughness=0.92, seed=1),
        ceiling=material("#f4f0e6", "plaster", "#ece7da", 2.0, roughness=0.95, seed=1),
        trim=material("#f2ecdf", roughness=0.5),
        brick=material("#a8604a", "brick", "#c0b09a", 1.25, roughness=0.9, seed=1),
        cap=material("#d8d0c0", "concrete", "#bdb5a4", 2.0, roughness=0.8, seed=1),
        grass=material("#a3bd66", "grass", "#6a8a3e", 2.2, roughness=0.95),
        hedge=material("#6f9a48", "grass", "#4b7233", 1.0, roughness=0.9),
        leaf=material("#6c9a4c", "grass", "#4f7a38", 0.8, roughness=0.85),
        leaf_light=material("#8fb960", "grass", "#6c9646", 0.8, roughness=0.85),
        bark=material("#93765b", "bark", "#5c4734", 0.6, roughness=0.95),
        clay=material("#bf6f48", roughness=0.75),
        dirt=material("#6b4f36", "dirt", "#4d3926", 0.8, roughness=1.0),
        wood=material("#b5824f", "wood", "#87592f", 1.4, roughness=0.45, seed=2),
        wood_dark=material("#7a4f30", "wood", "#54341d", 1.4, roughness=0.42, seed=2),
        fabric_a=material(covers[a][0], "fabric", covers[a][1], 0.35, roughness=0.95, seed=1),
        fabric_b=material(covers[b][0], "fabric", covers[b][1], 0.35, roughness=0.95, seed=1),
        cushion=material(covers[c][0], "fabric", covers[c][1], 0.3, roughness=0.95, seed=1),
        linen=material("#f1ebe0", "fabric", "#e2dac9", 0.3, roughness=0.95, seed=1),
        curtain=material("#e9dcc3", "fabric", "#d6c5a4", 0.4, roughness=0.95, seed=1),
        rug_a=material(covers[c][0], "fabric", "#e6d6b6", 0.9, roughness=1.0, seed=4),
        rug_b=material("#d9c7a4", "fabric", covers[a][1], 0.9, roughness=1.0, seed=4),
        rug_edge=material("#ece0c8", "fabric", "#cdbb96", 0.5, roughness=1.0, seed=4),
        cupboard=material("#7f9a92", roughness=0.5),
        marble=material("#ece9e4", "plaster", "#cfcac2", 0.9, roughness=0.2, seed=3),
        ceramic=material("#f3f1ea", roughness=0.18),
        steel=material("#c4c8cc", "metal", "#a2a7ad", 0.7, roughness=0.34, metallic=1.0, seed=1),
        brass=material("#d8b26a", roughness=0.3, metallic=1.0),
        mirror=material("#dfe6ea", roughness=0.06, metallic=1.0),
        black=material("#24262a", roughness=0.4),
        screen=material("#10151c", roughness=0.12),
        water=material("#7fb7c4", roughness=0.06),
        carton=material("#bd915c", "concrete", "#ab7f4b", 1.0, roughness=0.9, seed=2),
        tape=material("#d9c08c", roughness=0.4),
        book_red=material("#a63d33", roughness=0.7),
        book_blue=material("#33567f", roughness=0.7),
        book_green=material("#4d7350", roughness=0.7),
        book_cream=material("#dccfae", roughness=0.7),
        book_ochre=material("#c98f35", roughness=0.7),
        apple=material("#b8382c", roughness=0.35),
        orange=material("#e0862a", roughness=0.5),
        lime=material("#94b23e", roughness=0.45),
        shade=glow("#ffe0b0", 2.2 if house.params.lamps > 0 else 0.0),
    )


# --- plan -------------------------------------------------------------------------------------------------------------------


def _plan(house: _House) -> None:
    """Which rooms there are, where, and how large."""
    rng, count = house.rng, house.params.rooms
    down = 2 if count <= 6 else 3
    across = math.ceil(count / down)
    xs = np.concatenate([[0.0], np.cumsum(np.round(rng.uniform(4.8, 6.2, across), 1))])
    ys = np.concatenate([[0.0], np.cumsum(np.round(rng.uniform(4.6, 5.8, down), 1))])
    xs, ys = xs - round(xs[-1] / 2, 1), ys - round(ys[-1] / 2, 1)
    others = [_STUDY, _BATH, _DINING, _PLAY, _LIBRARY, _STORE]
    kinds = [_LIVING, _KITCHEN, _BEDROOM, *[others[k] for k in rng.permutation(len(others))]][:count]
    cells = [(c, r if c % 2 == 0 else down - 1 - r) for c in range(across) for r in range(down)][:count]
    for kind, (c, r) in zip(kinds, cells, strict=True):
        rect = Rect(float(xs[c]), float(ys[r]), float(xs[c + 1]), float(ys[r + 1]))
        house.rooms.append(_Room(kind, (c, r), rect, Site(rect.grown(-LAYER - 0.02))))


def _extent(house: _House) -> tuple[float, float, float, float]:
    rects = [room.rect for room in house.rooms]
    return min(r.x0 for r in rects), min(r.y0 for r in rects), max(r.x1 for r in rects), max(r.y1 for r in rects)


def _doorways(house: _House) -> None:
    """Doorways that connect all rooms, some that make rounds, and door leaves in some of them, ajar."""
    pairs = []
    for room in house.rooms:
        for side in "ne":
            other = house.at((room.cell[0] + _STEP[side][0], room.cell[1] + _STEP[side][1]))
            if other is not None:
                pairs.append((room, side, other))
    order = house.rng.permutation(len(pairs))
    reached = {house.rooms[0].cell}
    chosen: list[int] = []
    while len(reached) < len(house.rooms):
        for k in order:
            room, _, other = pairs[k]
            if (room.cell in reached) != (other.cell in reached):
                reached |= {room.cell, other.cell}
                chosen.append(int(k))
                break
    chosen += [int(k) for k in order if int(k) not in chosen and house.rng.random() < 0.55]
    for index, k in enumerate(chosen):
        room, side, other = pairs[k]
        shift = round(float(house.rng.uniform(-0.22, 0.22)) * room.length(side), 2)
        hole = Opening(shift, DOOR_WIDTH, 0.0, DOOR_HEIGHT)
        room.openings[side].append(hole)
        other.openings[_ACROSS[side]].append(hole)
        _doorway(house, room, side, shift, leaf=index % 2 == 0)
        x, y = _on_wall(room, side, shift)
        for place in (room, other):
            half = (0.75, 1.15) if side in "ns" else (1.15, 0.75)
            place.site.taken.append(Rect.around(x, y, *half))


def _on_wall(room: _Room, side: str, shift: float, inwards: float = 0.0) -> tuple[float, float]:
    """A point on a side, ``shift`` along X or Y from its middle, ``inwards`` from it."""
    x, y = room.middle
    dx, dy = _STEP[side]
    half = room.length("e" if side in "ns" else "n") / 2 - inwards
    return round(x + dx * half + (shift if dx == 0 else 0), 4), round(y + dy * half + (shift if dy == 0 else 0), 4)


def _doorway(house: _House, room: _Room, side: str, shift: float, leaf: bool) -> None:
    x, y = _on_wall(room, side, shift)
    yaw = 0.0 if side in "ns" else math.pi / 2
    edge = DOOR_WIDTH / 2 + 0.02
    parts = [box("trim", (0.14, 2 * LAYER + 0.05, DOOR_HEIGHT), (s * edge, 0, DOOR_HEIGHT / 2)) for s in (-1, 1)]
    parts += [
        box("trim", (DOOR_WIDTH + 0.22, 2 * LAYER + 0.06, 0.15), (0, 0, DOOR_HEIGHT + 0.02)),
        box("wood_dark", (DOOR_WIDTH - 0.05, 2 * LAYER + 0.02, 0.02), (0, 0, -0.004), collide=False),
    ]
    house.draft.add("door_frame", "door_frame", parts, (x, y, 0), yaw)
    if not leaf:
        return
    width, high = DOOR_WIDTH - 0.18, DOOR_HEIGHT - 0.1
    ajar = round(float(house.rng.uniform(1.15, 1.45)) * float(house.rng.choice([-1, 1])), 3)
    hinge = -width / 2
    door = [
        box("wood", (width, 0.042, high)),
        *[box("wood_dark", (width - 0.3, 0.052, h), (0, 0, z), collide=False) for h, z in ((0.74, -0.52), (0.82, 0.5))],
        *[sphere("brass", 0.028, (width / 2 - 0.08, s * 0.055, -0.05), collide=False) for s in (-1, 1)],
    ]
    turned = yaw + ajar
    foot_x = x + hinge * math.cos(yaw) + width / 2 * math.cos(turned)
    foot_y = y + hinge * math.sin(yaw) + width / 2 * math.sin(turned)
    house.draft.add("door", "door", door, (foot_x, foot_y, 0.012 + high / 2), turned, body="dynamic", mass=16.0, pushable=True, friction=0.3,
        joint=Hinge(kind="hinge", anchor=(hinge, 0.0, 0.0), axis=(0.0, 0.0, 1.0), lower=round(-1.5 - ajar, 3), upper=round(1.5 - ajar, 3), friction=0.8))  # fmt: skip


def _windows(house: _House) -> None:
    for room in house.rooms:
        outer = [side for side in "nsew" if house.at((room.cell[0] + _STEP[side][0], room.cell[1] + _STEP[side][1])) is None]
        for side in outer[:1] if room.kind in {_KITCHEN, _LIBRARY} else outer:  # those need walls for what is tall
            length = room.length(side)
            bath = room.kind is _BATH
            width = 0.9 if bath else 1.5
            spots = [0.0] if length < 5.4 or bath else [-length * 0.24, length * 0.24]
            for spot in spots:
                middle = round(spot + float(house.rng.uniform(-0.15, 0.15)), 2)
                room.openings[side].append(Opening(middle, width, 1.4 if bath else WINDOW_LOW, WINDOW_HIGH))
                _window(house, room, side, room.openings[side][-1])


def _window(house: _House, room: _Room, side: str, hole: Opening) -> None:
    """Frame, bars and a sill; curtains inside. In its frame the outside is +Y."""
    width, tall, middle = hole.width, hole.high - hole.low, (hole.low + hole.high) / 2
    parts = [box("trim", (0.09, 2 * LAYER + 0.05, tall + 0.06), (s * width / 2, 0, middle)) for s in (-1, 1)]
    parts += [box("trim", (width + 0.16, 2 * LAYER + 0.06, 0.09), (0, 0, z)) for z in (hole.low, hole.high)]
    parts += [box("trim", (0.045, 0.06, tall), (0, 0.02, middle)), box("trim", (width, 0.05, 0.04), (0, 0.02, middle + 0.12))]
    parts.append(box("trim", (width + 0.24, 0.2, 0.035), (0, -LAYER - 0.06, hole.low + 0.03)))
    if room.kind is not _BATH:
        parts.append(cylinder("brass", 0.016, width + 0.9, (0, -LAYER - 0.11, hole.high + 0.2), turn("y", math.pi / 2)))
        for s in (-1, 1):
            for k in range(4):
                x = s * (width / 2 + 0.08 + 0.085 * k)
                parts.append(
                    cylinder(
                        "curtain",
                        0.052,
                        hole.high + 0.1,
                        (x, -LAYER - 0.11 - 0.02 * (k % 2), (hole.high + 0.18) / 2 + 0.06),
                    )
                )
    x, y = _on_wall(room, side, hole.middle)
    house.draft.add("window", "window", parts, (x, y, 0), _YAW[side])


# --- walls ------------------------------------------------------------------------------------------------------------------


def _wall(paint: str, length: float, high: float, openings: Sequence[Opening], low: float) -> list[Part]:
    return panel(paint, length, high, LAYER, openings, low=low)


def _shell(house: _House, room: _Room) -> None:
    """Floor, four walls with skirting, ceiling and its lamp."""
    draft, rect = house.draft, room.rect
    wide, deep = rect.x1 - rect.x0, rect.y1 - rect.y0
    x, y = room.middle
    draft.add(
        f"floor_{room.kind.name}", "floor", [box(room.kind.floor, (wide, deep, 0.25), (0, 0, -0.125))], (x, y, 0), friction=0.8
    )
    parts: list[Part] = []
    for side in "nsew":
        length = room.length(side) - (0 if side in "ns" else 2 * LAYER)
        yaw = 0.0 if side in "ns" else math.pi / 2
        px, py = _on_wall(room, side, 0, LAYER / 2)
        wall = _wall(room.kind.wall, length, HEIGHT + 0.05, room.openings[side], -0.1)
        inside = {"n": -1, "s": 1, "e": 1, "w": -1}[side] * (LAYER / 2 + 0.006)
        doors = [o for o in room.openings[side] if o.low == 0]
        wall += [
            part.model_copy(update={"collide": False})
            for part in panel(
                "trim", length - 0.002, 0.11, 0.018, [Opening(o.middle, o.width + 0.18, 0, 0.2) for o in doors], inside, low=-0.02
            )
        ]
        parts += moved(wall, (px - x, py - y, 0), yaw)
    draft.add(f"walls_{room.kind.name}", "wall", parts, (x, y, 0))
    draft.add(f"ceiling_{room.kind.name}", "ceiling", [box("ceiling", (wide, deep, 0.2), (0, 0, HEIGHT + 0.1))], (x, y, 0))


def _facade(house: _House) -> None:
    """The outer skin of brick, a parapet, and posts at the corners of all rooms."""
    draft = house.draft
    parts: list[Part] = []
    corners: set[tuple[float, float]] = set()
    high = HEIGHT + 0.42
    for room in house.rooms:
        r = room.rect
        corners |= {(r.x0, r.y0), (r.x1, r.y0), (r.x0, r.y1), (r.x1, r.y1)}
        for side in "nsew":
            if house.at((room.cell[0] + _STEP[side][0], room.cell[1] + _STEP[side][1])) is not None:
                continue
            px, py = _on_wall(room, side, 0, -LAYER / 2)
            yaw = 0.0 if side in "ns" else math.pi / 2
            skin = _wall("brick", room.length(side), high, room.openings[side], GROUND - 0.3)
            skin += [
                box("cap", (room.length(side) + 0.2, 0.26, 0.08), (0, 0, high + 0.02)),
                *[
                    box("cap", (o.width + 0.3, LAYER + 0.05, 0.16), (0, 0, o.high + 0.09)).model_copy(
                        update={"position": r3((o.middle, 0, o.high + 0.13))}
                    )
                    for o in room.openings[side]
                ],
            ]
            parts += moved(skin, (px, py, 0), yaw)
    draft.add("facade", "wall", parts)
    posts: list[Part] = []
    for x, y in sorted(corners):
        posts.append(box("trim", (2 * LAYER + 0.03, 2 * LAYER + 0.03, high + 0.4), (x, y, high / 2 - 0.22)))
        posts.append(box("cap", (0.34, 0.34, 0.1), (x, y, high + 0.03)))
    draft.add("posts", "wall", posts)


def _garden(house: _House) -> None:
    """Lawn, hedge and trees: what one sees through the windows."""
    draft, rng = house.draft, house.rng
    x0, y0, x1, y1 = _extent(house)
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    wide, deep = x1 - x0 + 30, y1 - y0 + 30
    draft.add("lawn", "ground", [box("grass", (wide, deep, 0.4), (middle_x, middle_y, GROUND - 0.2))])
    hedge: list[Part] = []
    for s in (-1, 1):
        hedge.append(box("hedge", (wide - 4, 1.0, 2.0), (middle_x, middle_y + s * (deep / 2 - 2), GROUND + 0.9)))
        hedge.append(box("hedge", (1.0, deep - 5.1, 1.96), (middle_x + s * (wide / 2 - 2), middle_y, GROUND + 0.9)))
    draft.add("hedge", "bush", hedge)
    house_rect = Rect(x0 - 2.5, y0 - 2.5, x1 + 2.5, y1 + 2.5)
    site = Site(Rect.around(middle_x, middle_y, wide / 2 - 4, deep / 2 - 4), [house_rect])
    for k in range(10):
        place = site.find(rng, 1.6)
        if place is None:
            continue
        tree = (
            plants.conifer(rng, "bark", ["hedge", "leaf"], float(rng.uniform(4, 6)))
            if k % 3 == 2
            else plants.broadleaf(rng, "bark", ["leaf", "leaf_light"], float(rng.uniform(2.8, 3.8)))
        )
        draft.add("tree", "tree", tree, (*place, GROUND))


# --- what stands in a room --------------------------------------------------------------------------------------------------


def _start(room: _Room) -> tuple[float, float, float]:
    """Where the player starts: a metre free, beside the room's middle, looking across it. Taken before anything is furnished."""
    x, y = room.middle
    corners = ((-1.15, -1.05), (1.15, -1.05), (-1.15, 1.05), (1.15, 1.05))
    # A doorway reaches one of the four at most, and the first room, at the house's corner, has two doorways at most.
    dx, dy = next((dx, dy) for dx, dy in corners if room.site.free(Rect.around(x + dx, y + dy, 0.4)))
    room.site.taken.append(Rect.around(x + dx, y + dy, 1.0))
    return round(x + dx, 3), round(y + dy, 3), round(math.atan2(-dy, -dx), 4)


def _furnish(house: _House, room: _Room) -> None:
    fullness = house.params.furniture
    _pendant(house, room)
    if fullness > 0:
        _in_the_middle(house, room)
        count = max(1, round(len(room.kind.along) * (0.35 + 0.65 * fullness)))
        for maker in room.kind.along[:count]:
            _along_a_wall(house, room, maker(house.rng))
        for maker in room.kind.loose[: round(len(room.kind.loose) * (0.3 + 0.7 * fullness))]:
            piece = maker(house.rng)
            place = room.site.find(house.rng, max(piece.width, piece.depth) / 2 + 0.06)
            if place is not None:
                yaw = float(house.rng.uniform(-0.1, 0.1)) + math.pi / 2 * int(house.rng.integers(4))
                _loose(house, piece, place[0], place[1], piece.middle, yaw)
    _pictures(house, room)


def _pendant(house: _House, room: _Room) -> None:
    x, y = room.middle
    drop = 0.62
    z = HEIGHT - drop
    parts = [
        cylinder("black", 0.008, drop, (0, 0, HEIGHT - drop / 2 + 0.02), collide=False),
        cylinder("brass", 0.05, 0.03, (0, 0, HEIGHT - 0.01), collide=False),
    ]
    style = int(house.rng.integers(3))
    if style == 0:
        parts.append(sphere("shade", 0.17, (0, 0, z)))
    elif style == 1:
        parts += [
            cylinder("shade", 0.24, 0.2, (0, 0, z)),
            cylinder("brass", 0.245, 0.03, (0, 0, z + 0.11)),
        ]
    else:
        parts += [sphere("shade", 0.11, (0.2 * math.cos(a), 0.2 * math.sin(a), z)) for a in (0.5, 2.6, 4.7)]
        parts.append(cylinder("brass", 0.22, 0.02, (0, 0, z + 0.1)))
    house.draft.add("pendant_lamp", "lamp", parts, (x, y, 0))
    if house.params.lamps > 0:
        house.draft.lamp("ceiling", (x, y, z - 0.28), "#ffe6c4", 6.5 * house.params.lamps, 8.0, shadow=room is house.rooms[0])


def _rug(house: _House, paint: str, x: float, y: float, wide: float, deep: float) -> None:
    parts = [
        box("rug_edge", (wide, deep, 0.02), (0, 0, -0.005), collide=False),
        box(paint, (wide - 0.24, deep - 0.24, 0.02), (0, 0, -0.001), collide=False),
    ]
    house.draft.add("rug", "rug", parts, (x, y, 0))


def _in_the_middle(house: _House, room: _Room) -> None:
    x, y = room.middle
    for thing in room.kind.middle:
        if thing.startswith("rug"):
            _rug(house, thing, x, y, 2.6, 1.9)
            continue
        piece = f.dining_table(house.rng) if thing == "dining_table" else f.coffee_table(house.rng)
        for dx, dy in ((0, 0), (0.3, 0), (-0.3, 0), (0, 0.3), (0, -0.3), (0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)):
            if room.site.take(Rect.around(x + dx, y + dy, piece.width / 2, piece.depth / 2)):
                _stand(house, piece, x + dx, y + dy, 0.0)
                break


def _along_a_wall(house: _House, room: _Room, piece: f.Piece) -> None:
    """Put a piece with its back to a wall, where there is room for it and for somebody before it."""
    for side in [str(s) for s in house.rng.permutation(list("nsew"))]:
        span = room.length(side) / 2 - LAYER - 0.03 - piece.width / 2
        if span < 0:
            continue
        for shift in [float(s) for s in house.rng.permutation(np.linspace(-span, span, 13))]:
            if piece.tall and any(
                abs(o.middle - shift) < (o.width + piece.width) / 2 + 0.45 for o in room.openings[side] if o.low > 0
            ):
                continue
            near, far = _on_wall(room, side, shift, LAYER + 0.025), _on_wall(room, side, shift, LAYER + 0.025 + piece.depth)
            dx, dy = (piece.width / 2, 0.0) if side in "ns" else (0.0, piece.width / 2)
            rect = Rect(min(near[0], far[0]) - dx, min(near[1], far[1]) - dy, max(near[0], far[0]) + dx, max(near[1], far[1]) + dy)
            ox, oy = -_STEP[side][0] * 0.5, -_STEP[side][1] * 0.5
            before = Rect(
                min(rect.x0, rect.x0 + ox), min(rect.y0, rect.y0 + oy), max(rect.x1, rect.x1 + ox), max(rect.y1, rect.y1 + oy)
            )
            if not room.site.free(before.grown(-0.001)):
                continue
            room.site.taken.append(rect)
            room.hung[side].append((shift - piece.width / 2, shift + piece.width / 2) if piece.tall else (shift, shift))
            _stand(house, piece, *near, _YAW[side])
            return


def _stand(house: _House, piece: f.Piece, x: float, y: float, yaw: float) -> None:
    house.draft.add(piece.label, piece.label, piece.parts, (x, y, 0), yaw)
    c, s = math.cos(yaw), math.sin(yaw)
    if piece.light is not None and house.params.lamps > 0:
        lx, ly, lz = piece.light
        house.draft.lamp(piece.label, (x + c * lx - s * ly, y + s * lx + c * ly, lz), "#ffcf94", 1.8 * house.params.lamps, 5.0)
    for loose, lx, ly, lz, turned in piece.extras:
        _loose(house, loose, x + c * lx - s * ly, y + s * lx + c * ly, lz, yaw + turned)


def _loose(house: _House, piece: f.Piece, x: float, y: float, z: float, yaw: float) -> None:
    house.draft.add(
        piece.label, piece.label, piece.parts, (x, y, z), yaw, body="dynamic", mass=piece.mass, friction=0.5, pushable=True
    )


def _pictures(house: _House, room: _Room) -> None:
    """Framed pictures where the wall is free at the height of the eyes."""
    rng = house.rng
    for side in [str(s) for s in rng.permutation(list("nsew"))][:3]:
        wide, tall = float(rng.uniform(0.5, 1.0)), float(rng.uniform(0.45, 0.7))
        span = room.length(side) / 2 - LAYER - wide / 2 - 0.3
        for shift in [float(s) for s in rng.permutation(np.linspace(-span, span, 7))]:
            blocked = any(abs(o.middle - shift) < (o.width + wide) / 2 + 0.55 for o in room.openings[side])
            blocked = blocked or any(a - wide / 2 - 0.15 < shift < b + wide / 2 + 0.15 for a, b in room.hung[side] if b > a)
            if blocked:
                continue
            sky, land = rng.choice(["book_blue", "book_cream", "paint_ochre"]), rng.choice(["book_green", "book_red", "book_ochre"])
            low = tall * float(rng.uniform(0.3, 0.5))
            parts = [
                box("wood_dark", (wide + 0.08, 0.03, tall + 0.08), (0, -0.012, 0), collide=False),
                box("linen", (wide, 0.03, tall), (0, -0.016, 0), collide=False),
                box(str(sky), (wide - 0.12, 0.03, tall - 0.12), (0, -0.02, 0), collide=False),
                box(str(land), (wide - 0.12, 0.03, low), (0, -0.024, -(tall - 0.12 - low) / 2), collide=False),
                cylinder("book_ochre", 0.05, 0.03, (wide * 0.18, -0.0245, tall * 0.2), turn("x", math.pi / 2), collide=False),
            ]
            x, y = _on_wall(room, side, shift, LAYER)
            house.draft.add("picture", "picture", parts, (x, y, round(float(rng.uniform(1.5, 1.65)), 3)), _YAW[side])
            room.hung[side].append((shift - wide / 2, shift + wide / 2))
            break


def _open_spot(room: _Room) -> Triple:
    """A free place on the floor of a furnished room, near its middle."""
    x, y = room.middle
    offsets = sorted(((dx * 0.2, dy * 0.2) for dx in range(-9, 10) for dy in range(-9, 10)), key=lambda o: (math.hypot(*o), o))
    doors = {id(r) for r in room.site.taken[: sum(1 for side in "nsew" for o in room.openings[side] if o.low == 0)]}
    solid = [r for r in room.site.taken if id(r) not in doors]
    for dx, dy in offsets:
        if not any(Rect.around(x + dx, y + dy, 0.4).meets(r) for r in solid):
            return r3((x + dx, y + dy, 0))
    px, py = _on_wall(room, *next((side, o.middle) for side in "nsew" for o in room.openings[side] if o.low == 0))
    return r3((px, py, 0))
