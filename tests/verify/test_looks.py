"""A shot in a look is judged by the look, and one that names another look is false."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from worldwright.render.run import render_shot
from worldwright.verify.context import Context
from worldwright.verify.faults import inject
from worldwright.verify.run import verify_shot
from worldwright.verify.workshop import Workshop, copy_shot


@pytest.mark.parametrize("look", ["rain", "night"])
def test_a_shot_in_a_look_holds_and_one_in_another_than_it_names_does_not(
    take_path: Path, context: Context, tmp_path: Path, look: str
) -> None:
    shot = tmp_path / "shot"
    render_shot(take_path, shot, preset="96x54", look=look, first=10, count=4)
    verdict = verify_shot(shot, {}, context=context)
    assert verdict.passed, [(check.name, check.message) for check in verdict.failures]
    for kind in ("info_another_look", "info_no_look", "info_look_brighter", "rgb_one_frame_late"):
        bad = tmp_path / kind
        copy_shot(shot, bad)
        assert inject(Workshop(bad, context), kind, np.random.default_rng(3)) is not None
        failed = {check.name for check in verify_shot(bad, {}, context=context).failures}
        assert "rgb_picture" in failed or (kind == "rgb_one_frame_late" and "rgb_time" in failed), (kind, failed)
