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

STALE_TICKS = 120
"""A body can fall asleep, wake and sleep again unseen only if nobody reads for longer than this."""


class BodyReader:
    """Reads bodies that move into arrays that stay where they are.

    Panda's own vectors are slow to take apart: they are put whole into Panda's arrays, of which numpy has a view made once."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        n = len(bodies)
        three, four = core.PTA_LVecBase3f.empty_array, core.PTA_LVecBase4f.empty_array
        positions, rotations, linear, angular = three(n), four(n), three(n), three(n)
        self._set = positions.set_element, rotations.set_element, linear.set_element, angular.set_element
        self._views = _view(positions, n, 3), _view(rotations, n, 4), _view(linear, n, 3), _view(angular, n, 3)
        self._sources = [(body.node, *_offset(body)) for body in bodies]
        self._awake = [True] * n
        self._tick = -1 - STALE_TICKS

    def read(self, tick: int) -> tuple[F32, F32, F32, F32]:
        """Positions [B, 3], rotations [B, 4] wxyz, linear and angular velocities [B, 3] after ``tick``, at the entities' origins. Only
        bodies that are awake now or were at the last reading are asked."""
        set_position, set_rotation, set_linear, set_angular = self._set
        every = tick - self._tick > STALE_TICKS
        awake, i = self._awake, 0
        # Methods are looked up anew: bound ones, five a body, would have to be fetched from memory again after every step.
        for node, centre, back in self._sources:
            active = node.is_active()
            if active or awake[i] or every:
                pose = node.get_transform()
                turn, spin = pose.get_quat(), node.get_angular_velocity()
                set_angular(i, spin)
                if centre is None:
                    set_position(i, pose.get_pos())
                    set_rotation(i, turn)
                    set_linear(i, node.get_linear_velocity())
                else:
                    arm = turn.xform(centre)
                    set_position(i, pose.get_pos() - arm)
                    set_rotation(i, back * turn)
                    set_linear(i, node.get_linear_velocity() - spin.cross(arm))
                awake[i] = active
            i += 1  # noqa: SIM113 - enumerate builds a tuple more for each body of each sample
        self._tick = tick
        positions, rotations, linear, angular = self._views
        return positions.copy(), rotations.copy(), linear.copy(), angular.copy()


def _view(column: Any, n: int, width: int) -> F32:
    # An empty array of Panda's has no buffer.
    return np.frombuffer(column, dtype=np.float32).reshape(n, width) if n else np.empty((0, width), dtype=np.float32)


def _offset(body: Body) -> tuple[Any, Any]:
    """What leads from the centre of mass and the principal axes, which Bullet knows, to the entity's origin and frame (Panda's product
    turns by its first factor first); None where they are the same."""
    if not body.offset:
        return None, None
    inverse = quat_conjugate(body.axes)
    return core.LVector3f(*quat_rotate(inverse, body.centre)), core.LQuaternionf(*inverse)
