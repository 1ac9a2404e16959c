"""What is judged beside a model: what it must beat, and what it cannot exceed. All play as a ``Dreamer`` does: ``begin``, then ``step``."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from worldwright.model.codec import to_input, to_picture
from worldwright.model.dreamer import Dreamed, Dreamer, Memory

Array = NDArray[np.float64]


class Player(Protocol):
    """Shows a world frame by frame. ``truth`` is the engine's frame, (rgb, depth), which only the ceiling may look at."""

    name: str

    def begin(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], c2w: Array) -> Dreamed:
        """The first frame, as the engine saw it."""

    def step(self, action: ArrayLike, c2w: Array, truth: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> Dreamed:
        """The next."""


class ModelPlayer:
    """The model itself."""

    def __init__(self, dreamer: Dreamer, memory: Memory, seed: int = 0) -> None:
        self.name, self._dreamer, self._memory, self._seed = f"model, {memory}", dreamer, memory, seed

    def begin(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], c2w: Array) -> Dreamed:
        """See ``Player``."""
        return self._dreamer.begin(rgb=rgb, depth=depth, c2w=c2w, seed=self._seed, memory=self._memory)

    def step(self, action: ArrayLike, c2w: Array, truth: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> Dreamed:
        """See ``Player``."""
        return self._dreamer.step(action, c2w)


class Repeat:
    """The first frame again and again."""

    name = "repeat the last frame"

    def begin(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], c2w: Array) -> Dreamed:
        """See ``Player``."""
        self._last = Dreamed(rgb, depth, c2w, 0, 1.0)
        return self._last

    def step(self, action: ArrayLike, c2w: Array, truth: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> Dreamed:
        """See ``Player``."""
        self._last = Dreamed(self._last.rgb, self._last.depth, c2w, self._last.frame + 1, 0.0)
        return self._last


class SplatAlone:
    """The memory's sketch as it is; where nothing is known, the mean colour of the frame before."""

    name = "splat alone"

    def __init__(self, dreamer: Dreamer) -> None:
        self._dreamer = dreamer

    @torch.inference_mode()
    def begin(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], c2w: Array) -> Dreamed:
        """See ``Player``."""
        self._archive = self._dreamer.archive("capture")
        self._archive.add(*(torch.from_numpy(x).to(self._dreamer.device) for x in (rgb, depth, np.asarray(c2w, np.float64))))
        self._last = Dreamed(rgb, depth, c2w, 0, 1.0)
        return self._last

    @torch.inference_mode()
    def step(self, action: ArrayLike, c2w: Array, truth: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> Dreamed:
        """See ``Player``."""
        pose = torch.from_numpy(np.asarray(c2w, np.float64)).to(self._dreamer.device)
        sketch = self._archive.sketch(pose, self._dreamer.config.memory.sources)
        mask = sketch.mask[0].cpu().numpy()
        mean = self._last.rgb.reshape(-1, 3).mean(0).round().astype(np.uint8)
        rgb = np.where(mask[..., None], sketch.rgb[0].cpu().numpy(), mean)
        self._last = Dreamed(rgb, sketch.depth[0].cpu().numpy(), c2w, self._last.frame + 1, float(mask.mean()))
        return self._last


class Ceiling:
    """The engine's frame through the codec and back."""

    name = "codec's ceiling"

    def __init__(self, dreamer: Dreamer) -> None:
        self._codec, self._device, self._frame = dreamer.trained.codec, dreamer.device, 0

    def begin(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], c2w: Array) -> Dreamed:
        """See ``Player``."""
        self._frame = 0
        return Dreamed(rgb, depth, c2w, 0, 1.0)

    @torch.inference_mode()
    def step(self, action: ArrayLike, c2w: Array, truth: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> Dreamed:
        """See ``Player``."""
        self._frame += 1
        scale = self._codec.config.depth_scale
        rgb, depth = (torch.from_numpy(np.asarray(x)).to(self._device) for x in truth)
        made, far = to_picture(self._codec.decode(self._codec.encode(to_input(rgb, depth, scale)[None])), scale)
        return Dreamed(made[0].cpu().numpy(), far[0].cpu().numpy(), c2w, self._frame, 1.0)
