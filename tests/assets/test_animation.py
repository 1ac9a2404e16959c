"""Clips play smoothly, in step, and the same way every time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from worldwright.assets.animation import (
    FADE_SECONDS,
    Animator,
    bake_clip,
    bind_bones,
    pose_to_bones,
    sample_clip,
    skin,
    skin_matrices,
)
from worldwright.assets.humanoid import humanoid
from worldwright.assets.model import CLIP_RATE, Model
from worldwright.errors import WorldwrightError
from worldwright.world.spec import Humanoid


@pytest.fixture(scope="module")
def model() -> Model:
    return humanoid(Humanoid(model="humanoid", seed=1), 1.75)


def test_bones_are_the_clip_at_its_frames(model: Model) -> None:
    animator = Animator(model)
    assert model.skeleton is not None
    for _ in range(12):
        animator.update(1 / CLIP_RATE, "idle")
    expected = pose_to_bones(model.skeleton, *sample_clip(model.clips["idle"], 12 / CLIP_RATE))
    assert np.allclose(animator.bones(), expected, atol=1e-5)


def test_between_frames_a_bone_is_between(model: Model) -> None:
    animator = Animator(model)
    animator.update(1.5 / CLIP_RATE, "idle")
    baked = bake_clip(model.skeleton, model.clips["idle"])  # type: ignore[arg-type]
    assert np.allclose(animator.bones()[:, :3], (baked[1, :, :3] + baked[2, :, :3]) / 2, atol=1e-6)


def test_a_loop_wraps_and_a_jump_holds(model: Model) -> None:
    animator = Animator(model)
    for _ in range(600):
        animator.update(1 / 120, "walk")
    assert 0 <= animator.time < model.clips["walk"].duration
    for _ in range(600):
        animator.update(1 / 120, "jump")
    clip = model.clips["jump"]
    expected = pose_to_bones(model.skeleton, clip.translations[-1], clip.rotations[-1], clip.scales[-1])  # type: ignore[arg-type]
    assert np.allclose(animator.bones()[:, :3], expected[:, :3], atol=1e-6)


def test_clips_cross_fade_without_a_jump(model: Model) -> None:
    animator = Animator(model)
    names = ["idle", "walk", "run", "jump", "fall", "idle", "crouch", "crouch_walk", "idle", "push", "strafe_left", "back"]
    last = None
    for name in names:
        for tick in range(40):
            animator.update(1 / 120, name)
            bones = animator.bones().copy()
            assert np.allclose(np.linalg.norm(bones[:, 3:7], axis=1), 1, atol=1e-5)
            if last is not None:
                assert np.abs(bones[:, :3] - last[:, :3]).max() < 0.09, (name, tick)
            last = bones


def test_a_change_within_a_fade_starts_from_what_is_shown(model: Model) -> None:
    animator = Animator(model)
    animator.update(0.05, "crouch")
    before = animator.bones().copy()
    animator.update(0.0, "jump")
    assert np.allclose(animator.bones(), before, atol=1e-6)


def test_a_fade_ends_after_its_time(model: Model) -> None:
    animator = Animator(model)
    animator.update(FADE_SECONDS, "crouch")
    expected = pose_to_bones(model.skeleton, *sample_clip(model.clips["crouch"], FADE_SECONDS))  # type: ignore[arg-type]
    assert np.allclose(animator.bones()[:, :3], expected[:, :3], atol=1e-5)


def test_gaits_keep_their_phase(model: Model) -> None:
    animator = Animator(model)
    for _ in range(37):
        animator.update(1 / 120, "walk")
    phase = animator.time / model.clips["walk"].duration
    animator.update(0.0, "run")
    assert animator.time / model.clips["run"].duration == pytest.approx(phase)
    animator.update(0.0, "idle")
    assert animator.time == 0.0


def test_speed_scales_the_playback(model: Model) -> None:
    slow, fast = Animator(model), Animator(model)
    slow.update(0.2, "idle", 1.0)
    fast.update(0.1, "idle", 2.0)
    assert (slow.bones() == fast.bones()).all()


def test_the_same_calls_give_the_same_bytes(model: Model) -> None:
    def play(animator: Animator) -> bytes:
        out = b""
        for tick in range(300):
            animator.update(1 / 120, ("idle", "walk", "run", "jump")[tick // 20 % 4], 1.1)
            out += animator.bones().tobytes()
        return out

    animator = Animator(model)
    first = play(animator)
    animator.reset()
    assert play(animator) == first == play(Animator(model))


def test_looking_at_the_bones_changes_nothing(model: Model) -> None:
    looked, blind = Animator(model), Animator(model)
    for tick in range(100):
        for animator in (looked, blind):
            animator.update(1 / 120, "walk" if tick < 50 else "run")
        looked.bones()
    assert (looked.bones() == blind.bones()).all()


def test_skinning_in_the_bind_pose_changes_nothing(model: Model) -> None:
    assert np.allclose(skin_matrices(model, bind_bones(model)), np.eye(4), atol=1e-5)
    for mesh in model.meshes:
        positions, normals = skin(mesh, model, bind_bones(model))
        assert np.allclose(positions, mesh.positions, atol=1e-5)
        assert np.allclose(normals, mesh.normals, atol=1e-4)


def test_skinning_follows_one_bone_rigidly(model: Model) -> None:
    bones = bind_bones(model)
    moved = bones.copy()
    moved[:, :3] += [1, 2, 3]
    mesh = model.meshes[0]
    assert np.allclose(skin(mesh, model, moved)[0], mesh.positions + np.array([1, 2, 3]), atol=1e-4)


def test_an_unknown_clip_is_said(model: Model) -> None:
    with pytest.raises(WorldwrightError, match="no clip 'dance'"):
        Animator(model).update(0.1, "dance")
    with pytest.raises(WorldwrightError, match="no skeleton"):
        Animator(Model(name="stone", meshes=()))


def test_a_tick_costs_little(model: Model) -> None:
    animator = Animator(model)
    start = time.process_time()
    for _ in range(2000):
        animator.update(1 / 120, "walk")
        animator.bones()
    assert (time.process_time() - start) / 2000 < 200e-6
