"""A whole evaluation: a model and what it is measured against, along the takes of a dataset that it was not trained on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.dataset.sources import TASKS
from worldwright.errors import WorldwrightError
from worldwright.evaluate import iworld
from worldwright.evaluate.page import write_page
from worldwright.evaluate.players import Ceiling, ModelPlayer, Player, Repeat, SplatAlone
from worldwright.evaluate.rollout import MARKS, STRIP, Run, at_mark, cost, far_cost, frames_of, roll
from worldwright.evaluate.walks import inside_of, judge_walks
from worldwright.model.dreamer import Dreamer
from worldwright.model.walker import Walker
from worldwright.outputs import new_folder, write_manifest
from worldwright.train.footage import Footage

KIND = "evaluation"
COLLECTED = 1024
"""Frames of a take that the measures of iWorld-Bench see, at most: they are held in memory."""
FAR = 1000
"""The frame whose cost is compared with that of frame 10: takes are rarely so long, so their poses are gone through again."""


def evaluate(
    model: Path,
    data: Path,
    out: Path,
    *,
    device: str = "auto",
    steps: int | None = None,
    seed: int = 0,
    most: int = 510,
    imagination: bool = True,
    world: Path | None = None,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Judge a model along the takes of a dataset; write ``figures.json`` and a page into ``out``.

    Args:
        model: its folder.
        data: a packed dataset through the model's lens, of its world, that it was not trained on.
        out: a new folder.
        steps: of denoising a frame.
        most: frames of a take.
        imagination: play without the capture's memory, too.
        world: the takes' world: then it is measured how much of the walker's ways lies in its walls.

    Raises:
        WorldwrightError: a bad model, or data that it cannot be judged on.
    """
    dreamer = Dreamer.open(model, device=device, steps=steps)
    footage = Footage(data, 2)
    lens, own = footage.lens, dreamer.lens
    if (lens.width, lens.height, lens.fps) != (own.width, own.height, own.fps) or not np.allclose(lens.K, own.K, rtol=1e-3):
        raise WorldwrightError(
            f"shows {lens.width}x{lens.height} at {lens.fps} through {lens.K}, the model {own.width}x{own.height} at {own.fps} through {own.K}",
            where=str(data),
            fix="render the takes as the model's were",
        )
    inside = None if world is None else inside_of(world)
    walker = Walker.from_document(dreamer.trained.walker, f"{model}: walker") if dreamer.trained.walker else None
    players: list[Player] = [ModelPlayer(dreamer, "capture", seed)]
    if imagination:
        players.append(ModelPlayer(dreamer, "imagination", seed))
    players += [SplatAlone(dreamer), Repeat(), Ceiling(dreamer)]
    episodes = [k for k, length in footage.episodes() if length > 1]
    total = len(players) * sum(min(most, length - 1) for _, length in footage.episodes())
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        tell(done, total)

    runs: list[Run] = []
    bench: dict[str, dict[str, float]] = {}
    with new_folder(out, KIND) as place:
        for player in players:
            seen: dict[int, list[NDArray[np.uint8]]] = {}

            def see(episode: int, frame: int, rgb: NDArray[np.uint8], seen: dict[int, list[NDArray[np.uint8]]] = seen) -> None:
                if frame < COLLECTED:
                    seen.setdefault(episode, []).append(rgb)

            runs.append(roll(player, footage, episodes, most, count, see))
            shown = {episode: np.stack(frames) for episode, frames in seen.items()}
            bench[player.name] = _bench(list(shown.values())) | _memory(footage, shown)
        figures = _figures(runs, bench, footage, episodes, most)
        figures |= {
            "model": str(model),
            "data": str(data),
            "steps": dreamer.steps,
            "device": str(dreamer.device),
            "frames": most,
            "seed": seed,
            "walker": None if walker is None else judge_walks(walker, [footage.rows(e) for e in episodes], most, inside),
            "cost": far_cost(ModelPlayer(dreamer, "capture", seed), footage, episodes[0], FAR),
        }
        truth = {e: {k: f[0] for k, f in enumerate(frames_of(footage, e)) if k in STRIP and k <= most} for e in episodes}
        write_page(place, figures, runs, truth)
        (place / "figures.json").write_text(json.dumps(_plain(figures), indent=1))
        write_manifest(place, KIND)
    return figures


def _bench(takes: list[NDArray[np.uint8]]) -> dict[str, float]:
    measures = {
        "brightness consistency": iworld.brightness,
        "colour temperature": iworld.colour,
        "sharpness retention": iworld.sharpness,
    }
    return {name: float(np.mean([iworld.late_mean(measure(frames)) for frames in takes])) for name, measure in measures.items()}


def _there_and_back(task: str) -> bool:
    """Whether an episode's task is that of the policy ``loop``."""
    head, _, tail = TASKS["loop"].partition("{world}")
    return task.startswith(head) and task.endswith(tail)


def _memory(footage: Footage, shown: dict[int, NDArray[np.uint8]]) -> dict[str, float]:
    """What is seen again: along takes of the policy ``loop`` by halves of the way, as released; along all by known poses."""
    halves: list[float] = []
    again: list[float] = []
    for episode, frames in shown.items():
        rows = footage.rows(episode)
        if _there_and_back(footage.clips.episodes[episode].task) and len(frames) == len(rows["tick"]):
            halves.append(iworld.late_mean(iworld.memory_symmetry(frames)))
        count, value = iworld.revisited(frames, np.asarray(rows["camera.c2w"], np.float64).reshape(-1, 4, 4)[: len(frames)])
        again += [value] * count
    values = {"memory symmetry (loops)": halves, "PSNR of places seen again": again}
    return {name: float(np.mean(v)) if v else float("nan") for name, v in values.items()}


def _figures(
    runs: list[Run], bench: dict[str, dict[str, float]], footage: Footage, episodes: list[int], most: int
) -> dict[str, Any]:
    players = {
        run.name: {
            "psnr": {m: at_mark(run, "psnr", m) for m in MARKS},
            "ssim": {m: at_mark(run, "ssim", m) for m in MARKS},
            "depth error": {m: at_mark(run, "depth", m) for m in MARKS},
            "known": float(np.mean([v for way in run.ways for v in way.known])),
            "ms a frame": {m: cost(run, m) for m in (10, 50, 100, 500)},
            "frames a second": 1 / float(np.median([s for way in run.ways for s in way.seconds])),
            "iworld-bench": bench[run.name],
        }
        for run in runs
    }
    ways = [np.stack([frame[2] for k, frame in enumerate(frames_of(footage, e)) if k <= most]) for e in episodes]
    symmetric = {
        "as released": float(np.mean([iworld.alignment(way, signed=False) for way in ways])),
        "signed": float(np.mean([iworld.alignment(way, signed=True) for way in ways])),
    }
    return {"players": players, "trajectory alignment of the takes' own ways": symmetric, "takes": len(episodes)}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
