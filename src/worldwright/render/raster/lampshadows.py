"""Shadows of lamps: six square maps around each lamp that casts shadows, in one atlas; row r is lamp r, column f the face.

What stands is drawn once. What moves is drawn for every picture, into an atlas of its own, where it is within a lamp's reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.culling import visible
from worldwright.render.raster.device import GL
from worldwright.render.raster.poses import Poses
from worldwright.render.raster.scene import GpuScene, planes_of_light
from worldwright.world.spec import Lamp

Array = NDArray[Any]

SIDE = 256
NEAR = 0.05


def face_matrix(lamp: Lamp, face: int) -> Array:
    """World to clip [4, 4] of one face: +x, -x, +y, -y, +z, -z. Across it lie the next two axes in order; depth is 0 at NEAR and 1 at
    the lamp's reach."""
    axis = face // 2
    across, up, forward = np.zeros(3), np.zeros(3), np.zeros(3)
    forward[axis], across[(axis + 1) % 3], up[(axis + 2) % 3] = 1.0 - 2 * (face % 2), 1.0, 1.0
    far = max(lamp.reach, 2 * NEAR)
    scale = far / (far - NEAR)
    rows = np.zeros((4, 4))
    rows[:, :3] = across, up, forward * scale, forward
    rows[:, 3] = -rows[:, :3] @ np.array(lamp.position)
    rows[2, 3] -= scale * NEAR
    return rows


class LampShadows:
    """Both atlases. ``row`` gives the row of a lamp, for those that cast shadows."""

    def __init__(self, context: moderngl.Context, gl: GL, lamps: Sequence[Lamp], scene: GpuScene) -> None:
        self._context, self._gl, self._scene, self._lamps = context, gl, scene, lamps
        casting = [k for k, lamp in enumerate(lamps) if lamp.shadow]
        self.row = {k: r for r, k in enumerate(casting)}
        self._faces = {k: [face_matrix(lamps[k], face) for face in range(6)] for k in casting}
        self._still, self._moving = (self._make() for _ in range(2))
        if casting:
            nothing = Poses(np.zeros((1, 3, 4), np.float32), np.zeros((1, 3, 4), np.float32), np.zeros((0, 3)), np.zeros(0))
            self._begin(self._still)
            for k in casting:
                for face in range(6):
                    self._draw(k, face, nothing, False)

    def _make(self) -> tuple[moderngl.Texture, moderngl.Framebuffer]:
        width, height = SIDE * 6, SIDE * max(len(self.row), 1)
        texture = self._context.depth_texture((1, 1))  # gets its size with its type: no need to make it twice
        self._gl.depth32f(texture, width, height)
        texture.compare_func = "<="
        texture.filter = moderngl.LINEAR, moderngl.LINEAR
        texture.repeat_x = texture.repeat_y = False
        return texture, self._context.framebuffer([], texture)

    def _begin(self, atlas: tuple[moderngl.Texture, moderngl.Framebuffer]) -> None:
        atlas[1].use()
        self._gl.clear_depth(1.0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="

    def _draw(self, lamp: int, face: int, poses: Poses, moving: bool) -> None:
        self._context.viewport = (face * SIDE, self.row[lamp] * SIDE, SIDE, SIDE)
        self._scene.draw_shadow(self._faces[lamp][face], poses, moving, through_glow=True)

    def draw_moving(self, poses: Poses, chosen: Sequence[int]) -> None:
        """Draw what moves around the lamps with these numbers."""
        if not self.row:
            return
        self._begin(self._moving)
        centres, radii = self._scene.moving_spheres(poses)
        for k in chosen:
            if k not in self.row:
                continue
            near = np.linalg.norm(centres - np.array(self._lamps[k].position), axis=1) < radii + self._lamps[k].reach
            for face in range(6) if near.any() else ():
                if visible(centres[near], radii[near], planes_of_light(self._faces[k][face])).any():
                    self._draw(k, face, poses, True)

    def use(self, still: int, moving: int) -> None:
        """Bind the atlases to texture units."""
        self._still[0].use(still)
        self._moving[0].use(moving)
