"""From a take to a shot with the real engine and the real renderer, small."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest

from worldwright.cli import render as render_command
from worldwright.controls import KEY_BITS, Control
from worldwright.engine.protocol import RIGS
from worldwright.engine.registry import make_engine
from worldwright.errors import WorldwrightError
from worldwright.factory.child import render_in_process
from worldwright.outputs import check_manifest
from worldwright.render.passes import ALL_PASSES
from worldwright.render.registry import make_renderer
from worldwright.render.run import RenderReport, render_shot, shutter_ticks
from worldwright.render.shot import Shot
from worldwright.render.stage import Stage
from worldwright.take.model import TakeHeader
from worldwright.take.reader import Take
from worldwright.take.writer import TakeWriter
from worldwright.world.files import world_hash
from worldwright.world.looks import LOOKS
from worldwright.world.spec import World

SECONDS = 4
SIZE = "64x36"


def small_world() -> World:
    def box(name: str, size: list[float], position: list[float], **more: object) -> dict[str, object]:
        part = {"geometry": {"shape": "box", "size": size}, "material": "grey"}
        return {"name": name, "label": name, "position": position, "parts": [part], **more}

    return World.model_validate(
        {
            "name": "small",
            "bounds": {"min": [-20, -20, -5], "max": [20, 20, 10]},
            "materials": {"grey": {"base_colour": [0.5, 0.4, 0.3]}},
            "entities": [
                box("floor", [40, 40, 1], [0, 0, -0.5]),
                box("wall", [1, 8, 3], [8, 0, 1.5]),
                box("crate", [0.6, 0.6, 0.6], [2, 0.5, 0.3], body="dynamic", mass=5.0),
            ],
            "spawns": [{"position": [0, 0, 0]}],
        }
    )


def record_take(path: Path, **changes: object) -> Path:
    """Walk forward and turn for SECONDS."""
    world, engine = small_world(), make_engine("panda")
    engine.load(world, {})
    state = engine.state()
    header = TakeHeader(
        world=world, world_hash=world_hash(world), assets={}, engine=engine.name, engine_version=engine.version, settings={},
        policy="test", policy_params={}, seed=0, tick_rate=240, sample_ticks=2, frame_ticks=10, body_ids=tuple(engine.body_ids),
        character_ids=tuple(engine.character_ids), joint_counts=tuple(len(c.bones) for c in state.characters), rigs=RIGS,
    )  # fmt: skip
    with TakeWriter(path, dataclasses.replace(header, **changes)) as writer:  # type: ignore[arg-type]
        writer.sample(state)
        for tick in range(SECONDS * 240):
            control = Control(KEY_BITS["forward"] if tick % 240 < 120 else 0, int(tick % 4 == 0), 0)
            writer.input(tick, control)
            engine.tick(control)
            if (tick + 1) % 2 == 0:
                writer.sample(engine.state())
    engine.close()
    return path


@pytest.fixture(scope="session")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_take(tmp_path_factory.mktemp("take") / "walk.mcap")


@pytest.fixture(scope="session")
def shot(take: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole take from the third person. Not to be changed."""
    out = tmp_path_factory.mktemp("shot") / "third"
    report = render_shot(take, out, preset=SIZE)
    assert (report.frames, report.rendered, report.reused) == (24 * SECONDS, 24 * SECONDS, False)
    return out


def same_bytes(a: Path, b: Path) -> bool:
    files = [sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()) for root in (a, b)]
    return files[0] == files[1] and all((a / name).read_bytes() == (b / name).read_bytes() for name in files[0])


def test_rows_are_the_takes_own(shot: Path, take: Path) -> None:
    rows = Shot.open(shot).frames
    with Take.open(take) as source:
        table = source.frames()
        np.testing.assert_array_equal(rows.tick, table.tick)
        np.testing.assert_array_equal(rows.t_ns, table.t_ns)
        np.testing.assert_array_equal(rows.action, table.issued)
        np.testing.assert_array_equal(rows.effective, table.effective)
        np.testing.assert_array_equal(rows.flags, table.flags)
        for i in (0, 40, 95):
            now, following = source.instant(10 * i), source.instant(10 * i + 10)
            np.testing.assert_array_equal(rows.c2w[i], now.cameras["third"])
            np.testing.assert_array_equal(rows.next_c2w[i], following.cameras["third"])
            np.testing.assert_array_equal(rows.character_position[i], now.characters[0].position)
    np.testing.assert_array_equal(rows.next_c2w[:-1], rows.c2w[1:])


def test_a_shot_has_every_pass_and_says_what_it_is(shot: Path) -> None:
    opened = Shot.open(shot)
    assert opened.info.all_passes == ALL_PASSES and opened.info.absent == []
    assert opened.info.renderer.name == "raster" and opened.info.renderer.device
    assert opened.rgb_count() == 96
    ids = np.unique(np.concatenate([opened.read("entity", i).ravel() for i in range(0, 96, 8)]))
    assert set(ids) <= {entity.id for entity in opened.info.entities}
    assert check_manifest(shot, "shot") == []
    with opened.take() as source:
        assert source.header.world.name == "small"


