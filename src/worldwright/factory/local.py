"""Runs a plan on this machine: as many tasks at once as there are slots, each in a child process, going on where it stopped."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.factory.child import Child
from worldwright.factory.crew import Crew
from worldwright.factory.plan import Plan, Task
from worldwright.outputs import write_text


@dataclass(frozen=True, slots=True)
class Happening:
    """What a run tells its watcher: ``what`` in {"start", "progress", "done", "kept", "failed", "held"}."""

    task: Task
    what: str
    done: int = 0
    total: int = 0
    message: str = ""


Watcher = Callable[[Happening], None]


@dataclass(slots=True)
class Outcome:
    """What became of a plan: answers by task id, errors by task id, and what could not be tried because something it needs failed."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    wall_s: float = 0.0


def default_slots() -> int:
    """One task a core."""
    return max(1, len(os.sched_getaffinity(0)))


def finished(plan: Plan, task: Task) -> dict[str, Any] | None:
    """The kept answer of a task that was made before and whose output is still there, or None."""
    path = plan.record_path(task)
    if not (path.is_file() and task.has_output()):
        return None
    try:
        record = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError):
        return None
    # A dataset that was packed while some shots were missing is packed again when they may be there.
    kept = (
        isinstance(record, dict) and record.get("id") == task.id and record.get("kind") == task.kind and not record.get("partial")
    )
    return record if kept and isinstance(record.get("result"), dict) and record.get("bytes") == _size(task) else None


def _size(task: Task) -> int | None:
    """Bytes of a task's output that is one file. A folder has its own manifest."""
    return task.out.stat().st_size if task.out.is_file() else None


@contextmanager
def only_one(folder: Path, name: str) -> Iterator[None]:
    """The folder of the run of recipe ``name``: refuse one that is anything else, and a second run in it at the same time. The lock
    goes with the process, however that ends; the name stays in it."""
    lock, fix = folder / ".lock", "name another folder"
    if folder.exists() and not lock.is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise WorldwrightError("exists and is not the folder of a run", where=str(folder), fix=fix)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = lock.open("a+", encoding="utf-8", errors="replace")
    except OSError as error:
        raise WorldwrightError(f"cannot be written ({error.strerror})", where=str(folder), fix=fix) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorldwrightError(
                "another run is at work in this folder", where=str(folder), fix="wait for it, or name another folder"
            ) from None
        file.seek(0)
        known = file.read(256).strip()
        if known not in ("", name):
            raise WorldwrightError(f"is the run of recipe {known!r}, this is {name!r}", where=str(folder), fix=fix)
        if not known:
            file.write(name)
            file.flush()
        yield


def run_plan(plan: Plan, watch: Watcher, *, slots: int | None = None) -> Outcome:
    """Run what is not made yet. A failed task does not stop the others; Ctrl-C stops all children and raises KeyboardInterrupt."""
    slots = slots or default_slots()
    threads = max(1, default_slots() // slots)
    outcome = Outcome()
    started = time.perf_counter()
    waiting: list[Task] = []
    for task in plan.tasks:
        # What was made from something that is made again is made again: its bytes may differ. A dataset compares them itself.
        stale = task.kind != "pack" and any(need not in outcome.answers for need in task.needs)
        record = None if stale else finished(plan, task)
        if record is not None:
            outcome.answers[task.id] = record
            watch(Happening(task, "kept"))
        else:
            waiting.append(task)
    ended: queue.SimpleQueue[tuple[Task, dict[str, Any] | None, str]] = queue.SimpleQueue()
    crew = Crew(slots, threads)

    def work(task: Task, child: Child, args: Mapping[str, Any]) -> None:
        try:
            answer = child.run(args, lambda done, total: watch(Happening(task, "progress", done, total)))
            ended.put((task, answer, ""))
        except WorldwrightError as error:
            ended.put((task, None, error.line()))
        except Exception as error:  # whatever it was: a thread that ended without a word would be waited for, for ever
            ended.put((task, None, " ".join(f"{type(error).__name__}: {error}".split())))

    try:
        while waiting or crew.busy:
            _hold(waiting, outcome, watch)
            while crew.has_room() and (
                ready := [t for t in waiting if all(need in outcome.answers for need in _needs(t, outcome))]
            ):
                task = crew.choose(ready)
                waiting.remove(task)
                watch(Happening(task, "start"))
                task.out.parent.mkdir(parents=True, exist_ok=True)
                threading.Thread(target=work, args=(task, crew.take(task), _args(task, outcome)), daemon=True).start()
            if not crew.busy:
                continue
            task, answer, error = ended.get()
            crew.give_back(task, well=answer is not None)
            if answer is None:
                outcome.errors[task.id] = error
                watch(Happening(task, "failed", message=error))
                continue
            record = {
                "id": task.id,
                "kind": task.kind,
                "name": task.name,
                "needs": list(task.needs),
                "out": str(task.out.relative_to(plan.folder)),
                **answer,
            }
            record["bytes"] = _size(task)
            record["partial"] = task.kind == "pack" and len(_args(task, outcome)["shots"]) < len(task.args["shots"])
            write_text(plan.record_path(task), json.dumps(record, indent=1))
            outcome.answers[task.id] = record
            watch(Happening(task, "done"))
    finally:
        crew.dismiss()
    outcome.wall_s = time.perf_counter() - started
    return outcome


def _needs(task: Task, outcome: Outcome) -> list[str]:
    # A dataset is packed from the shots that are there and true: it waits for the others but does not fall with them.
    if task.kind == "pack":
        return [need for need in task.needs if need not in outcome.errors and need not in outcome.held]
    return list(task.needs)


def _args(task: Task, outcome: Outcome) -> Mapping[str, Any]:
    if task.kind != "pack":
        return task.args
    true = {record["out"] for record in outcome.answers.values() if record["kind"] == "verify" and record["result"]["passed"]}
    verdicts = {shot: file for shot, file in task.args["verdicts"].items() if any(file.endswith(out) for out in true)}
    return {**task.args, "shots": [shot for shot in task.args["shots"] if shot in verdicts], "verdicts": verdicts}


def _hold(waiting: list[Task], outcome: Outcome, watch: Watcher) -> None:
    for task in list(waiting):
        lost = [need for need in task.needs if need in outcome.errors or need in outcome.held]
        if lost and (task.kind != "pack" or len(lost) == len(task.needs)):
            waiting.remove(task)
            outcome.held.append(task.id)
            watch(Happening(task, "held"))
