"""The built-in engine: Panda3D's Bullet, without a window."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet, core

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.controls import Control
from worldwright.engine.controller import advance, place_person
from worldwright.engine.noted import NotedCharacter, NotedState
from worldwright.engine.overlap import capsule_overlap
from worldwright.engine.person.body import Person
from worldwright.engine.person.flags import clip
from worldwright.engine.physics import SOLVER_ITERATIONS, Physics
from worldwright.engine.protocol import DEFAULT_TICK_RATE, Event, RayHits, State, SweepHit
from worldwright.engine.puppets import Puppet
from worldwright.engine.rigs import Rigs
from worldwright.engine.shapes import capsule_shape
from worldwright.errors import WorldwrightError
from worldwright.transforms import quat_conjugate, quat_rotate
from worldwright.world.spec import World

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

DOOR_OPEN, DOOR_SHUT = math.radians(20), math.radians(15)
"""A hinged body is a door opened beyond the first angle, and shut again below the second."""
UPRIGHT = 0.7
"""A door's axis stands up at least so far (z of the unit axis); a seesaw's does not."""

_IDLE = Control()

REVISION = 2
"""Counts changes after which the same inputs give other bytes: a take says by which it was made."""


class PandaEngine:
    """Runs a world in Bullet in fixed ticks; see ``engine.protocol.Engine``."""

    name = "panda"
    version = f"{REVISION} (panda3d {core.PandaSystem.get_version_string()})"

    def __init__(self) -> None:
        self.tick_rate = DEFAULT_TICK_RATE
        self.body_ids: tuple[int, ...] = ()
        self.character_ids: tuple[int, ...] = ()
        self._world: World | None = None
        self._physics: Physics | None = None

    def sample_world(self) -> World | None:
        """None: it runs every world."""
        return None

    def load(self, world: World, packs: Mapping[str, Path], *, tick_rate: int = DEFAULT_TICK_RATE, seed: int = 0) -> None:
        """Build the world at tick 0. ``seed`` is kept for the record: nothing in this engine is random.

        Raises:
            WorldwrightError: a missing asset, a moving body without volume, a spawn inside something, or a tick rate out of range.
        """
        if not 30 <= tick_rate <= 2000:
            raise WorldwrightError(f"tick rate {tick_rate} is not from 30 to 2000", fix="240 is a good one")
        self.close()
        self.tick_rate = tick_rate
        self._world, self._packs, self._seed = world, dict(packs), seed
        self._geometry: SceneGeometry = build_scene(world, packs, images=False)
        self._animators = [Puppet(self._geometry.characters[world.character_id(k)]) for k in range(len(world.characters))]
        self.reset()

    def reset(self) -> None:
        """Back to tick 0 of the loaded world, exactly as loaded: the Bullet world is built anew."""
        world = self._loaded()
        if self._physics is not None:
            self._physics.close()
        self._physics = physics = Physics(world, self._geometry, self._packs, self.tick_rate)
        self.body_ids = physics.body_ids
        spawns = {s.name: s for s in world.spawns}
        self._people = [place_person(k, world.character_id(k), c, spawns[c.spawn], physics) for k, c in enumerate(world.characters)]
        self.character_ids = tuple(c.id for c in self._people)
        for k, person in enumerate(self._people):
            where = f"characters[{k}].spawn {person.character.spawn!r}"
            refuse_overlap(person, self._geometry, world, where)
        for animator in self._animators:
            animator.reset()
        played = self._people[0]
        self._rigs = Rigs(world.camera, played, physics)
        self._events: list[Event] = []
        # What is asked in every tick, bound once.
        self._goals = [(float(k), goal.position, goal.radius) for k, goal in enumerate(world.goals)]
        self._bounds = (*world.bounds.min, *world.bounds.max)
        self._doors = [
            (body.id, body.node.is_active, body.hinge.get_hinge_angle)
            for body in physics.hinged
            if body.hinge is not None and abs(body.hinge_axis[2]) > UPRIGHT
        ]
        self._outside = False
        self._open: set[int] = set()

    def tick(self, control: Control) -> None:
        """Advance one tick with this input for the played character; the others stand."""
        physics = self._running()
        physics.step()
        for k, person in enumerate(self._people):
            advance(person, control if k == 0 else _IDLE)
            name, speed = clip(person)
            animator = self._animators[k]
            own = animator.clips[name].speed
            animator.update(physics.dt, name, speed / own if own > 1e-3 and speed > 0 else 1.0)
            if person.events:
                self._events += person.events
                person.events.clear()
        played = self._people[0]
        self._rigs.advance()
        self._watch(played)

    def _watch(self, played: Person) -> None:
        """Events of places and things: goals, bounds, doors."""
        tick, feet = self._running().tick, played.feet
        for goal in self._goals:
            number, position, radius = goal
            if math.dist(feet, position) <= radius:
                self._goals = [other for other in self._goals if other is not goal]
                self._events.append(Event(tick, "goal", played.id, 0, number))
        x, y, z = feet
        x0, y0, z0, x1, y1, z1 = self._bounds
        if not self._outside and not (x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1):
            self._outside = True
            self._events.append(Event(tick, "out_of_bounds", played.id))
        for id, is_active, hinge_angle in self._doors:
            if is_active():
                angle = abs(math.radians(hinge_angle()))
                if angle > DOOR_OPEN and id not in self._open:
                    self._open.add(id)
                    self._events.append(Event(tick, "door", id, played.id, angle))
                elif angle < DOOR_SHUT:
                    self._open.discard(id)

    def state(self) -> State:
        """The state after the last tick, at the cost of reading what is awake."""
        physics = self._running()
        bodies = physics.read()
        characters = tuple(
            [
                NotedCharacter(c.id, c.feet, c.yaw, c.pitch, c.moved, c.flags, animator.pose(), c.ground)
                for c, animator in zip(self._people, self._animators, strict=True)
            ]
        )
        codes = physics.contact_codes([(c.id, other) for c in self._people for other in c.touching])
        events, self._events = tuple(self._events), []
        return NotedState(physics.tick, bodies, characters, codes, events, self._rigs.views())

    def cast_rays(self, origins: F64, directions: F64, max_distance: float, *, ignore: Sequence[int] = ()) -> RayHits:
        """First hits of rays, origins and unit directions [N, 3], against everything that collides now."""
        return self._running().cast_rays(origins, directions, max_distance, ignore)

    def sweep_sphere(self, radius: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move a sphere from start to end."""
        return self._running().first_touch(bullet.BulletSphereShape(radius), start, end, ignore)

    def sweep_capsule(self, radius: float, height: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move an upright capsule (whole height, its centre given) from start to end."""
        return self._running().first_touch(capsule_shape(radius, height), start, end, ignore)

    def attachments(self) -> Mapping[str, bytes]:
        """None: the states say everything."""
        return {}

    def snapshot(self) -> dict[str, Any]:
        """Versions and settings that reproduce this run."""
        return {
            "engine": self.name,
            "panda3d": core.PandaSystem.get_version_string(),
            "bullet_version": str(bullet.get_bullet_version()),
            "tick_rate": str(self.tick_rate),
            "solver_iterations": str(SOLVER_ITERATIONS),
            "seed": str(getattr(self, "_seed", 0)),
        }

    def close(self) -> None:
        """Free everything; ``load`` may follow."""
        if self._physics is not None:
            self._physics.close()
        self._physics, self._world = None, None
        self.body_ids = self.character_ids = ()

    def _loaded(self) -> World:
        if self._world is None:
            raise WorldwrightError("no world is loaded", where="engine panda", fix="call load first")
        return self._world

    def _running(self) -> Physics:
        if self._physics is None:
            raise WorldwrightError("no world is loaded", where="engine panda", fix="call load first")
        return self._physics


def refuse_overlap(person: Person, geometry: SceneGeometry, world: World, where: str) -> None:
    """Raise WorldwrightError where a character would start inside an entity, naming the one that reaches deepest into it."""
    low, high = person.axis()
    deepest, name = 0.0, ""
    for k, entity in enumerate(world.entities):
        meshes = geometry.collision.get(world.entity_id(k), ())
        if meshes:
            triangles = np.concatenate([m.positions[m.indices.astype(np.int64)] for m in meshes]).astype(np.float64)
            back = quat_conjugate(entity.rotation)
            depth = capsule_overlap(
                quat_rotate(back, low - entity.position), quat_rotate(back, high - entity.position), person.felt, triangles
            )
            if depth > deepest:
                deepest, name = depth, entity.name
    if deepest > 0:
        raise WorldwrightError(
            f"{person.character.name!r} would start inside entity {name!r}, by {deepest:.3f} m",
            where=where,
            fix="move the spawn or the entity",
        )
