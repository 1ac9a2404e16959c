"""``explore``: walks to places that it has not seen, looks at things, pushes and opens them, and gets itself out when it is stuck."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from worldwright.controls import Flag
from worldwright.engine.protocol import State
from worldwright.record.inputs import FrameInput
from worldwright.record.policies.protocol import PolicyContext
from worldwright.record.steering import (
    CROUCH,
    FORWARD,
    JUMP,
    LEVEL,
    USE,
    Pace,
    Player,
    Script,
    back_off,
    look,
    turn_to,
    walk,
)
from worldwright.take.frames import short_turn


class Params(BaseModel):
    """``run``, ``look`` and ``push``: the share of the ways that are run, after which it looks at something, that are to push something.
    ``jump`` and ``crouch``: how often a minute it does so while walking."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    run: float = Field(default=0.25, ge=0, le=1)
    look: float = Field(default=0.5, ge=0, le=1)
    push: float = Field(default=0.25, ge=0, le=1)
    jump: float = Field(default=4.0, ge=0, le=60)
    crouch: float = Field(default=2.0, ge=0, le=60)


SEEN_METRES, SEEN_ANGLE = 5.0, math.radians(55)
"""Ground this near in this direction off the look counts as seen."""
CLOSED_METRES = 0.6
"""Around where it got stuck, ways cost STUCK_PENALTY metres more."""
STUCK_PENALTY = 6.0
SMALL_GROUND = 8
"""With fewer nodes than this there is nowhere to go: it looks around."""


