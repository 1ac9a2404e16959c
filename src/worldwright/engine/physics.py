"""A world's bodies in Bullet: built, stepped, read and queried. The only module, with ``shapes`` and ``probe``, that knows Bullet's ways.

What had to be found out about Panda3D 1.10.16:

* ``do_physics(dt, 1, dt)`` reports every pose one tick late (Bullet extrapolates its motion states back by a step); with zero
  sub-steps it makes exactly one step of ``dt`` and reports it exactly.
* Without a task manager, unused TransformStates are collected only when told; reference counting alone frees them at once.
* Bullet multiplies the friction and restitution of two bodies. We give it square roots, so a pair has the geometric mean.
* Bullet computes a compound's inertia from its bounding box and keeps the origin as centre of mass: we set both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from panda3d import bullet, core

from worldwright.assets.gltf import load_gltf
from worldwright.assets.model import Mesh, SceneGeometry
from worldwright.assets.primitives import part_meshes
from worldwright.engine.protocol import RayHits, SweepHit
from worldwright.engine.reading import BodyReader
from worldwright.engine.shapes import box_shape, mass_properties, solid, triangle_shape
from worldwright.errors import WorldwrightError
from worldwright.transforms import quat_conjugate, quat_multiply, quat_normalise, quat_rotate
from worldwright.world.spec import Box, Entity, GltfModel, Part, World

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Vec = tuple[float, float, float]

SOLVER_ITERATIONS = 10


def configure() -> None:
    """Panda's settings that ours stand on; once per process, before the first Bullet world."""
    global _configured
    if not _configured:
        core.load_prc_file_data("worldwright", _SETTINGS)
        _configured = True


_configured = False
_SETTINGS = f"""
uniquify-transforms 0
transform-cache 0
garbage-collect-states 0
bullet-filter-algorithm groups-mask
bullet-solver-iterations {SOLVER_ITERATIONS}
"""

_at = core.TransformState.make_pos

STATIC, DYNAMIC, KINEMATIC, HIDDEN, FEELER = 0, 1, 2, 3, 4
"""Collision groups (bits). HIDDEN collides with nothing and is met by no query; a body is in FEELER only while it is asked what that moves
touches it. Character k is in group FIRST_CHARACTER + k."""
FIRST_CHARACTER = 5
EVERYTHING = 0xFFFFFFFF & ~(1 << HIDDEN)

ALL = core.BitMask32(EVERYTHING)
_FEELER, _HIDDEN = core.BitMask32.bit(FEELER), core.BitMask32.bit(HIDDEN)

LINEAR_SLEEP, ANGULAR_SLEEP = 0.05, 0.1
"""Below these speeds (m/s, rad/s) for two seconds a body falls asleep. Bullet's own 0.8 and 1.0 would freeze a rolling ball."""
CONTACT_DISTANCE = 0.01
"""Metres: bodies nearer than this touch."""


@dataclass(slots=True)
class Body:
    """An entity in Bullet. ``centre`` and ``axes`` are its centre of mass and principal axes in the entity's frame."""

    id: int
    name: str
    kind: str
    node: bullet.BulletRigidBodyNode
    path: core.NodePath
    mask: core.BitMask32
    """Of the group that the body is in."""
    centre: F64
    axes: F64
    mass: float = 0.0
    hinge: bullet.BulletHingeConstraint | None = None
    hinge_anchor: Vec = (0.0, 0.0, 0.0)
    hinge_axis: Vec = (0.0, 0.0, 1.0)
    """In the world: a hinge's axis and a point on it do not move."""
    move: Callable[[float], tuple[Vec, Vec]] | None = None
    offset: bool = False
    """True where centre or axes differ from the entity's frame."""


