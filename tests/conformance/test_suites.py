"""Every case holds for our own, and fails for what is wrong in its way alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from worldwright.conformance import arena
from worldwright.conformance.bad_engines import BAD_ENGINES
from worldwright.conformance.bad_renderers import BAD_BOUND, BAD_RENDERERS
from worldwright.conformance.bound_cases import BOUND_CASES
from worldwright.conformance.case import run_case
from worldwright.conformance.engine_cases import ENGINE_CASES, EngineSubject
from worldwright.conformance.renderer_cases import RENDERER_CASES, RendererSubject
from worldwright.engine.panda import PandaEngine
from worldwright.engine.protocol import Engine
from worldwright.render.protocol import Renderer
from worldwright.render.registry import make_renderer

ASKED_FOR = {
    "left-handed axes",
    "y up",
    "centimetres",
    "ray depth sold as planar",
    "camera-to-world inverted",
    "one frame late",
    "gamma twice",
    "ids anti-aliased",
}
"""What must be caught, whatever else is."""


def engine_subject(spoil: Callable[[Engine], Engine] = lambda engine: engine) -> EngineSubject:
    return EngineSubject("panda", lambda: spoil(PandaEngine()), arena.arena_world(), {}, arena.TICK_RATE)


def renderer_subject(spoil: Callable[[Renderer], Renderer] = lambda renderer: renderer) -> RendererSubject:
    return RendererSubject("raster", lambda: spoil(make_renderer("raster")))


@pytest.mark.parametrize("case", ENGINE_CASES, ids=lambda case: case.name)
def test_the_built_in_engine_does_what_an_engine_must(case) -> None:  # type: ignore[no-untyped-def]
    check = run_case(case, engine_subject())
    assert check.passed, check.message


@pytest.fixture(scope="module")
def raster() -> RendererSubject:
    return renderer_subject()


@pytest.mark.parametrize("case", RENDERER_CASES, ids=lambda case: case.name)
def test_the_raster_renderer_does_what_a_renderer_must(case, raster: RendererSubject) -> None:  # type: ignore[no-untyped-def]
    check = run_case(case, raster)
    assert check.passed, check.message


@pytest.mark.parametrize("wrong", BAD_ENGINES)
def test_an_engine_that_is_wrong_passes(wrong: str) -> None:
    spoil, name = BAD_ENGINES[wrong]
    (case,) = (case for case in ENGINE_CASES if case.name == name)
    check = run_case(case, engine_subject(spoil))
    assert not check.passed and not check.skipped, check.message


@pytest.mark.parametrize("wrong", BAD_RENDERERS)
def test_a_renderer_that_is_wrong_passes(wrong: str) -> None:
    spoil, name = BAD_RENDERERS[wrong]
    (case,) = (case for case in RENDERER_CASES if case.name == name)
    check = run_case(case, renderer_subject(spoil))
    assert not check.passed and not check.skipped, check.message


@pytest.mark.parametrize("wrong", BAD_BOUND)
def test_every_wrong_of_a_bound_renderer_has_its_case(wrong: str) -> None:
    assert BAD_BOUND[wrong][1] in {case.name for case in BOUND_CASES}


def test_every_case_has_something_wrong_that_it_catches() -> None:
    assert {case for _, case in BAD_ENGINES.values()} == {case.name for case in ENGINE_CASES}
    assert {case for _, case in BAD_RENDERERS.values()} == {case.name for case in RENDERER_CASES}
    assert set(BAD_RENDERERS) >= ASKED_FOR
