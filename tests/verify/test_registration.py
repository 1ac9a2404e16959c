"""Sub-pixel registration and place in time, against pictures moved by known amounts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, shift

from worldwright.verify.registration import position_between, register
from worldwright.verify.shot_rgb import PLACE_PX


def picture(seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(54, 96))
    return (gaussian_filter(noise, 2.0) * 300 + 120).astype(np.float32)


@pytest.mark.parametrize("moved", [(0.25, 0.0), (0.0, -0.25), (0.5, 0.0), (0.3, 0.3)])
def test_a_quarter_of_a_pixel_is_measured(moved: tuple[float, float]) -> None:
    a = picture()
    b = shift(a, moved[::-1], order=3, mode="nearest").astype(np.float32)
    motion = register(b, a)
    assert motion.shift == pytest.approx(moved, abs=0.05)
    assert motion.length > PLACE_PX + 3 * motion.error


def test_codec_noise_is_not_taken_for_motion() -> None:
    a = picture()
    b = a + gaussian_filter(np.random.default_rng(1).normal(size=a.shape), 1.0).astype(np.float32) * 8
    motion = register(b, a)
    assert motion.length < PLACE_PX + 3 * motion.error


def test_brightness_is_not_taken_for_motion() -> None:
    a = picture()
    motion = register(a * 1.1 + 5, a)
    assert motion.length < 0.02 and motion.gain == pytest.approx(1.1, abs=0.01)


def test_a_flat_picture_says_that_it_cannot_tell() -> None:
    motion = register(np.full((54, 96), 80.0, np.float32), np.full((54, 96), 80.0, np.float32))
    assert motion.length == pytest.approx(0.0, abs=1e-3)


def test_the_place_in_time_between_two_pictures() -> None:
    a, b = picture(1), picture(2)
    for t in (0.0, 0.3, 1.0):
        place, telling = position_between(a + (b - a) * np.float32(t), a, b, 12.0)
        assert place == pytest.approx(t, abs=1e-3) and telling > 100