class Hit:
    """What a ray or a sweep met: fraction of the way, outward normal and position at the touch, and the node.

    A character's tick is made of these, and mostly it wants no more than fraction and normal: the rest is asked for when it is needed."""

    __slots__ = ("_result", "fraction", "normal")

    def __init__(self, result: bullet.BulletClosestHitRayResult | bullet.BulletClosestHitSweepResult, fraction: float) -> None:
        n = result.get_hit_normal()
        self.normal: Vec = (n.x, n.y, n.z)
        self.fraction = fraction
        self._result = result

    @property
    def position(self) -> Vec:
        """Where it was touched."""
        p = self._result.get_hit_pos()
        return (p.x, p.y, p.z)

    @property
    def node(self) -> bullet.BulletRigidBodyNode:
        """What was touched."""
        return self._result.get_node()

    def of_way(self, share: float) -> Hit:
        """The same touch on a way of which the one that was swept is only this share."""
        return Hit(self._result, self.fraction * share)


def shuttle(entity: Entity) -> Callable[[float], tuple[Vec, Vec]] | None:
    """Position and velocity of a kinematic entity as a function of seconds: half a cosine to ``to`` and half a cosine back."""
    if entity.path is None:
        return None
    (ax, ay, az), (bx, by, bz) = entity.position, entity.path.to
    dx, dy, dz = bx - ax, by - ay, bz - az
    rate = 2 * math.pi / entity.path.period

    def at(seconds: float) -> tuple[Vec, Vec]:
        s, v = 0.5 - 0.5 * math.cos(rate * seconds), 0.5 * rate * math.sin(rate * seconds)
        return (ax + dx * s, ay + dy * s, az + dz * s), (dx * v, dy * v, dz * v)

    return at


