"""``grammar``: every atomic action and combination for the same share of the time, so that walking forward does not dominate.

The atoms are cards. Each round deals all of them once; of the cards left in a round, one is drawn whose way is free, so walls and edges
change the order of the actions but never their shares. A card that runs into something is put back for its remaining frames.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from worldwright.controls import KEY_BITS, KEYS, Flag
from worldwright.engine.protocol import State
from worldwright.errors import WorldwrightError
from worldwright.record.inputs import FrameInput
from worldwright.record.policies.protocol import PolicyContext
from worldwright.record.steering import Hand


@dataclass(frozen=True, slots=True)
class Atom:
    """Keys held, and the direction of turning: ``turn`` 1 is left (counter-clockwise), ``tilt`` 1 is up."""

    name: str
    keys: int = 0
    turn: int = 0
    tilt: int = 0

    @property
    def heading(self) -> float | None:
        """Where the keys go, radians counter-clockwise from the look; None for those that stay."""
        f = bool(self.keys & KEY_BITS["forward"]) - bool(self.keys & KEY_BITS["back"])
        r = bool(self.keys & KEY_BITS["right"]) - bool(self.keys & KEY_BITS["left"])
        return math.atan2(-r, f) if f or r else None


def _atom(name: str, keys: str = "", turn: int = 0, tilt: int = 0) -> Atom:
    return Atom(name, sum(KEY_BITS[key] for key in keys.split()), turn, tilt)


ATOMS = (
    _atom("stand"),
    _atom("forward", "forward"),
    _atom("back", "back"),
    _atom("left", "left"),
    _atom("right", "right"),
    _atom("forward left", "forward left"),
    _atom("forward right", "forward right"),
    _atom("back left", "back left"),
    _atom("back right", "back right"),
    _atom("run", "forward run"),
    _atom("turn left", turn=1),
    _atom("turn right", turn=-1),
    _atom("look up", tilt=1),
    _atom("look down", tilt=-1),
    _atom("forward, turn left", "forward", 1),
    _atom("forward, turn right", "forward", -1),
    _atom("back, turn left", "back", 1),
    _atom("back, turn right", "back", -1),
    _atom("left, turn right", "left", -1),
    _atom("right, turn left", "right", 1),
    _atom("run, turn left", "forward run", 1),
    _atom("run, turn right", "forward run", -1),
    _atom("jump", "jump"),
    _atom("jump forward", "forward jump"),
    _atom("crouch", "crouch"),
    _atom("crouch forward", "forward crouch"),
    _atom("use", "use"),
    _atom("use forward", "forward use"),
)


class Params(BaseModel):
    """``hold_seconds``: about how long a card is played. ``turn_deg_s`` and ``tilt_deg_s``: the fastest turning, degrees a second.
    ``atoms``: names of the atoms to play; all unless given."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    hold_seconds: float = Field(default=0.7, ge=0.1, le=10)
    turn_deg_s: float = Field(default=100.0, ge=10, le=720)
    tilt_deg_s: float = Field(default=40.0, ge=5, le=360)
    atoms: tuple[str, ...] = ()


@dataclass(slots=True)
class _Card:
    atom: Atom
    frames: int


REACH = 0.55
"""Metres of free way in front that a card that moves needs at least: the body's radius and a step."""
LOOKAHEAD_SECONDS = 0.8
BLOCKED_FRAMES = 3
MAX_TILT = 0.6
"""Radians beyond which the look is not tilted further."""


