"""Reads MCAP's chunks from a file that may be cut, damaged or hostile.

The mcap package's reader believes sizes and offsets that a file claims; this one takes nothing for granted: every length is compared
with what is left of the file and with a limit before anything is read, chunks are bounded before they are decompressed, and the
checksums of chunks, data section and summary are all verified. It walks the file once, forward, one chunk at a time. The layout is that of
https://mcap.dev/spec.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import zstandard
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from worldwright.take.schema import DamageError

MAX_CHUNK = 64 << 20
MAX_SUMMARY = 256 << 20
MAX_CHANNELS = 256
MAX_NAME = 1024
MAX_ATTACHMENT = 64 << 20
MAX_ATTACHMENTS = 16
PIECE = 1 << 20
_HEAD = struct.Struct("<BQ")
_CHUNK = struct.Struct("<QQQII")
_MESSAGE = struct.Struct("<HIQQ")


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}")


def plain_name(name: str) -> bool:
    """Whether an attachment may have this name: one that is a file's on every system, and leaves no folder."""
    return _PLAIN_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """Where a chunk's compressed bytes are and what they must become. ``cut`` holds what could be had of a chunk that the end of the
    file cuts off."""

    offset: int
    stored: int
    size: int
    crc: int
    compression: str
    cut: bytes | None = None


class Message(NamedTuple):
    """A message of a chunk: its topic's name, its time and its bytes."""

    topic: str
    log_time: int
    data: bytes


def _exactly(file: BinaryIO, count: int, what: str) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise DamageError(f"the file ends inside {what}")
    return data


def _string(data: bytes, at: int, what: str) -> tuple[str, int]:
    """A length-prefixed string at ``at``, and where it ends."""
    if at + 4 > len(data):
        raise DamageError(f"{what} is too short")
    (length,) = struct.unpack_from("<I", data, at)
    if length > MAX_NAME or at + 4 + length > len(data):
        raise DamageError(f"{what} claims a name of {length} bytes")
    try:
        return data[at + 4 : at + 4 + length].decode(), at + 4 + length
    except UnicodeDecodeError as error:
        raise DamageError(f"{what} has a name that is no UTF-8") from error


def _decompress(ref: ChunkRef, stored: bytes) -> bytes:
    if ref.compression == "":
        data = stored
    elif ref.compression == "zstd":
        try:
            claimed = zstandard.get_frame_parameters(stored).content_size
            if claimed not in (ref.size, zstandard.CONTENTSIZE_UNKNOWN):
                raise DamageError("a chunk's size is not that of its content")
            data = zstandard.ZstdDecompressor(max_window_size=MAX_CHUNK).decompress(stored, max_output_size=ref.size)
        except zstandard.ZstdError as error:
            raise DamageError("a chunk cannot be decompressed") from error
    else:
        raise DamageError(f"a chunk's compression is {ref.compression[:16]!r}, this version reads zstd")
    if len(data) != ref.size or zlib.crc32(data) != ref.crc:
        raise DamageError("a chunk's checksum does not hold")
    return data


def load_chunk(file: BinaryIO, ref: ChunkRef) -> bytes:
    """A chunk's records, decompressed, its checksum verified. Raises DamageError."""
    if ref.cut is not None:
        return ref.cut
    file.seek(ref.offset)
    return _decompress(ref, _exactly(file, ref.stored, "a chunk"))


def _chunk_ref(head: bytes, offset: int, length: int) -> ChunkRef:
    """From a chunk record's first bytes: everything before the compressed ones."""
    if len(head) < _CHUNK.size:
        raise DamageError("a chunk is too short")
    _, _, size, crc, name = _CHUNK.unpack_from(head)
    at = _CHUNK.size + name
    if name > 16 or at + 8 > len(head):
        raise DamageError("a chunk has no sound head")
    (stored,) = struct.unpack_from("<Q", head, at)
    if at + 8 + stored != length:
        raise DamageError("a chunk's length is not that of its content")
    if size > MAX_CHUNK:
        raise DamageError(f"a chunk claims {size:,} bytes, the limit is {MAX_CHUNK:,}")
    return ChunkRef(offset + at + 8, stored, size, crc, head[_CHUNK.size : at].decode("ascii", "replace"))