class Physics:
    """The Bullet world of a world spec at tick 0. Throw it away and build another to go back: Bullet keeps caches."""

    def __init__(self, world: World, geometry: SceneGeometry, packs: Mapping[str, Path], tick_rate: int) -> None:
        configure()
        self.dt = 1.0 / tick_rate
        self.tick = 0
        self.gravity: Vec = world.gravity
        self.bullet = bullet.BulletWorld()
        self.bullet.set_gravity(core.Vec3(*world.gravity))
        self._groups(len(world.characters))
        self.bodies: dict[int, Body] = {}
        self.ids: dict[bullet.BulletRigidBodyNode, int] = {}
        for k, entity in enumerate(world.entities):
            id = world.entity_id(k)
            where = f"entities[{k}] ({entity.name})"
            body = _build(id, entity, geometry.collision.get(id, ()), world, packs, where)
            self._add(body)
            self._hinge(body, entity)
        self.movers = [b for b in self.bodies.values() if b.kind != "static"]
        self.body_ids = tuple(b.id for b in self.movers)
        self.hinged = [b for b in self.movers if b.hinge is not None]
        self._kinematic = [b for b in self.movers if b.move is not None]
        self._reader = BodyReader(self.movers)
        self._moves = [(i, b.move) for i, b in enumerate(self.movers) if b.move is not None]
        self._step, self._sweep = self.bullet.do_physics, self.bullet.sweep_test_closest

    # --- building -----------------------------------------------------------------------------------------------------------

    def _groups(self, characters: int) -> None:
        flag = self.bullet.set_group_collision_flag
        for group in range(32):
            flag(group, group, group == DYNAMIC)
        for group in (STATIC, KINEMATIC, *(FIRST_CHARACTER + k for k in range(characters))):
            flag(group, DYNAMIC, True)
        for group in (DYNAMIC, KINEMATIC, *(FIRST_CHARACTER + k for k in range(characters))):
            flag(FEELER, group, True)

    def _add(self, body: Body) -> None:
        self.bodies[body.id] = body
        self.ids[body.node] = body.id
        self.bullet.attach(body.node)

    def _hinge(self, body: Body, entity: Entity) -> None:
        joint = entity.joint
        if joint is None:
            return
        # Bullet measures a hinge's angle from frames that it guesses from the axis alone: given outright, the angle is 0 at tick 0.
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        turn = np.array(entity.rotation)
        inverse = quat_conjugate(body.axes)
        frame = _z_towards(axis)
        anchor = np.array(joint.anchor)
        hinge = bullet.BulletHingeConstraint(body.node, core.Point3(0), core.Vec3(0, 0, 1), False)
        hinge.set_frames(
            _pose(quat_rotate(inverse, anchor - body.centre), quat_multiply(inverse, frame)),
            _pose(quat_rotate(turn, anchor) + entity.position, quat_multiply(turn, frame)),
        )
        hinge.set_limit(math.degrees(joint.lower), math.degrees(joint.upper))
        if joint.friction > 0:
            hinge.enable_angular_motor(True, 0.0, joint.friction * self.dt)
        self.bullet.attach(hinge)
        body.hinge = hinge
        body.hinge_anchor = _vec(quat_rotate(turn, anchor) + entity.position)
        body.hinge_axis = _vec(quat_rotate(turn, axis))

    def add_character(self, index: int, id: int, name: str, shape: bullet.BulletShape, centre: Vec) -> Body:
        """A kinematic body for character ``index``: dynamic bodies feel it, queries of its own group's mask do not."""
        node = bullet.BulletRigidBodyNode(name)
        node.add_shape(shape)
        # Bullet takes up a kinematic body's pose only in a step: placed first, it stands there from the start.
        core.NodePath(node).set_pos(*centre)
        node.set_kinematic(True)
        node.set_friction(0.5)
        node.set_deactivation_enabled(False)
        mask = core.BitMask32.bit(FIRST_CHARACTER + index)
        body = Body(id, name, "character", node, core.NodePath(node), mask, np.zeros(3), np.array([1.0, 0, 0, 0]))
        node.set_into_collide_mask(body.mask)
        self._add(body)
        return body

    # --- time ---------------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One tick: kinematic bodies go along their paths, then Bullet steps."""
        self.tick += 1
        seconds = self.tick * self.dt
        for body in self._kinematic:
            if body.move is not None:
                body.path.set_pos(*body.move(seconds)[0])
        self._step(self.dt, 0, self.dt)

    # --- reading ------------------------------------------------------------------------------------------------------------

    def read(self) -> tuple[F32, F32, F32, F32]:
        """Positions [B, 3], rotations [B, 4] wxyz, linear and angular velocities [B, 3] of the movers, at the entities' origins."""
        positions, rotations, linear, angular = self._reader.read(self.tick)
        for i, move in self._moves:
            linear[i] = move(self.tick * self.dt)[1]
        return positions, rotations, linear, angular

    def contact_codes(self, others: Iterable[tuple[int, int]] = ()) -> list[int]:
        """Pairs of entity ids that touch, and with them the pairs ``others``, ascending. A pair is one integer, the smaller id above the
        other's 32 bits: cheap to collect, and its order is the pairs' order. Pairs that sleep are left out, as are those that Bullet
        keeps in mind though they are CONTACT_DISTANCE apart."""
        ids = self.ids
        pairs = {(a << 32 | b) if a < b else (b << 32 | a) for a, b in others}
        for manifold in self.bullet.get_manifolds():
            count = manifold.get_num_manifold_points()
            if not count:
                continue
            point = manifold.get_manifold_point
            if point(0).get_distance() >= CONTACT_DISTANCE and not any(
                point(k).get_distance() < CONTACT_DISTANCE for k in range(1, count)
            ):
                continue
            a, b = manifold.get_node0(), manifold.get_node1()
            if a.is_active() or b.is_active():
                i, j = ids[a], ids[b]
                pairs.add((i << 32 | j) if i < j else (j << 32 | i))
        return sorted(pairs)

    def hinge_angle(self, body: Body) -> tuple[float, float, float]:
        """How far a hinged body has turned from where the world put it, counter-clockwise about its axis, and its limits; radians."""
        hinge = body.hinge
        if hinge is None:
            return 0.0, 0.0, 0.0
        return math.radians(hinge.get_hinge_angle()), math.radians(hinge.get_lower_limit()), math.radians(hinge.get_upper_limit())

    # --- questions ----------------------------------------------------------------------------------------------------------

    def ray(self, start: Sequence[float], end: Sequence[float], mask: core.BitMask32) -> Hit | None:
        """First hit of a ray with bodies in the groups of ``mask``; the normal faces the ray's start."""
        result = self.bullet.ray_test_closest(core.Point3(*start), core.Point3(*end), mask)
        return Hit(result, result.get_hit_fraction()) if result.has_hit() else None

    def sweep(self, shape: bullet.BulletShape, start: Vec, end: Vec, mask: core.BitMask32) -> Hit | None:
        """First hit of a convex shape moved from start to end."""
        result = self._sweep(shape, _at(start), _at(end), mask, 0.0)
        return Hit(result, result.get_hit_fraction()) if result.has_hit() else None

    def cast_rays(self, origins: F64, directions: F64, max_distance: float, ignore: Sequence[int]) -> RayHits:
        """See ``Engine.cast_rays``."""
        origins = np.asarray(origins, dtype=np.float64).reshape(-1, 3)
        directions = np.asarray(directions, dtype=np.float64).reshape(-1, 3)
        n = len(origins)
        distance, entity, normal = np.full(n, np.inf), np.zeros(n, dtype=np.int32), np.zeros((n, 3))
        with self.hidden(ignore):
            for i, (a, b) in enumerate(zip(origins.tolist(), (origins + directions * max_distance).tolist(), strict=True)):
                hit = self.ray(a, b, ALL)
                if hit is not None:
                    distance[i], entity[i], normal[i] = hit.fraction * max_distance, self.ids[hit.node], hit.normal
        return RayHits(distance, entity, normal)

    def first_touch(self, shape: bullet.BulletShape, start: F64, end: F64, ignore: Sequence[int]) -> SweepHit:
        """See ``Engine.sweep_sphere``; of any convex shape."""
        (ax, ay, az), (bx, by, bz) = (float(x) for x in start), (float(x) for x in end)
        with self.hidden(ignore):
            hit = self.sweep(shape, (ax, ay, az), (bx, by, bz), ALL)
        return SweepHit(1.0, (0.0, 0.0, 0.0), 0) if hit is None else SweepHit(hit.fraction, hit.normal, self.ids[hit.node])

    def moving_contacts(self, body: Body) -> Sequence[bullet.BulletContact]:
        """Contacts of a body with what is not static, where all stand now. What stands still is not even looked at: a floor of many
        triangles costs more than everything else."""
        node = body.node
        node.set_into_collide_mask(_FEELER)
        contacts = self.bullet.contact_test(node, True).get_contacts()
        node.set_into_collide_mask(body.mask)
        return contacts

    def hidden(self, ids: Sequence[int]) -> _Hidden:
        """A context in which queries do not meet these entities."""
        return _Hidden([self.bodies[id] for id in ids if id in self.bodies])

    def close(self) -> None:
        """Take everything out of Bullet."""
        for body in self.bodies.values():
            if body.hinge is not None:
                self.bullet.remove(body.hinge)
            self.bullet.remove(body.node)
        self.bodies.clear()
        self.ids.clear()
        self.movers, self._kinematic, self.hinged, self._reader = [], [], [], BodyReader(())


