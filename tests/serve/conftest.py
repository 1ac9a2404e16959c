"""A real server in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest


@dataclass
class Server:
    address: str
    process: subprocess.Popen[str]
    takes: Path

    def health(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address}health", timeout=10) as answer:
            return dict(json.load(answer))

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def empty(self, seconds: float = 20.0) -> bool:
        """Whether everybody has gone, processes too, within so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.health()["visitors"] == 0 and not self.children():
                return True
            time.sleep(0.1)
        return False

    def stop(self, how: int = signal.SIGINT) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)


def start(world: Path, takes: Path, *more: str) -> Server:
    command = [sys.executable, "-m", "worldwright", "serve", str(world), "--port", "0", "--size", "160x90", "--device", "cpu"]
    process = subprocess.Popen(
        [*command, "--takes", str(takes), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("http://"), line
    return Server(line.split()[0], process, takes)


@pytest.fixture(scope="session")
def serving() -> Any:
    return start


@pytest.fixture(scope="module")
def server(courtyard_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start(courtyard_file, tmp_path_factory.mktemp("takes"), "--visitors", "2")
    yield server
    assert server.stop() == 130
