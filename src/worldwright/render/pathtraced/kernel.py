"""The vector platforms' artist: poses the scene and runs the tracer's kernel once a sub-frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import drjit as dr
import mitsuba as mi

from worldwright.render.pathtraced.exposure import Slice
from worldwright.render.pathtraced.geometry import Geometry
from worldwright.render.pathtraced.light import Light
from worldwright.render.pathtraced.paint import Paint
from worldwright.render.pathtraced.scene import TracedScene
from worldwright.render.pathtraced.tracer import trace, upload
from worldwright.world.spec import Weather


class KernelArtist:
    """Traces one scene at one size, (width, height)."""

    def __init__(
        self, geometry: Geometry, paint: Paint, light: Light, size: tuple[int, int], weather: Weather, tick_rate: int
    ) -> None:
        self._weather, self._tick_rate = weather, tick_rate
        self._scene, self._light, self._size = TracedScene(geometry, paint), upload(light), size

    def expose(self, parts: Sequence[Slice], seed: int) -> tuple[Any, Any, Any]:
        """See ``renderer.Artist``. Radiance, base colour and normals are of the same paths: where the picture is smooth at an edge or
        blurred by motion, so are the guides. The kernels run on while the caller does other things."""
        sums: list[Any] = []
        for part in parts:
            self._scene.pose(part.instant)
            made = trace(
                self._scene,
                self._light,
                part.view,
                self._size,
                part.samples,
                part.first,
                seed,
                part.view.hidden,
                self._weather,
                part.instant.tick / self._tick_rate,
            )
            dr.eval(*made)
            sums = [a + b for a, b in zip(sums, made, strict=True)] if sums else list(made)
        count = sum(part.samples for part in parts)
        width, height = self._size
        # A path of zero over zero is one in many millions; it would spread over the picture.
        means = [dr.ravel(dr.select(dr.isfinite(total), total / count, 0)) for total in sums]
        dr.eval(*means)
        radiance, albedo, normal = (mi.TensorXf(mean, (height, width, 3)) for mean in means)
        return radiance, albedo, normal
