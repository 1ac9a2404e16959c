"""The built-in humanoid is a whole person whose feet keep to the ground."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from worldwright.assets.animation import bake_clip, bind_bones, skin
from worldwright.assets.humanoid import humanoid
from worldwright.assets.model import CLIP_NAMES, CLIP_RATE, Model
from worldwright.errors import WorldwrightError
from worldwright.world.spec import Humanoid

BUILDS, OUTFITS = ("slim", "average", "broad", "child"), ("casual", "worker", "sport", "formal")


def person(build: str = "average", outfit: str = "casual", seed: int = 0, height: float = 1.75) -> Model:
    look = Humanoid.model_validate({"model": "humanoid", "build": build, "outfit": outfit, "seed": seed})
    return humanoid(look, height)


@pytest.mark.parametrize(("build", "outfit"), list(itertools.product(BUILDS, OUTFITS)))
def test_every_look_is_a_whole_model_of_exact_height(build: str, outfit: str) -> None:
    model = person(build, outfit, seed=BUILDS.index(build), height=1.62)
    points = np.concatenate([m.positions for m in model.meshes])
    assert points[:, 2].max() == pytest.approx(1.62, abs=1e-4)
    assert points[:, 2].min() == pytest.approx(0.0, abs=3e-3)
    assert 3000 <= sum(len(m.indices) for m in model.meshes) <= 8000
    assert model.skeleton is not None
    assert 20 <= len(model.skeleton.names) <= 24
    assert set(model.clips) == set(CLIP_NAMES)
    assert np.abs(points[:, 1].mean()) < 5e-3  # left and right alike
    for mesh in model.meshes:
        assert mesh.joints is not None
        assert mesh.weights is not None
        assert np.allclose(mesh.weights.sum(axis=1), 1, atol=1e-5)
        assert mesh.joints.max() < len(model.skeleton.names)
        assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-4)
        assert np.isfinite(mesh.uvs).all()


@pytest.mark.parametrize("outfit", OUTFITS)
def test_triangles_face_outwards(outfit: str) -> None:
    for mesh in person(outfit=outfit).meshes:
        a, b, c = (mesh.positions[mesh.indices[:, k]].astype(float) for k in range(3))
        faces = np.cross(b - a, c - a)
        smooth = mesh.normals[mesh.indices].mean(axis=1)
        agree = np.sum(faces * smooth, axis=1) > 0
        area = np.linalg.norm(faces, axis=1)
        assert area[agree].sum() > 0.995 * area.sum(), mesh.name
        if mesh.name not in {"tie", "shirt", "hair", "helmet"}:  # the others are closed or nearly: their volume is positive
            assert np.sum(a * np.cross(b, c)) > 0, mesh.name


def test_it_looks_along_x() -> None:
    head = next(m for m in person().meshes if m.name == "head")
    eyes = next(m for m in person().meshes if m.name == "irises")
    assert eyes.positions[:, 0].mean() > head.positions[:, 0].mean() + 0.05
    model = person()
    assert model.skeleton is not None
    names = model.skeleton.names
    bones = bind_bones(model)
    assert bones[names.index("hand.l"), 1] > 0.2 > -0.2 > bones[names.index("hand.r"), 1]
    assert bones[names.index("toes.l"), 0] > bones[names.index("foot.l"), 0] + 0.05


def _soles(model: Model, clip: str) -> np.ndarray:
    """Lowest points of both shoes' heels and balls [F, 4, 3]: heel.l, ball.l, heel.r, ball.r."""
    assert model.skeleton is not None
    bones = bake_clip(model.skeleton, model.clips[clip])[:-1]
    soles = next(m for m in model.meshes if m.name == "soles")
    p = soles.positions
    chosen = []
    for sign in (1, -1):
        mine = np.flatnonzero((p[:, 1] * sign > 0) & (p[:, 2] < 0.006))
        chosen.append(mine[np.argmin(p[mine, 0])])
        ankle = bind_bones(model)[model.skeleton.names.index("foot.l"), 0]
        ball = ankle + 0.074 * 1.75
        chosen.append(mine[np.argmin(np.abs(p[mine, 0] - ball + 0.01))])
    return np.stack([skin(soles, model, frame)[0][chosen] for frame in bones])


