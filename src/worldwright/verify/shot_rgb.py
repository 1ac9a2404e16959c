"""rgb as it decodes against the same picture drawn again: colour, sub-pixel place, and place in time.

Video is lossy, so bits cannot be compared. What can be, survives the codec: the brightness of every block, where edges lie to a fraction
of a pixel, and whether what changed between two frames is as it was before or after.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from worldwright.verify.measure import Measure
from worldwright.verify.registration import position_between, register
from worldwright.verify.shot_exposure import luma

PICTURE, PLACE, TIME = "rgb_picture", "rgb_place", "rgb_time"
LEVELS = 8.0
"""Root mean square difference of luma over the whole picture, in levels of 255 (a PSNR of 30 dB). Small pictures full of detail reach 5
at the end of a group of predicted frames."""
BLOCK = 8
BLOCK_LEVELS = 20.0
"""Root mean square difference of luma in any block of 8 x 8 pixels, in levels of 255: of a flat block. A codec spends its bits by
contrast, so a block of standard deviation s may differ by sqrt(1 + (s / BUSY)^2) times as much."""
BUSY = 56.0
NOISE = 3.0
"""On another device a renderer that samples draws other noise: a block may then differ by 1 + NOISE / sqrt(samples) times as much (with
wholly other noise, 8 samples, denoised, 1.5 times were seen)."""
COLOUR_LEVELS = 2.5
CHROMA_LEVELS = 5.0
CHROMA_WINDOW = 5
"""Root mean square difference of colour (R - Y, B - Y) at half the resolution, which is what 4:2:0 video keeps, averaged over windows: the
codec spends little on colour and is wrong in its details."""
PLACE_PX = 0.12
PLACE_ERRORS = 5.0
"""rgb may lie this far off, and so many standard errors of what was measured: in small pictures of bare ground the codec alone moves things
by a quarter of a pixel."""
VISIBLE = 12.0
"""Levels by which a pixel must change between frames to tell one from the other through the codec."""
FEWEST_TELLING = 6
HALFWAY = 0.5
"""Beyond this, and twice its standard error, a picture belongs to another frame. A few pixels deep in the codec's noise tell nothing."""

U8 = NDArray[np.uint8]


def _chroma(picture: NDArray[Any]) -> NDArray[np.float32]:
    """R - Y and B - Y at half resolution [h / 2, w / 2, 2]."""
    h, w = picture.shape[0] // 2 * 2, picture.shape[1] // 2 * 2
    wide = picture[:h, :w].astype(np.uint16)
    rows = wide[::2] + wide[1::2]
    half = (rows[:, ::2] + rows[:, 1::2]).astype(np.float32) * 0.25
    y = luma(half)
    return np.stack([half[..., 0] - y, half[..., 2] - y], axis=-1)


def measure_rgb(index: int, decoded: U8, own: U8, neighbours: dict[int, U8], noisy: int | None = None) -> list[Measure]:
    """Compare the decoded picture of a frame with ``own`` (drawn again) and with the pictures of the ``neighbours`` by frame number.

    All are [h, w, 3] uint8, sRGB-coded. ``noisy``: samples a pixel where they were drawn with other noise than the shot; else None.
    """
    grey, reference = luma(decoded), luma(own)
    difference = grey - reference
    whole = float(np.sqrt(np.mean(difference * difference)))
    mean = uniform_filter(reference, BLOCK)
    variance = np.maximum(uniform_filter(reference * reference, BLOCK) - mean * mean, 0)
    blocks = uniform_filter(difference * difference, BLOCK) / (1 + variance / BUSY**2)
    colour = np.abs(decoded.reshape(-1, 3).mean(axis=0) - own.reshape(-1, 3).mean(axis=0)).max()
    tint = uniform_filter(_chroma(decoded) - _chroma(own), (CHROMA_WINDOW, CHROMA_WINDOW, 1))
    chroma = float(np.sqrt(np.mean(tint * tint)))
    motion = register(grey, reference)
    out = [
        Measure(PICTURE, index, whole, LEVELS, "difference of luma from the picture drawn again (levels of 255)"),
        Measure(
            PICTURE,
            index,
            float(np.sqrt(blocks.max())),
            BLOCK_LEVELS * (1.0 if noisy is None else 1 + NOISE / math.sqrt(noisy)),
            "largest difference of a block, its contrast considered (levels of 255)",
        ),
        Measure(PICTURE, index, float(colour), COLOUR_LEVELS, "shift of the mean colour (levels of 255)"),
        Measure(PICTURE, index, chroma, CHROMA_LEVELS, "difference of colour (levels of 255)"),
        Measure(PLACE, index, motion.length, PLACE_PX + PLACE_ERRORS * motion.error, "motion against the picture drawn again (px)"),
    ]
    for other, picture in sorted(neighbours.items()):
        place, error, telling = position_between(grey, reference, luma(picture), VISIBLE)
        if telling >= FEWEST_TELLING:
            what = f"place in time between this frame (0) and frame {other} (1)"
            out.append(Measure(TIME, index, place, HALFWAY + 2 * error, what))
    return out
