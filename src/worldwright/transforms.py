"""Rotations, poses and cameras as plain arrays.

Right-handed, Z up, metres, radians. Quaternions are (w, x, y, z). Poses are local-to-world. Cameras are OpenCV: x right, y down,
z forward; ``c2w`` is 4x4; ``K`` is 3x3 in pixels, and the centre of pixel (column u, row v) lies at (u + 0.5, v + 0.5).
Every function takes any leading batch shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def quat_normalise(q: ArrayLike) -> Array:
    """Unit quaternion [..., 4]."""
    q = np.asarray(q, dtype=np.float64)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def quat_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product [..., 4]: the rotation ``b`` first, then ``a``."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a, dtype=np.float64), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b, dtype=np.float64), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quat_conjugate(q: ArrayLike) -> Array:
    """Inverse of a unit quaternion [..., 4]."""
    return np.asarray(q, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0])


def quat_to_matrix(q: ArrayLike) -> Array:
    """Rotation matrix [..., 3, 3] of unit quaternions [..., 4]."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def matrix_to_quat(m: ArrayLike) -> Array:
    """Unit quaternion [..., 4] with w >= 0 of rotation matrices [..., 3, 3] (Shepperd's method: the largest term decides)."""
    m = np.asarray(m, dtype=np.float64)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    four = np.stack([1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22], axis=-1)
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    candidates = np.stack(
        [
            np.stack([four[..., 0], a, b, c], axis=-1),
            np.stack([a, four[..., 1], d, e], axis=-1),
            np.stack([b, d, four[..., 2], f], axis=-1),
            np.stack([c, e, f, four[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(four, axis=-1)
    q = np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    q = quat_normalise(q)
    return np.where(q[..., :1] < 0, -q, q)


def quat_rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Vectors [..., 3] turned by unit quaternions [..., 4]."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    u = q[..., 1:]
    t = 2.0 * np.cross(u, v)
    return np.asarray(v + q[..., :1] * t + np.cross(u, t))


def quat_between(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Normalised linear interpolation on the shorter arc, ``a`` at t = 0 and ``b`` at t = 1. ``t`` broadcasts over [...]."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    t = np.asarray(t, dtype=np.float64)[..., None]
    b = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0, -b, b)
    return quat_normalise(a + (b - a) * t)


def quat_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Unit quaternion [..., 4] of a turn by ``angle`` radians about the unit vector ``axis`` [..., 3]."""
    axis = np.asarray(axis, dtype=np.float64)
    half = np.asarray(angle, dtype=np.float64)[..., None] * 0.5
    return np.concatenate([np.cos(half) * np.ones_like(axis[..., :1]), np.sin(half) * axis], axis=-1)


def quat_yaw(yaw: ArrayLike) -> Array:
    """Unit quaternion of a turn by ``yaw`` radians about +Z (counter-clockwise seen from above)."""
    half = np.asarray(yaw, dtype=np.float64) * 0.5
    zero = np.zeros_like(half)
    return np.stack([np.cos(half), zero, zero, np.sin(half)], axis=-1)


def pose_matrix(position: ArrayLike, rotation: ArrayLike, scale: ArrayLike = 1.0) -> Array:
    """Local-to-world matrix [..., 4, 4] from position [..., 3], quaternion [..., 4] and scale (a number, [..., 3])."""
    position = np.asarray(position, dtype=np.float64)
    out = np.zeros((*position.shape[:-1], 4, 4))
    s = np.broadcast_to(np.asarray(scale, dtype=np.float64), position.shape)
    out[..., :3, :3] = quat_to_matrix(rotation) * s[..., None, :]
    out[..., :3, 3] = position
    out[..., 3, 3] = 1.0
    return out


def invert_rigid(m: ArrayLike) -> Array:
    """Inverse [..., 4, 4] of rigid transforms (rotation and translation only)."""
    m = np.asarray(m, dtype=np.float64)
    out = np.zeros_like(m)
    rt = np.swapaxes(m[..., :3, :3], -1, -2)
    out[..., :3, :3] = rt
    out[..., :3, 3] = -np.einsum("...ij,...j->...i", rt, m[..., :3, 3])
    out[..., 3, 3] = 1.0
    return out


def transform_points(m: ArrayLike, points: ArrayLike) -> Array:
    """Points [..., N, 3] through matrices [..., 4, 4]."""
    m, points = np.asarray(m, dtype=np.float64), np.asarray(points, dtype=np.float64)
    return np.einsum("...ij,...nj->...ni", m[..., :3, :3], points) + m[..., None, :3, 3]


def camera_look(position: ArrayLike, yaw: float, pitch: float) -> Array:
    """OpenCV ``c2w`` 4x4 of a level camera. Yaw 0 looks along +X, counter-clockwise from above; pitch > 0 looks up."""
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    forward = np.array([cy * cp, sy * cp, sp])
    right = np.array([sy, -cy, 0.0])
    out = np.eye(4)
    out[:3, 0], out[:3, 1], out[:3, 2], out[:3, 3] = right, np.cross(forward, right), forward, position
    return out


def camera_look_at(position: ArrayLike, target: ArrayLike) -> Array:
    """OpenCV ``c2w`` 4x4 of a level camera at ``position`` that looks at ``target``."""
    d = np.asarray(target, dtype=np.float64) - np.asarray(position, dtype=np.float64)
    return camera_look(position, float(np.arctan2(d[1], d[0])), float(np.arctan2(d[2], np.hypot(d[0], d[1]))))


def intrinsics(width: int, height: int, fov_y: float) -> Array:
    """``K`` 3x3 in pixels of a camera with square pixels and vertical field of view ``fov_y`` radians."""
    f = 0.5 * height / np.tan(0.5 * fov_y)
    return np.array([[f, 0.0, width / 2], [0.0, f, height / 2], [0.0, 0.0, 1.0]])


def project(points: ArrayLike, c2w: ArrayLike, K: ArrayLike) -> tuple[Array, Array]:
    """World points [..., N, 3] to pixels [..., N, 2] (u, v) and planar depth z [..., N] in metres. z <= 0 is behind the camera."""
    local = transform_points(invert_rigid(c2w), points)
    z = local[..., 2]
    K = np.asarray(K, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = K[..., 0, 0, None] * local[..., 0] / z + K[..., 0, 2, None]
        v = K[..., 1, 1, None] * local[..., 1] / z + K[..., 1, 2, None]
    return np.stack([u, v], axis=-1), z


def pixel_rays(pixels: ArrayLike, K: ArrayLike) -> Array:
    """Camera-space directions [..., 3] with z = 1 through pixel positions (u, v) [..., 2]: a point at planar depth z is z times it."""
    pixels, K = np.asarray(pixels, dtype=np.float64), np.asarray(K, dtype=np.float64)
    x = (pixels[..., 0] - K[0, 2]) / K[0, 0]
    y = (pixels[..., 1] - K[1, 2]) / K[1, 1]
    return np.stack([x, y, np.ones_like(x)], axis=-1)
