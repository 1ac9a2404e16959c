"""What was seen, kept with its depth and pose, and which of it to look at again for a new view."""

from __future__ import annotations

import torch
from torch import Tensor

from worldwright.errors import WorldwrightError
from worldwright.model.splat import NEAR, Sketch, rays, splat

MOST = 10
"""Frames that a view is made from, at most."""
COLUMNS, ROWS = 10, 6
"""Cells of a view, and points of a frame, by which it is found what covers what."""
HIDDEN = 1.3
"""A point this many times as far as the nearest one in its cell is behind something."""


class Archive:
    """Frames of one size through one lens: rgb uint8, depth float32 metres (NaN: none), c2w. Holds at most ``capacity``; when it is full the
    oldest that was not there from the beginning (``seal``) makes room."""

    def __init__(self, capacity: int, height: int, width: int, K: Tensor) -> None:
        if capacity < 1:
            raise WorldwrightError(f"an archive of {capacity} frames", fix="hold one at least")
        self.capacity, self.K, device = capacity, K.to(torch.float32), K.device
        self.rgb = torch.zeros((capacity, height, width, 3), dtype=torch.uint8, device=device)
        self.depth = torch.full((capacity, height, width), torch.nan, device=device)
        self.c2w = torch.eye(4, dtype=torch.float64, device=device).repeat(capacity, 1, 1)
        self._points = torch.full((capacity, ROWS * COLUMNS, 3), torch.nan, device=device)
        self._far = torch.ones((capacity, ROWS * COLUMNS), device=device)
        self._rays = rays(height, width, self.K)
        self._pick = _grid(height, ROWS), _grid(width, COLUMNS)
        self.count = self._kept = self._next = 0

    def seal(self) -> None:
        """What is there now stays."""
        self._kept = self._next = self.count

    def forget(self) -> None:
        """Only what was there at ``seal`` is left."""
        self.count = self._next = self._kept

    def add(self, rgb: Tensor, depth: Tensor, c2w: Tensor) -> int:
        """Keep a frame: [H, W, 3] uint8, [H, W] float32, [4, 4]. Returns its place, or -1 where all places are kept for others."""
        if self.count < self.capacity:
            place, self.count = self.count, self.count + 1
        elif self._kept == self.capacity:
            return -1
        else:
            place = self._next
            self._next = self._kept + (self._next + 1 - self._kept) % (self.capacity - self._kept)
        self.rgb[place], self.depth[place], self.c2w[place] = rgb, depth, c2w
        at, away = self._pick[0][:, None], self._pick[1][None, :]
        z = self.depth[place][at, away]
        local = (self._rays[at, away] * z[..., None]).reshape(-1, 3)
        pose = self.c2w[place]
        self._points[place] = (local.to(torch.float64) @ pose[:3, :3].T + pose[:3, 3]).to(torch.float32)
        self._far[place] = z.flatten()
        return place

    def choose(self, view: Tensor, count: int = MOST, allowed: Tensor | None = None) -> Tensor:
        """Up to ``count`` frames, as places in order of choice, that together cover the view from ``view`` [4, 4] best.

        Greedy: each next one is that which adds most, by cells of the view in which it has a point that is not behind others' points, and
        worth more the less it must be enlarged. ``allowed`` [count] bool leaves frames out."""
        n, cells = self.count, ROWS * COLUMNS
        w2c = torch.linalg.inv(view).to(torch.float32)
        p = self._points[:n] @ w2c[:3, :3].T + w2c[:3, 3]
        z = p[..., 2]
        height, width = self.rgb.shape[1:3]
        u = (self.K[0, 0] * p[..., 0] / z + self.K[0, 2]) * (COLUMNS / width)
        v = (self.K[1, 1] * p[..., 1] / z + self.K[1, 2]) * (ROWS / height)
        seen = (z > NEAR) & (u >= 0) & (u < COLUMNS) & (v >= 0) & (v < ROWS)
        if allowed is not None:
            seen &= allowed[:n, None]
        frame, point = torch.nonzero(seen, as_tuple=True)
        if not len(frame):
            return torch.zeros(0, dtype=torch.int64, device=self.rgb.device)
        cell = v[frame, point].to(torch.int64) * COLUMNS + u[frame, point].to(torch.int64)
        far = z[frame, point]
        nearest = torch.full((cells,), torch.inf, device=far.device).scatter_reduce(0, cell, far, "amin")
        open_ = far < nearest[cell] * HIDDEN
        frame, point, cell, far = frame[open_], point[open_], cell[open_], far[open_]
        worth = (far / self._far[frame, point]).clamp(0.05, 1.0)
        cover = torch.zeros(n * cells, device=far.device).scatter_reduce(0, frame * cells + cell, worth, "amax").reshape(n, cells)
        chosen: list[int] = []
        have = torch.zeros(cells, device=far.device)
        for _ in range(min(count, n)):
            gain = (cover - have).clamp_min(0).sum(1)
            best = int(torch.argmax(gain))
            if float(gain[best]) <= 1e-3:
                break
            chosen.append(best)
            have = torch.maximum(have, cover[best])
        return torch.tensor(chosen, dtype=torch.int64, device=self.rgb.device)

    def sketch(self, view: Tensor, count: int = MOST, allowed: Tensor | None = None) -> Sketch:
        """The view [4, 4] from what is kept: [1, H, W, ...]; nothing where nothing is known."""
        places = self.choose(view, count, allowed)
        if not len(places):
            height, width = self.rgb.shape[1:3]
            blank = torch.zeros((1, height, width), dtype=torch.bool, device=self.rgb.device)
            return Sketch(
                torch.zeros((1, height, width, 3), dtype=torch.uint8, device=blank.device),
                torch.full(blank.shape, torch.nan),
                blank,
            )
        return splat(self.rgb[places][None], self.depth[places][None], self.c2w[places][None], self.K, view[None])


def _grid(length: int, count: int) -> Tensor:
    return ((torch.arange(count, dtype=torch.float32) + 0.5) * length / count).to(torch.int64)
