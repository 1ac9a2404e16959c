"""The packed scene on the GPU, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.culling import commands, spheres, visible
from worldwright.render.raster.geometry import Batch, PackedScene
from worldwright.render.raster.poses import Poses
from worldwright.render.raster.shading import program

Array = NDArray[Any]

_FORMAT = "3f4 3f4 2f4 4u4"
_NAMES = ("in_position", "in_normal", "in_uv", "in_words")
_SKIN_FORMAT = "4u2 4f4"
_SKIN_NAMES = ("in_joints", "in_weights")


@dataclass
class _GpuBatch:
    batch: Batch
    camera: moderngl.VertexArray
    light: moderngl.VertexArray
    light_program: moderngl.Program
    indirect: moderngl.Buffer
    pages: moderngl.TextureArray | None


class GpuScene:
    """Vertex arrays, texture pages and matrices of a scene. ``defines`` specialise the geometry shaders (FLOW)."""

    def __init__(self, context: moderngl.Context, packed: PackedScene, defines: tuple[str, ...]) -> None:
        self.packed = packed
        self._context = context
        self._objects = context.buffer(reserve=packed.object_count * 96, dynamic=True)
        self._bones = context.buffer(reserve=max(packed.bone_count, 1) * 96, dynamic=True)
        self._pages = {side: self._page_array(layers) for side, layers in packed.paint.pages.items()}
        self._data_sampler = context.sampler(filter=(moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR))
        self._batches = [self._load(batch, defines) for batch in packed.batches]

    def _page_array(self, layers: Array) -> moderngl.TextureArray:
        count, height, width, _ = layers.shape
        array = self._context.texture_array((width, height, count), 4, np.ascontiguousarray(layers).data)
        array.build_mipmaps()
        array.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        array.repeat_x = array.repeat_y = True
        return array

    def _load(self, batch: Batch, defines: tuple[str, ...]) -> _GpuBatch:
        key, context = batch.key, self._context
        switches = {
            "PAGE": key.page > 0,
            "HOLES": key.holes,
            "DOUBLE_SIDED": key.double_sided,
            "MOVES": key.moves,
            "SKINNED": key.skinned,
            "NORMAL_MAPPED": key.normal_mapped,
            "EMISSIVE_MAPPED": key.emissive_mapped,
        }
        flags = tuple(name for name, on in switches.items() if on)
        vertices = context.buffer(batch.vertices.tobytes())
        indices = context.buffer(batch.indices.tobytes())
        content: list[tuple[Any, ...]] = [(vertices, _FORMAT, *_NAMES)]
        if batch.skin is not None:
            content.append((context.buffer(batch.skin.tobytes()), _SKIN_FORMAT, *_SKIN_NAMES))
        camera = context.vertex_array(
            program(context, "geometry.vert", "geometry.frag", flags + defines), content, indices, skip_errors=True
        )
        light_program = program(context, "geometry.vert", "shadow.frag", (*flags, "SHADOW"))
        light = context.vertex_array(light_program, content, indices, skip_errors=True)
        indirect = context.buffer(reserve=max(len(batch.starts), 1) * 20, dynamic=True)
        return _GpuBatch(batch, camera, light, light_program, indirect, self._pages.get(key.page))

    def set_poses(self, now: Poses, later: Poses) -> None:
        """Upload the matrices of now and of the next frame."""
        self._objects.write(np.stack([now.objects, later.objects], axis=1).tobytes())
        self._bones.write(np.stack([now.bones, later.bones], axis=1).tobytes())
        self._objects.bind_to_storage_buffer(0)
        self._bones.bind_to_storage_buffer(1)

    def draw(self, poses: Poses, planes: Array | None, eye: Array, hidden: tuple[int, ...] = ()) -> None:
        """Everything that a camera with these planes sees, near things first; everything without planes. Not the characters
        ``hidden``."""
        self._data_sampler.use(1)
        unseen = [k for k, rig in enumerate(self.packed.rigs) if rig.id in hidden]
        for item in self._batches:
            chosen = self._chosen(item.batch, poses, planes, eye)
            if unseen and item.batch.key.skinned:
                chosen = chosen[~np.isin(item.batch.objects[chosen], unseen)]
            if not len(chosen):
                continue
            if item.pages is not None:
                item.pages.use(0)
                item.pages.use(1)  # the same pages for normals and roughness, where a step between mip levels cannot be seen
            self._culling(not item.batch.key.double_sided)
            item.indirect.write(commands(item.batch, chosen).tobytes())
            item.camera.render_indirect(item.indirect, moderngl.TRIANGLES, count=len(chosen))
        self._data_sampler.clear(1)

    def draw_shadow(self, to_light: Array, poses: Poses, moving: bool, through_glow: bool = False) -> None:
        """What casts shadows, standing or moving, into a light's depth. ``to_light`` [4, 4] is world to the light's clip space. With
        ``through_glow`` surfaces that emit light cast none: a lamp's bulb and shade do not darken it."""
        planes = planes_of_light(to_light)
        for item in self._batches:
            if item.batch.key.moves != moving:
                continue
            chosen = self._chosen(item.batch, poses, planes, None)
            if not len(chosen):
                continue
            if item.pages is not None:
                item.pages.use(0)
            item.light_program["to_light"] = tuple(to_light.T.ravel().tolist())
            item.light_program["through_glow"] = through_glow
            item.indirect.write(commands(item.batch, chosen).tobytes())
            item.light.render_indirect(item.indirect, moderngl.TRIANGLES, count=len(chosen))

    def moving_spheres(self, poses: Poses) -> tuple[Array, Array]:
        """Bounding spheres of all that moves: centres [M, 3], radii [M]."""
        found = [spheres(item.batch, poses) for item in self._batches if item.batch.key.moves]
        if not found:
            return np.zeros((0, 3)), np.zeros(0)
        return np.concatenate([c for c, _ in found]).astype(np.float64), np.concatenate([r for _, r in found]).astype(np.float64)

    def _chosen(self, batch: Batch, poses: Poses, planes: Array | None, eye: Array | None) -> Array:
        centres, radii = spheres(batch, poses)
        chosen = np.arange(len(radii)) if planes is None else np.flatnonzero(visible(centres, radii, planes))
        if eye is None:
            return chosen
        return chosen[np.argsort(np.linalg.norm(centres[chosen] - eye, axis=1) - radii[chosen], kind="stable")]

    def _culling(self, on: bool) -> None:
        if on:
            self._context.enable(moderngl.CULL_FACE)
        else:
            self._context.disable(moderngl.CULL_FACE)


def planes_of_light(to_light: Array) -> Array:
    """The side planes [4, 4] of a light's box or pyramid."""
    x, y, _, w = to_light
    planes = np.stack([w + x, w - x, w + y, w - y])
    return planes / np.linalg.norm(planes[:, :3], axis=1, keepdims=True)
