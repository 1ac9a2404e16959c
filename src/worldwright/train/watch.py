"""A training as a person follows it: a bar with loss, frames a second and time left; a line now and then where there is no terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from worldwright.train.loop import Report

EVERY = 30.0
"""Seconds between lines."""


class Watch:
    """Give its methods to ``train.run.train``."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[more]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._told = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def _show(self, name: str, done: int, total: int, more: str) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(name, total=total, more="")
        self._bar.update(self._tasks[name], completed=done, total=total, more=more)
        now = time.monotonic()
        if not self._console.is_terminal and (done == total or now - self._told > EVERY):
            self._told = now
            self._console.print(f"{name} {done}/{total} {more}".rstrip())

    def step(self, report: Report) -> None:
        """A step is made."""
        rate = report.frames / max(report.seconds, 1e-9)
        left = report.seconds / max(1, report.frames) * (report.steps - report.step) * report.frames / max(1, report.made)
        figures = ", ".join(f"{name} {value:.4g}" for name, value in report.figures.items())
        self._show(report.stage, report.step, report.steps, f"{figures}, {rate:.1f} frames/s, {left / 60:.1f} min left")

    def prepared(self, done: int, total: int) -> None:
        """Frames are prepared for the transformer."""
        self._show("prepare", done, total, "frames")
