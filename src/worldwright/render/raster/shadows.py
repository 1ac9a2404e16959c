"""The sun's shadows: one map of all that stands, drawn once, and a small one of what moves, drawn for every picture."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.device import GL
from worldwright.render.raster.poses import Poses
from worldwright.render.raster.scene import GpuScene
from worldwright.render.sky import has_sun, sun_direction
from worldwright.world.spec import World

Array = NDArray[Any]

STILL_SIDE, MOVING_SIDE = 4096, 1024
_TO_UNIT = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 1]])


def light_axes(towards: Array) -> Array:
    """Rows [3, 3]: two axes across the light, then away from it."""
    helper = np.array([0.0, 1.0, 0.0]) if abs(towards[2]) > 0.9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(helper, towards)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(towards, x), -towards])


def box_matrix(axes: Array, low: Array, high: Array) -> Array:
    """World to clip [4, 4] (x, y in [-1, 1], z in [0, 1]) of the box low..high along ``axes``."""
    out = np.eye(4)
    size = np.maximum(high - low, 1e-3)
    out[:2, :3] = axes[:2] * (2 / size[:2, None])
    out[:2, 3] = -(high + low)[:2] / size[:2]
    out[2, :3] = axes[2] / size[2]
    out[2, 3] = -low[2] / size[2]
    return out


class SunShadows:
    """Both maps. Where the moving map lies depends on where things are at the instant alone; it moves by whole texels."""

    def __init__(self, context: moderngl.Context, gl: GL, world: World, scene: GpuScene) -> None:
        self._context, self._gl, self._scene = context, gl, scene
        self.on = has_sun(world.light)
        self._axes = light_axes(sun_direction(world))
        packed = scene.packed
        corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (packed.high - packed.low) + packed.low
        along = corners @ self._axes.T
        self._low, self._high = along.min(axis=0) - 0.1, along.max(axis=0) + 0.1
        self._still_map, self._still = self._make(STILL_SIDE if self.on else 1)
        self._moving_map, self._moving = self._make(MOVING_SIDE if self.on else 1)
        self._still_matrix = box_matrix(self._axes, self._low, self._high)
        self._still_texel = float((self._high - self._low)[:2].max()) / STILL_SIDE
        if self.on:
            nothing = Poses(np.zeros((1, 3, 4), np.float32), np.zeros((1, 3, 4), np.float32), np.zeros((0, 3)), np.zeros(0))
            self._draw(self._still, STILL_SIDE, self._still_matrix, nothing, False)

    def _make(self, side: int) -> tuple[moderngl.Texture, moderngl.Framebuffer]:
        texture = self._context.depth_texture((1, 1))  # gets its size with its type: no need to make it twice
        self._gl.depth32f(texture, side, side)
        texture.compare_func = "<="
        texture.filter = moderngl.LINEAR, moderngl.LINEAR
        texture.repeat_x = texture.repeat_y = False
        return texture, self._context.framebuffer([], texture)

    def _box(self, poses: Poses) -> tuple[Array, float] | None:
        """The box around all that moves: clip matrix and texel size; None when nothing moves."""
        centres, radii = self._scene.moving_spheres(poses)
        if not self.on or not len(radii):
            return None
        along = centres @ self._axes.T
        low, high = (along - radii[:, None]).min(axis=0), (along + radii[:, None]).max(axis=0)
        side = 2.0 ** (
            np.ceil(np.log2(max(float((high - low)[:2].max()) * 1.05, 0.5)) * 2) / 2
        )  # sizes in steps, so that they rarely change
        texel = side / MOVING_SIDE
        middle = np.round((low + high)[:2] / 2 / texel) * texel
        low = np.array([*(middle - side / 2), low[2] - 0.1])
        high = np.array([*(middle + side / 2), max(high[2], self._high[2]) + 0.1])
        return box_matrix(self._axes, low, high), texel

    def fill_still(self, block: Array) -> None:
        """Write the standing map's matrix into a frame block."""
        block["sun_still"] = (_TO_UNIT @ self._still_matrix).T
        block["sun_texels"] = [self._still_texel, 0, 0, 0]

    def fill_block(self, block: Array, poses: Poses) -> None:
        """Write the maps' matrices into a frame block."""
        box = self._box(poses)
        block["sun_still"] = (_TO_UNIT @ self._still_matrix).T
        block["sun_moving"] = (_TO_UNIT @ (self._still_matrix if box is None else box[0])).T
        block["sun_texels"] = [self._still_texel, 0 if box is None else box[1], box is not None, 0]

    def draw_moving(self, poses: Poses) -> None:
        """Draw the map of what moves."""
        box = self._box(poses)
        if box is not None:
            self._draw(self._moving, MOVING_SIDE, box[0], poses, True)

    def _draw(self, target: moderngl.Framebuffer, side: int, matrix: Array, poses: Poses, moving: bool) -> None:
        target.use()
        self._context.viewport = (0, 0, side, side)
        self._gl.clear_depth(1.0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        self._scene.draw_shadow(matrix, poses, moving)

    def use(self, still: int, moving: int) -> None:
        """Bind the maps to texture units."""
        self._still_map.use(still)
        self._moving_map.use(moving)
