"""Pictures that are at the wrong frame or place: one late, all late, two swapped, half a pixel off, a patch turned; for every pass."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.ndimage import uniform_filter

from worldwright.render.passes import FLOW_INVALID, PASSES, decode_depth, decode_normal, encode_depth, encode_normal
from worldwright.verify.faults.registry import Array, Rng, fault
from worldwright.verify.faults.sizes import matters
from worldwright.verify.shot_exposure import luma
from worldwright.verify.shot_rgb import BLOCK_LEVELS
from worldwright.verify.workshop import Workshop


def _moved_frames(name: str) -> None:
    @fault(f"{name}_one_frame_late")
    def late(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        k = int(rng.integers(1, shop.n))
        if not matters(name, frames[k], frames[k - 1]):
            return None
        frames[k] = frames[k - 1]
        shop.write(name, frames)
        return f"{name}: frame {k} shows frame {k - 1}"

    @fault(f"{name}_all_late")
    def all_late(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        if not any(matters(name, a, b) for a, b in itertools.pairwise(frames)):
            return None
        shop.write(name, np.concatenate([frames[:1], frames[:-1]]))
        return f"{name}: all frames one frame late"

    @fault(f"{name}_swapped_frames")
    def swapped(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        a, b = (int(k) for k in rng.choice(shop.n, 2, replace=False))
        if not matters(name, frames[a], frames[b]):
            return None
        frames[[a, b]] = frames[[b, a]]
        shop.write(name, frames)
        return f"{name}: frames {a} and {b} swapped"

    @fault(f"{name}_half_pixel")
    def half_pixel(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        k, axis = int(rng.integers(shop.n)), int(rng.integers(2))
        moved = half_pixel_shift(name, frames[k], axis)
        if not matters(name, frames[k], moved):
            return None
        frames[k] = moved
        shop.write(name, frames)
        return f"{name}: frame {k} shifted by half a pixel along axis {axis}"

    @fault(f"{name}_patch")
    def patch(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        k = int(rng.integers(shop.n))
        size = max(4, shop.info.height // 8)
        v, u = int(rng.integers(shop.info.height - size)), int(rng.integers(shop.info.width - size))
        before = frames[k].copy()
        area = before[v : v + size, u : u + size]
        frames[k, v : v + size, u : u + size] = area[::-1, ::-1]
        if not matters(name, before, frames[k]) or (name == "rgb" and not _beyond_codec(before, frames[k])):
            return None
        shop.write(name, frames)
        return f"{name}: frame {k}, a patch of {size} px at row {v}, column {u} turned round"


def _beyond_codec(before: Array, after: Array) -> bool:
    """A local edit of rgb is told from the codec's own errors when some 8 x 8 block differs by this much."""
    gap = luma(after) - luma(before)
    return float(np.sqrt(uniform_filter(gap * gap, 8).max())) > 1.5 * BLOCK_LEVELS


def half_pixel_shift(name: str, picture: Array, axis: int) -> Array:
    """A picture of stored values moved by half a pixel. Ids cannot be mixed: they move by the nearest pixel of a half, which is one."""
    if name == "entity":
        return np.roll(picture, 1, axis=axis)
    other = np.roll(picture, 1, axis=axis)
    if name == "depth":
        mixed = encode_depth((decode_depth(picture).astype(np.float64) + decode_depth(other)) / 2)
        return np.where((picture == 0) | (other == 0), picture, mixed)
    if name == "normal":
        mixed = encode_normal(decode_normal(picture).astype(np.float64) + decode_normal(other))
        return np.where((picture == 65535) | (other == 65535), picture, mixed)
    if name == "flow":
        mixed = np.rint((picture.astype(np.float64) + other) / 2).astype(np.int16)
        return np.where((picture == FLOW_INVALID) | (other == FLOW_INVALID), picture, mixed)
    return np.rint((picture.astype(np.float64) + other) / 2).astype(picture.dtype)


for _name in ("rgb", *PASSES):
    _moved_frames(_name)
