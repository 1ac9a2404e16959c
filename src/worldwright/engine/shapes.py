"""Parts of the world spec as Bullet shapes, and the mass properties of a body made of them.

What is touched is what is seen: a box is a box, a sphere a sphere; anything else that moves is the convex hull of its triangles, and
anything else that stands still is its triangles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet, core

from worldwright.assets.model import Mesh
from worldwright.errors import WorldwrightError
from worldwright.transforms import matrix_to_quat, quat_to_matrix
from worldwright.world.spec import Box, Capsule, Cylinder, Part, Sphere

F64 = NDArray[np.float64]

MARGIN = 0.0005
"""Bullet's collision margin in metres. Boxes and cylinders keep their size whatever it is; hulls and triangle meshes grow by it, so
that a hull on a mesh rests a millimetre above it."""
MAX_HULL_POINTS = 96
"""A hull's support costs a pass over its points in every contact test; more than this are never seen."""


@dataclass(frozen=True)
class Solid:
    """A shape of uniform density in the entity's frame: Bullet shape, pose, volume [m3], and the inertia [3, 3] of unit density about
    its own centre, in the entity's axes."""

    shape: bullet.BulletShape
    position: F64
    rotation: F64
    volume: float
    centre: F64
    inertia: F64
    thickness: float
    """Metres from the centre to the nearest face, about."""


@dataclass(frozen=True)
class MassProperties:
    """``centre`` of mass in the entity's frame, principal moments ``inertia`` [3] in kg m2, and the quaternion ``axes`` that turns the
    principal axes into the entity's."""

    centre: F64
    inertia: F64
    axes: F64


def triangle_shape(meshes: Sequence[Mesh]) -> bullet.BulletTriangleMeshShape:
    """A static shape of exactly these triangles, in their order over all meshes."""
    triangles = np.concatenate([mesh.positions[mesh.indices.astype(np.int64)] for mesh in meshes])
    return mesh_shape(triangles)


def mesh_shape(triangles: NDArray[np.float32]) -> bullet.BulletTriangleMeshShape:
    """A static shape of triangles [T, 3, 3]; a ray's triangle index is the row here."""
    count = len(triangles)
    data = core.GeomVertexData("", core.GeomVertexFormat.get_v3(), core.Geom.UH_static)
    data.unclean_set_num_rows(3 * count)
    view = memoryview(data.modify_array(0)).cast("B").cast("f")
    view[:] = memoryview(np.ascontiguousarray(triangles, dtype=np.float32).tobytes()).cast("f")
    primitive = core.GeomTriangles(core.Geom.UH_static)
    primitive.add_consecutive_vertices(0, 3 * count)
    primitive.close_primitive()
    geom = core.Geom(data)
    geom.add_primitive(primitive)
    mesh = bullet.BulletTriangleMesh()
    mesh.add_geom(geom)
    shape = bullet.BulletTriangleMeshShape(mesh, False)
    shape.set_margin(MARGIN)
    return shape


def box_shape(size: Sequence[float]) -> bullet.BulletBoxShape:
    """A box of full edge lengths."""
    shape = bullet.BulletBoxShape(core.Vec3(*(0.5 * x for x in size)))
    shape.set_margin(min(MARGIN, 0.1 * min(size)))
    return shape


def capsule_shape(radius: float, height: float) -> bullet.BulletCapsuleShape:
    """An upright capsule of whole height ``height``."""
    return bullet.BulletCapsuleShape(radius, max(0.0, height - 2 * radius), bullet.Z_up)


