"""Shots on disk: what is in them is what was given, and what is not a whole shot is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
import zarr
from zarr.codecs import BloscCodec

from worldwright.errors import WorldwrightError
from worldwright.outputs import check_manifest
from worldwright.render.passes import PASSES
from worldwright.render.shot import Shot, seal


@pytest.fixture
def copy(made_up: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(made_up, tmp_path / "copy"))


def test_every_plane_comes_back_as_it_was_given(made_up: Path, synthetic: ModuleType) -> None:
    shot = Shot.open(made_up)
    for name in PASSES:
        for i in (0, 1, 71, 72, 99):
            np.testing.assert_array_equal(shot.read(name, i), synthetic.plane(name, i))


def test_a_plain_zarr_reader_reads_the_shards_that_we_write_ourselves(made_up: Path, synthetic: ModuleType) -> None:
    group = zarr.open_group(made_up / "passes.zarr", mode="r")
    assert sorted(group.array_keys()) == sorted(PASSES)
    for name, info in PASSES.items():
        array = group[name]
        assert array.attrs.asdict() == info.attributes()
        whole = array[:]
        np.testing.assert_array_equal(whole, np.stack([synthetic.plane(name, i) for i in range(100)]))


def test_zarr_itself_would_write_the_same_chunks(made_up: Path, synthetic: ModuleType, tmp_path: Path) -> None:
    """Chunk by chunk the bytes are those of zarr's own codec, so no reader can tell the difference."""
    info = PASSES["depth"]
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(100, 36, 64), chunks=(1, 36, 64), dtype=info.dtype,
        compressors=BloscCodec(typesize=2, cname="zstd", clevel=1, shuffle="shuffle", blocksize=1 << 20),
    )  # fmt: skip
    array[0] = synthetic.plane("depth", 0)
    chunk = (tmp_path / "a.zarr" / "c" / "0" / "0" / "0").read_bytes()
    assert (made_up / "passes.zarr" / "depth" / "c" / "0" / "0" / "0").read_bytes()[: len(chunk)] == chunk


def test_frame_i_of_the_video_is_picture_i(made_up: Path, synthetic: ModuleType) -> None:
    shot = Shot.open(made_up)
    assert [synthetic.number_in(picture) for picture in shot.rgb_frames()] == list(range(100))
    assert [synthetic.number_in(shot.rgb(i)) for i in (0, 23, 24, 71, 72, 99)] == [0, 23, 24, 71, 72, 99]
    assert shot.rgb_count() == 100


def test_colours_survive_the_video(made_up: Path) -> None:
    """Grey 70 and white 220 come back within 2 of 255: the matrix and the range are right on both sides."""
    picture = Shot.open(made_up).rgb(0).astype(int)
    assert np.abs(picture - 70).mean(axis=(0, 1)).max() < 2


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_time_stamps_are_exactly_i_over_the_rate(fps: int, synthetic: ModuleType, tmp_path: Path) -> None:
    shot = synthetic.make_shot(tmp_path / "shot", synthetic.shot_info(70, fps=fps, passes=("depth",)))
    with av.open(str(shot / "rgb.mp4")) as container:
        stream = container.streams.video[0]
        times = [Fraction(packet.pts) * packet.time_base for packet in container.demux(stream) if packet.size]
        keys = [k for k, packet in enumerate(_packets(shot)) if packet.is_keyframe]
        assert stream.average_rate == fps
        assert (stream.codec_context.pix_fmt, stream.codec_context.colorspace, stream.codec_context.color_range) == (
            "yuv420p",
            1,
            1,
        )
    assert times == [Fraction(i, fps) for i in range(70)]
    assert keys == list(range(0, 70, fps))


def _packets(shot: Path) -> list[Any]:
    with av.open(str(shot / "rgb.mp4")) as container:
        return [packet for packet in container.demux(container.streams.video[0]) if packet.size]


