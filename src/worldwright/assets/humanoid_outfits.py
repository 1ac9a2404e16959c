"""What the humanoid wears: surfaces with cloth-like roughness, and which patches each outfit is made of. Colours come from the seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from worldwright.assets.humanoid_body import Body
from worldwright.assets.humanoid_mesh import Patch
from worldwright.assets.model import Image, Surface

Outfit = Literal["casual", "worker", "sport", "formal"]
Colour = tuple[float, float, float]

SKIN: tuple[Colour, ...] = (
    (0.76, 0.50, 0.37),
    (0.62, 0.37, 0.25),
    (0.44, 0.24, 0.14),
    (0.25, 0.125, 0.07),
    (0.11, 0.052, 0.030),
    (0.70, 0.43, 0.29),
)
HAIR: tuple[Colour, ...] = (
    (0.020, 0.014, 0.011),
    (0.065, 0.032, 0.016),
    (0.16, 0.075, 0.030),
    (0.40, 0.24, 0.09),
    (0.24, 0.065, 0.020),
    (0.33, 0.32, 0.31),
)
IRIS: tuple[Colour, ...] = ((0.045, 0.020, 0.010), (0.06, 0.10, 0.16), (0.05, 0.09, 0.035))
TOPS: tuple[Colour, ...] = (
    (0.46, 0.055, 0.045),
    (0.035, 0.13, 0.30),
    (0.05, 0.20, 0.10),
    (0.60, 0.36, 0.05),
    (0.55, 0.53, 0.48),
    (0.18, 0.07, 0.22),
    (0.03, 0.22, 0.25),
    (0.62, 0.20, 0.07),
)
BOTTOMS: tuple[Colour, ...] = (
    (0.035, 0.065, 0.14),
    (0.020, 0.024, 0.034),
    (0.19, 0.14, 0.085),
    (0.085, 0.09, 0.06),
    (0.12, 0.12, 0.13),
)
SHOES: tuple[Colour, ...] = ((0.60, 0.59, 0.56), (0.030, 0.028, 0.027), (0.18, 0.075, 0.030), (0.35, 0.04, 0.035))
SUITS: tuple[Colour, ...] = ((0.020, 0.026, 0.050), (0.030, 0.030, 0.033), (0.10, 0.10, 0.105), (0.085, 0.060, 0.040))
TIES: tuple[Colour, ...] = ((0.28, 0.015, 0.022), (0.02, 0.06, 0.22), (0.03, 0.11, 0.07), (0.22, 0.14, 0.02))
HI_VIS: tuple[Colour, ...] = ((0.93, 0.28, 0.012), (0.62, 0.80, 0.030))
HELMETS: tuple[Colour, ...] = ((0.88, 0.62, 0.03), (0.82, 0.82, 0.80), (0.03, 0.14, 0.45))

CLOTH_METRES = 0.12
"""Metres of cloth that carry one repeat of its texture."""


@dataclass(frozen=True)
class Piece:
    """Patches with one surface."""

    name: str
    surface: Surface
    patches: Sequence[Patch]


@lru_cache(maxsize=64)
def _cloth_images(weave: str, seed: int) -> tuple[Image, Image]:
    """Base colour (a light modulation around white, sRGB) and metallic-roughness images of a cloth, 128 x 128 and tileable."""
    size = 128
    rng = np.random.default_rng([seed, len(weave)])
    y, x = np.mgrid[0:size, 0:size] * (2 * np.pi / size)
    cloud = np.zeros((size, size))
    for octave in (1, 2, 3, 5):
        for _ in range(3):
            kx, ky = rng.integers(-octave, octave + 1, size=2)
            cloud += np.cos(kx * x + ky * y + rng.uniform(0, 2 * np.pi)) / octave
    cloud /= np.abs(cloud).max()
    threads = {
        "jersey": 0.5 * np.cos(24 * x) * np.cos(24 * y) + 0.2 * np.cos(48 * x),
        "denim": 0.8 * np.cos(20 * (x + y)) + 0.25 * np.cos(40 * x),
        "wool": 0.6 * np.cos(12 * (x - y)) * np.cos(18 * (x + y)),
        "nylon": 0.25 * np.cos(32 * x) + 0.25 * np.cos(32 * y),
        "leather": 0.5 * np.cos(9 * x + 2.0 * cloud) * np.cos(11 * y + 2.5 * cloud),
    }[weave]
    grain = rng.normal(0, 0.35, (size, size))
    shade = np.clip(0.93 + 0.045 * cloud + 0.035 * threads + 0.02 * grain, 0, 1)
    rough = np.clip(0.88 + 0.07 * cloud - 0.06 * threads + 0.02 * grain, 0, 1)
    colour = np.empty((size, size, 4), dtype=np.uint8)
    colour[..., :3] = np.rint(shade * 255)[..., None]
    colour[..., 3] = 255
    data = np.full((size, size, 4), 255, dtype=np.uint8)
    data[..., 1] = np.rint(rough * 255)
    return Image(colour, srgb=True), Image(data, srgb=False)


def _cloth(name: str, colour: Colour, weave: str, roughness: float, seed: int) -> Surface:
    base, rough = _cloth_images(weave, seed % 7)
    # The images average about 0.92 and 0.88: the factors make up for it, so that the cloth has the colour that was asked for.
    return Surface(
        name=name,
        base_colour=(min(colour[0] * 1.15, 1.0), min(colour[1] * 1.15, 1.0), min(colour[2] * 1.15, 1.0), 1.0),
        roughness=min(roughness / 0.88, 1.0),
        base_colour_image=base,
        metallic_roughness_image=rough,
    )


def _plain(name: str, colour: Colour, roughness: float, metallic: float = 0.0) -> Surface:
    return Surface(name=name, base_colour=(*colour, 1.0), roughness=roughness, metallic=metallic)


def _scaled(colour: Colour, by: float) -> Colour:
    return (colour[0] * by, colour[1] * by, colour[2] * by)


def _in_repeats(patches: Sequence[Patch]) -> list[Patch]:
    """Texture coordinates from metres to repeats of the cloth."""
    return [Patch(p.positions, p.uvs / CLOTH_METRES, p.triangles, p.weights) for p in patches]


def dress(body: Body, outfit: Outfit, seed: int) -> list[Piece]:
    """Everything that is seen of a person: head and hands, hair, clothes."""
    rng = np.random.default_rng([seed, 0x6D616E])

    def pick(colours: Sequence[Colour]) -> Colour:
        return colours[int(rng.integers(len(colours)))]

    skin_colour, hair_colour, iris_colour = pick(SKIN), pick(HAIR), pick(IRIS)
    style = ("short", "full", "bun", "long")[int(rng.integers(4))]
    if outfit == "worker" and style in {"full", "bun"}:
        style = "short"  # what fits under a helmet
    skin = _plain("skin", skin_colour, 0.55)
    whites, irises = body.eyes()
    lips = _scaled((skin_colour[0] * 0.85, skin_colour[1] * 0.58, skin_colour[2] * 0.60), 1.0)
    pieces = [
        Piece("head", skin, [*body.head(), body.neck_patch()]),
        Piece("hands", skin, [*body.hand("l"), *body.hand("r")]),
        Piece("hair", _plain("hair", hair_colour, 0.62), [*body.hair(style), *body.brows()]),
        Piece("eyes", _plain("eyes", (0.78, 0.77, 0.74), 0.25), whites),
        Piece("irises", _plain("irises", iris_colour, 0.15), irises),
        Piece("mouth", _plain("mouth", lips, 0.5), body.mouth()),
    ]
    wear: Callable[..., list[Piece]] = {"casual": _casual, "worker": _worker, "sport": _sport, "formal": _formal}[outfit]
    pieces += wear(body, seed, pick, skin)
    return pieces


def _both(part: Callable[[str], Patch]) -> list[Patch]:
    return [part("l"), part("r")]


def _shoes(body: Body, surface: Surface, sole: Surface, *, shaft: float = 0.0, grow: float = 0.0) -> list[Piece]:
    uppers, soles = [], []
    for side in ("l", "r"):
        up, low = body.shoe(side, grow=grow, shaft=shaft)
        uppers += up
        soles += low
    return [Piece("shoes", surface, _in_repeats(uppers)), Piece("soles", sole, soles)]


Pick = Callable[[Sequence[Colour]], Colour]


def _casual(body: Body, seed: int, pick: Pick, skin: Surface) -> list[Piece]:
    """T-shirt, jeans, sneakers."""
    top, bottom, shoes = pick(TOPS), pick(BOTTOMS), pick(SHOES)
    shirt = _cloth("shirt", top, "jersey", 0.85, seed)
    return [
        Piece(
            "shirt",
            shirt,
            _in_repeats(
                [body.trunk(0.06, 0.985, 0.004, hem=0.004), *_both(lambda s: body.arm(s, -0.16, 0.36, 0.005, flare=0.006))]
            ),
        ),
        Piece("arms", skin, _both(lambda s: body.arm(s, 0.20, 1.04))),
        Piece(
            "trousers",
            _cloth("trousers", bottom, "denim", 0.80, seed),
            _in_repeats([body.trunk(-0.135, 0.16, 0.0015), *_both(lambda s: body.leg(s, -0.06, 0.985, 0.004, flare=0.010))]),
        ),
        *_shoes(body, _cloth("shoes", shoes, "nylon", 0.6, seed), _plain("soles", (0.70, 0.69, 0.66), 0.7)),
    ]


def _worker(body: Body, seed: int, pick: Pick, skin: Surface) -> list[Piece]:
    """Long-sleeved shirt, hi-vis vest with reflecting stripes, work trousers, boots, helmet."""
    top, bottom, bright, hat = pick(BOTTOMS[:2] + TOPS[4:5]), pick(BOTTOMS[1:]), pick(HI_VIS), pick(HELMETS)
    silver = _plain("reflector", (0.68, 0.69, 0.68), 0.28, 0.15)
    stripes = [body.band(0.30, 0.36, 0.0125), body.band(0.48, 0.54, 0.0125)]
    stripes += _both(lambda s: body.leg(s, 0.60, 0.66, 0.0085))
    return [
        Piece(
            "shirt",
            _cloth("shirt", top, "jersey", 0.88, seed),
            _in_repeats([body.trunk(0.70, 0.985, 0.004), *_both(lambda s: body.arm(s, -0.16, 0.97, 0.006))]),
        ),
        Piece("vest", _cloth("vest", bright, "nylon", 0.60, seed), _in_repeats([body.trunk(0.02, 0.93, 0.0105, hem=0.006)])),
        Piece("reflectors", silver, stripes),
        Piece(
            "trousers",
            _cloth("trousers", bottom, "denim", 0.88, seed),
            _in_repeats([body.trunk(-0.135, 0.14, 0.003), *_both(lambda s: body.leg(s, -0.06, 0.97, 0.0065, flare=0.007))]),
        ),
        *_shoes(
            body,
            _cloth("boots", (0.20, 0.10, 0.035), "leather", 0.65, seed),
            _plain("soles", (0.03, 0.03, 0.03), 0.8),
            shaft=0.14,
            grow=0.0015,
        ),
        Piece("helmet", _plain("helmet", hat, 0.30), body.helmet()),
    ]


def _sport(body: Body, seed: int, pick: Pick, skin: Surface) -> list[Piece]:
    """Singlet with a stripe, shorts, socks, running shoes."""
    top, shoes = pick(TOPS), pick(TOPS)
    light = (0.72, 0.72, 0.70)
    return [
        Piece(
            "shirt",
            _cloth("shirt", top, "nylon", 0.55, seed),
            _in_repeats([body.trunk(0.04, 0.975, 0.003, hem=0.004), *_both(lambda s: body.arm(s, -0.16, 0.10, 0.005))]),
        ),
        Piece("stripe", _cloth("stripe", light, "nylon", 0.55, seed), _in_repeats([body.band(0.55, 0.62, 0.0045)])),
        Piece("arms", skin, _both(lambda s: body.arm(s, 0.02, 1.04))),
        Piece("legs", skin, _both(lambda s: body.leg(s, 0.10, 1.0))),
        Piece(
            "shorts",
            _cloth("shorts", _scaled(top, 0.25), "nylon", 0.5, seed),
            _in_repeats([body.trunk(-0.135, 0.15, 0.003), *_both(lambda s: body.leg(s, -0.06, 0.33, 0.006, flare=0.016))]),
        ),
        Piece("socks", _cloth("socks", light, "jersey", 0.9, seed), _in_repeats(_both(lambda s: body.leg(s, 0.86, 1.05, 0.002)))),
        *_shoes(body, _cloth("shoes", shoes, "nylon", 0.5, seed), _plain("soles", (0.75, 0.75, 0.73), 0.6)),
    ]


def _formal(body: Body, seed: int, pick: Pick, skin: Surface) -> list[Piece]:
    """Suit, white shirt, tie, leather shoes."""
    suit_colour, tie = pick(SUITS), pick(TIES)
    suit = _cloth("suit", suit_colour, "wool", 0.80, seed)
    rows = (0.42, 0.55, 0.68, 0.80, 0.89, 0.96)
    return [
        Piece(
            "jacket",
            suit,
            _in_repeats(
                [
                    body.trunk(-0.06, 0.97, 0.0065, hem=0.008, power=2.35),
                    *_both(lambda s: body.arm(s, -0.16, 0.955, 0.0065, flare=0.002)),
                ]
            ),
        ),
        Piece(
            "shirt",
            _cloth("shirt", (0.74, 0.75, 0.77), "jersey", 0.75, seed),
            _in_repeats(
                [
                    body.trunk(0.80, 1.03, 0.0045),
                    body.front(rows, (0.004, 0.011, 0.019, 0.027, 0.033, 0.030), 0.0100),
                    *_both(lambda s: body.arm(s, 0.90, 0.975, 0.004)),
                ]
            ),
        ),
        Piece(
            "tie", _plain("tie", tie, 0.45), [body.front(rows, (0.004, 0.0085, 0.0075, 0.0065, 0.0055, 0.0065), 0.0118, columns=3)]
        ),
        Piece(
            "trousers",
            suit,
            _in_repeats([body.trunk(-0.135, 0.10, 0.002), *_both(lambda s: body.leg(s, -0.06, 0.985, 0.004, flare=0.008))]),
        ),
        *_shoes(body, _plain("shoes", (0.022, 0.014, 0.010), 0.25), _plain("soles", (0.02, 0.018, 0.016), 0.6)),
    ]
