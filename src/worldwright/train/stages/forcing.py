"""Stage 2: a frame sees those before it alone, each frame has a noise level of its own (diffusion forcing), and histories have drifted."""

from __future__ import annotations

import torch
from torch import Tensor

from worldwright.model.codec import Codec
from worldwright.model.dynamics import Dynamics
from worldwright.train.drift import drifted
from worldwright.train.prepared import Prepared
from worldwright.train.stages.flow import FlowStage

PLAYED = 0.5
"""Share of the clips that are as in play: frames before are clean, the last ones are not."""


def own_levels(count: int, length: int, generator: torch.Generator) -> Tensor:
    """A level for each frame; or none up to a frame, and one for those after it."""
    levels = torch.rand((count, length), generator=generator)
    played = torch.rand((count, 1), generator=generator) < PLAYED
    cut = torch.randint(length, (count, 1), generator=generator)
    return torch.where(played & (torch.arange(length) < cut), torch.zeros_like(levels), levels)


def forcing(dynamics: Dynamics, codec: Codec, prepared: Prepared, device: torch.device) -> FlowStage:
    """The stage."""
    return FlowStage("forcing", dynamics, codec, prepared, device, causal=True, levels=own_levels, history=drifted)
