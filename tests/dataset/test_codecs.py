"""The compact tier keeps what it promises, and its measuring tells when it does not."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from worldwright.dataset.codecs import (
    CODECS,
    COMPACT_DEPTH_MAX,
    LADDERS,
    LIMITS,
    decode_planes,
    encode_pass,
    encode_planes,
    lerobot_depth_info,
    measure,
)
from worldwright.errors import WorldwrightError
from worldwright.render.passes import (
    DEPTH_FAR,
    DEPTH_NEAR,
    FLOW_INVALID,
    PASSES,
    decode_depth,
    decode_flow,
    decode_normal,
    encode_depth,
    encode_normal,
)

Array = NDArray[Any]


def through(name: str, codec: str, values: Array) -> Array:
    found = CODECS[name, codec]
    packed = found.pack(values)
    assert packed is not None
    return found.unpack(packed)


def test_every_depth_code_stays_within_half_a_percent() -> None:
    codes = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    back = through("depth", "depth-log12", codes)
    assert (back == 0).sum() == 1  # no surface is kept apart, and is nothing else
    truth, got = decode_depth(codes).astype(np.float64), decode_depth(back).astype(np.float64)
    assert np.nanmax(np.abs(got / truth - 1)) < 0.00125
    assert measure("depth", codes, back) < LIMITS["depth"].limit


@settings(deadline=None)
@given(st.floats(DEPTH_NEAR, DEPTH_FAR))
def test_depth_levels_are_those_of_lerobots_quantiser(metres: float) -> None:
    info = lerobot_depth_info()
    low, high = info["video.depth_min"], info["video.depth_max"]
    theirs = np.rint((math.log(metres) - math.log(low)) / (math.log(high) - math.log(low)) * 4095)
    ours = CODECS["depth", "depth-log12"].pack(encode_depth(np.array([[metres]])))
    assert ours is not None
    assert abs(int(ours[0, 0]) - theirs) <= 1  # master codes are rounded first
    assert ours.max() < 4095


def test_the_level_of_no_surface_lies_beyond_every_surface() -> None:
    assert COMPACT_DEPTH_MAX > DEPTH_FAR
    packed = CODECS["depth", "depth-log12"].pack(np.array([[65535, 0]], dtype=np.uint16))
    assert packed is not None
    assert packed.tolist() == [[4094, 4095]]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_normals_stay_within_a_degree(seed: int) -> None:
    n = np.random.default_rng(seed).normal(size=(50, 40, 3))
    n[0, 0] = 0
    n[1, :6] = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    codes = encode_normal(n / np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-12))
    back = through("normal", "normal-oct300", codes)
    a, b = decode_normal(codes).astype(np.float64), decode_normal(back).astype(np.float64)
    assert np.isnan(b[0, 0]).all()
    angle = np.degrees(np.arccos(np.clip((a * b).sum(-1), -1, 1)))
    assert np.nanmax(angle) < 0.9
    assert measure("normal", codes, back) == pytest.approx(np.nanmax(angle), abs=1e-3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_flow_stays_within_a_quarter_pixel_and_unknown_stays_unknown(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-20470, 20471, size=(20, 30, 2)).astype(np.int16)
    codes[0, 0] = FLOW_INVALID
    back = through("flow", "flow-12", codes)
    assert np.isnan(decode_flow(back)[0, 0]).all()
    apart = np.linalg.norm(decode_flow(back) - decode_flow(codes), axis=-1)
    assert np.nanmax(apart) < 0.25
    assert measure("flow", codes, back) == pytest.approx(np.nanmax(apart), abs=1e-5)


@pytest.mark.parametrize("name", list(PASSES))
def test_a_pass_through_a_file_keeps_its_promise(name: str, tmp_path: Path, made: SimpleNamespace) -> None:
    frames = [made.scene(i, made.camera(i), made.camera(i + 1))[name] for i in range(27)]
    done = encode_pass(name, lambda: iter(frames), tmp_path / name, 24)
    assert done.codec is LADDERS[name][0] or name == "albedo"
    got = list(decode_planes(done.path, done.codec, 24))
    assert [i for i, _ in got] == list(range(27))
    for truth, (_, values) in zip(frames, got, strict=True):
        assert values.dtype == truth.dtype
        assert LIMITS[name].holds(measure(name, truth, values))
    middle = next(decode_planes(done.path, done.codec, 24, start=25))
    np.testing.assert_array_equal(middle[1], got[25][1])


def test_flow_too_wild_for_12_bits_is_kept_whole(tmp_path: Path) -> None:
    frames = [np.full((20, 32, 2), 32767 - i, dtype=np.int16) for i in range(3)]
    done = encode_pass("flow", lambda: iter(frames), tmp_path / "flow", 24)
    assert (done.codec.name, done.worst) == ("flow-16", 0.0)
    assert list(tmp_path.iterdir()) == [done.path]
    np.testing.assert_array_equal(next(decode_planes(done.path, done.codec, 24, start=2))[1], frames[2])


def test_ids_beyond_12_bits_stay_exact(tmp_path: Path) -> None:
    frames = [np.full((20, 32), 65535 - i, dtype=np.uint16) for i in range(3)]
    done = encode_pass("entity", lambda: iter(frames), tmp_path / "entity", 24)
    assert (done.codec.name, done.worst) == ("id-16", 0.0)


def test_albedo_that_loses_too_much_is_coded_better(tmp_path: Path) -> None:
    noise = np.random.default_rng(0)
    frames = [noise.integers(0, 256, size=(36, 64, 3), dtype=np.uint8) for _ in range(4)]
    done = encode_pass("albedo", lambda: iter(frames), tmp_path / "albedo", 24)
    assert done.codec is not LADDERS["albedo"][0]
    assert LIMITS["albedo"].holds(done.worst)


@pytest.mark.parametrize(
    ("name", "truth", "got"),
    [
        ("depth", np.array([[0, 9]], np.uint16), np.array([[9, 9]], np.uint16)),
        ("depth", np.array([[30000]], np.uint16), np.array([[30040]], np.uint16)),
        ("normal", encode_normal(np.array([[[0.0, 0.0, 1.0]]])), encode_normal(np.array([[[0.0, 0.02, 1.0]]]) / np.sqrt(1.0004))),
        ("normal", np.array([[[65535, 65535]]], np.uint16), np.array([[[5, 5]]], np.uint16)),
        ("flow", np.array([[[0, 0]]], np.int16), np.array([[[9, 0]]], np.int16)),
        ("flow", np.array([[[FLOW_INVALID, FLOW_INVALID]]], np.int16), np.array([[[0, 0]]], np.int16)),
        ("entity", np.array([[1, 2]], np.uint16), np.array([[1, 3]], np.uint16)),
        ("roughness", np.array([[7]], np.uint8), np.array([[8]], np.uint8)),
        ("albedo", np.zeros((2, 2, 3), np.uint8), np.full((2, 2, 3), 2, np.uint8)),
    ],
)
def test_an_error_just_beyond_the_promise_is_measured_as_such(name: str, truth: Array, got: Array) -> None:
    assert not LIMITS[name].holds(measure(name, truth, got))
    assert LIMITS[name].holds(measure(name, truth, truth))


def test_the_same_frames_give_the_same_bytes(tmp_path: Path, made: SimpleNamespace) -> None:
    frames = [made.scene(i, made.camera(i), made.camera(i + 1)) for i in range(5)]
    for name in ("depth", "albedo"):
        codec = LADDERS[name][0]
        for k in "ab":
            encode_planes((f[name] for f in frames), codec, tmp_path / f"{name}{k}.mp4", 24)
        assert (tmp_path / f"{name}a.mp4").read_bytes() == (tmp_path / f"{name}b.mp4").read_bytes()


def test_a_truncated_video_is_one_clear_error(tmp_path: Path, made: SimpleNamespace) -> None:
    frames = [made.scene(i, made.camera(i), made.camera(i + 1))["depth"] for i in range(5)]
    done = encode_pass("depth", lambda: iter(frames), tmp_path / "depth", 24)
    done.path.write_bytes(done.path.read_bytes()[:200])
    with pytest.raises(WorldwrightError, match="unreadable"):
        list(decode_planes(done.path, done.codec, 24))
