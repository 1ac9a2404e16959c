"""From a name to what a suite tries: ours, a third party's by its entry point, or a bad one for the self-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from worldwright.conformance import arena
from worldwright.conformance.bad_engines import BAD_ENGINES
from worldwright.conformance.bad_renderers import BAD_BOUND, BAD_RENDERERS
from worldwright.conformance.bound_cases import BOUND_CASES, BoundSubject
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
    bound: str | None = None
    """The engine whose takes alone a renderer shows: it has a suite of its own."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def cases_of(request: Request) -> Sequence[Case[Any]]:
    """The suite."""
    if request.kind == "engine":
        return ENGINE_CASES
    return RENDERER_CASES if request.bound is None else BOUND_CASES


def bad_of(request: Request) -> Mapping[str, tuple[Any, str]]:
    """What can be wrong, and the case that must fail then."""
    if request.kind == "engine":
        return BAD_ENGINES
    return BAD_RENDERERS if request.bound is None else BAD_BOUND


def named(request: Request) -> tuple[Request, str]:
    """The request as the adapter answers it, and the adapter's version; made only to be asked, so that a missing one is told before anything
    runs. Raises WorldwrightError for a name that is not there."""
    if request.kind == "engine":
        return request, str(make_engine(request.name).version)
    renderer = make_renderer(request.name, request.device)
    try:
        return replace(request, bound=renderer.engine), f"{renderer.version} on {renderer.device}"
    finally:
        renderer.close()


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


def renderer_subject(request: Request) -> RendererSubject | BoundSubject:
    """The renderer of a request."""

    def make() -> Renderer:
        renderer = make_renderer(request.name, request.device)
        return renderer if request.bad is None else bad_of(request)[request.bad][0](renderer)

    return RendererSubject(request.name, make) if request.bound is None else BoundSubject(request.name, request.bound, make)