@dataclass(slots=True)
class _Hidden:
    bodies: list[Body] = field(default_factory=list)

    def __enter__(self) -> None:
        for body in self.bodies:
            body.node.set_into_collide_mask(_HIDDEN)

    def __exit__(self, *_: object) -> None:
        for body in self.bodies:
            body.node.set_into_collide_mask(body.mask)


def _build(id: int, entity: Entity, meshes: Sequence[Mesh], world: World, packs: Mapping[str, Path], where: str) -> Body:
    node = bullet.BulletRigidBodyNode(entity.name)
    path = core.NodePath(node)
    centre, axes = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    touched = [part for part in entity.parts if part.collide]
    if entity.body == "dynamic" and entity.mass is not None:
        if not touched:
            raise WorldwrightError("is dynamic and has no part that collides", where=where, fix="give it a part with collide: true")
        solids = [solid(part, partial(part_points, part, world, packs), where) for part in touched]
        properties = mass_properties(solids, entity.mass)
        centre, axes = properties.centre, properties.axes
        back = quat_conjugate(axes)
        for s in solids:
            node.add_shape(s.shape, _pose(quat_rotate(back, s.position - centre), quat_multiply(back, s.rotation)))
        node.set_mass(entity.mass)
        node.set_inertia(core.Vec3(*properties.inertia))
        node.set_linear_sleep_threshold(LINEAR_SLEEP)
        node.set_angular_sleep_threshold(ANGULAR_SLEEP)
        # Continuous detection for what moves further in a tick than it is thick: a mesh has no inside that would push it out again.
        thin = min(s.thickness for s in solids)
        node.set_ccd_motion_threshold(0.5 * thin)
        node.set_ccd_swept_sphere_radius(0.4 * thin)
        node.set_linear_damping(entity.linear_damping)
        node.set_angular_damping(entity.angular_damping)
    elif boxes := _boxes(touched):
        for part, size in boxes:
            node.add_shape(box_shape(size), _pose(np.array(part.position), np.array(part.rotation)))
    elif meshes and any(len(mesh.indices) for mesh in meshes):
        node.add_shape(triangle_shape(meshes))
    group = {"static": STATIC, "dynamic": DYNAMIC, "kinematic": KINEMATIC}[entity.body]
    node.set_friction(math.sqrt(entity.friction))
    node.set_restitution(math.sqrt(entity.restitution))
    mask = core.BitMask32.bit(group)
    node.set_into_collide_mask(mask)
    rotation = np.array(entity.rotation)
    path.set_pos_quat(core.Point3(*(quat_rotate(rotation, centre) + entity.position)), core.Quat(*quat_multiply(rotation, axes)))
    if entity.body == "dynamic":
        node.set_linear_velocity(core.Vec3(*entity.velocity))
    if entity.body == "kinematic":
        # Only now: Bullet takes up a kinematic body's pose in a step alone, and it must stand there from the start.
        node.set_kinematic(True)
        node.set_deactivation_enabled(False)
    offset = bool(np.any(centre != 0) or axes[0] != 1)
    return Body(
        id, entity.name, entity.body, node, path, mask, centre, axes, entity.mass or 0.0, move=shuttle(entity), offset=offset
    )


