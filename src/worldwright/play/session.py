"""What a played session is: a picture, an action, the next picture. Whether an engine or a model makes them, who plays cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Picture:
    """What is seen at a frame: rgb [H, W, 3] uint8 sRGB, the camera c2w [4, 4] (OpenCV, metres), the frame's number since ``reset``, depth [H, W]
    float32 metres (NaN: no surface) where the session gives it, and what else there is to say, as plain JSON."""

    rgb: NDArray[np.uint8]
    c2w: NDArray[np.float64]
    frame: int
    depth: NDArray[np.float32] | None = None
    info: Mapping[str, object] = field(default_factory=dict)


class Session(Protocol):
    """A world being played by one person or program. Not for several threads at once."""

    kind: Literal["engine", "model"]
    fps: int
    width: int
    height: int

    @property
    def K(self) -> NDArray[np.float64]:  # noqa: N802 (the name of a lens, here as everywhere)
        """The lens [3, 3] in pixels."""

    def reset(self, seed: int = 0) -> Picture:
        """Begin anew. The same seed and actions give the same pictures."""

    def step(self, action: ArrayLike) -> Picture:
        """A frame later, after ``action`` [10] (``controls.ACTION_NAMES``). Raises WorldwrightError for what is no action."""

    def close(self) -> None:
        """Free everything."""
