"""What recording costs beside bare physics: ``python benchmarks/record.py``.

The playground with 50 bodies that move, none of which ever sleeps, and a character that explores it, everything written, against Bullet
alone: a twin of the world that makes the same steps, kinematic bodies included, and in which nobody plays, reads or writes. Both go in
turns of 30 ticks in one process, so that they share the machine's moods, and CPU time is counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worldwright.engine.panda import PandaEngine
from worldwright.engine.protocol import State
from worldwright.record.inputs import FrameInput
from worldwright.record.loop import record
from worldwright.record.policies import Policy, PolicyContext, make_policy
from worldwright.world.generators import generate
from worldwright.world.spec import World

TARGET = 1.5
TURN_FRAMES = 3
TIMED = 11
"""Every so many steps within the recording one is timed: asking the CPU's clock costs as much as a sweep. No divisor of a frame."""
PARTS = ("Bullet's step", "character and events", "state", "policy", "writing")


class Awake(PandaEngine):
    """The engine with bodies that never fall asleep, and with a clock on the physics' step."""

    def load(self, world: World, packs: Mapping[str, Path], **options: Any) -> None:
        super().load(world, packs, **options)
        physics = self._running()
        for body in physics.movers:
            body.node.set_deactivation_enabled(False)
            body.node.set_active(True)
        self.seconds, self.ticks, self.bare_step = 0.0, 0, physics.step
        physics.step = self._timed_step  # type: ignore[method-assign]

    def _timed_step(self) -> None:
        self.ticks += 1
        if self.ticks % TIMED:
            self.bare_step()
            return
        start = time.process_time()
        self.bare_step()
        self.seconds += TIMED * (time.process_time() - start)


class InTurns:
    """A policy that lets the twin catch up every few frames."""

    def __init__(self, policy: Policy, twin: Awake) -> None:
        self.policy, self.twin, self.name = policy, twin, policy.name

    @property
    def params(self) -> Mapping[str, object]:
        return self.policy.params

    def start(self, context: PolicyContext) -> None:
        self.policy.start(context)
        self._turn = TURN_FRAMES * context.frame_ticks

    def act(self, frame: int, state: State) -> FrameInput:
        if frame % TURN_FRAMES == 0:
            twin, step = self.twin, self.twin.bare_step
            start = time.process_time()
            for _ in range(self._turn):
                step()
            twin.seconds += time.process_time() - start
            twin.ticks += self._turn
        return self.policy.act(frame, state)

    def report(self) -> Mapping[str, object]:
        return self.policy.report()


def turn(world: World, seconds: float, out: Path) -> dict[str, float]:
    """CPU seconds a tick of ``bare`` and of each of PARTS."""
    twin, engine = Awake(), Awake()
    twin.load(world, {})
    policy = InTurns(make_policy("explore"), twin)
    cpu = record(world, {}, out, policy=policy, seconds=seconds, seed=1, engine=engine).cpu_seconds
    twin.close()
    parts = (engine.seconds, cpu["physics"] - engine.seconds, cpu["state"], cpu["policy"] - twin.seconds, cpu["writing"])
    return {"bare": twin.seconds / twin.ticks} | {name: value / engine.ticks for name, value in zip(PARTS, parts, strict=True)}


def main() -> None:
    """Print the figures, one a line, and as JSON with --json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated seconds a repetition")
    parser.add_argument("--turns", type=int, default=5, help="repetitions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    world = generate("playground", 1, {"bodies": 50})
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "t.mcap"
        turns = [turn(world, options.seconds, out) for _ in range(options.turns)]
        megabytes = out.stat().st_size / 1e6
    whole = [sum(t[part] for part in PARTS) for t in turns]
    ratios = [w / t["bare"] for w, t in zip(whole, turns, strict=True)]
    parts = {part: statistics.median(t[part] / w for t, w in zip(turns, whole, strict=True)) for part in PARTS}
    figures = {
        "moving_bodies": sum(entity.body != "static" for entity in world.entities),
        "ratio": statistics.median(ratios),
        "best": min(ratios),
        "target": TARGET,
        "ratios": ratios,
        "bare_ms_a_step": 1000 * statistics.median(t["bare"] for t in turns),
        "times_real_time": 1 / (240 * statistics.median(whole)),
        "shares": parts,
        "of_bare": {part: statistics.median(t[part] / t["bare"] for t in turns) for part in PARTS},
        "megabytes_per_second": megabytes / options.seconds,
    }
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"moving bodies            {figures['moving_bodies']} and a character, none asleep")
    print(f"recording / bare Bullet  {figures['ratio']:.2f} (target {TARGET}; {', '.join(f'{r:.2f}' for r in ratios)})")
    print(f"times real time          {figures['times_real_time']:.1f} (by CPU time)")
    print("shares                   " + ", ".join(f"{part} {share:.0%}" for part, share in parts.items()))
    print("of bare Bullet           " + ", ".join(f"{part} {share:.2f}" for part, share in figures["of_bare"].items()))
    print(f"bare Bullet              {figures['bare_ms_a_step']:.3f} ms a step")
    print(f"written                  {figures['megabytes_per_second']:.2f} MB a simulated second")


if __name__ == "__main__":
    main()
