"""Pixels of characters against the skinned surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.assets.model import Mesh, Model, Surface
from worldwright.render.cameras import camera_from
from worldwright.render.info import TAKE_FILE
from worldwright.render.presets import Preset
from worldwright.render.run import moments
from worldwright.render.shot import Shot
from worldwright.take.model import CharacterInstant
from worldwright.take.reader import Take
from worldwright.verify.context import Context
from worldwright.verify.frame import Frame
from worldwright.verify.shot_characters import measure_characters
from worldwright.verify.skinned import follow, nearest_point, surface_of


def model_of(vertices: np.ndarray, triangles: np.ndarray) -> Model:
    n = len(vertices)
    flat = np.zeros((n, 3), np.float32)
    mesh = Mesh(vertices.astype(np.float32), flat, np.zeros((n, 2), np.float32), triangles.astype(np.uint32), Surface("s"))
    return Model("m", (mesh,))


def test_a_point_over_a_large_triangle_is_measured_to_its_corners() -> None:
    """Over the middle of a triangle with sides of 2 m: 0.3 m, where the nearest vertex is 0.8 m away."""
    vertices = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0]], float)
    surface = surface_of(model_of(vertices, np.array([[0, 1, 2]])))
    distance, triangle, weights = nearest_point(surface, vertices, np.array([[0.5, 0.5, 0.3], [1.0, 1.0, 0.0], [-0.2, 0.5, 0.0]]))
    assert distance[:2] == pytest.approx([0.3, 0.0], abs=1e-9) and triangle.tolist() == [0, 0, 0]
    assert 0.2 <= distance[2] < 0.21  # beside a triangle: never too small
    assert weights[0] == pytest.approx([0.5, 0.25, 0.25])
    later = vertices + np.array([0, 0, 1])
    assert follow(surface, later, triangle, weights)[0] == pytest.approx([0.5, 0.5, 1.0])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_a_point_of_the_surface_is_off_it(seed: int) -> None:
    """Random triangles of all sizes: a point drawn on one of them has no distance from the surface."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.01, 1.0, (20, 1, 1))
    corners = rng.normal(size=(20, 1, 3)) * 3 + rng.normal(size=(20, 3, 3)) * size
    triangles = np.arange(60).reshape(20, 3)
    surface = surface_of(model_of(corners.reshape(-1, 3), triangles))
    which, weights = rng.integers(0, 20, 200), rng.dirichlet(np.ones(3), 200)
    points = np.einsum("pk,pki->pi", weights, corners[which])
    distance, *_ = nearest_point(surface, corners.reshape(-1, 3), points)
    assert np.percentile(distance, 95) < 1e-6 and distance.max() < 0.3


def frame_of(shot: Shot, take: Take, k: int) -> Frame:
    info = shot.info
    track = camera_from(info.camera, take.header.tick_rate, where="camera")
    table = take.frames(info.frame_ticks)
    size = Preset(info.preset, info.width, info.height)
    _, moment = list(moments(take, table, track, size, info.first_frame, 0, info.n_frames, None))[k]
    rows = shot.frames
    return Frame(
        k,
        int(rows.tick[k]),
        rows.c2w[k],
        rows.K[k],
        rows.next_c2w[k],
        rows.next_K[k],
        moment.now,
        moment.next,
        {name: shot.read(name, k) for name in ("depth", "entity", "flow")},
        take.header.body_ids,
        take.header.character_ids,
        info.height,
        info.width,
    )


def test_a_character_a_centimetre_off_or_in_another_pose_is_true(shot_path, context: Context) -> None:  # type: ignore[no-untyped-def]
    shot = Shot.open(shot_path)
    with Take.open(shot_path / TAKE_FILE) as take:
        frame = frame_of(shot, take, 2)
        scene = context.scene(take.header.world)

        def holds(frame: Frame) -> bool:
            found = measure_characters(frame, scene.geometry.characters, scene.surfaces)
            assert len(found) == 3
            return all(m.holds for m in found)

        def changed(**values: object) -> Frame:
            who: CharacterInstant = replace(frame.now.characters[0], **values)  # type: ignore[arg-type]
            return replace(frame, now=replace(frame.now, characters=(who,)))

        who = frame.now.characters[0]
        assert holds(frame)
        assert not holds(changed(position=np.asarray(who.position) + np.array([0, 0.01, 0])))
        bones = np.array(who.bones)
        bones[:, 2] += 0.01
        assert not holds(changed(bones=bones))
