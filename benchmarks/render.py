"""What rendering costs, how near it comes to the limit of the cores, and how it compares with Blender Cycles.

    python benchmarks/render.py [--frames 96] [--cycles] [--memory-preset 180p]

Records a courtyard, then renders it at 720p with all eight passes to disk in a process of its own. Prints CPU milliseconds a frame by
stage and by pass, and the share of the limit that the cores set: frames a second divided by cores / (CPU seconds a frame). Then the
peak memory of renderings of 10 s and of 60 s of video. With ``--cycles``, Cycles (bpy, which ``make bench`` puts into ``.venv-bpy``) renders the same scene from the same cameras in the same run, 4 samples, denoised.
Exits 1 when a target is missed: 0.85 of the limit, 5 % of memory, 20 times Cycles.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import _cycles
from rich.console import Console
from rich.table import Table

from worldwright.factory.child import render_in_process
from worldwright.record.loop import record
from worldwright.render.run import RenderReport
from worldwright.world.generators import generate

SHARE, MEMORY, RATIO = 0.85, 1.05, 20.0
console = Console()


def costs(report: RenderReport) -> Table:
    """CPU milliseconds and bytes a frame."""
    table = Table("part", "CPU ms a frame", "kB a frame", title=f"720p, all passes, {report.frames} frames, {report.device}")
    for name, ms in report.stage_ms.items():
        table.add_row(f"render: {name}", f"{ms:.1f}", "")
    table.add_row("render", f"[bold]{report.render_ms:.1f}", "")
    for name, ms in report.encode_ms.items():
        table.add_row(f"encode: {name}", f"{ms:.1f}", f"{report.bytes[name] / report.frames / 1000:.0f}")
    table.add_row(
        "encode", f"[bold]{sum(report.encode_ms.values()):.1f}", f"{sum(report.bytes.values()) / report.frames / 1000:.0f}"
    )
    return table


def speed(take: Path, folder: Path, frames: int) -> tuple[RenderReport, float]:
    """Render at 720p; the report and the share of the limit that was reached."""
    report = render_in_process(take, folder / "shot", preset="720p", count=frames)
    console.print(costs(report))
    cores = len(os.sched_getaffinity(0))
    cpu = (report.render_ms + sum(report.encode_ms.values())) / 1000
    share = report.fps * cpu / cores
    console.print(
        f"{report.fps:.2f} frames a second; the limit of {cores} cores at {cpu * 1000:.0f} CPU ms a frame is {cores / cpu:.2f}: "
        f"[bold]{share:.2f}[/] of it (target {SHARE}). Loading took {report.setup_s:.1f} s; peak memory {report.peak_memory_mb:.0f} MB"
    )
    return report, share


def memory(take: Path, folder: Path, preset: str) -> float:
    """Peak memory for 60 s of video over that for 10 s."""
    peaks = [
        render_in_process(take, folder / f"memory{seconds}", preset=preset, count=24 * seconds).peak_memory_mb
        for seconds in (10, 60)
    ]
    ratio = peaks[1] / peaks[0]
    console.print(
        f"peak memory at {preset}: 10 s {peaks[0]:.0f} MB, 60 s {peaks[1]:.0f} MB: [bold]{ratio:.3f}[/] (target <= {MEMORY})"
    )
    return ratio


def against_cycles(take: Path, folder: Path, ours: RenderReport, frames: int) -> float:
    """Our frames a second over those of Cycles for the same pictures; the smaller one of with and without its passes is printed too."""
    _cycles.export(take, folder / "scene", frames=frames, width=1280, height=720)
    with_passes, rgb_only = (_cycles.run(folder / "scene", mode) for mode in ("passes", "rgb"))
    ratio = ours.fps * with_passes
    console.print(
        f"Cycles, 4 samples, denoised: {with_passes:.2f} s a frame with its passes in an EXR, {rgb_only:.2f} s for rgb alone: "
        f"[bold]{ratio:.1f}[/] times (target {RATIO:.0f}); {ours.fps * rgb_only:.1f} times if Cycles need write rgb alone"
    )
    return ratio


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--frames", type=int, default=96)
    options.add_argument("--cycles", action="store_true")
    options.add_argument("--cycles-frames", type=int, default=3)
    options.add_argument("--memory-preset", default="180p", help="none: skip the comparison of memory")
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-render-") as name:
        folder = Path(name)
        take = folder / "courtyard.mcap"
        seconds = 61 if args.memory_preset != "none" else args.frames / 24 + 1
        record(generate("courtyard", 3, {}), {}, take, policy="explore", policy_params={}, seconds=seconds, seed=3)
        report, share = speed(take, folder, args.frames)
        good = share >= SHARE
        if args.memory_preset != "none":
            good &= memory(take, folder, args.memory_preset) <= MEMORY
        if args.cycles:
            good &= against_cycles(take, folder, report, args.cycles_frames) >= RATIO
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
