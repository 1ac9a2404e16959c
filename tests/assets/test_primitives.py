"""Shapes as triangles: closed, outward, true to their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.assets.model import Mesh
from worldwright.assets.primitives import mesh_volume, part_meshes, placed
from worldwright.errors import WorldwrightError
from worldwright.world.spec import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Geometry,
    GltfModel,
    Heightfield,
    Material,
    Part,
    Sphere,
    Texture,
    TriangleMesh,
    Wedge,
)

length = st.floats(0.05, 20.0)
PLAIN = Material()


def mesh_of(geometry: Geometry, material: Material = PLAIN, **fields: object) -> Mesh:
    (mesh,) = part_meshes(Part(geometry=geometry, material="m", **fields), material)
    return mesh


@st.composite
def solids(draw: st.DrawFn) -> tuple[Geometry, float, float]:
    """A closed shape, its volume, and by how much of it facets may fall short."""
    a, b, c = draw(length), draw(length), draw(length)
    match draw(st.sampled_from(["box", "wedge", "sphere", "cylinder", "cone", "capsule", "mesh"])):
        case "box":
            return Box(shape="box", size=(a, b, c)), a * b * c, 1e-5
        case "wedge":
            return Wedge(shape="wedge", size=(a, b, c)), a * b * c / 2, 1e-5
        case "sphere":
            return Sphere(shape="sphere", radius=a), 4 / 3 * math.pi * a**3, 0.11
        case "cylinder":
            return Cylinder(shape="cylinder", radius=a, height=b), math.pi * a * a * b, 0.05
        case "cone":
            return Cone(shape="cone", radius=a, height=b), math.pi * a * a * b / 3, 0.05
        case "capsule":
            return Capsule(shape="capsule", radius=a, height=2 * a + b), math.pi * a * a * (b + 4 / 3 * a), 0.11
        case _:
            corners = [(0.0, 0.0, 0.0), (a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)]
            faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
            return TriangleMesh(shape="mesh", vertices=corners, triangles=faces), a * b * c / 6, 1e-5


@given(solids())
@settings(max_examples=150, deadline=None)
def test_a_shape_inside_out_or_with_a_hole_is_noticed_by_its_volume(solid: tuple[Geometry, float, float]) -> None:
    geometry, volume, short = solid
    found = mesh_volume(mesh_of(geometry))
    assert volume * (1 - short) - 1e-9 <= found <= volume * (1 + 1e-4)


@given(solids())
@settings(max_examples=100, deadline=None)
def test_every_edge_of_a_closed_shape_has_two_sides(solid: tuple[Geometry, float, float]) -> None:
    mesh = mesh_of(solid[0])
    scale = np.abs(mesh.positions).max()
    _, welded = np.unique(np.rint(mesh.positions / scale * 1e5).astype(int), axis=0, return_inverse=True)
    triangles = welded.reshape(-1)[mesh.indices]
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forward = {tuple(e) for e in edges.tolist()}
    assert len(forward) == len(edges)
    assert {(b, a) for a, b in forward} == forward


@given(solids())
@settings(max_examples=100, deadline=None)
def test_normals_are_unit_and_agree_with_the_winding(solid: tuple[Geometry, float, float]) -> None:
    mesh = mesh_of(solid[0])
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)
    a, b, c = np.moveaxis(mesh.positions[mesh.indices].astype(float), 1, 0)
    face = np.cross(b - a, c - a)
    face /= np.linalg.norm(face, axis=1, keepdims=True)
    agree = np.einsum("tj,tkj->tk", face, mesh.normals[mesh.indices])
    assert agree.min() > 0.85


def test_a_part_of_no_area_in_a_mesh_gives_no_triangle_without_normal() -> None:
    mesh = mesh_of(TriangleMesh(shape="mesh", vertices=[(0, 0, 0), (1, 0, 0), (0, 1, 0)], triangles=[(0, 1, 2), (0, 1, 1)]))
    assert len(mesh.indices) == 1
    assert np.isfinite(mesh.normals).all()


def test_facets_of_a_touched_ball_lie_within_two_millimetres() -> None:
    mesh = mesh_of(Sphere(shape="sphere", radius=0.4))
    middles = mesh.positions[mesh.indices].mean(axis=1)
    assert np.linalg.norm(middles, axis=1).min() > 0.4 - 0.004
    assert len(mesh_of(Sphere(shape="sphere", radius=0.4), collide=False).indices) < len(mesh.indices)


def test_a_heightfield_has_its_heights_where_rows_and_columns_say() -> None:
    mesh = mesh_of(Heightfield(shape="heightfield", size=(4.0, 2.0), heights=[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]))
    assert mesh.positions[0] == pytest.approx([-2, -1, 0])
    assert mesh.positions[5] == pytest.approx([2, 1, 2])
    slope = np.array([-0.5, 0, 1]) / math.hypot(0.5, 1)  # one metre up in two metres along +X
    assert np.allclose(mesh.normals, slope, atol=1e-6)
    a, b, c = np.moveaxis(mesh.positions[mesh.indices], 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()


def test_bricks_are_as_large_on_a_long_wall_as_on_a_short_one() -> None:
    material = Material(texture=Texture(kind="brick", size_m=1.5))
    for size in ((6.0, 0.3, 3.0), (1.0, 0.3, 3.0)):
        mesh = mesh_of(Box(shape="box", size=size), material)
        front = mesh.indices[np.isclose(mesh.normals[mesh.indices[:, 0], 1], -1)].ravel()
        assert np.ptp(mesh.uvs[front, 0]) == pytest.approx(size[0] / 1.5)
        assert np.ptp(mesh.uvs[front, 1]) == pytest.approx(size[2] / 1.5)


@given(st.tuples(length, length, length))
@settings(max_examples=40, deadline=None)
def test_a_slope_is_textured_true_to_scale(size: tuple[float, float, float]) -> None:
    mesh = mesh_of(Wedge(shape="wedge", size=size))
    p, t = mesh.positions[mesh.indices].astype(float), mesh.uvs[mesh.indices].astype(float)
    surface = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    e, f = t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]
    assert np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]) == pytest.approx(surface, rel=1e-3)


def test_courses_run_on_from_one_part_of_a_wall_to_the_next() -> None:
    material = Material(texture=Texture(kind="brick", size_m=1.0))
    low = mesh_of(Box(shape="box", size=(2.0, 0.2, 1.0)), material, position=(0, 0, 0.5))
    high = mesh_of(Box(shape="box", size=(2.0, 0.2, 1.0)), material, position=(0, 0, 1.5))
    front = np.isclose(low.normals[:, 1], -1)
    assert low.uvs[front, 1].min() == pytest.approx(high.uvs[front, 1].max())


def test_grain_follows_the_longest_edge() -> None:
    wood = Material(texture=Texture(kind="wood", size_m=1.0))
    post = mesh_of(Box(shape="box", size=(0.1, 0.1, 2.0)), wood)
    side = np.isclose(np.abs(post.normals[:, 0]), 1)
    assert np.ptp(post.uvs[side, 0]) == pytest.approx(2.0)
    assert np.ptp(post.uvs[side, 1]) == pytest.approx(0.1)


def test_a_brick_column_has_no_seam() -> None:
    mesh = mesh_of(Cylinder(shape="cylinder", radius=0.37, height=2.0), Material(texture=Texture(kind="brick", size_m=1.0)))
    side = np.abs(mesh.normals[:, 2]) < 0.5
    assert np.ptp(mesh.uvs[side, 0]) == pytest.approx(2.0)  # 2.32 m around: two whole repeats


def test_a_pose_turns_normals_too() -> None:
    mesh = placed(
        mesh_of(Box(shape="box", size=(1, 1, 1))), np.array([1.0, 0, 0]), np.array([math.sqrt(0.5), 0, 0, math.sqrt(0.5)]), 2.0
    )
    assert mesh_volume(mesh) == pytest.approx(8.0, rel=1e-5)
    assert mesh.positions[:, 0].min() == pytest.approx(0.0, abs=1e-6)


def test_a_gltf_part_is_refused_here() -> None:
    part = Part(geometry=GltfModel(shape="gltf", pack="p", path="a.glb"))
    with pytest.raises(WorldwrightError, match="glTF model"):
        part_meshes(part, PLAIN)
