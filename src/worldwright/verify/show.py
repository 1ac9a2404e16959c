"""A verdict for people: a table of checks, and for each failure the frame, the value and the limit."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from worldwright.verify.verdict import Check, Verdict


def _number(value: float | str | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.6g}"


def _state(check: Check) -> str:
    if check.skipped:
        return "[yellow]skipped[/]"
    return "[green]holds[/]" if check.passed else "[bold red]FAILS[/]"


def print_verdict(verdict: Verdict, console: Console | None = None) -> None:
    """Print the table of checks and one line a failure."""
    console = console or Console()
    table = Table(title=f"{verdict.kind} {escape(verdict.subject)}", title_justify="left", show_lines=False)
    for column in ("check", "", "score", "what was found"):
        table.add_column(column, overflow="fold")
    for check in verdict.checks:
        score = "" if check.skipped else f"{check.score:.3f}"
        table.add_row(check.name, _state(check), score, escape(check.message))
    console.print(table)
    for check in verdict.failures:
        where = "" if check.frame is None else f" frame {check.frame}:"
        value = _number(check.value)
        limit = _number(check.limit)
        numbers = f" (value {value}, limit {limit})" if value or limit else ""
        console.print(f"[bold red]fails[/] {escape(check.name)}:{where} {escape(check.message)}{escape(numbers)}")
    skipped = sum(check.skipped for check in verdict.checks)
    held = sum(check.passed for check in verdict.checks)
    end = "[green]verified[/]" if verdict.passed else "[bold red]not verified[/]"
    console.print(f"{end}: {held} checks hold, {len(verdict.failures)} fail, {skipped} skipped")
