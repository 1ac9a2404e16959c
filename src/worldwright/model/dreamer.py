"""A model that plays: one frame after another from actions and camera poses, at constant cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from worldwright.controls import ACTION_NAMES
from worldwright.errors import WorldwrightError
from worldwright.model.checkpoint import Trained, load
from worldwright.model.codec import FACTOR, to_input, to_picture
from worldwright.model.conditioning import controls, relative_pose
from worldwright.model.device import choose_device
from worldwright.model.dynamics import Cache
from worldwright.model.memory import Archive
from worldwright.model.sampler import sample
from worldwright.model.sketching import sketch_latents
from worldwright.model.splat import Sketch

Memory = Literal["capture", "imagination"]
KEEP_EVERY = 6
"""Of its own frames a model keeps each sixth, and those in which much is new."""
NEW_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Dreamed:
    """A frame: rgb [H, W, 3] uint8 sRGB, depth [H, W] float32 metres (NaN: no surface), the pose c2w [4, 4] that it is seen from, and its
    number since ``begin``. ``known``: share of it that the memory had a sketch of."""

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    c2w: NDArray[np.float64]
    frame: int
    known: float


class Dreamer:
    """A session of a trained model. Not for several threads at once."""

    def __init__(self, trained: Trained, device: torch.device, steps: int | None = None) -> None:
        self.trained, self.config, self.lens, self.device = trained, trained.config, trained.lens, device
        self.steps = steps or trained.config.dynamics.steps
        if not 1 <= self.steps <= 64:
            raise WorldwrightError(f"{self.steps} steps", where="--steps", fix="1 to 64")
        self.fps, self.width, self.height = self.lens.fps, self.lens.width, self.lens.height
        self.K = self.lens.matrix().numpy().astype(np.float64)
        self._scale = self.config.codec.depth_scale
        self._lens_matrix = self.lens.matrix().to(device)
        self._cache: Cache | None = None
        self._archives: dict[str, Archive] = {}

    @classmethod
    def open(cls, folder: Path, *, device: str = "auto", steps: int | None = None) -> Self:
        """From a checkpoint folder. Raises WorldwrightError for a bad one."""
        chosen = choose_device(device)
        return cls(load(Path(folder), chosen), chosen, steps)

    def archive(self, memory: Memory) -> Archive:
        """An archive as it is when a session begins; that of the capture is filled once and its later places are used again."""
        grown = self.config.memory.grown
        if memory == "imagination":
            return Archive(grown, self.height, self.width, self._lens_matrix)
        kept = self._archives.get(memory)
        if kept is None:
            frames = self.trained.keyframes
            kept = Archive(len(frames.rgb) + grown, self.height, self.width, self._lens_matrix)
            for rgb, depth, c2w in zip(frames.rgb, frames.depth, frames.c2w, strict=True):
                kept.add(rgb, depth, c2w)
            kept.seal()
            self._archives[memory] = kept
        kept.forget()
        return kept

    @torch.inference_mode()
    def begin(self, *, rgb: ArrayLike, depth: ArrayLike, c2w: ArrayLike, seed: int = 0, memory: Memory = "capture") -> Dreamed:
        """Start from a picture with its depth, seen from ``c2w``. It is the anchor of the session.

        Args:
            rgb: [H, W, 3] uint8. depth: [H, W] metres, NaN where there is no surface. c2w: [4, 4].
            seed: of the noise that frames are made from.
            memory: ``capture``, what the model keeps of its training capture; ``imagination``, only what it has shown since now.

        Raises:
            WorldwrightError: a picture of another size, or a pose that is not finite.
        """
        picture, far, pose = np.asarray(rgb), np.asarray(depth, dtype=np.float32), np.asarray(c2w, dtype=np.float64)
        if picture.shape != (self.height, self.width, 3) or picture.dtype != np.uint8 or far.shape != picture.shape[:2]:
            raise WorldwrightError(
                f"a first picture of {picture.dtype} {list(picture.shape)}",
                fix=f"uint8 [{self.height}, {self.width}, 3] and its depth",
            )
        if memory not in ("capture", "imagination"):
            raise WorldwrightError(f"no memory {memory!r}", fix="capture or imagination")
        self._pose = _pose(pose, self.device)
        self._memory = self.archive(memory)
        self._noise = torch.Generator().manual_seed(seed)
        first, away = torch.from_numpy(picture).to(self.device), torch.from_numpy(far).to(self.device)
        z = self.trained.codec.encode(to_input(first, away, self._scale)[None])
        still = controls(torch.zeros(1, len(ACTION_NAMES)), torch.zeros(1, 6)).to(self.device)
        self._cache = self.trained.dynamics.begin(z, still)
        self._memory.add(first, away, self._pose)
        self._frame = self._since = 0
        sketch = sketch_latents(self.trained.codec, Sketch(first[None], away[None], torch.isfinite(away)[None]))
        self.trained.dynamics.step(self._cache, z, sketch, still, torch.zeros(1, device=self.device), keep=True)
        return Dreamed(picture, far, pose, 0, 1.0)

    @torch.inference_mode()
    def step(self, action: ArrayLike, c2w: ArrayLike) -> Dreamed:
        """The next frame, seen from ``c2w`` [4, 4] after ``action`` [10] (``controls.ACTION_NAMES``). Raises WorldwrightError before ``begin``
        and for values that are not finite."""
        if self._cache is None:
            raise WorldwrightError("no session", fix="begin first")
        held = torch.from_numpy(np.asarray(action, dtype=np.float32))
        pose = _pose(np.asarray(c2w, dtype=np.float64), self.device)
        if held.shape != (len(ACTION_NAMES),) or not bool(torch.isfinite(held).all()):
            raise WorldwrightError(f"an action of {list(held.shape)}", fix=f"{len(ACTION_NAMES)} finite numbers")
        dynamics, device = self.trained.dynamics, self.device
        told = controls(held.to(device)[None], relative_pose(self._pose, pose)[None])
        sketch = self._memory.sketch(pose, self.config.memory.sources)
        shape = (1, self.config.codec.latent, self.height // FACTOR, self.width // FACTOR)
        noise = torch.randn(shape, generator=self._noise).to(device)
        clean = sample(dynamics, self._cache, noise, sketch_latents(self.trained.codec, sketch), told, self.steps)
        rgb, depth = to_picture(self.trained.codec.decode(clean), self._scale)
        self._pose, self._frame, self._since = pose, self._frame + 1, self._since + 1
        known = float(sketch.mask.to(torch.float32).mean())
        if known < 1 - NEW_SHARE or (self._since >= KEEP_EVERY and known < 0.98):
            self._memory.add(rgb[0], depth[0], pose)
            self._since = 0
        return Dreamed(rgb[0].cpu().numpy(), depth[0].cpu().numpy(), pose.cpu().numpy(), self._frame, known)


def _pose(c2w: NDArray[np.float64], device: torch.device) -> Tensor:
    if c2w.shape != (4, 4) or not np.isfinite(c2w).all():
        raise WorldwrightError("a camera pose is no finite 4 by 4 matrix", fix="give c2w, OpenCV axes, metres")
    return torch.from_numpy(c2w.copy()).to(device)
