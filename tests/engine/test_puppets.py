"""Bones worked out many at once are those of one at a time, to the byte."""

from __future__ import annotations

import numpy as np

from worldwright.assets.animation import Animator
from worldwright.assets.humanoid import humanoid
from worldwright.engine.puppets import MOST_WAITING, Puppet
from worldwright.world.spec import Humanoid


def test_poses_worked_out_together_differ_from_the_animators() -> None:
    """Through clips, cross-fades and changes in the middle of a fade; more poses than may wait; in any order of looking."""
    model = humanoid(Humanoid(model="humanoid"), 1.75)
    alone, puppet = Animator(model), Puppet(model)
    rng = np.random.default_rng(3)
    names, clip, expected, poses = sorted(model.clips), "idle", [], []
    for _ in range(3 * MOST_WAITING):
        if rng.random() < 0.15:
            clip = names[int(rng.integers(len(names)))]
        speed = float(rng.uniform(0.5, 1.5))
        for player in (alone, puppet):
            player.update(1 / 60, clip, speed)
        expected.append(alone.bones())
        poses.append(puppet.pose())
    assert any(isinstance(pose.start, tuple) for pose in poses)
    assert any(isinstance(pose.start, np.ndarray) for pose in poses)
    for k in rng.permutation(len(poses)).tolist():
        assert poses[k].bones.tobytes() == expected[k].tobytes(), k
