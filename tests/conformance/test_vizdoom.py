"""ViZDoom does what an engine must, and its renderer what one that is bound to it must; wrong ones are caught."""

from __future__ import annotations

import importlib.util

import pytest

from worldwright.conformance.bad_renderers import BAD_BOUND
from worldwright.conformance.bound_cases import BOUND_CASES, BoundSubject
from worldwright.conformance.case import run_case
from worldwright.conformance.engine_cases import ENGINE_CASES, EngineSubject
from worldwright.conformance.subjects import Request, engine_subject
from worldwright.render.registry import make_renderer

pytestmark = pytest.mark.skipif(importlib.util.find_spec("vizdoom") is None, reason="the extra 'vizdoom' is not installed")
NOT_APPLICABLE = {"fall"}
"""Nothing in Doom falls freely but the player."""


@pytest.fixture(scope="module")
def engine() -> EngineSubject:
    return engine_subject(Request("engine", "vizdoom"))


@pytest.fixture(scope="module")
def renderer() -> BoundSubject:
    return BoundSubject("vizdoom", "vizdoom", lambda: make_renderer("vizdoom"))


@pytest.mark.parametrize("case", ENGINE_CASES, ids=lambda case: case.name)
def test_vizdoom_does_what_an_engine_must(case, engine: EngineSubject) -> None:  # type: ignore[no-untyped-def]
    check = run_case(case, engine)
    assert check.skipped if case.name in NOT_APPLICABLE else check.passed, check.message


@pytest.mark.parametrize("case", BOUND_CASES, ids=lambda case: case.name)
def test_its_renderer_does_what_one_of_its_takes_must(case, renderer: BoundSubject) -> None:  # type: ignore[no-untyped-def]
    check = run_case(case, renderer)
    assert check.passed, check.message


@pytest.mark.parametrize("wrong", BAD_BOUND)
def test_a_renderer_of_its_takes_that_is_wrong_passes(wrong: str, renderer: BoundSubject) -> None:
    spoil, name = BAD_BOUND[wrong]
    (case,) = (case for case in BOUND_CASES if case.name == name)
    # The same take: only the renderer is another.
    spoilt = BoundSubject("vizdoom", "vizdoom", lambda: spoil(make_renderer("vizdoom")))
    spoilt.__dict__["take"] = renderer.take
    check = run_case(case, spoilt)
    assert not check.passed and not check.skipped, check.message
