"""Samples between the engine's arrays and bytes.

Repeated numbers go straight from numpy into protobuf's wire format (a packed field is a tag, a length and the little-endian numbers;
serialised messages may be concatenated), because filling repeated fields from Python costs ten times as much as everything else.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from worldwright.engine.protocol import CharacterState, State
from worldwright.errors import WorldwrightError
from worldwright.take import take_pb2 as pb
from worldwright.take.model import F32, TakeHeader
from worldwright.take.schema import DamageError, keyframe_ticks

BODY_FLOATS = 13
"""Position, quaternion, linear and angular velocity."""
BONE_FLOATS = 8
UNIT_TOLERANCE = 1e-3
MAX_CONTACTS = 1_000_000
MAX_TEXT = 256
FLAG_MASK = 0xFFFF

LARGEST = 1e18
"""No number of a state is beyond this: what is has blown up."""

_TRACK = struct.Struct("<5f")
_ROW = np.dtype((np.void, 4 * BODY_FLOATS))
_FIELD = {field.name: field.number for field in pb.Sample.DESCRIPTOR.fields}
_BONES = pb.CharacterSample.DESCRIPTOR.fields_by_name["bones"].number


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _packed_each(values: NDArray[Any], starts: Sequence[int], field: int) -> list[bytes]:
    """Stretches of whole numbers from 0 on as one packed field each. Below 128 each number is its own byte."""
    if not len(values) or values.max() < 128:
        data = values.astype(np.uint8).tobytes()
        return [_bytes_field(field, data[a:b]) for a, b in pairwise(starts)]
    pieces = [_varint(value) for value in values.tolist()]
    return [_bytes_field(field, b"".join(pieces[a:b])) for a, b in pairwise(starts)]


def _bytes_field(number: int, data: bytes) -> bytes:
    """A length-delimited field of the wire format; nothing when empty, as proto3 writes it."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data if data else b""


def camera_row(c2w: NDArray[np.float64]) -> tuple[float, ...]:
    """x y z, w x y z of a c2w, as ``transforms.matrix_to_quat`` gives it, without numpy's cost for single matrices."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z) = c2w[:3].tolist()
    four = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    best = four.index(max(four))
    if best == 0:
        q = (four[0], h - f, c - g, d - b)
    elif best == 1:
        q = (h - f, four[1], d + b, c + g)
    elif best == 2:
        q = (c - g, d + b, four[2], f + h)
    else:
        q = (d - b, c + g, h + f, four[3])
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if q[0] < 0:
        n = -n
    return (x, y, z, q[0] / n, q[1] / n, q[2] / n, q[3] / n)


def camera_matrix(row: Sequence[float]) -> NDArray[np.float64]:
    """The c2w of x y z, w x y z: ``transforms.pose_matrix`` to the bit, at a fifth of its cost."""
    px, py, pz, w, x, y, z = row
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), px),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), py),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), pz),
            (0.0, 0.0, 0.0, 1.0),
        )
    )


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sample as written. ``cameras`` are 7 numbers a rig; ``track`` is what frames are derived from: x y z yaw pitch of the played
    character, rounded to float32 as it is in the file."""

    tick: int
    data: bytes
    cameras: tuple[float, ...]
    track: tuple[float, float, float, float, float]
    flags: int


