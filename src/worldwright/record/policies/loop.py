"""``loop``: goes out for half of the time, turns round, and comes back the same way: what was seen is seen again, for tests of memory."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from worldwright.engine.protocol import State
from worldwright.errors import WorldwrightError
from worldwright.record.inputs import FrameInput
from worldwright.record.policies.protocol import PolicyContext
from worldwright.record.steering import LEVEL, USE, Pace, Player, Script, back_off, look, turn_to, walk

TURN_SECONDS = 1.9
"""What turning by half a circle takes, at most."""
SPARE_SECONDS = 0.8
"""Kept for the way back, which is never exactly as quick as the way out."""
OUT_SHARE = 0.485
"""Of the walking time, how much is for the way out."""
ARRIVE = 0.12
MIN_SECONDS = 5.0
CRUMB_METRES = 0.25


class Params(BaseModel):
    """``run``: runs instead of walking."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    run: bool = Field(default=False)


class Loop:
    """See the module."""

    name = "loop"
    Params = Params
    least_seconds = MIN_SECONDS

    def __init__(self, **params: object) -> None:
        self._params = Params.model_validate(params)
        self._stuck = 0

    @property
    def params(self) -> Mapping[str, object]:
        """As given, defaults filled in."""
        return self._params.model_dump(mode="json")

    def start(self, context: PolicyContext) -> None:
        """Build the grid of walkable ground."""
        seconds = context.frames * context.frame_seconds
        if seconds < MIN_SECONDS:
            raise WorldwrightError(
                f"{seconds:.2f} s are too short to go and come back", where="policy loop", fix=f"record {MIN_SECONDS:g} s or more"
            )
        self._context, self._rng = context, context.rng
        self._grid = context.navigation()
        if len(self._grid) < 8:
            raise WorldwrightError(
                "there is nowhere to go from the spawn", where="policy loop", fix="use another spawn, or explore"
            )
        self._player = Player(context.state, context.frame_seconds)
        self._home = context.state.characters[0]
        walking = seconds - 2 * TURN_SECONDS - SPARE_SECONDS
        self._out_frames = max(1, round(OUT_SHARE * walking / context.frame_seconds))
        self._frame = 0
        self._crumbs = [np.array(self._home.position)]
        self._script = self._live()

    def act(self, frame: int, state: State) -> FrameInput:
        """The next frame of the way."""
        self._player.state, self._frame = state, frame
        return next(self._script)

    def report(self) -> Mapping[str, object]:
        """How the loop closed: metres and radians between the first pose and the last one seen."""
        person = self._player.person
        return {
            "stuck": self._stuck,
            "end_distance_m": math.dist(person.position, self._home.position),
            "end_turn_rad": abs(math.remainder(person.yaw - self._home.yaw, math.tau)),
        }

    def _live(self) -> Script:
        while self._frame < self._out_frames:
            yield from self._outwards()
        back = np.array(self._crumbs[::-1])
        if len(back) > 1:
            yield from self._back(back)
        yield from turn_to(self._player, self._home.yaw, "face as at the start", tolerance=0.01)
        while True:
            yield from look(self._player, self._home.yaw, self._home.pitch, 1.0, "stand where it began")

    def _outwards(self) -> Script:
        """Walk towards a far place until half of the time is over, leaving crumbs."""
        here = self._grid.nearest(self._player.person.position)
        person = self._player.person
        picks = self._rng.integers(len(self._grid), size=32)
        d = self._grid.points[picks, :2] - np.array(person.position[:2])
        metres, ahead = np.hypot(d[:, 0], d[:, 1]), np.cos(np.arctan2(d[:, 1], d[:, 0]) - person.yaw)
        goal = int(picks[int(np.argmax(np.minimum(metres, 12.0) * (1.2 + ahead)))])
        path = self._grid.path(here, goal)
        if path is None or len(path) < 2:
            return (yield from look(self._player, person.yaw + 1.0, LEVEL, 0.5, "look for a way"))
        leg = walk(self._player, path, Pace(self._params.run, self._doors, "go out"))
        while self._frame < self._out_frames:
            try:
                step = next(leg)
            except StopIteration as end:
                if not end.value:
                    self._stuck += 1
                    yield from self._untangle()
                return bool(end.value)
            yield step
            position = np.array(self._player.person.position)
            if np.hypot(*(position - self._crumbs[-1])[:2]) > CRUMB_METRES:
                self._crumbs.append(position)
        return True

    def _untangle(self) -> Script:
        return (yield from back_off(self._player, float(self._rng.choice((-1.0, 1.0)))))

    def _back(self, way: np.ndarray) -> Script:
        """Along the crumbs to where it began; by the grid where something stands on the way now. It runs when time gets short."""
        way = np.concatenate([[self._player.person.position], way])
        d = way[min(3, len(way) - 1)] - way[0]
        yield from turn_to(self._player, math.atan2(d[1], d[0]), "turn round", tolerance=0.1)
        character = self._context.world.characters[0]
        for attempt in range(8):
            left = float(np.linalg.norm(np.diff(way[:, :2], axis=0), axis=1).sum())
            seconds = (self._context.frames - self._frame) * self._player.dt - TURN_SECONDS
            hurry = self._params.run or left / character.walk_speed > seconds
            if (yield from walk(self._player, way, Pace(hurry, self._doors, "come back"), arrive=ARRIVE)):
                return True
            self._stuck += 1
            yield from self._untangle()
            path = self._grid.path(self._grid.nearest(self._player.person.position), self._grid.nearest(self._home.position))
            way = np.array([self._player.person.position, *([] if path is None or attempt % 2 else path), self._home.position])
        return False

    def _doors(self) -> int:
        return USE if self._grid.door_near(self._player.person.position) else 0
