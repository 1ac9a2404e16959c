"""A checkpoint as training leaves it, played. It is untrained here: what its pictures look like is not asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldwright.errors import WorldwrightError
from worldwright.model.walker import Motion, Ride, Walker
from worldwright.transforms import camera_look

torch = pytest.importorskip("torch", reason="the extra train is not installed")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of torch that wait for a core that another test has spin, and a test takes ten times as long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def write(folder: Path, walker: dict[str, Any]) -> Path:
    from worldwright.model.checkpoint import Keyframes, Lens, Trained, make_modules, save
    from worldwright.model.config import preset

    torch.manual_seed(0)
    config, lens = preset("tiny"), Lens(32, 16, 24, (20.0, 20.0, 16.0, 8.0), "first")
    keyframes = Keyframes(
        rgb=torch.randint(0, 255, (3, 16, 32, 3), dtype=torch.uint8),
        depth=torch.full((3, 16, 32), 3.0),
        c2w=torch.from_numpy(np.array([camera_look((k, 0.0, 1.6), 0.4 * k, 0.0) for k in range(3)])),
        state=torch.tensor([[k, 0.0, 0.0, 0.4 * k, 0, 0, 0, 0] for k in range(3)]),
        episode=torch.zeros(3, dtype=torch.int64),
        frame=torch.arange(3),
    )
    save(folder, Trained(config, lens, *make_modules(config, lens), keyframes, walker, {}))
    return folder


@pytest.fixture(scope="module")
def walker() -> dict[str, Any]:
    motion = Motion(
        turn=-0.0025, pitch=-0.0025, lowest=-1, highest=1, keep=0.0, forward=(0.1, 0, 0), back=(0.1, 0, 0), side=(0.1, 0, 0)
    )
    return Walker(24, motion, Ride(offset=((0, 0, 0), (0, 0, 0), (1.6, 0, 0)), drop=0, settle=0.3)).to_document()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, walker: dict[str, Any]) -> Path:
    return write(tmp_path_factory.mktemp("model") / "model", walker)


@pytest.mark.parametrize("memory", ["capture", "imagination"])
def test_a_checkpoint_is_walked_and_the_same_keys_give_the_same_pictures(model: Path, memory: Any) -> None:
    from worldwright.play.dream import ModelSession

    session = ModelSession.open(model, memory=memory, device="cpu", steps=1)

    def play() -> list[np.ndarray]:
        session.reset(0)
        return [session.step(np.eye(10)[0]).rgb for _ in range(3)]

    one, two = play(), play()
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    picture = session.step(np.eye(10)[0])
    assert (picture.rgb.shape, picture.frame, picture.info["memory"]) == ((16, 32, 3), 4, memory)
    assert picture.c2w[0, 3] == pytest.approx(0.4, abs=1e-6)


def test_a_checkpoint_without_a_walker_is_one_line(tmp_path: Path) -> None:
    from worldwright.play.dream import ModelSession

    with pytest.raises(WorldwrightError, match="walker"):
        ModelSession.open(write(tmp_path / "model", {}), device="cpu")
