"""Other programs' axes and units into ours (right-handed, Z up, metres; quaternions w x y z; cameras OpenCV), for those who write adapters.

Sources: Unreal Engine 5, "Coordinate System and Spaces"; Unity Manual, "Rotation and orientation"; Godot Docs, "Introduction to 3D"; OpenUSD,
``UsdGeomCamera`` (Isaac Sim works in Z up metres); glTF 2.0, 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Axes:
    """``matrix`` [3, 3] turns (or mirrors) their axes into ours; ``metres`` is the length of their unit; ``camera`` [3, 3] has our camera's
    right, down and forward in their camera's axes, as columns."""

    name: str
    matrix: Array
    metres: float
    camera: Array

    def points(self, p: ArrayLike) -> Array:
        """Their positions [..., 3] in ours, metres. Velocities and sizes of steps are the same; directions want no unit: ``directions``."""
        return self.directions(p) * self.metres

    def directions(self, d: ArrayLike) -> Array:
        """Their directions [..., 3] in ours, as long as they were."""
        return np.asarray(d, dtype=np.float64) @ self.matrix.T

    def rotations(self, wxyz: ArrayLike) -> Array:
        """Their unit quaternions [..., 4], written w x y z, in ours. The axis of a turn is mirrored with its sense where handedness changes."""
        q = np.asarray(wxyz, dtype=np.float64)
        return np.concatenate([q[..., :1], self.spins(q[..., 1:])], axis=-1)

    def spins(self, v: ArrayLike) -> Array:
        """Their angular velocities [..., 3] (rad per s) in ours."""
        return self.directions(v) * np.linalg.det(self.matrix)

    def c2w(self, camera_to_world: ArrayLike) -> Array:
        """Their camera's pose [..., 4, 4] as our OpenCV ``c2w``."""
        pose = np.asarray(camera_to_world, dtype=np.float64)
        out = np.zeros_like(pose)
        out[..., :3, :3] = self.matrix @ pose[..., :3, :3] @ self.camera
        out[..., :3, 3] = self.points(pose[..., :3, 3])
        out[..., 3, 3] = 1.0
        return out


def _columns(*columns: tuple[int, int, int]) -> Array:
    return np.array(columns, dtype=np.float64).T


UNREAL = Axes("unreal", np.diag([1.0, -1, 1]), 0.01, _columns((0, 1, 0), (0, 0, -1), (1, 0, 0)))
"""Left-handed, Z up, centimetres; cameras look along +X with Y to the right. ``FQuat`` is x y z w: write it w x y z first."""
UNITY = Axes("unity", _columns((0, -1, 0), (0, 0, 1), (1, 0, 0)), 1.0, _columns((1, 0, 0), (0, -1, 0), (0, 0, 1)))
"""Left-handed, Y up, metres; cameras look along +Z. ``Quaternion`` is x y z w."""
GODOT = Axes("godot", _columns((0, -1, 0), (0, 0, 1), (-1, 0, 0)), 1.0, _columns((1, 0, 0), (0, -1, 0), (0, 0, -1)))
"""Right-handed, Y up, metres; things and cameras look along -Z. ``Quaternion`` is x y z w."""
ISAAC = Axes("isaac", np.eye(3), 1.0, _columns((1, 0, 0), (0, -1, 0), (0, 0, -1)))
"""Right-handed, Z up, metres (look at the stage's ``metersPerUnit``); USD's cameras look along -Z with Y up. Isaac's own API is w x y z."""
BLENDER = Axes("blender", np.eye(3), 1.0, _columns((1, 0, 0), (0, -1, 0), (0, 0, -1)))
"""Right-handed, Z up, metres; cameras look along -Z with Y up. Quaternions are w x y z."""
GLTF = Axes("gltf", _columns((1, 0, 0), (0, 0, 1), (0, -1, 0)), 1.0, _columns((1, 0, 0), (0, -1, 0), (0, 0, -1)))
"""Right-handed, Y up, metres; cameras look along -Z. Rotations are x y z w. (x, y, z) becomes (x, -z, y)."""
