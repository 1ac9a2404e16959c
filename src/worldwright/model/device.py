"""What torch computes on."""

from __future__ import annotations

import torch

from worldwright.errors import WorldwrightError


def choose_device(name: str = "auto") -> torch.device:
    """``auto`` (a GPU where there is one), ``cpu`` or ``gpu``. Raises WorldwrightError for another word, or a GPU that is not there."""
    if name not in ("auto", "cpu", "gpu"):
        raise WorldwrightError(f"no device {name!r}", where="--device", fix="auto, cpu or gpu")
    if name == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    if name == "gpu":
        raise WorldwrightError("no GPU that torch can use", where="--device", fix="use --device auto")
    return torch.device("cpu")
