"""Cameras and presets: right poses by hand, and one line for whatever a user gets wrong."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from worldwright.errors import WorldwrightError
from worldwright.render.cameras import camera_from, make_camera
from worldwright.render.presets import PRESETS, frame_ticks_for, parse_preset
from worldwright.take.model import CharacterInstant, Instant, TakeHeader
from worldwright.transforms import camera_look, camera_look_at, matrix_to_quat
from worldwright.world.spec import World

RATE = 240


def header(**changes: Any) -> TakeHeader:
    part = {"geometry": {"shape": "box", "size": [1, 1, 1]}, "material": "grey"}
    world = World.model_validate(
        {
            "name": "small",
            "bounds": {"min": [-9, -9, -9], "max": [9, 9, 9]},
            "materials": {"grey": {}},
            "entities": [{"name": "floor", "label": "floor", "parts": [part]}],
            "spawns": [{"position": [0, 0, 0]}],
        }
    )
    fields = {
        "world": world, "world_hash": "", "assets": {}, "engine": "", "engine_version": "", "settings": {}, "policy": "",
        "policy_params": {}, "seed": 0, "tick_rate": RATE, "sample_ticks": 2, "frame_ticks": 10, "body_ids": (),
        "character_ids": (2,), "joint_counts": (1,), "rigs": ("first", "third"),
    } | changes  # fmt: skip
    return TakeHeader(**fields)


def instant(tick: float, feet: tuple[float, float, float] = (1.0, 2.0, 3.0)) -> Instant:
    none = np.zeros((0, 3))
    who = CharacterInstant(2, np.array(feet), 0.0, 0.0, np.zeros(3), 0, "idle", 0.0, 1, np.zeros((1, 8), np.float32))
    cameras = {"first": camera_look((1, 2, 4.6), 0.3, 0.1), "third": camera_look((0, 2, 5), 0.3, 0.1)}
    return Instant(tick, none, np.zeros((0, 4)), none, none, (who,), np.zeros((0, 2), np.int32), cameras)


def pose(source: Any, tick: float) -> np.ndarray[Any, Any]:
    return make_camera(source, header()).view(instant(tick), 160, 90).c2w


def test_a_rig_is_the_recorded_pose_with_the_worlds_field_of_view() -> None:
    view = make_camera("third", header()).view(instant(7), 160, 90)
    assert_allclose(view.c2w, camera_look((0, 2, 5), 0.3, 0.1))
    f = 45 / math.tan(math.radians(62) / 2)
    assert_allclose(view.K, [[f, 0, 80], [0, f, 45], [0, 0, 1]])


def test_an_orbit_starts_on_plus_x_and_is_on_plus_y_after_a_quarter() -> None:
    """Feet at (1, 2, 3), radius 4, height 1.6: at 0 s (5, 2, 4.6), at 3 s of 12 (1, 6, 4.6); it looks at (1, 2, 4)."""
    assert_allclose(pose("orbit", 0)[:3, 3], [5, 2, 4.6])
    quarter = pose("orbit:period=12", 3 * RATE)
    assert_allclose(quarter[:3, 3], [1, 6, 4.6], atol=1e-12)
    forward = np.array([0, -4, -0.6]) / math.hypot(4, 0.6)
    assert_allclose(quarter[:3, 2], forward, atol=1e-12)
    assert_allclose(quarter[:3, 0], [-1, 0, 0], atol=1e-12)  # looking along -Y, right is -X


def test_the_options_of_an_orbit_are_used() -> None:
    place = pose("orbit:radius=2,height=0.5,period=4,phase=90,aim=0.5,fov=40", RATE)  # a quarter on from +Y: on -X
    assert_allclose(place[:3, 3], [-1, 2, 3.5], atol=1e-12)
    assert_allclose(place[:3, 2], [1, 0, 0], atol=1e-12)


def test_a_fixed_camera_looks_where_it_is_told() -> None:
    assert_allclose(pose("fixed:0,0,1,0,5,1", 123), camera_look((0, 0, 1), math.pi / 2, 0), atol=1e-12)
    view = make_camera("fixed:0,0,1,0,5,1,90", header()).view(instant(0), 160, 90)
    assert_allclose(view.K[0, 0], 45)


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


KEYS = [
    {"t": 0, "position": [0, 0, 1], "yaw_deg": 0},
    {"t": 1, "position": [2, 0, 1], "yaw_deg": 90},
    {"t": 2, "position": [2, 2, 1], "yaw_deg": 180},
]


def test_a_linear_path_goes_straight_and_turns_evenly(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", {"interpolation": "linear", "keys": KEYS})
    assert_allclose(pose(path, RATE / 2), camera_look((1, 0, 1), math.pi / 4, 0), atol=1e-9)
    assert_allclose(pose(path, RATE * 1.5), camera_look((2, 1, 1), math.radians(135), 0), atol=1e-9)


@pytest.mark.parametrize("interpolation", ["linear", "spline"])
def test_a_path_goes_through_its_keys_and_stands_still_outside(interpolation: str, tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", {"interpolation": interpolation, "keys": KEYS})
    for tick, k in ((-50, 0), (0, 0), (RATE, 1), (2 * RATE, 2), (99 * RATE, 2)):
        expected = camera_look(KEYS[k]["position"], math.radians(KEYS[k]["yaw_deg"]), 0)  # type: ignore[arg-type]
        assert_allclose(pose(path, tick), expected, atol=1e-9)


def test_a_spline_is_the_natural_cubic_spline(tmp_path: Path) -> None:
    """Through 0, 1, 0 at 0, 1, 2 s with free ends: 1.5 u - 0.5 u^3 on the way up, 0.6875 at half a second."""
    keys = [{"t": k, "position": [x, 0, 0], "look_at": [x, 5, 0]} for k, x in enumerate([0, 1, 0])]
    assert_allclose(
        pose(write(tmp_path / "c.json", {"keys": keys}), RATE / 2), camera_look_at((0.6875, 0, 0), (0.6875, 5, 0)), atol=1e-12
    )


def test_one_key_is_a_camera_that_stands_still(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", {"keys": KEYS[:1]})
    assert_allclose(pose(path, 500), camera_look((0, 0, 1), 0, 0), atol=1e-12)


def test_every_file_format_says_the_same(tmp_path: Path) -> None:
    rows = [{"t": k["t"], "x": k["position"][0], "y": k["position"][1], "z": 1.0, "yaw_deg": k["yaw_deg"]} for k in KEYS]  # type: ignore[index]
    (tmp_path / "c.csv").write_text("t,x,y,z,yaw_deg\n" + "\n".join(",".join(str(v) for v in row.values()) for row in rows))
    pq.write_table(pa.Table.from_pylist([{name: float(v) for name, v in row.items()} for row in rows]), tmp_path / "c.parquet")
    (tmp_path / "c.yaml").write_text("keys:\n" + "".join(f"- {json.dumps(k)}\n" for k in KEYS))
    turned = [
        {
            "tick": k["t"] * RATE,
            "position": k["position"],
            "rotation": matrix_to_quat(camera_look((0, 0, 0), math.radians(k["yaw_deg"]), 0)[:3, :3]).tolist(),
        }  # type: ignore[arg-type,operator]
        for k in KEYS
    ]
    expected = pose(write(tmp_path / "c.json", {"keys": KEYS}), 130)
    for other in ("c.csv", "c.parquet", "c.yaml", write(tmp_path / "turned.json", {"keys": turned}).name):
        assert_allclose(pose(tmp_path / other, 130), expected, atol=1e-9)


@pytest.mark.parametrize("source", ["first", "orbit:radius=3", "fixed:0,0,1,0,5,1", "file"])
def test_a_description_makes_the_same_camera_again(source: str, tmp_path: Path) -> None:
    track = make_camera(write(tmp_path / "c.json", {"keys": KEYS}) if source == "file" else source, header())
    again = camera_from(json.loads(json.dumps(track.describe())), RATE, where="shot.json")
    for tick in (0, 33.3, 250):
        np.testing.assert_array_equal(again.view(instant(tick), 64, 36).c2w, track.view(instant(tick), 64, 36).c2w)
        np.testing.assert_array_equal(again.view(instant(tick), 64, 36).K, track.view(instant(tick), 64, 36).K)


@given(
    st.lists(st.tuples(*[st.floats(-50, 50)] * 3, st.floats(-720, 720), st.floats(-80, 80)), min_size=1, max_size=6),
    st.floats(-100, 2000),
    st.sampled_from(["linear", "spline"]),
)
def test_every_pose_of_every_path_is_rigid(keys: list[tuple[float, ...]], tick: float, interpolation: str) -> None:
    turns = [matrix_to_quat(camera_look((0, 0, 0), math.radians(k[3]), math.radians(k[4]))[:3, :3]).tolist() for k in keys]
    description = {
        "kind": "path", "interpolation": interpolation, "ticks": [100.0 * i for i in range(len(keys))],
        "positions": [k[:3] for k in keys], "rotations": turns, "fov_y_deg": [60.0] * len(keys),
    }  # fmt: skip
    c2w = camera_from(description, RATE, where="camera").view(instant(tick), 64, 36).c2w
    assert_allclose(c2w[:3, :3] @ c2w[:3, :3].T, np.eye(3), atol=1e-9)
    assert np.linalg.det(c2w[:3, :3]) == pytest.approx(1)


BAD_FILES: dict[str, tuple[Any, str]] = {
    "no keys": ({"keys": []}, "keys"),
    "no time": ({"keys": [{"position": [0, 0, 0], "yaw_deg": 0}]}, "t (seconds) or tick"),
    "two times": ({"keys": [{"t": 0, "tick": 0, "position": [0, 0, 0], "yaw_deg": 0}]}, "t (seconds) or tick"),
    "no direction": ({"keys": [{"t": 0, "position": [0, 0, 0]}]}, "yaw_deg"),
    "two directions": ({"keys": [{"t": 0, "position": [0, 0, 0], "yaw_deg": 0, "look_at": [1, 1, 1]}]}, "yaw_deg"),
    "time goes back": ({"keys": [KEYS[1], KEYS[0]]}, "is not after"),
    "no unit quaternion": ({"keys": [{"t": 0, "position": [0, 0, 0], "rotation": [1, 1, 0, 0]}]}, "unit quaternion"),
    "looks at itself": ({"keys": [{"t": 0, "position": [1, 0, 0], "look_at": [1, 0, 0]}]}, "same point"),
    "an unknown field": ({"keys": KEYS, "lens": "wide"}, "lens"),
    "far away": ({"keys": [{"t": 0, "position": [1e9, 0, 0], "yaw_deg": 0}]}, "position"),
    "a wide angle": ({"keys": KEYS, "fov_y_deg": 400}, "fov_y_deg"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_a_bad_camera_file_names_file_and_field(what: str, tmp_path: Path) -> None:
    document, named = BAD_FILES[what]
    path = write(tmp_path / "camera.json", document)
    with pytest.raises(WorldwrightError) as caught:
        make_camera(path, header())
    assert "camera.json" in caught.value.line() and named in caught.value.line()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("t,x,y,z,yaw_deg\n0,0,0,0,nan\n", "yaw_deg"),
        ("t,x,y,z,yaw_deg\n0,0,0,zero,0\n", "position"),
        ("t,x,y,yaw_deg\n0,0,0,0\n", "position"),
        ("t,x,y,z,yaw_deg,roll\n0,0,0,0,0,7\n", "roll"),
        ("", "keys"),
        ("\x00\x01", "camera.csv"),
    ],
)
def test_a_bad_table_names_file_and_column(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "camera.csv"
    path.write_text(text)
    with pytest.raises(WorldwrightError, match=named):
        make_camera(path, header())


def test_a_parquet_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "camera.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(WorldwrightError, match=r"camera\.parquet: unreadable"):
        make_camera(path, header())


@pytest.mark.parametrize(
    "text",
    [
        "sideways",
        "orbit:radius=-1",
        "orbit:speed=3",
        "orbit:radius",
        "orbit:radius=x",
        "fixed:1,2,3",
        "fixed:0,0,0,0,0,0",
        "missing.yaml",
        "fixed:a,b",
    ],
)
def test_a_bad_camera_is_one_line_that_says_what_to_do(text: str) -> None:
    with pytest.raises(WorldwrightError, match=r"camera|missing"):
        make_camera(text, header())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("orbit:", "camera orbit: no option after the colon; write orbit alone, or"),
        ("orbit: ", "no option after the colon"),
        ("orbit:,", "'' is not name=number"),
        ("orbit:radius=4,", "'' is not name=number"),
        ("orbit:radius=", "'radius=' is not name=number"),
        ("orbit:=4", "'=4' is not name=number"),
        ("orbit:radius=4,radius=5", "radius is given twice"),
        ("orbit:speed=3", "no option 'speed'; there are: radius, height, period, fov, phase, aim"),
        ("fixed:0,0,1,,0,5,1", "are not numbers"),
        ("fixed:", "are not numbers"),
    ],
)
def test_a_camera_with_a_part_left_empty_is_taken_for_another(text: str, line: str) -> None:
    with pytest.raises(WorldwrightError, match=re.escape(line)):
        make_camera(text, header())


def test_presets_are_sixteen_by_nine_and_even() -> None:
    assert {p.name: (p.width, p.height) for p in PRESETS.values()} == {
        "90p": (160, 90), "180p": (320, 180), "360p": (640, 360), "540p": (960, 540), "720p": (1280, 720), "1080p": (1920, 1080),
    }  # fmt: skip
    assert (parse_preset("128x72").width, parse_preset("128x72").height) == (128, 72)


@pytest.mark.parametrize("text", ["480p", "127x72", "8x8", "99999x10", "0x0", "-1x5", "10000x10000", "x", ""])
def test_a_size_that_cannot_be_encoded_is_refused(text: str) -> None:
    with pytest.raises(WorldwrightError, match="preset"):
        parse_preset(text)


def test_rates_must_fall_on_samples() -> None:
    assert [frame_ticks_for(header(), fps) for fps in (None, 24, 30, 60, 120)] == [10, 10, 8, 4, 2]
    for fps in (0, -24, 50, 7, 80, 240):
        with pytest.raises(WorldwrightError, match=r"fps: .*choose one of 1, 2, "):
            frame_ticks_for(header(), fps)
