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
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from worldwright.errors import WorldwrightError
from worldwright.render.run import RenderReport

Progress = Callable[[int, int], None]
GRACE_S = 10.0
"""How long a child may take to clean up before it is killed."""
PATIENCE_S = 1800.0
"""A child that says nothing for so long hangs: a picture of many samples takes minutes, never half an hour."""


class Child:
    """A process for tasks of one kind. ``run`` blocks until a task ends; ``interrupt`` and ``stop`` may be called from another thread."""

    def __init__(self, kind: str, *, threads: int | None = None, patience: float = PATIENCE_S) -> None:
        self.kind, self.tasks, self._patience = kind, 0, patience
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
        """One task's answer. Raises WorldwrightError with the child's own words, or with how it died or that it hung; then the child has
        ended."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        self.tasks += 1
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(args) + "\n")
            process.stdin.flush()
        with _Watchdog(self._patience, self._give_up) as dog:
            for line in process.stdout:
                dog.heard()
                message = json.loads(line)
                if "progress" in message:
                    progress(*message["progress"])
                elif "error" in message:
                    self.close()
                    raise WorldwrightError(**message["error"])
                else:
                    return dict(message)
            code = process.wait()
        if dog.barked:
            raise WorldwrightError(
                f"the {self.kind} process did nothing for {self._patience:g} s and was ended",
                where=str(args.get("out", "")),
                fix="run again, or give it longer with --timeout",
            )
        raise WorldwrightError(
            f"the {self.kind} process ended by {_how(code)}{self._last_words()}",
            where=str(args.get("out", "")),
            fix="run again: it goes on where it stopped",
        )

    def _give_up(self) -> None:
        self.interrupt()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

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


class _Watchdog:
    """Calls ``bark`` in a thread of its own when nothing was ``heard`` for ``patience`` seconds."""

    def __init__(self, patience: float, bark: Callable[[], None]) -> None:
        self.barked = False
        self._patience, self._bark = patience, bark
        self._heard, self._over = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._heard.set()
        self._thread.join()

    def heard(self) -> None:
        """It lives."""
        self._heard.set()

    def _watch(self) -> None:
        while self._heard.wait(self._patience):
            self._heard.clear()
            if self._over:
                return
        self.barked = True
        self._bark()


def _how(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit status {code}"


def in_process(
    kind: str, args: Mapping[str, Any], progress: Progress | None = None, *, patience: float = PATIENCE_S
) -> dict[str, Any]:
    """The result of one task (``factory.task``) in a child process of its own. Ctrl-C ends the child too."""
    child = Child(kind, patience=patience)
    try:
        answer = child.run(args, progress or (lambda _done, _total: None))
    except BaseException:
        child.interrupt()
        raise
    finally:
        child.close()
    return dict(answer["result"])


def render_in_process(
    take: Path, out: Path, *, progress: Progress | None = None, patience: float = PATIENCE_S, **options: Any
) -> RenderReport:
    """``render.run.render_shot`` in a child process of its own; the same arguments, errors and report."""
    packs = {name: str(folder) for name, folder in (options.pop("packs", None) or {}).items()}
    args = {"take": str(take), "out": str(out), "packs": packs, **options}
    return RenderReport(**in_process("render", args, progress, patience=patience))
