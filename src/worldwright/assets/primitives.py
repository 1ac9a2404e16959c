"""The shapes of the world spec as triangles.

Triangles are counter-clockwise seen from outside; normals are unit, flat on flat faces and smooth on round ones. Texture coordinates
are metres of surface divided by the texture's ``size_m``, so that a brick is as large on a long wall as on a short one. Flat faces are
mapped from the entity's origin (not the part's), so that the courses run on from one part of a wall to the next.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Mesh, Surface
from worldwright.assets.textures import surface_of
from worldwright.errors import WorldwrightError
from worldwright.transforms import quat_to_matrix
from worldwright.world.spec import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    GltfModel,
    Heightfield,
    Material,
    Part,
    Sphere,
    TriangleMesh,
    Wedge,
)

Array = NDArray[Any]
Triangles = tuple[Array, Array, Array, Array]
"""positions [N, 3], normals [N, 3], uvs [N, 2] in metres of surface, indices [T, 3]."""

TOUCHED_SAGITTA = 0.002
"""How far, in metres, the facets of a round shape that is touched may lie inside the true surface."""
SEEN_SAGITTA = 0.012
"""The same for shapes that are only seen."""


def part_meshes(part: Part, material: Material) -> tuple[Mesh, ...]:
    """The triangles of a part in the part's own frame; ``placed`` brings them into the entity's.

    Args:
        part: any part but a glTF model.
        material: the material that ``part.material`` names.

    Raises:
        WorldwrightError: the part is a glTF model, which only a pack can give.
    """
    geometry = part.geometry
    size_m = material.texture.size_m if material.texture is not None else 1.0
    along = material.texture is not None and material.texture.kind in {"wood", "bark"}
    match geometry:
        case Box():
            made = _box(geometry.size, _origin(part), along)
        case Wedge():
            made = _flat(wedge_faces(geometry.size), _origin(part), along)
        case TriangleMesh():
            made = _flat(np.array(geometry.vertices)[np.array(geometry.triangles)], _origin(part), False)
        case Heightfield():
            made = heightfield(np.array(geometry.heights), geometry.size)
        case GltfModel():
            raise WorldwrightError(f"geometry {geometry.path!r} is a glTF model, not a primitive", fix="load it from its pack")
        case _:
            made = _round(geometry, _segments(geometry.radius, part.collide), size_m, along)
    return (_mesh(made, surface_of(material, part.material or ""), size_m),)


def _origin(part: Part) -> Array:
    """Where the part lies in its entity, in the part's axes."""
    return np.asarray(part.position) @ quat_to_matrix(part.rotation)


def mesh_volume(mesh: Mesh) -> float:
    """Volume in cubic metres enclosed by a closed mesh (divergence theorem: the sum of signed tetrahedra to the origin)."""
    a, b, c = np.moveaxis(mesh.positions[mesh.indices].astype(np.float64), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def _segments(radius: float, touched: bool) -> int:
    """An even number of facets around, so that they lie within the sagitta of the circle; from 12 (8 if only seen) to 48."""
    sagitta = TOUCHED_SAGITTA if touched else SEEN_SAGITTA
    exact = math.pi / math.acos(1 - sagitta / radius) if radius > sagitta else 0
    return 2 * math.ceil(min(48, max(12 if touched else 8, exact)) / 2)


def _mesh(made: Triangles, surface: Surface, size_m: float) -> Mesh:
    positions, normals, uvs, indices = made
    return Mesh(
        positions=positions.astype(np.float32),
        normals=normals.astype(np.float32),
        uvs=(uvs / size_m).astype(np.float32),
        indices=indices.astype(np.uint32),
        surface=surface,
    )


# --- flat faces -------------------------------------------------------------------------------------------------------------

_CORNERS = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
_BOX = np.array(
    [
        [0, 4, 6], [0, 6, 2],
        [1, 3, 7], [1, 7, 5],
        [0, 1, 5], [0, 5, 4],
        [2, 6, 7], [2, 7, 3],
        [0, 2, 3], [0, 3, 1],
        [4, 5, 7], [4, 7, 6],
    ]
)  # fmt: skip
_WEDGE = np.array([[0, 2, 3], [0, 3, 1], [1, 3, 7], [1, 7, 5], [0, 5, 7], [0, 7, 2], [0, 1, 5], [2, 7, 3]])


def box_faces(size: tuple[float, float, float]) -> Array:
    """Corners [12, 3, 3] of the triangles of a centred box."""
    return (_CORNERS * size)[_BOX]


def wedge_faces(size: tuple[float, float, float]) -> Array:
    """Corners [8, 3, 3] of the triangles of a centred wedge that rises towards +X."""
    return (_CORNERS * size)[_WEDGE]


def _box(size: tuple[float, float, float], origin: Array, along: bool) -> Triangles:
    """``_flat`` of a box, whose normals and axes are known beforehand."""
    unit, right, up = _box_axes()
    positions = (_CORNERS * size)[_BOX.ravel()]
    at = positions + origin
    u, v = np.einsum("ij,ij->i", at, right), -np.einsum("ij,ij->i", at, up)
    if along:
        turn = np.abs(up) @ size > np.abs(right) @ size + 1e-9
        u, v = np.where(turn, v, u), np.where(turn, -u, v)
    return positions, unit, np.stack([u, v], axis=-1), _THIRTY_SIX


_THIRTY_SIX = np.arange(36).reshape(12, 3)


@lru_cache(maxsize=1)
def _box_axes() -> tuple[Array, Array, Array]:
    """Normal, texture's right and texture's up at each of the 36 corners of a box's triangles."""
    corners = box_faces((1.0, 1.0, 1.0))
    unit = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    right, up = _axes(unit)
    return np.repeat(unit, 3, axis=0), np.repeat(right, 3, axis=0), np.repeat(up, 3, axis=0)


def _axes(unit: Array) -> tuple[Array, Array]:
    """The texture's right and up on faces of these normals [T, 3]: on walls up is +Z, on floors it is +Y."""
    level = (np.abs(unit[:, 2]) > np.abs(unit[:, :2]).max(axis=-1) + 1e-6)[:, None]
    right = np.cross(np.where(level, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]), unit)
    right /= np.linalg.norm(right, axis=-1, keepdims=True)
    return right, np.cross(unit, right)


