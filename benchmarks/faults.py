"""How many faults verification finds, and how many good shots it condemns.

    python benchmarks/faults.py --faults 1000 --good 100

Records takes of the built-in worlds with every policy, renders small shots of them (all passes, several cameras, some with motion blur),
verifies each, then makes faults in copies of them, one at a time, at random by seed: frames late, swapped, moved by half a pixel; cameras a
centimetre or half a degree off; rows, descriptions and takes edited; files damaged. All hashes are computed again after each, but for damage.
Prints a table by kind. Exits 1 when a fault passes or a good shot fails.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from worldwright.errors import WorldwrightError
from worldwright.record.loop import record
from worldwright.render.run import render_shot
from worldwright.verify.context import Context
from worldwright.verify.faults import FAULTS, inject
from worldwright.verify.run import verify_shot
from worldwright.verify.workshop import Workshop, copy_shot
from worldwright.world.generators import generate
from worldwright.world.spec import World

FAMILIES = ("courtyard", "rooms", "playground")
POLICIES = ("explore", "grammar", "loop")
CAMERAS = ("third", "first", "fixed")
SIZES = ("96x54", "128x72", "160x90")
TAKE_SECONDS = 5.0
"""The shortest that every policy accepts."""
FRAMES = 10
SHOTS_A_TAKE = 6
ATTEMPTS = 20


@dataclass
class Outcome:
    """What one worker found."""

    good: int = 0
    condemned: list[dict[str, Any]] = field(default_factory=list)
    caught: Counter[str] = field(default_factory=Counter)
    missed: list[dict[str, Any]] = field(default_factory=list)
    by: Counter[str] = field(default_factory=Counter)


def shot_request(world: World, rng: np.random.Generator) -> dict[str, Any]:
    """A random way to render a take. The fixed camera stands over the spawn, where there is room (an orbit may go through walls)."""
    camera = str(rng.choice(CAMERAS, p=[0.45, 0.35, 0.2]))
    if camera == "fixed":
        spawn = world.spawns[0]
        x, y, z = spawn.position
        angle = spawn.yaw + float(rng.uniform(-0.5, 0.5))
        camera = f"fixed:{x},{y},{z + 1.95},{x + 4 * math.cos(angle)},{y + 4 * math.sin(angle)},{z + 1.2}"
    return {
        "camera": camera,
        "preset": str(rng.choice(SIZES)),
        "first": int(rng.integers(0, int(TAKE_SECONDS * 24) - FRAMES)),
        "motion_blur": bool(rng.random() < 0.15),
    }


def fault_names(rng: np.random.Generator, count: int) -> list[str]:
    """Every kind in turn, in a new random order each time round."""
    names: list[str] = []
    while len(names) < count:
        names += [str(name) for name in rng.permutation(sorted(FAULTS))]
    return names[:count]


def work(take_index: int, seed: int, good: int, faults: list[str], scratch: Path, renderer: str) -> Outcome:
    """One take: ``good`` shots of it, and these faults in them."""
    rng = np.random.default_rng((seed, take_index))
    family, policy = FAMILIES[take_index % 3], POLICIES[(take_index // 3) % 3]
    folder = scratch / f"take{take_index}"
    folder.mkdir(parents=True)
    world = generate(family, seed + take_index, {})
    take = folder / "t.mcap"
    record(world, {}, take, policy=policy, policy_params={}, seconds=TAKE_SECONDS, seed=seed + take_index)
    out = Outcome()
    shares = np.array_split(np.array(faults), good)
    with Context({}) as context:
        for k in range(good):
            request = shot_request(world, rng) | {"renderer": renderer}
            if renderer == "pathtraced":
                request["preset"] += "@8"
            shot = folder / f"shot{k}"
            render_shot(take, shot, count=FRAMES, packs={}, **request)
            label = f"{family} {seed + take_index} {policy} {request}"
            verdict = verify_shot(shot, {}, context=context)
            out.good += 1
            if not verdict.passed:
                out.condemned.append({"shot": label, "checks": [[c.name, c.frame, c.message] for c in verdict.failures]})
                continue
            for name in shares[k]:
                _one_fault(shot, str(name), label, rng, context, out)
            shutil.rmtree(shot)
    shutil.rmtree(folder)
    return out


def _one_fault(shot: Path, name: str, label: str, rng: np.random.Generator, context: Context, out: Outcome) -> None:
    """Make a fault of this kind, or where it would make no difference, of another one."""
    for attempt in range(ATTEMPTS):
        kind = name if attempt < ATTEMPTS // 4 else str(rng.choice(sorted(FAULTS)))
        copy = shot.with_name(f"{shot.name}-bad")
        copy_shot(shot, copy)
        try:
            text = inject(Workshop(copy, context), kind, rng)
            if text is None:
                continue
            try:
                verdict = verify_shot(copy, {}, context=context)
                failures = [c.name for c in verdict.failures]
            except WorldwrightError as error:
                failures = [f"refused: {error.what[:40]}"]
            if failures:
                out.caught[kind] += 1
                out.by.update(failures)
            else:
                out.missed.append({"fault": kind, "what": text, "shot": label})
            return
        finally:
            shutil.rmtree(copy)
    raise RuntimeError(f"no fault could be made in {label}")


def show(outcome: Outcome, seconds: float, console: Console) -> None:
    """The table by kind."""
    table = Table(title="faults by kind", title_justify="left")
    for column in ("fault", "caught", "missed"):
        table.add_column(column, justify="left" if column == "fault" else "right")
    missed = Counter(str(m["fault"]) for m in outcome.missed)
    for name in sorted({*outcome.caught, *missed}):
        table.add_row(name, str(outcome.caught[name]), f"[bold red]{missed[name]}[/]" if missed[name] else "0")
    console.print(table)
    console.print(f"caught by: {', '.join(f'{name} {count}' for name, count in outcome.by.most_common())}", markup=False)
    console.print(
        f"{sum(outcome.caught.values())} of {sum(outcome.caught.values()) + len(outcome.missed)} faults caught, "
        f"{len(outcome.condemned)} of {outcome.good} good shots failed, {seconds:.0f} s"
    )


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--good", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--renderer", default="raster", help="raster, or pathtraced at 8 samples")
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    start = time.perf_counter()
    takes = -(-args.good // SHOTS_A_TAKE)
    goods = [len(part) for part in np.array_split(np.arange(args.good), takes)]
    names = np.array_split(np.array(fault_names(np.random.default_rng(args.seed), args.faults)), takes)
    console = Console()
    total = Outcome()
    os.environ.setdefault("LP_NUM_THREADS", "1")  # a process a core: no threads of the software renderer beside them
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        jobs = [
            pool.submit(work, k, args.seed, goods[k], [str(n) for n in names[k]], Path(scratch), args.renderer)
            for k in range(takes)
        ]
        for job in as_completed(jobs):
            part = job.result()
            total.good += part.good
            total.condemned += part.condemned
            total.missed += part.missed
            total.caught += part.caught
            total.by += part.by
            for found in part.condemned:
                console.print(f"good shot failed: {found['shot']}: {found['checks']}", markup=False)
            for found in part.missed:
                console.print(f"missed {found['fault']}: {found['what']} in {found['shot']}", markup=False)
            done = sum(total.caught.values()) + len(total.missed)
            console.print(f"{total.good} good shots, {done} faults, {len(total.missed)} missed, {len(total.condemned)} condemned")
    seconds = time.perf_counter() - start
    show(total, seconds, console)
    if args.json:
        figures = {
            "caught": total.caught,
            "missed": total.missed,
            "condemned": total.condemned,
            "good": total.good,
            "by": total.by,
            "seconds": seconds,
        }
        args.json.write_text(json.dumps(figures, indent=1))
    return 1 if total.missed or total.condemned else 0


if __name__ == "__main__":
    sys.exit(main())