@pytest.mark.parametrize("build", ["average", "child"])
@pytest.mark.parametrize(
    ("clip", "direction"),
    [
        ("walk", (-1, 0)),
        ("run", (-1, 0)),
        ("back", (1, 0)),
        ("push", (-1, 0)),
        ("crouch_walk", (-1, 0)),
        ("strafe_left", (0, -1)),
        ("strafe_right", (0, 1)),
    ],
)
def test_feet_on_the_ground_neither_slide_nor_sink(build: str, clip: str, direction: tuple[float, float]) -> None:
    model = person(build)
    points = _soles(model, clip)
    speed = model.clips[clip].speed
    assert speed > 0.4
    assert points[..., 2].min() > -0.012
    velocity = (np.roll(points, -1, axis=0) - points) * CLIP_RATE
    flat = (points[..., 2] < 0.004) & (np.roll(points, -1, axis=0)[..., 2] < 0.004)
    assert flat.any(axis=0).all()  # every heel and ball comes down, in every gait that rolls over both
    slip = np.linalg.norm(velocity[flat][:, :2] - np.array(direction) * speed, axis=1)
    assert np.median(slip) < 0.05 * speed + 0.02
    assert np.quantile(slip, 0.9) < 0.30 * speed


@pytest.mark.parametrize("build", BUILDS)
def test_clips_move_without_jumps_and_loops_close(build: str) -> None:
    model = person(build)
    assert model.skeleton is not None
    for name, clip in model.clips.items():
        bones = bake_clip(model.skeleton, clip)
        step = np.linalg.norm(np.diff(bones[:, :, :3], axis=0), axis=2)
        assert step.max() < 0.12, name  # 7 m/s at most
        assert np.isfinite(bones).all()
        assert np.allclose(np.linalg.norm(bones[:, :, 3:7], axis=2), 1, atol=1e-5)
        if clip.loop:
            assert step[-1].max() < 2.0 * step[:-1].max() + 1e-4, name


def test_legs_stay_in_one_piece() -> None:
    model = person()
    assert model.skeleton is not None
    for name, clip in model.clips.items():
        bones = bake_clip(model.skeleton, clip)
        knee, foot = (bones[:, model.skeleton.names.index(j), :3] for j in ("shin.l", "foot.l"))
        rest = bind_bones(model)
        length = np.linalg.norm(rest[model.skeleton.names.index("shin.l"), :3] - rest[model.skeleton.names.index("foot.l"), :3])
        assert np.allclose(np.linalg.norm(knee - foot, axis=1), length, atol=1e-4), name


def test_a_crouching_person_is_low_and_a_standing_one_is_not() -> None:
    model = person()
    assert model.skeleton is not None

    def top(clip: str) -> float:
        bones = bake_clip(model.skeleton, model.clips[clip])[0]  # type: ignore[arg-type]
        return max(float(skin(m, model, bones)[0][:, 2].max()) for m in model.meshes)

    assert top("idle") > 1.72
    assert top("walk") > 1.66
    assert top("crouch") < 0.76 * 1.75
    assert top("crouch_walk") < 0.76 * 1.75


def test_seeds_change_colours_and_nothing_else_is_random() -> None:
    colours = {
        tuple(m.surface.base_colour for m in person(seed=seed).meshes if m.name in {"shirt", "hair", "head"}) for seed in range(5)
    }
    assert len(colours) >= 4
    humanoid.cache_clear()
    first = person(seed=4)
    humanoid.cache_clear()
    second = person(seed=4)
    assert first is not second
    assert first.content_hash == second.content_hash
    for a, b in zip(first.meshes, second.meshes, strict=True):
        assert a.positions.tobytes() == b.positions.tobytes()
    assert first.clips["run"].rotations.tobytes() == second.clips["run"].rotations.tobytes()


@pytest.mark.parametrize("height", [0.0, -1.0, 9.0, float("nan")])
def test_a_height_of_no_person_is_refused(height: float) -> None:
    with pytest.raises(WorldwrightError, match="height"):
        person(height=height)
