"""Shots of the path-traced renderer are verified as those of the raster renderer are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from worldwright.render.run import render_shot
from worldwright.verify.context import Context
from worldwright.verify.faults import inject
from worldwright.verify.run import verify_shot
from worldwright.verify.shot_rgb import measure_rgb
from worldwright.verify.workshop import Workshop, copy_shot

FRAMES = 5


@pytest.fixture(scope="module")
def traced(take_path: Path) -> Path:
    if any(importlib.util.find_spec(name) is None for name in ("mitsuba", "mitsuba_oidn")):
        pytest.skip("the extra 'pathtraced' is not installed")
    path = take_path.parent / "traced"
    render_shot(take_path, path, camera="third", preset="96x54@4", first=6, count=FRAMES, renderer="pathtraced", device="cpu")
    return path


def test_a_good_path_traced_shot_holds(traced: Path, context: Context) -> None:
    verdict = verify_shot(traced, {}, context=context)
    assert verdict.passed, [(check.name, check.message) for check in verdict.failures]
    held = {check.name for check in verdict.checks if not check.skipped}
    assert {"rays", "again_depth", "rgb_picture", "rgb_place", "characters"} <= held


@pytest.mark.parametrize(("kind", "check"), [("rgb_half_pixel", "rgb_place"), ("depth_one_frame_late", "again_depth")])
def test_a_fault_is_not_taken_for_noise(traced: Path, context: Context, tmp_path: Path, kind: str, check: str) -> None:
    copy_shot(traced, tmp_path / "bad")
    assert inject(Workshop(tmp_path / "bad", context), kind, np.random.default_rng(0)) is not None
    assert check in {c.name for c in verify_shot(tmp_path / "bad", {}, context=context).failures}


def test_other_noise_is_allowed_for_by_the_number_of_samples() -> None:
    grey = np.full((54, 96, 3), 100, np.uint8)
    limits = [max(m.limit for m in measure_rgb(0, grey, grey, {}, n) if "block" in m.what) for n in (None, 4, 36)]
    np.testing.assert_allclose(limits, [20, 50, 30])
