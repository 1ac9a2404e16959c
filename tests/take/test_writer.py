"""What the writer promises about files and bytes."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from worldwright.controls import Control
from worldwright.errors import WorldwrightError
from worldwright.take import take_pb2 as pb
from worldwright.take.reader import Take
from worldwright.take.writer import TakeWriter, part_path


def test_the_same_states_and_inputs_give_the_same_bytes(tmp_path: Path, made_up: SimpleNamespace) -> None:
    made_up.write(tmp_path / "a.mcap", 120)
    made_up.write(tmp_path / "b.mcap", 120)
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def test_the_order_of_maps_does_not_change_the_bytes(tmp_path: Path, made_up: SimpleNamespace) -> None:
    made_up.write(tmp_path / "a.mcap", 10, made_up.header(assets={"x": "1", "y": "2"}, settings={"p": "1", "q": "2"}))
    made_up.write(tmp_path / "b.mcap", 10, made_up.header(assets={"y": "2", "x": "1"}, settings={"q": "2", "p": "1"}))
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def test_the_state_hash_is_blake2b_over_the_samples_bytes(take_path: Path) -> None:
    with Take.open(take_path) as take:
        digest = hashlib.blake2b(digest_size=16)
        for _, data in take.sample_messages():
            digest.update(data)
        assert take.state_hash == digest.hexdigest()


def test_a_body_that_does_not_move_is_written_once_a_second_only(take_path: Path) -> None:
    with Take.open(take_path) as take:
        changed = {tick: list(pb.Sample.FromString(data).changed) for tick, data in take.sample_messages()}
    assert changed[0] == changed[240] == [0, 1, 2, 3, 4]
    assert changed[2] == [0]
    assert changed[6] == [0, 1], "body 1 jumps at tick 6"


def test_a_velocity_that_changes_while_the_pose_does_not_is_written(tmp_path: Path, made_up: SimpleNamespace) -> None:
    with TakeWriter(tmp_path / "t.mcap", made_up.header()) as writer:
        for tick in range(0, 11, 2):
            linear = np.zeros((made_up.bodies, 3), dtype=np.float32)
            linear[3, 1] = tick
            writer.sample(dataclasses.replace(made_up.state(tick), linear=linear))
    with Take.open(tmp_path / "t.mcap") as take:
        assert take.instant(6).linear[3].tolist() == [0, 6, 0]


def test_a_failed_recording_never_appears_under_its_name_and_what_there_is_can_be_read(
    tmp_path: Path, made_up: SimpleNamespace
) -> None:
    path = tmp_path / "t.mcap"
    with pytest.raises(KeyboardInterrupt), TakeWriter(path, made_up.header()) as writer:
        for tick in range(0, 50, 2):
            writer.sample(made_up.state(tick))
        raise KeyboardInterrupt
    assert not path.exists()
    with pytest.raises(WorldwrightError, match="--partial"):
        Take.open(part_path(path))
    with Take.open(part_path(path), partial=True) as take:
        assert (take.complete, take.last_tick, take.n_frames) == (False, 48, 4)


def test_a_recording_that_fails_before_its_first_sample_leaves_nothing(tmp_path: Path, made_up: SimpleNamespace) -> None:
    with pytest.raises(RuntimeError), TakeWriter(tmp_path / "t.mcap", made_up.header()):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_failed_recording_does_not_destroy_an_older_take(take_path: Path, made_up: SimpleNamespace) -> None:
    before = take_path.read_bytes()
    with pytest.raises(RuntimeError), TakeWriter(take_path, made_up.header()) as writer:
        writer.sample(made_up.state(0))
        raise RuntimeError
    assert take_path.read_bytes() == before


def test_a_full_disk_leaves_no_take(tmp_path: Path, made_up: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / ".t.mcap.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        made_up.write(tmp_path / "t.mcap")
    assert not (tmp_path / "t.mcap").exists()


def test_a_state_that_is_not_finite_is_refused_with_the_entitys_name(tmp_path: Path, made_up: SimpleNamespace) -> None:
    positions = np.zeros((made_up.bodies, 3), dtype=np.float32)
    positions[2, 1] = np.nan
    with (
        pytest.raises(WorldwrightError, match="crate2"),
        TakeWriter(tmp_path / "t.mcap", made_up.header()) as writer,
    ):
        writer.sample(dataclasses.replace(made_up.state(0), positions=positions))


def test_a_sample_left_out_is_refused(tmp_path: Path, made_up: SimpleNamespace) -> None:
    with (
        pytest.raises(WorldwrightError, match="tick 4 where that of 2 is due"),
        TakeWriter(tmp_path / "t", made_up.header()) as writer,
    ):
        writer.sample(made_up.state(0))
        writer.sample(made_up.state(4))


def test_inputs_out_of_order_are_refused(tmp_path: Path, made_up: SimpleNamespace) -> None:
    with (
        pytest.raises(WorldwrightError, match="input of tick 3 after that of tick 5"),
        TakeWriter(tmp_path / "t", made_up.header()) as w,
    ):
        w.sample(made_up.state(0))
        w.input(5, Control(1))
        w.input(3, Control(2))


def test_a_take_that_does_not_end_on_a_frame_is_not_sealed(tmp_path: Path, made_up: SimpleNamespace) -> None:
    with pytest.raises(WorldwrightError, match="not on a frame"), TakeWriter(tmp_path / "t.mcap", made_up.header()) as writer:
        writer.sample(made_up.state(0))
        writer.sample(made_up.state(2))
    assert not (tmp_path / "t.mcap").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frame_ticks": 9}, "no multiple of sample_ticks"),
        ({"body_ids": (3, 2)}, "not ascending ids"),
        ({"body_ids": (99,)}, "not ascending ids"),
        ({"character_ids": (1,)}, "character_ids"),
        ({"joint_counts": ()}, "joint_counts"),
        ({"tick_rate": 0}, "tick_rate"),
        ({"rigs": ("a", "a")}, "rigs"),
    ],
)
def test_a_header_that_fits_no_take_is_refused(
    tmp_path: Path, made_up: SimpleNamespace, change: dict[str, object], message: str
) -> None:
    with pytest.raises(WorldwrightError, match=message):
        TakeWriter(tmp_path / "t.mcap", made_up.header(**change))
    assert list(tmp_path.iterdir()) == []
