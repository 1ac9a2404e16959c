"""The colour grade as numbers: white balance, gain and saturation are one matrix; contrast is a power about mid-grey."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.world.spec import Grade

Array = NDArray[Any]

MID_GREY = 0.18
NEUTRAL = 6504.0
"""Kelvin of D65, the white of sRGB."""
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
_TINT = 0.02
"""How far a tint of 1 lies off the line of temperatures, in v of CIE 1960."""
_TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
"""Linear sRGB to CIE XYZ (IEC 61966-2-1)."""
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
"""XYZ to the responses of the cones (Lam 1985)."""


def white_of(temperature: float, tint: float = 0.0) -> Array:
    """XYZ [3], Y = 1, of white light: daylight (CIE 15) from 4000 K, below it a black body (Kim et al. 2002); ``tint`` moves it to green."""
    t = temperature
    if t >= 4000:
        low = (0.244063, 0.09911e3, 2.9678e6, -4.6070e9)
        high = (0.237040, 0.24748e3, 1.9018e6, -2.0064e9)
        a, b, c, d = low if t <= 7000 else high
        x = a + b / t + c / t**2 + d / t**3
        y = -3.0 * x * x + 2.870 * x - 0.275
    else:
        x = -0.2661239e9 / t**3 - 0.2343589e6 / t**2 + 0.8776956e3 / t + 0.179910
        a, b, c, d = (
            (-1.1063814, -1.34811020, 2.18555832, -0.20219683) if t <= 2222 else (-0.9549476, -1.37418593, 2.09137015, -0.16748867)
        )
        y = a * x**3 + b * x**2 + c * x + d
    u, v = 4 * x / (12 * y - 2 * x + 3), 6 * y / (12 * y - 2 * x + 3) + _TINT * tint
    x, y = 3 * u / (2 * u - 8 * v + 4), 2 * v / (2 * u - 8 * v + 4)
    return np.array([x / y, 1.0, (1 - x - y) / y])


def white_balance(temperature: float, tint: float) -> Array:
    """Linear sRGB to linear sRGB [3, 3], so that light of this temperature and tint looks white (Bradford's adaptation)."""
    if temperature == NEUTRAL and tint == 0:
        return np.eye(3)
    gain = (_BRADFORD @ white_of(NEUTRAL)) / (_BRADFORD @ white_of(temperature, tint))
    adapt = np.linalg.inv(_BRADFORD) @ np.diag(gain) @ _BRADFORD
    return np.asarray(np.linalg.inv(_TO_XYZ) @ adapt @ _TO_XYZ)


def grade_matrix(grade: Grade) -> Array:
    """White balance, then gain, then saturation, of exposed linear light [3, 3]."""
    grey = np.tile(LUMINANCE, (3, 1))
    saturation = grey + (np.eye(3) - grey) * grade.saturation
    return np.asarray(saturation @ np.diag(grade.gain) @ white_balance(grade.temperature, grade.tint))


def apply_grade(grade: Grade, exposed: Array) -> Array:
    """Exposed linear light [..., 3] graded, ready for the tone curve."""
    x = np.maximum(exposed @ grade_matrix(grade).T, 0)
    return np.asarray(MID_GREY * (x / MID_GREY) ** grade.contrast)
