"""Takes that are cut, flipped, forged or hostile: one line that says how far they are whole, and nothing else."""

from __future__ import annotations

import dataclasses
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zstandard
from mcap.writer import CompressionType, Writer

from worldwright.errors import WorldwrightError
from worldwright.take import take_pb2 as pb
from worldwright.take.container import scan_chunks
from worldwright.take.reader import Take
from worldwright.take.schema import MESSAGES, descriptor_set, header_bytes


@pytest.fixture
def short_path(tmp_path: Path, made_up: SimpleNamespace) -> Path:
    path = tmp_path / "short.mcap"
    made_up.write(path, 60)
    return path


def test_a_take_cut_at_any_byte_is_refused_in_one_line(short_path: Path, tmp_path: Path) -> None:
    data = short_path.read_bytes()
    cut = tmp_path / "cut.mcap"
    for end in [*range(0, len(data), 211), *range(len(data) - 40, len(data))]:
        cut.write_bytes(data[:end])
        with pytest.raises(WorldwrightError) as error:
            Take.open(cut)
        line = error.value.line()
        assert "\n" not in line and line.startswith(str(cut)) and "record it again" in line


def test_a_take_cut_at_any_byte_is_read_as_far_as_it_is_whole(take_path: Path, tmp_path: Path, made_up: SimpleNamespace) -> None:
    data = take_path.read_bytes()
    cut = tmp_path / "cut.mcap"
    last = -1
    for end in range(2000, len(data), 1511):
        cut.write_bytes(data[:end])
        try:
            take = Take.open(cut, partial=True)
        except WorldwrightError as error:
            assert last < 0, "a longer piece cannot hold less"
            assert "nothing of it can be read" in error.line()
            continue
        with take:
            assert not take.complete and take.damage
            assert take.last_tick >= last
            last = take.last_tick
            np.testing.assert_array_equal(take.instant(last).positions, made_up.state(last).positions)
            assert len(take.derive_frames(10)) >= take.n_frames
    assert last == 240


def test_any_flipped_bit_is_found(short_path: Path, tmp_path: Path) -> None:
    data = bytearray(short_path.read_bytes())
    flipped = tmp_path / "flipped.mcap"
    rng = np.random.default_rng(5)
    for at in [*range(0, len(data), 173), *range(len(data) - 400, len(data), 9)]:
        bit = 1 << int(rng.integers(8))
        data[at] ^= bit
        flipped.write_bytes(data)
        with pytest.raises(WorldwrightError):
            Take.open(flipped)
        data[at] ^= bit


def test_a_flipped_bit_stops_partial_reading_before_it(take_path: Path, tmp_path: Path) -> None:
    data = bytearray(take_path.read_bytes())
    with take_path.open("rb") as file:
        chunks = [ref for ref, _ in scan_chunks(file, len(data))]
    data[chunks[-1].offset + chunks[-1].stored // 2] ^= 4
    flipped = tmp_path / "flipped.mcap"
    flipped.write_bytes(data)
    with pytest.raises(WorldwrightError, match=r"checksum|decompressed|size"):
        Take.open(flipped)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x89MCAP0\r\n", b"\x89MCAP0\r\n" + b"\0" * 1000, b"\x89MCAP0\r\n\x06" + b"\xff" * 64]
)
def test_what_is_no_take_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.mcap").write_bytes(content)
    for partial in (False, True):
        with pytest.raises(WorldwrightError, match="nothing of it can be read"):
            Take.open(tmp_path / "t.mcap", partial=partial)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.mcap", tmp_path):
        with pytest.raises(WorldwrightError, match="cannot be opened"):
            Take.open(path)


def test_bytes_after_the_end_are_refused(short_path: Path) -> None:
    with short_path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(WorldwrightError):
        Take.open(short_path)


def _chunk(compressed: bytes, size: int, crc: int, name: bytes = b"zstd") -> bytes:
    body = struct.pack("<QQQII", 0, 0, size, crc, len(name)) + name + struct.pack("<Q", len(compressed)) + compressed
    return b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(body)) + body


