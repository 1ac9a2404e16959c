"""Writes a take: an MCAP file that appears under its name only when it is whole."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from mcap.writer import CompressionType, Writer

from worldwright.controls import Control
from worldwright.engine.protocol import Event, State
from worldwright.errors import WorldwrightError
from worldwright.take import take_pb2 as pb
from worldwright.take.codec import MAX_TEXT, Encoded, SampleEncoder
from worldwright.take.container import MAX_ATTACHMENT, plain_name
from worldwright.take.frames import Change, FrameTotals, effective_row, issued_row
from worldwright.take.model import TakeHeader
from worldwright.take.schema import (
    LIBRARY,
    MAX_SECONDS,
    MESSAGES,
    DamageError,
    check_header,
    descriptor_set,
    header_bytes,
)

CHUNK_BYTES = 256 * 1024
BATCH = 48
"""Samples encoded at once."""


class _Queued(NamedTuple):
    """A message that waits for the samples before it."""

    topic: str
    tick: int
    data: bytes


def part_path(path: Path) -> Path:
    """Where a take is written before it is whole."""
    return path.with_name(f".{path.name}.part")


def _open_alone(part: Path, path: Path) -> BinaryIO:
    """The empty file ``part`` for one recording at a time; a second one is refused. The lock goes with the process, however that ends."""
    while True:
        file = os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666), "wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before us may have given the file its name, or taken it away, between our opening it and our getting the lock.
            mine = os.fstat(file.fileno())
            if part.exists() and os.path.samestat(mine, part.stat()):
                if mine.st_size:  # of a recording that was killed
                    file.truncate()
                return file
        except BlockingIOError:
            file.close()
            raise WorldwrightError(
                "another recording is being written there", where=str(path), fix="wait for it, or name another file"
            ) from None
        except BaseException:
            file.close()
            raise
        file.close()


class TakeWriter:
    """One recording. Call ``input`` for every tick (or for those in which something changes), ``sample`` at every sample tick from 0
    on, ``frame`` where a frame begins (to name the intent), ``close`` at the end. Rows a frame are derived here, by the same function
    that the reader uses. As a context manager it closes on success; on an exception what was recorded stays as ``.NAME.part``.

    Args:
        path: the file to make; its folder is made when missing.
        header: what is recorded.
    """

    def __init__(self, path: Path, header: TakeHeader) -> None:
        try:
            check_header(header)
        except DamageError as error:
            raise WorldwrightError(str(error), where=str(path)) from error
        self.path, self.part, self.header = path, part_path(path), header
        self.samples = 0
        self.last_tick = -1
        self.totals = FrameTotals()
        self._digest = hashlib.blake2b(digest_size=16)
        self._encoder = SampleEncoder(header)
        self._queue: list[_Queued | State] = []
        self._changes: list[Change] = []
        self._intents: deque[str] = deque()
        self._keys = self._frame_keys = 0
        self._input_tick = self._event_tick = -1
        self._flags = 0
        self._start: Encoded | None = None
        data = header_bytes(header)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _open_alone(self.part, path)
        try:
            self._mcap = Writer(
                self._file, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD, enable_crcs=True, enable_data_crcs=True
            )
            self._mcap.start(profile="protobuf", library=LIBRARY)
            self._channels = {
                topic: self._mcap.register_channel(
                    topic, "protobuf", self._mcap.register_schema(message.DESCRIPTOR.full_name, "protobuf", descriptor_set(topic))
                )
                for topic, message in MESSAGES.items()
            }
            self._put("/header", 0, data)
            self._mcap.flush()  # type: ignore[no-untyped-call]
        except BaseException:
            self.abort()
            raise

    def _put(self, topic: str, tick: int, data: bytes, sequence: int = 0) -> None:
        t_ns = self.header.t_ns(tick)
        self._mcap.add_message(self._channels[topic], t_ns, data, t_ns, sequence)

    def input(self, tick: int, control: Control) -> None:
        """The controls of the step from ``tick`` to ``tick + 1``. Written when the keys changed or the mouse moved."""
        if control.keys == self._keys and not control.mouse_dx and not control.mouse_dy:
            return
        if tick <= self._input_tick or tick < self.last_tick:
            raise WorldwrightError(
                f"input of tick {tick} after that of tick {max(self._input_tick, self.last_tick)}", where=str(self.path)
            )
        before, self._keys, self._input_tick = self._keys, control.keys, tick
        message = pb.Input(
            tick=tick,
            t_ns=self.header.t_ns(tick),
            keys=control.keys,
            pressed=control.keys & ~before,
            released=before & ~control.keys,
            mouse_dx=control.mouse_dx,
            mouse_dy=control.mouse_dy,
        )
        self._changes.append(Change(tick, control.keys, control.mouse_dx, control.mouse_dy))
        self._queue.append(_Queued("/input", tick, message.SerializeToString()))

    def event(self, event: Event) -> None:
        """Something that happened; ``sample`` writes a state's events itself."""
        if event.tick < self._event_tick:
            raise WorldwrightError(f"event of tick {event.tick} after one of tick {self._event_tick}", where=str(self.path))
        self._event_tick = event.tick
        message = pb.Event(
            tick=event.tick,
            t_ns=self.header.t_ns(event.tick),
            kind=event.kind,
            entity=event.entity,
            other=event.other,
            value=event.value,
        )
        self._queue.append(_Queued("/event", event.tick, message.SerializeToString()))

    def frame(self, intent: str) -> None:
        """What the policy is about in the frame that begins at the last sample (or at tick 0)."""
        self._intents[-1] = intent[:MAX_TEXT]

    def sample(self, state: State) -> None:
        """The state at the next sample tick, and the events since the last one. Its arrays must not change any more: they are written
        some samples later. At a frame's end its row is written too."""
        tick, header = state.tick, self.header
        if tick != self.samples * header.sample_ticks:
            raise WorldwrightError(
                f"sample of tick {tick} where that of {self.samples * header.sample_ticks} is due", where=str(self.path)
            )
        if tick > MAX_SECONDS * header.tick_rate:
            raise WorldwrightError(f"a take is at most {MAX_SECONDS} s long", where=str(self.path), fix="record several")
        for event in state.events:
            self.event(event)
        self._queue.append(state)
        self.samples += 1
        self.last_tick = tick
        if tick % header.frame_ticks == 0:
            self._intents.append("")
        if self.samples % BATCH == 1:
            self._write_queue()

    def _write_queue(self) -> None:
        """Write what was queued, in its order."""
        queue, self._queue = self._queue, []
        states = [item for item in queue if isinstance(item, State)]
        encoded = iter(self._encoder.encode(states) if states else ())
        for item in queue:
            if isinstance(item, State):
                self._write_sample(next(encoded))
            else:
                self._put(item.topic, item.tick, item.data)
        self._file.flush()  # so that a killed recording leaves the chunks that are closed

    def _write_sample(self, encoded: Encoded) -> None:
        tick, header = encoded.tick, self.header
        self._digest.update(encoded.data)
        self._put("/sample", tick, encoded.data, tick // header.sample_ticks)
        self._flags |= encoded.flags
        if tick % header.frame_ticks == 0:
            if self._start is not None:
                self._write_frame(self._start, encoded)
            self._start, self._flags = encoded, 0

    def _write_frame(self, start: Encoded, end: Encoded) -> None:
        frame, tick, length = self.totals.frames, start.tick, self.header.frame_ticks
        inside = [c for c in self._changes if c.tick < tick + length]
        issued, effective = issued_row(tick, length, self._frame_keys, inside), effective_row(start.track, end.track)
        message = pb.Frame(
            frame=frame,
            tick=tick,
            t_ns=self.header.t_ns(tick),
            issued=issued,
            effective=effective,
            flags=self._flags,
            intent=self._intents.popleft(),
            cameras=start.cameras,
        )
        self._put("/frame", tick, message.SerializeToString(), frame)
        self.totals.add(issued, effective, self._flags)
        if inside:
            self._frame_keys = inside[-1].keys
        self._changes = self._changes[len(inside) :]

    @property
    def state_hash(self) -> str:
        """BLAKE2b-128 over the bytes of the samples; final once closed."""
        return self._digest.hexdigest()

    def attach(self, name: str, data: bytes) -> None:
        """Keep a file of the engine's in the take, as an MCAP attachment: under a plain file name of letters, digits, dots, dashes and underscores.

        Raises:
            WorldwrightError: for another name, or one that is too large.
        """
        if not plain_name(name):
            raise WorldwrightError(
                f"attachment {name[:64]!r} has no plain name", where=str(self.path), fix="letters, digits, . - _"
            )
        if len(data) > MAX_ATTACHMENT:
            raise WorldwrightError(
                f"attachment {name[:64]!r} of {len(data):,} bytes", where=str(self.path), fix="record less at once"
            )
        # What was recorded goes first: where a file is cut, what comes before is whole.
        self._write_queue()
        self._mcap.flush()  # type: ignore[no-untyped-call]
        t_ns = self.header.t_ns(max(self.last_tick, 0))
        self._mcap.add_attachment(t_ns, t_ns, name, "application/octet-stream", data)

    def close(self) -> None:
        """Seal the file and give it its name. The take must end on a frame."""
        if self._file.closed:
            return
        if self.last_tick < 0 or self.last_tick % self.header.frame_ticks:
            raise WorldwrightError(f"the last sample, tick {self.last_tick}, is not on a frame", where=str(self.path))
        self._write_queue()
        end = pb.End(
            tick=self.last_tick,
            t_ns=self.header.t_ns(self.last_tick),
            frames=self.totals.frames,
            samples=self.samples,
            state_hash=self.state_hash,
        )
        self._put("/end", self.last_tick, end.SerializeToString())
        self._mcap.finish()  # type: ignore[no-untyped-call]
        self._file.flush()
        os.fsync(self._file.fileno())
        try:
            self.part.replace(self.path)  # while it is locked: nobody else may have begun to write to it
        finally:
            self._file.close()

    def abort(self) -> Path | None:
        """Give up: what was recorded stays as ``.NAME.part`` when it holds a sample, and its path is returned."""
        if not self._file.closed:
            # A full disk refuses the last chunk: what is on it already stays readable, so the refusal is no news here.
            with contextlib.suppress(OSError, WorldwrightError):
                if self.samples:
                    self._write_queue()
                    self._mcap.flush()  # type: ignore[no-untyped-call]
            if not self.samples:
                self.part.unlink(missing_ok=True)  # while it is locked: afterwards it may be another recording's
            with contextlib.suppress(OSError):
                self._file.close()
        return self.part if self.samples and self.part.exists() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self.abort()
            return
        try:
            self.close()
        except BaseException:
            self.abort()
            raise
