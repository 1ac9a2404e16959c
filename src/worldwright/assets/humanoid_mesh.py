"""Skinned surfaces swept from ellipses: the building blocks of the humanoid's body.

A ``Patch`` is a grid of rings, or a closed blob, with skin weights a vertex. Patches of one surface are merged into one mesh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Mesh, Surface

F64 = NDArray[np.float64]
Weights = Mapping[str, float]


@dataclass(frozen=True)
class Patch:
    """positions [N, 3] metres, uvs [N, 2] metres along the cloth, triangles [T, 3], weights one mapping of joint name to share a vertex."""

    positions: F64
    uvs: F64
    triangles: NDArray[np.int64]
    weights: Sequence[Weights]


@dataclass(frozen=True)
class Ring:
    """A super-ellipse: ``centre`` + a * ``u`` * cos + b * ``v`` * sin, where ``u`` and ``v`` carry the half-axes' lengths in metres.
    ``power`` 2 is an ellipse, more is squarer."""

    centre: F64
    u: F64
    v: F64
    weights: Weights
    power: float = 2.0


def sweep(rings: Sequence[Ring], sides: int, *, close_start: bool = True, close_end: bool = True) -> Patch:
    """A tube through the rings. The outside is where u x v points along the sweep. Ends are closed by fans."""
    angles = np.linspace(0.0, 2 * np.pi, sides + 1)
    grid = np.empty((len(rings), sides + 1, 3))
    for k, ring in enumerate(rings):
        c, s = np.cos(angles), np.sin(angles)
        c, s = (np.sign(w) * np.abs(w) ** (2.0 / ring.power) for w in (c, s))
        grid[k] = ring.centre + c[:, None] * ring.u + s[:, None] * ring.v
    grid[:, -1] = grid[:, 0]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff([r.centre for r in rings], axis=0), axis=1))])
    girth = float(np.mean([np.pi * (np.linalg.norm(r.u) + np.linalg.norm(r.v)) for r in rings]))
    uvs = np.stack(np.broadcast_arrays(angles[None, :] / (2 * np.pi) * girth, along[:, None]), axis=-1)
    weights: list[Weights] = [ring.weights for ring in rings for _ in range(sides + 1)]

    cell = np.arange(len(rings) - 1)[:, None] * (sides + 1) + np.arange(sides)[None, :]
    a, b, c2, d = cell, cell + 1, cell + sides + 1, cell + sides + 2
    triangles = [np.stack([a, b, d], axis=-1).reshape(-1, 3), np.stack([a, d, c2], axis=-1).reshape(-1, 3)]
    positions, texture = [grid.reshape(-1, 3)], [uvs.reshape(-1, 2)]
    count = len(rings) * (sides + 1)
    for close, row, flip in ((close_start, 0, True), (close_end, len(rings) - 1, False)):
        if close:
            positions.append(rings[row].centre[None])
            texture.append(uvs[row].mean(axis=0)[None])
            weights.append(rings[row].weights)
            first = row * (sides + 1) + np.arange(sides)
            fan = np.stack([first, first + 1, np.full(sides, count)], axis=-1)
            triangles.append(fan[:, ::-1] if flip else fan)
            count += 1
    return Patch(np.concatenate(positions), np.concatenate(texture), np.concatenate(triangles), weights)


def blob(centre: F64, radii: Sequence[float], weights: Weights, *, sides: int = 8, rows: int = 5, axes: F64 | None = None) -> Patch:
    """An ellipsoid with half-axes ``radii`` along ``axes`` (columns; the model's own by default)."""
    frame = np.eye(3) if axes is None else axes
    rings = []
    for angle in np.linspace(-np.pi / 2, np.pi / 2, rows + 2)[1:-1]:
        at = centre + frame[:, 2] * radii[2] * np.sin(angle)
        rings.append(Ring(at, frame[:, 0] * radii[0] * np.cos(angle), frame[:, 1] * radii[1] * np.cos(angle), weights))
    patch = sweep(rings, sides)
    positions = patch.positions.copy()
    positions[-2], positions[-1] = centre - frame[:, 2] * radii[2], centre + frame[:, 2] * radii[2]
    return Patch(positions, patch.uvs, patch.triangles, patch.weights)


def grid_patch(grid: F64, weights: Sequence[Sequence[Weights]], *, wrap: bool = False) -> Patch:
    """An open surface through ``grid`` [R, C, 3]; its outside is where (next column - this) x (next row - this) points. ``wrap`` joins
    the last column to the first."""
    rows, columns = grid.shape[:2]
    across = columns if wrap else columns - 1
    r, c = np.meshgrid(np.arange(rows - 1), np.arange(across), indexing="ij")
    a, b = r * columns + c, r * columns + (c + 1) % columns
    c2, d = a + columns, b + columns
    triangles = np.concatenate([np.stack([a, b, d], axis=-1).reshape(-1, 3), np.stack([a, d, c2], axis=-1).reshape(-1, 3)])
    step = np.linalg.norm(np.diff(grid, axis=0), axis=-1).mean(axis=1)
    v = np.concatenate([[0.0], np.cumsum(step)])
    u = np.linspace(0.0, float(np.linalg.norm(np.diff(grid, axis=1), axis=-1).sum(axis=1).mean()), columns)
    uvs = np.stack(np.broadcast_arrays(u[None, :], v[:, None]), axis=-1).reshape(-1, 2)
    return Patch(grid.reshape(-1, 3), uvs, triangles, [w for row in weights for w in row])


def build_mesh(name: str, surface: Surface, patches: Sequence[Patch], joints: Mapping[str, int]) -> Mesh:
    """One skinned mesh of the patches: smooth normals within a patch, four joints a vertex, no triangle without area."""
    positions, normals, uvs, triangles, bones, shares = [], [], [], [], [], []
    base = 0
    for patch in patches:
        faces = _with_area(patch.positions, patch.triangles)
        positions.append(patch.positions)
        normals.append(_smooth_normals(patch.positions, faces))
        uvs.append(patch.uvs)
        triangles.append(faces + base)
        for weights in patch.weights:
            ranked = sorted(weights.items(), key=lambda item: (-item[1], joints[item[0]]))[:4]
            total = sum(share for _, share in ranked)
            bones.append([joints[joint] for joint, _ in ranked] + [0] * (4 - len(ranked)))
            shares.append([share / total for _, share in ranked] + [0.0] * (4 - len(ranked)))
        base += len(patch.positions)
    return Mesh(
        positions=np.concatenate(positions).astype(np.float32),
        normals=np.concatenate(normals).astype(np.float32),
        uvs=np.concatenate(uvs).astype(np.float32),
        indices=np.concatenate(triangles).astype(np.uint32),
        surface=surface,
        joints=np.array(bones, dtype=np.uint16),
        weights=np.array(shares, dtype=np.float32),
        name=name,
    )


def _with_area(positions: F64, triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    return triangles[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-12]


def _smooth_normals(positions: F64, triangles: NDArray[np.int64]) -> F64:
    """Area-weighted vertex normals; vertices at one place (a seam, a pole) share theirs."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    _, place = np.unique(np.round(positions, 7), axis=0, return_inverse=True)
    place = place.reshape(-1)
    total = np.zeros((int(place.max()) + 1, 3))
    for k in range(3):
        np.add.at(total, place[triangles[:, k]], faces)
    normals = total[place]
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(length > 1e-12, normals / np.maximum(length, 1e-12), np.array([0.0, 0.0, 1.0]))
