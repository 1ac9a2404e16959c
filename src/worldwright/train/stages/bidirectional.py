"""Stage 1: every frame sees all others, and all have one noise level: what a place looks like from where, before what follows what."""

from __future__ import annotations

import torch
from torch import Tensor

from worldwright.model.codec import Codec
from worldwright.model.dynamics import Dynamics
from worldwright.train.prepared import Prepared
from worldwright.train.stages.flow import FlowStage


def one_level(count: int, length: int, generator: torch.Generator) -> Tensor:
    """The same level for all frames of a clip."""
    return torch.rand((count, 1), generator=generator).expand(count, length)


def as_it_is(z: Tensor, generator: torch.Generator) -> Tensor:
    """Frames as they are."""
    return z


def bidirectional(dynamics: Dynamics, codec: Codec, prepared: Prepared, device: torch.device) -> FlowStage:
    """The stage."""
    return FlowStage("bidirectional", dynamics, codec, prepared, device, causal=False, levels=one_level, history=as_it_is)
