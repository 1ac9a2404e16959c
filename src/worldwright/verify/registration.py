"""Two pictures of the same thing: by how much one is moved, turned, scaled, brightened against the other, to a fraction of a pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

ENOUGH = 15_000
"""Pixels that are looked at, on a grid over the picture, where it has more."""
DEPENDENT = 6.0
"""Neighbouring pixels share their noise, by the blur and by the codec's blocks: about one in so many is independent."""

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Motion:
    """How ``moved`` lies over ``reference``: ``shift`` [2] pixels (x, y) at the centre, ``length`` the root mean square displacement over
    the whole picture in pixels (a turn or a zoom counts too), ``error`` its standard error (large where there is too little texture to
    tell), ``gain`` and ``offset`` of brightness."""

    shift: F64
    length: float
    error: float
    gain: float
    offset: float


def register(moved: F32, reference: F32, *, blur: float = 0.8) -> Motion:
    """Affine registration of two grey pictures [h, w] by one linearised least-squares step (Lucas and Kanade 1981), robustly weighted.

    Model: ``moved(x) = gain * reference(x - d(x)) + offset`` with ``d`` affine in the position. One step is exact to first order, which
    is enough to find motions below a pixel; larger ones come out large too.
    """
    a, b = gaussian_filter(reference, blur), gaussian_filter(moved, blur)
    gy, gx = np.gradient(a)
    h, w = a.shape
    step = max(1, round(math.sqrt(h * w / ENOUGH)))
    seen = (slice(1, -1, step), slice(1, -1, step))
    y, x = (c.astype(np.float32) for c in np.mgrid[0:h, 0:w][(slice(None), *seen)])
    x, y = (x - (w - 1) / 2) / (w / 2), (y - (h - 1) / 2) / (h / 2)
    gx, gy, level = gx[seen], gy[seen], a[seen]
    terms = (-gx, -gx * x, -gx * y, -gy, -gy * x, -gy * y, level - level.mean(), np.ones_like(level))
    columns = np.stack([c.ravel() for c in terms], axis=1)
    target = (b[seen] - level).ravel()
    weight = np.ones_like(target)
    solution = np.zeros(8)
    covariance = np.zeros((8, 8))
    for _ in range(3):
        weighted = columns * weight[:, None]
        gram = (weighted.T @ columns).astype(np.float64)
        # A faint prior at zero motion keeps directions without texture at rest; their error is reported as unknown below.
        inverse = np.linalg.pinv(gram + np.diag([1e-3] * 8), hermitian=True)
        solution = inverse @ (weighted.T @ target).astype(np.float64)
        residual = target - columns @ solution.astype(np.float32)
        sigma = 1.4826 * float(np.median(np.abs(residual))) + 0.05
        weight = np.minimum(1.0, 2.0 * sigma / np.maximum(np.abs(residual), 1e-6)).astype(np.float32)
        covariance = inverse * sigma**2
    # The mean over the picture of (d0 + dx x + dy y) squared, with x and y in [-1, 1], is d0^2 + (dx^2 + dy^2) / 3.
    share = np.array([1.0, 1 / 3, 1 / 3, 1.0, 1 / 3, 1 / 3])
    return Motion(
        np.array([solution[0], solution[3]]),
        float(np.sqrt(np.sum(share * solution[:6] ** 2))),
        float(np.sqrt(DEPENDENT * np.sum(share * np.diag(covariance)[:6]))),
        float(1.0 + solution[6]),
        float(solution[7]),
    )


def position_between(picture: F32, own: F32, other: F32, visible: float) -> tuple[float, float, int]:
    """Where ``picture`` lies between ``own`` (0) and ``other`` (1), judged by the pixels in which these differ by over ``visible``.

    The least-squares coefficient of ``picture - own`` on ``other - own``; its standard error, from what is left of the difference in
    those pixels, or from the difference in all others where that is more; and how many tell.
    """
    step = other - own
    tells = np.abs(step) > visible
    count = int(tells.sum())
    if not count:
        return 0.0, math.inf, 0
    difference = picture - own
    there, seen = step[tells].astype(np.float64), difference[tells].astype(np.float64)
    power = float(np.dot(there, there))
    place = float(np.dot(there, seen)) / power
    noise = max(float(np.mean((seen - place * there) ** 2)), float(np.mean(difference[~tells] ** 2)) if count < tells.size else 0.0)
    return place, math.sqrt(DEPENDENT * noise / power), count
