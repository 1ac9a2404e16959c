"""What recording costs beside bare physics: ``python benchmarks/record.py``.

The playground with 50 moving bodies that never sleep and a character that explores it, everything written, against Bullet alone stepping
the same world. Both run in turns in one process, and CPU time is counted, so that a busy machine disturbs little; the ratio is the median
over the turns.
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
from worldwright.record.loop import RecordReport, record
from worldwright.world.generators import generate
from worldwright.world.spec import World

TARGET = 1.5


class Awake(PandaEngine):
    """The engine with bodies that never fall asleep."""

    def load(self, world: World, packs: Mapping[str, Path], **options: Any) -> None:
        super().load(world, packs, **options)
        for body in self._running().movers:
            body.node.set_deactivation_enabled(False)
            body.node.set_active(True)


def bare_seconds(world: World, ticks: int) -> float:
    """CPU seconds of Bullet's own stepping."""
    engine = Awake()
    engine.load(world, {})
    bullet, dt = engine._running().bullet, engine._running().dt
    start = time.process_time()
    for _ in range(ticks):
        bullet.do_physics(dt, 0, dt)
    spent = time.process_time() - start
    engine.close()
    return spent


def recorded(world: World, seconds: float, folder: Path) -> RecordReport:
    """A recording of the same world."""
    return record(world, {}, folder / "t.mcap", policy="explore", seconds=seconds, seed=1, engine=Awake())


def main() -> None:
    """Print the figures, one a line, and as JSON with --json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated seconds a turn")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    world = generate("playground", 1, {"bodies": 50})
    moving = sum(entity.body == "dynamic" for entity in world.entities)
    ratios, reports, bares = [], [], []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(options.turns):
            bare = bare_seconds(world, round(options.seconds * 240))
            report = recorded(world, options.seconds, Path(name))
            loop = sum(report.cpu_seconds[part] for part in report.shares)
            ratios.append(loop / bare)
            bares.append(bare)
            reports.append(report)
        megabytes = (Path(name) / "t.mcap").stat().st_size / 1e6
    parts = {p: statistics.median(r.cpu_seconds[p] for r in reports) for p in reports[0].shares}
    figures = {
        "moving_bodies": moving,
        "ratio": statistics.median(ratios),
        "target": TARGET,
        "ratios": ratios,
        "bare_seconds": statistics.median(bares),
        "times_real_time": options.seconds / sum(parts.values()),
        "shares": {part: value / sum(parts.values()) for part, value in parts.items()},
        "megabytes_per_second": megabytes / options.seconds,
    }
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"moving bodies            {moving} and a character, none asleep")
    print(f"recording / bare Bullet  {figures['ratio']:.2f} (target {TARGET}; turns {', '.join(f'{r:.2f}' for r in ratios)})")
    print(f"times real time          {figures['times_real_time']:.1f} (by CPU time)")
    print("shares                   " + ", ".join(f"{part} {value:.0%}" for part, value in figures["shares"].items()))
    print(f"bare Bullet              {1000 * figures['bare_seconds'] / (options.seconds * 240):.3f} ms a step")
    print(f"written                  {figures['megabytes_per_second']:.2f} MB a simulated second")


if __name__ == "__main__":
    main()
