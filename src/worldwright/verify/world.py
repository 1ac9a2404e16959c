"""Verifies a world before anybody plays in it: it builds, one can stand, things rest, goals can be reached, there is light."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Mesh
from worldwright.controls import Control
from worldwright.engine.protocol import Engine, State
from worldwright.engine.registry import make_engine
from worldwright.errors import WorldwrightError
from worldwright.record.navigation import NavigationGrid
from worldwright.transforms import pose_matrix, transform_points
from worldwright.verify.context import Scene, make_scene
from worldwright.verify.measure import failed, from_problems, passed, skipped
from worldwright.verify.verdict import Check, Verdict
from worldwright.words import counted
from worldwright.world.files import load_world, resolve_packs, world_hash
from worldwright.world.spec import World

SETTLE_SECONDS = 1.0
SHOCK_SECONDS = 0.1
DRIFT_M = 0.03
"""A thing that was put down to rest moves by no more than this in the first second."""
DRIFT_SHARE = 0.1
"""Share of the things at rest that may drift farther: a ball on a slope is put there to roll."""
SHOCK_SPEED = 1.5
"""m/s after a tenth of a second, beyond what gravity and its own start give: pushed out of something that it was put into."""
FASTEST = 30.0
SUPPORT_M = 0.06
GOAL_DROP_M = 0.6
OUT_M = 1e-3


def verify_world(path: Path, packs: Mapping[str, Path], *, engine: str = "panda") -> Verdict:
    """All checks on a world file.

    Raises:
        WorldwrightError: the document is no valid world, or a pack is missing: that is bad input, not a verdict.
    """
    world = load_world(path)
    given = resolve_packs(world, path, packs)
    return Verdict("world", str(path), world_hash(world), check_world(world, given, engine=engine))


def check_world(world: World, packs: Mapping[str, Path], *, engine: str = "panda") -> list[Check]:
    """All checks on a loaded world, its packs found."""
    try:
        scene = make_scene(world, packs)
    except WorldwrightError as error:
        return [failed("geometry", error.line())]
    checks = [_geometry(scene), _inside(world, scene), _light(world, scene)]
    player = make_engine(engine)
    try:
        try:
            player.load(world, packs)
        except WorldwrightError as error:
            return [*checks, failed("loads", error.line())]
        checks.append(
            passed(
                "loads",
                f"{engine} holds {len(world.entities)} entities, {len(player.body_ids)} of them movable; the spawns are free",
            )
        )
        checks += [
            _supported(world, player),
            _goals_on_ground(world, player),
            _reachable(world, player),
            *_settled(world, player),
        ]
    finally:
        player.close()
    return checks


def _geometry(scene: Scene) -> Check:
    problems = []
    triangles = 0
    names = scene.world.labels()
    for k, meshes in scene.geometry.entities.items():
        triangles += sum(len(mesh.indices) for mesh in meshes)
        if not any(len(mesh.indices) for mesh in meshes):
            problems.append(f"entity {names[k][0]!r} has no triangle")
        problems += [f"entity {names[k][0]!r}: {text}" for mesh in meshes if (text := _mesh_problem(mesh))]
    for k, model in scene.geometry.characters.items():
        problems += [f"character {names[k][0]!r}: {text}" for mesh in model.meshes if (text := _mesh_problem(mesh))]
    return from_problems("geometry", problems, f"{triangles} triangles, finite, with unit normals", {"triangles": triangles})


def _mesh_problem(mesh: Mesh) -> str:
    if not (np.isfinite(mesh.positions).all() and np.isfinite(mesh.normals).all() and np.isfinite(mesh.uvs).all()):
        return "a vertex is not finite"
    if len(mesh.indices) and int(mesh.indices.max()) >= len(mesh.positions):
        return "a triangle names a vertex that is not there"
    if len(mesh.normals) and float(np.abs(np.linalg.norm(mesh.normals, axis=-1) - 1).max()) > 1e-2:
        return "a normal is not of length 1"
    return ""


def _box(meshes: tuple[Mesh, ...], place: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = transform_points(place, np.concatenate([mesh.positions for mesh in meshes]))
    return points.min(axis=0), points.max(axis=0)


def _inside(world: World, scene: Scene) -> Check:
    """Everything is within the bounds. (Ground may reach beyond them: bounds are where one may be.)"""
    lower, upper = np.array(world.bounds.min), np.array(world.bounds.max)
    problems = []
    for k, entity in enumerate(world.entities):
        meshes = scene.geometry.entities[world.entity_id(k)]
        if not meshes:
            continue
        a, b = _box(meshes, pose_matrix(entity.position, entity.rotation))
        centre = (a + b) / 2 if entity.body == "static" else None
        outside = (
            np.any(centre < lower) or np.any(centre > upper)
            if centre is not None
            else np.any(a < lower - OUT_M) or np.any(b > upper + OUT_M)
        )
        if outside:
            problems.append(
                f"entity {entity.name!r} spans {_point(a)} to {_point(b)}, the bounds are {_point(lower)} to {_point(upper)}"
            )
    for kind, things in (("spawn", world.spawns), ("goal", world.goals)):
        for thing in things:
            if np.any(np.array(thing.position) < lower) or np.any(np.array(thing.position) > upper):
                problems.append(f"{kind} {thing.name!r} at {_point(thing.position)} is outside the bounds")
    return from_problems(
        "inside",
        problems,
        f"{len(world.entities)} entities, {counted(len(world.spawns), 'spawn')} and {counted(len(world.goals), 'goal')} are within the bounds",
    )


def _light(world: World, scene: Scene) -> Check:
    light = world.light
    glowing = sum(max(mesh.surface.emissive) > 0 for meshes in scene.geometry.entities.values() for mesh in meshes)
    sources = {
        "sun": float(light.sun.intensity) if light.sun is not None else 0.0,
        "sky": float(light.sky.intensity),
        "lamps": float(sum(lamp.intensity for lamp in light.lamps)),
        "glowing surfaces": float(glowing),
    }
    lit = [name for name, amount in sources.items() if amount > 0]
    if not lit:
        return failed(
            "light", "no sun, no sky light, no lamp, nothing glows: every picture is black", value=0.0, limit="more than 0"
        )
    return passed("light", f"light from {', '.join(lit)}", {"sources": sources})


def _down(engine: Engine, points: NDArray[np.float64], reach: float, above: float) -> Any:
    origins = points + np.array([0.0, 0.0, above])
    directions = np.broadcast_to(np.array([0.0, 0.0, -1.0]), origins.shape).copy()
    return engine.cast_rays(origins, directions, reach + above, ignore=engine.character_ids)


def _supported(world: World, engine: Engine) -> Check:
    """There is ground under the feet of every character at its spawn."""
    spawns = {spawn.name: spawn for spawn in world.spawns}
    problems = []
    for character in world.characters:
        spawn = spawns[character.spawn]
        ring = np.array([[0.0, 0, 0], [0.5, 0, 0], [-0.5, 0, 0], [0, 0.5, 0], [0, -0.5, 0]]) * character.radius
        hits = _down(engine, np.array(spawn.position) + ring, 50.0, 0.3)
        drop = float(np.min(hits.distance)) - 0.3
        if not np.isfinite(drop):
            problems.append(f"spawn {spawn.name!r} of {character.name!r}: nothing below within 50 m")
        elif drop > SUPPORT_M + character.step_height:
            problems.append(f"spawn {spawn.name!r} of {character.name!r} is {drop:.2f} m above the ground")
    return from_problems("supported", problems, f"{counted(len(world.characters), 'character')} with ground under the feet")


def _goals_on_ground(world: World, engine: Engine) -> Check:
    if not world.goals:
        return skipped("goals_on_ground", "the world has no goals")
    hits = _down(engine, np.array([goal.position for goal in world.goals]), 20.0, 0.5)
    problems = [
        f"goal {goal.name!r} at {_point(goal.position)}: "
        + ("nothing below" if not np.isfinite(d) else f"the ground is {d - 0.5:.2f} m below")
        for goal, d in zip(world.goals, np.asarray(hits.distance), strict=True)
        if not d - 0.5 <= GOAL_DROP_M
    ]
    return from_problems("goals_on_ground", problems, f"{counted(len(world.goals), 'goal')} on ground")


def _settled(world: World, engine: Engine) -> list[Check]:
    """Run a second with nobody at the keys: things put down stay, nothing shoots off, nothing leaves the bounds."""
    start = engine.state()
    dynamic = np.array([world.entities[k - 1].body == "dynamic" for k in engine.body_ids], dtype=np.bool_)
    if not dynamic.any():
        return [skipped(name, "no dynamic body") for name in ("settled", "apart", "stays")]
    names = [world.entities[k - 1].name for k in engine.body_ids]
    states = _run(engine, SHOCK_SECONDS), _run(engine, SETTLE_SECONDS - SHOCK_SECONDS)
    free = (
        np.array([world.entities[k - 1].joint is None and not any(world.entities[k - 1].velocity) for k in engine.body_ids])
        & dynamic
    )
    return [
        _drift(start, states[1], free, names),
        _apart(world, start, states[0], free, names),
        _stays(world, states[1], dynamic, names),
    ]


def _run(engine: Engine, seconds: float) -> State:
    for _ in range(round(seconds * engine.tick_rate)):
        engine.tick(Control())
    return engine.state()


def _drift(start: State, end: State, free: NDArray[np.bool_], names: list[str]) -> Check:
    moved = np.where(free, np.linalg.norm(end.positions - start.positions, axis=-1), 0.0)
    far = moved > DRIFT_M
    share = float(far.sum() / max(1, free.sum()))
    worst = int(np.argmax(moved))
    told = f"{int(far.sum())} of {int(free.sum())} resting bodies move over {DRIFT_M} m in {SETTLE_SECONDS:g} s, most: {names[worst]!r} {moved[worst]:.3f} m"
    if share > DRIFT_SHARE:
        return failed(
            "settled", told, value=share, limit=DRIFT_SHARE, evidence={"drifting": [names[k] for k in np.flatnonzero(far)[:20]]}
        )
    return passed("settled", told)


def _apart(world: World, start: State, shocked: State, free: NDArray[np.bool_], names: list[str]) -> Check:
    """Bodies that were put into each other fly apart at once; gravity alone gives a known speed."""
    gravity = float(np.linalg.norm(world.gravity)) * SHOCK_SECONDS
    gain = np.where(free, np.linalg.norm(shocked.linear - start.linear, axis=-1), 0.0)
    rise = np.where(free, shocked.positions[:, 2] - start.positions[:, 2], 0.0)
    worst = int(np.argmax(np.maximum(gain - gravity, rise * 20)))
    excess = float(max(gain[worst] - gravity, rise[worst] * 20))
    if excess > SHOCK_SPEED:
        return failed("apart", f"{names[worst]!r} is pushed out of something at the start", value=excess, limit=SHOCK_SPEED)
    return passed("apart", f"nothing is pushed apart at the start (most: {max(excess, 0):.2f} m/s beyond gravity)")


def _stays(world: World, end: State, dynamic: NDArray[np.bool_], names: list[str]) -> Check:
    lower, upper = np.array(world.bounds.min), np.array(world.bounds.max)
    problems = []
    for k in np.flatnonzero(dynamic):
        place, speed = end.positions[k], float(np.linalg.norm(end.linear[k]))
        if not (np.isfinite(place).all() and np.all(place >= lower) and np.all(place <= upper)):
            problems.append(f"{names[k]!r} left the bounds: {_point(place)} after {SETTLE_SECONDS:g} s")
        elif not speed <= FASTEST:
            problems.append(f"{names[k]!r} moves at {speed:.1f} m/s after {SETTLE_SECONDS:g} s, the limit is {FASTEST}")
    return from_problems("stays", problems, f"{int(dynamic.sum())} dynamic bodies stay within the bounds, at sane speeds")


def _reachable(world: World, engine: Engine) -> Check:
    """Every goal can be walked to from the first character's spawn, on the grid that policies walk by."""
    if not world.goals:
        return skipped("reachable", "the world has no goals")
    start = next(spawn.position for spawn in world.spawns if spawn.name == world.characters[0].spawn)
    try:
        grid = NavigationGrid.build(engine, world, start)
    except WorldwrightError as error:
        return failed("reachable", error.line())
    problems = []
    for goal in world.goals:
        offset = grid.points - np.array(goal.position)
        level = np.abs(offset[:, 2]) < GOAL_DROP_M
        nearest = float(np.hypot(offset[level, 0], offset[level, 1]).min()) if level.any() else float("inf")
        if nearest > goal.radius + grid.cell:
            problems.append(
                f"goal {goal.name!r} at {_point(goal.position)} cannot be walked to: the way ends {nearest:.2f} m from it"
            )
    return from_problems(
        "reachable",
        problems,
        f"{counted(len(world.goals), 'goal')} can be walked to ({len(grid)} places can)",
        {"places": len(grid)},
    )


def _point(p: Any) -> str:
    return "(" + ", ".join(f"{float(x):.2f}" for x in p) + ")"
