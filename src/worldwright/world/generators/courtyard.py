"""A walled courtyard outdoors: a fountain on a paved round, an arcade, two terraces (one by stairs, one by a ramp), trees, a market corner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from worldwright.world.generators import masonry, plants, props
from worldwright.world.generators.draft import Array, Draft, box, colour, cylinder, glow, material, moved, wedge
from worldwright.world.generators.masonry import Opening
from worldwright.world.generators.place import Rect, Site
from worldwright.world.spec import Bounds, Goal, Heightfield, Light, Part, Sky, Spawn, Strict, Sun, Weather, World

PLAZA_TOP, PATH_TOP, PAD_TOP = 0.05, 0.035, 0.04
PLAZA_RADIUS = 4.7
OUTSIDE = 14.0
"""Metres of land beyond the walls."""
WALL = 0.5


class Courtyard(Strict):
    """Parameters of ``courtyard``."""

    size: Annotated[float, Field(ge=24, le=44)] = 28.0
    """Metres between the middles of opposite walls."""
    trees: Annotated[int, Field(ge=0, le=24)] = 9
    crates: Annotated[int, Field(ge=0, le=40)] = 12
    roughness: Annotated[float, Field(ge=0, le=1)] = 0.5
    """How uneven the ground is: 0 is flat, 1 has mounds of half a metre."""


@dataclass
class _Court:
    draft: Draft
    rng: np.random.Generator
    params: Courtyard
    half: float
    flat: list[Rect]
    site: Site
    leaves: list[str]
    phases: Array

    def ground(self, x: Array, y: Array) -> Array:
        """Height of the ground at places."""
        waves = sum(
            amplitude * np.sin(kx * x + px) * np.sin(ky * y + py)
            for (px, py), (kx, ky, amplitude) in zip(
                self.phases, ((0.42, 0.37, 0.5), (0.83, 0.71, 0.3), (0.21, 0.29, 0.5)), strict=True
            )
        )
        away = np.hypot(x, y) - PLAZA_RADIUS
        for r in self.flat:
            away = np.minimum(
                away, np.hypot(np.maximum(np.maximum(r.x0 - x, x - r.x1), 0), np.maximum(np.maximum(r.y0 - y, y - r.y1), 0))
            )
        t = np.clip((away - 0.7) / 2.2, 0, 1)
        outside = np.clip((np.maximum(np.abs(x), np.abs(y)) - self.half - 2) / (OUTSIDE - 2), 0, 1)
        return self.params.roughness * 0.7 * waves * t * t * (3 - 2 * t) + outside**2 * (3.2 + 1.6 * waves)

    def paint(self, **colours: str) -> None:
        """Short for plain materials."""
        self.draft.paint(**{name: material(code) for name, code in colours.items()})


def courtyard(params: Courtyard, seed: int) -> World:
    """The courtyard of a seed."""
    rng = np.random.default_rng([seed, 1])
    half = params.size / 2
    court = _Court(Draft(), rng, params, half, [], Site(Rect.around(0, 0, half - 1.2)), [], rng.uniform(0, 2 * math.pi, (3, 2)))
    light = _mood(court)
    _ground_and_paths(court)
    _walls(court)
    _plaza(court)
    goals = [*_terrace_by_stairs(court), *_terrace_by_ramp(court), *_market(court)]
    _planting(court)
    _outside(court)
    far = half + OUTSIDE
    start = (0.0, round(-half + 4.0, 3), PATH_TOP)
    return World(
        name=f"courtyard_{seed}",
        description="A walled courtyard with a fountain, an arcade, two terraces, trees and a market corner.",
        bounds=Bounds(min=(-far, -far, -4.0), max=(far, far, 16.0)),
        materials=court.draft.used_materials(),
        entities=court.draft.entities,
        light=light.model_copy(update={"lamps": court.draft.lamps}),
        weather=Weather(fog_density=0.0015, fog_colour=light.sky.horizon),
        spawns=[
            Spawn(name="start", position=start, yaw=round(math.pi / 2, 6)),
            Spawn(name="arcade", position=(0.0, 8.2, PATH_TOP), yaw=round(-math.pi / 2, 6)),
        ],
        goals=[Goal(name="fountain", position=(2.6, -1.6, PLAZA_TOP)), Goal(name="arcade", position=(0.0, 8.4, PATH_TOP)), *goals],
    )


# --- palette and light ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Style:
    """Pairs of colours of walls, copings, roofs and paving; what walls are made of."""

    kind: Literal["stone", "brick"]
    repeat: float
    wall: tuple[str, str]
    cap: tuple[str, str]
    roof: tuple[str, str]
    paving: tuple[str, str]


_STYLES = (
    _Style("stone", 2.2, ("#c9a877", "#93784f"), ("#e0cfa9", "#c2ac80"), ("#b4553a", "#7d3524"), ("#cbb994", "#97875f")),
    _Style("brick", 1.25, ("#9c5240", "#b7a48e"), ("#d8cfbd", "#b3a892"), ("#4b5563", "#2e3640"), ("#b5a590", "#857762")),
    _Style("stone", 2.0, ("#a3a196", "#6f6d63"), ("#cfccc0", "#a7a497"), ("#5d6f7f", "#3b4854"), ("#a8a294", "#76705f")),
)
_LEAVES = (
    ("#8aae4c", "#a3c25a", "#6f9a45"),
    ("#9ab54a", "#d9a244", "#c47a38"),
    ("#7aa85e", "#94bd70", "#ecb4c2"),
    ("#6a9c50", "#86b254", "#58894f"),
)


@dataclass(frozen=True)
class _Mood:
    """A time of day: sun's colour and strength, its elevation from and to, the sky's colours."""

    sun: str
    strength: float
    elevation: tuple[float, float]
    zenith: str
    horizon: str


_MOODS = (
    _Mood("#fff0d6", 3.4, (42, 58), "#4f8ae0", "#c3dbf2"),
    _Mood("#ffd9a6", 3.3, (22, 30), "#5f8fd6", "#ecd9c4"),
    _Mood("#fff6e6", 3.2, (34, 46), "#5a8fdc", "#cfe0ee"),
)


def _mood(court: _Court) -> Light:
    """Choose the style, paint it, and give the light."""
    rng, paint = court.rng, court.draft.paint
    style = _STYLES[int(rng.integers(len(_STYLES)))]
    leaves = _LEAVES[int(rng.integers(len(_LEAVES)))]
    mood = _MOODS[int(rng.integers(len(_MOODS)))]
    paint(
        grass=material("#a3bd66", "grass", "#6a8a3e", 2.2, roughness=0.95),
        wall=material(style.wall[0], style.kind, style.wall[1], style.repeat, roughness=0.88),
        cap=material(style.cap[0], "concrete", style.cap[1], 2.4, roughness=0.8),
        paving=material(style.paving[0], "stone", style.paving[1], 2.4, roughness=0.85, seed=5),
        roof=material(style.roof[0], "tile", style.roof[1], 1.1, roughness=0.7),
        bark=material("#93765b", "bark", "#5c4734", 0.6, roughness=0.95),
        dirt=material("#7b5a3c", "dirt", "#56402b", 1.4, roughness=1.0),
        rock=material("#98948a", "concrete", "#726e64", 1.2, roughness=0.9),
        plank=material("#b98d58", "wood", "#7e5a30", 1.0, roughness=0.65),
        frame=material("#96693a", "wood", "#5f4020", 1.0, roughness=0.65),
        dark_wood=material("#6d4a2c", "wood", "#45301b", 1.2, roughness=0.6),
        iron=material("#3a3d42", "metal", "#26282c", 0.6, roughness=0.5, metallic=0.9),
        hoop=material("#70706c", "metal", "#4c4b48", 0.6, roughness=0.45, metallic=1.0),
        water=material("#2f6f86", roughness=0.08),
        cloth_a=material("#b8433a", "fabric", "#8e2e29", 0.5, roughness=0.9),
        cloth_b=material("#efe3c8", "fabric", "#d6c7a4", 0.5, roughness=0.9),
        gold=material("#d9a441", "fabric", "#b07f28", 0.5, roughness=0.7),
        clay=material("#b9673f", "concrete", "#8f4a2a", 0.8, roughness=0.8),
        lantern=glow("#ffd08a", 2.6),
    )  # fmt: skip
    for k, leaf in enumerate(leaves):
        paint(**{f"leaf_{k}": material(leaf, "grass", _darker(leaf), 1.1, roughness=0.9, seed=3)})
    paint(
        cypress=material("#55804c", "grass", "#3a5f36", 1.0, roughness=0.9, seed=3),
        hedge=material("#6f9a48", "grass", "#4b7233", 1.0, roughness=0.9, seed=3),
    )
    court.paint(
        apple="#c23b2e", orange="#e08a2c", lime="#8fae3c", white="#f3efe6", violet="#8663a8", rose="#d76a8a", yolk="#ecc23f"
    )
    court.leaves = [f"leaf_{k}" for k in range(len(leaves))]
    azimuth, elevation = round(float(rng.uniform(195, 335)), 1), round(float(rng.uniform(*mood.elevation)), 1)
    sun = Sun(azimuth_deg=azimuth, elevation_deg=elevation, colour=colour(mood.sun), intensity=mood.strength)
    sky = Sky(zenith=colour(mood.zenith), horizon=colour(mood.horizon), ground=(0.2, 0.19, 0.15), intensity=1.0)
    return Light(sun=sun, sky=sky)


def _darker(code: str) -> str:
    return "#" + "".join(f"{int(int(code[k : k + 2], 16) * 0.72):02x}" for k in (1, 3, 5))


# --- ground and buildings ---------------------------------------------------------------------------------------------------


def _ground_and_paths(court: _Court) -> None:
    half, draft = court.half, court.draft
    court.flat += [
        Rect(-1.2, -half, 1.2, half),
        Rect(-half, -1.1, half, 1.1),
        Rect(half - 8.6, half - 10.4, half, half),
        Rect(-half, half - 10.6, -half + 8.0, half),
        Rect(-half, -half, -half + 7.4, -half + 6.8),
        Rect(-4.6, 5.4, 4.6, 7.8),
    ]
    edge = half + OUTSIDE
    n = 2 * round(edge / 0.85) + 1
    x, y = np.meshgrid(np.linspace(-edge, edge, n), np.linspace(-edge, edge, n))
    heights = np.round(court.ground(x, y), 3) + 0.0
    field = Heightfield(shape="heightfield", size=(2 * edge, 2 * edge), heights=heights.tolist())
    draft.add("ground", "ground", [Part(geometry=field, material="grass")], friction=0.9)
    thick = 0.3
    reach = half - WALL / 2
    long = reach - PLAZA_RADIUS + 0.6
    mid = PLAZA_RADIUS - 0.6 + long / 2
    paths = [box("paving", (2.2, long, thick), (0, s * mid, PATH_TOP - thick / 2)) for s in (-1, 1)]
    paths += [box("paving", (long - 0.5, 1.8, thick), (s * (mid - 0.25), 0, PATH_TOP - thick / 2)) for s in (-1, 1)]
    draft.add("paths", "path", paths, friction=0.9)
    for r in (Rect(-1.5, -half, 1.5, half), Rect(-half, -1.3, half, 1.3), Rect.around(0, 0, PLAZA_RADIUS + 0.3)):
        court.site.taken.append(r)


def _walls(court: _Court) -> None:
    draft, half = court.draft, court.half
    height = round(float(court.rng.uniform(2.9, 3.5)), 2)
    toothed = bool(court.rng.random() < 0.6)
    length = 2 * half - 2.2

    def segment(stem: str, middle: float, size: float, side: tuple[float, float, float]) -> None:
        top = masonry.battlements("wall", "cap", size, WALL, height) if toothed else masonry.coping("cap", size, WALL, height)
        parts = [*masonry.panel("wall", size, height, WALL, low=-0.5), *top, box("cap", (size, WALL + 0.12, 0.7), (0, 0, 0.05))]
        for k in range(max(1, round(size / 4.5))):
            x = (k + 0.5) / max(1, round(size / 4.5)) * size - size / 2
            parts += [
                box("wall", (0.7, WALL + 0.5, height * 0.78 + 0.4), (x, 0, height * 0.39 - 0.2)),
                box("cap", (0.8, WALL + 0.6, 0.12), (x, 0, height * 0.78)),
            ]
        x0, y0, yaw = side
        draft.add(stem, "wall", moved(parts, (middle, 0, 0)), (x0, y0, 0), yaw)

    segment("wall_north", 0, length, (0, half, 0))
    segment("wall_east", 0, length, (half, 0, -math.pi / 2))
    segment("wall_west", 0, length, (-half, 0, math.pi / 2))
    wing = (length - 4.4) / 2
    for side, stem in ((-1, "wall_south_a"), (1, "wall_south_b")):
        segment(stem, side * (2.2 + wing / 2), wing, (0, -half, 0))
    gate = [
        *masonry.panel("wall", 4.6, 4.4, 1.1, [Opening(0, 2.2, -0.5, 3.0)], low=-0.5),
        *masonry.arch("cap", "wall", 2.2, 1.9, 1.2, 13),
        *masonry.battlements("wall", "cap", 4.6, 1.1, 4.4),
    ]
    draft.add("gatehouse", "wall", gate, (0, -half, 0))
    leaves = [box("dark_wood", (1.08, 0.12, 3.3), (s * 0.55, 0, 1.45)) for s in (-1, 1)]
    leaves += [box("iron", (2.16, 0.15, 0.09), (0, 0, z)) for z in (0.55, 1.5, 2.4)]
    draft.add("gate", "door", leaves, (0, -half, 0))
    for name, sx, sy in (("tower_ne", 1, 1), ("tower_nw", -1, 1), ("tower_sw", -1, -1), ("tower_se", 1, -1)):
        draft.add(
            name,
            "tower",
            masonry.tower("wall", "cap", "roof", 1.5, height + float(court.rng.uniform(1.0, 1.8))),
            (sx * half, sy * half, 0),
        )
    if not toothed:
        return
    for k, x in enumerate((-4.6, 4.6)):
        draft.add(
            "banner",
            "banner",
            props.banner("iron", ("cloth_a", "gold")[k % 2], "cloth_b"),
            (x, half - WALL / 2 - 0.01, height - 0.35),
        )


def _plaza(court: _Court) -> None:
    draft = court.draft
    draft.add(
        "plaza",
        "floor",
        [
            cylinder("paving", PLAZA_RADIUS, 0.3, (0, 0, PLAZA_TOP - 0.15)),
            cylinder("cap", PLAZA_RADIUS + 0.16, 0.3, (0, 0, PLAZA_TOP - 0.164)),
        ],
        friction=0.9,
    )
    draft.add("fountain", "fountain", masonry.fountain("cap", "water", 1.5), (0, 0, PLAZA_TOP))
    for k in range(4):
        a = math.pi / 4 + k * math.pi / 2
        x, y = 4.15 * math.cos(a), 4.15 * math.sin(a)
        draft.add("lamp_post", "lamp", props.lamp_post("iron", "lantern"), (x, y, PLAZA_TOP))
        draft.lamp("post", (x, y, PLAZA_TOP + props.LANTERN - 0.12), intensity=2.5, reach=7.0)
    for k, a in enumerate((math.pi * 0.06, math.pi * 0.94)):
        x, y = 3.9 * math.cos(a + math.pi), 3.9 * math.sin(a + math.pi)
        draft.add("bench", "bench", props.bench("plank", "iron"), (x, y - 0.9, PLAZA_TOP), (math.pi / 2, -math.pi / 2)[k] + math.pi)
    spring = 2.0
    draft.add("arcade", "arch", masonry.arcade("cap", "wall", "cap", 3, 1.9, spring, 0.72), (0, 6.6, PATH_TOP - 0.03))
    court.site.taken.append(Rect(-4.8, 5.6, 4.8, 7.6))


def _terrace_by_stairs(court: _Court) -> list[Goal]:
    """In the north-east, one metre high."""
    draft, half = court.draft, court.half
    x0, y0, top = half - 7.0, half - 6.6, 1.0
    x1 = y1 = half - WALL / 2
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    parts = [
        box("wall", (x1 - x0, y1 - y0, top + 0.3), (middle_x, middle_y, top / 2 - 0.2)),
        box("paving", (x1 - x0 + 0.1, y1 - y0 + 0.1, 0.12), (middle_x - 0.05, middle_y - 0.05, top - 0.06)),
    ]
    draft.add("terrace", "terrace", parts, friction=0.9)
    width, steps, going = 2.4, 5, 0.34
    draft.add(
        "stairs",
        "stairs",
        masonry.stairs("wall", "cap", width, top - 0.005, steps, going),
        (x0 - going * steps + 0.0, middle_y, 0),
        friction=0.9,
    )
    for side in (-1, 1):
        long = (y1 - y0 - width) / 2 - 0.25
        at = middle_y + side * (width / 2 + 0.15 + long / 2)
        draft.add("balustrade", "railing", masonry.balustrade("cap", long), (x0 + 0.12, at, top), math.pi / 2)
    draft.add("balustrade", "railing", masonry.balustrade("cap", x1 - x0 - 0.5), (middle_x + 0.2, y0 + 0.12, top))
    draft.add("bench", "bench", props.bench("plank", "iron"), (middle_x + 0.6, y1 - 0.9, top))
    for k, (x, y) in enumerate(((x0 + 0.7, y1 - 0.75), (x1 - 0.8, y0 + 0.9))):
        draft.add("potted_plant", "plant", plants.potted(court.rng, "clay", "dirt", court.leaves, 0.32 + 0.04 * k), (x, y, top))
    draft.add("lamp_post", "lamp", props.lamp_post("iron", "lantern"), (x1 - 0.7, y1 - 1.2, top))
    draft.lamp("post", (x1 - 0.7, y1 - 1.2, top + props.LANTERN - 0.12), intensity=2.5, reach=7.0)
    court.site.taken.append(Rect(x0 - 2.8, y0 - 0.6, half, half))
    return [Goal(name="terrace", position=(round(middle_x - 0.8, 3), round(middle_y, 3), top))]


def _terrace_by_ramp(court: _Court) -> list[Goal]:
    """In the north-west, 1.15 m high, under a pergola."""
    draft, half = court.draft, court.half
    x1, y0, top = -half + 6.6, half - 5.6, 1.15
    x0, y1 = -half + WALL / 2, half - WALL / 2
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    parts = [
        box("wall", (x1 - x0, y1 - y0, top + 0.3), (middle_x, middle_y, top / 2 - 0.2)),
        box("paving", (x1 - x0 + 0.1, y1 - y0 + 0.1, 0.12), (middle_x + 0.05, middle_y - 0.05, top - 0.06)),
    ]
    draft.add("terrace", "terrace", parts, friction=0.9)
    run, width = 3.4, 2.2
    ramp_x = middle_x - 0.9
    ramp = [
        wedge("paving", (run, width, top + 0.05), (0, 0, (top + 0.05) / 2 - 0.055)),
        *[wedge("wall", (run + 0.05, 0.16, top + 0.2), (-0.02, s * (width / 2 + 0.06), (top + 0.2) / 2 - 0.1)) for s in (-1, 1)],
    ]
    draft.add("ramp", "ramp", ramp, (ramp_x, y0 - run / 2 - 0.04, 0), math.pi / 2, friction=0.9)
    for a, b in ((x0, ramp_x - width / 2 - 0.1), (ramp_x + width / 2 + 0.1, x1)):
        if b - a > 0.8:
            draft.add("balustrade", "railing", masonry.balustrade("cap", b - a - 0.1), ((a + b) / 2, y0 + 0.12, top))
    draft.add("balustrade", "railing", masonry.balustrade("cap", y1 - y0 - 0.5), (x1 - 0.12, middle_y + 0.2, top), math.pi / 2)
    draft.add("pergola", "pergola", props.pergola("dark_wood", court.leaves[0], 4.4, 2.2), (middle_x, middle_y + 0.5, top))
    draft.add("bench", "bench", props.bench("plank", "iron"), (middle_x, y1 - 0.75, top))
    draft.add("potted_plant", "plant", plants.potted(court.rng, "clay", "dirt", court.leaves, 0.3), (x1 - 0.75, y1 - 0.7, top))
    court.site.taken.append(Rect(-half, y0 - run - 1.6, x1 + 0.6, half))
    return [Goal(name="pergola", position=(round(middle_x, 3), round(middle_y + 0.4, 3), top))]


def _market(court: _Court) -> list[Goal]:
    """A paved corner in the south-west: a stall, barrels and crates to push."""
    draft, half, rng = court.draft, court.half, court.rng
    x0, y0 = -half + 0.9, -half + 0.9
    x1, y1 = -half + 6.6, -half + 6.0
    draft.add(
        "market_floor",
        "floor",
        [box("paving", (x1 - x0, y1 - y0, 0.3), ((x0 + x1) / 2, (y0 + y1) / 2, PAD_TOP - 0.15))],
        friction=0.9,
    )
    court.site.taken.append(Rect(-half, -half, x1 + 0.6, y1 + 0.6))
    draft.add(
        "stall",
        "stall",
        props.stall("dark_wood", ("cloth_a", "cloth_b"), ("apple", "orange", "lime")),
        (x0 + 2.0, y1 - 1.15, PAD_TOP),
        math.pi,
    )
    for k in range(3):
        radius, height = 0.31, 0.86
        draft.add("barrel", "barrel", props.barrel("frame", "hoop", radius, height), (x1 - 0.5, y1 - 0.6 - 0.9 * k, PAD_TOP + height / 2), float(rng.uniform(0, 3)),
            body="dynamic", mass=24.0, pushable=True)  # fmt: skip
    left = court.params.crates
    places = [(column, row) for row in range(3) for column in range(6 if row < 2 else 4)]
    for k, (column, row) in enumerate(places):
        size, low = float(rng.choice([0.5, 0.6, 0.7])), PAD_TOP
        x, y = x0 + 1.45 + 0.82 * column, y0 + 0.55 + 0.92 * row
        levels = 3 if left > 2 * (len(places) - k) else int(rng.integers(1, 4)) if row < 2 else 1
        for _ in range(min(levels, left)):
            twist = float(rng.uniform(-0.06, 0.06))
            mass = round(60 * size**3 + 4, 1)
            draft.add(
                "crate",
                "crate",
                props.crate("plank", "frame", size),
                (x, y, low + size / 2),
                twist,
                body="dynamic",
                mass=mass,
                pushable=True,
            )
            low, size, left = low + size, max(0.4, size - 0.1), left - 1
    return [Goal(name="market", position=(round(x1 - 1.7, 3), round(y1 - 1.8, 3), PAD_TOP))]


# --- what grows -------------------------------------------------------------------------------------------------------------


def _planting(court: _Court) -> None:
    draft, rng, site, half = court.draft, court.rng, court.site, court.half

    def at_ground(x: float, y: float) -> float:
        return round(float(court.ground(np.array(x), np.array(y))), 3)

    bed = Rect(half - 7.2, -6.4, half - 2.4, -4.6)
    if site.take(bed.grown(0.4)):
        middle = ((bed.x0 + bed.x1) / 2, (bed.y0 + bed.y1) / 2)
        ends = (bed.x1 - bed.x0, bed.y1 - bed.y0)
        low = min(at_ground(x, y) for x in (bed.x0, bed.x1) for y in (bed.y0, bed.y1))
        parts = [box("dirt", (ends[0], ends[1], 0.6), (0, 0, 0.0))]
        parts += [box("cap", (ends[0] + 0.2, 0.2, 0.7), (0, s * ends[1] / 2, 0.0)) for s in (-1, 1)]
        parts += [box("cap", (0.2, ends[1] + 0.19, 0.694), (s * ends[0] / 2, 0, 0.0)) for s in (-1, 1)]
        parts += moved(
            plants.flowers(rng, "hedge", ("white", "violet", "rose", "yolk"), ends[0] / 2 - 0.3, ends[1] / 2 - 0.3, 34),
            (0, 0, 0.29),
        )
        draft.add("flower_bed", "flowers", parts, (*middle, low + 0.05))
    for k in range(court.params.trees):
        place = site.find(rng, 1.15)
        if place is None:
            break
        z = at_ground(*place)
        kind = k % 4
        if kind == 2:
            draft.add(
                "cypress",
                "tree",
                plants.cypress(rng, "bark", ["cypress"], float(rng.uniform(4.2, 6.0))),
                (*place, z),
                float(rng.uniform(0, 6)),
            )
        elif kind == 3:
            draft.add(
                "conifer",
                "tree",
                plants.conifer(rng, "bark", ["cypress", "hedge"], float(rng.uniform(4.0, 5.6))),
                (*place, z),
                float(rng.uniform(0, 6)),
            )
        else:
            draft.add(
                "tree",
                "tree",
                plants.broadleaf(rng, "bark", court.leaves, float(rng.uniform(2.7, 3.6))),
                (*place, z),
                float(rng.uniform(0, 6)),
            )
    for k in range(9):
        place = site.find(rng, 0.75)
        if place is not None:
            blossom = ("white", "rose", "violet", None)[k % 4]
            draft.add(
                "bush",
                "bush",
                plants.bush(rng, [*court.leaves[:2], "hedge"], float(rng.uniform(0.45, 0.75)), blossom),
                (*place, at_ground(*place) - 0.03),
            )
    for _ in range(7):
        place = site.find(rng, 0.6)
        if place is not None:
            draft.add(
                "rock",
                "rock",
                plants.rock(rng, "rock", float(rng.uniform(0.25, 0.55))),
                (*place, at_ground(*place)),
                float(rng.uniform(0, 6)),
            )


def _outside(court: _Court) -> None:
    """Trees beyond the walls, so that the sky has an edge."""
    draft, rng = court.draft, court.rng
    count = 14
    for k in range(count):
        a = 2 * math.pi * (k + float(rng.uniform(0.1, 0.9))) / count
        d = (court.half + float(rng.uniform(5.0, 10.0))) / max(abs(math.cos(a)), abs(math.sin(a)))
        d = min(d, (court.half + OUTSIDE - 2.5) / max(abs(math.cos(a)), abs(math.sin(a))))
        x, y = round(d * math.cos(a), 3), round(d * math.sin(a), 3)
        z = round(float(court.ground(np.array(x), np.array(y))), 3)
        tree = (
            plants.conifer(rng, "bark", ["cypress", "hedge"], float(rng.uniform(5, 8)))
            if k % 2
            else plants.broadleaf(rng, "bark", court.leaves, float(rng.uniform(3.4, 5.0)))
        )
        draft.add("far_tree", "tree", tree, (x, y, z))
