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

RAIN_SPEED, SNOW_SPEED, DUST_SPEED, DRIFT_SPEED = 7.0, 1.1, 0.05, 0.03
"""Metres a second downwards in still air (in water): drops of 2 mm (Gunn and Kinzer 1949), flakes (Langleben 1954)."""
OPEN_S = 1 / 48
"""Seconds that the shutter of a sharp picture is open where the next frame does not tell: half of a film frame."""


@dataclass(frozen=True)
class Particles:
    """One box of them. ``side`` metres; at most ``count``; ``radius`` of one, metres; ``opacity`` is above 1 where there are more than can
    be drawn; ``tint`` of the light around them; ``velocity`` m/s; ``flutter`` metres; ``falls``: roofs keep them off."""

    side: float
    count: int
    radius: float
    opacity: float
    tint: tuple[float, float, float]
    velocity: tuple[float, float, float]
    flutter: float
    falls: bool


def particles_of(weather: Weather) -> list[Particles]:
    """What a weather has in the air. Near ones are in a small box, so that there are enough of them; far ones in larger boxes."""
    wx, wy, wz = weather.wind
    found: list[Particles] = []

    def add(amount: float, boxes: list[tuple[float, int, float]], opacity: float, tint: tuple[float, float, float], fall: float,
            carried: float, flutter: float, *, falls: bool) -> None:  # fmt: skip
        for side, count, radius in boxes if amount > 0 else ():
            velocity = (wx * carried, wy * carried, wz * carried - fall)
            found.append(Particles(side, max(int(count * amount), 1), radius, opacity, tint, velocity, flutter, falls))

    add(
        weather.rain,
        [(6, 2600, 0.0016), (16, 4200, 0.0024), (36, 5200, 0.004)],
        18.0,
        (1.5, 1.5, 1.55),
        RAIN_SPEED,
        1.0,
        0.0,
        falls=True,
    )
    add(
        weather.snow,
        [(6, 1600, 0.006), (15, 3600, 0.010), (34, 6000, 0.016)],
        0.95,
        (1.7, 1.7, 1.75),
        SNOW_SPEED,
        1.0,
        0.12,
        falls=True,
    )
    add(weather.dust, [(5, 900, 0.0022), (14, 1600, 0.004)], 0.55, (1.5, 1.15, 0.75), DUST_SPEED, 0.6, 0.25, falls=False)
    if weather.water is not None:
        add(1.0, [(4, 450, 0.0022), (10, 700, 0.004)], 0.45, (1.6, 1.7, 1.7), DRIFT_SPEED, 0.1, 0.10, falls=False)
    return found


class ParticleStage:
    """Draws them in front of what the G-buffer holds, into a picture of their own that the light then shines through."""

    def __init__(
        self, context: moderngl.Context, targets: Targets, weather: Weather, probes: tuple[float, ...], cells: tuple[float, ...]
    ) -> None:
        self._context, self._kinds = context, particles_of(weather)
        self.defines: tuple[str, ...] = ("PARTICLES",) if self._kinds else ()
        if not self._kinds:
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
        if not self._kinds:
            return
        context = self._context
        self._frame.use()
        context.viewport = (0, 0, *self._size)
        context.clear(0, 0, 0, 0)  # the depth stays: it is not written
        context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        context.depth_func = ">="
        context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        for k, kind in enumerate(self._kinds):
            velocity = np.array(kind.velocity)
            self._program["box"] = kind.side, kind.radius, kind.opacity, kind.flutter
            self._program["came"] = (*((velocity * seconds) % kind.side), float(k))
            self._program["sweep"] = (*(velocity * open_s), open_s)
            self._program["tint"] = (*kind.tint, float(kind.falls))
            self._points.render(moderngl.TRIANGLES, vertices=6 * kind.count)

    def use(self, unit: int) -> None:
        """Bind their picture."""
        if self._kinds:
            self._veil.use(unit)
