"""How a person's capsule feels its way: the three sweeps that everything else is made of."""

from __future__ import annotations

from worldwright.engine.person.body import FOOT_INSET, GAP, SKIN, Person
from worldwright.engine.physics import Hit

CLOSEST = 0.0002
"""Metres: nearer than this one steps back, or no sweep along a wall could start."""
NEAR = 0.05
"""Metres below which the ground is looked for first: there it mostly is, and a short sweep passes far fewer triangles."""
GRAZE = 0.002
"""A way that closes on a surface at less than this slope does not meet it in a tick."""


def sweep(me: Person, dx: float, dy: float, dz: float) -> Hit | None:
    """What the capsule would meet first on a way from where it is."""
    x, y, z = me.x, me.y, me.z + 0.5 * (me.tall + GAP)
    shape = me.low_shape if me.crouched else me.tall_shape
    return me.physics.sweep(shape, (x, y, z), (x + dx, y + dy, z + dz), me.mask)


def drop(me: Person, dz: float) -> Hit | None:
    """A sweep straight up or down, by a capsule a little thinner than the body: that is, since the body is free where it is, by the ball
    at the end of it that goes ahead. A ball costs Bullet half as much, and none of the walls beside it."""
    x, y, r = me.x, me.y, me.radius - FOOT_INSET
    z = me.z + GAP + r if dz < 0 else me.z + me.tall - r
    if dz < -NEAR:
        hit = me.physics.sweep(me.foot, (x, y, z), (x, y, z - NEAR), me.mask)
        if hit is not None:
            return hit.of_way(NEAR / -dz)
    return me.physics.sweep(me.foot, (x, y, z), (x, y, z + dz), me.mask)


def go(me: Person, dx: float, dy: float, dz: float, length: float) -> tuple[Hit | None, float]:
    """Go along a way of ``length`` metres as far as it is free, keeping SKIN to what comes after it. Gives what stopped it and the
    share of the way gone."""
    longer = 1 + SKIN / length
    hit = sweep(me, dx * longer, dy * longer, dz * longer)
    if hit is None:
        me.shift(dx, dy, dz)
        return None, 1.0
    nx, ny, nz = hit.normal
    closing = -(dx * nx + dy * ny + dz * nz) / length
    if closing < GRAZE:
        me.shift(dx, dy, dz)
        return None, 1.0
    me.touching.add(me.physics.ids[hit.node])
    t = max(0.0, hit.fraction * longer - SKIN / length)
    room = hit.fraction * longer * length * closing
    if room < CLOSEST:
        me.shift(CLOSEST * nx, CLOSEST * ny, CLOSEST * max(0.0, nz))
    me.shift(t * dx, t * dy, t * dz)
    return (hit, t) if t < 1 else (None, 1.0)
