"""The page of an evaluation: one table, curves, film strips. It needs no network and no script."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from worldwright.evaluate.rollout import MARKS, STRIP, Run

GROWN = 2
"""Pixels on a side of a strip's pixel."""
COLOURS = ("#4cc38a", "#ffb454", "#68a8ff", "#b0b0b8", "#e87aa4", "#c8a2ff")
STYLE = """
body{background:#14161a;color:#e6e6e9;font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1180px;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.3rem .7rem;text-align:right;border-bottom:1px solid #2c3038}
td:first-child,th:first-child{text-align:left}th{font-weight:600;color:#a9adb8}img{max-width:100%;image-rendering:pixelated;border-radius:4px}
figure{margin:1.4rem 0}figcaption{color:#a9adb8}.row{display:flex;gap:.6rem;align-items:center}svg{max-width:100%;height:auto}
"""


def write_page(
    place: Path, figures: Mapping[str, Any], runs: list[Run], truth: Mapping[int, Mapping[int, NDArray[np.uint8]]]
) -> None:
    """Write ``index.html`` and its pictures."""
    strips = "".join(_strip(place, episode, runs, frames) for episode, frames in truth.items())
    body = (
        f"<h1>How well it dreams</h1><p>{html.escape(str(figures['model']))} along {figures['takes']} takes of "
        f"{html.escape(str(figures['data']))}, {figures['steps']} steps a frame, on {figures['device']}. "
        "Poses and actions are the engine's; pictures are compared with the engine's at the same pose.</p>"
        f"{_table(figures)}<h2>PSNR by frame</h2>{_curves(runs)}{_bench(figures)}{_walks(figures)}<h2>Film strips</h2>{strips}"
    )
    page = f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'><title>Evaluation</title><style>{STYLE}</style><body>{body}"
    (place / "index.html").write_text(page)


def _number(value: float, digits: int = 1) -> str:
    return "–" if not np.isfinite(value) else f"{value:.{digits}f}"


def _table(figures: Mapping[str, Any]) -> str:
    head = "".join(
        f"<th>{text}</th>"
        for text in (
            "",
            *(f"PSNR at {m}" for m in MARKS),
            *(f"SSIM at {m}" for m in (10, 100)),
            "ms at 10",
            "ms at 500",
            "frames/s",
        )
    )
    rows = ""
    for name, f in figures["players"].items():
        cells = [*(_number(f["psnr"][m]) for m in MARKS), *(_number(f["ssim"][m], 3) for m in (10, 100))]
        cells += [_number(f["ms a frame"][10]), _number(f["ms a frame"][500]), _number(f["frames a second"])]
        rows += f"<tr><td>{html.escape(name)}</td>{''.join(f'<td>{c}</td>' for c in cells)}</tr>"
    return f"<table><tr>{head}</tr>{rows}</table><p>PSNR in dB, the mean of the four frames on each side of the mark; a dash: no take is so long.</p>"


def _bench(figures: Mapping[str, Any]) -> str:
    names = list(next(iter(figures["players"].values()))["iworld-bench"])
    head = "".join(f"<th>{html.escape(n)}</th>" for n in ("", *names))
    rows = ""
    for player, f in figures["players"].items():
        cells = "".join(f"<td>{_number(f['iworld-bench'][n], 3)}</td>" for n in names)
        rows += f"<tr><td>{html.escape(player)}</td>{cells}</tr>"
    own = figures["trajectory alignment of the takes' own ways"]
    return (
        f"<h2>As iWorld-Bench measures</h2><table><tr>{head}</tr>{rows}</table><p>They compare a video with its own first frame, so a player that never changes "
        "its picture gets 1. Without BRISQUE, MUSIQ and an interpolator, which want weights from the network. Trajectory alignment of the ways that were "
        f"walked: {_number(own['as released'], 3)} as released, {_number(own['signed'], 3)} signed.</p>"
    )


