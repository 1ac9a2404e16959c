"""A character's tick: look, crouch, ride, walk or fly, use, tell, smooth.

Each walk and each flight is a collide-and-slide: go as far as it is free, drop the part of the way that points into what was met, go on.
After a walk a sweep downwards finds the ground again: that follows ramps and stairs, up and down. The parts are in ``engine.person``.
"""

from __future__ import annotations

import math

from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Control
from worldwright.engine.person.air import fly, leave, rub
from worldwright.engine.person.body import EYE_ROOM, SKIN, Person, Vec
from worldwright.engine.person.flags import mark
from worldwright.engine.person.ground import settle, walk
from worldwright.engine.person.hands import use
from worldwright.engine.person.room import make_room
from worldwright.engine.person.sweeps import drop
from worldwright.engine.person.underfoot import ride
from worldwright.engine.physics import Physics
from worldwright.world.spec import Character, Spawn

ACCELERATION, AIR_ACCELERATION = 12.0, 2.5
"""m/s2, on the ground and in the air."""
PITCH_LIMIT = 1.4
SMOOTH_SECONDS = 0.05
"""Time constant with which the feet (and the camera) follow a step."""
CROUCH_SECONDS = 0.08
"""Time constant with which the eye follows crouching and standing up."""
CROUCH_RATE = 3.0
"""m/s, the most of that."""

_FORWARD, _BACK, _LEFT, _RIGHT = (KEY_BITS[k] for k in ("forward", "back", "left", "right"))
_RUN, _JUMP, _CROUCH, _USE = (KEY_BITS[k] for k in ("run", "jump", "crouch", "use"))
_MOVES = _FORWARD | _BACK | _LEFT | _RIGHT


def place_person(index: int, id: int, character: Character, spawn: Spawn, physics: Physics) -> Person:
    """Character ``index`` of a world with entity id ``id``, standing on what is just below its spawn, or in the air."""
    person = Person(index, id, character, spawn, physics)
    settle(person)
    return person


def advance(me: Person, control: Control) -> None:
    """One tick with this input. Physics has stepped already: the world is as it will be seen."""
    pressed = control.keys & ~me.keys
    me.keys = control.keys
    if control.mouse_dx or control.mouse_dy:
        _look(me, control)
    resting = _rests(me)
    x0, y0, z0 = me.feet
    # Bullet has this body where it stood at the step: room is made before anything else moves it.
    make_room(me)
    if resting and me.at_rest_at == (me.x, me.y, me.z):
        return
    me.flags = 0
    me.touching.clear()
    _stand_or_crouch(me)
    carried = ride(me)
    wx, wy = _wish(me)
    bx, by = me.x, me.y
    if me.ground:
        _accelerate(me, wx, wy, ACCELERATION)
        if pressed & _JUMP and not me.crouched:
            me.vz = me.character.jump_speed + max(0.0, carried[2] / me.dt)
            me.vx += carried[0] / me.dt
            me.vy += carried[1] / me.dt
            leave(me, "jump", me.character.jump_speed)
            fly(me)
        else:
            walk(me)
    else:
        if me.physics.tick > me.slide_until:
            me.sliding = None
        if me.sliding is not None:
            sx, sy = _flat(me.sliding)
            into = min(0.0, wx * sx + wy * sy)
            wx, wy = wx - into * sx, wy - into * sy
            rub(me, me.sliding[2])
        _accelerate(me, wx, wy, AIR_ACCELERATION)
        fly(me)
    if me.keys & _USE:
        use(me, bool(pressed & _USE))
    mark(me, me.x - bx, me.y - by)
    _smooth(me)
    dt = me.dt
    x, y, z = me.feet
    calm = me.ground and not me.keys & ~_RUN and not me.flags
    calm = calm and max(abs(x - x0), abs(y - y0), abs(z - z0), abs(me.vx), abs(me.vy), abs(me.ux), abs(me.uy)) < 1e-6
    calm = calm and abs(me.height_now - me.tall) < 1e-5
    if calm:
        me.height_now = me.tall
        me.vx = me.vy = me.ux = me.uy = 0.0
    me.at_rest_at = (me.x, me.y, me.z) if calm else None
    me.moved = (0.0, 0.0, 0.0) if calm else ((x - x0) / dt, (y - y0) / dt, (z - z0) / dt)
    me.place()


