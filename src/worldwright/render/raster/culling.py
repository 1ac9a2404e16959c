"""Which chunks a camera or a light sees, as commands for indirect drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.geometry import Batch
from worldwright.render.raster.poses import Poses

Array = NDArray[Any]


def planes_of(to_clip: Array) -> Array:
    """The planes [P, 4] of a clip matrix (row-major), unit inward normals: left, right, bottom, top, and in front of the near plane.
    There is no far plane."""
    x, y, _, w = to_clip
    planes = np.stack([w + x, w - x, w + y, w - y, w])
    length = np.linalg.norm(planes[:, :3], axis=1, keepdims=True)
    good = length[:, 0] > 1e-12  # a parallel projection has no front plane
    return planes[good] / length[good]


def spheres(batch: Batch, poses: Poses) -> tuple[Array, Array]:
    """World centres [C, 3] and radii [C] of a batch's chunks at an instant."""
    if batch.key.skinned:
        return poses.centres[batch.objects], poses.radii[batch.objects]
    if not batch.key.moves:
        return batch.centres, batch.radii
    rows = poses.objects[batch.objects]
    return np.einsum("cij,cj->ci", rows[:, :, :3], batch.centres) + rows[:, :, 3], batch.radii


def visible(centres: Array, radii: Array, planes: Array) -> Array:
    """True [C] for spheres that are not wholly outside of any plane."""
    return np.all(centres @ planes[:, :3].T + planes[:, 3] > -radii[:, None], axis=1)


def commands(batch: Batch, chosen: Array) -> Array:
    """glDrawElementsIndirectCommand records [N, 5] uint32 for the chunks with these numbers, in this order."""
    out = np.zeros((len(chosen), 5), np.uint32)
    out[:, 0], out[:, 1], out[:, 2] = batch.counts[chosen], 1, batch.starts[chosen]
    return out
