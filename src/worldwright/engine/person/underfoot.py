"""Standing on what moves: it carries one along, and feels one's weight."""

from __future__ import annotations

import math

from panda3d import core

from worldwright.engine.person.body import SKIN, Person, Vec
from worldwright.engine.person.sweeps import sweep
from worldwright.engine.physics import Hit


def ride(me: Person) -> Vec:
    """Go along with the ground: a kinematic body's shift in this tick, or a dynamic body's velocity where one stands."""
    if not me.ground:
        return (0.0, 0.0, 0.0)
    body = me.physics.bodies.get(me.ground)
    if body is None or body.kind in ("static", "character"):
        return (0.0, 0.0, 0.0)
    if body.move is not None:
        now, before = body.move(me.physics.tick * me.dt)[0], body.move((me.physics.tick - 1) * me.dt)[0]
        dx, dy, dz = now[0] - before[0], now[1] - before[1], now[2] - before[2]
    else:
        if not body.node.is_active():
            return (0.0, 0.0, 0.0)
        v, w, c = body.node.get_linear_velocity(), body.node.get_angular_velocity(), body.path.get_pos()
        rx, ry, rz = me.x - c[0], me.y - c[1], me.z - c[2]
        dx = (v[0] + w[1] * rz - w[2] * ry) * me.dt
        dy = (v[1] + w[2] * rx - w[0] * rz) * me.dt
        dz = (v[2] + w[0] * ry - w[1] * rx) * me.dt
    if dx == 0 and dy == 0 and dz == 0:
        return (0.0, 0.0, 0.0)
    if dz > 0:
        me.z += dz
        hit = sweep(me, dx, dy, 0.0)
    else:
        hit = sweep(me, dx, dy, 0.0)
        me.z += dz
    t = 1.0 if hit is None else max(0.0, hit.fraction - SKIN / max(1e-9, math.hypot(dx, dy)))
    me.x, me.y = me.x + t * dx, me.y + t * dy
    return (t * dx, t * dy, dz)


def lean(me: Person, hit: Hit) -> None:
    """Stand on the dynamic body below with one's weight."""
    body = me.physics.bodies[me.physics.ids[hit.node]]
    if body.kind != "dynamic":
        return
    centre = body.path.get_pos()
    gx, gy, gz = me.physics.gravity
    m = me.character.mass * me.dt
    px, py, pz = hit.position
    body.node.set_active(True)
    body.node.apply_impulse(core.Vec3(gx * m, gy * m, gz * m), core.Point3(px - centre[0], py - centre[1], pz - centre[2]))
