"""The next frame's latents from those before, the action, the camera and a sketch: a causal diffusion transformer.

Tokens are patches of a frame's latents. A layer attends within each frame, then each place attends to itself in the frames before (causal,
within a window, and to the anchor: a frame that stays at the head of the sequence), then an MLP; all modulated by the frame's conditioning
(AdaLN-zero: Peebles and Xie 2023). Queries and keys are normalised (QK norm). The sketch of the memory enters as latents with its mask
(``sketching``), added to the tokens of the frame that is to be made; what is predicted is the difference to it where it is known. Rectified flow (Liu et al. 2023) with x0 prediction: ``x_t = (1 - t) x_0 + t noise``; each frame
has a noise level of its own (diffusion forcing: Chen et al. 2024).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from worldwright.model.codec import FACTOR
from worldwright.model.conditioning import Conditioner
from worldwright.model.config import DynamicsConfig


class _Norm(nn.Module):
    """Root mean square to one (Zhang and Sennrich 2019), without weights: the modulation has them."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],))


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gain = nn.Parameter(torch.full((2, width // heads), 1.0))

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[..., S, width] to normalised queries, keys, and values [..., heads, S, d]."""
        qkv = self.qkv(x).unflatten(-1, (3, self.heads, -1)).movedim(-3, 0).transpose(-2, -3)
        q, k, v = qkv.unbind(0)
        d = q.shape[-1]
        return functional.rms_norm(q, (d,)) * self.gain[0], functional.rms_norm(k, (d,)) * self.gain[1], v

    def join(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.out(functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(-2, -3).flatten(-2))


class _Layer(nn.Module):
    def __init__(self, config: DynamicsConfig) -> None:
        super().__init__()
        width = config.width
        self.norm = _Norm()
        self.space, self.time = _Attention(width, config.heads), _Attention(width, config.heads)
        self.mlp = nn.Sequential(nn.Linear(width, config.mlp * width), nn.GELU("tanh"), nn.Linear(config.mlp * width, width))
        self.modulation = nn.Linear(width, 9 * width)
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)
        self.past = nn.Parameter(torch.zeros(config.heads, config.window + 1))
        """Bias of attention by how many frames back, per head; the last is the anchor's."""

    def parts(self, c: Tensor) -> tuple[Tensor, ...]:
        """Shift, scale and gate of the three parts, each [B, T, 1, width], from conditioning [B, T, width]."""
        return self.modulation(functional.silu(c))[:, :, None].chunk(9, dim=-1)

    def forward(self, x: Tensor, c: Tensor, back: Tensor, allowed: Tensor) -> Tensor:
        """All frames at once, x [B, 1 + T, S, width], the anchor first. As a module's call, not a method of the whole: FSDP gathers a layer's
        weights when the layer is called."""
        s1, g1, a1, s2, g2, a2, s3, g3, a3 = self.parts(c)
        x = x + a1 * self.space.join(*self.space.split(_modulated(self.norm, x, s1, g1)))
        q, k, v = self.time.split(_modulated(self.norm, x, s2, g2).transpose(1, 2))
        x = x + a2 * self.time.join(q, k, v, self._bias(back, allowed).to(q.dtype)).transpose(1, 2)
        return x + a3 * self.mlp(_modulated(self.norm, x, s3, g3))

    def _bias(self, back: Tensor, allowed: Tensor) -> Tensor:
        """[heads, 1 + T, 1 + T]: the anchor first. The anchor sees itself alone."""
        window = self.past.shape[1] - 1
        inner = torch.where(allowed, self.past[:, back.abs().clamp(max=window - 1)], -torch.inf)
        to_anchor = self.past[:, -1, None, None].expand(-1, len(back), 1)
        top = torch.full((len(self.past), 1, 1 + len(back)), -torch.inf, device=back.device, dtype=inner.dtype)
        top[:, :, 0] = 0
        return torch.cat([top, torch.cat([to_anchor, inner], dim=2)], dim=1)


def _modulated(norm: _Norm, x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    return norm(x) * (1 + scale) + shift


@dataclass
class Cache:
    """Keys and values of the frames before, per layer: [B, S, heads, frames, d], the oldest first; those of the anchor likewise. Mutable."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    anchor: list[tuple[Tensor, Tensor]] = field(default_factory=list)


class Dynamics(nn.Module):
    """The transformer. ``height`` and ``width`` are those of the pictures; they are multiples of ``patch * 4``."""

    def __init__(self, config: DynamicsConfig, latent: int, height: int, width: int) -> None:
        super().__init__()
        self.config, self.latent = config, latent
        side = config.patch * FACTOR
        self.rows, self.columns = height // side, width // side
        d = config.width
        self.embed = nn.Linear(latent * config.patch**2, d)
        self.of_sketch = nn.Linear((latent + 1) * config.patch**2, d)
        self.place = nn.Parameter(torch.randn(self.rows * self.columns, d) * 0.02)
        self.conditioner = Conditioner(d, config.frequencies)
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.norm = _Norm()
        self.last = nn.Linear(d, 2 * d)
        self.head = nn.Linear(d, latent * config.patch**2)
        for module in (self.last, self.head):
            nn.init.zeros_(module.weight)
            nn.init.zeros_(module.bias)

    def tokens(self, z: Tensor) -> Tensor:
        """Latents [B, T, C, h, w] to patches [B, T, S, C * patch^2]."""
        p, (b, t, channels) = self.config.patch, z.shape[:3]
        x = z.reshape(b, t, channels, self.rows, p, self.columns, p).permute(0, 1, 3, 5, 2, 4, 6)
        return x.reshape(b, t, self.rows * self.columns, channels * p * p)

    def latents(self, tokens: Tensor) -> Tensor:
        """The inverse of ``tokens``."""
        p, (b, t) = self.config.patch, tokens.shape[:2]
        x = tokens.reshape(b, t, self.rows, self.columns, self.latent, p, p).permute(0, 1, 4, 2, 5, 3, 6)
        return x.reshape(b, t, self.latent, self.rows * p, self.columns * p)

    def _enter(self, z: Tensor, sketch: Tensor | None) -> Tensor:
        x = self.embed(self.tokens(z)) + self.place
        return x if sketch is None else x + self.of_sketch(self.tokens(sketch))

    def _leave(self, x: Tensor, c: Tensor, sketch: Tensor) -> Tensor:
        shift, scale = self.last(functional.silu(c))[:, :, None].chunk(2, dim=-1)
        return self.latents(self.head(_modulated(self.norm, x, shift, scale))) + sketch[:, :, :-1] * sketch[:, :, -1:]

    def forward(
        self,
        z: Tensor,
        sketch: Tensor,
        controls: Tensor,
        noise: Tensor,
        anchor: Tensor,
        anchor_controls: Tensor,
        *,
        causal: bool = True,
    ) -> Tensor:
        """Predicted clean latents of T frames at once.

        Args:
            z: noised latents [B, T, C, h, w].
            sketch: [B, T, C + 1, h, w]: latents of the sketch, and the share of each that is known.
            controls: [B, T, 16], what led to each frame.
            noise: level of each frame [B, T], 0 to 1.
            anchor: clean latents of the anchor [B, C, h, w].
            anchor_controls: [B, 16], from the anchor to the first frame.
            causal: a frame sees those before; else (bidirectional training) all.
        """
        frames = z.shape[1]
        x = torch.cat([self._enter(anchor[:, None], None), self._enter(z, sketch)], dim=1)
        c = torch.cat(
            [
                self.conditioner(anchor_controls[:, None], torch.zeros_like(noise[:, :1]), anchor=True),
                self.conditioner(controls, noise),
            ],
            dim=1,
        )
        at = torch.arange(frames, device=z.device)
        back = at[:, None] - at[None, :]
        allowed = (back >= 0) & (back < self.config.window) if causal else back.abs() < self.config.window
        for layer in self.layers:
            assert isinstance(layer, _Layer)
            x = layer(x, c, back, allowed)
        return self._leave(x[:, 1:], c[:, 1:], sketch)

    # --- a frame at a time, with what is kept of those before ------------------------------------------------------------------

    def begin(self, anchor: Tensor, anchor_controls: Tensor) -> Cache:
        """A session's cache: the anchor's keys and values, no frames yet."""
        cache = Cache()
        x, c = (
            self._enter(anchor[:, None], None),
            self.conditioner(anchor_controls[:, None], anchor.new_zeros(len(anchor), 1), anchor=True),
        )
        for layer in self.layers:
            assert isinstance(layer, _Layer)
            s1, g1, a1, s2, g2, a2, s3, g3, a3 = layer.parts(c)
            x = x + a1 * layer.space.join(*layer.space.split(_modulated(layer.norm, x, s1, g1)))
            q, k, v = layer.time.split(_modulated(layer.norm, x, s2, g2).transpose(1, 2))
            cache.anchor.append((k, v))
            cache.keys.append(k[..., :0, :])
            cache.values.append(v[..., :0, :])
            x = x + a2 * layer.time.join(q, k, v).transpose(1, 2)
            x = x + a3 * layer.mlp(_modulated(layer.norm, x, s3, g3))
        return cache

    def step(self, cache: Cache, z: Tensor, sketch: Tensor, controls: Tensor, noise: Tensor, *, keep: bool) -> Tensor:
        """Predicted clean latents [B, C, h, w] of the next frame, from noised ones; ``sketch`` [B, C + 1, h, w].
        ``keep``: remember the frame as it is given now, the oldest leaves the window."""
        x = self._enter(z[:, None], sketch[:, None])
        c = self.conditioner(controls[:, None], noise[:, None])
        window = self.config.window
        for n, layer in enumerate(self.layers):
            assert isinstance(layer, _Layer)
            s1, g1, a1, s2, g2, a2, s3, g3, a3 = layer.parts(c)
            x = x + a1 * layer.space.join(*layer.space.split(_modulated(layer.norm, x, s1, g1)))
            q, k, v = layer.time.split(_modulated(layer.norm, x, s2, g2).transpose(1, 2))
            keys, values = torch.cat([cache.keys[n], k], dim=-2), torch.cat([cache.values[n], v], dim=-2)
            if keep:
                cache.keys[n], cache.values[n] = keys[..., -(window - 1) :, :], values[..., -(window - 1) :, :]
            back = torch.arange(keys.shape[-2] - 1, -1, -1, device=z.device)
            bias = torch.cat([layer.past[:, -1:], layer.past[:, back]], dim=1)[:, None]
            held = cache.anchor[n]
            keys, values = torch.cat([held[0], keys], dim=-2), torch.cat([held[1], values], dim=-2)
            x = x + a2 * layer.time.join(q, keys, values, bias.to(q.dtype)).transpose(1, 2)
            x = x + a3 * layer.mlp(_modulated(layer.norm, x, s3, g3))
        return self._leave(x, c, sketch[:, None])[:, 0]
