"""One frame out of noise: rectified flow in a few steps, with the cache of the frames before."""

from __future__ import annotations

import torch
from torch import Tensor

from worldwright.model.dynamics import Cache, Dynamics


def sample(dynamics: Dynamics, cache: Cache, noise: Tensor, sketch: Tensor, told: Tensor, steps: int) -> Tensor:
    """The next frame's latents [B, C, h, w], which the cache then holds.

    Args:
        noise: [B, C, h, w], unit normal.
        sketch: [B, C + 1, h, w].
        told: controls [B, 16].
        steps: of denoising; one more pass remembers the frame.
    """
    x = clean = noise
    for k in range(steps):
        t = 1.0 - k / steps
        clean = dynamics.step(cache, x, sketch, told, torch.full((len(x),), t, device=x.device), keep=False)
        # Along the straight line from the noise to what is now thought to be clean.
        x = clean + (x - clean) * ((t - 1.0 / steps) / t)
    dynamics.step(cache, clean, sketch, told, torch.zeros(len(x), device=x.device), keep=True)
    return clean
