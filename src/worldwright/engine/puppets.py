"""Characters' bones: noted down at every sample, worked out many at once.

The bytes are those that ``Animator.bones`` gives: the same operations in the same order, over one more axis. One pose at a time, numpy's
cost a call is ten times that of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.animation import FADE_SECONDS, Animator
from worldwright.assets.model import CLIP_RATE, Model

F32 = NDArray[np.float32]
Moment = tuple[str, float]
"""A clip and the seconds into it."""

MOST_WAITING = 64
"""So many poses at most wait to be worked out: nobody may ever look at one."""


@dataclass(slots=True)
class Pose:
    """A puppet's pose at a tick: the clip that plays, and, in a cross-fade, what it fades from (a clip that plays on, or bones) and how
    far it has come in seconds."""

    puppet: Puppet
    now: Moment
    start: Moment | F32 | None
    fade: float
    worked_out: F32 | None = field(default=None)

    @property
    def bones(self) -> F32:
        """Bones [J, 8] as in ``Animator.bones``: not to be changed."""
        if self.worked_out is None:
            self.puppet.work_out()
        assert self.worked_out is not None  # this pose waited with its puppet
        return self.worked_out


class Puppet(Animator):
    """An Animator whose poses can be noted down."""

    def __init__(self, model: Model) -> None:
        self._waiting: list[Pose] = []
        super().__init__(model)
        # All clips one after another, so that poses in different clips can be looked up at once.
        self._table = np.concatenate([self._baked[name] for name in self._baked])
        ends = np.cumsum([len(baked) for baked in self._baked.values()]).tolist()
        self._first = dict(zip(self._baked, [0, *ends[:-1]], strict=True))

    def pose(self) -> Pose:
        """The pose now."""
        if len(self._waiting) >= MOST_WAITING:
            self.work_out()
        start = (self._from, self._from_time) if isinstance(self._from, str) else self._from
        pose = Pose(self, (self.clip, self.time), start, self._fade)
        self._waiting.append(pose)
        return pose

    def work_out(self) -> None:
        """The bones of all poses that wait."""
        poses, self._waiting = self._waiting, []
        bones = self._bones([pose.now for pose in poses])
        fading = [k for k, pose in enumerate(poses) if pose.start is not None]
        if fading:
            bones[fading] = self._faded([poses[k] for k in fading], bones[fading])
        for pose, own in zip(poses, bones, strict=True):
            pose.worked_out = own

    def _bones(self, moments: Sequence[Moment]) -> F32:
        """Bones [N, J, 8] at moments of clips, as ``Animator`` interpolates them."""
        rows, shares = [], []
        for clip, time in moments:
            at = time * CLIP_RATE
            frame = min(int(at), len(self._baked[clip]) - 2)
            rows.append(self._first[clip] + frame)
            shares.append(at - frame)
        a, b = self._table[rows], self._table[[row + 1 for row in rows]]
        return _unit(a + (b - a) * _each(shares))

    def _faded(self, poses: Sequence[Pose], end: F32) -> F32:
        """Bones [N, J, 8] within cross-fades that lead to ``end``; quaternions on the shorter arc."""
        start = np.empty_like(end)
        playing = [(k, pose.start) for k, pose in enumerate(poses) if isinstance(pose.start, tuple)]
        if playing:
            start[[k for k, _ in playing]] = self._bones([moment for _, moment in playing])
        for k, pose in enumerate(poses):
            if isinstance(pose.start, np.ndarray):
                start[k] = pose.start
        rows = end.reshape(-1, 8)
        flip = np.einsum("ij,ij->i", start.reshape(-1, 8)[:, 3:7], rows[:, 3:7]) < 0
        rows[flip, 3:7] *= -1
        times = [pose.fade / FADE_SECONDS for pose in poses]
        return _unit(start + (end - start) * _each([t * t * (3.0 - 2.0 * t) for t in times]))


def _each(shares: Sequence[float]) -> F32:
    """Shares [N, 1, 1], a pose each."""
    return np.array(shares).astype(np.float32)[:, None, None]


def _unit(bones: F32) -> F32:
    q = bones.reshape(-1, 8)[:, 3:7]
    q /= np.sqrt(np.einsum("ij,ij->i", q, q))[:, None]
    return bones
