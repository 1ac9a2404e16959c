"""What a stage is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor, nn


class Stage(Protocol):
    """Trains one module. Everything random comes from the generator, which is seeded by run, stage, step and process: so a step is the same
    whenever it is made."""

    name: str

    @property
    def module(self) -> nn.Module:
        """What is trained."""

    rate: float
    """Learning rate at its highest."""
    frames: int
    """Frames that a step of one process trains on."""

    def batch(self, generator: torch.Generator) -> Any:
        """What a step trains on. It is called from another thread, while the step before is computed."""

    def loss(self, module: nn.Module, batch: Any, generator: torch.Generator) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of a step, and figures to show beside it."""

    def picture(self, module: nn.Module) -> Tensor:
        """Something to look at: [H, W, 3] uint8."""
