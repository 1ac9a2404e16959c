"""What a renderer is. It knows no engine: it gets geometry, instants and cameras."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Scenery:
    """What a renderer is opened for: all of a take that stays the same from picture to picture.

    ``world`` is as it shall be seen, its look put on. ``body_ids`` are the entities that move, in the order of an instant's rows.
    ``tick_rate`` is ticks a second, for what moves with the clock alone (rain). ``attachments`` are the take's files by name, for a
    renderer that lets the engine of the take play them again."""

    world: World
    geometry: SceneGeometry
    body_ids: tuple[int, ...]
    tick_rate: int
    attachments: Mapping[str, bytes] = field(default_factory=dict)


def declared_by(renderer: Renderer) -> Mapping[str, Mapping[str, Any]]:
    """What its passes say beside the conventions, by pass (``declared.py``), for the scenery that it is open for: what its method
    ``declares`` returns. A renderer that keeps the conventions has none."""
    method = getattr(renderer, "declares", None)
    return {} if method is None else method()


class Renderer(Protocol):
    """Makes pictures. ``submit`` starts one, ``collect`` gives the oldest one submitted: so that reading back overlaps with drawing."""

    name: str
    version: str
    device: str
    """What it runs on, as the driver says."""
    passes: tuple[str, ...]
    """What it can give; a pass that it cannot give is declared absent, never faked."""
    samples: int | None
    """Samples a pixel of rgb where the preset names none; None: it does not sample, and a preset that names some is refused."""
    engine: str | None
    """The engine whose takes alone it can show; None: any take."""
    rigs: tuple[str, ...] | None
    """The recorded cameras through which alone it can look; None: any camera."""

    def open(self, scenery: Scenery, width: int, height: int, passes: Sequence[str], samples: int | None = None) -> None:
        """Load a scene at a picture size."""

    def submit(self, moment: Moment) -> None:
        """Start a picture."""

    def collect(self) -> dict[str, NDArray[Any]]:
        """The oldest picture submitted: pass name to its stored form (``passes.PASSES``); ``rgb`` is [height, width, 3] uint8 sRGB."""

    def close(self) -> None:
        """Free everything."""
