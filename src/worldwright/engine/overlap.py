"""Whether an upright capsule is free of triangles: exact geometry in numpy, asked once per spawn.

Bullet's own contact test does not do for this: its meshes are hollow, deep overlaps are not always found, and Panda hands out points of
several contacts that are all the last one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def capsule_overlap(low: F64, high: F64, radius: float, triangles: F64) -> float:
    """How deep, in metres, triangles [T, 3, 3] reach into the capsule around the segment low-high; <= 0: free.

    The axis is sampled every 0.28 radii: near the surface the answer is right to a hundredth of the radius, near the axis to a seventh
    (a point between two samples is at most d = 0.14 r from one, so a distance s is taken for sqrt(s^2 + d^2) at most). Deep inside a
    closed surface the answer is the radius, though nothing is near."""
    count = max(2, math.ceil(float(np.linalg.norm(high - low)) / (0.28 * radius)) + 1)
    points = low + np.linspace(0, 1, count)[:, None] * (high - low)
    corners = triangles.reshape(-1, 3, 3)
    near = np.all(corners.min(axis=1) <= np.maximum(low, high) + radius, axis=1)
    near &= np.all(corners.max(axis=1) >= np.minimum(low, high) - radius, axis=1)
    depth = -math.inf
    if near.any():
        depth = radius - math.sqrt(min(float(_squared_distances(point, corners[near]).min()) for point in points))
    inside = np.all((points > corners.min(axis=(0, 1))) & (points < corners.max(axis=(0, 1))), axis=1)
    if any(winding_number(point, corners) > 0.75 for point in points[inside]):
        depth = max(depth, radius)
    return depth


def winding_number(point: F64, triangles: F64) -> float:
    """How many times closed triangles [T, 3, 3] wind around a point: 1 inside, 0 outside; open surfaces give shares.

    The sum of signed solid angles over 4 pi (Van Oosterom and Strackee 1983)."""
    r = triangles - point
    length = np.linalg.norm(r, axis=-1)
    a, b, c = r[:, 0], r[:, 1], r[:, 2]
    la, lb, lc = length.T
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la + np.einsum("ij,ij->i", c, a) * lb
    return float(np.sum(2 * np.arctan2(volume, la * lb * lc + dot)) / (4 * math.pi))


def _squared_distances(p: F64, triangles: F64) -> F64:
    """Squared distances [T] from a point to triangles: to the face where the point projects into it, else to the nearest edge."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(b - a, c - a)
    area = np.einsum("ij,ij->i", normal, normal)
    best = np.full(len(triangles), np.inf)
    over = area > 0
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        length = np.einsum("ij,ij->i", edge, edge)
        t = np.clip(np.einsum("ij,ij->i", p - start, edge) / np.where(length > 0, length, 1), 0, 1)
        away = p - start - t[:, None] * edge
        best = np.minimum(best, np.einsum("ij,ij->i", away, away))
        over &= np.einsum("ij,ij->i", np.cross(edge, p - start), normal) >= 0
    height = np.einsum("ij,ij->i", p - a, normal)
    return np.where(over, height * height / np.where(area > 0, area, 1), best)
