"""The path-traced renderer: rgb by light that goes where it goes; every other pass by the raster renderer at the same instants."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.render.passes import ALL_PASSES, decode
from worldwright.render.pathtraced.denoise import Denoiser
from worldwright.render.pathtraced.exposure import Slice, slices
from worldwright.render.pathtraced.geometry import lay_out
from worldwright.render.pathtraced.light import light_of
from worldwright.render.pathtraced.paint import paint
from worldwright.render.pathtraced.platform import choose_platform, use
from worldwright.render.protocol import Moment, Scenery
from worldwright.render.raster.renderer import MOST_IN_FLIGHT, RasterRenderer
from worldwright.world.spec import World

MOST_SIZE = 8192

Array = NDArray[Any]


class Artist(Protocol):
    """Traces the light of one scene."""

    def expose(self, parts: Sequence[Slice], seed: int) -> tuple[Any, Any, Any]:
        """Start the mean over the parts' paths: linear radiance, base colour and normal of what is seen first, each [h, w, 3]; None in
        place of both guides by an artist that has none."""


@dataclass
class _Open:
    """What lives from ``open`` to ``close``. ``raster`` are the passes that the raster renderer gives, ``extra`` those of them that
    nobody asked for."""

    world: World
    passes: tuple[str, ...]
    samples: int
    raster: tuple[str, ...]
    artist: Artist | None
    waiting: deque[tuple[Moment, tuple[Any, Any, Any] | None]]


class PathtracedRenderer:
    """Mitsuba 3 and Dr.Jit on a GPU (CUDA) or a CPU (LLVM; where there is none, Mitsuba's scalar variant).

    Noise is drawn by the frame's tick: the same moment gives the same bytes on the same device.
    """

    name = "pathtraced"
    version = "1"
    tone_curve = RasterRenderer.tone_curve
    passes = ALL_PASSES
    samples: int | None = 16
    engine: str | None = None
    rigs: tuple[str, ...] | None = None

    def __init__(self, device: str | None = None) -> None:
        self._platform = choose_platform(device)
        self._raster = RasterRenderer(device)
        self._denoiser = Denoiser(self._platform)
        self.device = f"{self._platform.name}; passes: {self._raster.device}"
        self._open: _Open | None = None

    def open(self, scenery: Scenery, width: int, height: int, passes: Sequence[str], samples: int | None = None) -> None:
        """Load a scene at a picture size. Raises WorldwrightError for a size or pass it cannot give."""
        if not (1 <= width <= MOST_SIZE and 1 <= height <= MOST_SIZE):
            raise WorldwrightError(f"a picture of {width}x{height}", fix=f"choose sides from 1 to {MOST_SIZE}")
        unknown = [name for name in passes if name not in self.passes]
        if unknown or not passes:
            raise WorldwrightError(f"no pass {', '.join(unknown) or 'asked for'}", fix=f"choose from {', '.join(self.passes)}")
        self._open = None
        world = scenery.world
        needed = set(passes) - {"rgb"}
        if "rgb" in passes and not self._platform.vector:
            needed |= {"albedo", "normal"}
        raster = tuple(name for name in ALL_PASSES if name in needed)
        # It also develops the picture: for that it needs the scene, whatever passes it gives.
        self._raster.open(scenery, width, height, raster or ("depth",))
        artist: Artist | None = None
        if "rgb" in passes:
            use(self._platform)
            geometry = lay_out(world, scenery.geometry, scenery.body_ids)
            light = light_of(world, geometry)
            if self._platform.vector:
                from worldwright.render.pathtraced.kernel import KernelArtist

                artist = KernelArtist(geometry, paint(geometry.surfaces), light, (width, height), world.weather, scenery.tick_rate)
            else:
                from worldwright.render.pathtraced.plain import PlainArtist

                artist = PlainArtist(geometry, light, (width, height))
        self._open = _Open(world, tuple(passes), samples or self.samples or 1, raster, artist, deque())

    def submit(self, moment: Moment) -> None:
        """Start a picture. At most MOST_IN_FLIGHT may be uncollected."""
        at = self._opened()
        if len(at.waiting) >= MOST_IN_FLIGHT:
            raise WorldwrightError(f"{len(at.waiting)} pictures wait to be collected", fix="collect one first")
        if at.raster:
            self._raster.submit(moment)
        traced = None
        if at.artist is not None:
            use(self._platform)
            traced = at.artist.expose(slices(moment, at.samples), round(moment.now.tick))
        at.waiting.append((moment, traced))

    def collect(self) -> dict[str, Array]:
        """The oldest picture submitted, in its stored form."""
        at = self._opened()
        if not at.waiting:
            raise WorldwrightError("no picture was submitted", fix="submit one first")
        moment, traced = at.waiting.popleft()
        drawn = self._raster.collect() if at.raster else {}
        if traced is not None:
            use(self._platform)
            radiance = self._denoiser.clean(traced[0], *_guides(traced, drawn), at.world.light.exposure)
            drawn["rgb"] = self._raster.develop(moment, np.ascontiguousarray(radiance, dtype=np.float32))
        return {name: drawn[name] for name in at.passes}

    def close(self) -> None:
        """Free everything. The renderer cannot be used afterwards."""
        self._open = None
        self._raster.close()

    def _opened(self) -> _Open:
        if self._open is None:
            raise WorldwrightError("the renderer has no scene", fix="call open first")
        return self._open


def _guides(traced: tuple[Any, Any, Any], drawn: dict[str, Array]) -> tuple[Any, Any]:
    """Base colour and normals for the denoiser: of the picture's own paths, else of the raster renderer at the frame's instant."""
    if traced[1] is not None:
        return traced[1], traced[2]
    return decode("albedo", drawn["albedo"]), np.nan_to_num(decode("normal", drawn["normal"]))
