"""A person's body in the physics: an upright capsule, where it is and what it is doing.

The capsule is kinematic and moved by sweeps. The swept capsule hangs GAP above the ground, so that flat ground is not an obstacle, and
keeps SKIN to what it meets, so that no sweep starts in touch. Everything is float64 in Python; Bullet answers in float32, the same in
every process.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet, core

from worldwright.engine.physics import EVERYTHING, Physics
from worldwright.engine.protocol import Event
from worldwright.engine.shapes import capsule_shape
from worldwright.world.spec import Character, Spawn

GAP = 0.02
"""Metres between the ground and the swept capsule."""
SKIN = 0.004
"""Metres kept to what a sweep meets, along the way."""
FOOT_INSET = 0.015
"""Sweeps up and down are this much thinner than those along, so that a wall one leans on is no ground."""
BODY_INSET = 0.01
"""The body that others feel is this much thinner than the swept capsule, so that they do not push each other without end."""
JOLT = 6.0
"""m/s: a faster change of height than falling explains is a step or a crouch, whose speed nobody else may feel."""
CROUCH_SHARE = 0.6
"""Height of the crouched body as a share of the standing one."""
EYE_ROOM = 0.1
"""Metres around the eye that are free; so far it stays below the top of the head while its height is smoothed."""

F64 = NDArray[np.float64]
Vec = tuple[float, float, float]


class Person:
    """One character in one Physics: the capsule, its motion, and what others read after a tick.

    The functions of this package change it; ``engine.controller.advance`` calls them in their order."""

    def __init__(self, index: int, id: int, character: Character, spawn: Spawn, physics: Physics) -> None:
        self.id, self.character, self.physics = id, character, physics
        self.dt = physics.dt
        self.radius, self.height = character.radius, max(character.height, 2 * character.radius + GAP)
        self.felt = self.radius - BODY_INSET
        self.low = max(CROUCH_SHARE * self.height, 2 * self.radius + GAP)
        self.reach = max(character.step_height, 0.05) + 2 * GAP
        """How far below the capsule ground is still followed."""
        self.walkable = math.cos(math.radians(character.max_slope_deg)) - 1e-4
        self.tall_shape = capsule_shape(self.radius, self.height - GAP)
        self.low_shape = capsule_shape(self.radius, self.low - GAP)
        self.foot = bullet.BulletSphereShape(self.radius - FOOT_INSET)
        self.head = bullet.BulletSphereShape(EYE_ROOM)
        x, y, z = spawn.position
        centre = (x, y, z + 0.5 * (self.height + GAP))
        self.body = physics.add_character(index, id, character.name, self._felt_shape(self.height), centre)
        self.mask = core.BitMask32(EVERYTHING) & ~self.body.mask
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
        self.rise_x = self.rise_y = 0.0
        """Metres up per metre along X and Y that the feet follow at once: the ground's slope, smoothed."""
        self.sink = 0.0
        self.debt = 0.0
        self.sliding: Vec | None = None
        self.slide_until = -1
        self.at_rest_at: Vec | None = None
        self.still = 0
        self.touching: set[int] = set()
        self.moved: Vec = (0.0, 0.0, 0.0)
        self.feet: Vec = spawn.position
        self.height_now = self.height
        self.headroom = 0.0
        """Metres above the capsule that are known to be free, as far as smoothing lifts the head."""
        self.use_ways: dict[int, float] = {}
        self.push_last: dict[int, int] = {}
        self.step_until = self.push_until = self.hit_until = -1
        self.placed_z = centre[2]
        self.place()

    def reshape(self) -> None:
        """Give the felt body the height of now."""
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
        """The eye at ``share`` of the body's height. Where feet trail behind on the way down, or the head does
        in crouching, it is no higher than there is room."""
        x, y, z = self.feet
        high = share * self.height_now
        top = self.z + max(share * self.tall, self.tall - EYE_ROOM) + self.headroom
        return (x, y, min(z + high, top))

    def axis(self) -> tuple[F64, F64]:
        """The ends of the felt capsule's axis: ``felt`` metres around it is the body."""
        low, high = self.z + GAP + self.felt, self.z + self.tall - self.felt
        return np.array([self.x, self.y, low]), np.array([self.x, self.y, max(low, high)])

    def chest(self) -> Vec:
        """A point on the capsule's axis from which a sphere of its radius is free."""
        return (self.x, self.y, self.z + self.tall - self.radius)

    def shift(self, dx: float, dy: float, dz: float) -> None:
        """Move the capsule by metres, whatever is there."""
        self.x += dx
        self.y += dy
        self.z += dz

    def place(self) -> None:
        """Put the felt body where the capsule is; Bullet takes it up in its next step.

        Bullet takes the way that a kinematic body goes in a tick for its speed: a step, or the lower middle of a crouching body, would
        hit what touches it at 80 m/s. Not kinematic for a moment, the body is there at once and at rest."""
        node, z = self.body.node, self.z + 0.5 * (self.tall + GAP)
        jolt = abs(z - self.placed_z - self.vz * self.dt) > JOLT * self.dt
        if jolt:
            node.set_kinematic(False)
        self.body.path.set_pos(self.x, self.y, z)
        if jolt:
            node.set_kinematic(True)
        self.placed_z = z

    def tell(self, kind: str, other: int = 0, value: float = 0.0) -> None:
        """Note an event of this tick."""
        self.events.append(Event(self.physics.tick, kind, self.id, other, value))
