"""Histories as a model's own frames make them after a while: noisy, blurred, with colours that wander. Training on them teaches it to come
back. In latents, where blur is an average of neighbours and a colour shift an affine change of channels, the same in all frames of a clip."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def drifted(z: Tensor, generator: torch.Generator, strength: float = 1.0) -> Tensor:
    """Clean latents [B, T, C, h, w] of unit variance as they would be after some drift; half of the clips stay as they are."""
    batch, _, channels = z.shape[:3]

    def draw(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator).to(z.device)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).to(z.device)

    on = (draw(batch, 1, 1, 1, 1) < 0.5) * strength
    soft = functional.avg_pool2d(z.flatten(0, 1), 3, stride=1, padding=1, count_include_pad=False).reshape(z.shape)
    out = z + on * draw(batch, 1, 1, 1, 1) * 0.6 * (soft - z)
    out = out * (1 + on * 0.08 * normal(batch, 1, channels, 1, 1)) + on * 0.12 * normal(batch, 1, channels, 1, 1)
    return out + on * draw(batch, 1, 1, 1, 1) * 0.25 * normal(*z.shape)
