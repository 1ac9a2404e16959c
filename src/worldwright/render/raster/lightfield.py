"""Light that has bounced: a grid of probes over the standing geometry, computed once when a scene is opened.

Sky, sun and lamps light the voxels; the probes gather what the voxels send out; the voxels are lit again by the probes, and so on. So rooms
are dark but for their windows and lamps, and red walls tint the floor. Moving things take part as receivers only.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster import fieldcache
from worldwright.render.raster.frame import lamps_block
from worldwright.render.raster.geometry import PackedScene
from worldwright.render.raster.shading import program, source
from worldwright.render.raster.shadows import SunShadows
from worldwright.render.raster.skytable import SkyTable
from worldwright.render.raster.voxels import Voxels, voxelise
from worldwright.world.spec import World

Array = NDArray[Any]

VERSION = "3"
"""Raise it when this module or voxels.py give another result: it is part of the names of kept bakes (fieldcache.py)."""
BOUNCES = 2
UNKNOWN = -9.0
"""Lean of colour that marks a voxel inside of something (probes.frag)."""
BRIGHTEST = 6e4
"""Light is kept in halves, which end at 65,504: what is brighter would be infinite, and dark where it is mixed with none."""
SPACING = 3
"""Voxels between probes."""
_WIDTH = 1024


class LightField:
    """``light`` (mean radiance, share of open sky) and ``side`` (lean of the light and of its colour) as 3-D textures, a texel a voxel.

    ``low`` is the centre of the first texel, ``spacing`` metres lie between two, ``count`` are there (x, y, z).
    """

    def __init__(self, context: moderngl.Context, world: World, packed: PackedScene, shadows: SunShadows, sky: SkyTable) -> None:
        self._context = context
        key = _key(context, world, packed)
        baked = fieldcache.load(key)
        if baked is None:
            voxels = voxelise(packed)
            self._begin(voxels.low + voxels.size / 2, voxels.size, voxels.shape)
            light, side = self._bake(world, voxels, shadows, sky)
            fieldcache.save(key, fieldcache.Baked(self.low, self.spacing, light, side))
        else:
            nz, ny, nx = baked.light.shape[:3]
            self._begin(baked.low, baked.spacing, (nx, ny, nz))
            self._write(baked.light, baked.side)

    def _begin(self, low: NDArray[np.float64], spacing: float, count: tuple[int, int, int]) -> None:
        self.low, self.spacing, self.count = low, spacing, count
        self._probes = tuple(max((n + SPACING - 1) // SPACING, 1) for n in count)
        self.light, self.side = self._volume(), self._volume()

    def _write(self, light: NDArray[np.float16], side: NDArray[np.float16]) -> None:
        self.light.write(light.tobytes())
        self.side.write(side.tobytes())

    def _volume(self) -> moderngl.Texture3D:
        nx, ny, nz = self.count
        texture = self._context.texture3d((nx, ny, nz), 4, np.zeros((nz, ny, nx, 4), "<f2").tobytes(), dtype="f2")
        texture.filter = moderngl.LINEAR, moderngl.LINEAR
        texture.repeat_x = texture.repeat_y = texture.repeat_z = False
        return texture

    def use(self, light: int, side: int) -> None:
        """Bind both volumes."""
        self.light.use(light)
        self.side.use(side)

    def _bake(self, world: World, voxels: Voxels, shadows: SunShadows, sky: SkyTable) -> tuple[Array, Array]:
        context = self._context
        nx, ny, nz = voxels.shape
        faces = context.texture3d((nx, ny, nz), 1, voxels.faces.tobytes(), dtype="u1")
        faces.filter = moderngl.NEAREST, moderngl.NEAREST
        tables = [self._table(values) for values in (voxels.position, voxels.normal, voxels.colour, voxels.emitted)]
        radiance = context.texture3d((nx, ny, nz * 6), 4, dtype="f2")
        radiance.filter = moderngl.NEAREST, moderngl.NEAREST
        lamps = context.buffer(lamps_block(world.light.lamps).tobytes())
        lamps.bind_to_uniform_block(1)
        send = _Bake(context, "voxel_light.frag", len(voxels.face), 1, sky.defines)
        gather = _Bake(context, "probes.frag", int(np.prod(self._probes)), 2, sky.defines)
        spread = _Bake(context, "spread.frag", nx * ny * nz, 2, ())
        for bake in (send, gather, spread):
            bake.set(
                grid=(*voxels.low, voxels.size),
                probes=(*self.low, voxels.size * SPACING),
                probe_count=(*self._probes, 0),
                width=_WIDTH,
            )
        send.set(probes=(*self.low, self.spacing), probe_count=(*self.count, 0))
        context.enable_only(moderngl.NOTHING)
        for _ in range(BOUNCES):
            faces.use(0)
            for unit, table in zip((1, 2, 4, 5), tables, strict=True):
                table.use(unit)
            shadows.use(3, 8)
            sky.use(11)
            self.use(6, 7)
            send.run()
            volume = np.zeros((nz * 6, ny, nx, 4), "<f2")
            volume[voxels.index[:, 2] + voxels.face * nz, voxels.index[:, 1], voxels.index[:, 0]] = np.minimum(
                send.values(0), BRIGHTEST
            )
            radiance.write(volume.tobytes())
            radiance.use(1)
            gather.run()
            gather.targets[0].use(1)
            gather.targets[1].use(2)
            spread.run()
            light, side = _filled(*(spread.values(k).reshape(nz, ny, nx, 4) for k in range(2)))
            half = np.minimum(light, BRIGHTEST).astype("<f2"), side.astype("<f2")
            self._write(*half)
        return half

    def _table(self, values: Array) -> moderngl.Texture:
        data = np.zeros((_rows(len(values)) * _WIDTH, 4), "<f4")
        data[: len(values), :3] = values
        texture = self._context.texture((_WIDTH, len(data) // _WIDTH), 4, data.tobytes(), dtype="f4")
        texture.filter = moderngl.NEAREST, moderngl.NEAREST
        return texture


def _key(context: moderngl.Context, world: World, packed: PackedScene) -> str:
    """The name of all that a bake depends on: how it is done, by which driver, the light, and the standing geometry with its colours."""
    standing = [batch for batch in packed.batches if not batch.key.moves]
    pages = packed.paint.pages
    return fieldcache.key_of(
        VERSION,
        *(source(name) for name in ("voxel_light.frag", "probes.frag", "spread.frag")),
        *(context.info[name] for name in ("GL_RENDERER", "GL_VERSION")),
        world.light.model_dump_json(),
        f"{world.weather.cloud_cover!r}",  # nothing else of the weather lights things
        packed.low,
        packed.high,
        *(part for batch in standing for part in (str(batch.key), batch.vertices, batch.indices)),
        *(part for side in sorted({batch.key.page for batch in standing} - {0}) for part in (str(side), pages[side][:, ::8, ::8])),
    )


def _rows(count: int) -> int:
    return max((count + _WIDTH - 1) // _WIDTH, 1)


class _Bake:
    """A shader run once for each of ``count`` items, laid out in rows; its results as arrays."""

    def __init__(self, context: moderngl.Context, fragment: str, count: int, outputs: int, defines: tuple[str, ...]) -> None:
        self._context, self._count = context, count
        size = self._size = (_WIDTH, _rows(count))
        self.targets = [context.texture(size, 4, dtype="f4") for _ in range(outputs)]
        for target in self.targets:
            target.filter = moderngl.NEAREST, moderngl.NEAREST
        self._frame = context.framebuffer(self.targets)
        self._program = program(context, "full.vert", fragment, defines)
        self._pass = context.vertex_array(self._program, [])

    def set(self, **uniforms: Any) -> None:
        """Set those of the uniforms that the shader has."""
        for name, value in uniforms.items():
            if name in self._program:
                self._program[name] = value

    def run(self) -> None:
        """Compute."""
        self._frame.use()
        self._context.viewport = (0, 0, *self._size)
        self._pass.render(moderngl.TRIANGLES, vertices=3)

    def values(self, output: int) -> Array:
        """Results [count, 4]."""
        data = self._frame.read(components=4, attachment=output, dtype="f4")
        return np.frombuffer(data, "<f4").reshape(-1, 4)[: self._count]


def _filled(light: Array, side: Array) -> tuple[Array, Array]:
    """Voxels inside of things get the darkest of their neighbours outside: filtering then meets neither the black inside of a wall nor
    the daylight behind it. Arrays [z, y, x, 4]."""
    shape = light.shape[:3]
    light, side = light.reshape(-1, 4).copy(), side.reshape(-1, 4).copy()
    steps = (1, -1, shape[2], -shape[2], shape[1] * shape[2], -shape[1] * shape[2])
    brightness = np.where(side[:, 3] > UNKNOWN / 2, light[:, :3].sum(axis=1), np.inf).astype(np.float32)
    for _ in range(2):
        bad = np.flatnonzero(np.isinf(brightness))
        # A step over the grid's end lands in the next row: the outermost voxels are empty, so nothing wrong is found there.
        near = np.stack([np.clip(bad + step, 0, len(brightness) - 1) for step in steps])
        value = brightness[near]
        choice = np.argmin(value, axis=0)
        source = near[choice, np.arange(len(bad))]
        found = np.isfinite(brightness[source])
        bad, source = bad[found], source[found]
        new = brightness[source]
        light[bad], side[bad] = light[source], side[source]
        brightness[bad] = new
    side[side[:, 3] <= UNKNOWN / 2, 3] = 0
    return light.reshape(*shape, 4), side.reshape(*shape, 4)
