"""Runs tasks in a child process: its crash, its memory and its graphics driver are its own.

A child does one kind of task, one after another, and keeps what is costly to set up between them. After an error it is not used again.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.render.run import RenderReport

Progress = Callable[[int, int], None]
GRACE_S = 10.0
"""How long a child may take to clean up before it is killed."""


class Child:
    """A process for tasks of one kind. ``run`` blocks until a task ends; ``interrupt`` and ``stop`` may be called from another thread."""

    def __init__(self, kind: str, *, threads: int | None = None) -> None:
        self.kind, self.tasks = kind, 0
        env = dict(os.environ)
        if threads is not None:
            # llvmpipe starts a thread a core in every process; with several processes that only makes them wait for each other.
            env.setdefault("LP_NUM_THREADS", str(threads))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        # Its own session: a Ctrl-C in the terminal reaches the parent alone, which stops its children in order.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "worldwright.factory.task", kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=env,
            text=True,
            start_new_session=True,
        )

    @property
    def alive(self) -> bool:
        """Whether it can be given a task: it may have been killed while it waited."""
        return self._process.poll() is None

    def run(self, args: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """One task's answer. Raises WorldwrightError with the child's own words, or with how it died; then the child has ended."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        self.tasks += 1
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(args) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            message = json.loads(line)
            if "progress" in message:
                progress(*message["progress"])
            elif "error" in message:
                self.close()
                raise WorldwrightError(**message["error"])
            else:
                return dict(message)
        code = process.wait()
        raise WorldwrightError(
            f"the {self.kind} process ended by {_how(code)}{self._last_words()}",
            where=str(args.get("out", "")),
            fix="run again: it goes on where it stopped",
        )

    def _last_words(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def interrupt(self) -> None:
        """Ask the child to end, so that it removes or keeps its partial output properly."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self, grace: float = GRACE_S) -> None:
        """Let a child that has nothing to do, or that was interrupted, end; kill it if that takes longer than ``grace`` seconds."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(max(grace, 0.1))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _how(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit status {code}"


def render_in_process(take: Path, out: Path, *, progress: Progress | None = None, **options: Any) -> RenderReport:
    """``render.run.render_shot`` in a child process of its own; the same arguments, errors and report. Ctrl-C ends the child too."""
    packs = {name: str(folder) for name, folder in (options.pop("packs", None) or {}).items()}
    child = Child("render")
    try:
        args = {"take": str(take), "out": str(out), "packs": packs, **options}
        answer = child.run(args, progress or (lambda _done, _total: None))
    except BaseException:
        child.interrupt()
        raise
    finally:
        child.close()
    return RenderReport(**answer["result"])
