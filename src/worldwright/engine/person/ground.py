"""Walking: along the ground, past walls, up steps and slopes, and down again to the ground that a sweep finds below."""

from __future__ import annotations

import math

from worldwright.controls import Flag
from worldwright.engine.person.air import leave
from worldwright.engine.person.body import GAP, Person, Vec
from worldwright.engine.person.flags import STEP_FLAG_SECONDS, Met, remember
from worldwright.engine.person.footing import footing
from worldwright.engine.person.hands import push
from worldwright.engine.person.steps import step_up
from worldwright.engine.person.sweeps import drop, go
from worldwright.engine.person.underfoot import lean

NOISE, CALM = 0.002, 0.2
"""Bullet's sweeps stop up to a millimetre early, here more and there less. Smaller changes of the ground than NOISE metres are followed
by this share a tick, so that feet do not tremble."""
RISE_SECONDS = 0.03
"""Time constant with which the feet that are seen take to another slope."""


def walk(me: Person) -> None:
    """Go along the ground for a tick, at the velocity that one has."""
    met = Met()
    x0, y0, z0 = me.x, me.y, me.z
    dx, dy = me.vx * me.dt, me.vy * me.dt
    length = math.hypot(dx, dy)
    if length > 1e-9:
        pay = min(me.debt, length)
        me.debt -= pay
        share = 1 - pay / length
        _slide(me, dx * share, dy * share, met)
    _follow_ground(me)
    _trail(me, x0, y0, z0)
    remember(me, met)


def _slide(me: Person, dx: float, dy: float, met: Met) -> None:
    normal = me.ground_normal
    wall: Vec | None = None
    for _ in range(4):
        length = math.hypot(dx, dy)
        if length < 1e-7:
            return
        dz = -(normal[0] * dx + normal[1] * dy) / normal[2]
        whole = math.sqrt(length * length + dz * dz)
        hit, t = go(me, dx, dy, dz, whole)
        if hit is None:
            return
        dx, dy = dx * (1 - t), dy * (1 - t)
        if hit.normal[2] >= me.walkable:
            normal = hit.normal
            continue
        if step_up(me, dx, dy, hit):
            met.stepped = True
            return
        met.hit = True
        speed = push(me, hit, met)
        nx, ny, _ = hit.normal
        flat = math.hypot(nx, ny)
        if flat < 1e-3:
            return
        h = (nx / flat, ny / flat, 0.0)
        into = me.vx * h[0] + me.vy * h[1]
        if into < -speed:
            me.vx -= (into + speed) * h[0]
            me.vy -= (into + speed) * h[1]
        along = dx * h[0] + dy * h[1]
        dx, dy = dx - along * h[0], dy - along * h[1]
        if wall is not None and dx * wall[0] + dy * wall[1] < -1e-9:
            return
        wall = h


def _follow_ground(me: Person) -> None:
    """Find the ground below, not lower than a step; else start to fall."""
    reach = me.reach
    hit = drop(me, -reach)
    touch = footing(me, hit) if hit is not None else None
    if hit is None or touch is None or not touch.carries:
        leave(me, "fall", 0.0)
        me.vz = 0.0
        return
    down = hit.fraction * reach - GAP
    if not touch.beside:
        me.z -= down if abs(down) > NOISE else CALM * down
    me.ground, me.ground_normal = touch.entity, touch.normal
    me.touching.add(touch.entity)
    me.vz = 0.0
    lean(me, hit)


def _trail(me: Person, x0: float, y0: float, z0: float) -> None:
    """Let the feet that are seen follow later what the slope does not account for: steps, edges, and the tremble of sweeps."""
    nx, ny, nz = me.ground_normal
    keep = math.exp(-me.dt / RISE_SECONDS)
    me.rise_x = -nx / nz + (me.rise_x + nx / nz) * keep
    me.rise_y = -ny / nz + (me.rise_y + ny / nz) * keep
    jump = me.z - z0 - me.rise_x * (me.x - x0) - me.rise_y * (me.y - y0)
    me.lag_z += jump
    if abs(jump) > GAP and me.ground:
        me.step_until = me.physics.tick + int(STEP_FLAG_SECONDS / me.dt)


def settle(me: Person) -> None:
    """At tick 0: stand on what is just below the spawn."""
    for _ in range(3):
        # A sweep's answer depends a little on where it starts: settled when a second one says the same.
        hit = drop(me, -me.reach)
        touch = footing(me, hit) if hit is not None else None
        if hit is None or touch is None or not touch.carries or hit.fraction * me.reach > 3 * GAP:
            break
        me.z -= hit.fraction * me.reach - GAP
        me.ground, me.ground_normal = touch.entity, touch.normal
    me.feet = (me.x, me.y, me.z)
    if not me.ground:
        me.flags = int(Flag.AIRBORNE)
