"""Visitors come and go as they like, also badly: nobody else's play suffers, and nothing of theirs stays behind."""

from __future__ import annotations

import json
import signal
import socket
import struct
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from worldwright.errors import WorldwrightError
from worldwright.serve.scenes import find_source


def enter(server: Any, **more: Any) -> ClientConnection:
    return connect(server.address.replace("http", "ws") + "play", max_size=None, compression=None, close_timeout=1, **more)


def pictures(visitor: ClientConnection, count: int) -> list[dict[str, Any]]:
    """The heads of the next pictures, each answered."""
    heads: list[dict[str, Any]] = []
    while len(heads) < count:
        data = visitor.recv(timeout=60)
        if isinstance(data, bytes):
            size = struct.unpack("<I", data[:4])[0]
            heads.append(json.loads(data[4 : 4 + size]) | {"body": data[4 + size :]})
            visitor.send(json.dumps({"type": "seen", "picture": heads[-1]["picture"]}))
    return heads


@contextmanager
def opened(server: Any) -> Iterator[ClientConnection]:
    with enter(server) as visitor:
        visitor.send(json.dumps({"type": "open", "scene": 0}))
        pictures(visitor, 2)
        yield visitor


def code_of(visitor: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            visitor.recv(timeout=30)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_keys_move_the_picture_of_him_who_presses_them(server: Any) -> None:
    with opened(server) as one, opened(server) as two:
        before, other = pictures(one, 3)[-1], pictures(two, 3)[-1]
        one.send(json.dumps({"type": "input", "seq": 9, "keys": 1, "dx": 200}))
        after = pictures(one, 12)[-1]
        assert after["seq"] == 9 and after["frame"] > before["frame"] and after["body"] != before["body"]
        assert len(pictures(two, 12)[-1]["body"]) == pytest.approx(len(other["body"]), rel=0.02)
        with enter(server) as third:  # the server has two places
            assert "taken" in json.loads(third.recv(timeout=10))["line"]
            assert code_of(third) == 4005
    assert server.empty()


@pytest.mark.parametrize(
    ("sent", "code"), [("garbage", 4001), (b"\x00\x01", 4001), ('{"type":"input","seq":1,"keys":"w"}', 4001), ("x" * 5000, 1009)]
)
def test_garbage_ends_a_visit_and_frees_it(server: Any, sent: str | bytes, code: int) -> None:
    with enter(server) as visitor:
        visitor.send(sent)
        assert code_of(visitor) == code
    assert server.empty()


def test_a_flood_of_keys_ends_a_visit_and_frees_it(server: Any) -> None:
    with opened(server) as visitor:
        try:
            for k in range(3000):
                visitor.send(json.dumps({"type": "input", "seq": k, "keys": k % 256}))
        except ConnectionClosed:
            pass
        assert code_of(visitor) == 4002
    assert server.empty()


def test_a_visitor_who_vanishes_frees_his_session_and_his_recording_is_kept(server: Any) -> None:
    with opened(server) as visitor:
        visitor.send(json.dumps({"type": "record", "on": True}))
        pictures(visitor, 12)
        visitor.socket.shutdown(socket.SHUT_RDWR)  # no goodbye
        assert server.empty()
    from worldwright.take.reader import Take

    (kept,) = server.takes.glob("person-*.mcap")
    with Take.open(kept) as take:
        assert take.n_frames >= 6 and take.header.policy == "person"
    kept.unlink()


def test_a_player_that_dies_is_told_and_another_is_opened(server: Any) -> None:
    with opened(server) as visitor:
        for child in server.children():
            child.kill()
        told = []
        while not any("closed" in line for line in told):
            data = visitor.recv(timeout=30)
            told += [data] if isinstance(data, str) else []
        assert any("process ended" in line for line in told)
        visitor.send(json.dumps({"type": "open", "scene": 0}))
        assert pictures(visitor, 2)[-1]["frame"] >= 1
    assert server.empty()


def test_strangers_are_refused(server: Any) -> None:
    request = urllib.request.Request(server.address, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=10)
    with pytest.raises(InvalidStatus, match="403"), enter(server, origin="http://evil.example"):
        pass


def test_who_does_nothing_is_let_go_and_a_killed_server_leaves_no_process(
    serving: Any, courtyard_file: Path, tmp_path: Path
) -> None:
    server = serving(courtyard_file, tmp_path, "--token", "a-token-of-a-test-01", "--idle", "5")
    base, query = server.address.replace("http", "ws").split("?")
    with pytest.raises(InvalidStatus, match="403"), connect(f"{base}play"):
        pass
    with connect(f"{base}play?{query}", close_timeout=1) as idler:
        start = time.monotonic()
        assert code_of(idler) == 4003 and time.monotonic() - start >= 4
    with connect(f"{base}play?{query}", max_size=None, close_timeout=1) as visitor:
        visitor.send(json.dumps({"type": "open", "scene": 0}))
        pictures(visitor, 1)
        children = server.children()
        assert children
        server.stop(signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive


def test_what_cannot_be_served_is_one_line(cli: Any, courtyard_file: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = {
            f"--port {port}": cli("serve", courtyard_file, "--port", port),
        }
    (tmp_path / "model").mkdir()
    (tmp_path / "model/model.json").write_text("{")
    told["model"] = cli("serve", tmp_path / "model", "--port", 0)
    with pytest.raises(WorldwrightError, match=r"nowhere\.yaml"):
        find_source(tmp_path / "nowhere.yaml")
    with pytest.raises(WorldwrightError, match="is no model"):
        find_source(tmp_path)
    for words, done in told.items():
        assert done.returncode == 2 and words in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr
