"""The physical sky as a texture that a shader reads with one fetch: octahedral, the zenith in its middle."""

from __future__ import annotations

import moderngl
import numpy as np

from worldwright.render.sky import sky_radiance
from worldwright.world.spec import World

SIDE = 256


class SkyTable:
    """``defines`` switch it on in the shaders; a gradient sky needs none, and has none."""

    def __init__(self, context: moderngl.Context, world: World) -> None:
        self.defines: tuple[str, ...] = ()
        self._table: moderngl.Texture | None = None
        if world.light.sky.model == "physical":
            self.defines = ("SKY_TABLE",)
            texels = np.zeros((SIDE, SIDE, 4), "<f4")
            texels[..., :3] = sky_radiance(world, octahedral_directions(SIDE))
            self._table = context.texture((SIDE, SIDE), 4, texels.tobytes(), dtype="f4")
            self._table.build_mipmaps()
            self._table.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR
            self._table.repeat_x = self._table.repeat_y = False

    def use(self, unit: int) -> None:
        """Bind it."""
        if self._table is not None:
            self._table.use(unit)


def octahedral_directions(side: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Unit directions [side, side, 3] of the texels of an octahedral map, as shaders/frame.glsl reads one: columns are x."""
    across = (np.arange(side) + 0.5) / side * 2 - 1
    y, x = np.meshgrid(across, across, indexing="ij")
    z = 1 - np.abs(x) - np.abs(y)
    fold = np.maximum(-z, 0)
    x, y = x - np.copysign(fold, x), y - np.copysign(fold, y)
    d = np.stack([x, y, z], axis=-1)
    return np.asarray(d / np.linalg.norm(d, axis=-1, keepdims=True))
