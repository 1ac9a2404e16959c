"""The world at any instant of a take, with memory that does not grow with its length."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.take.codec import BODY_FLOATS, BONE_FLOATS, SampleDecoder, camera_matrix
from worldwright.take.container import Channels, ChunkRef, load_chunk
from worldwright.take.frames import short_turn
from worldwright.take.model import CharacterInstant, Instant, TakeHeader
from worldwright.take.schema import DamageError
from worldwright.transforms import quat_between


class SampleIndex:
    """Which chunk holds which samples, which samples have all bodies (keyframes), and the channels named on the way."""

    def __init__(self) -> None:
        self.channels = Channels()
        self.chunks: list[ChunkRef] = []
        self.first = array("q")
        self.keyframes = array("q")
        self.count = 0

    def start_chunk(self, ref: ChunkRef) -> None:
        """The samples added from now on are in this chunk."""
        self.chunks.append(ref)
        self.first.append(self.count)

    def add(self, *, keyframe: bool) -> None:
        """The next sample."""
        if keyframe and (not self.keyframes or self.count - self.keyframes[-1] >= 16):
            self.keyframes.append(self.count)
        self.count += 1

    def chunk_of(self, sample: int) -> int:
        """The number of the chunk that holds this sample."""
        return bisect_right(self.first, sample) - 1

    def keyframe_before(self, sample: int) -> int:
        """The last known keyframe at or before this sample."""
        return self.keyframes[bisect_right(self.keyframes, sample) - 1]


class _Moment:
    """A sample decoded: the bodies' table [B, 13] and the message for the rest, unpacked when asked for."""

    __slots__ = ("bodies", "message", "number")

    def __init__(self, number: int, message: Any, bodies: NDArray[np.float32]) -> None:
        self.number, self.message, self.bodies = number, message, bodies


