"""What every engine must do, found out by playing it: in the arena, or in a world of its own where it can run no other."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.conformance.case import Case
from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Control
from worldwright.engine.probe import GeometryProbe
from worldwright.engine.protocol import Engine, State
from worldwright.ids import canonical_json
from worldwright.transforms import invert_rigid
from worldwright.verify.measure import failed, passed, skipped
from worldwright.verify.verdict import Check
from worldwright.world.spec import World

F64 = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
CHEST = 1.0 * UP
"""Where rays start, from the feet."""
SOME_TICKS = 240
LONG_TICKS, WARM_TICKS = 10_000, 2_000
LEAK_MB = 24.0
RAYS = 400
RAY_SHARE = 0.99
RAY_M, RAY_REACH = 0.01, 40.0
STAND_M = 0.06
EYE_LOW, EYE_HIGH = 0.3, 3.0
"""Metres from the feet to a first-person camera."""
TURN_COUNTS, TURN_ERROR = 120, 0.01
ROOM_M = 2.0
"""Way that must be free for a walk to be judged, and a second's walk that it is compared with."""
WAY_DEG = 12.0
SLOWEST, FASTEST = 0.3, 20.0
"""Metres a second of somebody who walks or runs."""
FALL_SECONDS, GRAVITY_SHARE = 0.4, 0.05


