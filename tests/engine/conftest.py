"""Small worlds and somebody to walk in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from worldwright.controls import Control
from worldwright.engine.panda import PandaEngine
from worldwright.engine.protocol import CharacterState, Event, State
from worldwright.world.spec import World

Keys = int | Callable[[int], int]


def box(name: str, size: tuple[float, float, float], position: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    """An entity of one box."""
    return thing(name, {"shape": "box", "size": size}, position, **more)


def thing(name: str, geometry: dict[str, Any], position: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    """An entity of one part."""
    return {"name": name, "label": "thing", "position": position, "parts": [{"geometry": geometry, "material": "m"}], **more}


def ramp(angle_deg: float, run: float = 8.0) -> dict[str, Any]:
    """A wedge that rises towards +X from x = 1, y = -3..3."""
    rise = run * math.tan(math.radians(angle_deg))
    return thing("ramp", {"shape": "wedge", "size": (run, 6, rise)}, (1 + run / 2, 0, rise / 2))


def stairs(height: float, count: int = 4, tread: float = 0.3) -> list[dict[str, Any]]:
    """Steps that rise towards +X from x = 1."""
    return [
        box(f"step{k}", (8 - tread * k, 4, height * (k + 1)), (1 + tread * k + (8 - tread * k) / 2, 0, height * (k + 1) / 2))
        for k in range(count)
    ]


def about_z(angle: float) -> tuple[float, float, float, float]:
    """A quaternion."""
    return (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))


def make_world(
    *entities: Any, spawn: tuple[float, float, float] = (0, 0, 0), yaw: float = 0.0, floor: bool = True, **more: Any
) -> World:
    """A world on a floor whose top is z = 0, with the entities in it; lists of entities are taken apart."""
    flat = [e for item in entities for e in (item if isinstance(item, list) else [item])]
    ground = [box("floor", (60, 60, 1), (0, 0, -0.5), label="floor")] if floor else []
    document = {
        "name": "test",
        "bounds": {"min": (-50, -50, -10), "max": (50, 50, 200)},
        "materials": {"m": {}},
        "entities": ground + flat,
        "spawns": [{"position": spawn, "yaw": yaw}],
    }
    return World.model_validate(document | more)


@dataclass
class Played:
    """What happened in a run: the engine (still running) and every state."""

    engine: PandaEngine
    states: list[State] = field(default_factory=list)

    @property
    def last(self) -> CharacterState:
        return self.states[-1].characters[0]

    @property
    def events(self) -> list[Event]:
        return [event for state in self.states for event in state.events]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    @property
    def path(self) -> Any:
        return np.array([state.characters[0].position for state in self.states])

    def flags(self, start: int = 0) -> list[int]:
        return [state.characters[0].flags for state in self.states[start:]]

    def body(self, index: int = 0) -> Any:
        return np.array([state.positions[index] for state in self.states])


def play(world: World, keys: Keys = 0, seconds: float = 1.0, mouse: Callable[[int], tuple[int, int]] | None = None) -> Played:
    """Hold keys (a mask, or a function of the tick) for a while; a state a tick."""
    engine = PandaEngine()
    engine.load(world, {})
    played = Played(engine)
    for tick in range(round(seconds * engine.tick_rate)):
        dx, dy = mouse(tick) if mouse else (0, 0)
        engine.tick(Control(keys(tick) if callable(keys) else keys, dx, dy))
        played.states.append(engine.state())
    return played


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """The helpers above, for tests that cannot import this file."""
    return SimpleNamespace(box=box, thing=thing, ramp=ramp, stairs=stairs, about_z=about_z, world=make_world, play=play)