def _flat(corners: Array, origin: Array, along: bool) -> Triangles:
    """Flat-shaded triangles, each mapped true to scale on its own plane: v runs down a wall, and along -Y on a floor.

    ``origin`` is where the part lies in its entity, in the part's axes. ``along`` turns the map of each face so that u, the
    direction of grain, follows the part's longest edge in that face. Triangles without area are dropped: they have no normal.
    """
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(cross, axis=-1)
    keep = area > 1e-14
    corners, unit = corners[keep], cross[keep] / area[keep, None]
    right, up = _axes(unit)
    at = corners + origin
    u, v = np.einsum("tcj,tj->tc", at, right), -np.einsum("tcj,tj->tc", at, up)
    if along:
        extent = np.ptp(corners.reshape(-1, 3), axis=0)
        turn = (np.abs(up) @ extent > np.abs(right) @ extent + 1e-9)[:, None]
        u, v = np.where(turn, v, u), np.where(turn, -u, v)
    count = 3 * len(corners)
    return (
        corners.reshape(count, 3),
        np.repeat(unit, 3, axis=0),
        np.stack([u, v], axis=-1).reshape(count, 2),
        np.arange(count).reshape(-1, 3),
    )


def heightfield(heights: Array, size: tuple[float, float]) -> Triangles:
    """A smooth-shaded surface over the rectangle ``size``; ``heights`` [rows, columns]. Normals are those of central differences."""
    rows, columns = heights.shape
    xs, ys = np.linspace(-size[0] / 2, size[0] / 2, columns), np.linspace(-size[1] / 2, size[1] / 2, rows)
    x, y = np.meshgrid(xs, ys)
    dy, dx = np.gradient(heights, size[1] / (rows - 1), size[0] / (columns - 1))
    normals = np.stack([-dx, -dy, np.ones_like(dx)], axis=-1).reshape(-1, 3)
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]
    return (
        np.stack([x, y, heights], axis=-1).reshape(-1, 3),
        normals / np.linalg.norm(normals, axis=-1, keepdims=True),
        np.stack([x, -y], axis=-1).reshape(-1, 2),
        np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3),
    )


# --- round shapes -----------------------------------------------------------------------------------------------------------
# A profile runs from the bottom of the axis to its top: radius, z, the outward normal (radial, z) and whether the piece to the next
# point is a surface (False: a crease, where a new piece starts with a normal of its own).

Profile = tuple[Array, Array, Array, int]
"""points [P, 2] (radius, z), normals [P, 2] (radial, z), surface [P - 1] bool, facets around."""


