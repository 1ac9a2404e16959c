"""What the transformer is trained on, computed once: every frame's latents and the sketch that the memory would give for it.

Arrays of the whole dataset in a folder of the run, read by memory map: a clip is a slice. Made in pieces; a piece that is there is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from worldwright.model.checkpoint import Keyframes
from worldwright.model.codec import Codec, to_input
from worldwright.model.config import MemoryConfig
from worldwright.model.memory import Archive
from worldwright.model.sketching import sketch_latents
from worldwright.model.splat import Sketch
from worldwright.outputs import write_text
from worldwright.train.footage import Footage

NEIGHBOURS = 12
"""Frames before and after one, of its own take, that its sketch must not be made from: else the answer would be in the question."""
DONE = "prepared.json"


@dataclass(frozen=True)
class Prepared:
    """``latents`` [F, C, h, w] float16; ``sketch`` [F, C + 1, h, w] float16 (``model.sketching``); ``action`` [F, 10] float32;
    ``c2w`` [F, 4, 4] float64; ``starts`` [E + 1]: first frames of the episodes."""

    latents: NDArray[np.float16]
    sketch: NDArray[np.float16]
    action: NDArray[np.float32]
    c2w: NDArray[np.float64]
    starts: NDArray[np.int64]

    def clips(self, length: int) -> NDArray[np.int64]:
        """First frames of every clip of ``length`` frames with the frame before it: [N]."""
        return np.concatenate([np.arange(a + 1, b - length + 1) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)])


def choose_keyframes(footage: Footage, config: MemoryConfig) -> Keyframes:
    """Frames evenly spread over the whole of the footage."""
    every = max(1, -(-footage.frames // config.keyframes))
    found: dict[str, list[Any]] = {name: [] for name in ("rgb", "depth", "c2w", "state", "episode", "frame")}
    at = 0
    for episode, _ in footage.episodes():
        for first, clip in footage.pieces(episode):
            for k in range(len(clip["tick"])):
                if at % every == 0:
                    for name, column in (("rgb", "rgb"), ("depth", "depth"), ("c2w", "camera.c2w"), ("state", "observation.state")):
                        found[name].append(clip[column][k])
                    found["episode"].append(episode)
                    found["frame"].append(first + k)
                at += 1
    stacked = {name: torch.from_numpy(np.stack(values)) for name, values in found.items()}
    stacked |= {
        "c2w": stacked["c2w"].to(torch.float64),
        "state": stacked["state"].to(torch.float32),
        "depth": stacked["depth"].to(torch.float32),
    }
    return Keyframes(**stacked)


def fill(keyframes: Keyframes, footage: Footage, device: torch.device) -> Archive:
    """An archive of them."""
    archive = Archive(len(keyframes.rgb), footage.lens.height, footage.lens.width, footage.lens.matrix().to(device))
    for rgb, depth, c2w in zip(keyframes.rgb, keyframes.depth, keyframes.c2w, strict=True):
        archive.add(rgb.to(device), depth.to(device), c2w.to(device))
    archive.seal()
    return archive


@torch.inference_mode()
def prepare(
    folder: Path,
    footage: Footage,
    codec: Codec,
    keyframes: Keyframes,
    config: MemoryConfig,
    device: torch.device,
    tell: Callable[[int, int], None],
) -> Prepared:
    """Make what is not there yet, and open it. ``tell(done, all)``: frames."""
    folder.mkdir(parents=True, exist_ok=True)
    lengths = [length for _, length in footage.episodes()]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    total, h, w = int(starts[-1]), footage.lens.height, footage.lens.width
    forms: dict[str, tuple[tuple[int, ...], Any]] = {
        "latents": ((total, codec.config.latent, h // 4, w // 4), np.float16),
        "sketch": ((total, codec.config.latent + 1, h // 4, w // 4), np.float16),
        "action": ((total, 10), np.float32),
        "c2w": ((total, 4, 4), np.float64),
    }
    done: int = json.loads((folder / DONE).read_text())["episodes"] if (folder / DONE).is_file() else 0
    arrays = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "r+" if done else "w+", dtype, shape)
        for name, (shape, dtype) in forms.items()
    }
    archive = fill(keyframes, footage, device)
    episodes, frames = keyframes.episode.to(device), keyframes.frame.to(device)
    scale = codec.config.depth_scale
    crew = ThreadPoolExecutor(os.cpu_count(), "sketches")
    for episode, _ in footage.episodes():
        if episode < done:
            continue
        for first, clip in footage.pieces(episode):
            rgb, depth = (
                torch.from_numpy(clip["rgb"]).to(device),
                torch.from_numpy(np.asarray(clip["depth"], np.float32)).to(device),
            )
            at = int(starts[episode]) + first
            here = slice(at, at + len(rgb))
            arrays["latents"][here] = codec.encode(to_input(rgb, depth, scale)).to(torch.float16).cpu().numpy()
            arrays["action"][here], arrays["c2w"][here] = clip["action"], clip["camera.c2w"]
            views = torch.from_numpy(clip["camera.c2w"]).to(device)

            def one(k: int, first: int = first, views: Tensor = views, episode: int = episode) -> Sketch:
                with torch.inference_mode():
                    allowed = (episodes != episode) | ((frames - (first + k)).abs() > NEIGHBOURS)
                    return archive.sketch(views[k], config.sources, allowed)

            # Many small operations, each too small for several threads: so several frames at once.
            drawn = list(crew.map(one, range(len(rgb))))
            sketch = Sketch(*(torch.cat([getattr(part, name) for part in drawn]) for name in ("rgb", "depth", "mask")))
            arrays["sketch"][here] = sketch_latents(codec, sketch).to(torch.float16).cpu().numpy()
            tell(at + len(rgb), total)
        for array in arrays.values():
            array.flush()
        write_text(folder / DONE, json.dumps({"episodes": episode + 1}))
    crew.shutdown()
    return Prepared(arrays["latents"], arrays["sketch"], arrays["action"], arrays["c2w"], starts)
