"""A person's body in the physics: an upright capsule that walks, steps, jumps, crouches, slides, pushes and rides.

The capsule is kinematic. It is moved by sweeps, each a collide-and-slide: go as far as it is free, drop the part of the way that
points into what was met, go on. Everything is float64 in Python; Bullet answers in float32, the same in every process.

The swept capsule hangs GAP above the ground, so that flat ground is not an obstacle, and keeps SKIN to what it meets, so that no sweep
starts in touch. After a walk a sweep downwards finds the ground again: that follows ramps and stairs, up and down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet, core

from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Control, Flag
from worldwright.engine.physics import EVERYTHING, Body, Hit, Physics
from worldwright.engine.protocol import Event
from worldwright.engine.shapes import capsule_shape
from worldwright.world.spec import Character, Spawn

GAP = 0.02
"""Metres between the ground and the swept capsule."""
SKIN = 0.004
"""Metres kept to what a sweep meets, along the way."""
CLOSEST = 0.0002
"""Metres: nearer than this one steps back, or no sweep along a wall could start."""
GRAZE = 0.002
"""A way that closes on a surface at less than this slope does not meet it in a tick."""
FOOT_INSET = 0.015
"""Sweeps up and down are this much thinner than those along, so that a wall one leans on is no ground."""
NOISE, CALM = 0.002, 0.2
"""Bullet's sweeps stop up to a millimetre early, here more and there less. Smaller changes of the ground than NOISE metres are followed
by this share a tick, so that feet do not tremble."""
BODY_INSET = 0.01
"""The body that others feel is this much thinner than the swept capsule, so that they do not push each other without end."""
ACCELERATION, AIR_ACCELERATION = 12.0, 2.5
"""m/s2, on the ground and in the air."""
PITCH_LIMIT = 1.4
CROUCH_SHARE = 0.6
"""Height of the crouched body as a share of the standing one."""
STRENGTH = 5.0
"""Force of a push in newtons per kilogram of the character's mass; with ``use`` held, twice that."""
USE_REACH = 1.3
"""Metres from the body's axis to which ``use`` reaches a hinged body."""
USE_TORQUE = 0.7
"""N m per kilogram of the character's mass on a hinged body, until it turns at USE_TURN rad/s."""
USE_TURN = 1.6
SLOPE_FRICTION = 0.3
"""Coulomb friction of feet that slide down a slope too steep to stand on."""
SLIDE_SECONDS = 0.04
"""A steep slope is left when it was not touched for so long."""
KNOCK_SPEED = 0.3
"""m/s at which something must come closer to knock a person aside."""
SMOOTH_SECONDS = 0.05
"""Time constant with which the feet (and the camera) follow a step."""
EYE_ROOM = 0.1
"""Metres below the top of the head that the eye stays while its height is smoothed."""
CROUCH_SECONDS = 0.08
"""Time constant with which the eye follows crouching and standing up."""
STEP_FLAG_SECONDS = 0.05
"""How long a step is shown in the flags: longer than any sample, so that no reader misses one."""
HIT_SECONDS = 0.04
"""Along a wall one meets it again and again: it is there for so long after the last time."""
SLIDE_COSINE = math.cos(math.radians(20))
"""Going off the wanted way by more than this angle is sliding."""
PUSH_FLAG_SECONDS = 0.05
PUSH_AGAIN_SECONDS = 0.5
"""A push of the same body after this long without one is a new event."""

F64 = NDArray[np.float64]
Vec = tuple[float, float, float]
_FORWARD, _BACK, _LEFT, _RIGHT = (KEY_BITS[k] for k in ("forward", "back", "left", "right"))
_RUN, _JUMP, _CROUCH, _USE = (KEY_BITS[k] for k in ("run", "jump", "crouch", "use"))
_MOVES = _FORWARD | _BACK | _LEFT | _RIGHT


@dataclass(slots=True)
class _Touch:
    """Ground under the capsule: whether it carries, the surface's normal, and who it is."""

    carries: bool
    normal: Vec
    entity: int
    beside: bool = False
    """The sweep met something steep beside the ground: the height stays."""


@dataclass(slots=True)
class _Walk:
    """What happened in one walk: metres gone, whether something stood in the way."""

    hit: bool = False
    stepped: bool = False
    pushed: set[int] = field(default_factory=set)


