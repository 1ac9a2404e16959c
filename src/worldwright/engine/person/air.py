"""Jumps and falls, slides down what is too steep, and landings."""

from __future__ import annotations

import math

from worldwright.engine.person.body import GAP, SKIN, Person, Vec
from worldwright.engine.person.flags import Met, remember
from worldwright.engine.person.footing import Touch, footing
from worldwright.engine.person.hands import push
from worldwright.engine.person.sweeps import drop, go

SLOPE_FRICTION = 0.3
"""Coulomb friction of feet that slide down a slope too steep to stand on."""
SLIDE_SECONDS = 0.04
"""A steep slope is left when it was not touched for so long."""
WEDGED_SECONDS = 0.25
"""Who hangs still between steep faces for so long stands."""


def leave(me: Person, kind: str, value: float) -> None:
    """Leave the ground, if one was on it: ``kind`` is how."""
    if me.ground:
        me.tell(kind, other=me.ground, value=value)
    me.ground, me.ground_normal = 0, (0.0, 0.0, 1.0)
    me.debt = 0.0


def fly(me: Person) -> None:
    """Fall for a tick, exactly along the parabola, sliding along what is met; land on ground that carries."""
    gx, gy, gz = me.physics.gravity
    dt = me.dt
    dx, dy, dz = me.vx * dt + 0.5 * gx * dt * dt, me.vy * dt + 0.5 * gy * dt * dt, me.vz * dt + 0.5 * gz * dt * dt
    me.vx, me.vy, me.vz = me.vx + gx * dt, me.vy + gy * dt, me.vz + gz * dt
    planes: list[Vec] = []
    met = Met()
    x0, y0, z0 = me.x, me.y, me.z
    for _ in range(4):
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if length < 1e-8:
            break
        hit, t = go(me, dx, dy, dz, length)
        if hit is None:
            break
        dx, dy, dz = dx * (1 - t), dy * (1 - t), dz * (1 - t)
        n = hit.normal
        if n[2] > 0.05 and me.vz <= 0:
            touch = footing(me, hit)
            if touch.carries:
                _land(me, touch)
                return
            me.sliding, me.slide_until = n, me.physics.tick + int(SLIDE_SECONDS / dt)
        met.hit = True
        if n[2] < 0.5:
            push(me, hit, met)
        planes.append(n)
        dx, dy, dz = _along(dx, dy, dz, planes)
        me.vx, me.vy, me.vz = _along(me.vx, me.vy, me.vz, planes)
    still = abs(me.x - x0) + abs(me.y - y0) + abs(me.z - z0) < 1e-4
    me.still = me.still + 1 if still and planes else 0
    if me.still * dt > WEDGED_SECONDS:
        # Wedged between steep faces: it carries, or one could never jump out.
        hit = drop(me, -2 * GAP)
        if hit is not None:
            _land(me, Touch(True, (0.0, 0.0, 1.0), me.physics.ids[hit.node]))
    remember(me, met)


def rub(me: Person, nz: float) -> None:
    """Coulomb friction on a slope too steep to stand on."""
    speed = math.sqrt(me.vx * me.vx + me.vy * me.vy + me.vz * me.vz)
    g = math.hypot(*me.physics.gravity)
    if speed > 1e-6:
        left = max(0.0, 1 - SLOPE_FRICTION * g * nz * me.dt / speed)
        me.vx, me.vy, me.vz = me.vx * left, me.vy * left, me.vz * left


def _land(me: Person, touch: Touch) -> None:
    me.still = 0
    me.sliding = None
    me.touching.add(touch.entity)
    me.tell("land", other=touch.entity, value=-me.vz)
    me.ground, me.ground_normal, me.vz = touch.entity, touch.normal, 0.0
    # A fall ends a skin above the ground, a walk goes a gap above it; the feet that are seen do not jump.
    me.z += GAP - SKIN
    me.lag_z += GAP - SKIN


def _along(x: float, y: float, z: float, planes: list[Vec]) -> Vec:
    """A vector without what points into the planes: onto the last one, then along the crease with one met before, then nothing."""
    n = planes[-1]
    d = x * n[0] + y * n[1] + z * n[2]
    if d < 0:
        x, y, z = x - d * n[0], y - d * n[1], z - d * n[2]
    for m in planes[:-1]:
        if x * m[0] + y * m[1] + z * m[2] < -1e-9:
            cx, cy, cz = n[1] * m[2] - n[2] * m[1], n[2] * m[0] - n[0] * m[2], n[0] * m[1] - n[1] * m[0]
            cc = cx * cx + cy * cy + cz * cz
            if cc < 1e-9:
                return (0.0, 0.0, 0.0)
            d = (x * cx + y * cy + z * cz) / cc
            x, y, z = d * cx, d * cy, d * cz
            if any(x * k[0] + y * k[1] + z * k[2] < -1e-9 for k in planes):
                return (0.0, 0.0, 0.0)
            break
    return (x, y, z)
