"""The server's hold on a process in which a world is played (``child.py``)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.serve.wire import LENGTHS, lengths_of, pack_message

OPEN_S = 120.0
"""Seconds for loading a world or a model."""
ANSWER_S = 30.0
"""Seconds after which a process that does not answer hangs."""
GRACE_S = 5.0
"""Seconds for closing a recording at the end."""


class Player:
    """One process. Requests are answered one after another; ask for the next when the last is answered."""

    def __init__(self, process: asyncio.subprocess.Process, errors: Any) -> None:
        self._process, self._errors = process, errors
        self.kind, self.fps, self.width, self.height = "", 0, 0, 0

    @classmethod
    async def open(cls, scene: Mapping[str, Any]) -> Player:
        """Start a process and open a scene in it. Raises WorldwrightError in the process's own words."""
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "worldwright.serve.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env=os.environ | {"OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "PASSIVE")},  # several of them share the cores
            limit=1 << 20,
        )
        player = cls(process, errors)
        try:
            head, _ = await player.ask({"do": "open", "scene": dict(scene)}, patience=OPEN_S)
        except BaseException:
            await player.close(grace=0.0)
            raise
        player.kind, player.fps, player.width, player.height = head["kind"], head["fps"], head["width"], head["height"]
        return player

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    async def ask(self, request: Mapping[str, Any], *, patience: float = ANSWER_S) -> tuple[dict[str, Any], bytes]:
        """The answer to a request. Raises WorldwrightError: what the session says, or how the process ended, or that it hangs; in the last
        two cases it is gone."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            async with asyncio.timeout(patience):
                self._process.stdin.write(pack_message(request))
                await self._process.stdin.drain()
                head_size, body_size = lengths_of(await self._process.stdout.readexactly(LENGTHS.size))
                data = await self._process.stdout.readexactly(head_size + body_size)
        except TimeoutError:
            await self.close(grace=0.0)
            raise WorldwrightError(
                f"did not answer for {patience:g} s and was ended", where="player", fix="open it again"
            ) from None
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            await self.close(grace=0.0)
            raise WorldwrightError(
                f"its process ended ({self._process.returncode}){self._last_words()}", where="player", fix="open it again"
            ) from None
        head: dict[str, Any] = json.loads(data[:head_size])
        if "error" in head:
            raise WorldwrightError(head["error"])
        return head, data[head_size:]

    def _last_words(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""

    async def close(self, grace: float = GRACE_S) -> None:
        """Let it keep what it records and end; kill it if that takes longer than ``grace`` seconds."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None:
            try:
                async with asyncio.timeout(grace):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
