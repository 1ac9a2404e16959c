"""The surface of a skinned character: which point of it lies nearest, exactly, and where that point goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Model

F64 = NDArray[np.float64]

SPACING = 0.08
"""Metres between the samples of a triangle, in the bind pose."""
MOST_STEPS = 12
NEIGHBOURS = 6
"""Samples whose triangles are tried for each point."""


@dataclass(frozen=True)
class Surface:
    """A character's triangles [T, 3], as indices into all its meshes' vertices one after the other, and samples spread over them: the
    triangle of each [S] and its barycentric coordinates [S, 3]. Small triangles have one sample, large ones many."""

    triangles: NDArray[np.int64]
    which: NDArray[np.int64]
    weights: F64


def surface_of(model: Model) -> Surface:
    """The surface of a model; the same for all poses."""
    parts, first = [np.zeros((0, 3), np.int64)], 0
    for mesh in model.meshes:
        parts.append(mesh.indices.astype(np.int64) + first)
        first += len(mesh.positions)
    triangles = np.concatenate(parts)
    vertices = np.concatenate([np.zeros((0, 3)), *(mesh.positions.astype(np.float64) for mesh in model.meshes)])
    corners = vertices[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1, initial=0.0)
    steps = np.clip(np.ceil(longest / SPACING), 1, MOST_STEPS).astype(np.int64)
    which, weights = [], []
    for n in np.unique(steps):
        grid = _grid(int(n))
        of = np.flatnonzero(steps == n)
        which.append(np.repeat(of, len(grid)))
        weights.append(np.tile(grid, (len(of), 1)))
    if not which:
        return Surface(triangles, np.zeros(0, np.int64), np.zeros((0, 3)))
    return Surface(triangles, np.concatenate(which), np.concatenate(weights))


def _grid(n: int) -> F64:
    """Barycentric coordinates [n (n + 1) / 2, 3] spread over a triangle, its corners cut off by a third of a step."""
    a, b = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    inside = a + b < n
    u, v = (a[inside] + 1 / 3) / n, (b[inside] + 1 / 3) / n
    return np.stack([u, v, 1 - u - v], axis=-1)


def nearest_point(surface: Surface, vertices: F64, points: F64) -> tuple[F64, NDArray[np.int64], F64]:
    """For points [P, 3] the nearest point of the surface with these ``vertices`` [N, 3]: distance [P], triangle [P], barycentric
    coordinates [P, 3].

    Exact where the nearest point lies inside of one of the triangles tried; else it may be too large, by less than the sample spacing.
    """
    corners = vertices[surface.triangles]
    samples = np.einsum("sk,ski->si", surface.weights, corners[surface.which])
    count = min(NEIGHBOURS, len(samples))
    from scipy.spatial import cKDTree  # here: half a second to import, for shots with characters alone

    _, found = cKDTree(samples).query(points, k=count)
    tried = surface.which[np.reshape(found, (len(points), count))]
    a, b, c = np.moveaxis(corners[tried], 2, 0)
    weights = _barycentric(points[:, None, :], a, b, c)
    at = weights[..., :1] * a + weights[..., 1:2] * b + weights[..., 2:] * c
    distance = np.linalg.norm(points[:, None, :] - at, axis=-1)
    best = np.argmin(distance, axis=1)
    rows = np.arange(len(points))
    return distance[rows, best], tried[rows, best], weights[rows, best]


def _barycentric(p: F64, a: F64, b: F64, c: F64) -> F64:
    """Coordinates [..., 3] of the foot of p on the plane of a, b, c (Ericson, Real-Time Collision Detection, 3.4), drawn into the
    triangle."""
    u, v, w = b - a, c - a, p - a

    def dot(x: F64, y: F64) -> F64:
        return np.einsum("...i,...i->...", x, y)

    uu, uv, vv, wu, wv = dot(u, u), dot(u, v), dot(v, v), dot(w, u), dot(w, v)
    area = uu * vv - uv * uv
    safe = np.where(area > 1e-18, area, 1.0)
    second, third = (vv * wu - uv * wv) / safe, (uu * wv - uv * wu) / safe
    weights = np.stack([1 - second - third, second, third], axis=-1)
    weights = np.where((area > 1e-18)[..., None], np.maximum(weights, 0), np.array([1.0, 0.0, 0.0]))
    return weights / weights.sum(axis=-1, keepdims=True)


def follow(surface: Surface, vertices: F64, triangle: NDArray[Any], weights: F64) -> F64:
    """Where points of the surface (triangle [P], barycentric [P, 3]) are with these ``vertices``: [P, 3]."""
    return np.einsum("pk,pki->pi", weights, vertices[surface.triangles[triangle]])