def solid(part: Part, points: Callable[[], F64], where: str) -> Solid:
    """A part of a moving body. ``points`` gives the corners [N, 3] of its triangles in the entity's frame: shapes without a form of
    their own in Bullet are the hull of these."""
    geometry = part.geometry
    match geometry:
        case Box():
            x, y, z = geometry.size
            volume = x * y * z
            moments = volume / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
            return _primitive(part, box_shape(geometry.size), volume, moments, 0.5 * min(geometry.size))
        case Sphere():
            r = geometry.radius
            volume = 4 / 3 * math.pi * r**3
            return _primitive(part, bullet.BulletSphereShape(r), volume, np.full(3, 0.4 * volume * r * r), r)
        case Cylinder():
            r, h = geometry.radius, geometry.height
            volume = math.pi * r * r * h
            shape = bullet.BulletCylinderShape(r, h, bullet.Z_up)
            shape.set_margin(min(MARGIN, 0.1 * min(r, h)))
            across = volume * (3 * r * r + h * h) / 12
            return _primitive(part, shape, volume, np.array([across, across, 0.5 * volume * r * r]), min(r, 0.5 * h))
        case Capsule():
            r = geometry.radius
            length = max(0.0, geometry.height - 2 * r)
            side, caps = math.pi * r * r * length, 4 / 3 * math.pi * r**3
            along = side * r * r / 2 + caps * 0.4 * r * r
            across = side * (length**2 / 12 + r * r / 4) + caps * (0.4 * r * r + length**2 / 4 + 3 * length * r / 8)
            return _primitive(part, capsule_shape(r, geometry.height), side + caps, np.array([across, across, along]), r)
        case _:
            return hull(points(), where)


def hull(points: F64, where: str) -> Solid:
    """The convex hull of points [N, 3], thinned to MAX_HULL_POINTS."""
    # Here: it takes as long to import as the rest of an engine, and few worlds need it.
    from scipy.spatial import ConvexHull, QhullError

    try:
        vertices = points[ConvexHull(points).vertices]
        if len(vertices) > MAX_HULL_POINTS:
            vertices = vertices[np.unique(np.argmax(_directions(MAX_HULL_POINTS) @ vertices.T, axis=1))]
        qhull = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise WorldwrightError(
            f"has no volume ({len(points)} points, flat or too few)", where=where, fix="a body that moves must be solid"
        ) from error
    inside = vertices.mean(axis=0)
    a, b, c = np.moveaxis(vertices[qhull.simplices] - inside, 1, 0)
    six = np.abs(np.einsum("ij,ij->i", a, np.cross(b, c)))
    volume = float(six.sum() / 6)
    centre = (six[:, None] / 24 * (a + b + c)).sum(axis=0) / volume
    # Second moments of a tetrahedron with one corner at the origin: V / 20 (s s^T + a a^T + b b^T + c c^T), s = a + b + c.
    second = sum(np.einsum("i,ij,ik->jk", six / 120, p, p) for p in (a + b + c, a, b, c))
    second = second - volume * np.outer(centre, centre)
    shape = bullet.BulletConvexHullShape()
    for x, y, z in vertices:
        shape.add_point(core.Point3(x, y, z))
    shape.set_margin(MARGIN)
    inertia = np.trace(second) * np.eye(3) - second
    thickness = float(np.min(-(qhull.equations[:, :3] @ (centre + inside)) - qhull.equations[:, 3]))
    return Solid(shape, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), volume, centre + inside, inertia, thickness)


def mass_properties(solids: Sequence[Solid], mass: float) -> MassProperties:
    """Of a rigid body of uniform density and total ``mass`` kg (Steiner's theorem; overlaps count twice)."""
    volumes = np.array([s.volume for s in solids])
    density = mass / volumes.sum()
    centre = (volumes[:, None] * np.array([s.centre for s in solids])).sum(axis=0) / volumes.sum()
    tensor = np.zeros((3, 3))
    for s in solids:
        d = s.centre - centre
        tensor += density * (s.inertia + s.volume * (d @ d * np.eye(3) - np.outer(d, d)))
    off = tensor - np.diag(np.diag(tensor))
    if np.abs(off).max() < 1e-6 * np.trace(tensor):
        return MassProperties(centre, np.diag(tensor).copy(), np.array([1.0, 0.0, 0.0, 0.0]))
    moments, axes = np.linalg.eigh(tensor)
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), range(3)])
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return MassProperties(centre, moments, matrix_to_quat(axes))


def _primitive(part: Part, shape: bullet.BulletShape, volume: float, moments: F64, thickness: float) -> Solid:
    position, rotation = np.array(part.position), np.array(part.rotation)
    r = quat_to_matrix(rotation)
    return Solid(shape, position, rotation, volume, position, r @ np.diag(moments) @ r.T, thickness)


def _directions(count: int) -> F64:
    """Directions spread evenly over the sphere (Fibonacci lattice) [count, 3]."""
    k = np.arange(count) + 0.5
    z = 1 - 2 * k / count
    a = k * math.pi * (3 - math.sqrt(5))
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(a), r * np.sin(a), z], axis=-1)
