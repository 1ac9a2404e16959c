"""The standing geometry as voxels that know their colour: coarse, but enough for light that bounces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.passes import srgb_to_linear
from worldwright.render.raster.geometry import Batch, PackedScene
from worldwright.render.raster.textures import EMISSIVE_MOST

Array = NDArray[Any]

SMALLEST = 0.2
"""Metres a voxel at least."""
MOST_VOXELS = 300_000
MOST_SAMPLES = 400_000
SAMPLES_A_VOXEL = 6.0
"""Points taken on a surface for each voxel's face that it covers."""


@dataclass(frozen=True)
class Voxels:
    """A grid of ``shape`` (x, y, z) voxels of ``size`` metres from ``low``. ``faces[z, y, x]`` has bit f set when a surface in the
    voxel looks along face f (+x, -x, +y, -y, +z, -z). Entry e is such a face: voxel index [E, 3], face [E], and the means of its surface:
    position, unit normal, base colour, emitted radiance [E, 3]."""

    low: NDArray[np.float64]
    size: float
    shape: tuple[int, int, int]
    faces: NDArray[np.uint8]
    index: NDArray[np.int64]
    face: NDArray[np.int64]
    position: NDArray[np.float64]
    normal: NDArray[np.float64]
    colour: NDArray[np.float64]
    emitted: NDArray[np.float64]


def voxelise(packed: PackedScene) -> Voxels:
    """Voxels of what stands still."""
    extent = packed.high - packed.low
    size = max(SMALLEST, float((np.prod(np.maximum(extent, SMALLEST)) / MOST_VOXELS) ** (1 / 3)))
    low = packed.low - 2 * size
    nx, ny, nz = (int(n) for n in np.ceil((extent + 4 * size) / size))
    standing = [batch for batch in packed.batches if not batch.key.moves]
    area = sum(float(_areas(batch).sum()) for batch in standing)
    density = min(SAMPLES_A_VOXEL / size**2, MOST_SAMPLES / max(area, 1e-9))
    parts = [_samples(batch, packed, density) for batch in standing]
    if not parts:
        empty = np.zeros((0, 3))
        none = np.zeros(0, np.int64)
        faces = np.zeros((nz, ny, nx), np.uint8)
        return Voxels(low, size, (nx, ny, nz), faces, np.zeros((0, 3), np.int64), none, empty, empty, empty, empty)
    position, normal, colour, emitted = (np.concatenate(group) for group in zip(*parts, strict=True))
    axis = np.argmax(np.abs(normal), axis=1)
    face = axis * 2 + (np.take_along_axis(normal, axis[:, None], 1)[:, 0] < 0)
    cell = np.clip(((position - low) / size).astype(np.int64), 0, np.array([nx, ny, nz]) - 1)
    key = ((cell[:, 2] * ny + cell[:, 1]) * nx + cell[:, 0]) * 6 + face
    filled = np.bincount(key, minlength=nx * ny * nz * 6)
    unique = np.flatnonzero(filled)
    inverse, count = (np.cumsum(filled > 0) - 1)[key], filled[unique]

    def mean(values: Array) -> Array:
        return np.stack([np.bincount(inverse, values[:, k], len(unique)) for k in range(3)], axis=1) / count[:, None]

    place = unique // 6
    index = np.stack([place % nx, place // nx % ny, place // (nx * ny)], axis=1)
    faces = np.zeros((nz, ny, nx), np.uint8)
    np.bitwise_or.at(faces, (index[:, 2], index[:, 1], index[:, 0]), (1 << (unique % 6)).astype(np.uint8))
    unit = mean(normal)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-9)
    return Voxels(low, size, (nx, ny, nz), faces, index, unique % 6, mean(position), unit, mean(colour), mean(emitted))


def _corners(batch: Batch) -> Array:
    return batch.vertices["position"][batch.indices].astype(np.float64)


def _areas(batch: Batch) -> Array:
    a, b, c = np.moveaxis(_corners(batch), 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def _samples(batch: Batch, packed: PackedScene, density: float) -> tuple[Array, Array, Array, Array]:
    """Points over a batch's triangles: positions, unit normals, base colours, emitted radiance, [S, 3] each."""
    a, b, c = np.moveaxis(_corners(batch), 1, 0)
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    # The share of a point that is left over is carried to the next triangle, so that small triangles count by their area.
    edges = np.floor(np.cumsum(np.append(0.5, length / 2 * density))).astype(np.int64)
    triangle = np.repeat(np.arange(len(a)), np.diff(edges))
    k = np.arange(len(triangle), dtype=np.float64)
    u, v = (k * 0.7548776662466927) % 1, (k * 0.5698402909980532) % 1  # Roberts' R2 sequence
    over = u + v > 1
    u, v = np.where(over, 1 - u, u)[:, None], np.where(over, 1 - v, v)[:, None]
    position = a[triangle] * (1 - u - v) + b[triangle] * u + c[triangle] * v
    normal = cross[triangle] / np.maximum(length[triangle], 1e-12)[:, None]
    vertex = batch.vertices[batch.indices[:, 0]]
    colour = _colours(batch, packed, vertex)[triangle]
    words = vertex["emissive"][triangle].astype(np.int64)
    emitted = (np.stack([words & 1023, words >> 10 & 1023, words >> 20 & 1023], axis=1) / 1023.0) ** 2 * EMISSIVE_MOST
    if batch.key.double_sided:
        position, colour, emitted = (np.concatenate([x, x]) for x in (position, colour, emitted))
        normal = np.concatenate([normal, -normal])
    return position, normal, colour, emitted


def _colours(batch: Batch, packed: PackedScene, vertex: Array) -> Array:
    """The mean linear base colour of each triangle's surface [T, 3]."""
    if batch.key.page:
        pages = packed.paint.pages[batch.key.page]
        layer = vertex["params"] & 0xFFFF
        table = np.zeros((len(pages), 3))
        for used in np.flatnonzero(np.bincount(layer)):
            table[used] = srgb_to_linear(pages[used, ::8, ::8, :3] / 255.0).mean(axis=(0, 1))
        return table[layer]
    words = vertex["base"].astype(np.int64)
    return srgb_to_linear(np.stack([words & 255, words >> 8 & 255, words >> 16 & 255], axis=1) / 255.0).astype(np.float64)
