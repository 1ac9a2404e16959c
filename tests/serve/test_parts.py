"""What a stranger's browser may send, who may come in, and how much a slow line gets."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldwright.errors import WorldwrightError
from worldwright.serve import messages
from worldwright.serve.encode import encode_picture
from worldwright.serve.guard import Guard, token_for
from worldwright.serve.pace import GRADES, Pace
from worldwright.serve.wire import lengths_of, pack_message, read_message


@given(st.one_of(st.text(max_size=200), st.dictionaries(st.text(max_size=8), st.integers()).map(str)))
def test_garbage_is_refused_and_nothing_else_happens(text: str) -> None:
    with pytest.raises(WorldwrightError):
        messages.read_message(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"input","seq":1,"keys":256}',
        '{"type":"input","seq":1,"keys":1,"dx":1e9}',
        '{"type":"input","seq":1,"keys":true}',
        '{"type":"open","scene":-1}',
        '{"type":"open","scene":0,"memory":"both"}',
        '{"type":"record","on":1}',
        '{"type":"seen","picture":1,"more":1}',
        '{"type":"input","seq":1,"keys":1}' + " " * 3000,
        "[" * 1000,
    ],
)
def test_what_is_nearly_a_message_is_refused(text: str) -> None:
    with pytest.raises(WorldwrightError):
        messages.read_message(text)


def test_a_flood_is_noticed_and_play_is_not() -> None:
    meter = messages.Meter(0.0)
    assert all(meter.take(k / 110) for k in range(110 * 20))  # 60 inputs and 48 answers a second
    meter = messages.Meter(0.0)
    assert not all(meter.take(k / 1000) for k in range(1000))


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("localhost:8642", True), ("127.0.0.1:8642", True), ("[::1]:8642", True), ("192.168.1.7:8642", True), ("play.example", True),
     ("evil.example:8642", False), ("", False), ("localhost.evil.example", False), ("[::1", False)],
)  # fmt: skip
def test_a_name_that_is_not_ours_is_refused(host: str, allowed: bool) -> None:
    guard = Guard.of("127.0.0.1", None, ("play.example",))
    assert (guard.refuses({"host": host}, None, opening_socket=False) is None) is allowed


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:8642", True),
        (None, True),
        ("http://localhost:9000", False),
        ("https://evil.example", False),
        ("null", False),
    ],
)
def test_a_page_of_another_site_may_not_open_a_socket(origin: str | None, allowed: bool) -> None:
    headers = {"host": "localhost:8642"} | ({"origin": origin} if origin else {})
    assert (Guard.of("127.0.0.1", None).refuses(headers, None, opening_socket=True) is None) is allowed


def test_other_addresses_ask_for_a_token() -> None:
    assert token_for("127.0.0.1", None) is None and token_for("::1", None) is None
    made = token_for("0.0.0.0", None)
    assert made is not None and len(made) >= 20 and made != token_for("0.0.0.0", None)
    guard = Guard.of("0.0.0.0", made)
    headers = {"host": "10.0.0.2:8642"}
    assert guard.refuses(headers, made, opening_socket=True) is None
    assert guard.refuses(headers, None, opening_socket=True) and guard.refuses(headers, made[:-1], opening_socket=True)
    with pytest.raises(WorldwrightError, match="token"):
        token_for("0.0.0.0", "secret")


def play(pace: Pace, seconds: float, delay: float, rate: float, start: float = 0.0) -> tuple[int, int]:
    """Plays against a line that takes ``rate`` bytes a second; returns pictures sent and the most that were on their way at once."""
    sent, most, free = 0, 0, start
    way: list[tuple[float, int]] = []
    for k in range(int(seconds * 24)):
        now = start + k / 24
        while way and way[0][0] <= now:
            pace.answered(way.pop(0)[1], now)
        if pace.may_send(now):
            grade = pace.grade
            size = int(60_000 * grade.scale**2 * grade.quality / 88)
            sent += 1
            pace.sent(int(start * 1000) + k, size, now)
            free = max(free, now) + size / rate
            way.append((free + delay, int(start * 1000) + k))
            most = max(most, len(way))
    return sent, most


def test_a_fast_line_gets_every_picture_and_the_best() -> None:
    pace = Pace(24, 0.0)
    sent, _ = play(pace, 30, 0.02, 50e6)
    assert sent == 30 * 24 and pace.grade == GRADES[-1]


def test_a_slow_line_gets_smaller_pictures_and_never_a_queue() -> None:
    pace = Pace(24, 0.0)
    sent, most = play(pace, 40, 0.05, 200e3)
    assert most <= 8 and pace.level <= 2
    assert sent > 40 * 24 * 0.4


def test_a_far_line_is_not_taken_for_a_slow_one() -> None:
    pace = Pace(24, 0.0)
    sent, _ = play(pace, 30, 0.2, 50e6)
    assert sent > 30 * 24 * 0.9 and pace.level >= 4


def test_who_does_not_answer_has_gone() -> None:
    pace = Pace(24, 0.0)
    pace.sent(1, 1000, 0.0)
    assert not pace.gone(5.0) and pace.gone(11.0)
    pace.answered(7, 11.0)  # was never sent
    assert pace.gone(11.0)


def test_messages_between_processes_come_whole() -> None:
    data = pack_message({"do": "step"}, b"abc") + pack_message({"x": 1})
    file = io.BytesIO(data)
    assert read_message(file) == ({"do": "step"}, b"abc") and read_message(file) == ({"x": 1}, b"") and read_message(file) is None
    assert read_message(io.BytesIO(data[:10])) is None
    with pytest.raises(ValueError, match="bytes"):
        lengths_of(b"\xff" * 8)


def test_small_pictures_keep_their_size_and_large_ones_shrink() -> None:
    small, large = np.zeros((48, 80, 3), np.uint8), np.zeros((360, 640, 3), np.uint8)
    assert encode_picture(small, 40, 0.5)[1] == {"format": "image/webp", "width": 80, "height": 48}
    assert encode_picture(large, 40, 0.5)[1] == {"format": "image/jpeg", "width": 320, "height": 180}


def test_the_built_page_is_as_new_as_its_sources() -> None:
    """The hash of ``web/sources.mjs``, in Python: whoever changes web/ builds it (npm run build) and commits what comes out."""
    import hashlib

    web, static = Path(__file__).parents[2] / "web", Path(__file__).parents[2] / "src/worldwright/serve/static"
    names = [p.relative_to(web).as_posix() for p in (web / "src").rglob("*") if p.is_file()]
    digest = hashlib.sha256()
    for name in sorted([*names, "index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"]):
        digest.update(f"{name}\0".encode() + (web / name).read_bytes() + b"\0")
    assert (static / "sources.sha256").read_text().strip() == digest.hexdigest(), "run: cd web && npm ci && npm run build"
    page = (static / "index.html").read_text()
    assert all((static / found).is_file() for found in re.findall(r'(?:src|href)="\./([^"]+)"', page)) and "./assets/" in page
