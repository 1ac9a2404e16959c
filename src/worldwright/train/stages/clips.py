"""Batches of clips for the stages that train the transformer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from worldwright.model.conditioning import controls, relative_pose
from worldwright.train.prepared import Prepared

APART = 8
"""Frames that an anchor is away from a clip at least, so that it cannot be copied."""
BLIND, TORN = 0.1, 0.4
"""Shares of clips without a sketch, and of sketches with holes torn into them: memory does not know everything."""


@dataclass(frozen=True)
class Batch:
    """Latents [B, T, C, h, w], sketch [B, T, C + 1, h, w], controls [B, T, 16]; the anchor's latents [B, C, h, w] and controls [B, 16]."""

    z: Tensor
    sketch: Tensor
    controls: Tensor
    anchor: Tensor
    anchor_controls: Tensor


def draw(
    prepared: Prepared, starts: np.ndarray, count: int, length: int, generator: torch.Generator, device: torch.device
) -> Batch:
    """``count`` clips of ``length`` frames that start at some of ``starts``. Frame i of a clip is told action i - 1, which led to it."""
    first = starts[torch.randint(len(starts), (count,), generator=generator).numpy()]
    episode = np.searchsorted(prepared.starts, first, side="right") - 1
    low, high = prepared.starts[episode], prepared.starts[episode + 1]
    chance = torch.rand((count, 2), generator=generator).numpy()
    # An anchor is the beginning of a session: mostly before the clip, where there is room for it.
    before, after = np.maximum(first - APART - low, 0), np.maximum(high - (first + length + APART), 0)
    back = (before > 0) & ((chance[:, 0] < 0.8) | (after == 0))
    anchors = np.where(
        back, low + (chance[:, 1] * before).astype(np.int64), first + length + APART - 1 + (chance[:, 1] * after).astype(np.int64)
    )
    anchors = np.where((before > 0) | (after > 0), anchors, low)
    at = first[:, None] + np.arange(length)
    z = torch.from_numpy(np.asarray(prepared.latents[at], np.float32)).to(device)
    sketch = torch.from_numpy(np.asarray(prepared.sketch[at], np.float32)).to(device)
    poses, previous = (torch.from_numpy(np.asarray(prepared.c2w[k])) for k in (at, at - 1))
    told = controls(torch.from_numpy(np.asarray(prepared.action[at - 1])), relative_pose(previous, poses)).to(device)
    anchor = torch.from_numpy(np.asarray(prepared.latents[anchors], np.float32)).to(device)
    none = controls(torch.zeros(count, 10), torch.zeros(count, 6)).to(device)
    return Batch(z, torn(sketch, generator), told, anchor, none)


def torn(sketch: Tensor, generator: torch.Generator) -> Tensor:
    """Some without anything, some without a rectangle."""
    batch, _, _, height, width = sketch.shape
    chance = torch.rand((batch, 6), generator=generator)
    keep = torch.ones((batch, 1, 1, height, width))
    for k in range(batch):
        if chance[k, 0] < BLIND:
            keep[k] = 0
        elif chance[k, 0] < BLIND + TORN:
            y, x = int(chance[k, 1] * height), int(chance[k, 2] * width)
            keep[k, :, :, y : y + int(chance[k, 3] * height), x : x + int(chance[k, 4] * width)] = 0
    return sketch * keep.to(sketch.device)
