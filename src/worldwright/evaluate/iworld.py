"""The measures of iWorld-Bench (arXiv 2605.03941) that pictures and known poses allow, as its released code computes them.

Left out, since they want weights that are fetched at run time: image quality (MUSIQ), motion smoothness (an interpolator), and BRISQUE, which
bends sharpness retention where a frame looks bad. Without it sharpness is the plain cosine.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import sobel

from worldwright.evaluate.pictures import grey, psnr

U8 = NDArray[np.uint8]
F64 = NDArray[np.float64]
HUES = (0, 16, 31, 61, 91, 121, 151, 180)
"""Edges of the bins, in OpenCV's half degrees."""
LATE = 0.2
"""Frame i counts ``exp(0.2 i)``: the last ones alone, nearly."""


def cosine(a: F64, b: F64) -> float:
    """Of two vectors; 0 where one is zero."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 0.0


def sharpened(c: float) -> float:
    """``(exp(15 c) - 1) / (exp(15) - 1)``."""
    return float(np.expm1(15 * c) / np.expm1(15))


def late_mean(scores: F64) -> float:
    """The mean with weights ``exp(0.2 i)``."""
    weight = np.exp(LATE * (np.arange(len(scores)) - len(scores)))
    return float(np.sum(weight * scores) / np.sum(weight))


def brightness(frames: U8) -> F64:
    """Of each frame [N]: how alike its shares of dark, middle and bright pixels are to the first one's."""
    levels = np.rint(grey(frames)).astype(int)
    shares = [np.array([np.mean(x <= 63), np.mean((x > 63) & (x <= 191)), np.mean(x > 191)]) for x in levels]
    return np.array([sharpened(cosine(shares[0], v)) for v in shares])


def hue(rgb: U8) -> NDArray[np.int64]:
    """OpenCV's hue of pixels, 0 to 179; grey is 0."""
    x = rgb.astype(np.float64)
    most, least = x.max(-1), x.min(-1)
    span = np.where(most > least, most - least, 1.0)
    r, g, b = np.moveaxis(x, -1, 0)
    degrees = np.select(
        [most == least, most == r, most == g], [0.0 * r, 60 * (g - b) / span, 120 + 60 * (b - r) / span], 240 + 60 * (r - g) / span
    )
    return np.rint(degrees % 360 / 2).astype(np.int64) % 180


def colour(frames: U8) -> F64:
    """Of each frame [N]: how alike its hues are to those of the first frame and of the one before."""
    bins = [np.histogram(hue(frame), HUES)[0].astype(np.float64) for frame in frames]
    return np.array([sharpened((cosine(bins[0], v) + cosine(bins[max(k - 1, 0)], v)) / 2) for k, v in enumerate(bins)])


def sharpness(frames: U8) -> F64:
    """Of each frame [N]: the cosine of its summed gradient (x, y; signed) to that of the first, as ``ln(1 + 3 c) / ln 4``."""
    sums = [np.array([sobel(x, axis=1).sum(), sobel(x, axis=0).sum()]) for x in grey(frames)]
    return np.array([np.log1p(3 * max(cosine(sums[0], v), -0.33)) / np.log(4) for v in sums])


def memory_symmetry(frames: U8) -> F64:
    """Of each frame of a way there and back [N]: how alike it is to the one at the same place on the other way."""
    x = frames.astype(np.float64)
    error = np.array([np.mean((x[k] - x[len(x) - 1 - k]) ** 2) for k in range(len(x))])
    return np.exp(-1e-4 * np.maximum(error - 1000, 0) ** 1.1)


NEAR_METRES, NEAR_RADIANS = 0.1, 0.05
"""A pose so near to an earlier one sees the same."""
APART = 48
"""Frames between two visits of a place, at least."""


def revisited(frames: U8, c2w: F64, *, apart: int = APART) -> tuple[int, float]:
    """Memory where the pose is known: (how many frames are seen from where an earlier one was, mean PSNR of them to it in dB; NaN where there are
    none). Unlike memory symmetry it does not ask that the way back takes exactly as long as the way there. A picture that never changes gets 99:
    read it beside the PSNR to the engine."""
    values = []
    for k in range(apart, len(frames)):
        before = c2w[: k - apart + 1]
        away = np.linalg.norm(before[:, :3, 3] - c2w[k, :3, 3], axis=1)
        # Of a rotation by the angle a the trace is 1 + 2 cos a.
        turn = np.arccos(np.clip((np.einsum("nij,ij->n", before[:, :3, :3], c2w[k, :3, :3]) - 1) / 2, -1, 1))
        cost = away / NEAR_METRES + turn / NEAR_RADIANS
        best = int(np.argmin(cost))
        if away[best] <= NEAR_METRES and turn[best] <= NEAR_RADIANS:
            values.append(psnr(frames[k], frames[best]))
    return len(values), float(np.mean(values)) if values else float("nan")


def inside_metres(places: F64, inside: Callable[[F64], bool], step: float = 0.05) -> float:
    """Metres of a way (points [N, 3]) that lie inside something; tried every ``step`` metres."""
    total = 0.0
    for a, b in pairwise(places):
        length = float(np.linalg.norm(b - a))
        parts = max(1, int(np.ceil(length / step - 1e-9)))
        total += sum(length / parts for k in range(parts) if inside(a + (b - a) * ((k + 0.5) / parts)))
    return total


def steps_of(c2w: F64) -> F64:
    """Logarithms of the motions from frame to frame [N - 1, 6], each in the axes of the frame before: rotation vector, then translation."""
    between = np.linalg.inv(c2w[:-1]) @ c2w[1:]
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(between[:, :3, :3]).as_rotvec()
    angle = np.linalg.norm(turn, axis=1)
    # The translation of the logarithm is the inverse of SE(3)'s left Jacobian times the motion's (Barfoot 2017, eq. 7.37).
    moved = np.empty_like(turn)
    for k, (w, a, t) in enumerate(zip(turn, angle, between[:, :3, 3], strict=True)):
        cross = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        factor = 1 / 12 if a < 1e-4 else (1 - a / 2 / np.tan(a / 2)) / a**2
        moved[k] = (np.eye(3) - cross / 2 + factor * cross @ cross) @ t
    return np.concatenate([turn, moved], axis=1)


def trajectory(made: F64, wanted: F64, *, signed: bool) -> float:
    """Mean cosine of the motions of two ways (c2w [N, 4, 4]), of translation and rotation apart; ``signed`` or, as released, absolute, which
    takes walking backwards for right. Where both stand still they agree."""
    a, b = steps_of(made), steps_of(wanted)
    scores = []
    for part in (slice(0, 3), slice(3, 6)):
        for x, y in zip(a[:, part], b[:, part], strict=True):
            if max(np.linalg.norm(x), np.linalg.norm(y)) < 1e-4:
                scores.append(1.0)
                continue
            c = cosine(x, y)
            scores.append(c if signed else abs(c))
    return float(np.mean(scores))


def alignment(c2w: F64, *, signed: bool) -> float:
    """A way there and back: its first half against its second, backwards in time and motion."""
    half = len(c2w) // 2
    return trajectory(c2w[:half], c2w[::-1][:half], signed=signed)
