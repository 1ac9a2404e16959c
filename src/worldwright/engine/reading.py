"""Poses and velocities out of Bullet, some hundred times a second for every body: the fewest and cheapest calls that give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from panda3d import core

from worldwright.transforms import quat_conjugate, quat_rotate

if TYPE_CHECKING:
    from worldwright.engine.physics import Body

F32 = NDArray[np.float32]
Columns = tuple[F32, ...]

STALE_TICKS = 120
"""A body can fall asleep, wake and sleep again unseen only if nobody reads for longer than this."""


class BodyReader:
    """Reads bodies that move.

    Panda's own vectors are slow to take apart: they are put whole into Panda's arrays, a list at a time, which numpy then looks into."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        n = len(bodies)
        nodes = [body.node for body in bodies]
        # Bound once: to look up a method of Panda's costs as much as to call it.
        self._active = [node.is_active for node in nodes]
        self._sources = [(node.get_transform, node.get_linear_velocity, node.get_angular_velocity) for node in nodes]
        self._offsets = {k: _offset(body) for k, body in enumerate(bodies) if body.offset}
        self._awake = [True] * n
        self._tick = -1 - STALE_TICKS
        self._last: Columns = tuple(np.zeros((n, width), dtype=np.float32) for width in (3, 4, 3, 3))

    def read(self, tick: int) -> Columns:
        """Positions [B, 3], rotations [B, 4] wxyz, linear and angular velocities [B, 3] after ``tick``, at the entities' origins. Only
        bodies that are awake now or were at the last reading are asked."""
        active = [f() for f in self._active]
        asked: Sequence[int] = range(len(active))
        if tick - self._tick <= STALE_TICKS and not all(active):
            asked = [k for k, (now, before) in enumerate(zip(active, self._awake, strict=True)) if now or before]
        self._tick, self._awake = tick, active
        if not asked:
            return tuple(column.copy() for column in self._last)
        fresh = self._ask(asked)
        if len(asked) < len(active):
            merged = [column.copy() for column in self._last]
            for column, values in zip(merged, fresh, strict=True):
                column[asked] = values
            fresh = merged
        self._last = tuple(fresh)
        return self._last

    def _ask(self, rows: Sequence[int]) -> list[F32]:
        """What Bullet says now of these bodies, a row each."""
        sources = self._sources
        some = sources if len(rows) == len(sources) else [sources[k] for k in rows]
        poses = [transform() for transform, _, _ in some]
        turns = [pose.get_quat() for pose in poses]
        spins = [angular() for _, _, angular in some]
        places, speeds = [pose.get_pos() for pose in poses], [linear() for _, linear, _ in some]
        if self._offsets:
            for row, k in enumerate(rows):
                if (offset := self._offsets.get(k)) is not None:
                    centre, back = offset
                    arm = turns[row].xform(centre)
                    places[row], speeds[row], turns[row] = places[row] - arm, speeds[row] - spins[row].cross(arm), back * turns[row]
        three, four = core.PTA_LVecBase3f, core.PTA_LVecBase4f
        return [_view(three(places), 3), _view(four(turns), 4), _view(three(speeds), 3), _view(three(spins), 3)]


def _view(column: Any, width: int) -> F32:
    return np.frombuffer(column, dtype=np.float32).reshape(-1, width)


def _offset(body: Body) -> tuple[core.LVector3f, core.LQuaternionf]:
    """What leads from the centre of mass and the principal axes, which Bullet knows, to the entity's origin and frame (Panda's product
    turns by its first factor first)."""
    inverse = quat_conjugate(body.axes)
    return core.LVector3f(*quat_rotate(inverse, body.centre)), core.LQuaternionf(*inverse)
