"""Clips hold what their shots held, whatever the order they are asked for in, and never cross an episode's end."""

from __future__ import annotations

import multiprocessing
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worldwright.dataset
from worldwright.dataset.actions import join_actions, join_effects
from worldwright.dataset.codecs import LIMITS, measure
from worldwright.errors import WorldwrightError
from worldwright.render.passes import PASSES
from worldwright.render.shot import Shot

EVERY = ("rgb", *PASSES)


def test_a_clip_has_the_rows_and_pictures_of_its_shot(master: Path, shots: list[Path]) -> None:
    clips = worldwright.dataset.open(master, length=4, passes=EVERY, decode=False)
    shot = Shot.open(shots[1])
    clip = clips.clip(1, 7)
    frames = slice(7, 11)
    np.testing.assert_array_equal(clip["action"], shot.frames.action[frames])
    np.testing.assert_array_equal(clip["effective_action"], shot.frames.effective[frames])
    np.testing.assert_array_equal(clip["flags"], shot.frames.flags[frames])
    np.testing.assert_array_equal(clip["tick"], shot.frames.tick[frames])
    np.testing.assert_array_equal(clip["t_ns"], shot.frames.t_ns[frames])
    np.testing.assert_array_equal(clip["camera.c2w"], shot.frames.c2w[frames])
    np.testing.assert_array_equal(clip["camera.K"], shot.frames.K[frames])
    np.testing.assert_array_equal(clip["observation.state"][:, 0], shot.frames.character_position[frames, 0].astype(np.float32))
    np.testing.assert_array_equal(clip["frame_index"], [7, 8, 9, 10])
    assert (clip["episode"], clip["frame"]) == (1, 7)
    assert clip["task"] == "go somewhere in yard and come back the same way"
    for name in PASSES:
        np.testing.assert_array_equal(clip[name], np.stack([shot.read(name, i) for i in range(7, 11)]))
    np.testing.assert_array_equal(clip["rgb"], np.stack([shot.rgb(i) for i in range(7, 11)]))


def test_decoded_passes_are_in_their_units(master: Path, shots: list[Path]) -> None:
    clip = worldwright.dataset.open(master, length=2, passes=EVERY)[3]
    shot = Shot.open(shots[0])
    for name in PASSES:
        np.testing.assert_array_equal(clip[name][1], shot.decode(name, 4))
    assert clip["rgb"].dtype == np.uint8
    assert clip["depth"].dtype == np.float32


def test_compact_clips_are_within_the_promise(compact: Path, shots: list[Path]) -> None:
    clips = worldwright.dataset.open(compact, length=3, passes=EVERY, decode=False)
    shot = Shot.open(shots[1])
    for frame in (20, 2, 3):  # backwards, and then on from where the stream stands
        clip = clips.clip(1, frame)
        for name in PASSES:
            for k in range(3):
                assert LIMITS[name].holds(measure(name, shot.read(name, frame + k), clip[name][k])), (name, frame, k)


@pytest.mark.parametrize("tier", ["master", "compact"])
def test_any_order_of_asking_gives_the_same_pictures(tier: str, master: Path, compact: Path, made: SimpleNamespace) -> None:
    clips = worldwright.dataset.open({"master": master, "compact": compact}[tier], length=3, passes=("rgb", "depth"), decode=False)
    depth: dict[int, Any] = {}
    for i in [*range(0, len(clips), 2), *np.random.default_rng(0).permutation(len(clips))[:25]]:
        clip = clips[int(i)]
        first = [0, 40, 100][clip["episode"]] + clip["frame"]
        assert [made.number(picture) for picture in clip["rgb"]] == [first, first + 1, first + 2]
        np.testing.assert_array_equal(depth.setdefault(int(i), clip["depth"]), clip["depth"])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 9))
def test_clips_never_cross_an_episodes_end(master: Path, length: int, stride: int, hop: int) -> None:
    clips = worldwright.dataset.open(master, length=length, stride=stride, hop=hop, passes=())
    places = [clips.place(i) for i in range(len(clips))]
    expected = [(e, f) for e, n in enumerate((30, 26, 5)) for f in range(0, n - length * stride + 1, hop)]
    assert places == expected
    for i in {0, len(clips) - 1} if len(clips) else set():
        assert len(np.unique(clips[i]["episode_index"])) == 1
        assert clips[i]["action"].shape == (length, 10)


def test_strided_clips_join_the_actions_between(master: Path, shots: list[Path]) -> None:
    clip = worldwright.dataset.open(master, length=3, stride=4).clip(0, 2)
    action, flags = Shot.open(shots[0]).frames.action[2:14], Shot.open(shots[0]).frames.flags[2:14]
    np.testing.assert_array_equal(clip["frame_index"], [2, 6, 10])
    np.testing.assert_allclose(clip["action"][:, 1], 0.5)  # back is held in every second frame
    np.testing.assert_allclose(clip["action"][:, 8], action[:, 8].reshape(3, 4).sum(axis=1))
    np.testing.assert_array_equal(clip["flags"], np.bitwise_or.reduce(flags.reshape(3, 4), axis=1))
    assert len(clip["rgb"]) == 3


