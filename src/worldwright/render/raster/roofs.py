"""What stands above: a depth map of the standing geometry seen straight from above, drawn once, for weather that needs one."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.device import GL
from worldwright.render.raster.poses import Poses
from worldwright.render.raster.scene import GpuScene
from worldwright.render.raster.shadows import box_matrix, light_axes

Array = NDArray[Any]

SIDE = 2048
_TO_UNIT = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 1]])


class Roofs:
    """``matrix`` [4, 4] is world to the map, each in [0, 1]."""

    def __init__(self, context: moderngl.Context, gl: GL, scene: GpuScene) -> None:
        packed = scene.packed
        axes = light_axes(np.array([0.0, 0.0, 1.0]))
        corners = np.stack([packed.low, packed.high]) @ axes.T
        clip = box_matrix(axes, corners.min(axis=0) - 0.1, corners.max(axis=0) + 0.1)
        self.matrix: Array = _TO_UNIT @ clip
        self._map = context.depth_texture((1, 1))  # gets its size with its type: no need to make it twice
        gl.depth32f(self._map, SIDE, SIDE)
        self._map.compare_func = "<="
        self._map.filter = moderngl.LINEAR, moderngl.LINEAR
        self._map.repeat_x = self._map.repeat_y = False
        context.framebuffer([], self._map).use()
        context.viewport = (0, 0, SIDE, SIDE)
        gl.clear_depth(1.0)
        context.enable_only(moderngl.DEPTH_TEST)
        context.depth_func = "<="
        nothing = Poses(np.zeros((1, 3, 4), np.float32), np.zeros((1, 3, 4), np.float32), np.zeros((0, 3)), np.zeros(0))
        scene.draw_shadow(clip, nothing, moving=False)

    def use(self, unit: int) -> None:
        """Bind the map."""
        self._map.use(unit)
