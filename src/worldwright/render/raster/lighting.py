"""From the G-buffer to the picture: light once per visible pixel, then smooth edges. Made only for shots that have rgb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
from numpy.typing import NDArray

from worldwright.render.air import Air
from worldwright.render.protocol import View
from worldwright.render.raster.culling import planes_of
from worldwright.render.raster.frame import LAMPS, clip_matrix, lamps_block, lamps_in_view
from worldwright.render.raster.geometry import PackedScene
from worldwright.render.raster.lampshadows import LampShadows
from worldwright.render.raster.lightfield import LightField
from worldwright.render.raster.particles import ParticleStage
from worldwright.render.raster.poses import Poses
from worldwright.render.raster.roofs import Roofs
from worldwright.render.raster.shading import program
from worldwright.render.raster.shadows import SunShadows
from worldwright.render.raster.skytable import SkyTable
from worldwright.render.raster.targets import Targets
from worldwright.world.spec import Grade, World

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Exposed:
    """When a picture or sub-frame is taken: seconds since the take began, and how long light falls on it."""

    seconds: float
    open_s: float


def _on(**switches: bool) -> tuple[str, ...]:
    return tuple(name for name, on in switches.items() if on)


class Lighting:
    """Shadows, bounced light, and the passes over the picture. The frame block must be bound (binding 0), filled for baking."""

    def __init__(
        self,
        context: moderngl.Context,
        world: World,
        packed: PackedScene,
        shadows: SunShadows,
        lamp_shadows: LampShadows,
        targets: Targets,
        air: Air,
        roofs: Roofs | None,
    ) -> None:
        self._context, self._targets, self._shadows, self._lamps = context, targets, shadows, world.light.lamps
        self._lamp_shadows, self._roofs = lamp_shadows, roofs
        self._sky = SkyTable(context, world)
        self._field = LightField(context, world, packed, shadows, self._sky)
        self._lamp_block = context.buffer(reserve=LAMPS.itemsize, dynamic=True)
        probes, cells = (*self._field.low, self._field.spacing), (*(1 / n for n in self._field.count), 0.0)
        self._particles = ParticleStage(context, targets, world.weather, probes, cells)
        weather, sky = world.weather, world.light.sky
        graded = _on(GRADE=world.grade != Grade())
        seen = (
            *_on(
                AIR=not air.clear,
                LOCAL_AIR=air.local and not air.clear,
                POINTS=sky.model == "physical" or sky.stars > 0,
            ),
            *self._sky.defines,
            *self._particles.defines,
            *graded,
        )
        lit = _on(
            SUN=shadows.on,
            LAMPS=bool(self._lamps),
            LAMP_SHADOWS=bool(self._lamp_shadows.row),
            COVERED=weather.wetness > 0 or weather.snow > 0,
            WET=weather.wetness > 0,
            LYING=weather.snow > 0,
            CAUSTICS=shadows.on and weather.water is not None and weather.water.caustics > 0,
        )
        self._shade = {
            blend: (
                self._full("shade.frag", (*lit, *seen, "SURFACES", *linear)),
                self._full("shade_sky.frag", (*seen, *linear)),
            )
            for blend, linear in ((False, ()), (True, ("LINEAR",)))
        }
        self._air = self._full("air.frag", seen)
        for stage in (self._air, *(stage for stages in self._shade.values() for stage in stages)):
            for name, value in (("probes", probes), ("probe_cells", cells)):
                if name in stage.program:
                    stage.program[name] = value
        self._develop = self._full("develop.frag", graded)
        self._edges = self._full("edges.frag")
        self._antialias = self._full("antialias.frag")
        self._antialias.program["texel"] = tuple(1 / n for n in targets.size)

    def _full(self, fragment: str, defines: tuple[str, ...] = ()) -> moderngl.VertexArray:
        return self._context.vertex_array(program(self._context, "full.vert", fragment, defines), [])

    def _weather(self, exposed: Exposed) -> None:
        self._field.use(7, 8)
        if self._roofs is not None:
            self._roofs.use(13)
        self._particles.draw(exposed.seconds, exposed.open_s)
        self._particles.use(12)
        self._sky.use(11)

    def shade(self, view: View, poses: Poses, exposed: Exposed, add: bool) -> None:
        """Compute the light of every pixel: graded, or its radiance added to the sum of sub-frames."""
        context, targets = self._context, self._targets
        chosen = lamps_in_view(self._lamps, planes_of(clip_matrix(view, *targets.size)), view.c2w[:3, 3])
        rows = self._lamp_shadows.row
        self._lamp_shadows.draw_moving(poses, chosen)
        self._lamp_block.write(lamps_block([self._lamps[k] for k in chosen], [rows.get(k, -1) for k in chosen]).tobytes())
        self._lamp_block.bind_to_uniform_block(1)
        targets.surface_map.use(0)
        targets.aim_map.use(1)
        self._shadows.use(3, 4)
        self._lamp_shadows.use(9, 10)
        self._weather(exposed)
        (targets.total if add else targets.graded).use()
        context.viewport = (0, 0, *targets.size)
        context.enable_only(moderngl.DEPTH_TEST | (moderngl.BLEND if add else 0))
        context.blend_func = moderngl.ONE, moderngl.ONE
        surfaces, sky = self._shade[add]
        context.depth_func = "<"  # in front of this shader's depth, 1e-12, lies every surface
        surfaces.render(moderngl.TRIANGLES, vertices=3)
        context.depth_func = ">="  # and the sky, 0, does not
        sky.render(moderngl.TRIANGLES, vertices=3)

    def see_through_air(self, radiance: moderngl.Texture, exposed: Exposed) -> None:
        """Another's radiance behind the air in front of what the G-buffer holds is added to the sum of sub-frames."""
        context, targets = self._context, self._targets
        self._weather(exposed)
        targets.surface_map.use(0)
        radiance.use(1)
        targets.total.use()
        context.viewport = (0, 0, *targets.size)
        context.enable_only(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._air.render(moderngl.TRIANGLES, vertices=3)

    def clear_sum(self) -> None:
        """Begin a sum of sub-frames."""
        self._targets.total.use()
        self._context.clear(0, 0, 0, 0)

    def develop(self) -> None:
        """The mean of the sub-frames becomes the picture."""
        self._targets.total_map.use(0)
        self._targets.picture.use()
        self._context.enable_only(moderngl.NOTHING)
        self._develop.render(moderngl.TRIANGLES, vertices=3)

    def smooth(self) -> None:
        """The graded light becomes the picture, its geometric edges smooth."""
        context, picture = self._context, self._targets.picture
        self._targets.graded_map.use(0)
        picture.use()
        picture.depth_mask = True
        context.enable_only(moderngl.DEPTH_TEST)
        context.depth_func = "1"
        self._edges.render(moderngl.TRIANGLES, vertices=3)
        picture.depth_mask = False
        context.depth_func = "<"
        self._antialias.render(moderngl.TRIANGLES, vertices=3)
