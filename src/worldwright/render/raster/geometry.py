"""A world's geometry as few big arrays: what is drawn together lies together.

Everything with the same state of the GPU (texture page size, culling, holes, skinning) is a *batch*: one vertex array, one indirect
draw. A batch is cut into *chunks*, runs of triangles that are near each other and move together, which are culled as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Mesh, SceneGeometry
from worldwright.errors import WorldwrightError
from worldwright.render.raster.textures import Paint, paint_surfaces
from worldwright.transforms import pose_matrix
from worldwright.world.spec import World

Array = NDArray[Any]

VERTEX = np.dtype(
    [
        ("position", "<f4", 3),
        ("normal", "<f4", 3),
        ("uv", "<f4", 2),
        ("ids", "<u4"),
        ("base", "<u4"),
        ("params", "<u4"),
        ("emissive", "<u4"),
    ]
)
"""ids: entity | object << 16 (the object's row of matrices; 0 stands still). base, params, emissive: see ``Paint``."""
SKIN = np.dtype([("joints", "<u2", 4), ("weights", "<f4", 4)])

CELLS = 10
"""Chunks along the longest side of the standing geometry."""
MOST_TRIANGLES = 40_000_000


@dataclass(frozen=True, slots=True)
class BatchKey:
    """The state of the GPU that a batch needs. ``page`` is the side of its texture pages, 0 for none."""

    page: int
    holes: bool
    double_sided: bool
    moves: bool
    skinned: bool
    normal_mapped: bool
    emissive_mapped: bool


@dataclass(frozen=True)
class Batch:
    """Vertices and triangles drawn together. Chunk c is indices[starts[c]: starts[c] + counts[c]]; its bounding sphere is in the frame
    of object ``objects[c]``: centres [C, 3], radii [C]. For skinned chunks ``objects`` names the character and the sphere is unused."""

    key: BatchKey
    vertices: Array
    skin: Array | None
    indices: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    objects: NDArray[np.int32]
    centres: NDArray[np.float32]
    radii: NDArray[np.float32]


@dataclass(frozen=True)
class CharacterRig:
    """What is needed to pose a character: inverse_bind [J, 4, 4], and per joint how far its vertices reach from it, metres [J].
    ``first_bone`` is the place of its first matrix; one identity matrix more follows its joints, for meshes without a skin."""

    id: int
    inverse_bind: NDArray[np.float64]
    reach: NDArray[np.float64]
    first_bone: int


@dataclass(frozen=True)
class PackedScene:
    """Everything of a scene that the GPU gets. ``low`` and ``high`` bound the standing geometry, metres."""

    batches: tuple[Batch, ...]
    paint: Paint
    rigs: tuple[CharacterRig, ...]
    bone_count: int
    object_count: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def pack_scene(world: World, geometry: SceneGeometry, body_ids: Sequence[int]) -> PackedScene:
    """Lay out a scene. Object k + 1 is body ``body_ids[k]``; every other entity stands where the world says."""
    object_of = {entity: k + 1 for k, entity in enumerate(body_ids)}
    pieces: list[tuple[Mesh, int, int, Array | None]] = []
    for entity in sorted(geometry.entities):
        moving = object_of.get(entity, 0)
        spec = world.entities[entity - 1]
        place = None if moving else pose_matrix(spec.position, spec.rotation)
        pieces += [(mesh, entity, moving, place) for mesh in geometry.entities[entity]]
    triangles = sum(len(mesh.indices) for mesh, *_ in pieces)
    if triangles > MOST_TRIANGLES:
        raise WorldwrightError(f"{triangles:,} triangles; at most {MOST_TRIANGLES:,} can be drawn", where=f"world {world.name}")
    skinned = [(mesh, entity) for entity in sorted(geometry.characters) for mesh in geometry.characters[entity].meshes]
    paint = paint_surfaces([mesh.surface for mesh, *_ in pieces] + [mesh.surface for mesh, _ in skinned])

    groups: dict[BatchKey, list[tuple[Array, Array | None, Array, int]]] = {}
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for mesh, entity, moving, place in pieces:
        if not len(mesh.indices):
            continue
        vertices = _vertices(mesh, paint, entity, moving)
        if place is not None:
            vertices["position"] = mesh.positions @ place[:3, :3].T + place[:3, 3]
            vertices["normal"] = mesh.normals @ place[:3, :3].T
            low = np.minimum(low, vertices["position"].min(axis=0))
            high = np.maximum(high, vertices["position"].max(axis=0))
        groups.setdefault(_key(mesh, paint, bool(moving), False), []).append((vertices, None, mesh.indices, moving))

    rigs, first_bone = _rigs(geometry)
    rig_index = {rig.id: k for k, rig in enumerate(rigs)}
    for mesh, entity in skinned:
        if len(mesh.indices):
            rig = rigs[rig_index[entity]]
            vertices = _vertices(mesh, paint, entity, rig_index[entity])
            groups.setdefault(_key(mesh, paint, True, True), []).append(
                (vertices, _skin(mesh, rig), mesh.indices, rig_index[entity])
            )
    if not np.all(np.isfinite(low)):
        low, high = np.array(world.bounds.min, dtype=np.float64), np.array(world.bounds.max, dtype=np.float64)
    order = sorted(groups, key=lambda k: (k.holes, k.skinned, k.moves, k.page, k.double_sided, k.normal_mapped, k.emissive_mapped))
    batches = tuple(_batch(key, groups[key], low, high) for key in order)
    return PackedScene(batches, paint, rigs, first_bone, len(body_ids) + 1, low, high)


def _key(mesh: Mesh, paint: Paint, moves: bool, skinned: bool) -> BatchKey:
    row = paint.row(mesh.surface)
    surface = mesh.surface
    return BatchKey(
        page=row.page,
        holes=surface.alpha_cutoff is not None,
        double_sided=surface.double_sided,
        moves=moves,
        skinned=skinned,
        normal_mapped=surface.normal_image is not None,
        emissive_mapped=surface.emissive_image is not None,
    )


def _vertices(mesh: Mesh, paint: Paint, entity: int, object_index: int) -> Array:
    row = paint.row(mesh.surface)
    out = np.zeros(len(mesh.positions), dtype=VERTEX)
    out["position"], out["normal"], out["uv"] = mesh.positions, mesh.normals, mesh.uvs
    out["ids"] = entity | object_index << 16
    out["base"], out["params"], out["emissive"] = row.base, row.params, row.emissive
    return out


def _skin(mesh: Mesh, rig: CharacterRig) -> Array:
    out = np.zeros(len(mesh.positions), dtype=SKIN)
    if mesh.joints is None or mesh.weights is None:
        out["joints"][:, 0] = rig.first_bone + len(rig.inverse_bind)
        out["weights"][:, 0] = 1.0
    else:
        out["joints"] = mesh.joints + rig.first_bone
        out["weights"] = mesh.weights
    return out


def _rigs(geometry: SceneGeometry) -> tuple[tuple[CharacterRig, ...], int]:
    rigs: list[CharacterRig] = []
    first = 0
    for entity in sorted(geometry.characters):
        model = geometry.characters[entity]
        inverse = np.zeros((0, 4, 4)) if model.skeleton is None else model.skeleton.inverse_bind.astype(np.float64)
        reach = np.zeros(len(inverse))
        free = 0.0
        for mesh in model.meshes:
            if mesh.joints is None or mesh.weights is None:
                free = max(free, float(np.linalg.norm(mesh.positions, axis=1).max(initial=0)))
                continue
            for column in range(mesh.joints.shape[1]):
                joint = mesh.joints[:, column].astype(np.int64)
                local = np.einsum("vij,vj->vi", inverse[joint, :3, :3], mesh.positions) + inverse[joint, :3, 3]
                far = np.where(mesh.weights[:, column] > 0, np.linalg.norm(local, axis=1), 0)
                np.maximum.at(reach, joint, far)
        rigs.append(CharacterRig(entity, inverse, np.append(reach, free), first))
        first += len(inverse) + 1
    return tuple(rigs), first


def _batch(key: BatchKey, group: list[tuple[Array, Array | None, Array, int]], low: Array, high: Array) -> Batch:
    sizes = np.array([len(vertices) for vertices, *_ in group])
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    vertices = np.concatenate([part[0] for part in group])
    skin = np.concatenate([part[1] for part in group if part[1] is not None]) if key.skinned else None
    triangles = np.concatenate([part[2].astype(np.int64) + offset for part, offset in zip(group, offsets, strict=True)])
    owner = np.concatenate([np.full(len(part[2]), part[3]) for part in group])
    if key.moves:
        label = owner
    else:
        cell = max(float((high - low).max()) / CELLS, 1.0)
        middle = vertices["position"][triangles].mean(axis=1)
        x, y, z = np.clip((middle - low) // cell, 0, 1023).astype(np.int64).T
        label = (z << 20) | (y << 10) | x
    order = np.argsort(label, kind="stable")
    triangles, label, owner = triangles[order], label[order], owner[order]
    first = np.flatnonzero(np.concatenate([[True], label[1:] != label[:-1]]))
    last = np.append(first[1:], len(label))
    points = vertices["position"][triangles.reshape(-1)]
    corner = first * 3
    middle = (np.minimum.reduceat(points, corner) + np.maximum.reduceat(points, corner)) / 2
    reach = np.maximum.reduceat(np.linalg.norm(points - np.repeat(middle, (last - first) * 3, axis=0), axis=1), corner)
    centres, radii = middle.astype(np.float32), (reach * 1.0001 + 1e-4).astype(np.float32)
    return Batch(
        key,
        vertices,
        skin,
        triangles.astype(np.uint32),
        (first * 3).astype(np.uint32),
        ((last - first) * 3).astype(np.uint32),
        owner[first].astype(np.int32),
        centres,
        radii,
    )
