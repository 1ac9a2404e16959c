"""How good and how many pictures a visitor's line can take: never a growing queue.

Every picture is acknowledged when it is on the screen. Only so many are on their way at once; while they are, newer ones are not made. What
was left out, and how long pictures take, says whether the next ones are smaller or larger.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grade:
    """How pictures are encoded: JPEG quality, and size as a share."""

    quality: int
    scale: float


GRADES = (Grade(40, 0.34), Grade(55, 0.5), Grade(65, 0.67), Grade(65, 1.0), Grade(78, 1.0), Grade(88, 1.0))
FIRST = 4
WINDOW_S = 1.0
"""Seconds between two judgements."""
CALM = 4
"""Judgements without loss after which better pictures are tried."""
MOST_ON_WAY = 8
SLOW_S = 0.25
"""A picture that takes longer than this beyond the line's own delay waits in a queue somewhere."""
LOST_S = 10.0
"""Seconds without an answer after which the visitor has gone."""


class Pace:
    """The state of one visitor's line. Times are seconds of one monotonic clock."""

    def __init__(self, fps: float, now: float) -> None:
        self.fps = fps
        self.level = FIRST
        self.delay = 0.1
        """Smoothed seconds from sending a picture to its answer."""
        self.shortest = 1.0
        self.bytes_a_second = 0.0
        self._way: dict[int, tuple[float, int]] = {}
        self._since, self._sent, self._kept, self._arrived, self._slow = now, 0, 0, 0, 0
        self._calm = 0
        self._need = CALM

    @property
    def grade(self) -> Grade:
        """How the next picture is to be encoded."""
        return GRADES[self.level]

    @property
    def limit(self) -> int:
        """Pictures on their way at once: what the line's own delay holds, and one more."""
        return min(MOST_ON_WAY, max(2, round(self.shortest * self.fps) + 2))

    def may_send(self, now: float) -> bool:
        """Whether a picture made now would be sent; counts those that would not."""
        self._judge(now)
        if len(self._way) < self.limit:
            return True
        self._kept += 1
        return False

    def gone(self, now: float) -> bool:
        """Whether nobody answers any more."""
        return bool(self._way) and now - min(at for at, _ in self._way.values()) > LOST_S

    def sent(self, number: int, size: int, now: float) -> None:
        """A picture has been given to the socket."""
        self._way[number] = (now, size)
        self._sent += 1

    def answered(self, number: int, now: float) -> None:
        """It is on the screen, and so are those before it, or they never will be. Numbers that were not sent mean nothing."""
        if number not in self._way:
            return
        at, _ = self._way[number]
        self._arrived += sum(self._way.pop(k)[1] for k in [k for k in self._way if k <= number])
        took = now - at
        self.delay += 0.15 * (took - self.delay)
        self.shortest = min(self.shortest * 1.002, max(took, 1e-3)) if self.shortest < 1.0 else took
        self._slow += took > self.shortest + SLOW_S

    def _judge(self, now: float) -> None:
        passed = now - self._since
        if passed < WINDOW_S:
            return
        tried = self._sent + self._kept
        self.bytes_a_second = self._arrived / passed
        if tried and (self._kept > 0.15 * tried or self._slow > 0.3 * max(self._sent, 1)):
            if self._calm < 0:  # better pictures were tried just now, and were too much: wait longer before the next try
                self._need = min(self._need * 2, 64)
            self.level, self._calm = max(0, self.level - 1), 0
        elif tried:
            self._calm += 1
            if self._calm >= self._need and self.level < len(GRADES) - 1:
                self.level, self._calm = self.level + 1, -2
        self._since, self._sent, self._kept, self._arrived, self._slow = now, 0, 0, 0, 0
