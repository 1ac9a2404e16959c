"""Runs a suite on an adapter in a process of its own: one that hangs or crashes fails the case at hand, and the rest is tried in another."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import IO, Any

from worldwright.conformance.subjects import Request, bad_of, cases_of, named
from worldwright.errors import WorldwrightError
from worldwright.verify.measure import failed, passed
from worldwright.verify.verdict import Check, Verdict

Progress = Callable[[int, int], None]
CASE_S = 180.0
"""A case that takes longer hangs."""


class _Child:
    """The process, and its answers as they come."""

    def __init__(self, request: Request) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "worldwright.conformance.child", json.dumps(request.as_dict())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        assert self.process.stdout is not None
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def ask(self, name: str, seconds: float) -> Check:
        """The check of a case. Raises WorldwrightError where the adapter cannot be tried at all."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: its last words are in the queue
        try:
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            self.kill()
            return failed(name, f"gives no answer in {seconds:g} s", value=seconds)
        if answer is None:
            return failed(name, f"the process ended by {self._end()}")
        if "error" in answer:
            raise WorldwrightError(**answer["error"])
        return Check(**answer["check"])

    def _end(self) -> str:
        code = self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return f"{how}: {lines[-1]}" if lines else how

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.errors.close()


def run_suite(
    request: Request, *, only: Sequence[str] | None = None, seconds: float = CASE_S, progress: Progress | None = None
) -> Verdict:
    """Every case of the suite (or ``only`` those), each of at most ``seconds`` seconds.

    Raises:
        WorldwrightError: no adapter of that name, or its package does not import; a world that cannot be read.
    """
    request, version = named(request)
    known = [case.name for case in cases_of(request)]
    if odd := [name for name in only or () if name not in known]:
        raise WorldwrightError(f"no case {odd[0]!r}", where="--case", fix=f"choose from {', '.join(known)}")
    names = [name for name in known if only is None or name in only]
    checks: list[Check] = []
    child: _Child | None = None
    try:
        for k, name in enumerate(names):
            if child is None or not child.alive:
                child = _Child(request)
            checks.append(child.ask(name, seconds))
            if progress:
                progress(k + 1, len(names))
    finally:
        if child is not None:
            child.kill()
    return Verdict(request.kind, f"{request.name} {version}".strip(), "", checks)


def self_test(request: Request, *, seconds: float = CASE_S, progress: Progress | None = None) -> Verdict:
    """Does the suite catch what is wrong? The adapter is made wrong in every way that we know; each must fail its case."""
    request, version = named(request)
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