def sphere_profile(radius: float, segments: int) -> Profile:
    """A meridian from pole to pole."""
    a = np.linspace(-math.pi / 2, math.pi / 2, segments // 2 + 1)
    n = np.stack([np.cos(a), np.sin(a)], axis=-1)
    n[0], n[-1] = (0, -1), (0, 1)
    return radius * n, n, np.ones(len(n) - 1, bool), segments


def capsule_profile(radius: float, height: float, segments: int) -> Profile:
    """Two quarter circles and the side between them. A capsule not higher than it is wide is a sphere."""
    half = max(0.0, height / 2 - radius)
    a = np.linspace(0, math.pi / 2, max(3, segments // 4) + 1)
    top = np.stack([np.cos(a), np.sin(a)], axis=-1)
    top[-1] = (0, 1)
    low = top[::-1] * (1, -1)
    points = np.concatenate([radius * low - (0, half), radius * top + (0, half)])
    solid = np.ones(len(points) - 1, bool)
    solid[len(low) - 1] = half > 0
    return points, np.concatenate([low, top]), solid, segments


def cylinder_profile(radius: float, height: float, segments: int) -> Profile:
    """Bottom, side, top."""
    h = height / 2
    points = np.array([[0, -h], [radius, -h], [radius, -h], [radius, h], [radius, h], [0, h]])
    normals = np.array([[0, -1], [0, -1], [1, 0], [1, 0], [0, 1], [0, 1]], dtype=float)
    return points, normals, np.array([True, False, True, False, True]), segments


def cone_profile(radius: float, height: float, segments: int) -> Profile:
    """Bottom and mantle."""
    h = height / 2
    slant = np.array([height, radius]) / math.hypot(height, radius)
    points = np.array([[0, -h], [radius, -h], [radius, -h], [0, h]])
    return points, np.array([[0, -1], [0, -1], slant, slant]), np.array([True, False, True]), segments


@lru_cache(maxsize=1024)
def _round(geometry: Sphere | Cylinder | Cone | Capsule, segments: int, size_m: float, along: bool) -> Triangles:
    """The triangles of a round shape. Worlds repeat them (posts, balusters, blossoms): each is made once."""
    match geometry:
        case Sphere():
            profile = sphere_profile(geometry.radius, segments)
        case Cylinder():
            profile = cylinder_profile(geometry.radius, geometry.height, segments)
        case Cone():
            profile = cone_profile(geometry.radius, geometry.height, segments)
        case Capsule():
            profile = capsule_profile(geometry.radius, geometry.height, segments)
    return _revolve(*profile, size_m, along)


@lru_cache(maxsize=64)
def _ring(segments: int) -> tuple[Array, Array]:
    """Cosine and sine around, first and last the same point."""
    a = np.linspace(0, 2 * math.pi, segments + 1)
    c, s = np.cos(a), np.sin(a)
    c[-1], s[-1] = c[0], s[0]
    return c, s


def _revolve(points: Array, normals: Array, solid: Array, segments: int, size_m: float, along: bool) -> Triangles:
    """The surface of revolution of a profile. Around it the texture repeats a whole number of times; flat ends are mapped as planes. ``along``
    lets u, the direction of grain, run along the axis."""
    c, s = _ring(segments)
    rows = len(points)
    radius, z = points[:, :1], points[:, 1:]
    positions = np.stack([radius * c, radius * s, np.broadcast_to(z, (rows, segments + 1))], axis=-1)
    # A mantle's tip has the normal of the facet below it: halfway between the two edges of that facet.
    turn = np.zeros(rows)
    turn[(points[:, 0] < 1e-12) & (np.abs(normals[:, 0]) > 1e-12)] = math.pi / segments
    ct, st = c * np.cos(turn)[:, None] - s * np.sin(turn)[:, None], s * np.cos(turn)[:, None] + c * np.sin(turn)[:, None]
    unit = np.stack([normals[:, :1] * ct, normals[:, :1] * st, np.broadcast_to(normals[:, 1:], (rows, segments + 1))], axis=-1)

    around = max(1.0, np.rint(2 * math.pi * points[:, 0].max() / size_m)) * size_m
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    u = np.broadcast_to(np.linspace(0, around, segments + 1), (rows, segments + 1))
    v = np.broadcast_to(-length[:, None], (rows, segments + 1))
    if along:
        u, v = v, u
    end = _flat_ends(points, normals)[:, None]
    u, v = np.where(end, positions[..., 0], u), np.where(end, -positions[..., 1] * np.sign(z + 1e-9), v)

    k = np.arange(rows * (segments + 1)).reshape(rows, segments + 1)
    quads = [k[:-1, :-1][solid], k[:-1, 1:][solid], k[1:, 1:][solid], k[1:, :-1][solid]]
    a, b, d, e = quads
    lower = np.stack([a, b, d], axis=-1)[points[:-1, 0][solid] > 1e-12]
    upper = np.stack([a, d, e], axis=-1)[points[1:, 0][solid] > 1e-12]
    indices = np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)])
    return positions.reshape(-1, 3), unit.reshape(-1, 3), np.stack([u, v], axis=-1).reshape(-1, 2), indices


def _flat_ends(points: Array, normals: Array) -> Array:
    """Which profile points belong to a flat end: their normal is the axis and a neighbour shares their height and normal."""
    axial = np.abs(normals[:, 1]) > 1 - 1e-9
    same = (np.abs(np.diff(points[:, 1])) < 1e-12) & (np.abs(np.diff(points[:, 0])) > 1e-12)
    near = np.zeros(len(points), bool)
    near[:-1] |= same
    near[1:] |= same
    return axial & near


def placed(mesh: Mesh, position: Array, rotation: Array, scale: float = 1.0) -> Mesh:
    """A mesh moved by a pose (quaternion wxyz) after a uniform scale."""
    positions, normals = mesh.positions, mesh.normals
    if rotation[0] != 1.0:
        m = quat_to_matrix(rotation).T
        positions, normals = positions @ m, normals @ m
    return Mesh(
        positions=(positions * scale + position).astype(np.float32),
        normals=normals.astype(np.float32),
        uvs=mesh.uvs,
        indices=mesh.indices,
        surface=mesh.surface,
        name=mesh.name,
    )
