"""Made-up shots for the tests of this folder."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from worldwright.render.raster.fieldcache import CACHE_VARIABLE

SYNTHETIC = Path(__file__).parent / "synthetic.py"


@pytest.fixture(scope="session", autouse=True)
def kept_light(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Bakes are kept for this run of the tests alone: the user's own cache is neither read nor written."""
    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(tmp_path_factory.mktemp("light"))
    yield
    if before is None:
        del os.environ[CACHE_VARIABLE]
    else:
        os.environ[CACHE_VARIABLE] = before


@pytest.fixture(scope="session")
def synthetic() -> ModuleType:
    """``synthetic.py``: shots of pictures that count, written by the real writer."""
    spec = importlib.util.spec_from_file_location("worldwright_tests_synthetic", SYNTHETIC)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made_up(synthetic: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shot of 100 frames: more than one segment. Not to be changed."""
    return Path(synthetic.make_shot(tmp_path_factory.mktemp("made-up") / "shot", synthetic.shot_info(100)))
