"""Exposure: a picture that is neither black nor blown, nor one flat colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.verify.measure import Measure

NAME = "exposure"
BLACK, BLOWN = 6, 250
BLACK_SHARE, BLOWN_SHARE = 0.92, 0.6
LUMA = np.array([0.2126, 0.7152, 0.0722], dtype=np.float32)


def luma(picture: NDArray[Any]) -> NDArray[np.float32]:
    """Rec. 709 luma [h, w] of sRGB-coded values [h, w, 3], 0 to 255."""
    return np.asarray(picture, dtype=np.float32) @ LUMA


def measure_exposure(index: int, picture: NDArray[np.uint8]) -> list[Measure]:
    """Shares of black and of blown pixels of a decoded rgb picture [h, w, 3], and how flat it is."""
    grey = luma(picture)
    return [
        Measure(NAME, index, float((grey <= BLACK).mean()), BLACK_SHARE, "share of black pixels"),
        Measure(NAME, index, float((grey >= BLOWN).mean()), BLOWN_SHARE, "share of blown pixels"),
        Measure(NAME, index, float(1.0 / (1.0 + grey.std())), 0.9, "flatness (1 is one grey over the whole picture)"),
    ]
