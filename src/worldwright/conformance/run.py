"""Runs a suite on an adapter in a process of its own: one that hangs or crashes fails the case at hand, and the rest is tried in another."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import IO, Any

from worldwright.conformance.subjects import Request, bad_of, cases_of
from worldwright.errors import WorldwrightError
from worldwright.verify.measure import failed, passed
from worldwright.verify.verdict import Check, Verdict

Progress = Callable[[int, int], None]
CASE_S = 180.0
"""A case that takes longer hangs."""
SETTLE_S = 0.2
"""How long the last answers of a process that has ended may be on their way."""


class _Child:
    """The process, and its answers as they come. First it says who the adapter is. What an adapter starts itself ends with it."""

    def __init__(self, request: Request) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "worldwright.conformance.child", json.dumps(request.as_dict())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )
        self._answers: queue.Queue[str | None] = queue.Queue()
        assert self._process.stdout is not None
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()

    def _listen(self, stream: IO[str]) -> None:
        with contextlib.suppress(ValueError):  # closed under it
            for line in stream:
                self._answers.put(line)

    def _wait(self) -> None:
        self._process.wait()  # not for the end of the pipe: a child of the adapter's may hold that open
        time.sleep(SETTLE_S)
        self._answers.put(None)

    def who(self, request: Request, seconds: float) -> tuple[Request, str]:
        """The request as the adapter answers it, and its version. Raises WorldwrightError where it cannot be loaded, in that time."""
        answer = self._next(seconds)
        if isinstance(answer, str):
            raise WorldwrightError(f"{request.kind} {request.name!r} {answer} while it was loaded")
        bound, version = answer["named"]
        return replace(request, bound=bound), version

    def ask(self, name: str, seconds: float) -> Check:
        """The check of a case."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: that is the answer
            self._process.stdin.write(name + "\n")
            self._process.stdin.flush()
        answer = self._next(seconds)
        return failed(name, answer) if isinstance(answer, str) else Check(**answer["check"])

    def _next(self, seconds: float) -> dict[str, Any] | str:
        """The next answer, or what happened instead of one; then the process has ended."""
        try:
            line = self._answers.get(timeout=seconds)
            if line is None:
                return f"ended its process by {self._end()}"
            answer = json.loads(line)
            if "error" in answer:
                raise WorldwrightError(**answer["error"])
            if not {"named", "check"} & set(answer):
                raise ValueError
        except queue.Empty:
            self.kill()
            return f"gives no answer in {seconds:g} s"
        except (ValueError, TypeError):
            self.kill()
            return "wrote something that is no answer"
        return dict(answer)

    def _end(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return f"{how}: {lines[-1]}" if lines else how

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it and all that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def run_suite(
    request: Request, *, only: Sequence[str] | None = None, seconds: float = CASE_S, progress: Progress | None = None
) -> Verdict:
    """Every case of the suite (or ``only`` those), each of at most ``seconds`` seconds.

    Raises:
        WorldwrightError: no adapter of that name, or its package does not import; a world that cannot be read.
    """
    checks: list[Check] = []
    child = _Child(request)
    try:
        request, version = child.who(request, seconds)
        known = [case.name for case in cases_of(request)]
        if odd := [name for name in only or () if name not in known]:
            raise WorldwrightError(f"no case {odd[0]!r}", where="--case", fix=f"choose from {', '.join(known)}")
        names = [name for name in known if only is None or name in only]
        for k, name in enumerate(names):
            if not child.alive:
                child.kill()
                child = _Child(request)
                child.who(request, seconds)
            checks.append(child.ask(name, seconds))
            if progress:
                progress(k + 1, len(names))
    finally:
        child.kill()
    return Verdict(request.kind, f"{request.name} {version}".strip(), "", checks)


def self_test(request: Request, *, seconds: float = CASE_S, progress: Progress | None = None) -> Verdict:
    """Does the suite catch what is wrong? The adapter is made wrong in every way that we know; each must fail its case."""
    child = _Child(request)
    try:
        request, version = child.who(request, seconds)
    finally:
        child.kill()
    wrongs = bad_of(request)
    checks: list[Check] = []
    for k, (wrong, (_, case)) in enumerate(wrongs.items()):
        (check,) = run_suite(replace(request, bad=wrong), only=[case], seconds=seconds).checks
        name = wrong.replace(" ", "_")
        if check.skipped:
            checks.append(replace(check, name=name))
        elif check.passed:
            checks.append(failed(name, f"{case} does not notice: {check.message}"))
        else:
            checks.append(passed(name, f"caught by {case}: {check.message}"))
        if progress:
            progress(k + 1, len(wrongs))
    return Verdict(f"self-test of the {request.kind} suite with", f"{request.name} {version}", "", checks)
