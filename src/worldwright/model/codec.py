"""Pictures with their depth as latents a quarter as wide and high, and back: a convolutional autoencoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from worldwright.model.config import CodecConfig

FACTOR = 4
"""Pixels on a side of a latent."""
SEEN = 0.02
"""Coded depth from which on a surface is taken to be there: 150 metres with a scale of 3."""


def code_depth(depth: Tensor, scale: float) -> Tensor:
    """Metres to 0..1: ``scale / (scale + depth)``, which is finest near by; 0 where there is no surface."""
    return torch.where(torch.isfinite(depth), scale / (scale + depth.clamp_min(0)), torch.zeros_like(depth))


def decode_depth(code: Tensor, scale: float) -> Tensor:
    """Metres of a coded depth; NaN where there is no surface."""
    return torch.where(code > SEEN, scale / code.clamp(SEEN, 1.0) - scale, torch.full_like(code, torch.nan))


def to_input(rgb: Tensor, depth: Tensor, scale: float) -> Tensor:
    """rgb [..., H, W, 3] uint8 and depth [..., H, W] metres as the codec takes them: [..., 4, H, W] in -1..1."""
    colour = rgb.to(torch.float32) / 127.5 - 1
    return torch.cat([colour.movedim(-1, -3), (code_depth(depth, scale) * 2 - 1)[..., None, :, :]], dim=-3)


def to_picture(decoded: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """What the codec gives [..., 4, H, W] as rgb [..., H, W, 3] uint8 and depth [..., H, W] metres."""
    rgb = ((decoded[..., :3, :, :].clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8).movedim(-3, -1)
    return rgb, decode_depth((decoded[..., 3, :, :] + 1) / 2, scale)


class _Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(max(1, width // 16), width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(functional.silu(self.first(functional.silu(self.norm(x)))))


class Codec(nn.Module):
    """Encoder and decoder. Latents are scaled to unit variance by ``shift`` and ``scale``, set after training (``calibrate``)."""

    shift: Tensor
    scale: Tensor

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        self.config = config
        b, c = config.width
        # At full size there is only a shuffle of pixels: convolutions there would cost more than all others.
        self.encoder = nn.Sequential(
            nn.PixelUnshuffle(2),
            nn.Conv2d(16, b, 3, padding=1),
            *(_Block(b) for _ in range(config.blocks)),
            nn.Conv2d(b, c, 4, stride=2, padding=1),
            *(_Block(c) for _ in range(config.blocks)),
            nn.SiLU(),
            nn.Conv2d(c, config.latent, 3, padding=1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(config.latent, c, 3, padding=1),
            *(_Block(c) for _ in range(config.blocks)),
            nn.Conv2d(c, b * 4, 3, padding=1),
            nn.PixelShuffle(2),
            *(_Block(b) for _ in range(config.blocks)),
            nn.SiLU(),
            nn.Conv2d(b, 16, 3, padding=1),
            nn.PixelShuffle(2),
        )
        self.register_buffer("shift", torch.zeros(config.latent))
        self.register_buffer("scale", torch.ones(config.latent))

    def encode(self, x: Tensor) -> Tensor:
        """[B, 4, H, W] to latents [B, C, H/4, W/4] of mean 0 and variance 1."""
        return (self.encoder(x) - self.shift[:, None, None]) / self.scale[:, None, None]

    def decode(self, z: Tensor) -> Tensor:
        """Latents [B, C, H/4, W/4] to [B, 4, H, W]."""
        return self.decoder(z * self.scale[:, None, None] + self.shift[:, None, None])

    def forward(self, x: Tensor, noise: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """There and back: the picture again, and the latents before scaling. ``noise``: added to the latents, so that small errors in them
        stay small errors in the picture."""
        z = self.encoder(x)
        return self.decoder(z if noise is None else z + noise), z

    @torch.no_grad()
    def calibrate(self, mean: Tensor, deviation: Tensor) -> None:
        """Set mean and standard deviation [C] of the latents before scaling."""
        self.shift.copy_(mean)
        self.scale.copy_(deviation.clamp_min(1e-3))
