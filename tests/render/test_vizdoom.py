"""A take of ViZDoom is shown by playing its demo again, exactly or not at all, and what its pictures cannot promise is declared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldwright.errors import WorldwrightError
from worldwright.render.declared import DeclaredDepth, declared_entity, read_declared
from worldwright.world.generators import generate

pytest.importorskip("vizdoom", reason="vizdoom is not installed")

from worldwright.record.loop import record
from worldwright.render.cameras import make_camera
from worldwright.render.passes import decode_depth
from worldwright.render.protocol import Moment, Scenery
from worldwright.render.run import render_shot
from worldwright.render.shot import Shot
from worldwright.render.vizdoom import VizdoomRenderer
from worldwright.render.vizdoom.depth import declared_depth, depth_tables, sky_code
from worldwright.take.reader import Take
from worldwright.verify.run import verify_shot
from worldwright.verify.workshop import Workshop

SIZE = (160, 120)
FRAMES = 70


def play(path: Path, *, seed: int) -> Path:
    world = generate("doom", 0, {"map": "MAP02"})
    rates = {"tick_rate": 35, "frame_rate": 35, "sample_rate": 35}
    record(world, {}, path, policy="grammar", seconds=FRAMES / 35, seed=seed, engine="vizdoom", **rates)
    return path


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("doom") / "take.mcap", seed=5)


@pytest.fixture(scope="module")
def shot(take: Path) -> Path:
    path = take.parent / "shot"
    render_shot(take, path, camera="first", preset="320x240", renderer="vizdoom", first=40, count=12)
    return path


@pytest.fixture
def renderer() -> Iterator[VizdoomRenderer]:
    made = VizdoomRenderer()
    yield made
    made.close()


def scenery(take: Take, **changes: Any) -> Scenery:
    from worldwright.assets.scene import build_scene

    header = take.header
    values = {
        "world": header.world, "geometry": build_scene(header.world, {}, images=False), "body_ids": header.body_ids,
        "tick_rate": header.tick_rate, "attachments": take.attachments(),
    }  # fmt: skip
    return Scenery(**values | changes)


def moment(take: Take, tick: float) -> Moment:
    instant = take.instant(tick)
    view = make_camera("first", take.header).view(instant, *SIZE)
    return Moment(instant, view, instant, view)


def test_a_shot_of_the_demo_holds_to_what_it_declares(shot: Path) -> None:
    verdict = verify_shot(shot, {})
    assert verdict.passed, [check.message for check in verdict.failures]
    held = {check.name for check in verdict.checks if check.passed}
    assert {"rays", "again_depth", "again_entity", "rgb_picture", "rgb_registration", "validity", "take_replay"} <= held
    info = Shot.open(shot).info
    assert info.all_passes == ("rgb", "depth", "entity") and set(info.absent) >= {"normal", "albedo", "flow"}


def test_a_depth_that_claims_more_or_less_than_its_renderer_is_found(shot: Path, tmp_path: Path) -> None:
    from worldwright.verify.context import Context
    from worldwright.verify.workshop import copy_shot

    with Context({}) as context:
        for key, value, words in (("error_m", 0.4, "its renderer"), ("error_m", 5.0, "less than or equal to 0.5")):
            bad = tmp_path / f"bad{value}"
            copy_shot(shot, bad)
            shop = Workshop(bad, context)
            entry = shop.info.passes["depth"]
            attributes = entry.attributes | {"declared": entry.attributes["declared"] | {key: value}}
            shop.write_info(passes=shop.info.passes | {"depth": entry.model_copy(update={"attributes": attributes})})
            shop.seal()
            assert any(words in check.message for check in verify_shot(bad, {}, context=context).failures)


def test_going_back_plays_again_from_the_start(take: Path, renderer: VizdoomRenderer) -> None:
    with Take.open(take) as opened:
        renderer.open(scenery(opened), *SIZE, ("rgb", "depth", "entity"))
        pictures = {}
        for tick in (3, 20, 41, 20, 3):
            renderer.submit(moment(opened, tick))
            found = renderer.collect()
            for name, picture in pictures.setdefault(tick, found).items():
                np.testing.assert_array_equal(found[name], picture)
        assert len(pictures) == 3 and (pictures[3]["rgb"] != pictures[41]["rgb"]).any()


def test_what_lies_between_tics_is_refused(take: Path, renderer: VizdoomRenderer, tmp_path: Path) -> None:
    with Take.open(take) as opened:
        renderer.open(scenery(opened), *SIZE, ("rgb",))
        with pytest.raises(WorldwrightError, match="between two tics"):
            renderer.submit(moment(opened, 2.5))
    for request, words in (
        ({"motion_blur": True}, "motion blur"),
        ({"preset": "162x90"}, "no pictures of 162x90"),
        ({"preset": "160x120@4"}, "does not sample"),
        ({"camera": "third"}, "no camera 'third'"),
        ({"camera": "orbit"}, "looks through first alone"),
        ({"fps": 30}, "30 frames a second"),
    ):
        arguments: dict[str, Any] = {"camera": "first", "preset": "160x120"} | request
        with pytest.raises(WorldwrightError, match=words):
            render_shot(take, tmp_path / "no", renderer="vizdoom", count=2, **arguments)
    assert not [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")]


def test_a_demo_that_is_damaged_or_of_another_run_is_refused(take: Path, renderer: VizdoomRenderer, tmp_path: Path) -> None:
    with Take.open(take) as opened:
        demo = opened.attachments()["demo.lmp"]
        for bad in (b"", b"hello", demo[:-40], b"FORX" + demo[4:]):
            with pytest.raises(WorldwrightError, match="damaged"):
                renderer.open(scenery(opened, attachments={"demo.lmp": bad}), *SIZE, ("rgb",))
        with pytest.raises(WorldwrightError, match="no demo file"):
            renderer.open(scenery(opened, attachments={}), *SIZE, ("rgb",))
    with Take.open(play(tmp_path / "other.mcap", seed=6)) as other, Take.open(take) as opened:
        renderer.open(scenery(opened, attachments=other.attachments()), *SIZE, ("rgb",))
        with pytest.raises(WorldwrightError, match="does not follow the take"):
            for tick in range(FRAMES):
                renderer.submit(moment(opened, tick))
                renderer.collect()


def test_depth_codes_mean_what_doom_means_by_them() -> None:
    walls, flats, things = decode_depth(depth_tables(720))
    # A floor's code 10 is 10.925 + 7.1595 x 10.5 = 86.10 map units, 38.4 to the metre.
    assert flats[10] == pytest.approx(86.0998 / 38.4, rel=2e-4)
    # At 720 rows a wall's code is 1.5 times that of 480 rows: code 15 is c0 = 10, so 1.5 x (10.872 + 7.138 x 10.5) = 128.73 units.
    assert walls[15] == pytest.approx(128.73 / 38.4, rel=2e-4)
    assert things[15] == pytest.approx(1.5 * (2.93 + 7.341 * 10.5) / 38.4, rel=2e-4)
    assert (sky_code(720), sky_code(480), sky_code(360)) == (255, 255, 191)
    assert np.isnan(walls[255]) and np.isnan(flats[255]) and np.isfinite(flats[250])
    declared = declared_depth(720)
    assert declared.error_m == pytest.approx(7.341 * 1.5 / 2 / 38.4 * 1.05 + 0.01, abs=1e-4) and 45 < declared.far_m < 50
    for height in (120, 240, 360, 480, 600, 720, 1080):
        declared_depth(height)  # within what may be declared


def test_a_sheared_camera_is_level_and_its_middle_looks_where_it_looked(take: Path) -> None:
    with Take.open(take) as opened:
        header = opened.header
        track = make_camera("first", header)
        assert track.describe()["shear"] is True
        for tick in (0, 30, 60):
            instant = opened.instant(tick)
            view, looked = track.view(instant, 640, 480), instant.cameras["first"]
            assert view.c2w[2, 2] == pytest.approx(0, abs=1e-12) and view.c2w[2, 1] == pytest.approx(-1)
            # 90 degrees across 640 pixels: f is 320. The axis that was recorded goes through the middle of the picture.
            assert view.K[0, 0] == view.K[1, 1] == pytest.approx(320)
            x, y, z = view.K @ view.c2w[:3, :3].T @ looked[:3, 2]
            assert (x / z, y / z) == (pytest.approx(320, abs=1e-6), pytest.approx(240, abs=1e-6))


def test_only_depth_and_entity_may_declare_and_only_what_the_world_says() -> None:
    with pytest.raises(WorldwrightError, match="only depth and entity"):
        read_declared("normal", {"declared": {}})
    with pytest.raises(WorldwrightError, match="far_m"):
        read_declared("depth", {"declared": {"error_m": 0.1, "near_m": 0.1, "far_m": 1.0}})
    assert read_declared("depth", {"unit": "m"}) is None
    assert DeclaredDepth(error_m=0.1, near_m=0.5, far_m=40).error_m == 0.1
    world = generate("doom", 0, {"map": "MAP02"})
    said = declared_entity(world)
    labels = {id: label for id, (_, label) in world.labels().items()}
    assert {labels[id] for id in said.stand_ins} >= {"monster", "item", "spare"}
    assert {(labels[id], labels[other]) for id, other in said.shown_as.items()} >= {
        ("sky", "sky"),
        ("door", "level"),
        ("lift", "level"),
    }
    assert math.isclose(math.degrees(2 * math.atan(0.75)), world.camera.fov_y_deg)
