"""Runs a task in a child process: its crash, its memory and its graphics driver are its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from worldwright.errors import WorldwrightError

GRACE_S = 10.0
"""How long a child may take to clean up before it is killed."""


def _signal_name(code: int) -> str:
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"exit status {code}"


class Child:
    """One running task. ``run`` blocks until it ends; ``stop`` may be called from another thread."""

    def __init__(self, kind: str, args: Mapping[str, Any], *, threads: int | None = None) -> None:
        self.kind, self.args = kind, dict(args)
        env = dict(os.environ)
        if threads is not None:
            # llvmpipe starts a thread a core in every process; with several processes that only makes them wait for each other.
            env.setdefault("LP_NUM_THREADS", str(threads))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        # Its own session: a Ctrl-C in the terminal reaches the parent alone, which stops its children in order.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "worldwright.factory.task"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=env,
            text=True,
            start_new_session=True,
        )

    def run(self, progress: Callable[[int, int], None]) -> dict[str, Any]:
        """The task's answer. Raises WorldwrightError with the child's own line, or with how it died."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"kind": self.kind, "args": self.args}))
            process.stdin.close()
        answer: dict[str, Any] | None = None
        for line in process.stdout:
            message = json.loads(line)
            if "progress" in message:
                progress(*message["progress"])
            else:
                answer = message
        code = process.wait()
        process.stdout.close()
        if answer is not None and "error" in answer:
            raise WorldwrightError(answer["error"])
        if answer is None or code != 0:
            raise WorldwrightError(
                f"the {self.kind} process ended by {_signal_name(code)}{self._last_words()}", where=str(self.args.get("out", ""))
            )
        return answer

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def interrupt(self) -> None:
        """Ask the child to end, so that it removes or keeps its partial output properly."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        """Wait for a child that was interrupted to end, and kill it if it takes too long."""
        if self._process.poll() is None:
            try:
                self._process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
