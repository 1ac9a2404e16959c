"""Measures have the values that their formulas give by hand, and tell what is bad."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from worldwright.evaluate import iworld
from worldwright.evaluate.pictures import depth_error, psnr, ssim
from worldwright.transforms import camera_look


def flat(*colours: tuple[int, int, int]) -> np.ndarray:
    return np.stack([np.full((8, 12, 3), c, np.uint8) for c in colours])


def noise(seed: int = 0, count: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, 24, 32, 3), dtype=np.uint8)


def way(*places: tuple[float, float, float], yaw: float = 0.0) -> np.ndarray:
    return np.array([camera_look(p, yaw, 0.0) for p in places])


# --- pictures ---


def test_psnr_is_off() -> None:
    """An error of 16 everywhere: 20 log10(255 / 16) = 24.05 dB."""
    assert psnr(*flat((100, 100, 100), (116, 116, 116))) == pytest.approx(24.0485, abs=1e-3)
    assert psnr(*flat((0, 0, 0), (255, 255, 255))) == pytest.approx(0.0)
    assert psnr(*flat((7, 8, 9), (7, 8, 9))) == 99.0


def test_ssim_of_flat_pictures_is_off() -> None:
    """Without variance only luminance is left: (2 ab + c1) / (a^2 + b^2 + c1), c1 = 2.55^2 = 6.5025."""
    assert ssim(*flat((100, 100, 100), (50, 50, 50))) == pytest.approx((10000 + 6.5025) / (12500 + 6.5025))
    assert ssim(noise()[0], noise()[0]) == pytest.approx(1.0)


def test_ssim_takes_noise_for_a_likeness() -> None:
    assert ssim(noise(1)[0], noise(2)[0]) < 0.1


def test_depth_is_compared_where_there_is_none() -> None:
    true = np.array([[2.0, 4.0, np.nan, 5.0]], np.float32)
    assert depth_error(np.array([[2.2, 4.0, 1.0, np.nan]], np.float32), true) == pytest.approx(0.05)
    assert np.isnan(depth_error(np.full((1, 4), np.nan, np.float32), true))


# --- iWorld-Bench ---


def test_the_transform_is_not_the_released_one() -> None:
    assert iworld.sharpened(1.0) == pytest.approx(1.0) and iworld.sharpened(0.0) == 0.0
    assert iworld.sharpened(0.5) == pytest.approx((np.exp(7.5) - 1) / (np.exp(15) - 1))


def test_early_frames_weigh_as_much_as_late_ones() -> None:
    """Weights 1 and exp(0.2)."""
    assert iworld.late_mean(np.array([0.0, 1.0])) == pytest.approx(np.exp(0.2) / (1 + np.exp(0.2)))
    assert np.isfinite(iworld.late_mean(np.ones(100_000)))


def test_a_picture_that_turns_dark_stays_consistent() -> None:
    """All bright, half of it dark: (0, 0, 1) against (1/2, 0, 1/2), a cosine of 1/sqrt 2. All dark: 0."""
    frames = flat((255, 255, 255), (255, 255, 255), (0, 0, 0))
    frames[1, :4] = 0
    assert iworld.brightness(frames) == pytest.approx([1.0, iworld.sharpened(2**-0.5), 0.0])


def test_bins_of_brightness_end_elsewhere() -> None:
    edges = flat((63, 63, 63), (64, 64, 64), (191, 191, 191), (192, 192, 192))
    assert iworld.brightness(edges).tolist() == pytest.approx([1, 0, 0, 0])
    assert iworld.brightness(edges[1:]).tolist() == pytest.approx([1, 1, 0])


def test_hues_are_not_opencvs() -> None:
    colours = np.array([[255, 0, 0], [255, 255, 0], [0, 255, 0], [0, 255, 255], [0, 0, 255], [255, 0, 255], [9, 9, 9]], np.uint8)
    assert iworld.hue(colours).tolist() == [0, 30, 60, 90, 120, 150, 0]


def test_a_change_of_colour_is_missed() -> None:
    """Red, blue, blue: the second is like neither the first nor the one before, the third like the one before: (0 + 1) / 2."""
    frames = flat((255, 0, 0), (0, 0, 255), (0, 0, 255))
    assert iworld.colour(frames) == pytest.approx([1.0, 0.0, iworld.sharpened(0.5)])


def test_a_mirrored_picture_keeps_its_sharpness() -> None:
    """Brighter to the right, then to the left: opposite gradients."""
    ramp = np.repeat(np.tile(np.arange(0, 240, 20, dtype=np.uint8), (8, 1))[..., None], 3, axis=2)
    score = iworld.sharpness(np.stack([ramp, ramp, ramp[:, ::-1]]))
    assert score[:2] == pytest.approx([1.0, 1.0]) and score[2] < 0
    # A quarter turn: a cosine of 0, ln 1 = 0.
    square = ramp[:8, :8]
    assert iworld.sharpness(np.stack([square, square.swapaxes(0, 1)]))[1] == pytest.approx(0.0, abs=1e-9)


def test_memory_forgives_too_much_or_too_little() -> None:
    """An error of 40 everywhere is a mean square of 1600: exp(-1e-4 * 600^1.1); up to 1000 nothing is lost."""
    assert iworld.memory_symmetry(flat((100, 100, 100), (5, 5, 5), (100, 100, 100))) == pytest.approx([1, 1, 1])
    lost = np.exp(-1e-4 * 600**1.1)
    assert iworld.memory_symmetry(flat((100, 100, 100), (5, 5, 5), (140, 140, 140))) == pytest.approx([lost, 1, lost])
    assert iworld.memory_symmetry(flat((90, 90, 90), (120, 120, 120))) == pytest.approx([1, 1])


def test_a_place_that_came_back_changed_is_remembered() -> None:
    poses = way((0, 0, 1), (1, 0, 1), (2, 0, 1), (1, 0, 1), (0, 0, 1))
    same = flat((9, 9, 9), (50, 50, 50), (90, 90, 90), (50, 50, 50), (9, 9, 9))
    assert iworld.revisited(same, poses, apart=2) == (2, 99.0)
    other = same.copy()
    other[3:] += 16
    assert iworld.revisited(other, poses, apart=2) == (2, pytest.approx(24.0485, abs=1e-3))


def test_a_place_seen_from_the_other_side_counts_as_seen_again() -> None:
    poses = np.concatenate([way((0, 0, 1), (1, 0, 1), (2, 0, 1)), way((1, 0, 1), (0, 0, 1), yaw=np.pi)])
    count, value = iworld.revisited(flat(*[(k, k, k) for k in range(5)]), poses, apart=2)
    assert count == 0 and np.isnan(value)


# --- ways ---


def test_walking_backwards_is_right() -> None:
    """The released measure takes it for right, which is why there is a signed one."""
    ahead, back = way((0, 0, 1), (1, 0, 1), (2, 0, 1)), way((0, 0, 1), (-1, 0, 1), (-2, 0, 1))
    assert iworld.trajectory(back, ahead, signed=False) == pytest.approx(1.0)
    assert iworld.trajectory(back, ahead, signed=True) == pytest.approx(0.0)  # turning agrees (none), going is opposite
    assert iworld.trajectory(ahead, ahead, signed=True) == pytest.approx(1.0)


def test_a_logarithm_is_not_the_motions() -> None:
    """A quarter circle of radius 1 to the left, the camera along it: arc length pi/2 straight ahead, turning pi/2 about its own up."""
    step = iworld.steps_of(np.array([camera_look((0, 0, 1), 0.0, 0.0), camera_look((1, 1, 1), np.pi / 2, 0.0)]))[0]
    assert step == pytest.approx([0, -np.pi / 2, 0, 0, 0, np.pi / 2], abs=1e-9)


def test_small_turns_lose_their_translation() -> None:
    step = iworld.steps_of(np.array([camera_look((0, 0, 1), 0.0, 0.0), camera_look((0.5, 0, 1), 1e-6, 0.0)]))[0]
    assert step[5] == pytest.approx(0.5)


def test_a_way_there_and_back_does_not_align_with_itself() -> None:
    """The same poses again in reverse are aligned; going on straight is what the released measure cannot tell from it."""
    back = way((0, 0, 1), (1, 0, 1), (2, 0, 1), (2, 0, 1), (1, 0, 1), (0, 0, 1))
    on = way((0, 0, 1), (1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 0, 1))
    assert iworld.alignment(back, signed=True) == pytest.approx(1.0)
    assert iworld.alignment(on, signed=False) == pytest.approx(1.0)
    assert iworld.alignment(on, signed=True) == pytest.approx(0.0)


# --- walls ---


class Wall:
    """Stands in for a probe: a solid from x = 1 to x = 3, endless otherwise."""

    def winding(self, point: np.ndarray) -> float:
        return 1.0 if 1 < point[0] < 3 else 0.0


def test_a_camera_in_a_wall_is_in_the_open() -> None:
    """From 0 to 4 straight through: 2 of 4 metres inside; a way beside it: none."""
    through = np.array([[x, 0.0, 1.0] for x in np.linspace(0, 4, 9)])
    assert iworld.inside_metres(through, lambda p: Wall().winding(p) > 0.5) == pytest.approx(2.0, abs=0.06)
    assert iworld.inside_metres(through - [4.5, 0, 0], lambda p: Wall().winding(p) > 0.5) == 0
