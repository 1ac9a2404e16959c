"""A house in the making: its rooms on a grid, their walls, what of them is open or taken."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field

from worldwright.world.generators.draft import Draft
from worldwright.world.generators.masonry import Opening
from worldwright.world.generators.parameters import Params
from worldwright.world.generators.place import Rect, Site
from worldwright.world.generators.rooms.kinds import Kind

LAYER = 0.1
"""Thickness of one room's shell; a wall between two rooms is twice that."""
HEIGHT = 2.75
GROUND = -0.12

STEP = {"n": (0, 1), "s": (0, -1), "e": (1, 0), "w": (-1, 0)}
ACROSS = {"n": "s", "s": "n", "e": "w", "w": "e"}
YAW = {"n": 0.0, "s": math.pi, "e": -math.pi / 2, "w": math.pi / 2}
"""Turns furniture, whose back is at +Y, to this wall."""


class Rooms(Params):
    """Parameters of ``rooms``."""

    rooms: Annotated[int, Field(ge=2, le=9)] = 5
    """How many rooms there are."""
    furniture: Annotated[float, Field(ge=0, le=1)] = 0.75
    """How full the rooms are: 0 leaves lamps and pictures only."""
    lamps: Annotated[float, Field(ge=0, le=4)] = 1.0
    """Brightness of the lamps; 0 puts them out."""


@dataclass
class Room:
    kind: Kind
    cell: tuple[int, int]
    rect: Rect
    site: Site
    openings: dict[str, list[Opening]] = field(default_factory=lambda: {side: [] for side in "nsew"})
    """By side, along X or Y from the middle of that side: doorways stand on the floor, windows do not."""
    hung: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {side: [] for side in "nsew"})
    """Stretches of wall that carry something tall or a picture."""

    @property
    def middle(self) -> tuple[float, float]:
        return (self.rect.x0 + self.rect.x1) / 2, (self.rect.y0 + self.rect.y1) / 2

    def length(self, side: str) -> float:
        """Length of a side."""
        return self.rect.x1 - self.rect.x0 if side in "ns" else self.rect.y1 - self.rect.y0

    def on_wall(self, side: str, shift: float, inwards: float = 0.0) -> tuple[float, float]:
        """A point on a side, ``shift`` along X or Y from its middle, ``inwards`` from it."""
        x, y = self.middle
        dx, dy = STEP[side]
        half = self.length("e" if side in "ns" else "n") / 2 - inwards
        return round(x + dx * half + (shift if dx == 0 else 0), 4), round(y + dy * half + (shift if dy == 0 else 0), 4)


@dataclass
class House:
    draft: Draft
    rng: np.random.Generator
    params: Rooms
    rooms: list[Room]

    def at(self, cell: tuple[int, int]) -> Room | None:
        """The room in a cell of the grid."""
        return next((room for room in self.rooms if room.cell == cell), None)

    def beside(self, room: Room, side: str) -> Room | None:
        """The room on the other side of this wall; None outdoors."""
        dx, dy = STEP[side]
        return self.at((room.cell[0] + dx, room.cell[1] + dy))

    def extent(self) -> tuple[float, float, float, float]:
        """The smallest and greatest x and y: x0, y0, x1, y1."""
        rects = [room.rect for room in self.rooms]
        return min(r.x0 for r in rects), min(r.y0 for r in rects), max(r.x1 for r in rects), max(r.y1 for r in rects)