def test_a_decompression_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    bomb = zstandard.compress(bytes(200 << 20), 19)
    path = tmp_path / "bomb.mcap"
    for claimed in (200 << 20, 1000):
        path.write_bytes(_chunk(bomb, claimed, 1))
        with pytest.raises(WorldwrightError, match=r"claims 209,715,200 bytes|size is not that of its content"):
            Take.open(path)


def test_a_giant_length_inside_a_chunk_is_refused(tmp_path: Path) -> None:
    inner = struct.pack("<BQ", 5, 1 << 62) + b"x" * 50
    (tmp_path / "t.mcap").write_bytes(_chunk(zstandard.compress(inner), len(inner), zlib.crc32(inner)))
    with pytest.raises(WorldwrightError, match="claims 4,611,686,018,427,387,904 bytes"):
        Take.open(tmp_path / "t.mcap")


def test_a_compression_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.mcap").write_bytes(_chunk(b"abc", 3, zlib.crc32(b"abc"), b"lz4"))
    with pytest.raises(WorldwrightError, match="compression is 'lz4'"):
        Take.open(tmp_path / "t.mcap")


def forge(path: Path, messages: list[tuple[str, int, bytes]]) -> None:
    """An MCAP file that is whole, with these messages."""
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start()
        channels = {
            t: writer.register_channel(
                t, "protobuf", writer.register_schema(t, "protobuf", descriptor_set(t) if t in MESSAGES else b"")
            )
            for t in {t: None for t, _, _ in messages}
        }
        for topic, t_ns, data in messages:
            writer.add_message(channels[topic], t_ns, data, t_ns)
        writer.finish()


def messages_of(path: Path) -> list[tuple[str, int, bytes]]:
    with Take.open(path) as take, path.open("rb") as file:
        channels = take._scan.index.channels
        return [
            (m.topic, m.log_time, m.data) for _, data in scan_chunks(file, path.stat().st_size) for m in channels.messages(data)
        ]


def test_a_take_of_another_writer_with_topics_of_its_own_is_read(short_path: Path, tmp_path: Path) -> None:
    messages = messages_of(short_path)
    forge(tmp_path / "f.mcap", [*messages[:5], ("/their/own", 0, b"x"), *messages[5:]])
    with Take.open(tmp_path / "f.mcap") as take:
        assert take.complete and take.last_tick == 60


def _change(kind: Any, topic: str, edit: Callable[[Any], None], index: int) -> Callable[[list[tuple[str, int, bytes]]], None]:
    def apply(messages: list[tuple[str, int, bytes]]) -> None:
        at = [k for k, m in enumerate(messages) if m[0] == topic][index]
        message = kind.FromString(messages[at][2])
        edit(message)
        messages[at] = (topic, messages[at][1], message.SerializeToString())

    return apply


def _drop(topic: str, index: int) -> Callable[[list[tuple[str, int, bytes]]], None]:
    def apply(messages: list[tuple[str, int, bytes]]) -> None:
        del messages[[k for k, m in enumerate(messages) if m[0] == topic][index]]

    return apply


def _set(path: str, value: Any) -> Callable[[Any], None]:
    def edit(message: Any) -> None:
        *parents, last = path.split(".")
        for name in parents:
            message = getattr(message, name)[0]
        if isinstance(value, tuple):
            getattr(message, last)[value[0]] = value[1]
        else:
            setattr(message, last, value)

    return edit


