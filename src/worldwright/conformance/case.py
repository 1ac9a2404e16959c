"""A case of a suite: one thing that every adapter must do, and how it is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from worldwright.errors import WorldwrightError
from worldwright.verify.measure import failed
from worldwright.verify.verdict import Check

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Case(Generic[Subject]):
    """``run`` gets the subject (an engine or a renderer, and how to make one anew) and gives a check of the case's name."""

    name: str
    what: str
    run: Callable[[Subject], Check]


def run_case(case: Case[Subject], subject: Subject) -> Check:
    """The case's check; an adapter that raises fails it with its own words on one line."""
    try:
        return case.run(subject)
    except WorldwrightError as error:
        return failed(case.name, f"refused: {error.line()}")
    except Exception as error:  # an adapter may raise anything, and the next case may hold
        text = " ".join(str(error).split())[:300]
        return failed(case.name, f"raised {type(error).__name__}: {text}")
