"""Opens a take, checks all of it in one pass, and gives rows and instants.

Opening walks the file once, a chunk at a time, and verifies every checksum, message and number. What stays in memory is a few numbers
an input and a sample (the played character's track); poses and bones are read again when an instant is asked for.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES, KEYS, Control
from worldwright.engine.protocol import Event
from worldwright.errors import WorldwrightError
from worldwright.take import take_pb2 as pb
from worldwright.take.codec import FLAG_MASK, MAX_TEXT, SampleDecoder
from worldwright.take.container import AttachmentRef, ChunkRef, Message, scan_chunks
from worldwright.take.frames import Change, Track, effective_row, issued_row
from worldwright.take.model import FrameTable, Instant, TakeHeader
from worldwright.take.playback import Playback, SampleIndex
from worldwright.take.schema import MAX_SECONDS, DamageError, parse_header

MAX_EVENTS = 1_000_000
MAX_MOUSE = 1_000_000


class Inputs(NamedTuple):
    """The inputs as arrays, ascending by tick: from ``tick`` on ``keys`` are held; ``dx`` and ``dy`` arrive in that tick alone."""

    tick: NDArray[np.int64]
    keys: NDArray[np.int64]
    dx: NDArray[np.int64]
    dy: NDArray[np.int64]


class _Scan:
    """What one pass over the file gathers."""

    def __init__(self) -> None:
        self.header: TakeHeader | None = None
        self.decoder: SampleDecoder | None = None
        self.index = SampleIndex()
        self.track = array("f")
        self.flags = array("I")
        self.inputs = tuple(array("q") for _ in range(4))
        self.events: list[Event] = []
        self.issued, self.effective = array("f"), array("f")
        self.frame_flags = array("I")
        self.intents: list[str] = []
        self.digest = hashlib.blake2b(digest_size=16)
        self.end: Any = None
        self.attachments: dict[str, AttachmentRef] = {}
        self._keys = 0

    @property
    def last_tick(self) -> int:
        return (self.index.count - 1) * self.header.sample_ticks if self.header else -1

    def run(self, file: BinaryIO, size: int, partial: bool) -> None:
        channels = self.index.channels
        for ref, data in scan_chunks(file, size, partial=partial, attachments=self.attachments):
            self.index.start_chunk(ref)
            for message in channels.messages(data, cut=ref.cut is not None):
                self._take(message, ref)
        if self.header is None:
            raise DamageError("no header")
        if self.end is None:
            raise DamageError("no end: the recording was not finished")

    def _take(self, message: Message, ref: ChunkRef) -> None:
        if self.end is not None:
            raise DamageError(f"a message on {message.topic[:64]} after the end")
        if message.topic == "/header":
            if self.header is not None:
                raise DamageError("two headers")
            self.header = parse_header(message.data)
            self.decoder = SampleDecoder(self.header)
            return
        if self.header is None:
            raise DamageError("the first message is no header")
        try:
            match message.topic:
                case "/sample":
                    self._sample(message, self.header)
                case "/input":
                    self._input(pb.Input.FromString(message.data), message, self.header)
                case "/event":
                    self._event(pb.Event.FromString(message.data), message, self.header)
                case "/frame":
                    self._frame(pb.Frame.FromString(message.data), message, self.header)
                case "/end":
                    self._end(pb.End.FromString(message.data), message, self.header)
        except DecodeError as error:
            raise DamageError(f"an unreadable message on {message.topic}") from error

    @staticmethod
    def _clock(what: str, tick: int, t_ns: int, log_time: int, header: TakeHeader) -> None:
        if t_ns != header.t_ns(tick) or log_time != t_ns:
            raise DamageError(f"{what} of tick {tick}: t_ns is {t_ns} and its log time {log_time}, not {header.t_ns(tick)}")

    def _sample(self, message: Message, header: TakeHeader) -> None:
        tick = self.index.count * header.sample_ticks
        if tick > MAX_SECONDS * header.tick_rate:
            raise DamageError(f"longer than {MAX_SECONDS} s")
        assert self.decoder is not None
        sample = self.decoder.check(message.data, tick)
        self._clock("the sample", tick, sample.t_ns, message.log_time, header)
        self.index.add(keyframe=len(sample.changed) == len(header.body_ids))
        played = sample.characters[0]
        self.track.extend((*played.position, played.yaw, played.pitch))
        self.flags.append(played.flags)
        self.digest.update(message.data)

    def _input(self, m: Any, message: Message, header: TakeHeader) -> None:
        tick = m.tick
        previous = self.inputs[0][-1] if self.inputs[0] else -1
        if not max(previous + 1, self.last_tick) <= tick < self.last_tick + header.sample_ticks:
            raise DamageError(f"an input of tick {tick} after the sample of tick {self.last_tick} and the input of tick {previous}")
        self._clock("the input", tick, m.t_ns, message.log_time, header)
        if m.keys >> len(KEYS) or m.pressed != m.keys & ~self._keys or m.released != self._keys & ~m.keys:
            raise DamageError(
                f"the input of tick {tick}: keys {m.keys}, pressed {m.pressed}, released {m.released} after keys {self._keys}"
            )
        if abs(m.mouse_dx) > MAX_MOUSE or abs(m.mouse_dy) > MAX_MOUSE:
            raise DamageError(f"the input of tick {tick}: mouse {m.mouse_dx}, {m.mouse_dy} is beyond {MAX_MOUSE} counts")
        self._keys = m.keys
        for column, value in zip(self.inputs, (tick, m.keys, m.mouse_dx, m.mouse_dy), strict=True):
            column.append(value)

    def _event(self, m: Any, message: Message, header: TakeHeader) -> None:
        previous = self.events[-1].tick if self.events else 0
        if not previous <= m.tick <= self.last_tick + header.sample_ticks:
            raise DamageError(f"an event of tick {m.tick} after one of tick {previous} and the sample of tick {self.last_tick}")
        self._clock("the event", m.tick, m.t_ns, message.log_time, header)
        top = header.character_ids[-1]
        if not m.kind or len(m.kind) > MAX_TEXT or m.entity > top or m.other > top or not math.isfinite(m.value):
            raise DamageError(
                f"the event of tick {m.tick}: {m.kind[:32]!r} of {m.entity} and {m.other} with value {m.value} cannot be"
            )
        if len(self.events) >= MAX_EVENTS:
            raise DamageError(f"more than {MAX_EVENTS} events")
        self.events.append(Event(m.tick, m.kind, m.entity, m.other, m.value))

    def _frame(self, m: Any, message: Message, header: TakeHeader) -> None:
        k = len(self.frame_flags)
        if m.frame != k or m.tick != k * header.frame_ticks or self.last_tick < m.tick + header.frame_ticks:
            raise DamageError(f"frame {m.frame} of tick {m.tick} where frame {k} of tick {k * header.frame_ticks} is due")
        self._clock("the frame", m.tick, m.t_ns, message.log_time, header)
        if (
            len(m.issued) != len(ACTION_NAMES)
            or len(m.effective) != len(EFFECT_NAMES)
            or len(m.cameras) != 7 * len(header.rigs)
            or m.flags > FLAG_MASK
            or len(m.intent) > MAX_TEXT
            or not all(map(math.isfinite, (*m.issued, *m.effective, *m.cameras)))
        ):
            raise DamageError(f"frame {k}: its numbers are not those of a frame")
        self.issued.extend(m.issued)
        self.effective.extend(m.effective)
        self.frame_flags.append(m.flags)
        self.intents.append(m.intent)

    def _end(self, m: Any, message: Message, header: TakeHeader) -> None:
        self._clock("the end", m.tick, m.t_ns, message.log_time, header)
        frames = self.last_tick // header.frame_ticks
        found = (self.last_tick, frames, frames, self.index.count, self.digest.hexdigest())
        said = (m.tick, m.frames, len(self.frame_flags), m.samples, m.state_hash)
        if said != found or self.last_tick % header.frame_ticks:
            raise DamageError(f"the end says tick, frames, rows, samples and hash are {said}, they are {found}")
        self.end = m


class Take:
    """A take opened for reading. Use ``Take.open``; close it, or use it in a ``with``.

    Attributes:
        path: the file.
        header: what was recorded.
        complete: False when only the whole beginning of a damaged file was read (``partial=True``).
        damage: why it is not complete, or "".
        last_tick: tick of the last sample.
        n_frames: frames that have an action.
        state_hash: BLAKE2b-128 over the samples' bytes: play the inputs again and get the same.
        intents: what the policy was about, a string a frame.
    """

    def __init__(self, path: Path, file: BinaryIO, scan: _Scan, damage: str) -> None:
        assert scan.header is not None and scan.decoder is not None
        self.path, self.header = path, scan.header
        self.complete, self.damage = not damage, damage
        self.last_tick = scan.last_tick
        self.n_frames = len(scan.frame_flags)
        self.n_samples = scan.index.count
        self.state_hash = scan.digest.hexdigest()
        self.intents: tuple[str, ...] = tuple(scan.intents)
        self._scan, self._file = scan, file
        self._playback = Playback(file, path, scan.header, scan.decoder, scan.index)

    @classmethod
    def open(cls, path: Path | str, partial: bool = False) -> Take:
        """Open and check a take.

        Args:
            path: the file.
            partial: accept a file that is damaged or cut, and read it up to the last whole message.

        Raises:
            WorldwrightError: no such file, no take, or damaged: it says up to where the file is whole.
        """
        path = Path(path)
        try:
            if path.exists() and not path.is_file():  # a pipe would wait for ever
                raise WorldwrightError("cannot be opened (not a file)", where=str(path), fix="name a take (.mcap)")
            file = path.open("rb")
            size = path.stat().st_size
        except OSError as error:
            raise WorldwrightError(f"cannot be opened ({error.strerror})", where=str(path)) from error
        scan = _Scan()
        try:
            damage = ""
            try:
                scan.run(file, size, partial)
            except DamageError as error:
                damage = str(error)
            if damage and (not partial or scan.index.count == 0):
                raise WorldwrightError(damage, where=str(path), fix=_advice(scan))
            return cls(path, file, scan, damage)
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def instant(self, tick: float) -> Instant:
        """The world at ``tick``, which may lie between ticks: the stored values on a sample; between two samples positions and angles
        are interpolated linearly (yaw on the short arc, quaternions normalised), and what is not a number comes from the earlier one.
        Asking in ascending order is cheap; anything else seeks. Raises WorldwrightError for a tick outside of the take."""
        return self._playback.instant(tick)

    def inputs(self) -> Inputs:
        """All inputs."""
        return Inputs(*(np.array(column, dtype=np.int64) for column in self._scan.inputs))

    def controls(self) -> Iterator[Control]:
        """The control of every tick from 0 to ``last_tick`` - 1: what ``replay`` feeds to the engine."""
        ticks, keys, dx, dy = self._scan.inputs
        tick = held = 0
        for k in range(len(ticks)):
            if ticks[k] >= self.last_tick:
                break
            idle = Control(held)
            for _ in range(tick, ticks[k]):
                yield idle
            held = keys[k]
            yield Control(held, dx[k], dy[k])
            tick = ticks[k] + 1
        idle = Control(held)
        for _ in range(tick, self.last_tick):
            yield idle

    def events(self) -> tuple[Event, ...]:
        """All events, ascending by tick."""
        return tuple(self._scan.events)

    def attachments(self) -> dict[str, bytes]:
        """The engine's own files of this run by name, whole: what its renderer needs to show it again."""
        found = {}
        for name, ref in self._scan.attachments.items():
            self._file.seek(ref.offset)
            found[name] = self._file.read(ref.size)
        return found

    def frames(self, frame_ticks: int | None = None) -> FrameTable:
        """Rows a frame: those recorded for the take's own frame length, else derived from inputs and samples."""
        scan, own = self._scan, self.header.frame_ticks
        if frame_ticks not in (None, own):
            assert frame_ticks is not None
            return self.derive_frames(frame_ticks)
        issued = np.array(scan.issued, dtype=np.float32).reshape(-1, len(ACTION_NAMES))
        effective = np.array(scan.effective, dtype=np.float32).reshape(-1, len(EFFECT_NAMES))
        return self._table(own, issued, effective, np.array(scan.frame_flags, dtype=np.uint32))

    def derive_frames(self, frame_ticks: int) -> FrameTable:
        """Rows a frame of ``frame_ticks`` ticks, from inputs and samples alone. For the take's own frame length they equal the
        recorded rows exactly in an honest take.

        Raises:
            WorldwrightError: ``frame_ticks`` is no whole multiple of the sample length.
        """
        step = self.header.sample_ticks
        if frame_ticks < 1 or frame_ticks % step:
            raise WorldwrightError(
                f"frames of {frame_ticks} ticks do not fall on samples of {step} ticks",
                where=str(self.path),
                fix=f"choose a frame rate that divides {self.header.tick_rate // step} Hz",
            )
        count, stride = self.last_tick // frame_ticks, frame_ticks // step
        issued = np.empty((count, len(ACTION_NAMES)), dtype=np.float32)
        effective = np.empty((count, len(EFFECT_NAMES)), dtype=np.float32)
        flags = np.empty(count, dtype=np.uint32)
        ticks, keys, dx, dy = self._scan.inputs
        all_flags = np.array(self._scan.flags, dtype=np.uint32)
        for k in range(count):
            first, last = bisect_left(ticks, k * frame_ticks), bisect_left(ticks, (k + 1) * frame_ticks)
            inside = [Change(ticks[j], keys[j], dx[j], dy[j]) for j in range(first, last)]
            issued[k] = issued_row(k * frame_ticks, frame_ticks, keys[first - 1] if first else 0, inside)
            effective[k] = effective_row(self._track(k * stride), self._track((k + 1) * stride))
            flags[k] = np.bitwise_or.reduce(all_flags[k * stride + 1 : (k + 1) * stride + 1])
        return self._table(frame_ticks, issued, effective, flags)

    def path_of_feet(self) -> NDArray[np.float32]:
        """x y z yaw pitch of the played character at every sample, [S, 5]: for maps and figures."""
        return np.array(self._scan.track, dtype=np.float32).reshape(-1, 5)

    def sample_flags(self) -> NDArray[np.uint32]:
        """Flags of the played character at every sample, [S]."""
        return np.array(self._scan.flags, dtype=np.uint32)

    def sample_messages(self) -> Iterator[tuple[int, bytes]]:
        """Tick and serialised bytes of every sample, in order, streamed."""
        return self._playback.messages()

    def _track(self, sample: int) -> Track:
        x, y, z, yaw, pitch = self._scan.track[sample * 5 : sample * 5 + 5]
        return (x, y, z, yaw, pitch)

    def _table(self, frame_ticks: int, issued: Any, effective: Any, flags: Any) -> FrameTable:
        count = len(flags)
        tick = np.arange(count, dtype=np.int64) * frame_ticks
        t_ns = tick * 1_000_000_000 // self.header.tick_rate
        return FrameTable(frame_ticks, np.arange(count, dtype=np.int32), tick, t_ns, issued, effective, flags)


def _advice(scan: _Scan) -> str:
    """How far a damaged take is whole, and what to do."""
    if scan.header is None or scan.index.count == 0:
        return "nothing of it can be read: record it again"
    tick = scan.last_tick
    return (
        f"it is whole up to tick {tick} ({tick / scan.header.tick_rate:.2f} s): record it again, or read that much with --partial"
    )
