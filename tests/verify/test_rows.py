"""Edited rows and descriptions: found without looking at a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.render.cameras import camera_from
from worldwright.render.shot import Shot
from worldwright.verify import shot_rows
from worldwright.verify.context import Context
from worldwright.verify.faults import inject
from worldwright.verify.shot_files import check_counts, check_description, check_hashes, check_stored_attributes
from worldwright.verify.verdict import Check
from worldwright.verify.workshop import Workshop, copy_shot

Broken = Callable[[str], Path]


@pytest.fixture
def broken(shot_path: Path, context: Context, tmp_path: Path) -> Broken:
    def run(kind: str) -> Path:
        for attempt in range(8):
            copy = tmp_path / f"shot{attempt}"
            copy_shot(shot_path, copy)
            if inject(Workshop(copy, context), kind, np.random.default_rng(attempt)) is not None:
                return copy
        raise AssertionError(f"{kind}: no such fault could be made")

    return run


def whole(path: Path) -> dict[str, Check]:
    """The checks that need no picture."""
    checks = [check_hashes(path)]
    try:
        shot = Shot.open(path)
    except WorldwrightError as error:
        return {"refused": Check("refused", False, 0.0, error.line())}
    with shot.take() as take:
        info, rows = shot.info, shot.frames
        checks += [
            check_counts(shot),
            check_description(shot, take.header, hash_file(path / "take.mcap")),
            check_stored_attributes(shot),
            shot_rows.check_clock(rows, info, take.header, take.last_tick),
            shot_rows.check_rigid(rows),
        ]
        states = [take.instant((info.first_frame + k) * info.frame_ticks) for k in range(info.n_frames + 1)]
        track = camera_from(info.camera, info.tick_rate, where="camera")
        checks += [
            shot_rows.check_cameras(rows, info, track, states),
            shot_rows.check_actions(rows, info, take),
            shot_rows.check_character(rows, states),
        ]
    return {check.name: check for check in checks if not check.passed}


CASES = {
    "row_camera_moved": "cameras",
    "row_camera_turned": "cameras",
    "row_camera_flipped": "cameras",
    "row_next_camera_moved": "cameras",
    "row_focal_length": "cameras",
    "row_principal_point": "cameras",
    "row_near": "cameras",
    "row_key": "actions",
    "row_mouse": "actions",
    "row_effective": "actions",
    "row_flags": "actions",
    "actions_late": "actions",
    "row_tick": "clock",
    "row_time": "clock",
    "row_character_moved": "character",
    "row_character_turned": "character",
    "row_character_speed": "character",
    "row_ground": "character",
    "rows_swapped": "cameras",
    "row_dropped": "refused",
    "video_frame_dropped": "counts",
    "info_names_swapped": "description",
    "info_unit": "description",
    "info_field_of_view": "cameras",
    "truncated": "manifest",
    "bit_flipped": "manifest",
    "file_missing": "manifest",
}


@pytest.mark.parametrize("kind", sorted(CASES))
def test_an_edit_that_is_sealed_again_is_found(broken: Broken, kind: str) -> None:
    path = broken(kind)
    if CASES[kind] == "manifest":
        assert not check_hashes(path).passed
        return
    found = whole(path)
    assert CASES[kind] in found, found
    assert "manifest" not in found
    if kind.startswith("row_") and kind != "row_dropped":
        assert found[CASES[kind]].frame is not None


def test_a_good_shot_has_none_of_it(shot_path: Path) -> None:
    assert whole(shot_path) == {}


def test_a_mirrored_camera_is_not_rigid(shot_path: Path) -> None:
    rows = Shot.open(shot_path).frames
    poses = rows.c2w.copy()
    poses[2, :3, 1] *= -1
    check = shot_rows.check_rigid(replace(rows, c2w=poses))
    assert not check.passed and check.frame == 2
