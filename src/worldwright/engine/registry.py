"""Engines by name: the built-in one, and third parties' by the entry point group ``worldwright.engines``."""

from __future__ import annotations

from importlib.metadata import entry_points

from worldwright.engine.protocol import Engine
from worldwright.errors import WorldwrightError

GROUP = "worldwright.engines"


def engine_names() -> list[str]:
    """Names that ``make_engine`` knows, sorted."""
    return sorted({"panda", *(point.name for point in entry_points(group=GROUP))})


def make_engine(name: str) -> Engine:
    """A fresh engine. Raises WorldwrightError for a name that nobody has registered, or one whose package does not import."""
    if name == "panda":
        from worldwright.engine.panda import PandaEngine

        return PandaEngine()
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