def test_rows_come_back_as_they_were_given(made_up: Path, synthetic: ModuleType) -> None:
    shot = Shot.open(made_up)
    for i in (0, 50, 99):
        given = synthetic.row(shot.info, i)
        for name in ("c2w", "K", "next_c2w", "next_K", "action", "effective", "character_position", "character_velocity"):
            np.testing.assert_array_equal(getattr(shot.frames, name)[i], getattr(given, name))
        for name in ("frame", "tick", "t_ns", "near", "far", "flags", "character_yaw", "character_pitch", "clip", "ground"):
            assert getattr(shot.frames, name)[i] == getattr(given, name)


def test_the_table_has_the_columns_that_others_rely_on(made_up: Path) -> None:
    schema = {field.name: str(field.type) for field in pq.read_schema(made_up / "frames.parquet")}
    assert schema == {
        "frame": "int32", "tick": "int64", "t_ns": "int64",
        "c2w": "fixed_size_list<element: double not null>[16]", "K": "fixed_size_list<element: double not null>[9]",
        "next_c2w": "fixed_size_list<element: double not null>[16]", "next_K": "fixed_size_list<element: double not null>[9]",
        "near": "double", "far": "double",
        "action": "fixed_size_list<element: float not null>[10]", "effective": "fixed_size_list<element: float not null>[5]",
        "flags": "uint32", "character_position": "fixed_size_list<element: double not null>[3]",
        "character_yaw": "double", "character_pitch": "double",
        "character_velocity": "fixed_size_list<element: double not null>[3]", "clip": "string", "ground": "int32",
    }  # fmt: skip


def test_a_shot_without_its_manifest_is_refused(copy: Path) -> None:
    (copy / "_DONE").unlink()
    with pytest.raises(WorldwrightError, match="no _DONE"):
        Shot.open(copy)


def test_the_manifest_of_a_fresh_shot_holds(made_up: Path) -> None:
    assert check_manifest(made_up, "shot") == []


def test_an_edited_shot_fails_its_manifest_until_it_is_sealed(copy: Path, synthetic: ModuleType) -> None:
    array = zarr.open_group(copy / "passes.zarr", mode="r+")["entity"]
    array[5] = synthetic.plane("entity", 6)
    assert [line.split(":")[0] for line in check_manifest(copy, "shot")] == ["passes.zarr/entity/c/0/0/0"]
    seal(copy)
    assert check_manifest(copy, "shot") == []
    np.testing.assert_array_equal(Shot.open(copy).read("entity", 5), synthetic.plane("entity", 6))


def test_sealing_refuses_a_video_that_lacks_frames(copy: Path, synthetic: ModuleType, tmp_path: Path) -> None:
    short = synthetic.make_shot(tmp_path / "short", synthetic.shot_info(99, passes=("depth",)))
    shutil.copy(short / "rgb.mp4", copy / "rgb.mp4")
    with pytest.raises(WorldwrightError, match=r"99 frames, shot.json says 100"):
        seal(copy)


def test_sealing_refuses_rows_of_another_number(copy: Path, synthetic: ModuleType, tmp_path: Path) -> None:
    short = synthetic.make_shot(tmp_path / "short", synthetic.shot_info(99, passes=("depth",), rgb=False))
    shutil.copy(short / "frames.parquet", copy / "frames.parquet")
    with pytest.raises(WorldwrightError, match=r"99 rows, shot.json says 100"):
        seal(copy)


def test_sealing_refuses_a_shot_without_its_take(copy: Path) -> None:
    (copy / "take.mcap").unlink()
    with pytest.raises(WorldwrightError, match=r"take\.mcap: is missing"):
        seal(copy)


def test_a_link_out_of_the_folder_is_refused(copy: Path) -> None:
    (copy / "rgb.mp4").unlink()
    (copy / "rgb.mp4").symlink_to("/etc/passwd")
    with pytest.raises(WorldwrightError, match="symbolic link"):
        Shot.open(copy)


Edit = Callable[[dict[str, Any]], None]

