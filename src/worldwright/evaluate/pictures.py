"""How alike two pictures are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

U8 = NDArray[np.uint8]
LUMA = np.array([0.299, 0.587, 0.114])
"""Rec. 601, of coded values."""


def grey(rgb: U8) -> NDArray[np.float64]:
    """Luma [..., H, W] on 0..255."""
    return np.asarray(rgb, np.float64) @ LUMA


def psnr(made: U8, true: U8) -> float:
    """Peak signal to noise ratio of coded values in dB; 99 where they are equal."""
    error = float(np.mean((made.astype(np.float64) - true) ** 2))
    return 99.0 if error == 0 else float(min(99.0, 10 * np.log10(255.0**2 / error)))


def ssim(made: U8, true: U8) -> float:
    """Structural similarity by luma (Wang et al. 2004; Gaussian window, sigma 1.5)."""
    x, y = grey(made), grey(true)
    mx, my = gaussian_filter(x, 1.5), gaussian_filter(y, 1.5)
    vx, vy = gaussian_filter(x * x, 1.5) - mx * mx, gaussian_filter(y * y, 1.5) - my * my
    both = gaussian_filter(x * y, 1.5) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float(np.mean((2 * mx * my + c1) * (2 * both + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2))))


def depth_error(made: NDArray[np.float32], true: NDArray[np.float32]) -> float:
    """Median of the relative error of depth where both have one; NaN where they share nothing."""
    both = np.isfinite(made) & np.isfinite(true)
    return float(np.median(np.abs(made[both] - true[both]) / true[both])) if both.any() else float("nan")
