"""The autoencoder: L1 on pictures and depth, and on their differences from pixel to pixel, where sharpness is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from worldwright.model.codec import Codec, to_input
from worldwright.train.footage import Footage

CLIPS, EACH = 3, 8
"""Clips of a step, and frames taken of each."""
NOISE = 0.1
"""Of the latents' deviation."""


class CodecStage:
    """See ``Stage``."""

    name = "codec"
    rate = 2e-3
    frames = CLIPS * EACH

    def __init__(self, codec: Codec, footage: Footage, device: torch.device) -> None:
        self.module, self._footage, self._device = codec, footage, device

    def batch(self, generator: torch.Generator) -> Tensor:
        """[frames, 4, H, W]."""
        found = []
        for k in torch.randint(len(self._footage.clips), (CLIPS,), generator=generator).tolist():
            clip = self._footage.clip(k)
            pick = np.linspace(0, len(clip["tick"]) - 1, EACH).astype(int)
            rgb, depth = torch.from_numpy(clip["rgb"][pick]), torch.from_numpy(np.asarray(clip["depth"][pick], np.float32))
            found.append(to_input(rgb, depth, self.module.config.depth_scale))
        return torch.cat(found).to(self._device)

    def loss(self, module: nn.Module, batch: Tensor, generator: torch.Generator) -> tuple[Tensor, Mapping[str, float]]:
        """L1 with gradients, and a small pull of the latents to zero."""
        x = batch
        latent = (len(x), self.module.config.latent, x.shape[-2] // 4, x.shape[-1] // 4)
        noise = torch.randn(latent, generator=generator).to(x.device) * NOISE
        made, z = module(x, noise)
        l1 = (made - x).abs().mean()
        edges = sum((made.diff(dim=d) - x.diff(dim=d)).abs().mean() for d in (-1, -2))
        loss = l1 + 0.5 * edges + 1e-2 * (z.square().mean() - 1).square()
        with torch.no_grad():
            psnr = -10 * torch.log10(((made[:, :3].clamp(-1, 1) - x[:, :3]) / 2).square().mean() + 1e-12)
        return loss, {"psnr": float(psnr)}

    @torch.no_grad()
    def picture(self, module: nn.Module) -> Tensor:
        """Above the pictures, below what comes back."""
        x = self.batch(torch.Generator().manual_seed(0))[:: EACH // 2]
        made, _ = module(x)
        rows = [torch.cat(list(((part[:, :3].clamp(-1, 1) + 1) * 127.5).movedim(1, -1)), dim=1) for part in (x, made)]
        return torch.cat(rows).round().to(torch.uint8).cpu()

    @torch.no_grad()
    def calibrate(self, batches: int = 24) -> None:
        """Set the latents' mean and deviation, from batches that every run draws alike."""
        codec = self.module
        assert isinstance(codec, Codec)
        z = torch.cat([codec.encoder(self.batch(torch.Generator().manual_seed(10_000 + k))) for k in range(batches)])
        codec.calibrate(z.mean(dim=(0, 2, 3)), z.std(dim=(0, 2, 3)))