class Channels:
    """The topics that a file has named so far, by channel number."""

    def __init__(self) -> None:
        self.topics: dict[int, str] = {}

    def add(self, record: bytes) -> None:
        """A channel record. Raises DamageError when a number is given to two topics."""
        if len(record) < 4:
            raise DamageError("a channel record is too short")
        (number,) = struct.unpack_from("<H", record)
        topic, _ = _string(record, 4, "a channel record")
        if self.topics.setdefault(number, topic) != topic:
            raise DamageError(f"channel {number} is both {self.topics[number][:64]!r} and {topic[:64]!r}")
        if len(self.topics) > MAX_CHANNELS:
            raise DamageError(f"more than {MAX_CHANNELS} channels")

    def messages(self, data: bytes, *, cut: bool = False) -> Iterator[Message]:
        """The messages of a chunk's records. ``cut``: the last record may be incomplete and is left out then."""
        at, end = 0, len(data)
        while at < end:
            if at + _HEAD.size > end:
                if cut:
                    return
                raise DamageError("a record in a chunk is cut")
            opcode, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            if length > end - at:
                if cut:
                    return
                raise DamageError(f"a record in a chunk claims {length:,} bytes")
            if opcode == Opcode.MESSAGE:
                if length < _MESSAGE.size:
                    raise DamageError("a message is too short")
                channel, _, log_time, _ = _MESSAGE.unpack_from(data, at)
                if channel not in self.topics:
                    raise DamageError(f"a message on channel {channel}, which nothing has named")
                yield Message(self.topics[channel], log_time, data[at + _MESSAGE.size : at + length])
            elif opcode == Opcode.CHANNEL:
                self.add(data[at : at + length])
            at += length


def _cut_chunk(file: BinaryIO, ref: ChunkRef) -> ChunkRef | None:
    """What can be had of a chunk that the end of the file cuts off; unverified by its checksum, so its messages must be."""
    file.seek(ref.offset)
    stored = file.read(ref.stored)
    if ref.compression == "zstd":
        try:
            reader = zstandard.ZstdDecompressor(max_window_size=MAX_CHUNK).stream_reader(stored)
            pieces = []
            total = 0
            while total <= ref.size and (piece := reader.read(PIECE)):
                pieces.append(piece)
                total += len(piece)
            stored = b"".join(pieces)
        except zstandard.ZstdError:
            return None
    return ChunkRef(ref.offset, ref.stored, ref.size, ref.crc, ref.compression, stored[: ref.size])


@dataclass(frozen=True, slots=True)
class AttachmentRef:
    """Where an attachment's bytes are in the file."""

    name: str
    offset: int
    size: int


def _attachment(file: BinaryIO, start: int, length: int) -> AttachmentRef:
    """An attachment record, its checksum verified."""
    if not 36 <= length <= MAX_ATTACHMENT + 2 * MAX_NAME + 36:
        raise DamageError(f"an attachment of {length:,} bytes, the limit is {MAX_ATTACHMENT:,}")
    file.seek(start)
    data = _exactly(file, length, "an attachment")
    name, at = _string(data, 16, "an attachment")
    _, at = _string(data, at, "an attachment")
    if at + 12 > length:
        raise DamageError("an attachment is too short")
    (size,) = struct.unpack_from("<Q", data, at)
    if at + 8 + size + 4 != length:
        raise DamageError("an attachment's length is not that of its content")
    (crc,) = struct.unpack_from("<I", data, length - 4)
    if crc not in (0, zlib.crc32(data[:-4])):
        raise DamageError(f"the checksum of the attachment {name[:64]!r} does not hold")
    return AttachmentRef(name, start + at + 8, size)