class Explore:
    """See the module."""

    name = "explore"
    Params = Params

    def __init__(self, **params: object) -> None:
        self._params = Params.model_validate(params)
        self._counts = {"ways": 0, "stuck": 0, "pushes": 0, "looks": 0}

    @property
    def params(self) -> Mapping[str, object]:
        """As given, defaults filled in."""
        return self._params.model_dump(mode="json")

    def start(self, context: PolicyContext) -> None:
        """Build the grid of walkable ground."""
        self._context, self._rng = context, context.rng
        self._grid = context.navigation()
        self._player = Player(context.state, context.frame_seconds)
        self._seen = np.zeros(len(self._grid), dtype=np.bool_)
        self._penalties: dict[int, float] = {}
        self._low = self._grid.points[:0]
        self._whim, self._whim_frames = 0, 0
        ids = {body_id: k for k, body_id in enumerate(context.engine.body_ids)}
        entities = context.world.entities
        self._pushable = [k for body_id, k in ids.items() if entities[body_id - 1].pushable]
        self._script = self._live()

    def act(self, frame: int, state: State) -> FrameInput:
        """The next frame of what it is about."""
        self._player.state = state
        if frame % 6 == 0:
            self._notice()
        return next(self._script)

    def report(self) -> Mapping[str, object]:
        """What it did, and the share of the reachable ground that it saw."""
        return {**self._counts, "ground_seen": float(self._seen.mean())}

    def _live(self) -> Script:
        """For ever: go somewhere, do something there."""
        while True:
            if len(self._grid) < SMALL_GROUND:
                yield from self._look_around()
                continue
            if not (self._pushable and self._rng.random() < self._params.push and (yield from self._push_something())):
                yield from self._go(self._unseen_place(), "walk to")
            if self._rng.random() < self._params.look:
                yield from self._look_at_something()

    # --- ways -----------------------------------------------------------------------------------------------------------------

    def _unseen_place(self) -> int:
        """A node, at random, that is rather unseen, rather ahead, and some metres away."""
        if self._seen.mean() > 0.9:
            self._seen[:] = False
        x, y, _ = self._player.person.position
        picks = self._rng.integers(len(self._grid), size=32)
        d = self._grid.points[picks, :2] - (x, y)
        metres = np.hypot(d[:, 0], d[:, 1])
        ahead = np.cos(np.arctan2(d[:, 1], d[:, 0]) - self._player.person.yaw)
        score = 1.5 * ~self._seen[picks] - np.abs(metres - 8.0) / 8.0 + 0.4 * ahead + self._rng.normal(0, 0.3, len(picks))
        score[metres < 1.5] -= 3.0
        return int(picks[int(np.argmax(score))])

    def _go(self, goal: int, what: str) -> Script:
        """Walk to a node. When stuck: back off, and let the next way avoid the place."""
        start = self._grid.nearest(self._player.person.position)
        way = self._grid.route(start, goal, self._penalties)
        self._counts["ways"] += 1
        if way is None or len(way) < 2:
            return (yield from self._look_around())
        self._low = self._grid.points[[n for n in way if self._grid.low[n]]]
        x, y, _ = self._grid.points[goal]
        pace = Pace(bool(self._rng.random() < self._params.run), self._extra_keys, f"{what} {x:.1f} {y:.1f}")
        if (yield from walk(self._player, self._grid.points[self._grid.straighten(way)], pace)):
            return True
        self._counts["stuck"] += 1
        self._avoid_here()
        yield from back_off(self._player, float(self._rng.choice((-1.0, 1.0)) * self._rng.uniform(0.8, 2.0)))
        return False

    def _avoid_here(self) -> None:
        """Make the ground just ahead dear."""
        person = self._player.person
        ahead = np.array(person.position) + 0.5 * np.array([math.cos(person.yaw), math.sin(person.yaw), 0.0])
        d = self._grid.points - ahead
        for node in np.flatnonzero((np.hypot(d[:, 0], d[:, 1]) < CLOSED_METRES) & (np.abs(d[:, 2]) < 1.0)).tolist():
            self._penalties[node] = self._penalties.get(node, 0.0) + STUCK_PENALTY

    def _extra_keys(self) -> int:
        """Crouch where it is low, use where there is a door, and now and then jump or crouch for no reason."""
        position = self._player.person.position
        if len(self._low) and np.linalg.norm(self._low - position, axis=1).min() < 0.8:
            return CROUCH
        keys = USE if self._grid.door_near(position) else 0
        if self._whim_frames:
            self._whim_frames -= 1
            return keys | self._whim
        per_frame = self._player.dt / 60.0
        dice = self._rng.random()
        if dice < self._params.jump * per_frame:
            self._whim, self._whim_frames = JUMP, self._player.frames(0.15)
        elif dice < (self._params.jump + self._params.crouch) * per_frame:
            self._whim, self._whim_frames = CROUCH, self._player.frames(float(self._rng.uniform(0.6, 1.4)))
        return keys

    # --- things ---------------------------------------------------------------------------------------------------------------

    def _push_something(self) -> Script:
        """Walk beside a thing that can be pushed, face it, and walk against it. False when there is none near."""
        positions = self._player.state.positions[self._pushable]
        x, y, z = self._player.person.position
        metres = np.hypot(positions[:, 0] - x, positions[:, 1] - y) + 2.0 * np.abs(positions[:, 2] - z - 0.5)
        near = np.flatnonzero(metres < 10.0)
        if not len(near):
            return False
        body = self._pushable[int(self._rng.choice(near))]
        at = self._player.state.positions[body]
        d = self._grid.points - at
        beside = np.hypot(d[:, 0], d[:, 1])
        places = np.flatnonzero((beside > 0.7) & (beside < 1.5) & (np.abs(d[:, 2]) < 1.2))
        if not len(places):
            return False
        name = self._context.world.entities[self._context.engine.body_ids[body] - 1].name
        if not (yield from self._go(int(self._rng.choice(places)), f"go to {name} at")):
            return True
        at = self._player.state.positions[body]
        x, y, _ = self._player.person.position
        yield from turn_to(self._player, math.atan2(at[1] - y, at[0] - x), f"face {name}", tolerance=0.1)
        self._counts["pushes"] += 1
        blocked = 0
        for _ in range(self._player.frames(float(self._rng.uniform(1.0, 2.4)))):
            person, at = self._player.person, self._player.state.positions[body]
            error = short_turn(math.atan2(at[1] - person.position[1], at[0] - person.position[0]) - person.yaw)
            blocked = blocked + 1 if person.flags & Flag.BLOCKED else 0
            if abs(error) > 1.0 or blocked * self._player.dt > 0.7:
                break
            dx, dy = self._player.hand.towards(error, -0.25 - person.pitch)
            yield FrameInput(FORWARD | USE, dx, dy, f"push {name}")
        yield from back_off(self._player, float(self._rng.uniform(-2.0, 2.0)))
        return True

    def _look_at_something(self) -> Script:
        """Stand still and look at something near that can move, or else around."""
        state, person = self._player.state, self._player.person
        self._counts["looks"] += 1
        x, y, z = person.position
        eye = np.array([x, y, z + self._context.world.camera.eye * self._context.world.characters[0].height])
        d = state.positions - eye
        metres = np.linalg.norm(d, axis=1)
        near = np.flatnonzero((metres > 0.8) & (metres < 8.0))
        if not len(near):
            return (yield from self._look_around())
        k = int(self._rng.choice(near))
        name = self._context.world.entities[self._context.engine.body_ids[k] - 1].name
        pitch = math.asin(float(d[k, 2] / metres[k]))
        yaw = math.atan2(float(d[k, 1]), float(d[k, 0]))
        return (
            yield from look(self._player, yaw, max(-1.0, min(0.8, pitch)), float(self._rng.uniform(0.9, 1.8)), f"look at {name}")
        )

    def _look_around(self) -> Script:
        """Two or three glances, then level again."""
        for _ in range(int(self._rng.integers(2, 4))):
            yaw = self._player.person.yaw + float(self._rng.uniform(-1.4, 1.4))
            yield from look(
                self._player, yaw, float(self._rng.uniform(-0.35, 0.3)), float(self._rng.uniform(0.5, 0.9)), "look around"
            )
        return (yield from look(self._player, self._player.person.yaw, LEVEL, 0.3, "look around"))

    def _notice(self) -> None:
        """Remember what ground has been seen."""
        person = self._player.person
        d = self._grid.points - person.position
        metres = np.hypot(d[:, 0], d[:, 1])
        off = np.abs((np.arctan2(d[:, 1], d[:, 0]) - person.yaw + math.pi) % (2 * math.pi) - math.pi)
        self._seen |= (np.abs(d[:, 2]) < 2.5) & ((metres < 1.2) | ((metres < SEEN_METRES) & (off < SEEN_ANGLE)))
