"""Giving way to what moves into the body, and taking its blow."""

from __future__ import annotations

import math

from panda3d import core

from worldwright.engine.person.body import BODY_INSET, SKIN, Person
from worldwright.engine.person.sweeps import sweep
from worldwright.engine.physics import Body

KNOCK_SPEED = 0.3
"""m/s at which something must come closer to knock a person aside."""


def make_room(me: Person) -> None:
    """Give way to what has moved into the capsule, and take the blow of what comes fast: momentum is shared as in an inelastic
    collision before Bullet, to which this body is immovable, would stop the other one dead."""
    if not me.physics.movers:
        return
    node = me.body.node
    x, y, z = me.x, me.y, me.z
    bodies, ids = me.physics.bodies, me.physics.ids
    met: list[int] = []
    for contact in me.physics.moving_contacts(me.body):
        a, b = ids[contact.get_node0()], ids[contact.get_node1()]
        id = b if a == me.id else a
        if id != me.ground and id not in met:
            met.append(id)
    for id in met:
        # Panda gives the points of all contacts of a test as the last one: ask for each body alone.
        other = bodies[id]
        contacts = me.physics.bullet.contact_test_pair(node, other.node).get_contacts()
        if not contacts:
            continue
        point = contacts[0].get_manifold_point()
        first = contacts[0].get_node0() == node
        n = point.get_normal_world_on_b()
        sign = 1.0 if first else -1.0
        nx, ny, nz = n[0] * sign, n[1] * sign, n[2] * sign
        share = 1.0
        if other.kind == "dynamic":
            share = other.mass / (other.mass + me.character.mass)
            _take_blow(me, other, nx, ny, share)
        # Two bodies can ask for the same room: what was given to the first counts.
        given = (me.x - x) * nx + (me.y - y) * ny + (me.z - z) * nz
        _give_way(me, other.id, nx, ny, nz, (BODY_INSET - point.get_distance()) * share - given)


def _take_blow(me: Person, other: Body, nx: float, ny: float, share: float) -> None:
    flat = math.hypot(nx, ny)
    if flat < 0.1:
        return
    nx, ny = nx / flat, ny / flat
    v = other.node.get_linear_velocity()
    closing = (v[0] - me.vx) * nx + (v[1] - me.vy) * ny
    if closing < KNOCK_SPEED or v[0] * nx + v[1] * ny < KNOCK_SPEED:
        return
    me.at_rest_at = None
    me.vx += share * closing * nx
    me.vy += share * closing * ny
    lost = (1 - share) * closing
    other.node.set_linear_velocity(core.Vec3(v[0] - lost * nx, v[1] - lost * ny, v[2]))


def _give_way(me: Person, other: int, nx: float, ny: float, nz: float, far: float) -> None:
    if far < 1e-6:
        return
    with me.physics.hidden((other,)):
        hit = sweep(me, nx * far, ny * far, nz * far)
    t = 1.0 if hit is None else max(0.0, hit.fraction - SKIN / far)
    me.shift(t * nx * far, t * ny * far, t * nz * far)
