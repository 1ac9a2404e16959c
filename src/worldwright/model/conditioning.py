"""What a frame is told: the action that led to it, and how the camera has moved since the frame before. As vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from worldwright.controls import ACTION_NAMES

KEYS = len(ACTION_NAMES) - 2
MOUSE_SCALE = 1 / 40.0
"""Counts a frame that are a lively turn."""
MOVE_SCALE = 4.0
"""Quarters of a metre a frame are a run."""
CONTROLS = len(ACTION_NAMES) + 6


def relative_pose(before: Tensor, after: Tensor) -> Tensor:
    """How a camera moved [..., 6]: translation in the axes it had (metres), and rotation vector (radians: axis times angle, the logarithm of
    the rotation). ``before``, ``after`` [..., 4, 4] are c2w, float64."""
    between = torch.linalg.inv(before) @ after
    rotation = between[..., :3, :3]
    skew = torch.stack(
        [
            rotation[..., 2, 1] - rotation[..., 1, 2],
            rotation[..., 0, 2] - rotation[..., 2, 0],
            rotation[..., 1, 0] - rotation[..., 0, 1],
        ],
        dim=-1,
    )
    sine = torch.linalg.vector_norm(skew, dim=-1, keepdim=True) / 2
    cosine = (rotation.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True) - 1) / 2
    angle = torch.atan2(sine, cosine)
    # At half a turn the axis is lost with the sine: a camera does not turn so far in a frame.
    factor = torch.where(sine > 1e-7, angle / sine.clamp_min(1e-7), torch.ones_like(sine))
    return torch.cat([between[..., :3, 3], skew / 2 * factor], dim=-1).to(torch.float32)


def controls(action: Tensor, pose: Tensor) -> Tensor:
    """Actions [..., 10] (``controls.ACTION_NAMES``) and relative poses [..., 6] as one vector [..., 16] of about unit size."""
    return torch.cat([action[..., :KEYS], action[..., KEYS:] * MOUSE_SCALE, pose[..., :3] * MOVE_SCALE, pose[..., 3:] * 10], dim=-1)


def fourier(x: Tensor, frequencies: int) -> Tensor:
    """Sines and cosines of octaves of each value: [..., D] to [..., D * 2 * frequencies]."""
    octaves = 2.0 ** torch.arange(frequencies, device=x.device, dtype=x.dtype) * (torch.pi / 4)
    turns = x[..., None] * octaves
    return torch.cat([turns.sin(), turns.cos()], dim=-1).flatten(-2)


class Conditioner(nn.Module):
    """Noise level, action and camera motion of each frame as one vector [..., width]."""

    def __init__(self, width: int, frequencies: int) -> None:
        super().__init__()
        self.frequencies = frequencies
        self.of_controls = nn.Linear(CONTROLS * (2 * frequencies + 1), width)
        self.of_noise = nn.Linear(2 * frequencies + 1, width)
        self.anchor = nn.Parameter(torch.zeros(width))
        self.out = nn.Linear(width, width)

    def _features(self, x: Tensor) -> Tensor:
        return torch.cat([x, fourier(x, self.frequencies)], dim=-1)

    def forward(self, controls: Tensor, noise: Tensor, anchor: bool = False) -> Tensor:
        """``controls`` [..., 16], ``noise`` [...] from 0 (none) to 1. ``anchor``: frames that stand for the whole session."""
        x = self.of_controls(self._features(controls)) + self.of_noise(self._features(noise[..., None]))
        if anchor:
            x = x + self.anchor
        return self.out(functional.silu(x))
