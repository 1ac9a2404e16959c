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