def _boxes(parts: Sequence[Part]) -> list[tuple[Part, Vec]]:
    """The parts and their sizes where all of them are boxes, else nothing: a Bullet box has the same faces as its triangles, and is
    solid, so that nothing tunnels through it."""
    boxes = [(part, part.geometry.size) for part in parts if isinstance(part.geometry, Box)]
    return boxes if len(boxes) == len(parts) else []


def part_points(part: Part, world: World, packs: Mapping[str, Path]) -> F64:
    """The corners [N, 3] of a part's triangles in the entity's frame."""
    geometry = part.geometry
    if isinstance(geometry, GltfModel):
        root = packs[geometry.pack]
        meshes, scale = load_gltf(root / geometry.path, root).meshes, geometry.scale
    else:
        meshes, scale = part_meshes(part, world.materials[str(part.material)]), 1.0
    points = np.concatenate([mesh.positions for mesh in meshes]).astype(np.float64) * scale
    return quat_rotate(np.array(part.rotation), points) + part.position


def _pose(position: F64, rotation: F64) -> core.TransformState:
    return core.TransformState.make_pos_quat_scale(core.Point3(*position), core.Quat(*rotation), core.Vec3(1, 1, 1))


def _z_towards(axis: F64) -> F64:
    """A quaternion that turns Z onto the unit vector ``axis`` the short way."""
    c = float(axis[2])
    if c < -1 + 1e-9:
        return np.array([0.0, 1.0, 0.0, 0.0])
    return quat_normalise(np.array([1 + c, -axis[1], axis[0], 0.0]))


def _vec(v: F64) -> Vec:
    return (float(v[0]), float(v[1]), float(v[2]))
