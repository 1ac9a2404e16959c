"""Finding free places: footprints on the ground that must not overlap."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class Rect:
    """A footprint: an axis-aligned rectangle on the ground, in metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    @staticmethod
    def around(x: float, y: float, half_x: float, half_y: float | None = None) -> Rect:
        """The rectangle about a middle."""
        half_y = half_x if half_y is None else half_y
        return Rect(x - half_x, y - half_y, x + half_x, y + half_y)

    def grown(self, margin: float) -> Rect:
        """The same with a margin on all sides."""
        return Rect(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def meets(self, other: Rect) -> bool:
        """True when the two overlap."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def holds(self, other: Rect) -> bool:
        """True when the other lies inside."""
        return self.x0 <= other.x0 and self.y0 <= other.y0 and other.x1 <= self.x1 and other.y1 <= self.y1


@dataclass
class Site:
    """A piece of ground, and what is taken of it."""

    area: Rect
    taken: list[Rect] = field(default_factory=list)

    def free(self, rect: Rect) -> bool:
        """True when ``rect`` lies in the area and meets nothing."""
        return self.area.holds(rect) and not any(rect.meets(other) for other in self.taken)

    def take(self, rect: Rect) -> bool:
        """Take ``rect`` if it is free."""
        if not self.free(rect):
            return False
        self.taken.append(rect)
        return True

    def find(self, rng: np.random.Generator, half: float, tries: int = 60) -> tuple[float, float] | None:
        """Take a free square of half edge ``half`` somewhere; None when ``tries`` throws found none."""
        for _ in range(tries):
            x = float(rng.uniform(self.area.x0 + half, self.area.x1 - half))
            y = float(rng.uniform(self.area.y0 + half, self.area.y1 - half))
            if self.take(Rect.around(x, y, half)):
                return round(x, 3), round(y, 3)
        return None
