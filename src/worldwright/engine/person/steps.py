"""Climbing a step: up, forward and down onto it, in one tick; the feet that are seen follow smoothly."""

from __future__ import annotations

import math

from worldwright.engine.person.body import FOOT_INSET, GAP, SKIN, Person
from worldwright.engine.person.footing import step_footing
from worldwright.engine.person.sweeps import drop, sweep
from worldwright.engine.physics import Hit


def step_up(me: Person, dx: float, dy: float, hit: Hit) -> bool:
    """Up, forward, down onto what was met, if that is a step. What goes further forward than asked is paid back later."""
    reach = me.character.step_height
    if reach <= 0 or hit.position[2] - me.z > reach + 0.01 or hit.normal[2] < -0.1:
        return False
    body = me.physics.bodies[me.physics.ids[hit.node]]
    if body.kind == "dynamic" and body.mass < me.character.mass:
        return False
    length = math.hypot(dx, dy)
    if length < 1e-7:
        return False
    x, y, z = me.x, me.y, me.z
    up_hit = drop(me, reach)
    up = reach if up_hit is None else max(0.0, up_hit.fraction * reach - SKIN)
    if up < GAP:
        return False
    me.z += up
    forward = max(length, SKIN + FOOT_INSET + 0.006)
    fx, fy = dx / length * forward, dy / length * forward
    ahead = sweep(me, fx, fy, 0.0)
    share = 1.0 if ahead is None else max(0.0, ahead.fraction - SKIN / forward)
    me.x, me.y = x + share * fx, y + share * fy
    down = drop(me, -up - GAP) if share > 0 else None
    if down is not None:
        me.z = z + up + GAP - down.fraction * (up + GAP)
        touch = step_footing(me, down)
        if touch is not None and 1e-6 < me.z - z <= reach + 1e-3:
            me.ground_normal = touch.normal
            extra = max(0.0, share * forward - length)
            me.debt += extra
            me.lag_x += dx / length * extra
            me.lag_y += dy / length * extra
            return True
    me.x, me.y, me.z = x, y, z
    return False
