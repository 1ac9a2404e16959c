"""An engine's own files travel in the take, whole or not at all."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from mcap.reader import make_reader

from worldwright.errors import WorldwrightError
from worldwright.take.container import MAX_ATTACHMENT, plain_name
from worldwright.take.reader import Take
from worldwright.take.writer import TakeWriter

DEMO = bytes(range(256)) * 9


@pytest.fixture
def attached(tmp_path: Path, made_up: SimpleNamespace) -> Path:
    path = tmp_path / "attached.mcap"
    with TakeWriter(path, made_up.header()) as writer:
        for tick in range(0, 21, 2):
            writer.sample(made_up.state(tick))
        writer.attach("demo.lmp", DEMO)
        writer.attach("empty", b"")
    return path


def test_an_attachment_comes_back_and_the_samples_around_it_too(attached: Path) -> None:
    with Take.open(attached) as take:
        assert take.attachments() == {"demo.lmp": DEMO, "empty": b""}
        assert take.complete and take.n_samples == 11
        assert take.instant(20).tick == 20


def test_a_take_without_attachments_has_none(take_path: Path) -> None:
    with Take.open(take_path) as take:
        assert take.attachments() == {}


def test_other_peoples_mcap_tools_find_the_attachment(attached: Path) -> None:
    with attached.open("rb") as file:
        assert {a.name: a.data for a in make_reader(file).iter_attachments()} == {"demo.lmp": DEMO, "empty": b""}


def test_a_flipped_bit_in_an_attachment_is_found(attached: Path) -> None:
    data = bytearray(attached.read_bytes())
    start = data.index(DEMO)
    for at in (start - 20, start, start + 1000, start + len(DEMO)):
        broken = bytearray(data)
        broken[at] ^= 4
        attached.write_bytes(broken)
        with pytest.raises(WorldwrightError):
            Take.open(attached)


def test_a_take_cut_in_an_attachment_is_read_without_it(attached: Path) -> None:
    data = attached.read_bytes()
    attached.write_bytes(data[: data.index(DEMO) + 100])
    with pytest.raises(WorldwrightError, match="ends inside a record"):
        Take.open(attached)
    with Take.open(attached, partial=True) as take:
        assert take.attachments() == {} and not take.complete


def test_an_attachment_that_no_reader_would_take_is_not_written(tmp_path: Path, made_up: SimpleNamespace) -> None:
    writer = TakeWriter(tmp_path / "t.mcap", made_up.header())
    writer.sample(made_up.state(0))
    with pytest.raises(WorldwrightError, match="attachment 'big'"):
        writer.attach("big", bytes(MAX_ATTACHMENT + 1))
    writer.abort()


@pytest.mark.parametrize("name", ["", "../x", "/etc/passwd", "a/b", "nul\0", ".hidden", "x" * 65, "naïve"])
def test_an_attachment_is_named_like_a_path(attached: Path, tmp_path: Path, made_up: SimpleNamespace, name: str) -> None:
    writer = TakeWriter(tmp_path / "t.mcap", made_up.header())
    writer.sample(made_up.state(0))
    with pytest.raises(WorldwrightError, match="no plain name"):
        writer.attach(name, b"x")
    writer.abort()
    assert not plain_name(name)


def test_a_hostile_takes_attachment_is_named_like_a_path(attached: Path) -> None:
    data = bytearray(attached.read_bytes())
    start = data.index(b"demo.lmp")
    record = start - 20  # log time, create time, length of the name
    length = struct.unpack_from("<Q", data, record - 8)[0]
    data[start : start + 8] = b"../e.lmp"
    body = record + length - 4
    struct.pack_into("<I", data, body, zlib.crc32(data[record:body]))
    attached.write_bytes(data)
    with pytest.raises(WorldwrightError, match="no plain name"):
        Take.open(attached)
