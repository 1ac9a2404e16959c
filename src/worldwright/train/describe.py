"""What a preset is: sizes, and what a frame costs to train on and to play."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.utils.flop_counter import FlopCounterMode

from worldwright.model.checkpoint import Lens, make_modules
from worldwright.model.conditioning import CONTROLS
from worldwright.model.config import preset
from worldwright.words import counted

SIZES = {"tiny": (80, 48), "small": (320, 192), "large": (1280, 704)}
"""Pictures that a preset is meant for."""


def describe(name: str) -> Iterator[str]:
    """Lines for a person. Operations are counted by running the modules on no data (meta tensors); a multiplication with its addition is two."""
    config = preset(name)
    width, height = SIZES.get(name, SIZES["tiny"])
    with torch.device("meta"):
        codec, dynamics = make_modules(config, Lens(width, height, 24, (width / 2, width / 2, width / 2, height / 2), "any"))
    of = {part: sum(p.numel() for p in module.parameters()) for part, module in (("codec", codec), ("dynamics", dynamics))}
    c, d = config.codec, config.dynamics
    rows, columns = height // 4, width // 4
    meta = torch.device("meta")

    def operations(run: object) -> float:
        with FlopCounterMode(display=False) as counter:
            run()  # type: ignore[operator]
        return float(counter.get_total_flops())

    frames = d.window
    codec_cost = operations(lambda: codec(torch.zeros(1, 4, height, width, device=meta)))
    clip = operations(
        lambda: dynamics(
            torch.zeros(1, frames, c.latent, rows, columns, device=meta),
            torch.zeros(1, frames, c.latent + 1, rows, columns, device=meta),
            torch.zeros(1, frames, CONTROLS, device=meta),
            torch.zeros(1, frames, device=meta),
            torch.zeros(1, c.latent, rows, columns, device=meta),
            torch.zeros(1, CONTROLS, device=meta),
        )
    )
    a_frame = clip / (frames + 1)
    yield f"preset {name}, for pictures of {width}x{height}"
    yield f"codec     {of['codec']:>13,} parameters: latents of {columns}x{rows}x{c.latent}, {codec_cost / 1e9:.2f} GFLOP a frame there and back"
    yield (
        f"dynamics  {of['dynamics']:>13,} parameters: {counted(d.layers, 'layer')} of {d.width}, {dynamics.rows * dynamics.columns} tokens a frame, "
        f"a window of {counted(d.window, 'frame')}, {a_frame / 1e9:.2f} GFLOP a frame and pass"
    )
    yield f"memory    {config.memory.keyframes:>13,} keyframes of the capture, {config.memory.grown} more of its own; {config.memory.sources} make a sketch"
    yield f"playing   {counted(d.steps, 'step')} a frame: {((d.steps + 1) * a_frame + codec_cost) / 1e9:.2f} GFLOP"
    yield f"training  {3 * a_frame / 1e9:.2f} GFLOP a frame of the transformer, {3 * codec_cost / 1e9:.2f} of the codec; {16 * sum(of.values()) / 1e6:,.0f} MB of weights, averages and moments"