class SampleEncoder:
    """Turns states into sample messages, leaving out the bodies that are bit for bit as in the last sample; all are written every
    ``schema.keyframe_ticks`` so that a reader need never look back further. The bytes do not depend on how states are put into batches,
    but many at once cost a third of one at a time."""

    def __init__(self, header: TakeHeader) -> None:
        self.header = header
        self.keyframe_ticks = keyframe_ticks(header)
        self._last = np.zeros((len(header.body_ids), BODY_FLOATS), dtype="<f4")

    def encode(self, states: Sequence[State]) -> list[Encoded]:
        """The samples of consecutive states. Raises WorldwrightError when one is not finite or does not fit the header."""
        for state in states:
            self._check_shape(state)
        poses, velocities, changed, starts = self._bodies(states)
        pairs = [state.contacts.reshape(-1) for state in states]  # asked for once: an engine may work them out only now
        contacts = np.concatenate(pairs)
        contact_starts = np.cumsum([0, *map(len, pairs)]).tolist()
        changed_fields = _packed_each(changed, starts, _FIELD["changed"])
        contact_fields = _packed_each(contacts, contact_starts, _FIELD["contacts"])
        return [
            self._sample(state, changed_fields[k], contact_fields[k], poses[28 * a : 28 * b], velocities[24 * a : 24 * b])
            for k, (state, a, b) in enumerate(zip(states, starts[:-1], starts[1:], strict=True))
        ]

    def _check_shape(self, state: State) -> None:
        header = self.header
        if len(state.positions) != len(header.body_ids) or tuple([c.id for c in state.characters]) != header.character_ids:
            raise WorldwrightError(f"tick {state.tick}: the engine's state does not have the bodies and characters of the header")
        for c, joints in zip(state.characters, header.joint_counts, strict=True):
            if c.bones.shape != (joints, BONE_FLOATS):
                raise WorldwrightError(f"character {c.id} has bones {c.bones.shape}, the header says {(joints, BONE_FLOATS)}")

    def _bodies(self, states: Sequence[State]) -> tuple[bytes, bytes, NDArray[Any], list[int]]:
        """Poses and velocities of the changed bodies of all states one after another, their indices, and where each state starts."""
        table = np.empty((len(states) + 1, *self._last.shape), dtype="<f4")
        table[0] = self._last
        for columns, name in (
            (slice(0, 3), "positions"),
            (slice(3, 7), "rotations"),
            (slice(7, 10), "linear"),
            (slice(10, 13), "angular"),
        ):
            table[1:, :, columns] = [getattr(state, name) for state in states]
        flat = table[1:].ravel()
        if not math.isfinite(np.dot(flat, flat)):  # one pass: finite only when every number is, and not huge
            self._name_the_body_that_is_not_finite(states, table[1:])
        rows = table.view(_ROW)[:, :, 0]
        mask = rows[1:] != rows[:-1]
        for k, state in enumerate(states):
            if state.tick % self.keyframe_ticks == 0:
                mask[k] = True
        self._last = table[-1].copy()
        found = table[1:][mask]
        starts = [0, *np.cumsum(mask.sum(axis=1)).tolist()]
        return found[:, :7].tobytes(), found[:, 7:].tobytes(), np.nonzero(mask)[1], starts

    def _name_the_body_that_is_not_finite(self, states: Sequence[State], table: NDArray[Any]) -> None:
        for state, rows in zip(states, table, strict=True):
            for row, body_id in zip(rows, self.header.body_ids, strict=True):
                if not (np.abs(row) < LARGEST).all():
                    name = self.header.world.entities[body_id - 1].name
                    raise WorldwrightError(
                        f"tick {state.tick}: the pose of entity {name!r} is not finite: {row.tolist()}", where=self.header.engine
                    )

    def _sample(self, state: State, changed: bytes, contacts: bytes, poses: bytes, velocities: bytes) -> Encoded:
        cameras: list[float] = []
        matrices = state.cameras
        for rig in self.header.rigs:
            cameras += camera_row(matrices[rig])
        played = state.characters[0]
        track = _TRACK.unpack(_TRACK.pack(*played.position, played.yaw, played.pitch))
        if not math.isfinite(sum(track) + sum(cameras)):
            raise WorldwrightError(
                f"tick {state.tick}: the character or its camera is at no finite place", where=self.header.engine
            )
        data = b"".join(
            (
                pb.Sample(tick=state.tick, t_ns=self.header.t_ns(state.tick)).SerializeToString(),
                changed,
                _bytes_field(_FIELD["poses"], poses),
                _bytes_field(_FIELD["velocities"], velocities),
                *[_bytes_field(_FIELD["characters"], _character(c)) for c in state.characters],
                contacts,
                _bytes_field(_FIELD["cameras"], struct.pack(f"<{len(cameras)}d", *cameras)),
            )
        )
        return Encoded(state.tick, data, tuple(cameras), track, int(played.flags))


def _character(c: CharacterState) -> bytes:
    head = pb.CharacterSample(
        id=c.id,
        position=c.position,
        yaw=c.yaw,
        pitch=c.pitch,
        velocity=c.velocity,
        flags=int(c.flags),
        clip=c.clip,
        clip_time=c.clip_time,
        ground=c.ground,
    )
    return head.SerializeToString() + _bytes_field(_BONES, np.asarray(c.bones, dtype="<f4").tobytes())


def _numbers(values: Any, count: int, what: str) -> NDArray[Any]:
    """A repeated field as an array, refused when its length is wrong or a value is not finite (or beyond 1e18)."""
    if len(values) != count:
        raise DamageError(f"{what} has {len(values)} numbers, not {count}")
    array = np.array(values)
    # One pass in the common case: the sum of squares is finite only when every number is.
    if count and not math.isfinite(np.dot(array, array)) and not (abs(array) < LARGEST).all():
        raise DamageError(f"{what} is not finite")
    return array