def test_a_finished_shot_is_not_made_again(shot: Path, take: Path) -> None:
    before = (shot / "_DONE").stat().st_mtime_ns
    report = render_shot(take, shot, preset=SIZE)
    assert report.reused and report.rendered == 0
    assert (shot / "_DONE").stat().st_mtime_ns == before


def test_a_finished_shot_that_lost_a_file_is_made_again(take: Path, tmp_path: Path) -> None:
    out = tmp_path / "shot"
    for lost in (None, "rgb.mp4", "shot.json"):
        if lost is not None:
            (out / lost).unlink()
        assert not render_shot(take, out, preset=SIZE, count=1).reused
    assert Shot.open(out).rgb_count() == 1


def test_a_range_of_frames_is_the_same_frames(shot: Path, take: Path, tmp_path: Path) -> None:
    """Frame 50 drawn as the first of a shot is the frame 50 of the whole: what came before does not matter."""
    render_shot(take, tmp_path / "some", preset=SIZE, first=50, count=3)
    some, whole = Shot.open(tmp_path / "some"), Shot.open(shot)
    assert some.info.first_frame == 50 and list(some.frames.frame) == [0, 1, 2]
    np.testing.assert_array_equal(some.frames.tick, whole.frames.tick[50:53])
    for name in ALL_PASSES[1:]:
        for i in range(3):
            np.testing.assert_array_equal(some.read(name, i), whole.read(name, 50 + i))


def test_sixty_frames_a_second_from_a_take_of_24(take: Path, tmp_path: Path) -> None:
    render_shot(take, tmp_path / "fast", preset=SIZE, fps=60, first=10, count=4, passes=("depth", "rgb"))
    fast = Shot.open(tmp_path / "fast")
    assert fast.info.frame_rate == (60, 1) and list(fast.frames.tick) == [40, 44, 48, 52]
    assert fast.info.all_passes == ("rgb", "depth") and "flow" in fast.info.absent


def test_motion_blur_changes_the_picture_and_no_other_pass(shot: Path, take: Path, tmp_path: Path) -> None:
    render_shot(take, tmp_path / "blurred", preset=SIZE, motion_blur=True, first=20, count=2)
    blurred, whole = Shot.open(tmp_path / "blurred"), Shot.open(shot)
    assert blurred.info.motion_blur is not None and blurred.info.id != whole.info.id
    for name in ALL_PASSES[1:]:
        np.testing.assert_array_equal(blurred.read(name, 0), whole.read(name, 20))
    assert np.abs(blurred.rgb(0).astype(int) - whole.rgb(20)).max() > 8


def test_a_look_changes_the_picture_and_no_other_pass(shot: Path, take: Path, tmp_path: Path) -> None:
    render_shot(take, tmp_path / "fog", preset=SIZE, look="fog", first=20, count=2)
    fog, whole = Shot.open(tmp_path / "fog"), Shot.open(shot)
    assert fog.info.look == LOOKS["fog"] and whole.info.look is None and fog.info.id != whole.info.id
    for name in ALL_PASSES[1:]:
        np.testing.assert_array_equal(fog.read(name, 0), whole.read(name, 20))
    assert np.abs(fog.rgb(0).astype(int) - whole.rgb(20)).max() > 20


def test_a_look_that_is_not_there_is_refused_with_those_that_are(take: Path, tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="no look 'hail'") as error:
        render_shot(take, tmp_path / "hail", preset=SIZE, look="hail")
    assert "fog" in (error.value.fix or "") and not (tmp_path / "hail").exists()


def test_samples_asked_of_a_renderer_that_does_not_sample_are_refused(take: Path, tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="does not sample"):
        render_shot(take, tmp_path / "many", preset=f"{SIZE}@16", count=1)


def test_the_shutter_is_open_for_half_a_frame_from_the_instant_on(take: Path) -> None:
    from worldwright.render.run import BLUR

    assert shutter_ticks(100, 10, BLUR) == [100 + 10 * 0.5 * (k + 0.5) / 8 for k in range(8)]


def test_many_cameras_from_one_take(take: Path, tmp_path: Path) -> None:
    ids = set()
    for camera in ("orbit:radius=2", "fixed:-3,0,2,3,0,0"):
        render_shot(take, tmp_path / camera[:5], camera=camera, preset=SIZE, count=2, passes=("entity",))
        opened = Shot.open(tmp_path / camera[:5])
        ids.add(opened.info.id)
        assert 4 in opened.read("entity", 0)  # the character
    assert len(ids) == 2


def test_a_kept_stage_draws_something_else(shot: Path, take: Path, tmp_path: Path) -> None:
    """Shots one after the other on one stage, one of them in another size and one cut short, have the bytes of a shot made alone."""

    def stop(done: int, _total: int) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    with Stage({}) as stage:
        render_shot(take, tmp_path / "first", camera="first", preset=SIZE, count=3, stage=stage)
        render_shot(take, tmp_path / "other", preset="64x64", count=3, stage=stage)
        with pytest.raises(KeyboardInterrupt):
            render_shot(take, tmp_path / "cut", preset=SIZE, progress=stop, stage=stage)
        render_shot(take, tmp_path / "third", preset=SIZE, stage=stage)
    assert same_bytes(tmp_path / "third", shot)


