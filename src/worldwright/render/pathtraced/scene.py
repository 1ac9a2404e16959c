"""The scene in Mitsuba: what rays hit, and the tables that say what they found. Built once; what moves is moved, not built again."""

from __future__ import annotations

from typing import Any

import drjit as dr
import mitsuba as mi
import numpy as np
from numpy.typing import NDArray

from worldwright.render.pathtraced.geometry import Geometry, Solid, body_pose, skinned
from worldwright.render.pathtraced.paint import Paint
from worldwright.take.model import Instant

Array = NDArray[Any]


class TracedScene:
    """Standing and moving solids are instances of one mesh each, so that a move rebuilds only the small tree above them; characters
    are meshes of their own, whose vertices change. ``pose`` puts everything where an instant says.

    Tables for the tracer, flat: ``places`` and ``sides`` 4 floats a vertex (position, u; normal, v), ``corners`` 4 words a triangle (three
    vertices, surface), ``objects`` 12 floats a solid (rows of object to world), ``first`` and ``solid`` by Mitsuba's number of a shape,
    ``entities`` by solid; ``rows`` and ``texels`` as in ``Paint``.
    """

    def __init__(self, geometry: Geometry, paint: Paint) -> None:
        self._geometry = geometry
        self._vertices = np.zeros((2, len(geometry.positions), 4), np.float32)
        self._vertices[0, :, :3], self._vertices[1, :, :3] = geometry.positions, geometry.normals
        self._vertices[0, :, 3], self._vertices[1, :, 3] = geometry.uvs.T
        self._objects = np.tile(np.eye(4, dtype=np.float32)[:3], (len(geometry.solids), 1, 1))
        content: dict[str, Any] = {"type": "scene"}
        for k, solid in enumerate(geometry.solids):
            mesh = self._mesh(f"solid{k}", solid)
            if solid.model is not None:
                content[f"solid{k}"] = mesh
            else:
                content[f"group{k}"] = {"type": "shapegroup", "mesh": mesh}
                content[f"solid{k}"] = {"type": "instance", "of": {"type": "ref", "id": f"group{k}"}}
        self.scene = mi.load_dict(content, parallel=False)
        self._params = mi.traverse(self.scene)
        shapes = {shape.id(): shape for shape in self.scene.shapes()}
        numbers = [int(dr.reinterpret_array(mi.UInt32, mi.ShapePtr(shapes[f"solid{k}"]))[0]) for k in range(len(geometry.solids))]
        first, solid_of = np.zeros(max(numbers) + 1, np.uint32), np.zeros(max(numbers) + 1, np.uint32)
        for k, (number, solid) in enumerate(zip(numbers, geometry.solids, strict=True)):
            first[number], solid_of[number] = solid.triangles.start, k
        self.first, self.solid = mi.UInt32(first), mi.UInt32(solid_of)
        self.entities = mi.UInt32(np.array([solid.entity for solid in geometry.solids], np.uint32))
        self.corners = mi.UInt32(np.column_stack([geometry.triangles, geometry.surface]).astype(np.uint32).ravel())
        self.rows, self.texels = mi.UInt32(paint.rows.ravel()), mi.UInt32(paint.texels)
        self.holes, self.glow_pages = paint.holes, paint.glow_pages
        self._upload()

    def _mesh(self, name: str, solid: Solid) -> Any:
        positions = self._geometry.positions[solid.vertices]
        triangles = self._geometry.triangles[solid.triangles] - np.uint32(solid.vertices.start)
        mesh = mi.Mesh(name, len(positions), len(triangles))
        params = mi.traverse(mesh)
        params["vertex_positions"] = mi.Float(positions.ravel())
        params["faces"] = mi.UInt32(triangles.ravel())
        params.update()
        return mesh

    def _upload(self) -> None:
        self.places, self.sides = (mi.Float(part.ravel()) for part in self._vertices)
        self.objects = mi.Float(self._objects.ravel())

    def pose(self, instant: Instant) -> None:
        """Move what moves. What stands where it stood is left alone."""
        changed = False
        for k, solid in enumerate(self._geometry.solids):
            if solid.body is not None:
                place = body_pose(instant, solid.body).astype(np.float32)
                if np.array_equal(place[:3], self._objects[k]):
                    continue
                self._objects[k] = place[:3]
                self._params[f"solid{k}.to_world"] = mi.Transform4f(place)
                changed = True
            elif solid.model is not None:
                positions, normals = skinned(solid, solid.model, instant)
                if np.array_equal(positions, self._vertices[0, solid.vertices, :3]):
                    continue
                self._vertices[0, solid.vertices, :3], self._vertices[1, solid.vertices, :3] = positions, normals
                self._params[f"solid{k}.vertex_positions"] = mi.Float(positions.ravel())
                changed = True
        if changed:
            dr.sync_thread()  # no ray may be on its way while the tree changes
            self._params.update()
            self._upload()
