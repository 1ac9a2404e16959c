"""The raster renderer: one pass over the geometry gives every channel, and light is computed once per visible pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.render.passes import ALL_PASSES
from worldwright.render.protocol import Moment, Scenery, View
from worldwright.render.raster.culling import planes_of
from worldwright.render.raster.device import GL_LOWER_LEFT, GL_ZERO_TO_ONE, create_context, describe
from worldwright.render.raster.frame import FRAME, daylight, frame_block
from worldwright.render.raster.geometry import pack_scene
from worldwright.render.raster.lampshadows import LampShadows
from worldwright.render.raster.lighting import Exposed, Lighting
from worldwright.render.raster.particles import OPEN_S
from worldwright.render.raster.poses import Poses, poses_of
from worldwright.render.raster.readback import Readback
from worldwright.render.raster.roofs import Roofs
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

    width: int
    height: int
    frame: moderngl.Buffer
    """The block of uniforms of the frame at work."""
    scene: GpuScene
    targets: Targets
    sky: moderngl.VertexArray
    readback: Readback
    world: World
    tick_rate: int
    shades: bool
    """Whether rgb is wanted."""
    shadows: SunShadows | None = None
    lighting: Lighting | None = None
    radiance: moderngl.Texture | None = None
    """Another renderer's picture, to be developed."""


