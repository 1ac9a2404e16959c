"""One frame of a shot under test: its stored pictures, its row, the take's states now and at the next frame, and sampled pixels.

Geometric checks look at a few thousand pixels of a frame, drawn by a jittered grid: the cost does not grow with the picture, and
every region is looked at. Comparisons of whole pictures (``shot_rerender``) look at every pixel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR, DEPTH_STEPS
from worldwright.take.model import Instant
from worldwright.transforms import invert_rigid, pixel_rays, pose_matrix

F64 = NDArray[np.float64]
Array = NDArray[Any]

SAMPLES = 4096
"""Pixels looked at a frame by the geometric checks."""
SEED = 20_240
SMOOTH = 1.0e-3
"""A pixel is on a smooth surface when the second difference of inverse depth, which is 0 on any plane, stays below this share of it
(the rounding of depth codes alone reaches 0.0003)."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """Sampled pixels of a frame, n of them: ``v`` row and ``u`` column, planar ``depth`` [n] metres (NaN: none), ``entity`` [n], ``ray``
    [n, 3] through the pixel's centre in camera space with z = 1, ``inner`` [n] true where the neighbourhood is one smooth surface of
    one entity, ``normal`` [n, 3] its unit normal in camera space, computed from depth alone (valid where ``inner``)."""

    v: NDArray[np.int64]
    u: NDArray[np.int64]
    depth: F64
    entity: NDArray[np.int64]
    ray: F64
    inner: NDArray[np.bool_]
    normal: F64


_METRES = DEPTH_NEAR * np.exp((np.arange(1 << 16, dtype=np.float64) - 1) * (np.log(DEPTH_FAR / DEPTH_NEAR) / DEPTH_STEPS))
_METRES[0] = np.nan


def decode_depth_64(code: NDArray[np.uint16]) -> F64:
    """Depth codes to metres in double precision; no surface is NaN."""
    return _METRES[code]


def grid_pixels(height: int, width: int, count: int, seed: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """About ``count`` pixels, one at random in each cell of a grid over the picture (all pixels where there are fewer)."""
    if height * width <= count:
        v, u = np.divmod(np.arange(height * width), width)
        return v, u
    cell = np.sqrt(height * width / count)
    rows, columns = max(1, int(height / cell)), max(1, int(width / cell))
    jitter = np.random.default_rng(seed).random((2, rows, columns))
    v = ((np.arange(rows)[:, None] + jitter[0]) * (height / rows)).astype(np.int64)
    u = ((np.arange(columns)[None, :] + jitter[1]) * (width / columns)).astype(np.int64)
    return np.minimum(v, height - 1).ravel(), np.minimum(u, width - 1).ravel()


@dataclass(frozen=True)
class Frame:
    """A frame and what it claims to show. ``stored`` are the passes as stored (``render.passes``) without rgb; ``c2w``, ``K``,
    ``next_c2w`` and ``next_K`` come from the shot's row; ``now`` and ``next`` from the take at the row's tick and a frame later."""

    index: int
    tick: int
    c2w: F64
    K: F64
    next_c2w: F64
    next_K: F64  # noqa: N815
    now: Instant
    next: Instant
    stored: Mapping[str, Array]
    body_ids: tuple[int, ...]
    character_ids: tuple[int, ...]
    height: int
    width: int
    hidden: tuple[int, ...] = ()
    """Characters that the camera does not see: none of their pixels may be there."""

    @cached_property
    def pixels(self) -> Pixels | None:
        """Sampled pixels; None without depth and entity passes."""
        if "depth" not in self.stored or "entity" not in self.stored:
            return None
        v, u = grid_pixels(self.height, self.width, SAMPLES, (SEED, self.index))
        reach = max(1, round(self.height / 180))
        codes, ids = self.stored["depth"], self.stored["entity"]
        dv = np.array([0, -1, 1, 0, 0, -1, -1, 1, 1]) * reach
        du = np.array([0, 0, 0, -1, 1, -1, 1, -1, 1]) * reach
        nv, nu = v[:, None] + dv, u[:, None] + du
        inside = ((nv >= 0) & (nv < self.height) & (nu >= 0) & (nu < self.width)).all(axis=1)
        nv, nu = np.clip(nv, 0, self.height - 1), np.clip(nu, 0, self.width - 1)
        z = decode_depth_64(codes[nv, nu])
        entity = ids[nv, nu].astype(np.int64)
        with np.errstate(invalid="ignore"):
            w = 1.0 / z
            bend = [np.abs(w[:, a] - 2 * w[:, 0] + w[:, b]) for a, b in ((1, 2), (3, 4), (5, 8), (6, 7))]
            smooth = np.max(bend, axis=0) < SMOOTH * w[:, 0]
        inner = inside & smooth & (entity == entity[:, :1]).all(axis=1) & np.isfinite(z).all(axis=1)
        ray = pixel_rays(np.stack([u + 0.5, v + 0.5], axis=-1), self.K)
        # On the plane n . X = d, X = z ray: 1 / z = n . ray / d. The slopes of 1 / z over the image are n / d.
        wx = (w[:, 4] - w[:, 3]) / (2 * reach) * self.K[0, 0]
        wy = (w[:, 2] - w[:, 1]) / (2 * reach) * self.K[1, 1]
        plane = np.stack([wx, wy, w[:, 0] - ray[:, 0] * wx - ray[:, 1] * wy], axis=-1)
        with np.errstate(invalid="ignore"):
            normal = -plane / np.linalg.norm(plane, axis=-1, keepdims=True)
        return Pixels(v, u, z[:, 0], entity[:, 0], ray, inner, normal)

    @cached_property
    def body_motion(self) -> F64:
        """[B + 1, 4, 4]: where the points of each body go until the next frame, in world space; the last is for what stands still."""
        now = pose_matrix(self.now.positions, self.now.rotations)
        then = pose_matrix(self.next.positions, self.next.rotations)
        return np.concatenate([then @ invert_rigid(now), np.eye(4)[None]])

    def body_rows(self, entity: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each id its row in ``body_motion``; the last row for ids that are no bodies."""
        table = np.full(int(max(entity.max(initial=0), max(self.body_ids, default=0))) + 1, len(self.body_ids))
        if self.body_ids:
            table[np.array(self.body_ids)] = np.arange(len(self.body_ids))
        return table[entity]

    def is_character(self, entity: NDArray[np.int64]) -> NDArray[np.bool_]:
        """True for ids of characters."""
        return np.isin(entity, np.array(self.character_ids, dtype=np.int64))