HOSTILE: dict[str, tuple[Edit, str]] = {
    "an unknown field": (lambda d: d.update(surprise=1), "surprise"),
    "a huge picture": (lambda d: d.update(width=10**9), "width"),
    "no frames": (lambda d: d.update(n_frames=0), "n_frames"),
    "a million million frames": (lambda d: d.update(n_frames=10**12), "n_frames"),
    "a path out of the folder": (lambda d: d["passes"]["depth"].update(file="../../etc"), "passes.depth"),
    "a shape that differs": (lambda d: d["passes"]["depth"].update(shape=[100, 36, 65]), "passes.depth"),
    "a type that differs": (lambda d: d["passes"]["flow"].update(dtype="float64"), "passes.flow"),
    "an unknown pass": (lambda d: d["passes"].update(smell=d["passes"]["depth"]), "smell"),
    "a rate that the ticks do not give": (lambda d: d.update(frame_rate=[25, 1]), "frame_rate"),
    "an id that is none": (lambda d: d.update(id="../x"), "id"),
    "an entity twice": (lambda d: d["entities"].append(d["entities"][0]), "entities"),
    "other action names": (lambda d: d.update(action_names=["fly"]), "action_names"),
    "another format": (lambda d: d.update(format="worldwright.shot/9"), "format"),
    "not a number": (lambda d: d["renderer"].update(exposure=float("nan")), "exposure"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_shot_json_is_one_clear_line(what: str, copy: Path) -> None:
    edit, named = HOSTILE[what]
    document = json.loads((copy / "shot.json").read_text())
    edit(document)
    (copy / "shot.json").write_text(json.dumps(document))
    with pytest.raises(WorldwrightError) as caught:
        Shot.open(copy)
    assert "shot.json" in caught.value.line() and named in caught.value.line() and len(caught.value.line()) < 600


@pytest.mark.parametrize("name", ["shot.json", "frames.parquet", "passes.zarr/depth/zarr.json", "passes.zarr/zarr.json", "rgb.mp4"])
@pytest.mark.parametrize("damage", ["cut", "zeros", "gone"])
def test_damaged_files_are_one_clear_line(name: str, damage: str, copy: Path) -> None:
    path = copy / name
    data = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "zeros":
        path.write_bytes(bytes(len(data)))
    try:
        frames = Shot.open(copy).rgb_count()
    except WorldwrightError as error:
        assert name.split("/", maxsplit=1)[0] in error.line()
    else:
        assert (name, damage) == ("rgb.mp4", "cut") and frames < 100  # what is in front of the cut is still a video
    with pytest.raises(WorldwrightError):
        seal(copy)


def test_flipped_bits_in_a_shard_are_an_error_or_differ_from_the_manifest(copy: Path) -> None:
    path = copy / "passes.zarr" / "normal" / "c" / "0" / "0" / "0" / "0"
    data = bytearray(path.read_bytes())
    for at in np.random.default_rng(0).integers(0, len(data), 20):
        data[at] ^= 0xFF
    path.write_bytes(bytes(data))
    assert check_manifest(copy, "shot")
    shot = Shot.open(copy)
    for i in range(72):
        try:
            shot.read("normal", i)
        except WorldwrightError as error:
            assert f"frame {i}" in error.line()


def test_an_array_with_a_foreign_codec_is_refused(copy: Path) -> None:
    path = copy / "passes.zarr" / "depth" / "zarr.json"
    document = json.loads(path.read_text())
    document["codecs"][0]["configuration"]["codecs"].insert(0, {"name": "numcodecs.delta", "configuration": {"dtype": "<u2"}})
    path.write_text(json.dumps(document))
    with pytest.raises(WorldwrightError, match=r"numcodecs\.delta|not a readable"):
        Shot.open(copy)


def test_a_pass_that_is_not_there_is_named(synthetic: ModuleType, tmp_path: Path) -> None:
    shot = Shot.open(synthetic.make_shot(tmp_path / "shot", synthetic.shot_info(3, passes=("depth",), rgb=False)))
    with pytest.raises(WorldwrightError, match="no pass 'flow', only depth"):
        shot.read("flow", 0)
    with pytest.raises(WorldwrightError, match="no rgb"):
        shot.rgb(0)
    with pytest.raises(WorldwrightError, match="no frame 3"):
        shot.read("depth", 3)


def test_the_take_is_the_same_file_not_a_second_copy(made_up: Path) -> None:
    assert (made_up / "take.mcap").samefile(made_up.with_name("made-up.mcap"))
