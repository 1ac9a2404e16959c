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
_EXTRAS = ("vizdoom",)
"""Those of ours that need a package of their name, and are an extra of that name."""


def _installed(name: str) -> bool:
    return name not in _EXTRAS or find_spec(name) is not None


def engine_names() -> list[str]:
    """Names that ``make_engine`` knows, sorted."""
    return sorted({*filter(_installed, _OURS), *(point.name for point in entry_points(group=GROUP))})


def make_engine(name: str) -> Engine:
    """A fresh engine. Raises WorldwrightError for a name that nobody has registered, or one whose package does not import."""
    if name in _OURS:
        if not _installed(name):
            raise WorldwrightError(
                f"engine {name!r} is not installed",
                where="engine",
                fix=f"in the checkout: .venv/bin/pip install -e '.[{name}]'; or choose one of {', '.join(engine_names())}",
            )
        return _OURS[name]()
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