@dataclass(frozen=True)
class EngineSubject:
    """An engine to try: how to make one, and what it is to run. ``command`` prints ``digest`` of a fresh one in another process."""

    name: str
    make: Callable[[], Engine]
    world: World
    packs: Mapping[str, Path]
    tick_rate: int
    command: tuple[str, ...] = ()

    @contextlib.contextmanager
    def play(self, seed: int = 0) -> Iterator[Engine]:
        """A fresh engine with the world loaded."""
        engine = self.make()
        try:
            engine.load(self.world, self.packs, tick_rate=self.tick_rate, seed=seed)
            yield engine
        finally:
            engine.close()

    @cached_property
    def geometry(self) -> SceneGeometry:
        """The world's shapes, by our own reading of the document."""
        return build_scene(self.world, self.packs, images=False)

    def controls(self, ticks: int, seed: int = 1) -> Iterator[Control]:
        """Somebody who changes his mind four times a second."""
        rng = np.random.default_rng(seed)
        keys, dx = 0, 0
        for tick in range(ticks):
            if tick % max(self.tick_rate // 4, 1) == 0:
                # Not ``use``: what it does is the game's own affair, and may end it.
                keys, dx = int(rng.integers(0, 128)), int(rng.integers(-8, 9))
            yield Control(keys, dx, 0)


def fingerprint(state: State) -> bytes:
    """Every number of a state, exactly."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(str(state.tick).encode())
    for array in (state.positions, state.rotations, state.linear, state.angular, state.contacts):
        digest.update(np.ascontiguousarray(array).tobytes())
    for c in state.characters:
        values = (c.id, *c.position, c.yaw, c.pitch, *c.velocity, c.flags, c.clip, c.clip_time, c.ground)
        digest.update(repr(values).encode() + np.ascontiguousarray(c.bones).tobytes())
    digest.update(repr([(e.tick, e.kind, e.entity, e.other, e.value) for e in state.events]).encode())
    for name in sorted(state.cameras):
        digest.update(name.encode() + np.ascontiguousarray(state.cameras[name], dtype=np.float64).tobytes())
    return digest.digest()


def run_digest(engine: Engine, controls: Iterator[Control]) -> str:
    """The fingerprint of every state of a run."""
    digest = hashlib.blake2b(fingerprint(engine.state()), digest_size=16)
    for control in controls:
        engine.tick(control)
        digest.update(fingerprint(engine.state()))
    return digest.hexdigest()


# --- the cases ---------------------------------------------------------------------------------------------------------------


def _ticks(subject: EngineSubject) -> Check:
    name = "fixed_ticks"
    with subject.play() as engine:
        if (found := engine.state().tick) != 0:
            return failed(name, f"a loaded world is at tick {found}", value=found, limit=0)
        if engine.tick_rate != subject.tick_rate:
            return failed(name, f"{engine.tick_rate} ticks a second, asked for {subject.tick_rate}", value=engine.tick_rate)
        for count in range(1, SOME_TICKS + 1):
            engine.tick(Control())
            if (found := engine.state().tick) != count:
                return failed(name, f"tick {found} after {count} calls of tick", value=found, limit=count)
    return passed(name, f"{SOME_TICKS} calls are {SOME_TICKS} ticks")


def _deterministic(subject: EngineSubject) -> Check:
    name = "deterministic"
    found = []
    for _ in range(2):
        with subject.play() as engine:
            found.append(run_digest(engine, subject.controls(SOME_TICKS)))
    if found[0] != found[1]:
        return failed(name, f"two runs of the same inputs differ: {found[0][:8]} and {found[1][:8]}")
    if not subject.command:
        return passed(name, "two runs in one process are the same")
    done = subprocess.run([sys.executable, *subject.command], capture_output=True, text=True, check=False)
    there = done.stdout.split()[-1] if done.stdout.split() else ""
    if done.returncode or there != found[0]:
        last = (done.stderr.strip().splitlines() or [""])[-1][:200]
        return failed(name, f"another process gives {there[:8] or 'nothing'}, this one {found[0][:8]} {last}".strip())
    return passed(name, f"the same bytes in {SOME_TICKS} ticks, twice here and once in another process")


def _reset(subject: EngineSubject) -> Check:
    name = "reset"
    with subject.play() as engine:
        first = run_digest(engine, subject.controls(SOME_TICKS // 2))
        engine.reset()
        # The first state is part of the run: reading it takes the events of tick 0 with it.
        again = run_digest(engine, subject.controls(SOME_TICKS // 2))
    if first != again:
        return failed(name, f"after reset the run is {again[:8]}, first it was {first[:8]}")
    return passed(name, "after reset the same inputs give the same bytes")


def _state(subject: EngineSubject) -> Check:
    """Everything is there, finite, in the right shapes; velocities are those by which positions change; cameras ride with the player."""
    name = "state"
    with subject.play() as engine:
        entities, people = len(subject.world.entities), tuple(engine.character_ids)
        ids = tuple(engine.body_ids)
        if list(ids) != sorted(set(ids)) or any(not 1 <= i <= entities for i in ids):
            return failed(name, f"body ids {list(ids)[:8]} are not ascending ids of the world's entities")
        if people != tuple(subject.world.character_id(k) for k in range(len(subject.world.characters))):
            return failed(name, f"character ids {list(people)}, the world's are from {subject.world.character_id(0)}")
        before: State | None = None
        drift: list[float] = []
        for control in subject.controls(SOME_TICKS):
            engine.tick(control)
            state = engine.state()
            if problem := _wrong(state, len(ids), people, entities):
                return failed(name, problem, frame=state.tick)
            if before is not None:
                c, b = state.characters[0], before.characters[0]
                moved = (np.array(c.position) - b.position) * subject.tick_rate
                drift.append(float(np.linalg.norm(moved - c.velocity)))
                if ids:
                    step = (state.positions.astype(np.float64) - before.positions) * subject.tick_rate
                    drift.append(float(np.median(np.linalg.norm(step - state.linear, axis=-1))))
            before = state
        off = float(np.median(drift)) if drift else 0.0
        if off > 0.2:
            return failed(name, f"positions change by {off:.2f} m/s otherwise than the velocities say", value=off, limit=0.2)
    return passed(
        name, f"{len(ids)} bodies, {len(people)} characters, rigs {', '.join(state.cameras)}; velocities fit to {off:.3f} m/s"
    )


def _wrong(state: State, bodies: int, people: tuple[int, ...], entities: int) -> str:
    """What is wrong with a state, or ""."""
    for what, array, shape in (
        ("positions", state.positions, (bodies, 3)),
        ("rotations", state.rotations, (bodies, 4)),
        ("linear", state.linear, (bodies, 3)),
        ("angular", state.angular, (bodies, 3)),
    ):
        if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            return f"{what} is {array.dtype} {list(array.shape)}, expected finite float32 {list(shape)}"
    if bodies and np.abs(np.linalg.norm(state.rotations, axis=-1) - 1).max() > 1e-3:
        return "a rotation is no unit quaternion"
    if tuple(c.id for c in state.characters) != people:
        return f"characters {[c.id for c in state.characters]}, declared are {list(people)}"
    for c in state.characters:
        numbers = (*c.position, c.yaw, c.pitch, *c.velocity, c.clip_time)
        if not np.isfinite(numbers).all() or not np.isfinite(c.bones).all() or c.bones.shape[1:] != (8,):
            return f"character {c.id} has a number that is none, or bones {list(c.bones.shape)}"
    contacts = state.contacts
    if contacts.shape[1:] != (2,) or (len(contacts) and (contacts[:, 0] >= contacts[:, 1]).any()):
        return "contacts are not pairs with the smaller id first"
    if not state.cameras:
        return "no camera rides with the player"
    for rig, c2w in state.cameras.items():
        if c2w.shape != (4, 4) or np.abs(c2w @ invert_rigid(c2w) - np.eye(4)).max() > 1e-4 or np.linalg.det(c2w[:3, :3]) < 0.9:
            return f"the camera of rig {rig!r} is no rigid right-handed c2w"
    for event in state.events:
        if not event.kind or event.tick > state.tick or not 0 <= event.entity <= max(people):
            return f"event {event.kind!r} of tick {event.tick}, entity {event.entity} at tick {state.tick}"
    return ""


def _camera(subject: EngineSubject) -> Check:
    """The first-person camera is in the head, looks where the player does, and its y axis points down."""
    name = "camera"
    with subject.play() as engine:
        for control in subject.controls(SOME_TICKS // 2, seed=2):
            engine.tick(control)
        state = engine.state()
    player = state.characters[0]
    if "first" not in state.cameras:
        return skipped(name, "no rig named first")
    c2w = state.cameras["first"]
    above = c2w[:3, 3] - player.position
    if not (EYE_LOW < above[2] < EYE_HIGH and np.hypot(*above[:2]) < 0.5):
        return failed(name, f"the eye is at {np.round(above, 2).tolist()} m from the feet: another unit, axis or direction of c2w")
    forward = c2w[:3, 2]
    yaw = math.atan2(forward[1], forward[0])
    off = abs((yaw - player.yaw + math.pi) % (2 * math.pi) - math.pi)
    if off > 0.02:
        return failed(name, f"it looks {math.degrees(off):.1f} degrees beside the player's yaw", value=math.degrees(off), limit=1.0)
    if abs(math.asin(np.clip(forward[2], -1, 1)) - player.pitch) > 0.02:
        return failed(name, f"it looks up by {math.asin(forward[2]):.3f} rad, the player's pitch is {player.pitch:.3f}")
    if c2w[2, 1] >= 0:
        return failed(name, "its y axis points up: cameras are OpenCV's, y down")
    return passed(name, f"{above[2]:.2f} m above the feet, along the look")


def _spawn(subject: EngineSubject) -> Check:
    name = "spawn"
    spawns = {s.name: s for s in subject.world.spawns}
    with subject.play() as engine:
        state = engine.state()
    for spec, c in zip(subject.world.characters, state.characters, strict=True):
        spawn = spawns[spec.spawn]
        off = float(np.linalg.norm(np.array(c.position) - spawn.position))
        turned = abs((c.yaw - spawn.yaw + math.pi) % (2 * math.pi) - math.pi)
        if off > STAND_M or turned > 0.02:
            return failed(
                name,
                f"character {c.id} starts {off:.3f} m and {math.degrees(turned):.1f} degrees from spawn {spawn.name!r} at {spawn.position}, "
                f"yaw {spawn.yaw:.3f}",
                value=off,
                limit=STAND_M,
            )
    return passed(name, f"all start where the world says, within {STAND_M} m")


def _turn(subject: EngineSubject) -> Check:
    """The mouse's counts turn the look in the very tick in which they arrive, to the right and down."""
    name = "turn"
    with subject.play() as engine:
        for _ in range(3):
            engine.tick(Control())
        at = [engine.state().characters[0]]
        for dx, dy in ((0, 0), (TURN_COUNTS, 0), (0, 0), (-TURN_COUNTS, TURN_COUNTS), (0, 0)):
            engine.tick(Control(0, dx, dy))
            at.append(engine.state().characters[0])
    turns = [(b.yaw - a.yaw + math.pi) % (2 * math.pi) - math.pi for a, b in pairwise(at)]
    full = TURN_COUNTS * MOUSE_RADIANS
    for k, (found, expected) in enumerate(zip(turns, (0.0, -full, 0.0, full, 0.0), strict=True)):
        if abs(found - expected) > TURN_ERROR:
            late = k and abs(found - (0.0, -full, 0.0, full, 0.0)[k - 1]) <= TURN_ERROR
            hint = ": that belongs to the tick before" if late else ""
            return failed(
                name,
                f"tick {k} turns by {found:.4f} rad, its mouse says {expected:.4f}{hint}",
                frame=k,
                value=found,
                limit=expected,
            )
    down = at[4].pitch - at[3].pitch
    if down > TURN_ERROR:
        return failed(name, f"the mouse down raises the look by {down:.4f} rad", value=down, limit=0.0)
    return passed(name, f"{TURN_COUNTS} counts turn by {full} rad, in their own tick")


def _walk(subject: EngineSubject) -> Check:
    """Keys move the player along its own axes, at a person's speed, and not before they are pressed."""
    name = "walk"
    judged: list[str] = []
    for key, beside in (("forward", 0.0), ("back", math.pi), ("left", math.pi / 2), ("right", -math.pi / 2)):
        with subject.play() as engine:
            for _ in range(subject.tick_rate // 4):
                engine.tick(Control())
            start = engine.state().characters[0]
            heading = start.yaw + beside
            way = np.array([math.cos(heading), math.sin(heading), 0.0])
            chest = np.array(start.position) + CHEST
            hits = engine.cast_rays(chest[None], way[None], ROOM_M, ignore=[start.id])
            if np.isfinite(hits.distance[0]):
                continue
            still = np.linalg.norm(start.velocity)
            for tick in range(subject.tick_rate // 2):
                engine.tick(Control(KEY_BITS[key]))
                if tick == 0:
                    first = engine.state().characters[0]
            end = engine.state().characters[0]
        step = np.array(end.position) - start.position
        went = float(np.hypot(*step[:2]))
        speed = went / (subject.tick_rate // 2) * subject.tick_rate
        if still > 0.1:
            return failed(name, f"the player moves at {still:.2f} m/s with no key held", value=float(still), limit=0.1)
        if not SLOWEST <= speed <= FASTEST:
            return failed(
                name, f"{key}: {speed:.3f} m/s on free ground, people go {SLOWEST} to {FASTEST}: another unit?", value=speed
            )
        off = math.degrees(math.acos(float(np.clip(step[:2] @ way[:2] / went, -1, 1))))
        if off > WAY_DEG:
            return failed(
                name,
                f"{key} moves {off:.0f} degrees beside the player's own direction: mirrored or turned axes",
                value=off,
                limit=WAY_DEG,
            )
        if not np.linalg.norm(np.array(first.velocity)[:2]) > 0:
            return failed(name, f"{key} has no effect in its first tick: a tick late")
        judged.append(f"{key} {speed:.2f} m/s")
    return passed(name, ", ".join(judged)) if judged else skipped(name, "no direction is free for two metres at the spawn")


def _fall(subject: EngineSubject) -> Check:
    """A free body falls along the world's gravity by g t^2 / 2."""
    name = "fall"
    with subject.play() as engine:
        start = engine.state()
        ids = list(engine.body_ids)
        free = [k for k, id in enumerate(ids) if _is_free(subject, engine, id)]
        if not free:
            return skipped(name, "no body is free to fall in the engine's world")
        ticks = round(FALL_SECONDS * subject.tick_rate)
        for _ in range(ticks):
            engine.tick(Control())
        end = engine.state()
    k = free[0]
    fell = (end.positions[k] - start.positions[k]).astype(np.float64)
    expected = 0.5 * np.array(subject.world.gravity) * (ticks / subject.tick_rate) ** 2
    off = float(np.linalg.norm(fell - expected) / np.linalg.norm(expected))
    if off > GRAVITY_SHARE:
        return failed(
            name,
            f"entity {ids[k]} moves {np.round(fell, 3).tolist()} m in {FALL_SECONDS} s, free fall is {np.round(expected, 3).tolist()}",
            value=off,
            limit=GRAVITY_SHARE,
        )
    return passed(name, f"{np.linalg.norm(fell):.3f} m in {FALL_SECONDS} s, {off:.1%} off g t^2 / 2")


def _is_free(subject: EngineSubject, engine: Engine, id: int) -> bool:
    entity = subject.world.entities[id - 1]
    if entity.body != "dynamic" or entity.joint is not None:
        return False
    down = engine.cast_rays(np.array([entity.position]), np.array([[0.0, 0, -1]]), RAY_REACH, ignore=[id])
    return bool(down.distance[0] > 1.5)


def _rays(subject: EngineSubject) -> Check:
    """The engine's rays against our own rays at the world's shapes, where the engine says that these are."""
    name = "rays"
    touched = SceneGeometry(subject.geometry.collision, subject.geometry.collision, {}, {})
    with subject.play() as engine:
        probe = GeometryProbe(touched, subject.world, tuple(engine.body_ids))
        for control in subject.controls(subject.tick_rate // 2, seed=3):
            engine.tick(control)
        state = engine.state()
        probe.set_poses(state.positions, state.rotations)
        player = state.characters[0]
        eye = np.array(player.position) + CHEST
        rng = np.random.default_rng(0)
        directions = rng.normal(size=(RAYS, 3))
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        origins = np.broadcast_to(eye, directions.shape)
        hits = engine.cast_rays(origins, directions, RAY_REACH, ignore=[c.id for c in state.characters])
        truth = probe.cast_rays(origins, directions, RAY_REACH)
    both = np.isfinite(hits.distance) & np.isfinite(truth.distance)
    apart = np.abs(np.subtract(hits.distance, truth.distance, where=both, out=np.zeros(len(both))))
    same = (both & (apart < RAY_M) & (hits.entity == truth.entity)) | (~np.isfinite(hits.distance) & ~np.isfinite(truth.distance))
    share = float(same.mean())
    if share < RAY_SHARE or not both.any():
        k = int(np.flatnonzero(~same)[0]) if not same.all() else 0
        return failed(
            name,
            f"{share:.1%} of {RAYS} rays agree; such as {hits.distance[k]:.3f} m to entity {hits.entity[k]}, the world's shapes say "
            f"{truth.distance[k]:.3f} m to {truth.entity[k]}",
            value=share,
            limit=RAY_SHARE,
        )
    unit = np.abs(np.linalg.norm(hits.normal[both], axis=-1) - 1)
    facing = np.einsum("ni,ni->n", hits.normal[both], directions[both])
    if unit.max() > 1e-3 or (facing > 1e-6).any():
        return failed(name, "a normal is not unit or points along the ray", value=float(max(unit.max(), facing.max())))
    return passed(name, f"{share:.1%} of {RAYS} rays agree within {RAY_M} m and in the entity")


def _sweeps(subject: EngineSubject) -> Check:
    """A ball moved down from the player's chest touches the ground where a ray says that it is."""
    name = "sweeps"
    radius = 0.1
    with subject.play() as engine:
        for _ in range(subject.tick_rate // 4):
            engine.tick(Control())
        player = engine.state().characters[0]
        start = np.array(player.position) + CHEST
        end = start - 3.0 * UP
        down = engine.cast_rays(start[None], np.array([[0.0, 0, -1]]), 3.0, ignore=[player.id])
        for what, hit, reach in (
            ("sphere", engine.sweep_sphere(radius, start, end, ignore=[player.id]), radius),
            ("capsule", engine.sweep_capsule(radius, 0.6, start, end, ignore=[player.id]), 0.3),
        ):
            gone, expected = hit.fraction * 3.0, float(down.distance[0]) - reach
            if not abs(gone - expected) < 0.05:
                return failed(
                    name, f"a {what} goes {gone:.3f} m down, the ground leaves it {expected:.3f} m", value=gone, limit=expected
                )
            if hit.normal[2] < 0.7 or hit.entity == 0:
                return failed(name, f"a {what} touches entity {hit.entity} with normal {hit.normal}: the ground's looks up")
    return passed(name, "sphere and capsule stop where the ray says that the ground is")


def _long(subject: EngineSubject) -> Check:
    """Ten thousand ticks: nothing leaks, nothing blows up."""
    name = "long_run"
    process = psutil.Process()

    def memory() -> float:
        with contextlib.suppress(AttributeError):  # glibc: what was freed before must not hide what is taken now
            ctypes.CDLL(None).malloc_trim(0)
        # An engine may be a process of its own.
        return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)) if p.is_running()) / 1e6

    with subject.play() as engine:
        warm = 0.0
        for count, control in enumerate(subject.controls(LONG_TICKS, seed=4), start=1):
            engine.tick(control)
            if count % 4 == 0:
                state = engine.state()
            if count == WARM_TICKS:
                warm = memory()
        grown = memory() - warm
        last = engine.state()
    if last.tick != LONG_TICKS:
        return failed(name, f"tick {last.tick} after {LONG_TICKS}", value=last.tick, limit=LONG_TICKS)
    if not np.isfinite(state.positions).all() or not np.isfinite(last.characters[0].position).all():
        return failed(name, "a number has blown up")
    if grown > LEAK_MB:
        return failed(name, f"memory grew by {grown:.1f} MB from tick {WARM_TICKS} to {LONG_TICKS}", value=grown, limit=LEAK_MB)
    return passed(name, f"{LONG_TICKS:,} ticks; memory grew by {max(grown, 0):.1f} MB after the first {WARM_TICKS:,}")


def _snapshot(subject: EngineSubject) -> Check:
    name = "snapshot"
    with subject.play() as engine:
        settings = engine.snapshot()
        try:
            canonical_json({key: str(value) for key, value in settings.items()})
        except (TypeError, ValueError) as error:
            return failed(name, f"cannot be written into a take: {error}")
        attached = engine.attachments()
    if not settings or not engine.name or not engine.version:
        return failed(name, "an engine names itself, its version and the settings that reproduce a run")
    odd = [key for key, data in attached.items() if not isinstance(data, bytes)]
    return (
        failed(name, f"attachment {odd[0]!r} is not bytes")
        if odd
        else passed(name, f"{len(settings)} settings, {len(attached)} attachments")
    )


ENGINE_CASES: tuple[Case[EngineSubject], ...] = (
    Case("fixed_ticks", "every call of tick is one tick", _ticks),
    Case("spawn", "characters start where the world says", _spawn),
    Case("state", "states are whole, finite, in the declared shapes and units", _state),
    Case("camera", "the first-person camera is an OpenCV camera in the head", _camera),
    Case("turn", "the mouse turns the look in its own tick", _turn),
    Case("walk", "keys move the player along its own axes at a person's speed", _walk),
    Case("fall", "free bodies fall along the world's gravity in metres and seconds", _fall),
    Case("rays", "rays meet the world's shapes where they are", _rays),
    Case("sweeps", "swept shapes stop where rays say", _sweeps),
    Case("deterministic", "the same inputs give the same bytes, in any process", _deterministic),
    Case("reset", "reset goes back to the very start", _reset),
    Case("snapshot", "it names itself and its settings", _snapshot),
    Case("long_run", "ten thousand ticks without leak", _long),
)
