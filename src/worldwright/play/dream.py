"""A model's world, played: a dreamer makes the pictures, a walker says where the camera goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from worldwright.controls import ACTION_NAMES
from worldwright.errors import WorldwrightError
from worldwright.model.walker import Stand, Walker
from worldwright.play.session import Picture

Memory = Literal["capture", "imagination"]
MEMORIES: tuple[Memory, ...] = ("capture", "imagination")

TURN_METRES = 2.0
"""Metres that a radian counts for when the nearest start is looked for: a view is used up sooner by turning than by walking."""


class Dreamed(Protocol):
    """A frame of a dreamer (``model.dreamer.Dreamed``)."""

    @property
    def rgb(self) -> NDArray[np.uint8]:
        """[H, W, 3] sRGB."""

    @property
    def depth(self) -> NDArray[np.float32]:
        """[H, W] metres."""

    @property
    def c2w(self) -> NDArray[np.float64]:
        """[4, 4]."""

    @property
    def frame(self) -> int:
        """Frames since ``begin``."""


class Dreams(Protocol):
    """Makes frames from actions and poses (``model.dreamer.Dreamer``)."""

    fps: int
    width: int
    height: int
    K: NDArray[np.float64]

    def begin(self, *, rgb: ArrayLike, depth: ArrayLike, c2w: ArrayLike, seed: int = 0, memory: Memory = "capture") -> Dreamed:
        """The first frame."""

    def step(self, action: ArrayLike, c2w: ArrayLike) -> Dreamed:
        """The next frame."""


@dataclass(frozen=True)
class Starts:
    """Where a session can begin, from the capture: rgb [N, H, W, 3] uint8, depth [N, H, W] metres, c2w [N, 4, 4], state [N, 8]."""

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    c2w: NDArray[np.float64]
    state: NDArray[np.float32]

    def nearest(self, c2w: NDArray[np.float64]) -> int:
        """The start whose view is nearest to a pose."""
        away = np.linalg.norm(self.c2w[:, :3, 3] - c2w[:3, 3], axis=1)
        turn = np.arccos(np.clip(self.c2w[:, :3, 2] @ c2w[:3, 2], -1.0, 1.0))
        return int(np.argmin(away + TURN_METRES * turn))


class ModelSession:
    """A model's world. ``memory``: ``capture``, it has the keyframes of its training capture; ``imagination``, only what it has shown itself."""

    kind: Literal["engine", "model"] = "model"

    def __init__(self, dreamer: Dreams, walker: Walker, starts: Starts, *, memory: Memory = "capture") -> None:
        if memory not in MEMORIES:
            raise WorldwrightError(f"no memory {memory!r}", fix=" or ".join(MEMORIES))
        if not len(starts.c2w):
            raise WorldwrightError("the model has no keyframe to start from", fix="train again")
        self._dreamer, self._walker, self._starts, self.memory = dreamer, walker, starts, memory
        self.fps, self.width, self.height = dreamer.fps, dreamer.width, dreamer.height
        self._stand: Stand | None = None
        self._seed = 0

    @classmethod
    def open(cls, folder: Path, *, memory: Memory = "capture", device: str = "auto", steps: int | None = None) -> Self:
        """From a checkpoint folder. Raises WorldwrightError for a bad one, or where torch is not installed."""
        try:
            from worldwright.model.dreamer import Dreamer
        except ImportError as error:
            raise WorldwrightError(
                f"a model needs PyTorch ({error})", where=str(folder), fix="in the checkout: .venv/bin/pip install -e '.[train]'"
            ) from error
        dreamer = Dreamer.open(folder, device=device, steps=steps)
        trained = dreamer.trained
        frames = trained.keyframes
        walker = Walker.from_document(trained.walker, f"{folder}: walker")
        starts = Starts(*(value.cpu().numpy() for value in (frames.rgb, frames.depth, frames.c2w, frames.state)))
        return cls(dreamer, walker, starts, memory=memory)

    @property
    def K(self) -> NDArray[np.float64]:  # noqa: N802 (the name of a lens, here as everywhere)
        """The lens [3, 3] in pixels."""
        return np.asarray(self._dreamer.K)

    def reset(self, seed: int = 0) -> Picture:
        """Begin at the capture's first keyframe, or with another seed at one that it draws."""
        return self._begin(0 if seed == 0 else int(np.random.default_rng(seed).integers(len(self._starts.c2w))), seed)

    def reset_at(self, c2w: ArrayLike, seed: int = 0) -> Picture:
        """Begin at the keyframe that sees nearest to what ``c2w`` [4, 4] sees, and go there in one frame."""
        pose = np.asarray(c2w, dtype=np.float64)
        self._begin(self._starts.nearest(pose), seed)
        return self.step_to(np.zeros(len(ACTION_NAMES), np.float32), pose)

    def step(self, action: ArrayLike) -> Picture:
        """A frame later; the walker says from where."""
        if self._stand is None:
            raise WorldwrightError("no session", fix="reset first")
        self._stand = self._walker.step(self._stand, action)
        return self._picture(self._dreamer.step(action, self._walker.c2w(self._stand)), flags=self._stand.flags)

    def step_to(self, action: ArrayLike, c2w: ArrayLike) -> Picture:
        """A frame later, seen from ``c2w`` [4, 4], which somebody else knows: an engine beside it. The walker stays behind."""
        if self._stand is None:
            raise WorldwrightError("no session", fix="reset first")
        return self._picture(self._dreamer.step(action, c2w), flags=0)

    def close(self) -> None:
        """Nothing is held but memory."""
        self._stand = None

    def _begin(self, start: int, seed: int) -> Picture:
        s = self._starts
        dreamed = self._dreamer.begin(rgb=s.rgb[start], depth=s.depth[start], c2w=s.c2w[start], seed=seed, memory=self.memory)
        self._stand = self._walker.start(s.state[start])
        return self._picture(dreamed, flags=0)

    def _picture(self, dreamed: Dreamed, *, flags: int) -> Picture:
        info: dict[str, Any] = {"memory": self.memory, "flags": flags}
        if (known := getattr(dreamed, "known", None)) is not None:
            info["known"] = round(float(known), 3)
        return Picture(dreamed.rgb, dreamed.c2w, dreamed.frame, dreamed.depth, info)
