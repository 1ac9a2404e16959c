"""Records a world being played: policy, engine and writer in one loop, in simulated time."""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from worldwright.controls import ACTION_NAMES, KEYS
from worldwright.engine.protocol import DEFAULT_TICK_RATE, Engine, State
from worldwright.engine.registry import make_engine
from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.outputs import FULL
from worldwright.record.inputs import tick_controls
from worldwright.record.navigation import NavigationGrid
from worldwright.record.policies import Policy, PolicyContext, make_policy
from worldwright.record.policies.replay import Replay
from worldwright.record.rates import check_rates
from worldwright.take.model import TakeHeader
from worldwright.take.schema import MAX_SECONDS
from worldwright.take.writer import TakeWriter
from worldwright.world.files import world_hash
from worldwright.world.spec import GltfCharacter, GltfModel, World

Progress = Callable[[int, int], None]

COLLECT_EVERY = 20_000
"""New objects between two searches for garbage while recording."""


@dataclass(frozen=True)
class RecordReport:
    """What was recorded, plain enough for JSON.

    Attributes:
        path: the take.
        state_hash: over all samples.
        frames: frames with an action.
        seconds: simulated seconds.
        wall_seconds: how long it took, loading and planning included.
        times_real_time: simulated seconds a second of the recording loop.
        cpu_seconds: CPU seconds by part: ``load``, ``plan`` (the policy's start), then of the loop ``physics`` (ticks), ``state`` (reading),
            ``policy``, ``writing``.
        shares: the loop's parts as shares of their sum.
        actions: for each key the share of the time in which it was held, and mouse counts summed up absolutely.
        distance_m: metres walked over ground.
        flags: for each flag the share of the frames in which it held.
        details: what the policy reports itself, if anything.
    """

    path: str
    state_hash: str
    frames: int
    seconds: float
    wall_seconds: float
    times_real_time: float
    cpu_seconds: Mapping[str, float]
    shares: Mapping[str, float]
    actions: Mapping[str, float]
    distance_m: float
    flags: Mapping[str, float]
    details: Mapping[str, Any]

    def line(self) -> str:
        """One line for people."""
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.shares.items())
        held = ", ".join(f"{name} {self.actions[name]:.0%}" for name in KEYS if self.actions[name] > 0)
        return (
            f"{self.path}: {self.frames} frames, {self.seconds:.2f} s, {self.distance_m:.1f} m walked, "
            f"{self.times_real_time:.1f} times real time ({shares}); keys: {held or 'none'}"
        )


class _Clock:
    """CPU seconds by part. The CPU's clock is slow to ask, so it is asked for the whole of a stage, and its answer is shared out among the
    stage's parts in proportion to the time that passed in them."""

    def __init__(self) -> None:
        self.seconds = {"load": 0.0, "plan": 0.0, "physics": 0.0, "state": 0.0, "policy": 0.0, "writing": 0.0}
        self._passed = dict.fromkeys(self.seconds, 0.0)
        self._last, self._cpu = time.perf_counter(), time.process_time()

    def lap(self, part: str) -> None:
        """The time since the last lap was this part's."""
        now = time.perf_counter()
        self._passed[part] += now - self._last
        self._last = now

    def settle(self) -> None:
        """A stage has ended: turn the time that passed in its parts into CPU time."""
        cpu = time.process_time()
        share = (cpu - self._cpu) / (sum(self._passed.values()) or 1.0)
        for part, passed in self._passed.items():
            self.seconds[part] += share * passed
            self._passed[part] = 0.0
        self._cpu = cpu


def asset_hashes(world: World, packs: Mapping[str, Path]) -> dict[str, str]:
    """``pack/path`` to the content hash, for every glTF file that the world names. The engine has loaded them: they are there."""
    geometries = (part.geometry for entity in world.entities for part in entity.parts)
    named = {(g.pack, g.path) for g in geometries if isinstance(g, GltfModel)}
    named |= {(c.look.pack, c.look.path) for c in world.characters if isinstance(c.look, GltfCharacter)}
    return {f"{pack}/{path}": hash_file(packs[pack] / path) for pack, path in sorted(named)}


def header_of(
    engine: Engine,
    world: World,
    packs: Mapping[str, Path],
    state: State,
    *,
    policy: str,
    params: Mapping[str, object],
    seed: int,
    rates: tuple[int, int, int],
    assets: bool = True,
) -> TakeHeader:
    """What a take says of itself, for an engine that has loaded ``world`` and its ``state`` at tick 0. ``rates``: ticks a second, a sample
    and a frame. ``assets``: hash the files that the world names; without it the header is for looking, not for writing."""
    return TakeHeader(
        world=world,
        world_hash=world_hash(world),
        assets=asset_hashes(world, packs) if assets else {},
        engine=engine.name,
        engine_version=engine.version,
        settings={key: str(value) for key, value in engine.snapshot().items()},
        policy=policy,
        policy_params=dict(params),
        seed=seed,
        tick_rate=rates[0],
        sample_ticks=rates[1],
        frame_ticks=rates[2],
        body_ids=tuple(engine.body_ids),
        character_ids=tuple(engine.character_ids),
        joint_counts=tuple(len(c.bones) for c in state.characters),
        rigs=tuple(state.cameras),
    )


