"""From a name to what a suite tries: ours, a third party's by its entry point, or a bad one for the self-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from worldwright.conformance import arena
from worldwright.conformance.bad_engines import BAD_ENGINES
from worldwright.conformance.bad_renderers import BAD_RENDERERS
from worldwright.conformance.case import Case
from worldwright.conformance.engine_cases import ENGINE_CASES, EngineSubject
from worldwright.conformance.renderer_cases import RENDERER_CASES, RendererSubject
from worldwright.engine.protocol import Engine, Habits
from worldwright.engine.registry import habits_of, make_engine
from worldwright.render.protocol import Renderer
from worldwright.render.registry import make_renderer
from worldwright.world.files import load_world, resolve_packs
from worldwright.world.spec import World

Kind = Literal["engine", "renderer"]


@dataclass(frozen=True)
class Request:
    """What to try. ``world`` is a file for an engine that is to be tried in it, ``packs`` its packs' folders; ``device`` is a renderer's;
    ``bad`` names what is to be wrong with it."""

    kind: Kind
    name: str
    device: str = "auto"
    world: str | None = None
    packs: Mapping[str, str] = field(default_factory=dict)
    bad: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def cases_of(kind: Kind) -> Sequence[Case[Any]]:
    """The suite."""
    return ENGINE_CASES if kind == "engine" else RENDERER_CASES


def bad_of(kind: Kind) -> Mapping[str, tuple[Any, str]]:
    """What can be wrong, and the case that must fail then."""
    return BAD_ENGINES if kind == "engine" else BAD_RENDERERS


def engine_subject(request: Request, command: tuple[str, ...] = ()) -> EngineSubject:
    """The engine of a request. Raises WorldwrightError for a name that is not there, or a world that cannot be read."""

    def make() -> Engine:
        engine = make_engine(request.name)
        return engine if request.bad is None else BAD_ENGINES[request.bad][0](engine)

    engine = make_engine(request.name)
    world, packs = _world(request, engine)
    tick_rate = (habits_of(request.name) or Habits()).tick_rate
    return EngineSubject(request.name, make, world, packs, tick_rate, command)


def _world(request: Request, engine: Engine) -> tuple[World, dict[str, Path]]:
    if request.world is None:
        return engine.sample_world() or arena.arena_world(), {}
    path = Path(request.world)
    world = load_world(path)
    return world, resolve_packs(world, path, {name: Path(folder) for name, folder in request.packs.items()})


def renderer_subject(request: Request) -> RendererSubject:
    """The renderer of a request."""

    def make() -> Renderer:
        renderer = make_renderer(request.name, request.device)
        return renderer if request.bad is None else BAD_RENDERERS[request.bad][0](renderer)

    return RendererSubject(request.name, make)