class Playback:
    """Instants of a take. Keeps one chunk's messages, and the two samples around the last instant."""

    def __init__(self, file: BinaryIO, path: Path, header: TakeHeader, decoder: SampleDecoder, index: SampleIndex) -> None:
        self._file, self._path, self._header, self._decoder, self._index = file, path, header, decoder, index
        self._chunk = -1
        self._chunk_samples: list[bytes] = []
        self._here: _Moment | None = None
        self._next: _Moment | None = None

    def instant(self, tick: float) -> Instant:
        """See ``Take.instant``."""
        step = self._header.sample_ticks
        last = (self._index.count - 1) * step
        if not 0 <= tick <= last:
            raise WorldwrightError(f"no instant at tick {tick}: the take has ticks 0 to {last}", where=str(self._path))
        number = math.floor(tick / step)
        t = tick / step - number
        here = self._moment(number)
        if t == 0.0:
            return self._exact(float(tick), here)
        return self._between(float(tick), t, here, self._following(here))

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Tick and bytes of every sample, in order."""
        for number in range(self._index.count):
            yield number * self._header.sample_ticks, self._bytes(number)

    def _bytes(self, number: int) -> bytes:
        chunk = self._index.chunk_of(number)
        if chunk != self._chunk:
            ref = self._index.chunks[chunk]
            try:
                data = load_chunk(self._file, ref)
                messages = self._index.channels.messages(data, cut=ref.cut is not None)
                self._chunk_samples = [m.data for m in messages if m.topic == "/sample"]
            except (DamageError, ValueError) as error:
                raise WorldwrightError(f"cannot be read any more ({error})", where=str(self._path), fix="open it again") from error
            self._chunk = chunk
        return self._chunk_samples[number - self._index.first[chunk]]

    def _moment(self, number: int) -> _Moment:
        here = self._here
        if here is not None and here.number == number:
            return here
        if self._next is not None and self._next.number == number:
            self._here = self._next
            return self._here
        bodies = np.zeros((len(self._header.body_ids), BODY_FLOATS), dtype=np.float32)
        start = self._index.keyframe_before(number)
        if here is not None and start <= here.number < number:
            bodies[:] = here.bodies
            start = here.number + 1
        # Backwards, as far as the bodies' last full table: what was before it does not matter.
        messages = []
        for k in range(number, start - 1, -1):
            message = self._decoder.parse(self._bytes(k))
            messages.append(message)
            if len(message.changed) == len(bodies):
                break
        for message in reversed(messages):
            self._decoder.apply(message, bodies)
        self._here = _Moment(number, messages[0], bodies)
        return self._here

    def _following(self, here: _Moment) -> _Moment:
        if self._next is None or self._next.number != here.number + 1:
            message = self._decoder.parse(self._bytes(here.number + 1))
            bodies = here.bodies.copy()
            self._decoder.apply(message, bodies)
            self._next = _Moment(here.number + 1, message, bodies)
        return self._next

    def _exact(self, tick: float, m: _Moment) -> Instant:
        bodies = m.bodies.astype(np.float64)
        return Instant(
            tick=tick,
            positions=bodies[:, 0:3],
            rotations=bodies[:, 3:7],
            linear=bodies[:, 7:10],
            angular=bodies[:, 10:13],
            characters=tuple(_character(c) for c in m.message.characters),
            contacts=np.array(m.message.contacts, dtype=np.int32).reshape(-1, 2),
            cameras=self._cameras(m.message.cameras),
        )

    def _between(self, tick: float, t: float, a: _Moment, b: _Moment) -> Instant:
        bodies = a.bodies.astype(np.float64)
        other = b.bodies.astype(np.float64)
        rotations = quat_between(bodies[:, 3:7], other[:, 3:7], t)
        bodies += (other - bodies) * t
        cameras = np.array(a.message.cameras).reshape(-1, 7)
        other_cameras = np.array(b.message.cameras).reshape(-1, 7)
        turned = quat_between(cameras[:, 3:], other_cameras[:, 3:], t)
        cameras = np.concatenate([cameras[:, :3] + (other_cameras[:, :3] - cameras[:, :3]) * t, turned], axis=1)
        return Instant(
            tick=tick,
            positions=bodies[:, 0:3],
            rotations=rotations,
            linear=bodies[:, 7:10],
            angular=bodies[:, 10:13],
            characters=tuple(
                _character_between(_character(c), _character(d), t)
                for c, d in zip(a.message.characters, b.message.characters, strict=True)
            ),
            contacts=np.array(a.message.contacts, dtype=np.int32).reshape(-1, 2),
            cameras=self._cameras(cameras.ravel().tolist()),
        )

    def _cameras(self, numbers: Sequence[float]) -> dict[str, NDArray[np.float64]]:
        """From 7 numbers a rig."""
        return {rig: camera_matrix(numbers[7 * k : 7 * k + 7]) for k, rig in enumerate(self._header.rigs)}


def _character(c: Any) -> CharacterInstant:
    return CharacterInstant(
        id=c.id,
        position=np.array(c.position, dtype=np.float64),
        yaw=c.yaw,
        pitch=c.pitch,
        velocity=np.array(c.velocity, dtype=np.float64),
        flags=c.flags,
        clip=c.clip,
        clip_time=c.clip_time,
        ground=c.ground,
        bones=np.array(c.bones, dtype=np.float32).reshape(-1, BONE_FLOATS),
    )


def _character_between(a: CharacterInstant, b: CharacterInstant, t: float) -> CharacterInstant:
    bones = a.bones + (b.bones - a.bones) * np.float32(t)
    if len(bones):
        bones[:, 3:7] = quat_between(a.bones[:, 3:7], b.bones[:, 3:7], t)
    same = a.clip == b.clip and b.clip_time >= a.clip_time
    return CharacterInstant(
        id=a.id,
        position=a.position + (b.position - a.position) * t,
        yaw=a.yaw + short_turn(b.yaw - a.yaw) * t,
        pitch=a.pitch + (b.pitch - a.pitch) * t,
        velocity=a.velocity + (b.velocity - a.velocity) * t,
        flags=a.flags,
        clip=a.clip,
        clip_time=a.clip_time + (b.clip_time - a.clip_time) * t if same else a.clip_time,
        ground=a.ground,
        bones=bones,
    )
