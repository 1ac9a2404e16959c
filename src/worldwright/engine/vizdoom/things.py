"""The game's objects as bodies: which object is which entity, where it is, and what comes and goes.

An object keeps its entity while it lives. What is there at tick 0 has one of its own; what comes later gets a spare one, which is free
again when the object is gone. A body whose object is gone stays where it was last: an event tells so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from worldwright.engine.protocol import F32, F64
from worldwright.errors import WorldwrightError
from worldwright.world.generators.doom import ACROSS, TICS, UP
from worldwright.world.spec import World

PLAYER = "DoomPlayer"
_UNSEEN = ("TeleportDest", "MapSpot", "PlayerPawn")
_DEAD = "Dead"
TELEPORT = 100.0
"""Map units a tic: nothing walks, flies or falls as fast."""
_NEAR = 1.0
"""Map units between where the world has a thing and where the game has it at tick 0."""

_read: Callable[[Any], tuple[Any, ...]] = attrgetter(
    "id", "position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "angle", "name"
)
_METRES = np.array([ACROSS, ACROSS, UP])

Tell = Callable[[str, int, float], None]
"""What is told of an entity: kind, id, value."""


@dataclass
class Things:
    """The stand-ins of a world as rows of its bodies: [B, 3] positions, [B, 4] rotations and [B, 3] velocities, written in place."""

    world: World
    body_ids: Sequence[int]
    positions: F64
    rotations: F64
    linear: F64
    _rows: dict[int, int] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)
    _unseen: set[int] = field(default_factory=set)

    def begin(self, objects: Iterable[Any]) -> list[int]:
        """Find the entities of the objects at tick 0. Returns the ids of entities that the game does not have."""
        named: dict[str, list[tuple[float, float, int]]] = {}
        for row, id in enumerate(self.body_ids):
            entity = self.world.entities[id - 1]
            if entity.label == "spare":
                self._free.append(row)
            elif entity.stand_in:
                x, y, _ = entity.position
                named.setdefault(entity.name.rpartition(" ")[0].lower(), []).append((x / ACROSS, y / ACROSS, row))
        self._free.reverse()
        for values in map(_read, objects):
            id, x, y, name = values[0], values[1], values[2], values[8]
            places = named.get(name.lower(), [])
            found = next((p for p in places if abs(p[0] - x) < _NEAR and abs(p[1] - y) < _NEAR), None)
            if found is not None:
                places.remove(found)
                self._rows[id], self._names[id] = found[2], name
        missing = [self.body_ids[row] for places in named.values() for _, _, row in places]
        self.update(objects, lambda _kind, _id, _value: None)
        return sorted(missing)

    def update(self, objects: Iterable[Any], tell: Tell) -> None:
        """Take over where everything is; tell what appeared, is gone, or died."""
        seen = set()
        rows, moved, turned = [], [], []
        for id, x, y, z, u, v, w, angle, name in map(_read, objects):
            row = self._rows.get(id)
            if row is None:
                if id in self._unseen:
                    continue
                if name in _UNSEEN or name == PLAYER:
                    self._unseen.add(id)
                    continue
                row = self._spare(id, name)
                tell("appear", self.body_ids[row], 0.0)
            else:
                if name != self._names[id]:
                    self._names[id] = name
                    if name.startswith(_DEAD):
                        tell("death", self.body_ids[row], 0.0)
                if max(abs(x - self.positions[row, 0] / ACROSS), abs(y - self.positions[row, 1] / ACROSS)) > TELEPORT:
                    tell("teleport", self.body_ids[row], 0.0)
            seen.add(id)
            rows.append(row)
            moved.append((x, y, z, u, v, w))
            turned.append(angle)
        if rows:
            table = np.array(moved)
            self.positions[rows] = table[:, :3] * _METRES
            self.linear[rows] = table[:, 3:] * _METRES * TICS
            half = np.radians(turned) / 2
            self.rotations[rows, 0], self.rotations[rows, 3] = np.cos(half), np.sin(half)
        if len(seen) < len(self._rows):
            for id in [id for id in self._rows if id not in seen]:
                self._leave(id, tell)

    def _spare(self, id: int, name: str) -> int:
        if not self._free:
            raise WorldwrightError(
                f"more things appear at once than the world has spare entities ({name} is one too many)",
                where="engine vizdoom",
                fix="record a shorter take",
            )
        row = self._free.pop()
        self._rows[id], self._names[id] = row, name
        return row

    def _leave(self, id: int, tell: Tell) -> None:
        row = self._rows.pop(id)
        del self._names[id]
        self.linear[row] = 0
        if self.world.entities[self.body_ids[row] - 1].label == "spare":
            self._free.insert(0, row)  # the one that was gone longest comes next
        tell("gone", self.body_ids[row], 0.0)


def float32(table: F64) -> F32:
    """A copy as states hold it: it must not change any more."""
    return table.astype(np.float32)
