"""The raster renderer: one pass over the geometry gives every channel, and light is computed once per visible pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.errors import WorldwrightError
from worldwright.render.passes import ALL_PASSES
from worldwright.render.protocol import Moment, View
from worldwright.render.raster.culling import planes_of
from worldwright.render.raster.device import create_context, describe
from worldwright.render.raster.frame import FRAME, LAMPS, daylight, frame_block, lamps_block, lamps_in_view
from worldwright.render.raster.geometry import pack_scene
from worldwright.render.raster.lightfield import LightField
from worldwright.render.raster.poses import Poses, poses_of
from worldwright.render.raster.readback import Readback
from worldwright.render.raster.scene import GpuScene
from worldwright.render.raster.shading import program
from worldwright.render.raster.shadows import SunShadows
from worldwright.render.raster.targets import Targets
from worldwright.take.model import Instant
from worldwright.world.spec import World

SHIFTS = ((0.0625, -0.1875), (-0.0625, 0.1875), (0.3125, 0.0625), (-0.1875, -0.3125), (-0.3125, 0.3125), (-0.4375, -0.0625), (0.1875, 0.4375), (0.4375, -0.4375))  # fmt: skip
"""Sub-pixel places of the sub-frames (the standard 8-sample pattern of Direct3D)."""
MOST_SIZE = 8192
MOST_IN_FLIGHT = 3


@dataclass
class _Open:
    """What lives from ``open`` to ``close``."""

    world: World
    width: int
    height: int
    passes: tuple[str, ...]
    scene: GpuScene
    targets: Targets
    shadows: SunShadows
    field: LightField
    readback: Readback


class RasterRenderer:
    """moderngl over EGL: Mesa's llvmpipe on a CPU, any OpenGL 4.5 driver on a GPU.

    Pictures depend on the scene and the moment alone, never on earlier pictures. ``cull=False`` draws what the camera cannot see, to
    check that culling changes nothing.
    """

    name = "raster"
    version = "1"
    passes = ALL_PASSES

    def __init__(self, device: str | None = None, *, cull: bool = True) -> None:
        self._context, self._gl = create_context(device)
        self.device = describe(self._context)
        self._cull = cull
        self._open: _Open | None = None

    def open(
        self, world: World, geometry: SceneGeometry, body_ids: Sequence[int], width: int, height: int, passes: Sequence[str]
    ) -> None:
        """Load a scene at a picture size (1 to 8192 pixels a side). Raises WorldwrightError for a size or pass it cannot give."""
        if not (1 <= width <= MOST_SIZE and 1 <= height <= MOST_SIZE):
            raise WorldwrightError(f"a picture of {width}x{height}", fix=f"choose sides from 1 to {MOST_SIZE}")
        unknown = [name for name in passes if name not in self.passes]
        if unknown or not passes:
            raise WorldwrightError(f"no pass {', '.join(unknown) or 'asked for'}", fix=f"choose from {', '.join(self.passes)}")
        if self._open is not None:
            self._release()
        with self._context:
            context = self._context
            context.gc_mode = "auto"
            self._gl.clip_control(0x8CA1, 0x935F)
            self._base = daylight(world)
            self._programs: dict[str, moderngl.Program] = {}
            flow = ("FLOW",) if "flow" in passes else ()
            packed = pack_scene(world, geometry, body_ids)
            self._frame = context.buffer(reserve=FRAME.itemsize, dynamic=True)
            self._lamps = context.buffer(reserve=LAMPS.itemsize, dynamic=True)
            scene = GpuScene(context, packed, flow)
            targets = Targets(context, self._gl, width, height)
            shadows = SunShadows(context, self._gl, world, scene)
            self._block(shadows)
            field = LightField(context, world, packed, shadows)
            readback = Readback(context, self._gl, targets, tuple(passes), MOST_IN_FLIGHT)
            lit = tuple(name for name, on in (("SUN", shadows.on), ("LAMPS", bool(world.light.lamps))) if on)
            self._sky = self._full("sky.frag", flow)
            self._shade = {
                blend: (self._full("shade.frag", (*lit, "SURFACES", *linear)), self._full("shade_sky.frag", linear))
                for blend, linear in ((False, ()), (True, ("LINEAR",)))
            }
            for surfaces, _ in self._shade.values():
                surfaces.program["probes"] = (*field.low, field.spacing)
                surfaces.program["probe_cells"] = (*(1 / n for n in field.count), 0.0)
            self._develop = self._full("develop.frag")
            self._edges = self._full("edges.frag")
            self._antialias = self._full("antialias.frag")
            self._antialias.program["texel"] = (1 / width, 1 / height)
            self._open = _Open(world, width, height, tuple(passes), scene, targets, shadows, field, readback)

    def _full(self, fragment: str, defines: tuple[str, ...] = ()) -> moderngl.VertexArray:
        return self._context.vertex_array(program(self._context, "full.vert", fragment, defines), [])

    def _block(self, shadows: SunShadows) -> None:
        """The block for baking: light and the standing shadow map; no camera."""
        block = self._base.block.copy()
        shadows.fill_still(block)
        self._frame.write(block.tobytes())
        self._frame.bind_to_uniform_block(0)

    def submit(self, moment: Moment) -> None:
        """Start a picture. At most MOST_IN_FLIGHT may be uncollected."""
        at = self._opened()
        if at.readback.waiting >= MOST_IN_FLIGHT:
            raise WorldwrightError(f"{at.readback.waiting} pictures wait to be collected", fix="collect one first")
        with self._context:
            rgb = "rgb" in at.passes
            if rgb and moment.shutter:
                self._exposed(at, moment)
            now = self._poses(at, moment.now)
            self._geometry(at, now, self._poses(at, moment.next), moment.view, moment.next_view)
            if rgb and not moment.shutter:
                self._light(at, moment.view, at.targets.graded, False)
                self._smooth(at)
            at.readback.start()

    def collect(self) -> dict[str, NDArray[Any]]:
        """The oldest picture submitted, in its stored form."""
        at = self._opened()
        if not at.readback.waiting:
            raise WorldwrightError("no picture was submitted", fix="submit one first")
        with self._context:
            return at.readback.finish()

    def close(self) -> None:
        """Free everything. The renderer cannot be used afterwards."""
        self._release()
        self._context.release()

    def _release(self) -> None:
        if self._open is not None:
            self._open = None
            with self._context:
                self._context.gc()

    def _opened(self) -> _Open:
        if self._open is None:
            raise WorldwrightError("the renderer has no scene", fix="call open first")
        return self._open

    def _poses(self, at: _Open, instant: Instant) -> Poses:
        packed = at.scene.packed
        return poses_of(instant, packed.rigs, packed.object_count, packed.bone_count)

    def _geometry(
        self, at: _Open, now: Poses, later: Poses, view: View, next_view: View, shift: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Fill the G-buffer."""
        block = frame_block(self._base, view, next_view, at.width, at.height, shift)
        at.shadows.fill_block(block, now)
        self._frame.write(block.tobytes())
        self._frame.bind_to_uniform_block(0)
        at.scene.set_poses(now, later)
        if "rgb" in at.passes:
            at.shadows.draw_moving(now)
        context = self._context
        at.targets.buffer.use()
        context.viewport = (0, 0, at.width, at.height)
        self._gl.clear_depth(0.0)
        context.enable_only(moderngl.DEPTH_TEST)
        context.depth_func = ">="
        context.front_face = "cw"
        planes = planes_of(block["to_clip"].T.astype(np.float64))
        at.scene.draw(now, planes if self._cull else None, view.c2w[:3, 3])
        context.disable(moderngl.CULL_FACE)
        self._sky.render(moderngl.TRIANGLES, vertices=3)

    def _light(self, at: _Open, view: View, target: moderngl.Framebuffer, blend: bool) -> None:
        """Compute the light of every pixel into ``target``: graded, or added up as radiance."""
        block = frame_block(self._base, view, view, at.width, at.height)
        planes = planes_of(block["to_clip"].T.astype(np.float64))
        lamps = at.world.light.lamps
        chosen = lamps_in_view(lamps, planes, view.c2w[:3, 3])
        self._lamps.write(lamps_block([(lamps[k], -1) for k in chosen]).tobytes())
        self._lamps.bind_to_uniform_block(1)
        at.targets.depth_codes.use(0)
        at.targets.albedo_map.use(1)
        at.targets.shading_map.use(2)
        at.shadows.use(3, 4)
        at.targets.entity_map.use(5)
        at.targets.normal_codes.use(6)
        at.field.use(7, 8)
        context = self._context
        target.use()
        context.viewport = (0, 0, at.width, at.height)
        context.enable_only(moderngl.DEPTH_TEST | (moderngl.BLEND if blend else 0))
        context.blend_func = moderngl.ONE, moderngl.ONE
        surfaces, sky = self._shade[blend]
        context.depth_func = "<"
        surfaces.render(moderngl.TRIANGLES, vertices=3)
        context.depth_func = ">="
        sky.render(moderngl.TRIANGLES, vertices=3)

    def _smooth(self, at: _Open) -> None:
        """Anti-alias the graded light into the picture."""
        context = self._context
        at.targets.graded_map.use(0)
        at.targets.picture.use()
        at.targets.picture.depth_mask = True
        context.enable_only(moderngl.DEPTH_TEST)
        context.depth_func = "1"
        self._edges.render(moderngl.TRIANGLES, vertices=3)
        at.targets.picture.depth_mask = False
        context.depth_func = "<"
        self._antialias.render(moderngl.TRIANGLES, vertices=3)

    def _exposed(self, at: _Open, moment: Moment) -> None:
        """The mean over the shutter in linear light, developed into the picture."""
        at.targets.total.use()
        self._context.clear(0, 0, 0, 0)
        for k, (instant, view) in enumerate(moment.shutter):
            poses = self._poses(at, instant)
            self._geometry(at, poses, poses, view, view, SHIFTS[k % len(SHIFTS)])
            self._light(at, view, at.targets.total, True)
        at.targets.total_map.use(0)
        at.targets.picture.use()
        self._context.enable_only(moderngl.NOTHING)
        self._develop.render(moderngl.TRIANGLES, vertices=3)
