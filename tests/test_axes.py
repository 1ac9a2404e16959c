"""Other programs' axes, against what each says of itself: where its forward, right and up point."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.axes import BLENDER, GLTF, GODOT, ISAAC, UNITY, UNREAL, Axes
from worldwright.transforms import quat_axis_angle, quat_rotate

ALL = (UNREAL, UNITY, GODOT, ISAAC, BLENDER, GLTF)
by_name = pytest.mark.parametrize("axes", ALL, ids=lambda axes: axes.name)


@pytest.mark.parametrize(
    ("axes", "forward", "right", "up", "handed"),
    [
        (UNREAL, (1, 0, 0), (0, 1, 0), (0, 0, 1), -1),
        (UNITY, (0, 0, 1), (1, 0, 0), (0, 1, 0), -1),
        (GODOT, (0, 0, -1), (1, 0, 0), (0, 1, 0), 1),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_their_forward_is_our_x_their_right_our_minus_y_their_up_our_z(axes, forward, right, up, handed) -> None:  # type: ignore[no-untyped-def]
    np.testing.assert_allclose(axes.directions(forward), [1, 0, 0])
    np.testing.assert_allclose(axes.directions(right), [0, -1, 0])
    np.testing.assert_allclose(axes.directions(up), [0, 0, 1])
    assert round(np.linalg.det(axes.matrix)) == handed


def test_a_hundred_of_unreals_units_are_a_metre() -> None:
    np.testing.assert_allclose(UNREAL.points([100, 200, 300]), [1, -2, 3])


def test_unreals_yaw_to_the_right_is_a_turn_to_the_right() -> None:
    """Yaw 90 in Unreal looks along +Y, its right: in ours that is -Y, yaw -90 degrees."""
    there = quat_axis_angle([0, 0, 1], math.pi / 2)
    np.testing.assert_allclose(quat_rotate(UNREAL.rotations(there), [1, 0, 0]), [0, -1, 0], atol=1e-12)


@by_name
def test_an_unturned_camera_looks_where_theirs_does(axes: Axes) -> None:
    c2w = axes.c2w(np.eye(4))
    looks = {
        "unreal": (1, 0, 0),
        "unity": (1, 0, 0),
        "godot": (1, 0, 0),
        "isaac": (0, 0, -1),
        "blender": (0, 0, -1),
        "gltf": (0, 1, 0),
    }
    np.testing.assert_allclose(c2w[:3, 2], looks[axes.name], atol=1e-12)
    assert np.linalg.det(c2w[:3, :3]) == pytest.approx(1.0), "an OpenCV camera is right-handed, whatever the program's axes are"


@by_name
@settings(deadline=None)
@given(
    axis=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1),
    angle=st.floats(-3, 3),
    point=st.tuples(*[st.floats(-10, 10)] * 3),
)
def test_turning_there_and_here_is_the_same(
    axes: Axes, axis: tuple[float, float, float], angle: float, point: tuple[float, float, float]
) -> None:
    q = quat_axis_angle(np.array(axis) / np.linalg.norm(axis), angle)
    np.testing.assert_allclose(quat_rotate(axes.rotations(q), axes.points(point)), axes.points(quat_rotate(q, point)), atol=1e-9)


@by_name
def test_a_spin_turns_the_way_its_rotation_does(axes: Axes) -> None:
    """A small turn about an axis is the identity and half the angular velocity: both must come out about the same axis of ours."""
    spin = np.array([0.2, -0.3, 0.5])
    rate = float(np.linalg.norm(spin))
    q = axes.rotations(quat_axis_angle(spin / rate, 1e-6 * rate))
    np.testing.assert_allclose(q[1:] / 0.5e-6, axes.spins(spin), rtol=1e-5)
