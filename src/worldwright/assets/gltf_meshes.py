"""Primitives of glTF to triangles with normals and texture coordinates, in our axes.

Points and lines are left out; morph targets are not applied. Triangles without area are dropped. Vertex colours (COLOR_0) become a
small palette image with one texel a triangle colour, where the material has no base colour image: exact for models that are coloured
face by face, the mean of the corners otherwise. Where it has one, their mean goes into the base colour factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.gltf_accessors import read_accessor, read_floats
from worldwright.assets.gltf_document import Document, Value
from worldwright.assets.gltf_materials import Coordinates, Materials
from worldwright.assets.gltf_nodes import to_our_points
from worldwright.assets.model import Image, Surface

F32 = NDArray[np.float32]
MAX_JOINT = 65535


@dataclass(frozen=True)
class Primitive:
    """Triangles in the mesh's own frame. joints and weights as in ``Mesh``, but joints index the skin's list."""

    positions: F32
    normals: F32
    uvs: F32
    indices: NDArray[np.uint32]
    surface: Surface
    joints: NDArray[np.uint16] | None
    weights: F32 | None


class Primitives:
    """The meshes of a file, each read once. ``budget`` bounds the vertices that one file can make."""

    def __init__(self, document: Document, materials: Materials) -> None:
        self._document, self._materials = document, materials
        self._meshes = document.root.items("meshes")
        self._done: dict[int, tuple[Primitive, ...]] = {}
        self._coloured: dict[tuple[int | None, bytes], Surface] = {}

    def __len__(self) -> int:
        return len(self._meshes)

    def get(self, index: int) -> tuple[Primitive, ...]:
        """The triangles of mesh ``index``."""
        if index not in self._done:
            read = (self._primitive(value) for value in self._meshes[index].items("primitives", 65536))
            self._done[index] = tuple(p for p in read if p is not None)
        return self._done[index]

    def _primitive(self, value: Value) -> Primitive | None:
        mode = value.whole("mode", 4, high=6)
        if mode < 4:
            return None
        attributes = value.at("attributes")
        where = attributes.index("POSITION", len(self._document.accessors))
        if where is None:
            attributes.fail("POSITION is missing")
        positions = to_our_points(read_floats(self._document, where, ("VEC3",)))
        if np.abs(positions).max() > 1e7:
            attributes.at("POSITION").fail(f"a coordinate of {float(np.abs(positions).max()):g}", "scale the model to metres")
        count = len(positions)
        indices = self._triangles(value, mode, count)
        material = value.index("material", len(self._materials))
        look = self._materials.get(material)
        uvs = self._uvs(attributes, count, look.coordinates)
        normals = self._optional(attributes, "NORMAL", count, ("VEC3",))
        colours = self._optional(attributes, "COLOR_0", count, ("VEC3", "VEC4"))
        joints, weights = self._skinning(attributes, count)
        indices = _with_area(positions, indices)
        if not len(indices):
            return None
        surface = look.surface
        flat = colours is not None and surface.base_colour_image is None
        if colours is not None and not flat:
            mean = np.append(colours[indices.reshape(-1)].mean(axis=0), 1.0)[:4]
            surface = self._tinted(material, surface, mean)
        if normals is None or (flat and colours is not None and not _one_colour_a_vertex(colours, indices)):
            corners = indices.reshape(-1)
            positions, uvs = positions[corners], uvs[corners]
            normals = normals[corners] if normals is not None else None
            colours = colours[corners] if colours is not None else None
            joints, weights = (joints[corners], weights[corners]) if joints is not None and weights is not None else (None, None)
            indices = np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
        shading = to_our_points(normals) if normals is not None else np.zeros_like(positions)
        if flat and colours is not None:
            surface, uvs = self._palette(material, surface, colours, indices)
        return Primitive(positions, _unit_normals(positions, indices, shading), uvs, indices, surface, joints, weights)

    def _triangles(self, value: Value, mode: int, count: int) -> NDArray[np.uint32]:
        where = value.index("indices", len(self._document.accessors))
        if where is None:
            order = np.arange(count, dtype=np.int64)
        else:
            raw = read_accessor(self._document, where, ("SCALAR",))
            if raw.dtype.kind != "u":
                value.at("indices").fail(f"accessor {where} is no list of unsigned integers")
            order = raw[:, 0].astype(np.int64)
            if order.max() >= count:
                value.at("indices").fail(f"accessor {where} has index {int(order.max())}, there are {count} vertices")
        if mode == 4:
            if len(order) % 3:
                value.fail(f"{len(order)} indices make no whole triangles")
            return order.reshape(-1, 3).astype(np.uint32)
        if len(order) < 3:
            return np.zeros((0, 3), dtype=np.uint32)
        if mode == 5:
            triangles = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
            triangles[1::2] = triangles[1::2][:, [1, 0, 2]]
        else:
            triangles = np.stack([np.broadcast_to(order[0], len(order) - 2), order[1:-1], order[2:]], axis=1)
        return triangles.astype(np.uint32)

    def _optional(self, attributes: Value, name: str, count: int, kinds: tuple[str, ...]) -> F32 | None:
        where = attributes.index(name, len(self._document.accessors))
        if where is None:
            return None
        values = read_floats(self._document, where, kinds)
        if len(values) != count:
            attributes.at(name).fail(f"{len(values)} values for {count} vertices")
        return values

    def _uvs(self, attributes: Value, count: int, coordinates: Coordinates) -> F32:
        uvs = self._optional(attributes, f"TEXCOORD_{coordinates.channel}", count, ("VEC2",))
        if uvs is None:
            return np.zeros((count, 2), dtype=np.float32)
        if coordinates.matrix is not None:
            uvs = (uvs @ coordinates.matrix[:, :2].T + coordinates.matrix[:, 2]).astype(np.float32)
        return np.clip(uvs, -1e6, 1e6)

    def _skinning(self, attributes: Value, count: int) -> tuple[NDArray[np.uint16] | None, F32 | None]:
        """The four strongest of the influences (JOINTS_0, JOINTS_1, ...), which sum to 1."""
        joints, weights = [], []
        for k in range(4):
            at = attributes.index(f"JOINTS_{k}", len(self._document.accessors))
            share = self._optional(attributes, f"WEIGHTS_{k}", count, ("VEC4",))
            if at is None or share is None:
                break
            raw = read_accessor(self._document, at, ("VEC4",))
            if raw.dtype.kind != "u" or len(raw) != count or raw.max() > MAX_JOINT:
                attributes.at(f"JOINTS_{k}").fail(f"accessor {at} does not hold {count} times four joints")
            joints.append(raw.astype(np.uint16))
            weights.append(np.maximum(share, 0))
        if not joints:
            return None, None
        all_joints, all_weights = np.concatenate(joints, axis=1), np.concatenate(weights, axis=1)
        best = np.argsort(-all_weights, axis=1, kind="stable")[:, :4]
        four, strong = np.take_along_axis(all_joints, best, axis=1), np.take_along_axis(all_weights, best, axis=1)
        total = strong.sum(axis=1, keepdims=True)
        if not (total > 1e-6).all():
            strong = np.where(total > 1e-6, strong, np.array([1, 0, 0, 0], dtype=np.float32))
            total = strong.sum(axis=1, keepdims=True)
        return four, (strong / total).astype(np.float32)

    def _tinted(self, material: int | None, surface: Surface, mean: NDArray[np.floating]) -> Surface:
        key = (material, np.asarray(mean, dtype=np.float32).tobytes())
        if key not in self._coloured:
            r, g, b, a = (min(max(f * float(m), 0.0), 1.0) for f, m in zip(surface.base_colour, mean, strict=True))
            self._coloured[key] = replace(surface, base_colour=(r, g, b, a))
        return self._coloured[key]

    def _palette(self, material: int | None, surface: Surface, colours: F32, indices: NDArray[np.uint32]) -> tuple[Surface, F32]:
        """The surface with a palette image of the triangles' colours (linear in glTF, sRGB-coded in the image), and the coordinates."""
        rgba = np.ones((len(indices), 4))
        rgba[:, : colours.shape[1]] = np.clip(colours[indices].mean(axis=1), 0, 1)
        coded = rgba.copy()
        coded[:, :3] = np.where(
            rgba[:, :3] <= 0.0031308, rgba[:, :3] * 12.92, 1.055 * np.maximum(rgba[:, :3], 1e-9) ** (1 / 2.4) - 0.055
        )
        palette, entry = np.unique(np.rint(coded * 255).astype(np.uint8), axis=0, return_inverse=True)
        side = 1 << max(int(np.ceil(np.log2(len(palette)) / 2)), 0) if len(palette) > 1 else 1
        pixels = np.zeros((side * side, 4), dtype=np.uint8)
        pixels[: len(palette)] = palette
        entry = entry.reshape(-1)
        centre = np.stack([entry % side + 0.5, entry // side + 0.5], axis=1) / side
        uvs = np.zeros((len(colours), 2), dtype=np.float32)
        uvs[indices.reshape(-1)] = np.repeat(centre, 3, axis=0)
        key = (material, pixels.tobytes())
        if key not in self._coloured:
            self._coloured[key] = replace(surface, base_colour_image=Image(pixels.reshape(side, side, 4), srgb=True))
        return self._coloured[key], uvs


def _one_colour_a_vertex(colours: F32, indices: NDArray[np.uint32]) -> bool:
    """True when every triangle has one colour, so that its vertices need not be split."""
    corners = colours[indices]
    return bool((corners == corners[:, :1]).all())


def _with_area(positions: F32, indices: NDArray[np.uint32]) -> NDArray[np.uint32]:
    a, b, c = (positions[indices[:, k]].astype(np.float64) for k in range(3))
    return indices[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-14]


def _unit_normals(positions: F32, indices: NDArray[np.uint32], normals: F32) -> F32:
    """Unit normals; where a given one has no length, the mean of the faces around it."""
    length = np.linalg.norm(normals, axis=1)
    bad = ~(length > 1e-6)
    out = normals / np.where(bad, 1.0, length)[:, None]
    if bad.any():
        a, b, c = (positions[indices[:, k]].astype(np.float64) for k in range(3))
        faces = np.cross(b - a, c - a)
        total = np.zeros((len(positions), 3))
        for k in range(3):
            np.add.at(total, indices[:, k], faces)
        size = np.linalg.norm(total, axis=1, keepdims=True)
        total = np.where(size > 0, total / np.where(size > 0, size, 1.0), np.array([0.0, 0.0, 1.0]))
        out[bad] = total[bad]
    return out.astype(np.float32)
