"""Poses and velocities out of Bullet, some hundred times a second for every body.

Just after a step no code and no data of Python's is in the processor's caches: then every call costs several times what it costs in a loop
of its own. So a reading only takes hold of Panda's values, which do not change any more, and they are taken apart later, many readings at
once, when somebody looks at one of them.
"""

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

STALE_TICKS = 120
"""A body can fall asleep, wake and sleep again unseen only if nobody reads for longer than this."""
MOST_WAITING = 64
"""So many readings at most wait to be taken apart: nobody may ever look at one."""
POSITION, ROTATION, LINEAR, ANGULAR = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)
"""Columns of a reading's table."""
COLUMNS = 13


class Reading:
    """The bodies after a tick. Until it is taken apart it holds Panda's values of the bodies of ``rows``; the others slept on."""

    __slots__ = ("_reader", "_table", "angular", "linear", "poses", "rows", "tick")

    def __init__(self, reader: BodyReader, tick: int) -> None:
        self._reader, self.tick = reader, tick
        self.rows: list[int] = []
        self.poses: list[core.TransformState] = []
        self.linear: list[core.LVector3f] = []
        self.angular: list[core.LVector3f] = []
        self._table: F32 | None = None

    @property
    def table(self) -> F32:
        """Positions, rotations wxyz, linear and angular velocities [B, 13] at the entities' origins: not to be changed."""
        if self._table is None:
            self._reader.take_apart()
        assert self._table is not None  # this reading waited with its reader
        return self._table

    @property
    def columns(self) -> tuple[F32, F32, F32, F32]:
        """Positions [B, 3], rotations [B, 4], linear and angular velocities [B, 3]."""
        table = self.table
        return table[:, POSITION], table[:, ROTATION], table[:, LINEAR], table[:, ANGULAR]

    def done(self, table: F32) -> None:
        """It is taken apart: Panda's values are let go."""
        self._table = table
        self.rows, self.poses, self.linear, self.angular = [], [], [], []


class BodyReader:
    """Reads bodies that move. ``dt`` is the seconds a tick, for the speeds of those that follow a path."""

    def __init__(self, bodies: Sequence[Body], dt: float) -> None:
        self._dt = dt
        self._nodes = [body.node for body in bodies]
        self._offsets = {k: _offset(body) for k, body in enumerate(bodies) if body.offset}
        self._moves = [(k, body.move) for k, body in enumerate(bodies) if body.move is not None]
        self._awake = [True] * len(bodies)
        self._tick = -1 - STALE_TICKS
        self._waiting: list[Reading] = []
        self._last: F32 = np.zeros((len(bodies), COLUMNS), dtype=np.float32)

    def read(self, tick: int) -> Reading:
        """The bodies after ``tick``. Only those are asked that are awake now or were at the last reading."""
        if len(self._waiting) >= MOST_WAITING:
            self.take_apart()
        reading = Reading(self, tick)
        self._waiting.append(reading)
        rows, poses, linear, angular = reading.rows, reading.poses, reading.linear, reading.angular
        every = tick - self._tick > STALE_TICKS
        self._tick = tick
        awake, i = self._awake, 0
        for node in self._nodes:
            active = node.is_active()
            if active or awake[i] or every:
                rows.append(i)
                poses.append(node.get_transform())
                linear.append(node.get_linear_velocity())
                angular.append(node.get_angular_velocity())
                awake[i] = active
            i += 1  # noqa: SIM113 - enumerate builds a tuple more for each body of each sample
        return reading

    def take_apart(self) -> None:
        """Work out the tables of all readings that wait, in their order: a body that slept is as in the reading before."""
        readings, self._waiting = self._waiting, []
        values = self._values(readings)
        table = np.empty((len(readings), len(self._nodes), COLUMNS), dtype=np.float32)
        start = 0
        for own, reading in zip(table, readings, strict=True):
            end = start + len(reading.rows)
            if end - start < len(own):
                own[:] = self._last
            own[reading.rows] = values[start:end]
            for k, move in self._moves:
                own[k, LINEAR] = move(reading.tick * self._dt)[1]
            self._last, start = own, end
            reading.done(own)

    def _values(self, readings: Sequence[Reading]) -> F32:
        """What Panda's values say, a row for each body of each reading."""
        poses = [pose for reading in readings for pose in reading.poses]
        spins = [spin for reading in readings for spin in reading.angular]
        speeds = [speed for reading in readings for speed in reading.linear]
        places, turns = [pose.get_pos() for pose in poses], [pose.get_quat() for pose in poses]
        if self._offsets:
            for row, k in enumerate(k for reading in readings for k in reading.rows):
                if (offset := self._offsets.get(k)) is not None:
                    centre, back = offset
                    arm = turns[row].xform(centre)
                    places[row], speeds[row], turns[row] = places[row] - arm, speeds[row] - spins[row].cross(arm), back * turns[row]
        values = np.empty((len(poses), COLUMNS), dtype=np.float32)
        if poses:  # an empty array of Panda's has no buffer
            three, four = core.PTA_LVecBase3f, core.PTA_LVecBase4f
            values[:, POSITION], values[:, ROTATION] = _view(three(places), 3), _view(four(turns), 4)
            values[:, LINEAR], values[:, ANGULAR] = _view(three(speeds), 3), _view(three(spins), 3)
        return values


def _view(column: Any, width: int) -> F32:
    """Panda's own vectors are slow to take apart: put whole into Panda's arrays, numpy can look into them."""
    return np.frombuffer(column, dtype=np.float32).reshape(-1, width)


def _offset(body: Body) -> tuple[core.LVector3f, core.LQuaternionf]:
    """What leads from the centre of mass and the principal axes, which Bullet knows, to the entity's origin and frame (Panda's product
    turns by its first factor first)."""
    inverse = quat_conjugate(body.axes)
    return core.LVector3f(*quat_rotate(inverse, body.centre)), core.LQuaternionf(*inverse)