def scan_chunks(
    file: BinaryIO, size: int, *, partial: bool = False, attachments: dict[str, AttachmentRef] | None = None
) -> Iterator[tuple[ChunkRef, bytes]]:
    """Every chunk of the file, verified, then the end of the file verified. Raises DamageError where it stops being whole.

    Args:
        file: opened for reading bytes.
        size: the file's size in bytes.
        partial: give also what is whole in a chunk that the end of the file cuts off, before raising.
        attachments: gets the attachments that the file has, by name.
    """
    found: dict[str, AttachmentRef] = {} if attachments is None else attachments
    file.seek(0)
    if file.read(len(MCAP0_MAGIC)) != MCAP0_MAGIC:
        raise DamageError("not an MCAP file")
    crc, at = zlib.crc32(MCAP0_MAGIC), len(MCAP0_MAGIC)
    while True:
        file.seek(at)
        head = _exactly(file, _HEAD.size, "a record's head")
        opcode, length = _HEAD.unpack(head)
        start, left = at + _HEAD.size, size - at - _HEAD.size
        if opcode == Opcode.CHUNK:
            ref = _chunk_ref(file.read(min(length, 128)), start, length)
            if length > left:
                if partial and (cut := _cut_chunk(file, ref)) is not None and cut.cut:
                    yield cut, cut.cut
                raise DamageError("the file ends inside a chunk")
            yield ref, load_chunk(file, ref)
        elif length > left:
            raise DamageError("the file ends inside a record")
        elif opcode == Opcode.DATA_END:
            break
        elif opcode in (Opcode.FOOTER, 0):
            raise DamageError("the data has no end")
        elif opcode == Opcode.MESSAGE:
            raise DamageError("a message outside of a chunk")
        elif opcode == Opcode.ATTACHMENT:
            ref_to = _attachment(file, start, length)
            if not plain_name(ref_to.name):
                raise DamageError(f"the attachment {ref_to.name[:64]!r} has no plain name")
            if ref_to.name in found or len(found) >= MAX_ATTACHMENTS:
                raise DamageError(f"the attachment {ref_to.name[:64]!r} is there twice, or there are more than {MAX_ATTACHMENTS}")
            found[ref_to.name] = ref_to
        crc = zlib.crc32(head, crc)
        file.seek(start)
        for piece in range(0, length, PIECE):
            crc = zlib.crc32(_exactly(file, min(PIECE, length - piece), "a record"), crc)
        at = start + length
    if length != 4:
        raise DamageError("the data's end is unreadable")
    (stored_crc,) = struct.unpack("<I", _exactly(file, 4, "the data's end"))
    if stored_crc not in (0, crc):
        raise DamageError("the checksum of the data does not hold")
    _check_summary(file, start + length, size)


def _check_summary(file: BinaryIO, start: int, size: int) -> None:
    """The summary's checksum, the footer and the magic at the end. ``start`` is where the summary starts."""
    footer = _HEAD.size + 20
    tail = footer + len(MCAP0_MAGIC)
    if not tail <= size - start <= MAX_SUMMARY:
        raise DamageError("the file ends inside its summary")
    file.seek(size - tail)
    data = _exactly(file, tail, "the footer")
    if data[footer:] != MCAP0_MAGIC or _HEAD.unpack_from(data) != (Opcode.FOOTER, 20):
        raise DamageError("the file has no sound end")
    summary_start, _, crc = struct.unpack_from("<QQI", data, _HEAD.size)
    if summary_start not in (0, start):
        raise DamageError("the footer names another summary")
    file.seek(start)
    left, found = size - start - tail, 0
    while left:
        piece = _exactly(file, min(PIECE, left), "the summary")
        found, left = zlib.crc32(piece, found), left - len(piece)
    if crc not in (0, zlib.crc32(data[: _HEAD.size + 16], found)):
        raise DamageError("the checksum of the summary does not hold")
