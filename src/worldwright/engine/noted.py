"""States of which bones, contacts and cameras are noted down and worked out when somebody looks: to the reader they are ``State`` and
``CharacterState``.

A policy looks at a few numbers of every fifth state, the writer at all of many states at once: both are cheaper so, above all since just
after a step nothing of numpy's is in the processor's caches and each of its calls costs several times what it costs in a loop of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from worldwright.engine.protocol import F32, F64, I32, CharacterState, Event, State
from worldwright.engine.puppets import Pose
from worldwright.engine.rigs import Views

_set = object.__setattr__


class NotedCharacter(CharacterState):
    """A CharacterState whose bones are a pose."""

    __slots__ = ("_pose",)
    _pose: Pose

    def __init__(
        self,
        id: int,
        position: tuple[float, float, float],
        yaw: float,
        pitch: float,
        velocity: tuple[float, float, float],
        flags: int,
        pose: Pose,
        ground: int,
    ) -> None:
        clip, time = pose.now
        values = (id, position, yaw, pitch, velocity, flags, clip, time, ground)
        for name, value in zip(_CHARACTER_FIELDS, values, strict=True):
            _set(self, name, value)
        _set(self, "_pose", pose)

    @property
    def bones(self) -> F32:
        """See CharacterState."""
        return self._pose.bones


_CHARACTER_FIELDS = ("id", "position", "yaw", "pitch", "velocity", "flags", "clip", "clip_time", "ground")


class NotedState(State):
    """A State whose contacts are codes (``Physics.contact_codes``) and whose cameras are views."""

    __slots__ = ("_codes", "_views")
    _codes: Sequence[int]
    _views: Views

    def __init__(
        self,
        tick: int,
        bodies: tuple[F32, F32, F32, F32],
        characters: tuple[CharacterState, ...],
        codes: Sequence[int],
        events: tuple[Event, ...],
        views: Views,
    ) -> None:
        _set(self, "tick", tick)
        _set(self, "characters", characters)
        _set(self, "events", events)
        for name, column in zip(("positions", "rotations", "linear", "angular"), bodies, strict=True):
            _set(self, name, column)
        _set(self, "_codes", codes)
        _set(self, "_views", views)

    @property
    def contacts(self) -> I32:
        return contact_pairs(self._codes)

    @property
    def cameras(self) -> Mapping[str, F64]:
        return self._views.cameras()


def contact_pairs(codes: Sequence[int]) -> I32:
    """Pairs [C, 2] of entity ids from ``Physics.contact_codes``."""
    return np.array(codes, dtype=">i8").view(">i4").reshape(-1, 2).astype(np.int32)
