"""A small world, played and rendered by the real pipeline once a session: what the tests of verification break."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("LP_NUM_THREADS", "1")

import numpy as np
import pytest

from worldwright.record.loop import record
from worldwright.render.run import render_shot
from worldwright.verify.context import Context
from worldwright.verify.faults import inject
from worldwright.verify.run import verify_shot
from worldwright.verify.verdict import Verdict
from worldwright.verify.workshop import Workshop, copy_shot
from worldwright.world.spec import World

FRAMES = 6


def box(size: list[float], position: list[float], material: str) -> dict[str, Any]:
    return {"geometry": {"shape": "box", "size": size}, "position": position, "material": material}


def small_world(**changes: Any) -> World:
    """A yard with a wall, pillars, a ball that rolls, a crate on a shuttle and a lamp: something near, far, moving, round, metallic."""
    document: dict[str, Any] = {
        "name": "yard",
        "bounds": {"min": [-8, -8, -2], "max": [8, 8, 8]},
        "materials": {
            "floor": {"base_colour": [0.5, 0.45, 0.4], "texture": {"kind": "tile", "seed": 1, "size_m": 1.5}},
            "wall": {"base_colour": [0.6, 0.3, 0.2], "texture": {"kind": "brick", "seed": 2, "size_m": 2.0}},
            "steel": {"base_colour": [0.7, 0.7, 0.75], "metallic": 1.0, "roughness": 0.35},
            "red": {"base_colour": [0.8, 0.1, 0.05], "roughness": 0.5},
        },
        "entities": [
            {"name": "floor", "label": "floor", "parts": [box([14, 14, 0.2], [0, 0, -0.1], "floor")]},
            {
                "name": "wall",
                "label": "wall",
                "parts": [box([0.3, 13, 2.5], [6, 0, 1.25], "wall"), box([13, 0.3, 2.5], [0, 6, 1.25], "wall")],
            },
            {
                "name": "pillars",
                "label": "pillar",
                "parts": [
                    {"geometry": {"shape": "cylinder", "radius": 0.3, "height": 2.0}, "position": [x, y, 1.0], "material": "steel"}
                    for x, y in ((3, 2), (4, -2), (5, 3.5))
                ],
            },
            {
                "name": "ball",
                "label": "ball",
                "body": "dynamic",
                "mass": 2.0,
                "position": [2.5, -0.8, 0.35],
                "velocity": [0.0, 1.5, 0.0],
                "parts": [{"geometry": {"shape": "sphere", "radius": 0.35}, "material": "red"}],
            },
            {
                "name": "shuttle",
                "label": "platform",
                "body": "kinematic",
                "position": [4.5, 0.5, 0.5],
                "path": {"kind": "shuttle", "to": [4.5, 2.5, 0.5], "period": 3.0},
                "parts": [box([0.8, 0.8, 0.8], [0, 0, 0], "red")],
            },
            {
                "name": "crate",
                "label": "crate",
                "body": "dynamic",
                "mass": 10.0,
                "position": [1.5, 2.0, 0.25],
                "parts": [box([0.5, 0.5, 0.5], [0, 0, 0], "wall")],
            },
        ],
        "spawns": [{"position": [0, 0, 0], "yaw": 0.1}],
        "goals": [{"name": "far", "position": [3.0, -4.0, 0.0]}],
    }
    return World.model_validate(document | changes)


@pytest.fixture(scope="session")
def yard() -> World:
    return small_world()


@pytest.fixture(scope="session")
def make_world() -> Callable[..., World]:
    """``small_world`` for test modules, which cannot import this file."""
    return small_world


@pytest.fixture(scope="session")
def take_path(yard: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("take") / "yard.mcap"
    record(yard, {}, path, policy="grammar", policy_params={}, seconds=1.0, seed=5)
    return path


@pytest.fixture(scope="session")
def shot_path(take_path: Path) -> Path:
    path = take_path.parent / "third"
    render_shot(take_path, path, camera="third", preset="96x54", first=6, count=FRAMES, packs={})
    return path


@pytest.fixture(scope="session")
def context() -> Iterator[Context]:
    with Context({}) as shared:
        yield shared


@pytest.fixture(scope="session")
def break_shot(shot_path: Path, context: Context, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], SimpleNamespace]:
    """Make a fault of a kind in a copy of the good shot: the copy, what was done, and the verdict on it."""

    def run(kind: str, seed: int = 0) -> SimpleNamespace:
        for attempt in range(8):
            copy = tmp_path_factory.mktemp("bad") / "shot"
            copy_shot(shot_path, copy)
            text = inject(Workshop(copy, context), kind, np.random.default_rng((seed, attempt)))
            if text is not None:
                verdict: Verdict = verify_shot(copy, {}, context=context)
                return SimpleNamespace(path=copy, what=text, verdict=verdict, failed={c.name: c for c in verdict.failures})
        raise AssertionError(f"{kind}: no such fault could be made")

    return run
