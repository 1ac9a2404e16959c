"""Passes as pictures for people: what each channel looks like on a page. For looking only; training reads the numbers."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from worldwright.render.passes import FLOW_INVALID, decode_depth, decode_flow, decode_normal

Picture = NDArray[np.uint8]

_ANCHORS = np.array(
    [
        [48, 18, 59],
        [70, 107, 227],
        [40, 187, 236],
        [49, 242, 153],
        [162, 252, 60],
        [237, 208, 58],
        [251, 128, 34],
        [210, 49, 5],
        [122, 4, 3],
    ]
)
"""Nine anchors along the Turbo colour map (Mikhailov 2019), near to far."""


def turbo(t: NDArray[Any]) -> Picture:
    """Values in [0, 1] to colours [..., 3]."""
    x = np.clip(np.nan_to_num(t), 0, 1) * (len(_ANCHORS) - 1)
    k = np.minimum(x.astype(int), len(_ANCHORS) - 2)
    share = (x - k)[..., None]
    return (_ANCHORS[k] * (1 - share) + _ANCHORS[k + 1] * share).astype(np.uint8)


def entity_palette(count: int = 65536) -> Picture:
    """A colour for every id, neighbours far apart in hue (golden angle); 0, the sky, is near black."""
    ids = np.arange(min(count, 65536))
    table = np.array(
        [
            colorsys.hsv_to_rgb((i * 0.618034) % 1, 0.45 + 0.4 * ((i * 7) % 5) / 4, 0.65 + 0.35 * ((i * 3) % 4) / 3)
            for i in range(min(count, 4096))
        ]
    )
    colours = (table[ids % len(table)] * 255).astype(np.uint8)
    colours[0] = (18, 18, 24)
    return colours


_PALETTE = entity_palette()


def colourise(name: str, code: NDArray[Any]) -> Picture:
    """A pass's stored values (``render.passes``) to a picture [h, w, 3]; ``rgb`` is one already."""
    match name:
        case "rgb":
            return np.asarray(code, dtype=np.uint8)
        case "depth":
            # One scale for all frames: 0.5 m is red, 40 m is dark blue, nothing is black.
            metres = decode_depth(code)
            t = np.log(np.clip(metres, 0.5, 40) / 0.5) / np.log(80)
            return np.where(np.isnan(metres)[..., None], 0, turbo(1 - t)).astype(np.uint8)
        case "normal":
            # The usual colours: x right is red, y up is green, towards the camera is blue.
            n = decode_normal(code) * np.array([1, -1, -1], np.float32)
            return np.where(np.isnan(n), 0, np.nan_to_num((n * 0.5 + 0.5) * 255)).astype(np.uint8)
        case "albedo":
            return np.asarray(code, dtype=np.uint8)
        case "metallic" | "roughness":
            return np.repeat(np.asarray(code, dtype=np.uint8)[..., None], 3, axis=-1)
        case "entity":
            return _PALETTE[np.asarray(code)]
        case "flow":
            flow = decode_flow(code)
            length = np.hypot(flow[..., 0], flow[..., 1])
            angle = np.arctan2(flow[..., 1], flow[..., 0])
            strength = np.clip(np.nan_to_num(length) / 24, 0, 1)[..., None]
            phases = np.nan_to_num(angle)[..., None] - np.array([0, 2, 4]) * np.pi / 3
            colour = 1 - strength * (0.5 - 0.5 * np.cos(phases))
            return np.where((np.asarray(code)[..., :1] == FLOW_INVALID), 0, colour * 255).astype(np.uint8)
        case _:
            raise KeyError(name)


def fit(picture: Picture, width: int) -> Image.Image:
    """A PIL picture of this width, kept in proportion."""
    image = Image.fromarray(np.ascontiguousarray(picture))
    return image.resize((width, max(1, round(width * picture.shape[0] / picture.shape[1]))), Image.Resampling.LANCZOS)


def contact_sheet(rows: list[tuple[str, list[Picture]]], width: int = 240, gap: int = 4, title: int = 30) -> Image.Image:
    """Rows of pictures, each with its name above, frames from left to right."""
    tiles = [[fit(picture, width) for picture in pictures] for _, pictures in rows]
    height = tiles[0][0].height
    sheet = Image.new("RGB", (len(tiles[0]) * (width + gap) + gap, len(rows) * (height + title + gap) + gap), (24, 26, 30))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=title - 8)
    for y, ((name, _), images) in enumerate(zip(rows, tiles, strict=True)):
        top = gap + y * (height + title + gap)
        draw.text((gap + 2, top), name, fill=(210, 214, 220), font=font)
        for x, image in enumerate(images):
            sheet.paste(image, (gap + x * (width + gap), top + title))
    return sheet
