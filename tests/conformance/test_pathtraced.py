"""The path-traced renderer does what a renderer must, and what it shows has the outlines of the raster renderer's."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from scipy.ndimage import binary_dilation, binary_erosion

from worldwright.conformance import arena
from worldwright.conformance.case import run_case
from worldwright.conformance.renderer_cases import RENDERER_CASES, RendererSubject
from worldwright.render.registry import make_renderer

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("mitsuba", "mitsuba_oidn")),
    reason="the extra 'pathtraced' is not installed",
)


@pytest.fixture(scope="module")
def subject() -> RendererSubject:
    return RendererSubject("pathtraced", lambda: make_renderer("pathtraced", "cpu"))


@pytest.mark.parametrize("case", RENDERER_CASES, ids=lambda case: case.name)
def test_the_path_traced_renderer_does_what_a_renderer_must(case, subject: RendererSubject) -> None:  # type: ignore[no-untyped-def]
    check = run_case(case, subject)
    assert check.passed, check.message


def test_the_two_renderers_outlines_lie_over_a_pixel_apart(subject: RendererSubject) -> None:
    """The glowing card in a dark world, by both: whatever one has bright the other has within a pixel."""
    other = RendererSubject("raster", lambda: make_renderer("raster"))
    place = arena.scenery(arena.arena_world(glow=0.6), people=False)
    moment = subject.moment(0, place)
    bright = []
    for each, samples in ((subject, 64), (other, None)):
        picture = each.draw(place, [moment], ("rgb",), samples=samples)[0]["rgb"].astype(float).mean(axis=-1)
        bright.append(picture > picture.max() / 2)
    ring = np.ones((3, 3), bool)
    assert bright[0].sum() > 100
    for a, b in (bright, bright[::-1]):
        assert not (a & ~binary_dilation(b, ring)).any() and not (binary_erosion(a, ring) & ~b).any()
