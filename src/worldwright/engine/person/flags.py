"""What is told of a tick: flags, pushes as events, and the clip that fits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from worldwright.controls import Flag
from worldwright.engine.person.body import Person

# As plain numbers: Python builds an object for every operation on an enum's flags, and these are asked for in every tick.
_BLOCKED, _SLIDING, _AIRBORNE = int(Flag.BLOCKED), int(Flag.SLIDING), int(Flag.AIRBORNE)
_CROUCHED, _PUSHING, _STEPPING = int(Flag.CROUCHED), int(Flag.PUSHING), int(Flag.STEPPING)

STEP_FLAG_SECONDS = 0.05
"""How long a step is shown in the flags: longer than any sample, so that no reader misses one."""
HIT_SECONDS = 0.04
"""Along a wall one meets it again and again: it is there for so long after the last time."""
SLIDE_COSINE = math.cos(math.radians(20))
"""Going off the wanted way by more than this angle is sliding."""
PUSH_FLAG_SECONDS = 0.05
PUSH_AGAIN_SECONDS = 0.5
"""A push of the same body after this long without one is a new event."""


@dataclass(slots=True)
class Met:
    """What happened in one walk or flight: whether something stood in the way, or was a step, and who was pushed."""

    hit: bool = False
    stepped: bool = False
    pushed: set[int] = field(default_factory=set)


def remember(me: Person, met: Met) -> None:
    """Note for how long what was met in a walk or a flight is told."""
    now = me.physics.tick
    if met.hit:
        me.hit_until = now + int(HIT_SECONDS / me.dt)
    if met.stepped:
        me.step_until = now + int(STEP_FLAG_SECONDS / me.dt)
    for id in sorted(met.pushed):
        if now - me.push_last.get(id, -(10**9)) > PUSH_AGAIN_SECONDS / me.dt:
            me.tell("push", other=id)
        me.push_last[id] = now
        me.push_until = now + int(PUSH_FLAG_SECONDS / me.dt)


def mark(me: Person, dx: float, dy: float) -> None:
    """Set the flags from what was wanted and what came of it, relative to the ground."""
    flags = 0
    speed = math.hypot(me.ux, me.uy)
    if speed > 0.3 and me.physics.tick <= me.hit_until:
        gone = math.hypot(dx, dy) / me.dt
        if gone < 0.2 * speed:
            flags |= _BLOCKED
        elif dx * me.ux + dy * me.uy < SLIDE_COSINE * gone * me.dt * speed:
            flags |= _SLIDING
    if not me.ground:
        flags |= _SLIDING if me.sliding is not None else _AIRBORNE
    if me.crouched:
        flags |= _CROUCHED
    if me.physics.tick <= me.push_until:
        flags |= _PUSHING
    if me.physics.tick <= me.step_until:
        flags |= _STEPPING
    me.flags = flags


def clip(me: Person) -> tuple[str, float]:
    """The clip that fits, and the ground speed that it should show in m/s."""
    c, s = math.cos(me.yaw), math.sin(me.yaw)
    forward, left = me.vx * c + me.vy * s, -me.vx * s + me.vy * c
    speed = math.hypot(forward, left)
    if me.flags & _AIRBORNE:
        return ("jump" if me.vz > 0 else "fall"), 0.0
    if me.crouched:
        return ("crouch_walk", speed) if speed > 0.1 else ("crouch", 0.0)
    if me.flags & _PUSHING:
        return "push", speed
    if speed < 0.1:
        return "idle", 0.0
    if abs(left) > abs(forward) + 1e-6:
        return ("strafe_left" if left > 0 else "strafe_right"), speed
    if forward < 0:
        return "back", speed
    gait = 0.5 * (me.character.walk_speed + me.character.run_speed)
    return ("run" if speed > gait else "walk"), speed
