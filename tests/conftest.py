"""What every part's tests share: the command as a user runs it, and the packs for development."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Run ``worldwright`` with these words."""

    def run(*args: object, **more: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "worldwright", *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **more)  # type: ignore[call-overload,no-any-return]

    return run


@pytest.fixture(scope="session")
def shared_assets() -> Path:
    """The folder of real CC0 packs; tests that need it are skipped where it is not."""
    root = Path(os.environ.get("WORLDWRIGHT_SHARED", Path(__file__).parents[2] / "shared")) / "assets"
    if not root.is_dir():
        pytest.skip(f"no asset packs at {root} (WORLDWRIGHT_SHARED names their folder)")
    return root


@pytest.fixture(scope="session")
def courtyard_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world file that loads in a moment: a floor of 12 x 8 m with walls around it; the spawn is at (-4, 0), looking along +X."""
    from worldwright.world.files import save_world
    from worldwright.world.spec import World

    def box(name: str, size: list[float], at: list[float]) -> dict[str, object]:
        part = {"geometry": {"shape": "box", "size": size}, "material": "grey"}
        return {"name": name, "label": name, "position": at, "parts": [part]}

    document = {
        "name": "yard",
        "bounds": {"min": [-6, -4, -1], "max": [6, 4, 4]},
        "materials": {"grey": {}},
        "entities": [
            box("floor", [12, 8, 0.5], [0, 0, -0.25]),
            box("north", [12, 0.2, 2.5], [0, 4, 1.25]),
            box("south", [12, 0.2, 2.5], [0, -4, 1.25]),
            box("east", [0.2, 8, 2.5], [6, 0, 1.25]),
            box("west", [0.2, 8, 2.5], [-6, 0, 1.25]),
            box("post", [0.5, 0.5, 2.0], [1.0, 1.0, 1.0]),
        ],
        "spawns": [{"position": [-4, 0, 0.0]}],
    }
    path = tmp_path_factory.mktemp("yard") / "yard.yaml"
    save_world(World.model_validate(document), path)
    return path
