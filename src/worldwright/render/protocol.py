"""What a renderer is. It knows no engine: it gets geometry, instants and cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.take.model import Instant
from worldwright.world.spec import World


@dataclass(frozen=True, slots=True)
class View:
    """A camera at an instant: c2w [4, 4] (OpenCV) and K [3, 3] in pixels. It does not see the characters ``hidden`` (a first-person
    camera sits inside a head); they still throw shadows."""

    c2w: NDArray[np.float64]
    K: NDArray[np.float64]
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """All that one picture needs. ``next`` and ``next_view`` are the following frame's, for flow. ``shutter`` holds the instants and
    views of the sub-frames that rgb is averaged over in linear light; empty means a sharp picture at ``now``."""

    now: Instant
    view: View
    next: Instant
    next_view: View
    shutter: tuple[tuple[Instant, View], ...] = ()


class Renderer(Protocol):
    """Makes pictures. ``submit`` starts one, ``collect`` gives the oldest one submitted: so that reading back overlaps with drawing."""

    name: str
    version: str
    device: str
    """What it runs on, as the driver says."""
    passes: tuple[str, ...]
    """What it can give; a pass that it cannot give is declared absent, never faked."""

    def open(
        self,
        world: World,
        geometry: SceneGeometry,
        body_ids: Sequence[int],
        width: int,
        height: int,
        passes: Sequence[str],
    ) -> None:
        """Load a scene at a picture size."""

    def submit(self, moment: Moment) -> None:
        """Start a picture."""

    def collect(self) -> dict[str, NDArray[Any]]:
        """The oldest picture submitted: pass name to its stored form (``passes.PASSES``); ``rgb`` is [height, width, 3] uint8 sRGB."""

    def close(self) -> None:
        """Free everything."""
