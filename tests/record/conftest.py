"""A small yard to play in: a floor, walls around it, a step, a crate, a door in a wall, a low beam."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldwright.engine.panda import PandaEngine
from worldwright.world.spec import World


def box(name: str, size: list[float], at: list[float], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "label": name.rstrip("0123456789"),
        "position": at,
        "parts": [{"geometry": {"shape": "box", "size": size}, "material": "grey"}],
        **more,
    }


def yard_spec(extra: list[dict[str, Any]] | None = None, **changes: Any) -> World:
    """12 x 8 m of floor at z = 0, walled in; the spawn is at (-4, 0), looking along +X."""
    entities = [
        box("floor", [12, 8, 0.5], [0, 0, -0.25]),
        box("wall1", [12, 0.2, 2.5], [0, 4, 1.25]),
        box("wall2", [12, 0.2, 2.5], [0, -4, 1.25]),
        box("wall3", [0.2, 8, 2.5], [6, 0, 1.25]),
        box("wall4", [0.2, 8, 2.5], [-6, 0, 1.25]),
        *(extra or []),
    ]
    document = {
        "name": "yard",
        "bounds": {"min": [-6, -4, -1], "max": [6, 4, 4]},
        "materials": {"grey": {}},
        "entities": entities,
        "spawns": [{"position": [-4, 0, 0.0]}],
    }
    return World.model_validate(document | changes)


CRATE = box("crate", [0.5, 0.5, 0.5], [0.5, 0.3, 0.25], body="dynamic", mass=8.0, pushable=True)
DIVIDER = [box("divider1", [0.2, 3.4, 2.5], [0, -2.2, 1.25]), box("divider2", [0.2, 3.4, 2.5], [0, 2.2, 1.25])]
"""A wall across the yard at x = 0 with a doorway of 1 m in the middle."""
DOOR = box(
    "door",
    [0.06, 0.94, 2.1],
    [0, 0, 1.07],
    body="dynamic",
    mass=12.0,
    joint={"kind": "hinge", "anchor": [0, -0.47, 0], "lower": -2.0, "upper": 2.0, "friction": 0.5},
)


@pytest.fixture
def yard() -> World:
    return yard_spec([CRATE])


@pytest.fixture
def two_rooms() -> World:
    return yard_spec([*DIVIDER, DOOR])


@pytest.fixture(scope="session")
def make_yard() -> Any:
    """``yard_spec`` and ``box``, which test modules cannot import."""
    return yard_spec, box


@pytest.fixture
def engine() -> Iterator[PandaEngine]:
    engine = PandaEngine()
    yield engine
    engine.close()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "t.mcap"