def has_segment(out: Path) -> bool:
    """Whether an unfinished output has its first segment."""
    journal = out.with_name(f".{out.name}.part") / "journal"
    return journal.exists() and len(journal.read_text().splitlines()) > 1


def test_a_killed_rendering_is_one_line_and_goes_on_to_the_same_bytes(shot: Path, take: Path, tmp_path: Path) -> None:
    """The child is killed as soon as it has a segment; the next child makes the rest, and the bytes are those made in one process."""
    out = tmp_path / "third"

    def kill(_done: int, _total: int) -> None:
        if has_segment(out):
            for child in psutil.Process().children():
                child.kill()

    with pytest.raises(WorldwrightError, match=r"third: the render process ended by SIGKILL.*run again"):
        render_in_process(take, out, preset=SIZE, progress=kill)
    assert not out.exists()
    seen: list[tuple[int, int]] = []
    report = render_in_process(take, out, preset=SIZE, progress=lambda done, total: seen.append((done, total)))
    assert report.rendered == 24 and seen[-1] == (96, 96)
    assert same_bytes(out, shot)


def test_ctrl_c_ends_the_child_and_keeps_its_segments(take: Path, tmp_path: Path) -> None:
    """Larger pictures than elsewhere: on a busy machine small ones were all there before anybody had looked."""
    out = tmp_path / "third"

    def interrupt(_done: int, _total: int) -> None:
        if has_segment(out):
            for child in psutil.Process().children():
                child.suspend()  # that it may not end before it is told
                threading.Timer(1.0, child.resume).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_in_process(take, out, preset="640x360", passes=("rgb", "depth"), progress=interrupt)
    assert psutil.Process().children() == [] and not out.exists()
    assert render_shot(take, out, preset="640x360", passes=("rgb", "depth")).rendered == 24


def test_errors_of_the_child_arrive_as_they_are(take: Path, tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError) as caught:
        render_in_process(take, tmp_path / "shot", preset="17p")
    assert caught.value.where == "preset" and "128x72" in caught.value.fix


def test_one_wrong_look_among_several_is_told_after_the_others_are_rendered(take: Path, tmp_path: Path) -> None:
    for looks, named in (("fog,smoke", "smoke"), ("fog,night,fog", "'fog' is named twice"), ("fog,", "no look ''")):
        with pytest.raises(WorldwrightError, match=named):
            render_command(take, tmp_path / "shots", preset=SIZE, count=1, look=looks)
    assert list(tmp_path.iterdir()) == []


def test_bad_requests_are_one_line(take: Path, tmp_path: Path) -> None:
    for options, named in (
        ({"passes": ("smell",)}, "smell"),
        ({"passes": ()}, "passes"),
        ({"first": 96}, "96"),
        ({"first": 90, "count": 7}, "90 to 96"),
        ({"fps": 50}, "fps"),
        ({"camera": "sideways"}, "camera"),
        ({"renderer": "crayon"}, "raster"),
        ({"device": "abacus"}, "abacus"),
    ):
        with pytest.raises(WorldwrightError, match=named):
            render_shot(take, tmp_path / "shot", **({"preset": SIZE} | options))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_asset_that_is_not_the_recorded_one_is_refused(tmp_path: Path) -> None:
    take = record_take(tmp_path / "t.mcap", assets={"pack/chair.glb": "0" * 32})
    with pytest.raises(WorldwrightError, match=r"pack/chair\.glb: asset is not there.*--pack"):
        render_shot(take, tmp_path / "shot", preset=SIZE, count=1)


def test_a_pass_that_the_renderer_cannot_give_is_absent_not_faked(
    take: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worldwright.render.raster.renderer.RasterRenderer.passes", ("rgb", "depth"))
    assert make_renderer("raster").passes == ("rgb", "depth")
    render_shot(take, tmp_path / "shot", preset=SIZE, count=1)
    info = Shot.open(tmp_path / "shot").info
    assert info.all_passes == ("rgb", "depth") and sorted(info.absent) == sorted(ALL_PASSES[2:] if ALL_PASSES[1] == "depth" else [])


def test_an_output_that_cannot_be_made_is_one_line(take: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorldwrightError, match=r"file/shot: cannot be made"):
        render_shot(take, tmp_path / "file" / "shot", preset=SIZE, count=1)


def test_the_closing_line_contradicts_itself() -> None:
    """72 frames in 12 s are 6 a second, not 13.3: the rate leaves the loading out, and says so."""
    report = RenderReport("s", 72, 72, reused=False, wall_s=12.0, cpu_s=9.0, setup_s=6.6, device="cpu")
    assert report.line().startswith("s: 72 frames in 12.0 s, 6.6 of it loading (13.3 a second after that; CPU a frame: ")
