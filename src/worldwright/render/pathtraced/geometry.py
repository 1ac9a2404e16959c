"""A world's geometry for the tracer: all triangles in one list, cut into *solids* that move as one.

Solid 0 is everything that stands, in world space. Each moving body is a solid in its own frame, placed by a matrix a picture; each
character is one whose vertices are skinned for every picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.animation import skin, skin_matrices
from worldwright.assets.model import Mesh, Model, SceneGeometry, Surface
from worldwright.errors import WorldwrightError
from worldwright.take.model import CharacterInstant, Instant
from worldwright.transforms import pose_matrix, quat_yaw
from worldwright.world.spec import World

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Solid:
    """Triangles ``triangles`` (a range of the list) over vertices ``vertices``. ``entity`` is 0 for what stands; ``body`` is its row in
    an instant's poses, None for what stands and for characters."""

    entity: int
    triangles: slice
    vertices: slice
    body: int | None = None
    model: Model | None = None


@dataclass(frozen=True)
class Geometry:
    """positions and normals [V, 3], uvs [V, 2], triangles [T, 3] (numbers of vertices), surface [T] (numbers into ``surfaces``), and the
    solids in order. Vertices of characters are in the bind pose."""

    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    uvs: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    surface: NDArray[np.uint32]
    surfaces: tuple[Surface, ...]
    solids: tuple[Solid, ...]


def lay_out(world: World, geometry: SceneGeometry, body_ids: Sequence[int]) -> Geometry:
    """The geometry of a world; ``body_ids`` are those that move, in the order of an instant's rows."""
    row_of = {entity: k for k, entity in enumerate(body_ids)}
    standing: list[tuple[Mesh, Array, Array]] = []
    moving: list[tuple[int, int | None, Model | None, list[tuple[Mesh, Array, Array]]]] = []
    for entity in sorted(geometry.entities):
        meshes = geometry.entities[entity]
        if entity in row_of:
            moving.append((entity, row_of[entity], None, [(m, m.positions, m.normals) for m in meshes]))
            continue
        spec = world.entities[entity - 1]
        place = pose_matrix(spec.position, spec.rotation)
        standing += [(m, m.positions @ place[:3, :3].T + place[:3, 3], m.normals @ place[:3, :3].T) for m in meshes]
    for entity in sorted(geometry.characters):
        model = geometry.characters[entity]
        moving.append((entity, None, model, [(m, m.positions, m.normals) for m in model.meshes]))
    groups = [(0, None, None, standing), *moving]

    numbers: dict[int, int] = {}
    surfaces: list[Surface] = []
    columns: tuple[list[Array], ...] = ([], [], [], [], [])
    solids: list[Solid] = []
    v = t = 0
    for entity, body, model, group in groups:
        first_v, first_t = v, t
        for mesh, positions, normals in group:
            if id(mesh.surface) not in numbers:
                numbers[id(mesh.surface)] = len(surfaces)
                surfaces.append(mesh.surface)
            parts = (
                positions.astype(np.float32),
                normals.astype(np.float32),
                mesh.uvs.astype(np.float32),
                mesh.indices.astype(np.uint32) + np.uint32(v),
                np.full(len(mesh.indices), numbers[id(mesh.surface)], np.uint32),
            )
            for column, part in zip(columns, parts, strict=True):
                column.append(part)
            v, t = v + len(positions), t + len(mesh.indices)
        if t > first_t:
            solids.append(Solid(entity, slice(first_t, t), slice(first_v, v), body, model))
    if not solids:
        raise WorldwrightError("no triangles", where=f"world {world.name}")
    return Geometry(*(np.concatenate(column) for column in columns), tuple(surfaces), tuple(solids))


def body_pose(instant: Instant, body: int) -> Array:
    """Object-to-world [4, 4] of a body."""
    return pose_matrix(instant.positions[body], instant.rotations[body])


def skinned(solid: Solid, model: Model, instant: Instant) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """World positions and normals [V, 3] of a character's vertices. Raises WorldwrightError when the instant is of another world."""
    who: CharacterInstant | None = next((c for c in instant.characters if c.id == solid.entity), None)
    if who is None:
        raise WorldwrightError(f"character {solid.entity} is not in the instant", where=f"tick {instant.tick:g}")
    place = pose_matrix(who.position, quat_yaw(who.yaw))
    matrices = skin_matrices(model, who.bones) if model.skeleton is not None else None
    parts = [skin(mesh, model, who.bones, matrices) for mesh in model.meshes]
    positions = np.concatenate([p for p, _ in parts]) @ place[:3, :3].T + place[:3, 3]
    normals = np.concatenate([n for _, n in parts]) @ place[:3, :3].T
    return positions.astype(np.float32), normals.astype(np.float32)