class RasterRenderer:
    """moderngl over EGL: Mesa's llvmpipe on a CPU, any OpenGL 4.5 driver on a GPU.

    Pictures depend on the scene and the moment alone, never on earlier pictures. ``cull=False`` draws what the camera cannot see, to
    check that culling changes nothing.
    """

    name = "raster"
    version = "3"
    tone_curve = (
        "with x = exposure * linear radiance and s = sqrt(x): the sRGB code is "
        "min(1, x (s + 0.33998) / (x (s + 0.27709) + 0.20034 s + 0.1221)), a fit within 0.006 of the sRGB curve after Narkowicz' ACES "
        "curve (2016) at 0.6 of the radiance"
    )
    passes = ALL_PASSES
    samples: int | None = None
    engine: str | None = None
    rigs: tuple[str, ...] | None = None

    def __init__(self, device: str | None = None, *, cull: bool = True) -> None:
        self._context, self._gl = create_context(device)
        # What Python lets go of is deleted by gc() alone, when this context is current: names of objects mean others in another context.
        self._context.gc_mode = "context_gc"
        self.device = describe(self._context)
        self._cull = cull
        self._open: _Open | None = None

    def open(self, scenery: Scenery, width: int, height: int, passes: Sequence[str], samples: int | None = None) -> None:
        """Load a scene at a picture size (1 to 8192 pixels a side). Raises WorldwrightError for a size or pass it cannot give."""
        if samples is not None:
            raise WorldwrightError(
                f"{samples} samples a pixel", where="preset", fix="the raster renderer does not sample: leave them out"
            )
        world = scenery.world
        if not (1 <= width <= MOST_SIZE and 1 <= height <= MOST_SIZE):
            raise WorldwrightError(f"a picture of {width}x{height}", fix=f"choose sides from 1 to {MOST_SIZE}")
        unknown = [name for name in passes if name not in self.passes]
        if unknown or not passes:
            raise WorldwrightError(f"no pass {', '.join(unknown) or 'asked for'}", fix=f"choose from {', '.join(self.passes)}")
        if self._open is not None:
            self._release()
        with self._context:
            context = self._context
            context.gc()
            self._gl.clip_control(GL_LOWER_LEFT, GL_ZERO_TO_ONE)
            self._base = daylight(world)
            flow = ("FLOW",) if "flow" in passes else ()
            packed = pack_scene(world, scenery.geometry, scenery.body_ids)
            frame = context.buffer(reserve=FRAME.itemsize, dynamic=True)
            scene = GpuScene(context, packed, flow)
            targets = Targets(context, self._gl, width, height)
            readback = Readback(context, self._gl, targets, tuple(passes), MOST_IN_FLIGHT)
            sky = context.vertex_array(program(context, "full.vert", "sky.frag", flow), [])
            at = _Open(width, height, frame, scene, targets, sky, readback, world, scenery.tick_rate, "rgb" in passes)
            if at.shades:
                self._light(at)
            self._open = at

    def submit(self, moment: Moment) -> None:
        """Start a picture. At most MOST_IN_FLIGHT may be uncollected."""
        at = self._opened()
        if at.readback.waiting >= MOST_IN_FLIGHT:
            raise WorldwrightError(f"{at.readback.waiting} pictures wait to be collected", fix="collect one first")
        with self._context:
            lighting = at.lighting if at.shades else None
            if lighting is not None and moment.shutter:
                self._expose(at, lighting, moment)
            now = self._poses(at, moment.now)
            self._geometry(at, now, self._poses(at, moment.next), moment.view, moment.next_view, moment.now)
            if lighting is not None and not moment.shutter:
                lighting.shade(moment.view, now, self._exposures(at, moment)[0], add=False)
                lighting.smooth()
            at.readback.start()

    def collect(self) -> dict[str, NDArray[Any]]:
        """The oldest picture submitted, in its stored form."""
        at = self._opened()
        if not at.readback.waiting:
            raise WorldwrightError("no picture was submitted", fix="submit one first")
        with self._context:
            return at.readback.finish()

    def develop(self, moment: Moment, radiance: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Another renderer's picture of a moment as it looks through the air: rgb [height, width, 3], sRGB-coded.

        ``radiance`` [height, width, 3] is linear, without air, weather, stars or exposure. Air, particles, exposure and grade are those of
        this renderer's own pictures, by the G-buffer of the moment (with a shutter, of its sub-frames). May be called for any open scene,
        also without the pass rgb, and while pictures are in flight.

        Raises:
            WorldwrightError: a picture of another size or type.
        """
        at = self._opened()
        if radiance.shape != (at.height, at.width, 3) or radiance.dtype != np.float32:
            raise WorldwrightError(
                f"radiance {radiance.shape} {radiance.dtype}", fix=f"give [{at.height}, {at.width}, 3] float32, linear"
            )
        with self._context:
            lighting = self._light(at)
            if at.radiance is None:
                at.radiance = self._context.texture((at.width, at.height), 3, dtype="f4")
                at.radiance.filter = moderngl.NEAREST, moderngl.NEAREST
            at.radiance.write(np.ascontiguousarray(radiance).data)
            lighting.clear_sum()
            for k, exposed in enumerate(self._exposures(at, moment)):
                instant, view = moment.shutter[k] if moment.shutter else (moment.now, moment.view)
                poses = self._poses(at, instant)
                shift = SHIFTS[k % len(SHIFTS)] if moment.shutter else (0.0, 0.0)
                self._geometry(at, poses, poses, view, view, instant, shift)
                lighting.see_through_air(at.radiance, exposed)
            lighting.develop()
            data = at.targets.picture.read(components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(at.height, at.width, 3)

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

    def _light(self, at: _Open) -> Lighting:
        """What turns the G-buffer into a picture; made when it is first needed."""
        if at.lighting is None:
            context, world, scene = self._context, at.world, at.scene
            at.shadows = SunShadows(context, self._gl, world, scene)
            roofs = Roofs(context, self._gl, scene) if world.weather.rain or world.weather.snow or world.weather.wetness else None
            if roofs is not None:
                self._base.block["roof"] = roofs.matrix.T
            block = self._base.block.copy()
            at.shadows.fill_still(block)
            at.frame.write(block.tobytes())
            at.frame.bind_to_uniform_block(0)
            lamp_shadows = LampShadows(context, self._gl, world.light.lamps, scene)
            at.lighting = Lighting(context, world, scene.packed, at.shadows, lamp_shadows, at.targets, self._base.air, roofs)
        return at.lighting

    def _exposures(self, at: _Open, moment: Moment) -> list[Exposed]:
        """When and how long each sub-frame of a moment is exposed; a sharp picture for half of the time to the next frame."""
        if not moment.shutter:
            half = (moment.next.tick - moment.now.tick) / (2 * at.tick_rate)
            return [Exposed(moment.now.tick / at.tick_rate, half if half > 0 else OPEN_S)]
        ticks = [instant.tick for instant, _ in moment.shutter]
        slice_s = (ticks[-1] - ticks[0]) / (max(len(ticks) - 1, 1) * at.tick_rate)
        return [Exposed(tick / at.tick_rate, slice_s if slice_s > 0 else OPEN_S) for tick in ticks]

    def _poses(self, at: _Open, instant: Instant) -> Poses:
        packed = at.scene.packed
        return poses_of(instant, packed.rigs, packed.object_count, packed.bone_count)

    def _geometry(
        self,
        at: _Open,
        now: Poses,
        later: Poses,
        view: View,
        next_view: View,
        instant: Instant,
        shift: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Fill the G-buffer."""
        block = frame_block(self._base, view, next_view, at.width, at.height, instant.tick / at.tick_rate, shift)
        shadows = at.shadows if at.shades else None
        if shadows is not None:
            shadows.fill_block(block, now)
        at.frame.write(block.tobytes())
        at.frame.bind_to_uniform_block(0)
        at.scene.set_poses(now, later)
        if shadows is not None:
            shadows.draw_moving(now)
        context = self._context
        at.targets.buffer.use()
        context.viewport = (0, 0, at.width, at.height)
        self._gl.clear_depth(0.0)
        context.enable_only(moderngl.DEPTH_TEST)
        context.depth_func = ">="
        context.front_face = "cw"
        planes = planes_of(block["to_clip"].T.astype(np.float64))
        at.scene.draw(now, planes if self._cull else None, view.c2w[:3, 3], view.hidden)
        context.disable(moderngl.CULL_FACE)
        at.sky.render(moderngl.TRIANGLES, vertices=3)

    def _expose(self, at: _Open, lighting: Lighting, moment: Moment) -> None:
        """The mean over the shutter in linear light becomes the picture."""
        lighting.clear_sum()
        exposures = self._exposures(at, moment)
        for k, (instant, view) in enumerate(moment.shutter):
            poses = self._poses(at, instant)
            self._geometry(at, poses, poses, view, view, instant, SHIFTS[k % len(SHIFTS)])
            lighting.shade(view, poses, exposures[k], add=True)
        lighting.develop()
