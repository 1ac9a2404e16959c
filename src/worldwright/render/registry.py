"""Renderers by name: our own, and those that other packages bring (entry points of the group ``worldwright.renderers``)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import cast

from worldwright.errors import WorldwrightError
from worldwright.render.protocol import Renderer

GROUP = "worldwright.renderers"
"""An entry point here is a function of the device's name (``auto``, ``cpu``, ``gpu``) that returns a ``Renderer``."""


def _raster(device: str) -> Renderer:
    from worldwright.render.raster.renderer import RasterRenderer

    return RasterRenderer(device)


def _pathtraced(device: str) -> Renderer:
    from worldwright.render.pathtraced.renderer import PathtracedRenderer

    return PathtracedRenderer(device)


def _vizdoom(device: str) -> Renderer:
    from worldwright.render.vizdoom import VizdoomRenderer

    return VizdoomRenderer(device)


_OURS: dict[str, Callable[[str], Renderer]] = {"raster": _raster, "pathtraced": _pathtraced, "vizdoom": _vizdoom}
_NEEDS = {"pathtraced": ("mitsuba", "mitsuba_oidn"), "vizdoom": ("vizdoom",)}
"""The packages of those of ours that are an extra of their name."""


_WITHOUT_SAMPLES = frozenset({"raster", "vizdoom"})


def does_sample(name: str) -> bool:
    """Whether samples a pixel mean something to a renderer: all but those of ours that are known not to sample."""
    return name not in _WITHOUT_SAMPLES


def _installed(name: str) -> bool:
    return all(find_spec(package) is not None for package in _NEEDS.get(name, ()))


def renderer_names() -> list[str]:
    """All that are installed."""
    return sorted({*filter(_installed, _OURS), *(point.name for point in entry_points(group=GROUP))})


def make_renderer(name: str, device: str = "auto") -> Renderer:
    """A renderer that is ready for ``open``. Raises WorldwrightError for a name that is not installed."""
    if name in _OURS:
        if not _installed(name):
            raise WorldwrightError(
                f"renderer {name!r} is not installed",
                where="renderer",
                fix=f"in the checkout: .venv/bin/pip install -e '.[{name}]'; or choose one of {', '.join(renderer_names())}",
            )
        return _OURS[name](device)
    for point in entry_points(group=GROUP):
        if point.name == name:
            return cast(Callable[[str], Renderer], point.load())(device)
    raise WorldwrightError(f"no renderer {name!r}", where="renderer", fix=f"choose one of {', '.join(renderer_names())}")
