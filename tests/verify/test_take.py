"""Edited takes with sound checksums: what they claim does not follow from their inputs, or does not come out again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldwright.controls import ACTION_NAMES
from worldwright.take import take_pb2 as pb
from worldwright.verify.context import Context
from worldwright.verify.take import verify_take, wanted_direction
from worldwright.verify.workshop import read_messages, write_messages

MESSAGES = {"/sample": pb.Sample, "/frame": pb.Frame, "/event": pb.Event}


def edit(source: Path, target: Path, topic: str, index: int, change: Callable[[Any], None]) -> Path:
    messages = read_messages(source)
    at = [k for k, (name, _, _) in enumerate(messages) if name == topic][index]
    message: Any = MESSAGES[topic].FromString(messages[at][2])
    change(message)
    messages[at] = (topic, messages[at][1], message.SerializeToString())
    write_messages(target, messages)
    return target


def _move_camera(m: Any) -> None:
    m.cameras[0] += 0.01


def _press(m: Any) -> None:
    m.issued[4] = 1.0 - m.issued[4]


def _flag(m: Any) -> None:
    m.flags ^= 1


def _bone(m: Any) -> None:
    m.characters[0].bones[17] += 0.01


def _speed(m: Any) -> None:
    m.characters[0].velocity[0] += 0.01


def _jump(m: Any) -> None:
    m.poses[0] += 50.0


CASES = {
    "frame_camera": ("/frame", _move_camera, "frame_cameras"),
    "frame_key": ("/frame", _press, "rows"),
    "frame_flag": ("/frame", _flag, "rows"),
    "bone": ("/sample", _bone, "replay"),
    "velocity": ("/sample", _speed, "replay"),
    "teleport": ("/sample", _jump, "plausible"),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_edited_take_fails_its_check(take_path: Path, tmp_path: Path, context: Context, name: str) -> None:
    topic, change, check = CASES[name]
    index = 5 if topic == "/frame" else 45
    verdict = verify_take(edit(take_path, tmp_path / "t.mcap", topic, index, change), {}, context=context)
    assert check in {c.name for c in verdict.failures}


def test_a_bodys_edited_place_is_named_with_its_tick(take_path: Path, tmp_path: Path, context: Context) -> None:
    verdict = verify_take(
        edit(take_path, tmp_path / "t.mcap", "/sample", 45, lambda m: m.poses.__setitem__(0, m.poses[0] + 0.01)),
        {},
        context=context,
    )
    replay = next(c for c in verdict.failures if c.name == "replay")
    assert "tick 90" in replay.message and "'ball'" in replay.message and "position" in replay.message


def test_an_event_that_did_not_happen_is_found(take_path: Path, tmp_path: Path, context: Context) -> None:
    messages = read_messages(take_path)
    at = next(k for k, (name, _, _) in enumerate(messages) if name == "/end")
    tick = pb.End.FromString(messages[at][2]).tick
    event = pb.Event(tick=tick, t_ns=messages[at][1], kind="goal", entity=1)
    write_messages(tmp_path / "t.mcap", [*messages[:at], ("/event", messages[at][1], event.SerializeToString()), *messages[at:]])
    verdict = verify_take(tmp_path / "t.mcap", {}, context=context)
    assert {c.name for c in verdict.failures} == {"events"}


def test_keys_that_cancel_or_change_within_a_frame_want_no_direction() -> None:
    rows = np.zeros((4, len(ACTION_NAMES)), dtype=np.float32)
    rows[0, 0] = rows[0, 1] = 1  # forward and back
    rows[1, 0] = 0.5  # let go within the frame
    rows[2, 0] = rows[2, 3] = 1  # forward and right
    assert np.allclose(wanted_direction(rows), [[0, 0], [0, 0], [np.sqrt(0.5), np.sqrt(0.5)], [0, 0]])