def _unit(quaternions: NDArray[Any], what: str) -> None:
    """Refuse quaternions [N, 4] that are not of unit length."""
    excess = np.einsum("ij,ij->i", quaternions, quaternions) - 1.0
    # One pass in the common case: when the sum of squares is small, every one is.
    if not np.dot(excess, excess) < UNIT_TOLERANCE**2 and not (abs(excess) < 2 * UNIT_TOLERANCE).all():
        raise DamageError(f"{what} holds a quaternion that is not of unit length")


class SampleDecoder:
    """Parses and checks the samples of one take."""

    def __init__(self, header: TakeHeader) -> None:
        self.header = header
        self._max_entity = header.character_ids[-1]
        self._all = np.arange(len(header.body_ids))

    def parse(self, data: bytes) -> Any:
        """The message, unchecked but for its framing."""
        try:
            return pb.Sample.FromString(data)
        except DecodeError as error:
            raise DamageError("an unreadable sample") from error

    def check(self, data: bytes, tick: int) -> Any:
        """The message of the sample that must be that of ``tick``, every length, id and number checked. Raises DamageError."""
        sample, header = self.parse(data), self.header
        at = f"the sample of tick {tick}"
        if sample.tick != tick:
            raise DamageError(f"a sample of tick {sample.tick} stands where {at} should")
        if sample.t_ns != header.t_ns(tick):
            raise DamageError(f"{at}: t_ns is {sample.t_ns}, not {header.t_ns(tick)}")
        bodies, changed = len(header.body_ids), len(sample.changed)
        if changed > bodies or (changed and not self._ascending(np.array(sample.changed))):
            raise DamageError(f"{at}: changed bodies are not ascending indices below {bodies}")
        if tick == 0 and changed != bodies:
            raise DamageError(f"{at} must have all {bodies} bodies and has {changed}")
        _unit(_numbers(sample.poses, 7 * changed, f"{at}: poses").reshape(-1, 7)[:, 3:], f"{at}: poses")
        _numbers(sample.velocities, 6 * changed, f"{at}: velocities")
        if len(sample.characters) != len(header.character_ids):
            raise DamageError(f"{at} has {len(sample.characters)} characters, not {len(header.character_ids)}")
        for character, expected, joints in zip(sample.characters, header.character_ids, header.joint_counts, strict=True):
            self._check_character(character, expected, joints, f"{at}: character {expected}")
        contacts = len(sample.contacts)
        if contacts:
            if contacts % 2 or contacts > MAX_CONTACTS:
                raise DamageError(f"{at}: {contacts} numbers are no contacts")
            pairs = np.array(sample.contacts).reshape(-1, 2)
            if pairs[:, 0].min() < 1 or pairs.max() > self._max_entity or (pairs[:, 0] > pairs[:, 1]).any():
                raise DamageError(f"{at}: contacts name entities that are not there")
        cameras = _numbers(sample.cameras, 7 * len(header.rigs), f"{at}: cameras").reshape(-1, 7)
        _unit(cameras[:, 3:], f"{at}: cameras")
        return sample

    def _ascending(self, changed: NDArray[Any]) -> bool:
        """Whether these are ascending indices of bodies."""
        if len(changed) == len(self._all):
            return bool((changed == self._all).all())
        return bool(changed[-1] < len(self._all) and (changed[1:] > changed[:-1]).all())

    def _check_character(self, c: Any, expected: int, joints: int, at: str) -> None:
        if c.id != expected:
            raise DamageError(f"{at}: id is {c.id}")
        if len(c.position) != 3 or len(c.velocity) != 3:
            raise DamageError(f"{at}: position or velocity is not 3 numbers")
        if not math.isfinite(sum(c.position) + sum(c.velocity) + c.yaw + c.pitch + c.clip_time):
            raise DamageError(f"{at}: position, velocity, yaw, pitch or clip_time is not finite")
        if c.ground > self._max_entity or c.flags > FLAG_MASK or len(c.clip) > MAX_TEXT:
            raise DamageError(f"{at}: ground {c.ground}, flags {c.flags} or clip {c.clip[:32]!r} cannot be")
        bones = _numbers(c.bones, BONE_FLOATS * joints, f"{at}: bones").reshape(-1, BONE_FLOATS)
        _unit(bones[:, 3:7], f"{at}: bones")

    def apply(self, sample: Any, bodies: F32) -> None:
        """Write a sample's changed bodies into the running table [B, 13]."""
        count = len(sample.changed)
        if not count:
            return
        rows: Any = slice(None) if count == len(bodies) else np.array(sample.changed)
        bodies[rows, :7] = np.array(sample.poses).reshape(-1, 7)
        bodies[rows, 7:] = np.array(sample.velocities).reshape(-1, 6)
