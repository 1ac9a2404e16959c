"""Palette and light: the style of the walls, the leaves of the season, the time of day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from worldwright.world.generators.courtyard.court import Court
from worldwright.world.generators.draft import colour, glow, material
from worldwright.world.spec import Light, Sky, Sun


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


def paint_and_light(court: Court) -> Light:
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
