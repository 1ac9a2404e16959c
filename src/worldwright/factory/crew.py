"""The child processes of a run: at most one a slot at work, and as many that wait, warm, for the next task of their kind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from worldwright.factory.child import GRACE_S, Child
from worldwright.factory.plan import Task

TASKS_A_CHILD = 64
"""Then a child ends and a fresh one takes its place: what a library leaks stays small."""


@dataclass(slots=True)
class _Idle:
    child: Child
    source: str


class Crew:
    """Children by what they do. For one thread: the one that starts tasks."""

    def __init__(self, slots: int, threads: int) -> None:
        self.slots, self._threads = slots, threads
        self.busy: dict[str, tuple[Task, Child]] = {}
        self._idle: list[_Idle] = []

    def has_room(self) -> bool:
        """Whether a task may start."""
        return len(self.busy) < self.slots

    def choose(self, ready: Sequence[Task]) -> Task:
        """The task to start next: one whose take a waiting child knows, else one whose take nobody is at work on, so that the other
        tasks of that take can follow in the same child; else the first."""
        known = {(idle.child.kind, idle.source) for idle in self._idle}
        at_work = {(task.kind, task.source) for task, _ in self.busy.values()}
        return min(ready, key=lambda t: ((t.kind, t.source) not in known, (t.kind, t.source) in at_work))

    def take(self, task: Task) -> Child:
        """A child for this task."""
        self._idle = [idle for idle in self._idle if idle.child.alive]
        fit = sorted((idle for idle in self._idle if idle.child.kind == task.kind), key=lambda idle: idle.source != task.source)
        if fit:
            self._idle.remove(fit[0])
            child = fit[0].child
        else:
            child = Child(task.kind, threads=self._threads)
        self.busy[task.id] = (task, child)
        return child

    def give_back(self, task: Task, *, well: bool) -> None:
        """The task has ended. A child that failed is not used again: mostly it has ended too."""
        _, child = self.busy.pop(task.id)
        if not well:
            child.interrupt()
        if not well or child.tasks >= TASKS_A_CHILD:
            child.close()
            return
        self._idle.append(_Idle(child, task.source))
        if len(self._idle) > self.slots:
            self._idle.pop(0).child.close()

    def dismiss(self) -> None:
        """End all: those at work are asked to leave what they do in good order."""
        children = [child for _, child in self.busy.values()] + [idle.child for idle in self._idle]
        for _, child in self.busy.values():
            child.interrupt()
        until = time.monotonic() + GRACE_S  # for all of them together
        for child in children:
            child.close(until - time.monotonic())
        self.busy.clear()
        self._idle.clear()
