"""A sketch of the memory as the transformer takes it: its latents, and how much of each is known."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from worldwright.model.codec import FACTOR, Codec, to_input
from worldwright.model.splat import Sketch


def filled(picture: Tensor, mask: Tensor) -> Tensor:
    """A picture [B, C, H, W] whose unknown parts (``mask`` [B, 1, H, W] is 0) have the mean of what is known around them, from nearer to
    farther off: pull-push (Gortler et al. 1996) by halves. Encoders see no hard edges of holes so."""
    if min(picture.shape[-2:]) < 2 or bool((mask > 0).all()):
        return torch.where(mask > 0, picture, torch.zeros_like(picture))
    weight = functional.avg_pool2d(mask, 2, ceil_mode=True)
    mean = functional.avg_pool2d(picture * mask, 2, ceil_mode=True) / weight.clamp_min(1e-6)
    coarse = filled(mean, (weight > 0).to(mask.dtype))
    return torch.where(mask > 0, picture, functional.interpolate(coarse, size=picture.shape[-2:], mode="nearest"))


def sketch_latents(codec: Codec, sketch: Sketch) -> Tensor:
    """Latents of a sketch and, as the last channel, the share of each latent's pixels that is known: [B, C + 1, h, w]."""
    mask = sketch.mask[:, None].to(torch.float32)
    picture = to_input(sketch.rgb, sketch.depth, codec.config.depth_scale)
    z = codec.encode(filled(picture, mask))
    return torch.cat([z, functional.avg_pool2d(mask, FACTOR)], dim=1)
