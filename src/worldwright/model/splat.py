"""Pictures seen before, thrown into a new view: each pixel is a point in space, drawn where the new camera sees it.

Cameras are OpenCV (x right, y down, z forward), pixel centres lie at half pixels, depth is planar z in metres and NaN where there is no
surface. Nearer points hide farther ones (z-buffer). A point that comes nearer covers more than its pixel, by as much as it has come nearer,
so that a wall does not turn into a sieve that shows what is behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

NEAR = 0.05
"""Metres in front of the camera from which on points are drawn."""
SAME = 1.1
"""Depths within this factor are of one surface."""
_EMPTY = torch.iinfo(torch.int64).max
_STEPS = 1 << 20
"""Depth is compared as a whole number of these steps of a metre's reciprocal: exact ties go to the lower index, on every machine."""


@dataclass(frozen=True)
class Sketch:
    """``rgb`` [B, H, W, 3] uint8, ``depth`` [B, H, W] float32 metres (NaN where nothing is known), ``mask`` [B, H, W] true where something is."""

    rgb: Tensor
    depth: Tensor
    mask: Tensor


def rays(height: int, width: int, K: Tensor) -> Tensor:
    """Camera-space points [H, W, 3] at depth 1 through pixel centres; ``K`` [3, 3] in pixels."""
    v, u = torch.meshgrid(
        torch.arange(height, device=K.device, dtype=torch.float32) + 0.5,
        torch.arange(width, device=K.device, dtype=torch.float32) + 0.5,
        indexing="ij",
    )
    return torch.stack([(u - K[0, 2]) / K[0, 0], (v - K[1, 2]) / K[1, 1], torch.ones_like(u)], dim=-1)


def splat(rgb: Tensor, depth: Tensor, c2w: Tensor, K: Tensor, view: Tensor) -> Sketch:
    """Draw sources into views, each view from its own.

    Args:
        rgb: [B, N, H, W, 3] uint8, N sources for each of B views.
        depth: [B, N, H, W] float32 metres.
        c2w: poses of the sources [B, N, 4, 4] float64.
        K: [3, 3] float32 pixels, of sources and views alike.
        view: poses of the views [B, 4, 4] float64.
    """
    batch, count, height, width = depth.shape
    size = height * width
    # Between poses in float64: worlds may be far from their origin. A pixel's point in the view is an affine function of its depth.
    between = (torch.linalg.inv(view)[:, None] @ c2w).to(torch.float32)
    turned = torch.einsum("bnij,hwj->bnhwi", between[..., :3, :3], rays(height, width, K.to(torch.float32)))
    points = turned * depth[..., None] + between[:, :, None, None, :3, 3]
    x, y, z = points.unbind(-1)
    good = torch.isfinite(z) & (z > NEAR)
    safe = torch.where(good, z, torch.ones_like(z))
    u, v = K[0, 0] * x / safe + K[0, 2], K[1, 1] * y / safe + K[1, 2]
    column, row = torch.floor(u).to(torch.int64), torch.floor(v).to(torch.int64)
    near = good & (column > -3) & (column < width + 3) & (row > -3) & (row < height + 3)
    which = torch.nonzero(near.flatten()).squeeze(1)
    at_b = which // (count * size)
    column, row, z = column.flatten()[which], row.flatten()[which], safe.flatten()[which]
    # The far ones have large keys; the index makes keys unique.
    code = ((1.0 - NEAR / z) * _STEPS).to(torch.int64) * (batch * count * size) + which
    grown = depth.flatten()[which] / z
    own = _nearest(code, at_b, row, column, batch, height, width)
    big = torch.nonzero(grown > 1.25).squeeze(1)
    if len(big):
        wide = _spread(code[big], at_b[big], row[big], column[big], grown[big], (batch, height, width))
        total = batch * count * size
        deeper = _depth_of(own, total) > _depth_of(wide, total) * SAME
        own = torch.where((own == _EMPTY) | deeper & (wide != _EMPTY), wide, own)
    own = _mended(own, batch * count * size)
    mask = own != _EMPTY
    index = torch.where(mask, own % (batch * count * size), torch.zeros_like(own))
    colour = rgb.reshape(-1, 3)[index.flatten()].reshape(batch, height, width, 3)
    # The point's depth in the view, of all points: ``which`` may have left some out.
    all_z = torch.where(good, points[..., 2], torch.full_like(safe, torch.nan)).flatten()
    seen = torch.where(
        mask, all_z[index.flatten()].reshape(batch, height, width), torch.full_like(mask, torch.nan, dtype=torch.float32)
    )
    return Sketch(torch.where(mask[..., None], colour, torch.zeros_like(colour)), seen, mask)


def _nearest(code: Tensor, at_b: Tensor, row: Tensor, column: Tensor, batch: int, height: int, width: int) -> Tensor:
    """The least code for each pixel [B, H, W] of those that fall on it."""
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    place = ((at_b * height + row) * width + column)[inside]
    out = torch.full((batch * height * width,), _EMPTY, dtype=torch.int64, device=code.device)
    out.scatter_reduce_(0, place, code[inside], "amin")
    return out.reshape(batch, height, width)


def _spread(code: Tensor, at_b: Tensor, row: Tensor, column: Tensor, grown: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """The same for points that have become larger than a pixel: 3 x 3, those twice as large and more 5 x 5."""
    best = torch.full(shape, _EMPTY, dtype=torch.int64, device=code.device)
    far = grown > 2.2
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            if max(abs(dx), abs(dy)) == 2:
                if not bool(far.any()):
                    continue
                found = _nearest(code[far], at_b[far], row[far] + dy, column[far] + dx, *shape)
            else:
                found = _nearest(code, at_b, row + dy, column + dx, *shape)
            best = torch.minimum(best, found)
    return best


def _depth_of(code: Tensor, total: int) -> Tensor:
    """Metres of a code; infinite for an empty one."""
    share = 1.0 - (code // total).to(torch.float32) / _STEPS
    return torch.where(code == _EMPTY, torch.inf, NEAR / share.clamp_min(1e-9))


def _mended(code: Tensor, total: int) -> Tensor:
    """Cracks of a pixel, empty or with something far behind in them, get the nearest of what is around: where 6 of the 8 neighbours are
    nearer."""
    around = torch.stack([torch.roll(code, (dy, dx), (1, 2)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)])
    depth = _depth_of(code, total)
    nearer = (_depth_of(around, total) * SAME < depth).sum(0)
    # What is rolled in from the other side of the picture counts for nothing.
    inner = torch.zeros_like(code, dtype=torch.bool)
    inner[:, 1:-1, 1:-1] = True
    return torch.where((nearer >= 6) & inner, around.amin(0), code)