def test_effects_are_turned_back_to_the_steps_start() -> None:
    """Forward 1 m, then a quarter turn to the left and forward 2 m: 1 m ahead and 2 m to the left."""
    quarter = np.pi / 2
    steps = np.array([[1, 0, 0, quarter, 0.1], [2, 0, 0.5, -0.2, 0.1]])
    np.testing.assert_allclose(join_effects(steps, 2), [[1, -2, 0.5, quarter - 0.2, 0.2]], atol=1e-12)
    np.testing.assert_array_equal(join_effects(steps, 1), steps)


def test_keys_are_averaged_and_mouse_counts_summed() -> None:
    steps = np.zeros((4, 10), np.float32)
    steps[:, 0], steps[:, 8] = [1, 0.5, 0, 0], [3, -1, 5, 5]
    joined = join_actions(steps, 2)
    assert joined[:, 0].tolist() == [0.75, 0.0]
    assert joined[:, 8].tolist() == [2.0, 10.0]


def test_arrays_can_be_taken_over_without_a_copy(master: Path, compact: Path) -> None:
    for root in (master, compact):
        clip = worldwright.dataset.open(root, length=2, passes=EVERY)[0]
        for name, value in clip.items():
            if isinstance(value, np.ndarray):
                assert value.flags.c_contiguous, name
                assert value.flags.writeable, name


def test_writing_into_a_clip_does_not_change_the_next(master: Path) -> None:
    clips = worldwright.dataset.open(master, length=2, passes=("depth",))
    before = {name: np.copy(value) for name, value in clips[0].items()}
    for value in clips[0].values():
        if isinstance(value, np.ndarray):
            value[...] = 0
    for name, value in clips[0].items():
        np.testing.assert_array_equal(value, before[name])


def test_shuffled_clips_are_all_there_once_and_shared_out_among_workers(master: Path) -> None:
    clips = worldwright.dataset.open(master, length=8, hop=3, passes=())
    order = [(c["episode"], c["frame"]) for c in clips.clips(seed=5)]
    assert sorted(order) == [clips.place(i) for i in range(len(clips))]
    assert order != sorted(order)
    assert order == [(c["episode"], c["frame"]) for c in clips.clips(seed=5)]
    assert order != [(c["episode"], c["frame"]) for c in clips.clips(seed=5, epoch=1)]
    shares = [[(c["episode"], c["frame"]) for c in clips.clips(seed=5, worker=k, workers=3)] for k in range(3)]
    assert sorted(place for share in shares for place in share) == sorted(order)


def _first_pictures(clips: worldwright.dataset.Dataset) -> tuple[Any, Any]:
    return clips[6]["rgb"], clips[6]["depth"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_read_the_same(method: str, compact: Path) -> None:
    clips = worldwright.dataset.open(compact, length=2, passes=("rgb", "depth"))
    here = clips[5]["rgb"], clips[6]["depth"]  # opens the streams that a forked process must not go on with
    if method == "spawn":  # a test module cannot be imported by a spawned process: what it gets is the pickle
        again = pickle.loads(pickle.dumps(clips))
        np.testing.assert_array_equal(again[6]["depth"], here[1])
        return
    with multiprocessing.get_context(method).Pool(2) as pool:
        for rgb, depth in pool.map(_first_pictures, [clips, clips]):
            np.testing.assert_array_equal(rgb[0], here[0][1])
            np.testing.assert_array_equal(depth, here[1])


def test_clips_count_from_the_end_and_end_where_they_end(master: Path) -> None:
    clips = worldwright.dataset.open(master, length=5, passes=())
    assert clips[-1]["episode"] == 2
    for i in (len(clips), -len(clips) - 1):
        with pytest.raises(IndexError):
            clips[i]
    with pytest.raises(IndexError, match="frames 26 to 31 of 30"):
        clips.clip(0, 26)
    assert len(list(clips)) == len(clips)


def test_what_is_not_there_is_named(master: Path, tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="has no pass heat"):
        worldwright.dataset.open(master, passes=("heat",))
    with pytest.raises(WorldwrightError, match="has no tier 'compact'"):
        worldwright.dataset.open(master, tier="compact")
    with pytest.raises(WorldwrightError, match="length is 0"):
        worldwright.dataset.open(master, length=0)
    with pytest.raises(WorldwrightError, match="no such folder"):
        worldwright.dataset.open(tmp_path / "none")
