"""What the stages of the transformer share: they predict clean frames from noised ones. They differ in who sees whom, in the noise, and in
what the frames before look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from worldwright.model.codec import Codec
from worldwright.model.dynamics import Dynamics
from worldwright.train.prepared import Prepared
from worldwright.train.stages.clips import Batch, draw

CLIPS = 8
Levels = Callable[[int, int, torch.Generator], Tensor]
"""Noise levels [B, T], 0 to 1, of B clips of T frames."""
History = Callable[[Tensor, torch.Generator], Tensor]
"""Clean latents [B, T, C, h, w] as they are before noise is added to them."""


class FlowStage:
    """See ``Stage``."""

    rate = 1.5e-3

    def __init__(
        self,
        name: str,
        dynamics: Dynamics,
        codec: Codec,
        prepared: Prepared,
        device: torch.device,
        *,
        causal: bool,
        levels: Levels,
        history: History,
    ) -> None:
        self.name, self.module = name, dynamics
        self._codec, self._prepared, self._device = codec, prepared, device
        self._causal, self._levels, self._history = causal, levels, history
        self._length = dynamics.config.window
        self._starts = prepared.clips(self._length)
        self.frames = CLIPS * self._length

    def batch(self, generator: torch.Generator) -> Batch:
        return draw(self._prepared, self._starts, CLIPS, self._length, generator, self._device)

    def loss(self, module: nn.Module, batch: Batch, generator: torch.Generator) -> tuple[Tensor, Mapping[str, float]]:
        """Mean squared error of the clean latents."""
        t = self._levels(CLIPS, self._length, generator).to(self._device)
        noise = torch.randn(batch.z.shape, generator=generator).to(self._device)
        level = t[..., None, None, None]
        x = (1 - level) * self._history(batch.z, generator) + level * noise
        made = module(x, batch.sketch, batch.controls, t, batch.anchor, batch.anchor_controls, causal=self._causal)
        error = (made.to(torch.float32) - batch.z).square().mean(dim=(2, 3, 4))
        return error.mean(), {"mse": float(error.detach().mean())}

    @torch.no_grad()
    def picture(self, module: nn.Module) -> Tensor:
        """From above: the pictures, the sketches, what is made of pure noise in one step."""
        generator = torch.Generator().manual_seed(0)
        batch = self.batch(generator)
        noise = torch.randn(batch.z.shape, generator=generator).to(self._device)
        made = module(
            noise,
            batch.sketch,
            batch.controls,
            torch.ones(noise.shape[:2], device=self._device),
            batch.anchor,
            batch.anchor_controls,
            causal=self._causal,
        )
        rows = [
            self._codec.decode(batch.z[0])[:, :3],
            self._codec.decode(batch.sketch[0, :, :-1])[:, :3],
            self._codec.decode(made[0].to(torch.float32))[:, :3],
        ]
        strips = [torch.cat(list(((row.clamp(-1, 1) + 1) * 127.5).movedim(1, -1)), dim=1) for row in rows]
        return torch.cat(strips).round().to(torch.uint8).cpu()