FORGERIES = {
    "no end": (_drop("/end", 0), "no end"),
    "no header": (_drop("/header", 0), "the first message is no header"),
    "a sample left out": (_drop("/sample", 9), "a sample of tick 20 stands where the sample of tick 18 should"),
    "an input left out": (_drop("/input", 1), "pressed|released"),
    "a frame left out": (_drop("/frame", 1), "frame 2 of tick 20 where frame 1 of tick 10 is due"),
    "another tick": (_change(pb.Sample, "/sample", _set("tick", 3), 1), "a sample of tick 3 stands"),
    "another clock": (_change(pb.Sample, "/sample", _set("t_ns", 5), 1), "t_ns is 5"),
    "a position that is NaN": (_change(pb.Sample, "/sample", _set("poses", (0, float("nan"))), 0), "poses is not finite"),
    "a quaternion of length 2": (_change(pb.Sample, "/sample", _set("poses", (3, 2.0)), 0), "not of unit length"),
    "a bone that is infinite": (
        _change(pb.Sample, "/sample", _set("characters.bones", (0, float("inf"))), 4),
        "character 7: bones is not finite",
    ),
    "another character": (_change(pb.Sample, "/sample", _set("characters.id", 1), 4), "id is 1"),
    "a camera of no direction": (_change(pb.Sample, "/sample", _set("cameras", (3, 9.0)), 4), "cameras holds a quaternion"),
    "a contact with nobody": (_change(pb.Sample, "/sample", _set("contacts", (1, 77)), 4), "contacts name entities"),
    "a body that is not there": (_change(pb.Sample, "/sample", _set("changed", (0, 40)), 4), "ascending indices below 5"),
    "a pose too few": (_change(pb.Sample, "/sample", lambda m: m.poses.pop(), 4), "poses has 6 numbers, not 7"),
    "first sample not whole": (
        _change(
            pb.Sample,
            "/sample",
            lambda m: (m.changed.pop(), m.poses.__delitem__(slice(28, 35)), m.velocities.__delitem__(slice(24, 30))),
            0,
        ),
        "must have all 5 bodies and has 4",
    ),
    "a key that is not there": (_change(pb.Input, "/input", _set("keys", 1 << 9), 0), "keys 512"),
    "a frame that claims another issue": (_change(pb.Frame, "/frame", lambda m: m.issued.pop(), 0), "not those of a frame"),
    "an event of nobody": (_change(pb.End, "/end", _set("frames", 7), 0), "the end says"),
    "another hash": (_change(pb.End, "/end", _set("state_hash", "0" * 32), 0), "the end says"),
    "another world": (_change(pb.Header, "/header", _set("world_json", "{}"), 0), "unreadable header"),
    "a deep world": (_change(pb.Header, "/header", _set("world_json", "[" * 100_000), 0), "unreadable header"),
    "another world hash": (_change(pb.Header, "/header", _set("world_hash", "1" * 32), 0), "world_hash"),
    "another format": (_change(pb.Header, "/header", _set("format", "worldwright.take/9"), 0), "this version reads"),
    "a million joints": (_change(pb.Header, "/header", _set("joint_counts", (0, 1_000_000)), 0), "joint_counts"),
    "garbage": (lambda messages: messages.insert(3, ("/sample", 0, b"\xff" * 40)), "unreadable sample"),
    "a message after the end": (lambda messages: messages.append(messages[-2]), "after the end"),
    "two headers": (lambda messages: messages.insert(1, messages[0]), "two headers"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_take_with_sound_checksums_is_refused(short_path: Path, tmp_path: Path, name: str) -> None:
    edit, expected = FORGERIES[name]
    messages = messages_of(short_path)
    edit(messages)
    forge(tmp_path / "f.mcap", messages)
    with pytest.raises(WorldwrightError, match=expected):
        Take.open(tmp_path / "f.mcap")


def test_a_header_with_a_body_too_many_is_refused_at_the_first_sample(
    short_path: Path, tmp_path: Path, made_up: SimpleNamespace
) -> None:
    messages = messages_of(short_path)
    header = dataclasses.replace(made_up.header(), body_ids=(1, 2, 3, 4, 5, 6))
    messages[0] = ("/header", 0, header_bytes(header))
    forge(tmp_path / "f.mcap", messages)
    with pytest.raises(WorldwrightError, match="must have all 6 bodies and has 5"):
        Take.open(tmp_path / "f.mcap")


def test_a_file_that_changes_after_it_was_opened_is_noticed(take_path: Path) -> None:
    with Take.open(take_path) as take:
        data = bytearray(take_path.read_bytes())
        data[len(data) // 2] ^= 1
        take_path.write_bytes(data)
        with pytest.raises(WorldwrightError, match="cannot be read any more"):
            for tick in range(0, 241, 2):
                take.instant(tick)


def test_a_pipe_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(WorldwrightError, match="not a file"):
        Take.open(tmp_path / "pipe.mcap")
