"""Drawings of a take as SVG text: the path on a map, the keys over time."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.controls import ACTION_NAMES, KEYS, Flag
from worldwright.report.plan import floor_plan
from worldwright.world.spec import World

Array = NDArray[Any]

AROUND = 7.0
"""Metres that a map shows beside the path."""
CHEST = 1.2
"""Metres over the ground at which the map's plan is cut: above tables, below lintels."""


def _points(outline: Iterable[Sequence[float]]) -> str:
    return " ".join(f"{x:.2f},{-y:.2f}" for x, y in outline)


def shown_part(world: World, path: Array) -> tuple[Array, Array]:
    """The corners (x, y) of what a map of this path [N, 3] shows: some metres around it, not beyond the world."""
    low, high = path[:, :2].min(axis=0), path[:, :2].max(axis=0)
    half = np.maximum((high - low) / 2 + AROUND, float(np.max(high - low)) / 2)
    middle = (low + high) / 2
    lo, hi = np.array(world.bounds.min[:2]), np.array(world.bounds.max[:2])
    return np.maximum(middle - half, np.minimum(lo, low)), np.minimum(middle + half, np.maximum(hi, high))


def map_svg(world: World, geometry: SceneGeometry, path: Array, yaw: Array) -> str:
    """The path [N, 3] on a floor plan cut at its highest chest, north (+Y) up, one metre a unit; green start, red end."""
    lo, hi = shown_part(world, path)
    w, h = hi - lo
    picture = io.BytesIO()
    floor_plan(world, geometry, lo, hi, float(path[:, 2].max()) + CHEST).save(picture, format="PNG", optimize=True)
    data = base64.b64encode(picture.getvalue()).decode()
    box = f'x="{lo[0]:.2f}" y="{-hi[1]:.2f}" width="{w:.2f}" height="{h:.2f}"'
    parts = [f'<svg class="map" viewBox="{lo[0]:.2f} {-hi[1]:.2f} {w:.2f} {h:.2f}" role="img" aria-label="map">']
    parts.append(f'<image {box} preserveAspectRatio="none" href="data:image/png;base64,{data}"/>')
    parts.append(
        f'<polyline points="{_points(path[:, :2])}" fill="none" stroke="#fff" stroke-width=".22" stroke-linejoin="round"/>'
    )
    parts.append(
        f'<polyline points="{_points(path[:, :2])}" fill="none" stroke="#e6412d" stroke-width=".12" stroke-linejoin="round"/>'
    )
    for k in range(0, len(path), max(1, len(path) // 16)):
        x, y, a = path[k, 0], path[k, 1], yaw[k]
        parts.append(
            f'<line x1="{x:.2f}" y1="{-y:.2f}" x2="{x + 0.6 * np.cos(a):.2f}" y2="{-(y + 0.6 * np.sin(a)):.2f}" stroke="#ffd23c" stroke-width=".09"/>'
        )
    for k, colour in ((0, "#2fbf5f"), (-1, "#e6412d")):
        parts.append(
            f'<circle cx="{path[k, 0]:.2f}" cy="{-path[k, 1]:.2f}" r=".28" fill="{colour}" stroke="#fff" stroke-width=".08"/>'
        )
    for goal in world.goals:
        parts.append(
            f'<circle cx="{goal.position[0]:.2f}" cy="{-goal.position[1]:.2f}" r="{goal.radius:.2f}" fill="none" stroke="#6cf" stroke-width=".08" stroke-dasharray=".2 .15"><title>goal {escape(goal.name)}</title></circle>'
        )
    return "".join([*parts, "</svg>"])


def _runs(on: Array) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def keys_svg(action: Array, flags: Array, fps: float) -> str:
    """Keys held, mouse and what became of them, over time; one unit of width a frame."""
    n = len(action)
    rows: list[tuple[str, Array, str]] = [(name, action[:, k] > 0, "#4c9be8") for k, name in enumerate(KEYS)]
    rows += [(flag.name.lower(), (flags & flag) != 0, "#e8a33c") for flag in Flag if flag.name and np.any(flags & flag)]
    line, label = 14, 76
    scale = max(1.0, 640 / max(1, n))
    width, mouse_top = label + n * scale, line * len(rows) + 4
    parts = [f'<svg class="keys" viewBox="0 0 {width:.0f} {mouse_top + 76}" role="img" aria-label="keys over time">']
    for k, (name, on, colour) in enumerate(rows):
        y = k * line
        parts.append(
            f'<text x="{label - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text><line x1="{label}" x2="{width:.0f}" y1="{y + line - 1}" y2="{y + line - 1}" class="grid"/>'
        )
        parts += [
            f'<rect x="{label + a * scale:.1f}" y="{y + 2}" width="{(b - a) * scale:.1f}" height="{line - 5}" fill="{colour}"/>'
            for a, b in _runs(on)
        ]
    peak = float(np.abs(action[:, len(KEYS) :]).max()) if n else 0.0
    middle = mouse_top + 24
    for k, colour in ((len(KEYS), "#62c370"), (len(KEYS) + 1, "#c678dd")):
        points = " ".join(
            f"{label + (i + 0.5) * scale:.1f},{middle - 22 * v / max(peak, 1.0):.1f}" for i, v in enumerate(action[:, k])
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        parts.append(
            f'<text x="{label - 6}" y="{middle - 8 + 16 * (k - len(KEYS))}" text-anchor="end" style="fill:{colour}">{ACTION_NAMES[k]}</text>'
        )
    seconds = n / fps
    for s in range(0, int(seconds) + 1, max(1, int(seconds) // 8)):
        parts.append(f'<text x="{label + s * fps * scale:.1f}" y="{mouse_top + 60}">{s} s</text>')
    parts.append(f'<text x="{label}" y="{mouse_top + 73}">mouse: counts a frame, peak {peak:g}</text>')
    return "".join([*parts, "</svg>"])