def _rests(me: Person) -> bool:
    """True where a tick would change nothing but what others do: no key that moves, no speed, ground that stays."""
    if me.at_rest_at != (me.x, me.y, me.z) or me.keys & ~_RUN:
        return False
    body = me.physics.bodies[me.ground]
    if body.kind == "static" or (body.kind == "dynamic" and not body.node.is_active()):
        return True
    me.at_rest_at = None
    return False


def _look(me: Person, control: Control) -> None:
    me.yaw = math.remainder(me.yaw - control.mouse_dx * MOUSE_RADIANS, math.tau)
    me.pitch = min(PITCH_LIMIT, max(-PITCH_LIMIT, me.pitch - control.mouse_dy * MOUSE_RADIANS))


def _wish(me: Person) -> tuple[float, float]:
    """The velocity that the keys ask for, in the world."""
    keys = me.keys
    if not keys & _MOVES:
        return 0.0, 0.0
    f = ((keys & _FORWARD) != 0) - ((keys & _BACK) != 0)
    r = ((keys & _RIGHT) != 0) - ((keys & _LEFT) != 0)
    if not f and not r:
        return 0.0, 0.0
    speed = _speed(me) * (math.sqrt(0.5) if f and r else 1.0)
    c, s = math.cos(me.yaw), math.sin(me.yaw)
    return speed * (f * c + r * s), speed * (f * s - r * c)


def _speed(me: Person) -> float:
    if me.crouched:
        return me.character.crouch_speed
    return me.character.run_speed if me.keys & _RUN else me.character.walk_speed


def _accelerate(me: Person, wx: float, wy: float, most: float) -> None:
    """Bring the intended and the real velocity nearer to the wish, by at most ``most`` m/s2."""
    me.vx, me.vy = _towards(me.vx, me.vy, wx, wy, most * me.dt)
    me.ux, me.uy = _towards(me.ux, me.uy, wx, wy, most * me.dt)


def _stand_or_crouch(me: Person) -> None:
    wants = bool(me.keys & _CROUCH)
    if wants and not me.crouched:
        me.crouched = True
    elif me.crouched and not wants and _room_to_stand(me):
        me.crouched = False
    else:
        return
    me.reshape()


def _room_to_stand(me: Person) -> bool:
    up = me.height - me.low
    return drop(me, up + SKIN) is None


def _smooth(me: Person) -> None:
    """Let the feet follow the capsule's steps smoothly, and let them down onto slopes that the round capsule rolls over."""
    want = me.radius * (1 / max(me.ground_normal[2], 0.5) - 1) if me.ground else 0.0
    decay = math.exp(-me.dt / SMOOTH_SECONDS)
    me.lag_x *= decay
    me.lag_y *= decay
    me.lag_z *= decay
    me.sink = want + (me.sink - want) * decay
    bend = (me.height_now - me.tall) * (1 - math.exp(-me.dt / CROUCH_SECONDS))
    me.height_now -= min(CROUCH_RATE * me.dt, max(-CROUCH_RATE * me.dt, bend))
    me.feet = (me.x - me.lag_x, me.y - me.lag_y, me.z - me.lag_z - me.sink)
    me.headroom = _headroom(me, me.feet[2] - me.z + me.height_now - me.tall)


def _headroom(me: Person, lift: float) -> float:
    """How far of ``lift`` metres the head, a ball of EYE_ROOM, can be above the capsule."""
    if lift < 1e-3:
        return 0.0
    top = me.z + me.tall - EYE_ROOM
    hit = me.physics.sweep(me.head, (me.x, me.y, top), (me.x, me.y, top + lift), me.mask)
    return lift if hit is None else max(0.0, hit.fraction * lift - SKIN)


def _towards(ax: float, ay: float, bx: float, by: float, most: float) -> tuple[float, float]:
    dx, dy = bx - ax, by - ay
    d = math.hypot(dx, dy)
    return (bx, by) if d <= most else (ax + dx / d * most, ay + dy / d * most)


def _flat(n: Vec) -> tuple[float, float]:
    d = math.hypot(n[0], n[1])
    return (n[0] / d, n[1] / d) if d > 1e-6 else (0.0, 0.0)
