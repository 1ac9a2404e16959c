"""A run of a tiny recipe, made once for all tests of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TINY = """
format: worldwright.recipe/1
name: tiny
worlds:
  - {family: playground, seed: 1}
policies:
  - {policy: grammar, seconds: 0.5, seed: 1}
cameras: [third, first]
presets:
  - {size: 96x54}
"""


@pytest.fixture(scope="session")
def tiny() -> str:
    """The recipe's text."""
    return TINY


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, cli: Callable[..., Any]) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.yaml").write_text(TINY)
    done = cli("make", folder / "tiny.yaml", "-o", folder / "run")
    assert done.returncode == 0, done.stderr + done.stdout
    return folder / "run"