class Grammar:
    """See the module."""

    name = "grammar"
    Params = Params

    def __init__(self, **params: object) -> None:
        self._params = Params.model_validate(params)
        known = {atom.name: atom for atom in ATOMS}
        unknown = [name for name in self._params.atoms if name not in known]
        if unknown:
            raise WorldwrightError(f"no atom {unknown[0]!r}", where="policy grammar: atoms", fix=f"there are: {', '.join(known)}")
        self.atoms = tuple(known[name] for name in dict.fromkeys(self._params.atoms)) or ATOMS
        self._played = dict.fromkeys((atom.name for atom in self.atoms), 0)

    @property
    def params(self) -> Mapping[str, object]:
        """As given, defaults filled in."""
        return self._params.model_dump(mode="json")

    def start(self, context: PolicyContext) -> None:
        """Deal the rounds: every atom gets the same number of frames in all, to within one."""
        self._context, self._rng = context, context.rng
        self._hand = Hand(context.frame_seconds)
        count = len(self.atoms)
        each, extra = divmod(context.frames, count)
        lucky = set(self._rng.permutation(count)[:extra].tolist())
        totals = [each + (k in lucky) for k in range(count)]
        rounds = max(1, round(each * context.frame_seconds / self._params.hold_seconds))
        self._rounds = [
            [
                _Card(atom, frames)
                for atom, total in zip(self.atoms, totals, strict=True)
                if (frames := total * (r + 1) // rounds - total * r // rounds)
            ]
            for r in range(rounds)
        ]
        self._deck: list[_Card] = []
        self._card: _Card | None = None
        self._age = self._blocked = 0
        self._rate = 0.0

    def act(self, frame: int, state: State) -> FrameInput:
        """The next frame of the card at hand, or of one drawn."""
        person = state.characters[0]
        card = self._card
        self._blocked = self._blocked + 1 if person.flags & Flag.BLOCKED else 0
        if card is not None and card.frames and self._blocked >= BLOCKED_FRAMES and self._deck:
            self._deck.append(card)
            card = None
        if card is None or not card.frames:
            card = self._draw(state)
            self._card, self._age, self._blocked = card, 0, 0
            self._length = card.frames
            self._rate = float(self._rng.uniform(0.6, 1.0))
        self._age += 1
        card.frames -= 1
        self._played[card.atom.name] += 1
        # Turning starts and ends softly.
        ease = min(1.0, self._age / 4, (self._length - self._age + 1) / 4) * self._rate
        yaw_rate = card.atom.turn * ease * math.radians(self._params.turn_deg_s)
        tilt_rate = card.atom.tilt * ease * math.radians(self._params.tilt_deg_s)
        if card.atom.tilt * person.pitch > MAX_TILT:
            tilt_rate = 0.0
        dx, dy = self._hand.at_rate(yaw_rate, tilt_rate)
        return FrameInput(card.atom.keys, dx, dy, card.atom.name)

    def _draw(self, state: State) -> _Card:
        """A card of the round whose way is free, at random; where there is none, one that turns, else any."""
        if not self._deck:
            self._deck = self._rounds.pop(0) if self._rounds else [_Card(self.atoms[0], 1)]
        yaw, pitch = state.characters[0].yaw, state.characters[0].pitch
        free: dict[float, float] = {}
        choices = []
        for k in self._rng.permutation(len(self._deck)).tolist():
            atom = self._deck[k].atom
            if atom.tilt * pitch > 0.5 * MAX_TILT:
                continue
            heading = atom.heading
            if heading is None:
                choices.append(k)
                continue
            if heading not in free:
                free[heading] = self._free(state, yaw + heading)
            speed = self._context.world.characters[0].run_speed if atom.keys & KEY_BITS["run"] else 1.5
            if free[heading] >= REACH + min(LOOKAHEAD_SECONDS, self._deck[k].frames * self._context.frame_seconds) * speed:
                choices.append(k)
        moving = [k for k in choices if self._deck[k].atom.heading is not None]
        still = [k for k in choices if self._deck[k].atom.heading is None]
        turning = [k for k in still if self._deck[k].atom.turn]
        # Cards that move are drawn while there is room for them, in proportion; with none free, turning makes room.
        if moving and self._rng.random() < len(moving) / len(choices):
            pick = moving[0]
        elif not moving and turning:
            pick = turning[0]
        elif still:
            pick = still[0]
        else:
            pick = int(self._rng.integers(len(self._deck)))
        return self._deck.pop(pick)

    def _free(self, state: State, yaw: float) -> float:
        """Metres of free way in a direction: up to a wall, an edge that drops more than a metre, or the bounds."""
        world, person = self._context.world, state.characters[0]
        x, y, z = person.position
        c, s = math.cos(yaw), math.sin(yaw)
        most = 4.0
        height = world.characters[0].height
        origins = np.array([[x, y, z + share * height] for share in (0.28, 0.75)])
        directions = np.tile([c, s, 0.0], (2, 1))
        ignore = self._context.engine.character_ids
        free = float(min(most, self._context.engine.cast_rays(origins, directions, most, ignore=ignore).distance.min()))
        low, high = world.bounds.min, world.bounds.max
        steps = np.arange(0.5, free + 0.5, 0.5)
        ahead = np.stack([x + c * steps, y + s * steps, np.full_like(steps, z + 0.5)], axis=1)
        down = np.tile([0.0, 0.0, -1.0], (len(steps), 1))
        drop = self._context.engine.cast_rays(ahead, down, 1.6, ignore=ignore).distance
        outside = (ahead[:, :2] < np.array(low[:2]) + 0.3).any(axis=1) | (ahead[:, :2] > np.array(high[:2]) - 0.3).any(axis=1)
        bad = np.flatnonzero(~np.isfinite(drop) | outside)
        return min(free, float(steps[bad[0]]) - 0.5) if len(bad) else free

    def report(self) -> Mapping[str, object]:
        """The share of the frames of each atom, and of the time of each key as asked for."""
        total = max(1, sum(self._played.values()))
        keys = {key: sum(n for atom, n in self._played.items() if self._by_name(atom).keys & KEY_BITS[key]) / total for key in KEYS}
        return {"atoms": {name: n / total for name, n in self._played.items()}, "keys": keys}

    def _by_name(self, name: str) -> Atom:
        return next(atom for atom in self.atoms if atom.name == name)
