"""How a hand moves the mouse, and small scripts of behaviour.

A script is a generator that yields the input of one frame after another; after each it finds the new state in its player. Scripts are put
together with ``yield from`` and tell by their return value whether they got what they wanted.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Flag
from worldwright.engine.protocol import CharacterState, State
from worldwright.record.inputs import FrameInput
from worldwright.take.frames import short_turn

FORWARD, BACK, RUN, CROUCH, USE, JUMP = (KEY_BITS[k] for k in ("forward", "back", "run", "crouch", "use", "jump"))
Script = Generator[FrameInput, None, bool]


class Hand:
    """Turns the look like a hand on a mouse: the speed follows the error, is limited, and changes gradually.

    Args:
        dt: seconds a frame.
        max_rate: radians a second.
        max_acceleration: radians a second squared.
    """

    def __init__(self, dt: float, max_rate: float = 2.6, max_acceleration: float = 14.0) -> None:
        self.dt, self.max_rate, self.max_acceleration = dt, max_rate, max_acceleration
        self._rates = [0.0, 0.0]
        self._carry = [0.0, 0.0]

    def towards(self, yaw_error: float, pitch_error: float = 0.0) -> tuple[int, int]:
        """Mouse counts dx, dy of a frame that bring the look nearer to where it should be; the errors are goal minus look."""
        return self._axis(0, short_turn(yaw_error)), self._axis(1, pitch_error)

    def at_rate(self, yaw_rate: float, pitch_rate: float) -> tuple[int, int]:
        """Mouse counts of a frame that turns at these rates, radians a second, as exactly as whole counts can over time."""
        self._rates = [yaw_rate, pitch_rate]
        return self._counts(0, yaw_rate), self._counts(1, pitch_rate)

    def _axis(self, axis: int, error: float) -> int:
        # The fastest speed from which it can still be stopped in time, and a gentle end: v = min(sqrt(2 a e), 6 e).
        size = abs(error)
        wanted = math.copysign(min(math.sqrt(2 * 0.7 * self.max_acceleration * size), 6.0 * size, self.max_rate), error)
        step = self.max_acceleration * self.dt
        rate = min(self._rates[axis] + step, max(self._rates[axis] - step, wanted))
        if abs(rate * self.dt) > size and abs(rate) <= step:
            rate = error / self.dt
        self._rates[axis] = rate
        return self._counts(axis, rate)

    def _counts(self, axis: int, rate: float) -> int:
        exact = -rate * self.dt / MOUSE_RADIANS + self._carry[axis]
        counts = round(exact)
        self._carry[axis] = exact - counts
        return counts


class Player:
    """Who plays: the hand on the mouse, and the state that is seen. Whoever runs the scripts sets ``state`` before every frame."""

    def __init__(self, state: State, frame_seconds: float) -> None:
        self.state = state
        self.dt = frame_seconds
        self.hand = Hand(frame_seconds)

    @property
    def person(self) -> CharacterState:
        """The character as it is now."""
        return self.state.characters[0]

    def frames(self, seconds: float) -> int:
        """Whole frames of about so many seconds, at least one."""
        return max(1, round(seconds / self.dt))


@dataclass(frozen=True, slots=True)
class Pace:
    """How a path is walked. ``extra`` gives keys to hold besides walking, frame by frame."""

    run: bool = False
    extra: Callable[[], int] | None = None
    intent: str = "walk"


LOOK_AHEAD = 0.7
"""Metres along the path at which the walker looks."""
LEVEL = -0.05
"""Radians: how people look when they walk, a little down."""
STUCK_SECONDS = 0.5
"""Blocked for longer than this is stuck."""
SLOW_SECONDS, SLOW_METRES = 1.2, 0.15
"""Wanting to walk, and less than this gained in that time, is stuck too."""


class PathTracker:
    """Where on a polyline [N, 3] a walker is: progress only grows, so that a path may cross itself."""

    def __init__(self, path: NDArray[np.float64]) -> None:
        points = np.asarray(path, dtype=np.float64)
        steps = np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1)
        self._along: list[float] = [0.0, *np.cumsum(steps).tolist()]
        self._corners: list[tuple[float, float, float]] = [(x, y, z) for x, y, z in points.tolist()]
        self.done = 0.0

    @property
    def end(self) -> tuple[float, float, float]:
        """The last point."""
        return self._corners[-1]

    @property
    def length(self) -> float:
        """Metres over ground."""
        return self._along[-1]

    @property
    def left(self) -> float:
        """Metres still to go."""
        return self.length - self.done

    def at(self, metres: float) -> tuple[float, float, float]:
        """The point after so many metres."""
        k = min(max(bisect_right(self._along, metres) - 1, 0), len(self._along) - 2)
        start, end = self._along[k], self._along[k + 1]
        t = min(1.0, max(0.0, (metres - start) / (end - start))) if end > start else 0.0
        (ax, ay, az), (bx, by, bz) = self._corners[k], self._corners[k + 1]
        return (ax + t * (bx - ax), ay + t * (by - ay), az + t * (bz - az))

    def advance(self, x: float, y: float) -> None:
        """Move the progress to the nearest point of the next 1.5 metres."""
        # Plain numbers: once a frame, on sixteen of them, numpy's calls cost more than all the rest of a policy.
        step = (min(self.done + 1.5, self.length) - self.done) / 15
        best, done = math.inf, self.done
        for k in range(16):
            px, py, _ = self.at(self.done + k * step)
            away = math.hypot(px - x, py - y)
            if away < best:
                best, done = away, self.done + k * step
        self.done = done


def walk(player: Player, path: NDArray[np.float64], pace: Pace, *, arrive: float = 0.3) -> Script:
    """Walk along a path [N, 3]. True when it arrived within ``arrive`` metres of its end over ground, False when stuck.

    The look turns towards a point ahead on the path; the walker stops while it looks elsewhere by more than 50 degrees.
    """
    tracker = PathTracker(path)
    blocked = slow = 0
    anchor = player.person.position
    while True:
        person = player.person
        x, y, z = person.position
        tracker.advance(x, y)
        end = tracker.end
        to_end = math.hypot(end[0] - x, end[1] - y)
        if to_end < arrive and tracker.left < max(arrive, LOOK_AHEAD):
            return True
        goal = tracker.at(tracker.done + LOOK_AHEAD)
        if tracker.left < LOOK_AHEAD:
            goal = end
        error = short_turn(math.atan2(goal[1] - y, goal[0] - x) - person.yaw)
        keys = 0
        if abs(error) < math.radians(50 if to_end > 0.5 else 25):
            keys |= FORWARD
            if pace.run and tracker.left > 1.0 and abs(error) < math.radians(25):
                keys |= RUN
        blocked = blocked + 1 if keys & FORWARD and person.flags & Flag.BLOCKED else 0
        slow += 1
        if not keys & FORWARD or math.dist((x, y), anchor[:2]) > SLOW_METRES:
            anchor, slow = person.position, 0
        if blocked * player.dt > STUCK_SECONDS or slow * player.dt > SLOW_SECONDS:
            return False
        if pace.extra is not None:
            keys |= pace.extra()
        slope = math.atan2(goal[2] - z, LOOK_AHEAD)
        dx, dy = player.hand.towards(error, 0.6 * slope + LEVEL - person.pitch)
        yield FrameInput(keys, dx, dy, pace.intent)


def look(player: Player, yaw: float, pitch: float, seconds: float, intent: str, keys: int = 0) -> Script:
    """Turn the look to ``yaw`` and ``pitch`` and keep it there, for ``seconds`` in all. True when it got there."""
    for _ in range(player.frames(seconds)):
        dx, dy = player.hand.towards(yaw - player.person.yaw, pitch - player.person.pitch)
        yield FrameInput(keys, dx, dy, intent)
    return abs(short_turn(yaw - player.person.yaw)) < 0.05


def turn_to(player: Player, yaw: float, intent: str, *, tolerance: float = 0.02) -> Script:
    """Turn on the spot until the look is level and within ``tolerance`` of ``yaw``, for 4 seconds at most."""
    for _ in range(player.frames(4.0)):
        error = short_turn(yaw - player.person.yaw)
        if abs(error) < tolerance:
            return True
        dx, dy = player.hand.towards(error, LEVEL - player.person.pitch)
        yield FrameInput(0, dx, dy, intent)
    return False


def hold(player: Player, keys: int, seconds: float, intent: str) -> Script:
    """Hold keys for some time without turning."""
    for _ in range(player.frames(seconds)):
        dx, dy = player.hand.towards(0.0, LEVEL - player.person.pitch)
        yield FrameInput(keys, dx, dy, intent)
    return True


def back_off(player: Player, turn: float) -> Script:
    """Get away from what is in the way: step back, then turn by ``turn`` radians."""
    yield from hold(player, BACK, 0.45, "back off")
    return (yield from look(player, player.person.yaw + turn, LEVEL, 0.5, "look for another way"))
