"""An edited take, its checksums and state hash computed again: states, cameras, keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from worldwright.controls import KEY_BITS, KEYS
from worldwright.take import take_pb2 as pb
from worldwright.take.frames import Change, issued_row
from worldwright.take.reader import Take
from worldwright.verify.faults.registry import Rng, fault
from worldwright.verify.faults.sizes import CENTIMETRE
from worldwright.verify.workshop import Messages, Workshop


def _edit_one(messages: Messages, topic: str, rng: Rng, edit: Callable[[Any], str | None]) -> str | None:
    """Edit one message of a topic at random, in place; tries a few."""
    kinds: dict[str, Any] = {"/sample": pb.Sample, "/input": pb.Input, "/frame": pb.Frame}
    places = [k for k, (t, _, _) in enumerate(messages) if t == topic]
    for at in rng.permutation(len(places))[:8]:
        k = places[int(at)]
        message: Any = kinds[topic].FromString(messages[k][2])
        if (text := edit(message)) is not None:
            messages[k] = (topic, messages[k][1], message.SerializeToString())
            return f"{text} at tick {message.tick}"
    return None


def _take(name: str, topic: str, edit: Callable[[Any, Rng], str | None]) -> None:
    @fault(name)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        told: list[str | None] = []

        def change(messages: Messages) -> Messages:
            told.append(_edit_one(messages, topic, rng, lambda m: edit(m, rng)))
            return messages

        shop.edit_take(change)
        return told[0] and f"take: {told[0]}"


def _body_moved(m: Any, rng: Rng) -> str | None:
    if not m.changed:
        return None
    k = int(rng.integers(len(m.changed)))
    m.poses[7 * k + int(rng.integers(3))] += CENTIMETRE
    return "a body moved by a centimetre"


def _person_moved(m: Any, rng: Rng) -> str | None:
    m.characters[0].position[int(rng.integers(3))] += CENTIMETRE
    return "the character moved by a centimetre"


def _bone_moved(m: Any, rng: Rng) -> str | None:
    if not len(m.characters[0].bones):
        return None
    m.characters[0].bones[8 * int(rng.integers(len(m.characters[0].bones) // 8)) + int(rng.integers(3))] += CENTIMETRE
    return "a bone moved by a centimetre"


def _camera_moved(m: Any, rng: Rng) -> str | None:
    if not len(m.cameras):
        return None
    m.cameras[7 * int(rng.integers(len(m.cameras) // 7)) + int(rng.integers(3))] += CENTIMETRE
    return "a camera moved by a centimetre"


def _speed_changed(m: Any, rng: Rng) -> str | None:
    if not m.velocities:
        return None
    m.velocities[int(rng.integers(len(m.velocities)))] += CENTIMETRE
    return "a velocity changed by a centimetre a second"


def _row_key_in_take(m: Any, rng: Rng) -> str | None:
    k = int(rng.integers(len(KEYS)))
    m.issued[k] = 0.0 if m.issued[k] > 0 else 1.0
    return f"the frame's key {KEYS[k]} turned"


_take("take_body_moved", "/sample", _body_moved)
_take("take_character_moved", "/sample", _person_moved)
_take("take_bone_moved", "/sample", _bone_moved)
_take("take_camera_moved", "/sample", _camera_moved)
_take("take_velocity_changed", "/sample", _speed_changed)
_take("take_frame_camera_moved", "/frame", _camera_moved)
_take("take_frame_key", "/frame", _row_key_in_take)


@fault("take_key_edited")
def _key_edited(shop: Workshop, rng: Rng) -> str | None:
    """A movement key is turned for a whole frame in the take's inputs, and the take's rows and the shot's rows are made to fit."""
    with Take.open(shop.folder / "take.mcap") as take:
        header, controls = take.header, list(take.controls())
        flags = take.derive_frames(header.frame_ticks).flags
    if header.frame_ticks != shop.info.frame_ticks:
        return None
    key = KEYS[int(rng.integers(4))]
    free = [k for k in range(shop.info.first_frame, shop.info.first_frame + shop.n) if not flags[k] & 1]
    if not free:
        return None
    frame = int(rng.choice(free))
    first = frame * header.frame_ticks
    for tick in range(first, first + header.frame_ticks):
        controls[tick] = replace(controls[tick], keys=controls[tick].keys ^ KEY_BITS[key])
    changes: list[Change] = []
    inputs: list[tuple[str, int, bytes]] = []
    before = 0
    for tick, c in enumerate(controls):
        if c.keys != before or c.mouse_dx or c.mouse_dy:
            pressed, released = c.keys & ~before, before & ~c.keys
            message = pb.Input(
                tick=tick,
                t_ns=header.t_ns(tick),
                keys=c.keys,
                pressed=pressed,
                released=released,
                mouse_dx=c.mouse_dx,
                mouse_dy=c.mouse_dy,
            )
            inputs.append(("/input", tick, message.SerializeToString()))
            changes.append(Change(tick, c.keys, c.mouse_dx, c.mouse_dy))
            before = c.keys
    held = [0, *(c.keys for c in controls)]
    rows = shop.rows()
    action = rows.action.copy()

    def issued(k: int) -> list[float]:
        start = k * header.frame_ticks
        inside = [c for c in changes if start <= c.tick < start + header.frame_ticks]
        return issued_row(start, header.frame_ticks, held[start], inside)

    def change(messages: Messages) -> Messages:
        out: Messages = []
        waiting = list(inputs)
        for topic, time, data in messages:
            if topic == "/input":
                continue
            if topic == "/sample":
                tick = pb.Sample.FromString(data).tick
                while waiting and waiting[0][1] < tick:
                    name, at, content = waiting.pop(0)
                    out.append((name, header.t_ns(at), content))
            if topic == "/frame":
                row = pb.Frame.FromString(data)
                del row.issued[:]
                row.issued.extend(issued(row.frame))
                data = row.SerializeToString()  # noqa: PLW2901
            out.append((topic, time, data))
        return out

    shop.edit_take(change)
    for i in range(shop.n):
        action[i] = issued(shop.info.first_frame + i)
    if np.array_equal(action, rows.action):
        return None
    shop.write_rows(replace(rows, action=action))
    return f"take and rows: key {key} turned in frame {frame}"
