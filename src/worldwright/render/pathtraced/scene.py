"""The scene in Mitsuba: what rays hit, and the tables that say what they found. Built once; what moves is moved, not built again."""

from __future__ import annotations

from typing import Any

import drjit as dr
import mitsuba as mi
import numpy as np
from numpy.typing import NDArray

from worldwright.render.pathtraced.geometry import Geometry, Solid, posed
from worldwright.render.pathtraced.paint import Paint
from worldwright.take.model import Instant

Array = NDArray[Any]


class TracedScene:
    """A mesh for each solid. ``pose`` puts everything where an instant says. (Instances would move for half the time, and cost every ray
    a quarter more: measured in ``benchmarks/pathtraced.py``'s world.)

    Tables for the tracer, flat: ``places`` and ``sides`` 4 floats a vertex (world position, u; normal, v), ``corners`` 4 words a triangle
    (three vertices, surface), ``first`` triangle and ``entities`` by Mitsuba's number of a shape; ``rows`` and ``texels`` as in ``Paint``.
    """

    def __init__(self, geometry: Geometry, paint: Paint) -> None:
        self._geometry = geometry
        self._vertices = np.zeros((2, len(geometry.positions), 4), np.float32)
        self._vertices[0, :, :3], self._vertices[1, :, :3] = geometry.positions, geometry.normals
        self._vertices[0, :, 3], self._vertices[1, :, 3] = geometry.uvs.T
        meshes = {f"solid{k}": self._mesh(f"solid{k}", solid) for k, solid in enumerate(geometry.solids)}
        self.scene: Any = mi.load_dict({"type": "scene", **meshes}, parallel=False)
        self._params = mi.traverse(self.scene)
        numbers = [int(dr.reinterpret_array(mi.UInt32, mi.ShapePtr(mesh))[0]) for mesh in meshes.values()]
        first, entities = np.zeros(max(numbers) + 1, np.uint32), np.zeros(max(numbers) + 1, np.uint32)
        for number, solid in zip(numbers, geometry.solids, strict=True):
            first[number], entities[number] = solid.triangles.start, solid.entity
        self.first, self.entities = mi.UInt32(first), mi.UInt32(entities)
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
        # A copy each time: Dr.Jit reads numpy's memory where it lies, and a picture that is on its way must not see the next one's places.
        self.places, self.sides = (mi.Float(part.flatten()) for part in self._vertices)

    def pose(self, instant: Instant) -> None:
        """Move what moves. What stands where it stood is left alone."""
        moved: dict[str, Any] = {}
        for k, solid in enumerate(self._geometry.solids):
            if solid.body is None and solid.model is None:
                continue
            positions, normals = posed(solid, self._geometry, instant)
            if not np.array_equal(positions, self._vertices[0, solid.vertices, :3]):
                self._vertices[0, solid.vertices, :3], self._vertices[1, solid.vertices, :3] = positions, normals
                moved[f"solid{k}.vertex_positions"] = positions.ravel()
        if moved:
            dr.sync_thread()  # rays of the picture before may still be on their way, and read the memory that is let go of here
            for name, positions in moved.items():
                self._params[name] = mi.Float(positions)
            self._params.update()
            self._upload()
