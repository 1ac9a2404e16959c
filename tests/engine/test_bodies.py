"""Rigid bodies: what falls, rests, rolls, turns and shuttles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.assets.scene import build_scene
from worldwright.engine.noted import contact_pairs
from worldwright.engine.overlap import capsule_overlap, winding_number
from worldwright.engine.physics import Physics
from worldwright.engine.shapes import capsule_shape, hull, mass_properties, solid
from worldwright.errors import WorldwrightError
from worldwright.world.spec import Part

DT = 1 / 240


def physics(world: Any) -> Physics:
    return Physics(world, build_scene(world, {}), {}, 240)


def run(p: Physics, ticks: int) -> None:
    for _ in range(ticks):
        p.step()


def test_a_falling_ball_is_reported_a_tick_late(kit: Any) -> None:
    """Semi-implicit Euler: v_n = -g n dt and z_n = z_0 + dt sum v_k = z_0 - g dt^2 n (n + 1) / 2, to float32."""
    ball = kit.thing("ball", {"shape": "sphere", "radius": 0.1}, (0, 0, 100), body="dynamic", mass=1, linear_damping=0)
    p = physics(kit.world(ball, spawn=(20, 0, 0)))
    for n in (1, 2, 240):
        run(p, n - p.tick)
        positions, _, linear, _ = p.read()
        assert positions[0, 2] == pytest.approx(100 - 9.81 * DT * DT * n * (n + 1) / 2, abs=2e-4)
        assert linear[0, 2] == pytest.approx(-9.81 * DT * n, abs=2e-3)


@pytest.mark.parametrize(
    ("geometry", "half"),
    [
        ({"shape": "box", "size": (1, 1, 1)}, 0.5),
        ({"shape": "sphere", "radius": 0.4}, 0.4),
        ({"shape": "cylinder", "radius": 0.3, "height": 1}, 0.5),
        ({"shape": "wedge", "size": (1, 1, 0.6)}, 0.3),
        ({"shape": "cone", "radius": 0.5, "height": 0.8}, 0.4),
    ],
)
@pytest.mark.parametrize("mesh_floor", [False, True])
def test_a_resting_body_hovers(kit: Any, geometry: dict[str, Any], half: float, mesh_floor: bool) -> None:
    """The gap that one would see between a body and the floor stays below two millimetres."""
    flat = kit.thing("ground", {"shape": "heightfield", "size": (40, 40), "heights": [[0.0, 0.0], [0.0, 0.0]]}, (0, 0, 0))
    body = kit.thing("body", geometry, (3, 1, half + 0.01), body="dynamic", mass=8)
    p = physics(kit.world(*([flat, body] if mesh_floor else [body]), floor=not mesh_floor))
    run(p, 480)
    positions, *_ = p.read()
    assert abs(positions[0, 2] - half) < 0.002


def test_a_thin_fast_body_flies_through_a_mesh(kit: Any) -> None:
    flat = kit.thing("ground", {"shape": "heightfield", "size": (40, 40), "heights": [[0.0, 0.0], [0.0, 0.0]]}, (0, 0, 0))
    ball = kit.thing("ball", {"shape": "sphere", "radius": 0.03}, (3, 1, 2), body="dynamic", mass=0.1, velocity=(0, 0, -40))
    p = physics(kit.world(flat, ball, floor=False))
    run(p, 240)
    assert p.read()[0][0, 2] > 0


def test_a_compound_turns_about_its_origin_and_not_its_centre_of_mass(kit: Any) -> None:
    """A 3 kg and a 1 kg cube a metre apart (densities are equal: volumes 3 : 1). Free and spun about z, the centre of mass
    goes straight; energy and momentum tell the inertia."""
    a = 3 ** (1 / 3) * 0.2
    parts = [
        {"geometry": {"shape": "box", "size": (a, a, a)}, "material": "m"},
        {"geometry": {"shape": "box", "size": (0.2, 0.2, 0.2)}, "position": (1, 0, 0), "material": "m"},
    ]
    entity = {
        "name": "c",
        "label": "c",
        "body": "dynamic",
        "mass": 4.0,
        "position": (0, 0, 50),
        "parts": parts,
        "angular_damping": 0,
    }
    world = kit.world(entity | {"linear_damping": 0}, gravity=(0, 0, 0), spawn=(20, 0, 0))
    p = physics(world)
    body = p.movers[0]
    assert body.centre == pytest.approx([0.25, 0, 0])
    # Steiner: I_z = sum m (a^2 / 6 + d^2).
    expected = 3 * (a * a / 6 + 0.25**2) + 1 * (0.04 / 6 + 0.75**2)
    assert body.node.get_inertia()[2] == pytest.approx(expected, rel=1e-5)
    from panda3d import core

    body.node.set_angular_velocity(core.Vec3(0, 0, 2))
    run(p, 120)
    positions, rotations, linear, angular = p.read()
    assert angular[0] == pytest.approx([0, 0, 2], abs=1e-3)
    turn = 2 * math.atan2(rotations[0, 3], rotations[0, 0])
    assert turn == pytest.approx(1.0, abs=2e-3)
    # The centre stays at (0.25, 0, 50): the origin circles it, and moves with omega x r.
    assert positions[0] == pytest.approx([0.25 - 0.25 * math.cos(turn), -0.25 * math.sin(turn), 50], abs=1e-3)
    assert linear[0] == pytest.approx([0.5 * math.sin(turn), -0.5 * math.cos(turn), 0], abs=2e-3)


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(0.05, 3)] * 3), st.floats(0.1, 500))
def test_a_hull_has_another_inertia_than_the_box_it_is(size: tuple[float, float, float], mass: float) -> None:
    x, y, z = size
    corners = np.array([[i, j, k] for i in (-x, x) for j in (-y, y) for k in (-z, z)]) / 2 + [1, 2, 3]
    part = Part.model_validate({"geometry": {"shape": "box", "size": size}, "position": (1, 2, 3), "material": "m"})
    a, b = mass_properties([hull(corners, "")], mass), mass_properties([solid(part, lambda: corners, "")], mass)
    assert a.centre == pytest.approx(b.centre)
    assert sorted(a.inertia) == pytest.approx(sorted(b.inertia), rel=1e-6)


def test_a_flat_mesh_that_should_move_is_refused(kit: Any) -> None:
    flat = {"shape": "mesh", "vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0)], "triangles": [(0, 1, 2)]}
    with pytest.raises(WorldwrightError, match="no volume") as caught:
        physics(kit.world(kit.thing("leaf", flat, (0, 0, 5), body="dynamic", mass=1)))
    assert "leaf" in caught.value.line()


def test_a_dynamic_body_without_touched_parts_is_refused(kit: Any) -> None:
    ghost = kit.box("ghost", (1, 1, 1), (3, 0, 5), body="dynamic", mass=1)
    ghost["parts"][0]["collide"] = False
    with pytest.raises(WorldwrightError, match="collides"):
        physics(kit.world(ghost))


def test_friction_is_not_that_of_the_pair(kit: Any) -> None:
    """On a slope of 30 degrees (tan = 0.577) a pair of 0.5 slides and a pair of 0.7 holds."""
    moved = {}
    for friction in (0.5, 0.7):
        r = (math.cos(math.radians(15)), 0, -math.sin(math.radians(15)), 0)
        slope = kit.box("slope", (10, 4, 1), (0, 0, 5), rotation=r, friction=friction)
        n = np.array([-math.sin(math.radians(30)), 0, math.cos(math.radians(30))])
        block = kit.box(
            "block", (1, 1, 0.4), tuple((n * 0.702 + [0, 0, 5]).tolist()), rotation=r, body="dynamic", mass=3, friction=friction
        )
        p = physics(kit.world(slope, block, spawn=(20, 0, 0)))
        before = p.read()[0][0].copy()
        run(p, 240)
        moved[friction] = float(np.linalg.norm(p.read()[0][0] - before))
    assert moved[0.5] > 0.15
    assert moved[0.7] < 0.02


def test_a_bounce_has_another_height_than_restitution_says(kit: Any) -> None:
    """From h = 2 m of fall back up to e^2 h. Bullet bounces a little early, so e is held to 0.06 only."""
    ball = kit.thing(
        "b", {"shape": "sphere", "radius": 0.2}, (0, 0, 2.2), body="dynamic", mass=1, restitution=0.7, linear_damping=0
    )
    ground = kit.box("g", (10, 10, 1), (0, 0, -0.5), restitution=0.7)
    p = physics(kit.world(ground, ball, floor=False, spawn=(4, 0, 0)))
    run(p, 160)
    top = 0.0
    for _ in range(160):
        p.step()
        top = max(top, float(p.read()[0][0, 2]))
    assert math.sqrt((top - 0.2) / 2) == pytest.approx(0.7, abs=0.06)


@pytest.mark.parametrize("turned", [0.0, 0.7, math.pi / 2, math.pi])
def test_a_hinge_does_not_start_at_zero_or_passes_its_limit(kit: Any, turned: float) -> None:
    door = kit.box(
        "door", (1, 0.05, 2), (0, 0, 1.5), body="dynamic", mass=10, rotation=kit.about_z(turned), angular_damping=0,
        joint={"kind": "hinge", "anchor": (-0.5, 0, 0), "lower": -0.4, "upper": 1.2},
    )  # fmt: skip
    p = physics(kit.world(door, spawn=(20, 0, 0)))
    body = p.hinged[0]
    run(p, 2)
    assert p.hinge_angle(body)[0] == pytest.approx(0, abs=1e-3)
    from panda3d import core

    for torque, limit in ((8, 1.2), (-8, -0.4)):
        for _ in range(400):
            body.node.set_active(True)
            body.node.apply_torque(core.Vec3(0, 0, torque))
            p.step()
        angle = p.hinge_angle(body)[0]
        assert angle == pytest.approx(limit, abs=0.05)
        q = p.read()[1][0]
        world_angle = math.remainder(2 * math.atan2(q[3], q[0]) - turned, 2 * math.pi)
        assert world_angle == pytest.approx(angle, abs=0.02)


def test_hinge_friction_does_not_stop_a_door(kit: Any) -> None:
    from panda3d import core

    left = {}
    for friction in (0.0, 3.0):
        door = kit.box(
            "door", (1, 0.05, 2), (0, 0, 1.5), body="dynamic", mass=10, angular_damping=0,
            joint={"kind": "hinge", "anchor": (-0.5, 0, 0), "friction": friction},
        )  # fmt: skip
        p = physics(kit.world(door, spawn=(20, 0, 0)))
        p.hinged[0].node.set_angular_velocity(core.Vec3(0, 0, 1))
        p.hinged[0].node.set_linear_velocity(core.Vec3(0, 0.5, 0))
        run(p, 240)
        left[friction] = float(p.read()[3][0, 2])
    # I about the hinge = 10 (1 / 12 + 1 / 4) = 3.33: 3 N m take 0.9 rad/s off in a second.
    assert left[0.0] == pytest.approx(1, abs=0.02)
    assert left[3.0] == pytest.approx(0.1, abs=0.05)


def test_a_shuttle_drifts_off_its_path(kit: Any) -> None:
    lift = kit.box("lift", (1, 1, 0.2), (5, 0, 1), body="kinematic", path={"kind": "shuttle", "to": (5, 2, 3), "period": 2})
    p = physics(kit.world(lift))
    for tick in (0, 120, 240, 360, 480):
        run(p, tick - p.tick)
        positions, _, linear, _ = p.read()
        s = 0.5 - 0.5 * math.cos(math.pi * tick / 240)
        assert positions[0] == pytest.approx([5, 2 * s, 1 + 2 * s], abs=1e-5)
        v = math.pi / 2 * math.sin(math.pi * tick / 240)
        assert linear[0] == pytest.approx([0, 2 * v, 2 * v], abs=1e-4)


def test_a_crate_does_not_ride_a_lift(kit: Any) -> None:
    lift = kit.box("lift", (2, 2, 0.2), (5, 0, 1), body="kinematic", path={"kind": "shuttle", "to": (7, 0, 2), "period": 6})
    crate = kit.box("crate", (0.5, 0.5, 0.5), (5, 0, 1.35), body="dynamic", mass=5)
    p = physics(kit.world(lift, crate))
    run(p, 720)
    positions, *_ = p.read()
    assert positions[1] - positions[0] == pytest.approx([0, 0, 0.35], abs=0.03)


def test_a_sleeping_body_is_read_as_moving_or_a_woken_one_as_still(kit: Any) -> None:
    crate = kit.box("crate", (0.5, 0.5, 0.5), (5, 0, 0.25), body="dynamic", mass=5)
    p = physics(kit.world(crate))
    run(p, 900)
    assert not p.movers[0].node.is_active()
    still = p.read()
    p.step()
    assert all(np.array_equal(a, b) for a, b in zip(still, p.read(), strict=True))
    assert np.all(still[2] == 0)
    from panda3d import core

    p.movers[0].node.set_active(True)
    p.movers[0].node.set_linear_velocity(core.Vec3(2, 0, 0))
    p.step()
    assert p.read()[2][0, 0] > 1.5


def test_bodies_apart_are_said_to_touch_or_touching_ones_not(kit: Any) -> None:
    a = kit.box("a", (1, 1, 1), (5, 0, 0.5), body="dynamic", mass=5)
    b = kit.box("b", (1, 1, 1), (5, 0, 1.5), body="dynamic", mass=5)
    c = kit.box("c", (1, 1, 1), (8, 0, 4.5), body="dynamic", mass=5)
    p = physics(kit.world(a, b, c))
    run(p, 10)
    assert contact_pairs(p.contact_codes()).tolist() == [[1, 2], [2, 3]]
    run(p, 1500)
    assert contact_pairs(p.contact_codes()).tolist() == []  # asleep


def test_a_floor_is_a_moving_contact_or_a_lift_is_none(kit: Any) -> None:
    """Of a character between floor, crate and lift: what moves, and only for the time of asking in another group."""
    crate = kit.box("crate", (1, 1, 1), (0.7, 0, 0.5), body="dynamic", mass=5)
    lift = kit.box("lift", (1, 1, 1), (-0.7, 0, 0.5), body="kinematic", path={"kind": "shuttle", "to": (-0.7, 0, 3), "period": 8.0})
    p = physics(kit.world(crate, lift, spawn=(20, 0, 0)))
    person = p.add_character(0, 99, "person", capsule_shape(0.3, 1.8), (0.0, 0.0, 0.85))
    group = person.node.get_into_collide_mask()
    run(p, 1)
    contacts = p.moving_contacts(person)
    met = {p.ids[node] for contact in contacts for node in (contact.get_node0(), contact.get_node1())}
    assert {p.bodies[id].name for id in met} == {"person", "crate", "lift"}
    assert person.node.get_into_collide_mask() == group


def test_the_winding_number_takes_outside_for_inside() -> None:
    from worldwright.assets.primitives import box_faces

    triangles = box_faces((2, 2, 2))
    assert winding_number(np.array([0.3, -0.2, 0.9]), triangles) == pytest.approx(1)
    assert winding_number(np.array([1.3, -0.2, 0.9]), triangles) == pytest.approx(0, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_the_overlap_with_a_triangle_differs_from_a_dense_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triangle = rng.uniform(-1, 1, (1, 3, 3))
    low, high = np.array([0, 0, -0.5]), np.array([0, 0, 0.5])
    u, v = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60))
    keep = u + v <= 1
    a, b, c = triangle[0]
    points = a + u[keep][:, None] * (b - a) + v[keep][:, None] * (c - a)
    nearest = points - np.clip(points[:, 2], -0.5, 0.5)[:, None] * [0, 0, 1]
    truth = float(np.linalg.norm(nearest, axis=1).min())
    found = 0.8 - capsule_overlap(low, high, 0.8, triangle)
    if truth < 0.78:
        assert truth - 0.03 < found < math.hypot(truth, 0.14 * 0.8) + 0.01
    else:
        assert found > 0.75
