"""A world's geometry for the tracer: all triangles in one list, cut into *solids* that move as one.

Solid 0 is everything that stands, in world space. Each body that moves and each character is a solid, whose vertices are placed for every
picture.
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
from worldwright.take.model import Instant
from worldwright.transforms import pose_matrix, quat_yaw
from worldwright.world.spec import World

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Solid:
    """Triangles ``triangles`` (a range of the list) over vertices ``vertices``. ``entity`` is 0 for what stands; ``body`` is its row in
    an instant's poses, ``model`` a character's; what stands has neither."""

    entity: int
    triangles: slice
    vertices: slice
    body: int | None = None
    model: Model | None = None


@dataclass(frozen=True)
class Geometry:
    """positions and normals [V, 3], uvs [V, 2], triangles [T, 3] (numbers of vertices), surface [T] (numbers into ``surfaces``), and the
    solids in order. Vertices of bodies are in their own frame, those of characters in the bind pose."""

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
    # What stands comes first: a list of its own.
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

    numbers: dict[int, int] = {}
    surfaces: list[Surface] = []
    columns: tuple[list[Array], ...] = ([], [], [], [], [])
    solids: list[Solid] = []
    v = t = 0
    for entity, body, own, group in [(0, None, None, standing), *moving]:
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
            solids.append(Solid(entity, slice(first_t, t), slice(first_v, v), body, own))
    if not solids:
        raise WorldwrightError("no triangles", where=f"world {world.name}")
    positions, normals, uvs, triangles, surface = (np.concatenate(column) for column in columns)
    return Geometry(positions, normals, uvs, triangles, surface, tuple(surfaces), tuple(solids))


def posed(solid: Solid, geometry: Geometry, instant: Instant) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """World positions and normals [V, 3] of the vertices of a solid that moves. Raises WorldwrightError when the instant is of another
    world."""
    if solid.body is not None:
        if solid.body >= len(instant.positions):
            raise WorldwrightError(f"{len(instant.positions)} bodies in the instant: too few", where=f"tick {instant.tick:g}")
        place = pose_matrix(instant.positions[solid.body], instant.rotations[solid.body])
        return _placed(geometry.positions[solid.vertices], geometry.normals[solid.vertices], place)
    assert solid.model is not None
    who = next((c for c in instant.characters if c.id == solid.entity), None)
    if who is None:
        raise WorldwrightError(f"character {solid.entity} is not in the instant", where=f"tick {instant.tick:g}")
    matrices = skin_matrices(solid.model, who.bones) if solid.model.skeleton is not None else None
    parts = [skin(mesh, solid.model, who.bones, matrices) for mesh in solid.model.meshes]
    positions, normals = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return _placed(positions, normals, pose_matrix(who.position, quat_yaw(who.yaw)))


def _placed(positions: Array, normals: Array, place: Array) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    turn = place[:3, :3].T
    return (positions @ turn + place[:3, 3]).astype(np.float32), (normals @ turn).astype(np.float32)
