"""Shows a run: a bar a running task and one line for each that ended; plain lines where nobody watches a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from worldwright.factory.local import Happening, Watcher
from worldwright.factory.plan import Plan


@contextmanager
def watcher(plan: Plan, console: Console) -> Iterator[Watcher]:
    """A watcher for ``run_plan``; its bars go away when the run ends, its lines stay."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        overall = bars.add_task(f"[bold]{plan.recipe.name}", total=len(plan.tasks))
        rows: dict[str, TaskID] = {}
        ended = 0

        def say(line: str) -> None:
            (bars.console if console.is_terminal else console).print(line, highlight=False, markup=False)

        def watch(h: Happening) -> None:
            nonlocal ended
            title = f"{h.task.kind} {h.task.name}"
            match h.what:
                case "start":
                    rows[h.task.id] = bars.add_task(title, total=None)
                case "progress":
                    if h.task.id in rows:
                        bars.update(rows[h.task.id], completed=h.done, total=h.total)
                case _:
                    ended += 1
                    if h.task.id in rows:
                        bars.remove_task(rows.pop(h.task.id))
                    bars.update(overall, completed=ended)
                    words = {"done": "made", "kept": "kept", "failed": "FAILED", "held": "held back"}[h.what]
                    say(f"[{ended}/{len(plan.tasks)}] {words}: {title}" + (f": {h.message}" if h.message else ""))

        yield watch
