"""Plays a take's inputs again in its engine: same world, seed and inputs must give the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldwright.engine.protocol import Engine
from worldwright.engine.registry import make_engine
from worldwright.take import take_pb2 as pb
from worldwright.take.codec import SampleEncoder
from worldwright.take.model import TakeHeader
from worldwright.take.reader import Take


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Whether the take came out again. If not: the first sample that differs, what in it (the body or character and the field), and
    both values. ``samples`` were compared; ``state_hash`` is over the replayed ones (all of them only when ``equal``)."""

    equal: bool
    samples: int
    state_hash: str
    tick: int | None = None
    what: str = ""
    expected: str = ""
    got: str = ""


def replay(take: Take, packs: Mapping[str, Path], *, engine: Engine | None = None, all_samples: bool = False) -> ReplayResult:
    """Play the take's inputs again and compare the samples, byte by byte.

    Args:
        take: the take; a partial one is compared as far as it goes.
        packs: folders of the asset packs that its world uses.
        engine: a fresh engine to use instead of a new one of the take's name.
        all_samples: play to the end also after the first difference (for the whole ``state_hash``).

    Raises:
        WorldwrightError: no such engine, or it cannot load the world.
    """
    header = take.header
    player = engine or make_engine(header.engine)
    encoder = SampleEncoder(header)
    digest = hashlib.blake2b(digest_size=16)
    controls = take.controls()
    difference: ReplayResult | None = None
    samples = 0
    try:
        player.load(header.world, packs, tick_rate=header.tick_rate, seed=header.seed)
        for tick, expected in take.sample_messages():
            for _ in range(header.sample_ticks if tick else 0):
                player.tick(next(controls))
            got = encoder.encode([player.state()])[0].data
            digest.update(got)
            samples += 1
            if got != expected and difference is None:
                what, old, new = first_difference(header, expected, got)
                difference = ReplayResult(False, samples, "", tick, what, old, new)
                if not all_samples:
                    break
    finally:
        player.close()
    if difference is None:
        return ReplayResult(True, samples, digest.hexdigest())
    return ReplayResult(False, samples, digest.hexdigest(), difference.tick, difference.what, difference.expected, difference.got)


def replay_hash(take: Take, packs: Mapping[str, Path]) -> str:
    """The state hash of the take played again to its end: equal to ``take.state_hash`` where the engine is deterministic."""
    return replay(take, packs, all_samples=True).state_hash


def first_difference(header: TakeHeader, expected: bytes, got: bytes) -> tuple[str, str, str]:
    """What differs between two samples' bytes: a name for it, and both values."""
    a, b = pb.Sample.FromString(expected), pb.Sample.FromString(got)
    names = header.world.labels()

    def shown(values: Any) -> str:
        return "[" + ", ".join(f"{v:.9g}" for v in values) + "]"

    bodies = {}
    for key, sample in (("a", a), ("b", b)):
        for row, k in enumerate(sample.changed):
            bodies[key, k] = (list(sample.poses[row * 7 : row * 7 + 7]), list(sample.velocities[row * 6 : row * 6 + 6]))
    for k in sorted({k for _, k in bodies}):
        old, new = bodies.get(("a", k)), bodies.get(("b", k))
        if old == new:
            continue
        name = f"entity {names[header.body_ids[k]][0]!r}" if k < len(header.body_ids) else f"body {k}"
        if old is None or new is None:
            return f"{name}: moved", str(old is not None), str(new is not None)
        for field, x, y in (
            ("position", old[0][:3], new[0][:3]),
            ("rotation", old[0][3:], new[0][3:]),
            ("linear velocity", old[1][:3], new[1][:3]),
            ("angular velocity", old[1][3:], new[1][3:]),
        ):
            if x != y:
                return f"{name}: {field}", shown(x), shown(y)
    for c, d in zip(a.characters, b.characters, strict=False):
        for descriptor in c.DESCRIPTOR.fields:
            x, y = getattr(c, descriptor.name), getattr(d, descriptor.name)
            if x == y:
                continue
            if isinstance(x, int | float | str):
                return f"character {names[c.id][0]!r}: {descriptor.name}", str(x), str(y)
            k = next((k for k, (u, v) in enumerate(zip(x, y, strict=False)) if u != v), min(len(x), len(y)))
            return f"character {names[c.id][0]!r}: {descriptor.name}[{k}]", shown(x[k : k + 1]), shown(y[k : k + 1])
    for field in ("contacts", "cameras"):
        x, y = list(getattr(a, field)), list(getattr(b, field))
        if x != y:
            return field, shown(x[:14]), shown(y[:14])
    return "the message", f"{len(expected)} bytes", f"{len(got)} bytes"
