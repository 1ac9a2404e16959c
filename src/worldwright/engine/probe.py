"""Rays against everything that can be seen, at any poses: the independent truth that rendered frames are compared with.

No renderer's code is used. Bullet finds the triangle; the distance is then computed again from that triangle and the pose in float64,
so that it is exact to nanometres rather than to Bullet's float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from panda3d import bullet, core

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.engine.physics import STATIC, configure
from worldwright.engine.protocol import RayHits
from worldwright.engine.shapes import mesh_shape
from worldwright.errors import WorldwrightError
from worldwright.transforms import quat_to_matrix
from worldwright.world.spec import World

F64 = NDArray[np.float64]


class GeometryProbe:
    """All visible triangles of all entities (also of parts that do not collide; not of characters) as rigid bodies at given poses.

    Rays meet both sides of a triangle, as Bullet cannot cull. The normal returned is the triangle's own, counter-clockwise outside:
    where it points along the ray (positive dot product) the ray met the back of the face, which a renderer draws only if the surface
    is double-sided.
    """

    def __init__(self, geometry: SceneGeometry, world: World, body_ids: Sequence[int]) -> None:
        configure()
        self.body_ids = tuple(int(id) for id in body_ids)
        self._bullet = bullet.BulletWorld()
        self._ids = np.zeros(len(world.entities) + 1, dtype=np.int32)
        self._slots: dict[bullet.BulletRigidBodyNode, int] = {}
        self._paths: list[core.NodePath | None] = []
        self._positions, self._rotations = np.zeros((len(world.entities), 3)), np.zeros((len(world.entities), 3, 3))
        first, corners = [0], [np.zeros((0, 3, 3))]
        for k, entity in enumerate(world.entities):
            id = world.entity_id(k)
            self._ids[k] = id
            self._positions[k], self._rotations[k] = entity.position, quat_to_matrix(entity.rotation)
            meshes = [m for m in geometry.entities.get(id, ()) if len(m.indices)]
            if not meshes:
                self._paths.append(None)
                first.append(first[-1])
                continue
            triangles = np.concatenate([m.positions[m.indices.astype(np.int64)] for m in meshes])
            node = bullet.BulletRigidBodyNode(entity.name)
            node.add_shape(mesh_shape(triangles))
            node.set_into_collide_mask(core.BitMask32.bit(STATIC))
            path = core.NodePath(node)
            path.set_pos_quat(core.Point3(*entity.position), core.Quat(*entity.rotation))
            self._bullet.attach(node)
            self._slots[node] = k
            self._paths.append(path)
            corners.append(triangles.astype(np.float64))
            first.append(first[-1] + len(triangles))
        self._first = np.array(first, dtype=np.int64)
        a, b, c = np.moveaxis(np.concatenate(corners), 1, 0)
        cross = np.cross(b - a, c - a)
        self._corner, self._normal = a, cross / np.maximum(np.linalg.norm(cross, axis=-1, keepdims=True), 1e-300)
        self._movers = [id - 1 for id in self.body_ids]
        unknown = [id for id in self.body_ids if not 1 <= id <= len(world.entities)]
        if unknown:
            raise WorldwrightError(f"body {unknown[0]} is no entity of world {world.name!r}", fix="give the take's own world")
        self._set: tuple[F64, F64] | None = None

    @classmethod
    def of(cls, world: World, packs: Mapping[str, Path]) -> Self:
        """A probe of a world, with all entities that can move in the order of ``Engine.body_ids``."""
        movers = [world.entity_id(k) for k, entity in enumerate(world.entities) if entity.body != "static"]
        return cls(build_scene(world, packs, images=False), world, movers)

    def set_poses(self, positions: ArrayLike, rotations: ArrayLike) -> None:
        """Move the bodies: positions [B, 3] metres and rotations [B, 4] wxyz in the order of ``body_ids``. Others stay."""
        p = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
        q = np.asarray(rotations, dtype=np.float64).reshape(-1, 4)
        if len(p) != len(self.body_ids) or len(q) != len(self.body_ids):
            raise WorldwrightError(f"{len(p)} positions and {len(q)} rotations for {len(self.body_ids)} bodies")
        if not (np.isfinite(p).all() and np.isfinite(q).all()):
            raise WorldwrightError("a pose is not finite", where="GeometryProbe.set_poses")
        if not len(p):
            return
        old = self._set
        changed = np.ones(len(p), bool) if old is None else np.any(p != old[0], axis=1) | np.any(q != old[1], axis=1)
        if not changed.any():
            return
        self._set = (p.copy(), q.copy())
        unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
        matrices = quat_to_matrix(unit)
        for i in np.flatnonzero(changed).tolist():
            slot = self._movers[i]
            self._positions[slot], self._rotations[slot] = p[i], matrices[i]
            path = self._paths[slot]
            if path is not None:
                path.set_pos_quat(core.Point3(*p[i].tolist()), core.Quat(*unit[i].tolist()))
        # Rays look in the broad phase first, which takes up the new places only in a step; nothing here is moved by one.
        self._bullet.do_physics(1e-3, 0, 1e-3)

    def cast_rays(self, origins: ArrayLike, directions: ArrayLike, max_distance: float) -> RayHits:
        """First hits of rays, origins and unit directions [N, 3]. About 4 microseconds a ray.

        ``normal`` is that of the triangle's front, also where its back was hit."""
        o = np.asarray(origins, dtype=np.float64).reshape(-1, 3)
        d = np.asarray(directions, dtype=np.float64).reshape(-1, 3)
        n = len(o)
        slots, triangles = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
        test, slot_of, point = self._bullet.ray_test_closest, self._slots, core.Point3
        for i, ((ax, ay, az), (bx, by, bz)) in enumerate(zip(o.tolist(), (o + d * max_distance).tolist(), strict=True)):
            result = test(point(ax, ay, az), point(bx, by, bz))
            if result.has_hit():
                slots[i], triangles[i] = slot_of[result.get_node()], result.get_triangle_index()
        hit = np.flatnonzero(slots >= 0)
        distance, entity, normal = np.full(n, np.inf), np.zeros(n, dtype=np.int32), np.zeros((n, 3))
        if len(hit):
            slot = slots[hit]
            row = self._first[slot] + triangles[hit]
            turn = self._rotations[slot]
            front = np.einsum("nij,nj->ni", turn, self._normal[row])
            corner = np.einsum("nij,nj->ni", turn, self._corner[row]) + self._positions[slot]
            steep = np.einsum("ni,ni->n", front, d[hit])
            distance[hit] = np.einsum("ni,ni->n", front, corner - o[hit]) / np.where(np.abs(steep) < 1e-12, 1e-12, steep)
            entity[hit], normal[hit] = self._ids[slot], front
        return RayHits(distance, entity, normal)
