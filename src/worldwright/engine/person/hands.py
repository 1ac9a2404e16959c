"""What hands do: push what is met, turn what hangs on a hinge."""

from __future__ import annotations

import math

from panda3d import core

from worldwright.controls import KEY_BITS
from worldwright.engine.person.body import Person
from worldwright.engine.person.flags import Met
from worldwright.engine.physics import Hit

STRENGTH = 5.0
"""Force of a push in newtons per kilogram of the character's mass; with ``use`` held, twice that."""
USE_REACH = 1.3
"""Metres from the body's axis to which ``use`` reaches a hinged body."""
USE_TORQUE = 0.7
"""N m per kilogram of the character's mass on a hinged body, until it turns at USE_TURN rad/s."""
USE_TURN = 1.6

_USE = KEY_BITS["use"]


def push(me: Person, hit: Hit, met: Met) -> float:
    """Push the dynamic body that was met, as hard as one can, up to one's own speed. Gives the speed at which it goes away."""
    body = me.physics.bodies[me.physics.ids[hit.node]]
    nx, ny, _ = hit.normal
    flat = math.hypot(nx, ny)
    if body.kind != "dynamic" or flat < 0.1:
        return 0.0
    hx, hy = -nx / flat, -ny / flat
    want = me.ux * hx + me.uy * hy
    if want <= 0.05:
        return 0.0
    c = body.path.get_pos()
    rx, ry = hit.position[0] - c[0], hit.position[1] - c[1]
    v, w = body.node.get_linear_velocity(), body.node.get_angular_velocity()
    speed = (v[0] - w[2] * ry) * hx + (v[1] + w[2] * rx) * hy
    if body.id not in met.pushed:
        met.pushed.add(body.id)
        force = STRENGTH * me.character.mass * (2.0 if me.keys & _USE else 1.0)
        impulse = min(force * me.dt, body.mass * (want - speed))
        if impulse > 0:
            # At the height of the centre of mass: a person pushes a thing over only where it stands fast below.
            body.node.set_active(True)
            body.node.apply_impulse(core.Vec3(hx * impulse, hy * impulse, 0.0), core.Point3(rx, ry, 0.0))
    return max(0.0, speed)


def use(me: Person, pressed: bool) -> None:
    """Turn hinged bodies in reach ahead: away from oneself, or, where they cannot go that way, towards. The way is chosen when the
    key goes down, and kept until it is released."""
    if pressed:
        me.use_ways.clear()
    c, s = math.cos(me.yaw), math.sin(me.yaw)
    for body in me.physics.hinged:
        p = body.path.get_pos()
        dx, dy = p[0] - me.x, p[1] - me.y
        away = math.hypot(dx, dy)
        if away > me.radius + USE_REACH or dx * c + dy * s < 0.3 * away or not me.z - 0.5 < p[2] < me.z + me.height + 0.5:
            continue
        ax, ay, az = body.hinge_axis
        way = me.use_ways.get(body.id)
        if way is None:
            ex, ey, _ = body.hinge_anchor
            way = 1.0 if az * ((p[0] - ex) * s - (p[1] - ey) * c) >= 0 else -1.0
            angle, lower, upper = me.physics.hinge_angle(body)
            if (upper - angle if way > 0 else angle - lower) < 0.1:
                way = -way
            me.use_ways[body.id] = way
        w = body.node.get_angular_velocity()
        if (w[0] * ax + w[1] * ay + w[2] * az) * way < USE_TURN:
            torque = way * USE_TORQUE * me.character.mass * me.dt
            body.node.set_active(True)
            body.node.apply_torque_impulse(core.Vec3(ax * torque, ay * torque, az * torque))
