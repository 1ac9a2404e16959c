"""Shots of the same frames are set side by side; others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldwright.record.loop import record
from worldwright.render.run import render_shot
from worldwright.render.shot import Shot
from worldwright.report.compare import same_frames, side_by_side, way_of
from worldwright.world.generators import generate


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> list[Shot]:
    """Of four frames: as the world is, in fog, in fog from another camera, in fog but the frames after."""
    folder = tmp_path_factory.mktemp("compare")
    take = folder / "t.mcap"
    record(generate("rooms", 1, {}), {}, take, policy="grammar", seconds=0.5, seed=1)
    made = []
    for k, options in enumerate(({}, {"look": "fog"}, {"look": "fog", "camera": "first"}, {"look": "fog", "first": 4})):
        asked = {"preset": "64x36", "count": 4, "passes": ("rgb", "depth"), **options}
        render_shot(take, folder / f"s{k}", **asked)  # type: ignore[arg-type]
        made.append(Shot.open(folder / f"s{k}"))
    return made


def test_only_the_same_frames_through_the_same_camera_are_compared(shots: list[Shot]) -> None:
    assert [[shot.path.name for shot in group] for group in same_frames(shots)] == [["s0", "s1"]]


def test_a_picture_does_not_say_what_it_shows(shots: list[Shot], tmp_path: Path) -> None:
    assert way_of(shots[0].info) == "raster, the light of the world"
    assert way_of(shots[1].info) == "raster, look fog"
    ((camera, picture),) = side_by_side(shots)
    assert camera == "third"
    assert picture.width > 3 * 400 and picture.height > 2 * 200