def _walks(figures: Mapping[str, Any]) -> str:
    cost = figures["cost"]
    late = next(name for name in cost if name not in ("ms at 10", "ratio"))
    text = f"<h2>Cost and ways</h2><p>The model in one long session: {cost['ms at 10']:.1f} ms a frame at 10, {cost[late]:.1f} {late}, a ratio of {cost['ratio']:.2f}.</p>"
    walks = figures["walker"]
    if walks is None:
        return text + "<p>The model has no walker.</p>"
    accuracy, off = walks["trajectory accuracy"], walks["metres off"]
    text += (
        f"<p>The walker, given the recorded keys alone: trajectory accuracy {_number(accuracy['as released'], 3)} as released, {_number(accuracy['signed'], 3)} signed; "
        f"{_number(off[10], 2)} m off at frame 10, {_number(off[100], 2)} m at 100"
    )
    if (walls := walks.get("metres inside walls")) is not None:
        text += f"; {_number(walls['walker'], 2)} of {_number(walks['metres walked'], 1)} m inside walls (the engine's own ways: {_number(walls['engine'], 2)} m)"
    return text + ".</p>"


def _curves(runs: list[Run]) -> str:
    width, height, left, bottom = 1000, 300, 40, 24
    longest = max(len(way.psnr) for run in runs for way in run.ways)
    low, high = 5.0, 40.0
    lines, names = "", ""
    for k, run in enumerate(runs):
        mean = [float(np.mean([way.psnr[n] for way in run.ways if len(way.psnr) > n])) for n in range(longest)]
        smooth = [float(np.mean(mean[max(0, n - 4) : n + 5])) for n in range(longest)]
        points = " ".join(
            f"{left + n / max(1, longest - 1) * (width - left):.1f},{(high - min(max(v, low), high)) / (high - low) * (height - bottom):.1f}"
            for n, v in enumerate(smooth)
        )
        colour = COLOURS[k % len(COLOURS)]
        lines += f"<polyline points='{points}' fill=none stroke='{colour}' stroke-width=2 />"
        names += f"<span style='color:{colour};margin-right:1.2rem'>{html.escape(run.name)}</span>"
    grid = "".join(
        f"<text x=0 y={(high - v) / (high - low) * (height - bottom) + 5:.0f} fill='#a9adb8' font-size=13>{v}</text>"
        f"<line x1={left} x2={width} y1={(high - v) / (high - low) * (height - bottom):.0f} y2={(high - v) / (high - low) * (height - bottom):.0f} stroke='#2c3038' />"
        for v in range(10, 40, 5)
    )
    ticks = "".join(
        f"<text x={left + n / max(1, longest - 1) * (width - left):.0f} y={height - 4} fill='#a9adb8' font-size=13 text-anchor=middle>{n}</text>"
        for n in range(0, longest, 100)
    )
    return f"<p>{names}</p><svg viewBox='0 0 {width} {height}' width={width}>{grid}{ticks}{lines}</svg>"


def _strip(place: Path, episode: int, runs: list[Run], truth: Mapping[int, NDArray[np.uint8]]) -> str:
    numbers = [k for k in STRIP if k in truth]
    rows = [("engine", truth), *((run.name, way.strip) for run in runs for way in run.ways if way.episode == episode)]
    picture = np.concatenate([np.concatenate([frames[k] for k in numbers], axis=1) for _, frames in rows])
    name = f"take-{episode}.png"
    Image.fromarray(picture).resize((picture.shape[1] * GROWN, picture.shape[0] * GROWN), Image.Resampling.NEAREST).save(
        place / name
    )
    what = "; ".join(n for n, _ in rows)
    return (
        f"<figure><img src='{name}' alt='take {episode}, frames {', '.join(map(str, numbers))}, from above: {html.escape(what)}'>"
        f"<figcaption>Take {episode}, frames {', '.join(map(str, numbers))}. From above: {html.escape(what)}.</figcaption></figure>"
    )
