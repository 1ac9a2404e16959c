"""Where a model's walker leads by the recorded keys alone, against where the engine led; and how much of its way lies in walls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.engine.probe import GeometryProbe
from worldwright.evaluate.iworld import inside_metres, trajectory
from worldwright.model.walker import Walker
from worldwright.world.files import load_world, resolve_packs

F64 = NDArray[np.float64]
REACH = 100.0
"""Metres that a ray looks for a surface."""
AXES = np.concatenate([np.eye(3), -np.eye(3)])


def walked(walker: Walker, rows: Mapping[str, NDArray[Any]], most: int) -> F64:
    """Camera poses [N, 4, 4] of the walker that begins in an episode's first state and gets its actions, at most ``most`` of them."""
    stand = walker.start(rows["observation.state"][0])
    poses = [walker.c2w(stand)]
    for action in rows["action"][: min(most, len(rows["action"]) - 1)]:
        stand = walker.step(stand, action)
        poses.append(walker.c2w(stand))
    return np.array(poses)


def inside_of(world: Path) -> Callable[[F64], bool]:
    """Whether a point lies inside a solid of a world, by the engine's probe: of rays along the axes that meet something, more than half meet its
    inner side. What can move stands where the world puts it. Raises WorldwrightError for no world."""
    spec = load_world(world)
    probe = GeometryProbe.of(spec, resolve_packs(spec, world, {}))

    def inside(point: F64) -> bool:
        hits = probe.cast_rays(np.repeat(point[None], len(AXES), 0), AXES, REACH)
        met = np.isfinite(hits.distance)
        inner = np.einsum("ij,ij->i", hits.normal, AXES) > 0
        return bool(met.any()) and 2 * int(np.sum(inner & met)) > int(np.sum(met))

    return inside


def judge_walks(
    walker: Walker, episodes: list[Mapping[str, NDArray[Any]]], most: int, inside: Callable[[F64], bool] | None
) -> dict[str, Any]:
    """Trajectory accuracy as released and signed, metres off at frame 10 and 100, and, with ``inside``, metres of way inside geometry: of the walker's
    ways and of the engine's own."""
    made = [walked(walker, rows, most) for rows in episodes]
    true = [
        np.asarray(rows["camera.c2w"], np.float64).reshape(-1, 4, 4)[: len(way)] for rows, way in zip(episodes, made, strict=True)
    ]
    off = [np.linalg.norm(a[:, :3, 3] - b[:, :3, 3], axis=1) for a, b in zip(made, true, strict=True)]
    figures: dict[str, Any] = {
        "trajectory accuracy": {
            name: float(np.mean([trajectory(a, b, signed=signed) for a, b in zip(made, true, strict=True)]))
            for name, signed in (("as released", False), ("signed", True))
        },
        "metres off": {m: _mean([float(x[m]) for x in off if len(x) > m]) for m in (10, 100)},
        "metres walked": float(sum(np.sum(np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1)) for way in made)),
    }
    if inside is not None:
        figures["metres inside walls"] = {
            "walker": sum(inside_metres(way[:, :3, 3], inside) for way in made),
            "engine": sum(inside_metres(way[:, :3, 3], inside) for way in true),
        }
    return figures


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
