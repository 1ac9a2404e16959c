"""Engines by name: the built-in one, and third parties' by the entry point group ``worldwright.engines``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec

from worldwright.engine.protocol import Engine, Habits
from worldwright.errors import WorldwrightError

GROUP = "worldwright.engines"


def _panda() -> Engine:
    from worldwright.engine.panda import PandaEngine

    return PandaEngine()


def _vizdoom() -> Engine:
    from worldwright.engine.vizdoom import VizdoomEngine

    return VizdoomEngine()


_OURS: dict[str, Callable[[], Engine]] = {"panda": _panda, "vizdoom": _vizdoom}
_HABITS = {"panda": Habits(), "vizdoom": Habits(35, 35, 35, ("first",))}
_NEEDS = {"vizdoom": "vizdoom"}
"""The package that an engine of ours is for, where it is an extra."""


def engine_names() -> list[str]:
    """Names that ``make_engine`` knows, sorted."""
    ours = (name for name in _OURS if name not in _NEEDS or find_spec(_NEEDS[name]) is not None)
    return sorted({*ours, *(point.name for point in entry_points(group=GROUP))})


def make_engine(name: str) -> Engine:
    """A fresh engine. Raises WorldwrightError for a name that nobody has registered, or one whose package does not import."""
    if name in _OURS:
        try:
            return _OURS[name]()
        except ImportError as error:
            raise WorldwrightError(
                f"engine {name!r} does not import: {error}", fix=f"pip install 'worldwright[{_NEEDS.get(name, name)}]'"
            ) from error
    for point in entry_points(group=GROUP):
        if point.name == name:
            try:
                engine: Engine = point.load()()
            except ImportError as error:
                raise WorldwrightError(
                    f"engine {name!r} ({point.value}) does not import: {error}", fix="install what it needs"
                ) from error
            return engine
    raise WorldwrightError(f"no engine {name!r}", fix=f"there are: {', '.join(engine_names())}")


def habits_of(name: str) -> Habits | None:
    """How an engine of ours is used unless somebody says otherwise; None for others: those are told in full."""
    return _HABITS.get(name)