class CharacterController:
    """One character in one Physics. ``tick`` after every physics step; read its attributes when somebody looks."""

    def __init__(self, index: int, id: int, character: Character, spawn: Spawn, physics: Physics) -> None:
        self.id, self.character, self.physics = id, character, physics
        self.dt = physics.dt
        self.radius, self.height = character.radius, max(character.height, 2 * character.radius + GAP)
        self.felt = self.radius - BODY_INSET
        self.low = max(CROUCH_SHARE * self.height, 2 * self.radius + GAP)
        self.reach = max(character.step_height, 0.05) + 2 * GAP
        """How far below the capsule ground is still followed."""
        self.walkable = math.cos(math.radians(character.max_slope_deg)) - 1e-4
        self._tall_shape = capsule_shape(self.radius, self.height - GAP)
        self._low_shape = capsule_shape(self.radius, self.low - GAP)
        self._tall_foot = capsule_shape(self.radius - FOOT_INSET, self.height - GAP)
        self._low_foot = capsule_shape(self.radius - FOOT_INSET, self.low - GAP)
        x, y, z = spawn.position
        centre = (x, y, z + 0.5 * (self.height + GAP))
        self.body = physics.add_character(index, id, character.name, self._felt_shape(self.height), centre)
        self.mask = core.BitMask32(EVERYTHING & ~(1 << self.body.group))
        self.x, self.y, self.z = x, y, z
        self.yaw, self.pitch = spawn.yaw, 0.0
        self.vx = self.vy = self.vz = 0.0
        self.ux = self.uy = 0.0
        self.crouched = False
        self.ground = 0
        self.ground_normal: Vec = (0.0, 0.0, 1.0)
        self.flags = 0
        self.keys = 0
        self.events: list[Event] = []
        self.lag_x = self.lag_y = self.lag_z = 0.0
        self.sink = 0.0
        self.debt = 0.0
        self.sliding: Vec | None = None
        self.slide_until = -1
        self._at_rest_at: Vec | None = None
        self.still = 0
        self.touching: set[int] = set()
        self.moved: Vec = (0.0, 0.0, 0.0)
        self.feet: Vec = spawn.position
        self.height_now = self.height
        self._use_ways: dict[int, float] = {}
        self._push_last: dict[int, int] = {}
        self._step_until = self._push_until = self._hit_until = -1
        self._place()
        self._settle()

    # --- a tick -------------------------------------------------------------------------------------------------------------

    def tick(self, control: Control) -> None:
        """One tick with this input. Physics has stepped already: the world is as it will be seen."""
        pressed = control.keys & ~self.keys
        self.keys = control.keys
        if control.mouse_dx or control.mouse_dy:
            self._look(control)
        resting = self._rests()
        x0, y0, z0 = self.feet
        # Bullet has this body where it stood at the step: room is made before anything else moves it.
        self._make_room()
        if resting and self._at_rest_at == (self.x, self.y, self.z):
            return
        self.flags = 0
        self.touching.clear()
        self._stand_or_crouch()
        carried = self._ride()
        wx, wy = self._wish()
        bx, by = self.x, self.y
        if self.ground:
            self._accelerate(wx, wy, ACCELERATION)
            if pressed & _JUMP and not self.crouched:
                self.vz = self.character.jump_speed + max(0.0, carried[2] / self.dt)
                self.vx += carried[0] / self.dt
                self.vy += carried[1] / self.dt
                self._leave("jump", self.character.jump_speed)
                self._fly()
            else:
                self._walk()
        else:
            if self.physics.tick > self.slide_until:
                self.sliding = None
            if self.sliding is not None:
                sx, sy = _flat(self.sliding)
                into = min(0.0, wx * sx + wy * sy)
                wx, wy = wx - into * sx, wy - into * sy
                self._rub(self.sliding[2])
            self._accelerate(wx, wy, AIR_ACCELERATION)
            self._fly()
        if self.keys & _USE:
            self._use(bool(pressed & _USE))
        self._mark(self.x - bx, self.y - by)
        self._smooth()
        dt = self.dt
        x, y, z = self.feet
        calm = self.ground and not self.keys & ~_RUN and not self.flags
        calm = calm and max(abs(x - x0), abs(y - y0), abs(z - z0), abs(self.vx), abs(self.vy), abs(self.ux), abs(self.uy)) < 1e-6
        calm = calm and abs(self.height_now - self.tall) < 1e-5
        if calm:
            self.height_now = self.tall
            self.vx = self.vy = self.ux = self.uy = 0.0
        self._at_rest_at = (self.x, self.y, self.z) if calm else None
        self.moved = (0.0, 0.0, 0.0) if calm else ((x - x0) / dt, (y - y0) / dt, (z - z0) / dt)
        self._place()

    def _rests(self) -> bool:
        """True where a tick would change nothing but what others do: no key that moves, no speed, ground that stays."""
        if self._at_rest_at != (self.x, self.y, self.z) or self.keys & ~_RUN:
            return False
        body = self.physics.bodies[self.ground]
        if body.kind == "static" or (body.kind == "dynamic" and not body.node.is_active()):
            return True
        self._at_rest_at = None
        return False

    def _look(self, control: Control) -> None:
        self.yaw = math.remainder(self.yaw - control.mouse_dx * MOUSE_RADIANS, math.tau)
        self.pitch = min(PITCH_LIMIT, max(-PITCH_LIMIT, self.pitch - control.mouse_dy * MOUSE_RADIANS))

    def _wish(self) -> tuple[float, float]:
        """The velocity that the keys ask for, in the world."""
        keys = self.keys
        if not keys & _MOVES:
            return 0.0, 0.0
        f = ((keys & _FORWARD) != 0) - ((keys & _BACK) != 0)
        r = ((keys & _RIGHT) != 0) - ((keys & _LEFT) != 0)
        if not f and not r:
            return 0.0, 0.0
        speed = self._speed() * (math.sqrt(0.5) if f and r else 1.0)
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return speed * (f * c + r * s), speed * (f * s - r * c)

    def _speed(self) -> float:
        if self.crouched:
            return self.character.crouch_speed
        return self.character.run_speed if self.keys & _RUN else self.character.walk_speed

    def _accelerate(self, wx: float, wy: float, most: float) -> None:
        """Bring the intended and the real velocity nearer to the wish, by at most ``most`` m/s2."""
        self.vx, self.vy = _towards(self.vx, self.vy, wx, wy, most * self.dt)
        self.ux, self.uy = _towards(self.ux, self.uy, wx, wy, most * self.dt)

    # --- height -------------------------------------------------------------------------------------------------------------

    def _stand_or_crouch(self) -> None:
        wants = bool(self.keys & _CROUCH)
        if wants and not self.crouched:
            self.crouched = True
        elif self.crouched and not wants and self._room_to_stand():
            self.crouched = False
        else:
            return
        self._reshape()

    def _room_to_stand(self) -> bool:
        up = self.height - self.low
        return self._drop(up + SKIN) is None

    def _reshape(self) -> None:
        node = self.body.node
        node.remove_shape(node.get_shape(0))
        node.add_shape(self._felt_shape(self.low if self.crouched else self.height))

    def _felt_shape(self, height: float) -> bullet.BulletCapsuleShape:
        return capsule_shape(self.felt, height - GAP)

    @property
    def tall(self) -> float:
        """Height of the capsule now, from the ground to the top."""
        return self.low if self.crouched else self.height

    def eye(self, share: float) -> Vec:
        """The eye at ``share`` of the body's height. Smoothing never lifts it out of the capsule, where there may be a ceiling."""
        x, y, z = self.feet
        high = share * self.height_now
        top = self.z + max(high, self.height_now - EYE_ROOM)
        return (x, y, min(z + high, top))

    def axis(self) -> tuple[F64, F64]:
        """The ends of the felt capsule's axis: ``felt`` metres around it is the body."""
        low, high = self.z + GAP + self.felt, self.z + self.tall - self.felt
        return np.array([self.x, self.y, low]), np.array([self.x, self.y, max(low, high)])

    def chest(self) -> Vec:
        """A point on the capsule's axis from which a sphere of its radius is free."""
        return (self.x, self.y, self.z + self.tall - self.radius)

    # --- queries ------------------------------------------------------------------------------------------------------------

    def _sweep(self, dx: float, dy: float, dz: float) -> Hit | None:
        x, y, z = self.x, self.y, self.z + 0.5 * (self.tall + GAP)
        shape = self._low_shape if self.crouched else self._tall_shape
        return self.physics.sweep(shape, (x, y, z), (x + dx, y + dy, z + dz), self.mask)

    def _drop(self, dz: float) -> Hit | None:
        """A sweep straight up or down, by the thinner capsule."""
        x, y, z = self.x, self.y, self.z + 0.5 * (self.tall + GAP)
        shape = self._low_foot if self.crouched else self._tall_foot
        return self.physics.sweep(shape, (x, y, z), (x, y, z + dz), self.mask)

    def _touch(self, hit: Hit) -> _Touch:
        """Judge ground met by a sweep downwards. A capsule that rolls over an edge has a steep contact on a flat surface: then the
        surface's own normal counts, and whether there is ground to go down to."""
        entity = self.physics.ids[hit.node]
        if hit.normal[2] >= self.walkable:
            return _Touch(True, hit.normal, entity)
        px, py, pz = hit.position
        ox, oy = px - self.x, py - self.y
        aside = math.hypot(ox, oy)
        face = self._face(px, py, pz, ox, oy, aside)
        below = self.physics.ray(
            (self.x, self.y, self.z + GAP), (self.x, self.y, self.z - self.character.step_height - GAP), self.mask
        )
        depth = below.fraction * (self.character.step_height + 2 * GAP) - GAP if below is not None else math.inf
        flat_below = below is not None and below.normal[2] >= self.walkable
        if face is not None and face[2] >= self.walkable:
            return _Touch(flat_below or aside < 0.5 * self.radius, face, entity)
        if flat_below and below is not None and depth < GAP + 0.03:
            return _Touch(True, below.normal, self.physics.ids[below.node], beside=True)
        return _Touch(False, hit.normal, entity)

    def _face(self, px: float, py: float, pz: float, ox: float, oy: float, aside: float) -> Vec | None:
        """Normal of the surface a centimetre beyond a contact, seen from above."""
        if aside < 1e-6:
            return None
        x, y = px + 0.01 * ox / aside, py + 0.01 * oy / aside
        hit = self.physics.ray((x, y, pz + 0.04), (x, y, pz - 0.04), self.mask)
        return hit.normal if hit is not None else None

    # --- on the ground ------------------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        walk = _Walk()
        z0 = self.z
        dx, dy = self.vx * self.dt, self.vy * self.dt
        length = math.hypot(dx, dy)
        if length > 1e-9:
            pay = min(self.debt, length)
            self.debt -= pay
            share = 1 - pay / length
            self._slide(dx * share, dy * share, walk)
        self._follow_ground(z0)
        self._remember(walk)

    def _slide(self, dx: float, dy: float, walk: _Walk) -> None:
        normal = self.ground_normal
        wall: Vec | None = None
        for _ in range(4):
            length = math.hypot(dx, dy)
            if length < 1e-7:
                return
            dz = -(normal[0] * dx + normal[1] * dy) / normal[2]
            whole = math.sqrt(length * length + dz * dz)
            hit, t = self._advance(dx, dy, dz, whole)
            if hit is None:
                return
            dx, dy = dx * (1 - t), dy * (1 - t)
            if hit.normal[2] >= self.walkable:
                normal = hit.normal
                continue
            if self._step(dx, dy, hit):
                walk.stepped = True
                return
            walk.hit = True
            speed = self._push(hit, walk)
            nx, ny, _ = hit.normal
            flat = math.hypot(nx, ny)
            if flat < 1e-3:
                return
            h = (nx / flat, ny / flat, 0.0)
            into = self.vx * h[0] + self.vy * h[1]
            if into < -speed:
                self.vx -= (into + speed) * h[0]
                self.vy -= (into + speed) * h[1]
            along = dx * h[0] + dy * h[1]
            dx, dy = dx - along * h[0], dy - along * h[1]
            if wall is not None and dx * wall[0] + dy * wall[1] < -1e-9:
                return
            wall = h

    def _step(self, dx: float, dy: float, hit: Hit) -> bool:
        """Up, forward, down onto what was met, if that is a step. What goes further forward than asked is paid back later."""
        reach = self.character.step_height
        if reach <= 0 or hit.position[2] - self.z > reach + 0.01 or hit.normal[2] < -0.1:
            return False
        body = self.physics.bodies[self.physics.ids[hit.node]]
        if body.kind == "dynamic" and body.mass < self.character.mass:
            return False
        length = math.hypot(dx, dy)
        if length < 1e-7:
            return False
        x, y, z = self.x, self.y, self.z
        up_hit = self._drop(reach)
        up = reach if up_hit is None else max(0.0, up_hit.fraction * reach - SKIN)
        if up < GAP:
            return False
        self.z += up
        forward = max(length, SKIN + FOOT_INSET + 0.006)
        fx, fy = dx / length * forward, dy / length * forward
        ahead = self._sweep(fx, fy, 0.0)
        share = 1.0 if ahead is None else max(0.0, ahead.fraction - SKIN / forward)
        self.x, self.y = x + share * fx, y + share * fy
        down = self._drop(-up - GAP) if share > 0 else None
        if down is not None:
            self.z = z + up + GAP - down.fraction * (up + GAP)
            touch = self._touch_step(down)
            if touch is not None and 1e-6 < self.z - z <= reach + 1e-3:
                self.ground_normal = touch.normal
                extra = max(0.0, share * forward - length)
                self.debt += extra
                self.lag_x += dx / length * extra
                self.lag_y += dy / length * extra
                return True
        self.x, self.y, self.z = x, y, z
        return False

    def _touch_step(self, hit: Hit) -> _Touch | None:
        """The step's own surface, if one can stand on it."""
        entity = self.physics.ids[hit.node]
        if hit.normal[2] >= self.walkable:
            return _Touch(True, hit.normal, entity)
        px, py, pz = hit.position
        ox, oy = px - self.x, py - self.y
        face = self._face(px, py, pz, ox, oy, math.hypot(ox, oy))
        return _Touch(True, face, entity) if face is not None and face[2] >= self.walkable else None

    def _follow_ground(self, z0: float) -> None:
        """Find the ground below, not lower than a step; else start to fall."""
        reach = self.reach
        hit = self._drop(-reach)
        touch = self._touch(hit) if hit is not None else None
        if hit is None or touch is None or not touch.carries:
            self._leave("fall", 0.0)
            self.vz = 0.0
            return
        drop = hit.fraction * reach - GAP
        if not touch.beside:
            self.z -= drop if abs(drop) > NOISE else CALM * drop
        self.ground, self.ground_normal = touch.entity, touch.normal
        self.touching.add(touch.entity)
        self.vz = 0.0
        slope = touch.normal
        expected = -(slope[0] * self.vx + slope[1] * self.vy) / slope[2] * self.dt
        jump = self.z - z0 - expected
        if abs(jump) > 0.25 * GAP:
            self.lag_z += jump
            if abs(jump) > GAP:
                self._step_until = self.physics.tick + int(STEP_FLAG_SECONDS / self.dt)
        self._lean(hit)

    def _lean(self, hit: Hit) -> None:
        """Stand on the dynamic body below with one's weight."""
        body = self.physics.bodies[self.physics.ids[hit.node]]
        if body.kind != "dynamic":
            return
        centre = body.path.get_pos()
        gx, gy, gz = self.physics.gravity
        m = self.character.mass * self.dt
        px, py, pz = hit.position
        body.node.set_active(True)
        body.node.apply_impulse(core.Vec3(gx * m, gy * m, gz * m), core.Point3(px - centre[0], py - centre[1], pz - centre[2]))

    def _ride(self) -> Vec:
        """Go along with the ground: a kinematic body's shift in this tick, or a dynamic body's velocity where one stands."""
        if not self.ground:
            return (0.0, 0.0, 0.0)
        body = self.physics.bodies.get(self.ground)
        if body is None or body.kind in ("static", "character"):
            return (0.0, 0.0, 0.0)
        if body.move is not None:
            now, before = body.move(self.physics.tick * self.dt)[0], body.move((self.physics.tick - 1) * self.dt)[0]
            dx, dy, dz = now[0] - before[0], now[1] - before[1], now[2] - before[2]
        else:
            if not body.node.is_active():
                return (0.0, 0.0, 0.0)
            v, w, c = body.node.get_linear_velocity(), body.node.get_angular_velocity(), body.path.get_pos()
            rx, ry, rz = self.x - c[0], self.y - c[1], self.z - c[2]
            dx = (v[0] + w[1] * rz - w[2] * ry) * self.dt
            dy = (v[1] + w[2] * rx - w[0] * rz) * self.dt
            dz = (v[2] + w[0] * ry - w[1] * rx) * self.dt
        if dx == 0 and dy == 0 and dz == 0:
            return (0.0, 0.0, 0.0)
        if dz > 0:
            self.z += dz
            hit = self._sweep(dx, dy, 0.0)
        else:
            hit = self._sweep(dx, dy, 0.0)
            self.z += dz
        t = 1.0 if hit is None else max(0.0, hit.fraction - SKIN / max(1e-9, math.hypot(dx, dy)))
        self.x, self.y = self.x + t * dx, self.y + t * dy
        return (t * dx, t * dy, dz)

    # --- in the air ---------------------------------------------------------------------------------------------------------

    def _leave(self, kind: str, value: float) -> None:
        if self.ground:
            self._event(kind, other=self.ground, value=value)
        self.ground, self.ground_normal = 0, (0.0, 0.0, 1.0)
        self.debt = 0.0

    def _fly(self) -> None:
        """Fall for a tick, exactly along the parabola, sliding along what is met; land on ground that carries."""
        gx, gy, gz = self.physics.gravity
        dt = self.dt
        dx, dy, dz = self.vx * dt + 0.5 * gx * dt * dt, self.vy * dt + 0.5 * gy * dt * dt, self.vz * dt + 0.5 * gz * dt * dt
        self.vx, self.vy, self.vz = self.vx + gx * dt, self.vy + gy * dt, self.vz + gz * dt
        planes: list[Vec] = []
        walk = _Walk()
        x0, y0, z0 = self.x, self.y, self.z
        for _ in range(4):
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            if length < 1e-8:
                break
            hit, t = self._advance(dx, dy, dz, length)
            if hit is None:
                break
            dx, dy, dz = dx * (1 - t), dy * (1 - t), dz * (1 - t)
            n = hit.normal
            if n[2] > 0.05 and self.vz <= 0:
                touch = self._touch(hit)
                if touch.carries:
                    self._land(touch)
                    return
                self.sliding, self.slide_until = n, self.physics.tick + int(SLIDE_SECONDS / dt)
            walk.hit = True
            if n[2] < 0.5:
                self._push(hit, walk)
            planes.append(n)
            dx, dy, dz = _along(dx, dy, dz, planes)
            self.vx, self.vy, self.vz = _along(self.vx, self.vy, self.vz, planes)
        still = abs(self.x - x0) + abs(self.y - y0) + abs(self.z - z0) < 1e-4
        self.still = self.still + 1 if still and planes else 0
        if self.still * dt > 0.25:
            # Wedged between steep faces: it carries, or one could never jump out.
            hit = self._drop(-2 * GAP)
            if hit is not None:
                self._land(_Touch(True, (0.0, 0.0, 1.0), self.physics.ids[hit.node]))
        self._remember(walk)

    def _rub(self, nz: float) -> None:
        """Coulomb friction on a slope too steep to stand on."""
        speed = math.sqrt(self.vx * self.vx + self.vy * self.vy + self.vz * self.vz)
        g = math.hypot(*self.physics.gravity)
        if speed > 1e-6:
            left = max(0.0, 1 - SLOPE_FRICTION * g * nz * self.dt / speed)
            self.vx, self.vy, self.vz = self.vx * left, self.vy * left, self.vz * left

    def _land(self, touch: _Touch) -> None:
        self.still = 0
        self.sliding = None
        self.touching.add(touch.entity)
        self._event("land", other=touch.entity, value=-self.vz)
        self.ground, self.ground_normal, self.vz = touch.entity, touch.normal, 0.0
        # A fall ends a skin above the ground, a walk goes a gap above it.
        self.z += GAP - SKIN

    # --- with others --------------------------------------------------------------------------------------------------------

    def _push(self, hit: Hit, walk: _Walk) -> float:
        """Push the dynamic body that was met, as hard as one can, up to one's own speed. Gives the speed at which it goes away."""
        body = self.physics.bodies[self.physics.ids[hit.node]]
        nx, ny, _ = hit.normal
        flat = math.hypot(nx, ny)
        if body.kind != "dynamic" or flat < 0.1:
            return 0.0
        hx, hy = -nx / flat, -ny / flat
        want = self.ux * hx + self.uy * hy
        if want <= 0.05:
            return 0.0
        c = body.path.get_pos()
        rx, ry = hit.position[0] - c[0], hit.position[1] - c[1]
        v, w = body.node.get_linear_velocity(), body.node.get_angular_velocity()
        speed = (v[0] - w[2] * ry) * hx + (v[1] + w[2] * rx) * hy
        if body.id not in walk.pushed:
            walk.pushed.add(body.id)
            force = STRENGTH * self.character.mass * (2.0 if self.keys & _USE else 1.0)
            impulse = min(force * self.dt, body.mass * (want - speed))
            if impulse > 0:
                # At the height of the centre of mass: a person pushes a thing over only where it stands fast below.
                body.node.set_active(True)
                body.node.apply_impulse(core.Vec3(hx * impulse, hy * impulse, 0.0), core.Point3(rx, ry, 0.0))
        return max(0.0, speed)

    def _use(self, pressed: bool) -> None:
        """Turn hinged bodies in reach ahead: away from oneself, or, where they cannot go that way, towards. The way is chosen when the
        key goes down, and kept until it is released."""
        if pressed:
            self._use_ways.clear()
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        for body in self.physics.hinged:
            p = body.path.get_pos()
            dx, dy = p[0] - self.x, p[1] - self.y
            away = math.hypot(dx, dy)
            if (
                away > self.radius + USE_REACH
                or dx * c + dy * s < 0.3 * away
                or not self.z - 0.5 < p[2] < self.z + self.height + 0.5
            ):
                continue
            ax, ay, az = body.hinge_axis
            way = self._use_ways.get(body.id)
            if way is None:
                ex, ey, _ = body.hinge_anchor
                way = 1.0 if az * ((p[0] - ex) * s - (p[1] - ey) * c) >= 0 else -1.0
                angle, lower, upper = self.physics.hinge_angle(body)
                if (upper - angle if way > 0 else angle - lower) < 0.1:
                    way = -way
                self._use_ways[body.id] = way
            w = body.node.get_angular_velocity()
            if (w[0] * ax + w[1] * ay + w[2] * az) * way < USE_TURN:
                torque = way * USE_TORQUE * self.character.mass * self.dt
                body.node.set_active(True)
                body.node.apply_torque_impulse(core.Vec3(ax * torque, ay * torque, az * torque))

    def _make_room(self) -> None:
        """Give way to what has moved into the capsule, and take the blow of what comes fast: momentum is shared as in an inelastic
        collision before Bullet, to which this body is immovable, would stop the other one dead."""
        if not self.physics.movers:
            return
        node = self.body.node
        x, y, z = self.x, self.y, self.z
        bodies, ids = self.physics.bodies, self.physics.ids
        met: list[int] = []
        for contact in self.physics.bullet.contact_test(node, False).get_contacts():
            a, b = ids[contact.get_node0()], ids[contact.get_node1()]
            id = b if a == self.id else a
            if bodies[id].kind != "static" and id != self.ground and id not in met:
                met.append(id)
        for id in met:
            # Panda gives the points of all contacts of a test as the last one: ask for each body alone.
            other = bodies[id]
            contacts = self.physics.bullet.contact_test_pair(node, other.node).get_contacts()
            if not contacts:
                continue
            point = contacts[0].get_manifold_point()
            first = contacts[0].get_node0() == node
            n = point.get_normal_world_on_b()
            sign = 1.0 if first else -1.0
            nx, ny, nz = n[0] * sign, n[1] * sign, n[2] * sign
            share = 1.0
            if other.kind == "dynamic":
                share = other.mass / (other.mass + self.character.mass)
                self._take_blow(other, nx, ny, share)
            # Two bodies can ask for the same room: what was given to the first counts.
            given = (self.x - x) * nx + (self.y - y) * ny + (self.z - z) * nz
            self._give_way(other.id, nx, ny, nz, (BODY_INSET - point.get_distance()) * share - given)

    def _take_blow(self, other: Body, nx: float, ny: float, share: float) -> None:
        flat = math.hypot(nx, ny)
        if flat < 0.1:
            return
        nx, ny = nx / flat, ny / flat
        v = other.node.get_linear_velocity()
        closing = (v[0] - self.vx) * nx + (v[1] - self.vy) * ny
        if closing < KNOCK_SPEED or v[0] * nx + v[1] * ny < KNOCK_SPEED:
            return
        self._at_rest_at = None
        self.vx += share * closing * nx
        self.vy += share * closing * ny
        lost = (1 - share) * closing
        other.node.set_linear_velocity(core.Vec3(v[0] - lost * nx, v[1] - lost * ny, v[2]))

    def _give_way(self, other: int, nx: float, ny: float, nz: float, far: float) -> None:
        if far < 1e-6:
            return
        with self.physics.hidden((other,)):
            hit = self._sweep(nx * far, ny * far, nz * far)
        t = 1.0 if hit is None else max(0.0, hit.fraction - SKIN / far)
        self._shift(t * nx * far, t * ny * far, t * nz * far)

    # --- bookkeeping --------------------------------------------------------------------------------------------------------

    def _shift(self, dx: float, dy: float, dz: float) -> None:
        self.x += dx
        self.y += dy
        self.z += dz

    def _advance(self, dx: float, dy: float, dz: float, length: float) -> tuple[Hit | None, float]:
        """Go along a way of ``length`` metres as far as it is free, keeping SKIN to what comes after it. Gives what stopped it and the
        share of the way gone."""
        longer = 1 + SKIN / length
        hit = self._sweep(dx * longer, dy * longer, dz * longer)
        if hit is None:
            self._shift(dx, dy, dz)
            return None, 1.0
        nx, ny, nz = hit.normal
        closing = -(dx * nx + dy * ny + dz * nz) / length
        if closing < GRAZE:
            self._shift(dx, dy, dz)
            return None, 1.0
        self.touching.add(self.physics.ids[hit.node])
        t = max(0.0, hit.fraction * longer - SKIN / length)
        room = hit.fraction * longer * length * closing
        if room < CLOSEST:
            self._shift(CLOSEST * nx, CLOSEST * ny, CLOSEST * max(0.0, nz))
        self._shift(t * dx, t * dy, t * dz)
        return (hit, t) if t < 1 else (None, 1.0)

    def _remember(self, walk: _Walk) -> None:
        now = self.physics.tick
        if walk.hit:
            self._hit_until = now + int(HIT_SECONDS / self.dt)
        if walk.stepped:
            self._step_until = now + int(STEP_FLAG_SECONDS / self.dt)
        for id in sorted(walk.pushed):
            if now - self._push_last.get(id, -(10**9)) > PUSH_AGAIN_SECONDS / self.dt:
                self._event("push", other=id)
            self._push_last[id] = now
            self._push_until = now + int(PUSH_FLAG_SECONDS / self.dt)

    def _mark(self, dx: float, dy: float) -> None:
        """Set the flags from what was wanted and what came of it, relative to the ground."""
        flags = 0
        speed = math.hypot(self.ux, self.uy)
        if speed > 0.3 and self.physics.tick <= self._hit_until:
            gone = math.hypot(dx, dy) / self.dt
            if gone < 0.2 * speed:
                flags |= Flag.BLOCKED
            elif dx * self.ux + dy * self.uy < SLIDE_COSINE * gone * self.dt * speed:
                flags |= Flag.SLIDING
        if not self.ground:
            flags |= Flag.SLIDING if self.sliding is not None else Flag.AIRBORNE
        if self.crouched:
            flags |= Flag.CROUCHED
        if self.physics.tick <= self._push_until:
            flags |= Flag.PUSHING
        if self.physics.tick <= self._step_until:
            flags |= Flag.STEPPING
        self.flags = int(flags)

    def _smooth(self) -> None:
        """Let the feet follow the capsule's steps smoothly, and let them down onto slopes that the round capsule rolls over."""
        want = self.radius * (1 / max(self.ground_normal[2], 0.5) - 1) if self.ground else 0.0
        decay = math.exp(-self.dt / SMOOTH_SECONDS)
        self.lag_x *= decay
        self.lag_y *= decay
        self.lag_z *= decay
        self.sink = want + (self.sink - want) * decay
        self.height_now = self.tall + (self.height_now - self.tall) * math.exp(-self.dt / CROUCH_SECONDS)
        self.feet = (self.x - self.lag_x, self.y - self.lag_y, self.z - self.lag_z - self.sink)

    def _event(self, kind: str, other: int = 0, value: float = 0.0) -> None:
        self.events.append(Event(self.physics.tick, kind, self.id, other, value))

    def _place(self) -> None:
        """Put the felt body where the capsule is; Bullet takes it up in its next step."""
        self.body.path.set_pos(self.x, self.y, self.z + 0.5 * (self.tall + GAP))

    def _settle(self) -> None:
        """At tick 0: stand on what is just below the spawn."""
        for _ in range(3):
            # A sweep's answer depends a little on where it starts: settled when a second one says the same.
            hit = self._drop(-self.reach)
            touch = self._touch(hit) if hit is not None else None
            if hit is None or touch is None or not touch.carries or hit.fraction * self.reach > 3 * GAP:
                break
            self.z -= hit.fraction * self.reach - GAP
            self.ground, self.ground_normal = touch.entity, touch.normal
        self.feet = (self.x, self.y, self.z)
        if not self.ground:
            self.flags = int(Flag.AIRBORNE)

    def clip(self) -> tuple[str, float]:
        """The clip that fits, and the ground speed that it should show in m/s."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        forward, left = self.vx * c + self.vy * s, -self.vx * s + self.vy * c
        speed = math.hypot(forward, left)
        if self.flags & Flag.AIRBORNE:
            return ("jump" if self.vz > 0 else "fall"), 0.0
        if self.crouched:
            return ("crouch_walk", speed) if speed > 0.1 else ("crouch", 0.0)
        if self.flags & Flag.PUSHING:
            return "push", speed
        if speed < 0.1:
            return "idle", 0.0
        if abs(left) > abs(forward) + 1e-6:
            return ("strafe_left" if left > 0 else "strafe_right"), speed
        if forward < 0:
            return "back", speed
        gait = 0.5 * (self.character.walk_speed + self.character.run_speed)
        return ("run" if speed > gait else "walk"), speed


def _towards(ax: float, ay: float, bx: float, by: float, most: float) -> tuple[float, float]:
    dx, dy = bx - ax, by - ay
    d = math.hypot(dx, dy)
    return (bx, by) if d <= most else (ax + dx / d * most, ay + dy / d * most)


def _flat(n: Vec) -> tuple[float, float]:
    d = math.hypot(n[0], n[1])
    return (n[0] / d, n[1] / d) if d > 1e-6 else (0.0, 0.0)


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
