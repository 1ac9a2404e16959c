"""What falls and floats: rain, snow, dust, and what drifts in water, each with its place in the world at every time.

Particle k of a box lies at a place that chance gave it, plus the way that all have come since the take began; copies of the box fill the
world. So where one is depends on the clock alone: not on the camera, nor on pictures made before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.shading import program
from worldwright.render.raster.targets import Targets
from worldwright.world.spec import Weather

Array = NDArray[Any]

OPEN_S = 1 / 48
"""Seconds that the shutter of a sharp picture is open where the next frame does not tell: half of a film frame."""


@dataclass(frozen=True)
class Kind:
    """``boxes``: side in metres, how many at most, and the radius of one in metres: near ones are in a small box, so that there are enough
    of them, far ones in larger boxes. ``opacity`` is above 1 where there are more than can be drawn; ``tint`` of the light around them;
    ``fall`` in m/s; ``carried``: the share of the wind; ``flutter`` in metres; ``falls``: roofs keep them off."""

    boxes: tuple[tuple[float, int, float], ...]
    opacity: float
    tint: tuple[float, float, float]
    fall: float
    carried: float
    flutter: float
    falls: bool


RAIN = Kind(((6, 2600, 0.0016), (16, 4200, 0.0024), (36, 5200, 0.004)), 18.0, (1.5, 1.5, 1.55), 7.0, 1.0, 0.0, falls=True)
"""Drops of 2 mm fall at 6.5 m/s, of 3 mm at 8 (Gunn and Kinzer 1949)."""
SNOW = Kind(((6, 1800, 0.006), (15, 4000, 0.010), (34, 6000, 0.016)), 0.95, (1.7, 1.7, 1.75), 1.1, 1.0, 0.12, falls=True)
"""Flakes fall at about 1 m/s, however large (Langleben 1954)."""
DUST = Kind(((5, 900, 0.0022), (14, 1600, 0.004)), 0.55, (1.5, 1.15, 0.75), 0.05, 0.6, 0.25, falls=False)
GRAINS = Kind(((4, 450, 0.0022), (10, 700, 0.004)), 0.45, (1.6, 1.7, 1.7), 0.03, 0.1, 0.10, falls=False)
"""What drifts in water."""


@dataclass(frozen=True)
class Particles:
    """One box of a kind: how many there are, and their velocity, m/s."""

    kind: Kind
    side: float
    radius: float
    count: int
    velocity: Array


def particles_of(weather: Weather) -> list[Particles]:
    """What a weather has in the air (or the water)."""
    amounts = ((RAIN, weather.rain), (SNOW, weather.snow), (DUST, weather.dust), (GRAINS, float(weather.water is not None)))
    return [
        Particles(kind, side, radius, max(int(count * amount), 1), np.array(weather.wind) * kind.carried - [0, 0, kind.fall])
        for kind, amount in amounts
        if amount > 0
        for side, count, radius in kind.boxes
    ]


class ParticleStage:
    """Draws them in front of what the G-buffer holds, into a picture of their own that the light then shines through."""

    def __init__(
        self, context: moderngl.Context, targets: Targets, weather: Weather, probes: tuple[float, ...], cells: tuple[float, ...]
    ) -> None:
        self._context, self._boxes = context, particles_of(weather)
        self.defines: tuple[str, ...] = ("PARTICLES",) if self._boxes else ()
        if not self._boxes:
            return
        self._size = targets.size
        self._veil = context.texture(targets.size, 4, dtype="f2")
        self._veil.filter = moderngl.NEAREST, moderngl.NEAREST
        self._frame = context.framebuffer([self._veil], targets.depth_map)
        self._frame.depth_mask = False
        self._program = program(context, "particles.vert", "particles.frag")
        self._program["probes"], self._program["probe_cells"] = probes, cells
        self._points = context.vertex_array(self._program, [])

    def draw(self, seconds: float, open_s: float) -> None:
        """Draw those of a time of the take, each as long as its way while the shutter is open. The field and the roofs are bound."""
        if not self._boxes:
            return
        context = self._context
        self._frame.use()
        context.viewport = (0, 0, *self._size)
        context.clear(0, 0, 0, 0)  # the depth stays: it is not written
        context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        context.depth_func = ">="
        context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        for k, box in enumerate(self._boxes):
            kind = box.kind
            self._program["box"] = box.side, box.radius, kind.opacity, kind.flutter
            self._program["came"] = (*((box.velocity * seconds) % box.side), float(k))
            self._program["sweep"] = (*(box.velocity * open_s), 0.0)
            self._program["tint"] = (*kind.tint, float(kind.falls))
            self._points.render(moderngl.TRIANGLES, vertices=6 * box.count)

    def use(self, unit: int) -> None:
        """Bind their picture."""
        if self._boxes:
            self._veil.use(unit)
