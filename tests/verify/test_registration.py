"""Sub-pixel registration and place in time, against pictures moved by known amounts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, shift

from worldwright.verify.measure import Measure
from worldwright.verify.registration import position_between, register
from worldwright.verify.shot_rgb import PLACE_ERRORS, PLACE_PX, TIME, measure_rgb


def picture(seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(54, 96))
    return (gaussian_filter(noise, 2.0) * 300 + 120).astype(np.float32)


@pytest.mark.parametrize("moved", [(0.25, 0.0), (0.0, -0.25), (0.5, 0.0), (0.3, 0.3)])
def test_a_quarter_of_a_pixel_is_measured(moved: tuple[float, float]) -> None:
    a = picture()
    b = shift(a, moved[::-1], order=3, mode="nearest").astype(np.float32)
    motion = register(b, a)
    assert motion.shift == pytest.approx(moved, abs=0.05)
    assert motion.length > PLACE_PX + PLACE_ERRORS * motion.error


def test_codec_noise_is_not_taken_for_motion() -> None:
    a = picture()
    b = a + gaussian_filter(np.random.default_rng(1).normal(size=a.shape), 1.0).astype(np.float32) * 8
    motion = register(b, a)
    assert motion.length < PLACE_PX + PLACE_ERRORS * motion.error


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
        place, error, telling = position_between(a + (b - a) * np.float32(t), a, b, 12.0)
        assert error < 1e-2  # of what lies below the threshold, not of noise
        assert place == pytest.approx(t, abs=1e-3) and telling > 100


def test_a_few_noisy_pixels_condemn_a_good_picture() -> None:
    """A thing of 2 x 2 pixels moves in front of a flat wall, and the codec is wrong in each of its blocks: where the picture lies in time
    cannot be told. With 12 x 12 pixels it can, and the next frame's picture is found every time."""

    def scene(size: int, x: int) -> np.ndarray:
        picture = np.full((54, 96, 3), 120, dtype=np.uint8)
        picture[20 : 20 + size, x : x + size] = 136
        return picture

    def noisy(picture: np.ndarray, seed: int) -> np.ndarray:
        noise = np.kron(np.random.default_rng(seed).normal(0, 7, (27, 48)), np.ones((2, 2)))
        return np.clip(picture + noise[..., None], 0, 255).astype(np.uint8)

    def times(picture: np.ndarray, own: np.ndarray, other: np.ndarray) -> list[Measure]:
        return [m for m in measure_rgb(5, picture, own, {6: other}) if m.check == TIME]

    small, there = scene(2, 30), scene(2, 40)
    found = [m for seed in range(40) for m in times(noisy(small, seed), small, there)]
    assert any(m.value > 0.5 for m in found) and all(m.holds for m in found)
    large, there = scene(12, 30), scene(12, 50)
    for seed in range(40):
        assert all(m.holds for m in times(noisy(large, seed), large, there))
        assert not any(m.holds for m in times(noisy(there, seed), large, there))