def record(
    world: World,
    packs: Mapping[str, Path],
    out: Path,
    *,
    policy: str | Policy,
    policy_params: Mapping[str, Any] | None = None,
    seconds: float | None,
    seed: int = 0,
    engine: str | Engine = "panda",
    tick_rate: int = DEFAULT_TICK_RATE,
    frame_rate: int = 24,
    sample_rate: int = 120,
    progress: Progress | None = None,
) -> RecordReport:
    """Record a take. The same arguments give the same bytes.

    Args:
        world: the world.
        packs: the folder of each pack that it uses.
        out: the take to write; it appears when it is whole.
        policy: its name, or one made already.
        policy_params: its parameters.
        seconds: how long, rounded to whole frames. None is for ``replay``: as long as the take that it plays.
        seed: the policy's and the engine's only source of chance. ``replay`` uses that of the take that it plays.
        engine: its name, or a fresh one.
        tick_rate: physics steps a second.
        frame_rate: frames a second, a divisor of ``tick_rate``.
        sample_rate: states written a second, a divisor of ``tick_rate`` and a multiple of ``frame_rate``.
        progress: called with frames done and frames in all, a few times a second at most.

    Raises:
        WorldwrightError: rates that do not fit, an unknown policy or engine, a world that cannot be loaded or played, a full disk.
    """
    player = make_policy(policy, policy_params) if isinstance(policy, str) else policy
    frame_ticks, sample_ticks = check_rates(tick_rate, frame_rate, sample_rate)
    if isinstance(player, Replay):
        seed = player.engine_seed
        available = player.seconds(tick_rate)
        seconds = available if seconds is None else min(seconds, available)
    if seconds is None or not math.isfinite(seconds) or seconds > MAX_SECONDS or round(seconds * frame_rate) < 1:
        raise WorldwrightError(
            f"{seconds} seconds cannot be recorded", where="seconds", fix=f"choose from {1 / frame_rate:.3f} to {MAX_SECONDS}"
        )
    frames = round(seconds * frame_rate)
    start = time.perf_counter()
    clock = _Clock()
    runner = make_engine(engine) if isinstance(engine, str) else engine
    try:
        runner.load(world, packs, tick_rate=tick_rate, seed=seed)
        state = runner.state()
        header = header_of(
            runner,
            world,
            packs,
            state,
            policy=player.name,
            params=player.params,
            seed=seed,
            rates=(tick_rate, sample_ticks, frame_ticks),
        )
        clock.lap("load")
        clock.settle()
        context = PolicyContext(
            world=world,
            engine=runner,
            state=state,
            frames=frames,
            frame_ticks=frame_ticks,
            tick_rate=tick_rate,
            rng=np.random.default_rng(seed),
            navigation=lambda: NavigationGrid.build(runner, world, state.characters[0].position),
        )
        player.start(context)
        clock.lap("plan")
        clock.settle()
        loop_start = time.perf_counter()
        with _few_collections():
            writer = _play(runner, player, out, header, state, frames, clock, progress)
        loop_seconds = time.perf_counter() - loop_start
    finally:
        runner.close()
    loop = {part: clock.seconds[part] for part in ("physics", "state", "policy", "writing")}
    total = sum(loop.values()) or 1.0
    return RecordReport(
        path=str(out),
        state_hash=writer.state_hash,
        frames=frames,
        seconds=frames / frame_rate,
        wall_seconds=time.perf_counter() - start,
        times_real_time=frames / frame_rate / max(loop_seconds, 1e-9),
        cpu_seconds=dict(clock.seconds),
        shares={part: value / total for part, value in loop.items()},
        actions={
            name: value / (frames if name in KEYS else 1) for name, value in zip(ACTION_NAMES, writer.totals.issued, strict=True)
        },
        distance_m=writer.totals.distance,
        flags={(flag.name or "").lower(): count / frames for flag, count in writer.totals.flags.items()},
        details=dict(player.report()),
    )


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Python's search for cycles of garbage costs as much as the policy if it goes through the loaded world, the assets and all modules
    again and again. What is there now is left out of it until the end; what a policy or an engine adds is still looked after."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _play(
    engine: Engine,
    policy: Policy,
    out: Path,
    header: TakeHeader,
    state: State,
    frames: int,
    clock: _Clock,
    progress: Progress | None,
) -> TakeWriter:
    """The loop. What goes wrong with the file is told in one line; what was recorded until then stays as ``.NAME.part``."""
    every = max(1, round(header.frame_rate / 4))
    writer: TakeWriter | None = None
    try:
        writer = TakeWriter(out, header)
        writer.sample(state)
        tick = 0
        clock.lap("writing")
        for frame in range(frames):
            action = policy.act(frame, state)
            controls = tick_controls(action, header.frame_ticks)
            clock.lap("policy")
            writer.frame(action.intent)
            for first in range(0, header.frame_ticks, header.sample_ticks):
                stretch = controls[first : first + header.sample_ticks]
                for k, control in enumerate(stretch):
                    writer.input(tick + k, control)
                clock.lap("writing")
                for control in stretch:
                    engine.tick(control)
                clock.lap("physics")
                tick += header.sample_ticks
                state = engine.state()
                clock.lap("state")
                writer.sample(state)
                clock.lap("writing")
            if progress is not None and ((frame + 1) % every == 0 or frame + 1 == frames):
                progress(frame + 1, frames)
        for name, data in engine.attachments().items():
            writer.attach(name, data)
        writer.close()
        clock.lap("writing")
        clock.settle()
        return writer
    except OSError as error:
        part = writer.abort() if writer is not None else None
        reason = "the disk is full" if error.errno in FULL else f"cannot be written ({error.strerror or error})"
        kept = f"; what was recorded so far is in {part}: read it with --partial" if part else ""
        remedy = "make room, then record it again" if error.errno in FULL else "name another file"
        raise WorldwrightError(reason, where=str(out), fix=f"{remedy}{kept}") from error
    except BaseException:
        if writer is not None:
            writer.abort()
        raise
