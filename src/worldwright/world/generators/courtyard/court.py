"""A courtyard in the making: its parameters, its ground, what of it is flat or taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators.draft import Array, Draft, material
from worldwright.world.generators.parameters import Params
from worldwright.world.generators.place import Rect, Site

PLAZA_TOP, PATH_TOP, PAD_TOP = 0.05, 0.035, 0.04
PLAZA_RADIUS = 4.7
OUTSIDE = 14.0
"""Metres of land beyond the walls."""
WALL = 0.5


class Courtyard(Params):
    """Parameters of ``courtyard``."""

    size: Annotated[float, Field(ge=24, le=44)] = 28.0
    """Metres between the middles of opposite walls."""
    trees: Annotated[int, Field(ge=0, le=24)] = 9
    """How many trees stand inside, at most: fewer where there is no room."""
    crates: Annotated[int, Field(ge=0, le=40)] = 12
    """How many crates are stacked at the market, to push and climb."""
    roughness: Annotated[float, Field(ge=0, le=1)] = 0.5
    """How uneven the ground is: 0 is flat, 1 has mounds of half a metre."""


@dataclass
class Court:
    draft: Draft
    rng: np.random.Generator
    params: Courtyard
    half: float
    flat: list[Rect]
    site: Site
    leaves: list[str]
    phases: Array

    def ground(self, x: Array, y: Array) -> Array:
        """Height of the ground at places."""
        waves = sum(
            amplitude * np.sin(kx * x + px) * np.sin(ky * y + py)
            for (px, py), (kx, ky, amplitude) in zip(
                self.phases, ((0.42, 0.37, 0.5), (0.83, 0.71, 0.3), (0.21, 0.29, 0.5)), strict=True
            )
        )
        away = np.hypot(x, y) - PLAZA_RADIUS
        for r in self.flat:
            away = np.minimum(
                away, np.hypot(np.maximum(np.maximum(r.x0 - x, x - r.x1), 0), np.maximum(np.maximum(r.y0 - y, y - r.y1), 0))
            )
        t = np.clip((away - 0.7) / 2.2, 0, 1)
        outside = np.clip((np.maximum(np.abs(x), np.abs(y)) - self.half - 2) / (OUTSIDE - 2), 0, 1)
        return self.params.roughness * 0.7 * waves * t * t * (3 - 2 * t) + outside**2 * (3.2 + 1.6 * waves)

    def paint(self, **colours: str) -> None:
        """Short for plain materials."""
        self.draft.paint(**{name: material(code) for name, code in colours.items()})
