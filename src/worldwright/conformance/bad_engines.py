"""Engines that are wrong in one way each: what every case must catch. They wrap a good one, so that nothing else is wrong."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import Control
from worldwright.engine.protocol import DEFAULT_TICK_RATE, CharacterState, Engine, RayHits, State, SweepHit
from worldwright.transforms import invert_rigid
from worldwright.world.spec import World

F64 = NDArray[np.float64]


class Wrapped:
    """An engine with what goes in and what comes out changed."""

    def __init__(self, good: Engine) -> None:
        self.good = good
        self.name, self.version, self.tick_rate = good.name, good.version, good.tick_rate
        self.body_ids: tuple[int, ...] = ()
        self.character_ids: tuple[int, ...] = ()

    def sample_world(self) -> World | None:
        """A world to try it in."""
        return self.good.sample_world()

    def load(self, world: World, packs: Mapping[str, Path], *, tick_rate: int = DEFAULT_TICK_RATE, seed: int = 0) -> None:
        """Build the world at tick 0."""
        self.good.load(world, packs, tick_rate=tick_rate, seed=seed)
        self.tick_rate, self.body_ids, self.character_ids = self.good.tick_rate, self.good.body_ids, self.good.character_ids

    def reset(self) -> None:
        """Back to tick 0."""
        self.good.reset()

    def tick(self, control: Control) -> None:
        """Advance one tick."""
        self.good.tick(control)

    def state(self) -> State:
        """The state after the last tick."""
        return self.good.state()

    def cast_rays(self, origins: F64, directions: F64, max_distance: float, *, ignore: Sequence[int] = ()) -> RayHits:
        """First hits of rays."""
        return self.good.cast_rays(origins, directions, max_distance, ignore=ignore)

    def sweep_sphere(self, radius: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move a sphere."""
        return self.good.sweep_sphere(radius, start, end, ignore=ignore)

    def sweep_capsule(self, radius: float, height: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move a capsule."""
        return self.good.sweep_capsule(radius, height, start, end, ignore=ignore)

    def attachments(self) -> Mapping[str, bytes]:
        """The engine's own files."""
        return self.good.attachments()

    def snapshot(self) -> dict[str, Any]:
        """Versions and settings."""
        return self.good.snapshot()

    def close(self) -> None:
        """Free everything."""
        self.good.close()


def plain(state: State, **changes: Any) -> State:
    """A state as plain values, some of them changed."""
    names = ("tick", "positions", "rotations", "linear", "angular", "characters", "contacts", "events", "cameras")
    return State(**({name: getattr(state, name) for name in names} | changes))


def plain_character(c: CharacterState, **changes: Any) -> CharacterState:
    """The same of a character."""
    names = ("id", "position", "yaw", "pitch", "velocity", "flags", "clip", "clip_time", "ground", "bones")
    return CharacterState(**({name: getattr(c, name) for name in names} | changes))


def _placed(state: State, move: Callable[[F64], F64], **more: Any) -> State:
    """The state with every point moved."""

    def point(p: Sequence[float] | F64) -> tuple[float, float, float]:
        x, y, z = move(np.asarray(p, dtype=np.float64)).tolist()
        return (x, y, z)

    people = tuple(
        plain_character(c, position=point(c.position), velocity=point(c.velocity), **{k: v(c) for k, v in more.items()})
        for c in state.characters
    )
    cameras = {}
    for rig, c2w in state.cameras.items():
        out = c2w.copy()
        out[:3, 3] = point(c2w[:3, 3])
        cameras[rig] = out
    moved = {name: move(getattr(state, name).astype(np.float64)).astype(np.float32) for name in ("positions", "linear")}
    return plain(state, characters=people, cameras=cameras, **moved)


class LeftHanded(Wrapped):
    """Reports places in left-handed axes."""

    def state(self) -> State:
        return _placed(self.good.state(), lambda p: p * [1.0, -1.0, 1.0])


class YUp(Wrapped):
    """Reports Y as up."""

    def state(self) -> State:
        return _placed(self.good.state(), lambda p: p[..., [0, 2, 1]])


class Centimetres(Wrapped):
    """Reports places in centimetres."""

    def state(self) -> State:
        return _placed(self.good.state(), lambda p: p * 100.0)


class Degrees(Wrapped):
    """Reports yaw in degrees."""

    def state(self) -> State:
        return _placed(self.good.state(), lambda p: p, yaw=lambda c: math.degrees(c.yaw))


class Inverted(Wrapped):
    """Gives world-to-camera for c2w."""

    def state(self) -> State:
        state = self.good.state()
        return plain(state, cameras={rig: invert_rigid(c2w) for rig, c2w in state.cameras.items()})


class YUpCamera(Wrapped):
    """Gives OpenGL's cameras, y up and looking along -z."""

    def state(self) -> State:
        state = self.good.state()
        return plain(state, cameras={rig: c2w @ np.diag([1.0, -1, -1, 1]) for rig, c2w in state.cameras.items()})


class TickLate(Wrapped):
    """Acts on each input a tick later."""

    def load(self, world: World, packs: Mapping[str, Path], *, tick_rate: int = DEFAULT_TICK_RATE, seed: int = 0) -> None:
        super().load(world, packs, tick_rate=tick_rate, seed=seed)
        self._waiting = Control()

    def tick(self, control: Control) -> None:
        self._waiting, now = control, self._waiting
        self.good.tick(now)


class MirroredKeys(Wrapped):
    """Takes left for right."""

    def tick(self, control: Control) -> None:
        keys = control.keys & ~12 | (control.keys & 4) << 1 | (control.keys & 8) >> 1
        self.good.tick(replace(control, keys=keys))


class TwoSteps(Wrapped):
    """Makes two ticks of one call."""

    def tick(self, control: Control) -> None:
        self.good.tick(control)
        self.good.tick(control)


class Chance(Wrapped):
    """Adds chance of its own."""

    def state(self) -> State:
        noise = int.from_bytes(os.urandom(2), "big") * 1e-12
        return _placed(self.good.state(), lambda p: p + noise)


class NotQuiteReset(Wrapped):
    """Keeps something over a reset."""

    def load(self, world: World, packs: Mapping[str, Path], *, tick_rate: int = DEFAULT_TICK_RATE, seed: int = 0) -> None:
        super().load(world, packs, tick_rate=tick_rate, seed=seed)
        self._resets = 0

    def reset(self) -> None:
        super().reset()
        self._resets += 1

    def state(self) -> State:
        return _placed(self.good.state(), lambda p: p + 1e-6 * self._resets)


class Leaking(Wrapped):
    """Keeps something of every tick for ever."""

    def __init__(self, good: Engine) -> None:
        super().__init__(good)
        self._kept: list[bytearray] = []

    def tick(self, control: Control) -> None:
        self._kept.append(bytearray(b"\1" * 8192))
        self.good.tick(control)


class StillVelocities(Wrapped):
    """Leaves velocities out."""

    def state(self) -> State:
        state = self.good.state()
        people = tuple(plain_character(c, velocity=(0.0, 0.0, 0.0)) for c in state.characters)
        return plain(state, characters=people, linear=np.zeros_like(state.linear))


class LongRays(Wrapped):
    """Measures rays in another unit than places."""

    def cast_rays(self, origins: F64, directions: F64, max_distance: float, *, ignore: Sequence[int] = ()) -> RayHits:
        hits = super().cast_rays(origins, directions, max_distance, ignore=ignore)
        return replace(hits, distance=hits.distance * 1.05)


class ShortSweeps(Wrapped):
    """Sweeps the middle of a shape, not its surface."""

    def sweep_sphere(self, radius: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        return super().sweep_sphere(1e-3, start, end, ignore=ignore)


class HalfGravity(Wrapped):
    """Reports a fall at half its length."""

    def state(self) -> State:
        state = self.good.state()
        start = getattr(self, "_start", None)
        if start is None or state.tick == 0:
            self._start = start = state.positions.copy()
        return plain(state, positions=(start + (state.positions - start) * np.float32(0.5)), linear=state.linear * np.float32(0.5))


class Nameless(Wrapped):
    """Does not say by which settings it runs."""

    def snapshot(self) -> dict[str, Any]:
        return {}


BAD_ENGINES: dict[str, tuple[Callable[[Engine], Engine], str]] = {
    "left-handed axes": (LeftHanded, "spawn"),
    "y up": (YUp, "spawn"),
    "centimetres": (Centimetres, "spawn"),
    "degrees": (Degrees, "spawn"),
    "camera-to-world inverted": (Inverted, "camera"),
    "cameras of OpenGL": (YUpCamera, "camera"),
    "one tick late": (TickLate, "turn"),
    "left for right": (MirroredKeys, "walk"),
    "two steps a tick": (TwoSteps, "fixed_ticks"),
    "chance": (Chance, "deterministic"),
    "a reset that keeps something": (NotQuiteReset, "reset"),
    "a leak": (Leaking, "long_run"),
    "no velocities": (StillVelocities, "state"),
    "rays in another unit": (LongRays, "rays"),
    "sweeps without a radius": (ShortSweeps, "sweeps"),
    "half a fall": (HalfGravity, "fall"),
    "no settings": (Nameless, "snapshot"),
}
"""What is wrong: how to make it so, and the case that must fail."""
