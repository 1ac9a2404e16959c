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


def _vizdoom(device: str) -> Renderer:
    from worldwright.render.vizdoom import VizdoomRenderer

    return VizdoomRenderer(device)


_OURS: dict[str, Callable[[str], Renderer]] = {"raster": _raster, "vizdoom": _vizdoom}
_NEEDS = {"vizdoom": "vizdoom"}
"""The package that a renderer of ours is for, where it is an extra."""


def renderer_names() -> list[str]:
    """All that are installed."""
    ours = (name for name in _OURS if name not in _NEEDS or find_spec(_NEEDS[name]) is not None)
    return sorted({*ours, *(point.name for point in entry_points(group=GROUP))})


def make_renderer(name: str, device: str = "auto") -> Renderer:
    """A renderer that is ready for ``open``. Raises WorldwrightError for a name that is not installed."""
    if name in _OURS:
        try:
            return _OURS[name](device)
        except ImportError as error:
            raise WorldwrightError(
                f"renderer {name!r} does not import: {error}",
                where="renderer",
                fix=f"pip install 'worldwright[{_NEEDS.get(name, name)}]'",
            ) from error
    for point in entry_points(group=GROUP):
        if point.name == name:
            return cast(Callable[[str], Renderer], point.load())(device)
    raise WorldwrightError(f"no renderer {name!r}", where="renderer", fix=f"choose one of {', '.join(renderer_names())}")
