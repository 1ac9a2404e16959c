"""A training that is stopped and gone on with, and one by several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from worldwright.errors import WorldwrightError  # noqa: E402
from worldwright.model.codec import Codec  # noqa: E402
from worldwright.model.config import CodecConfig, DynamicsConfig  # noqa: E402
from worldwright.model.dynamics import Dynamics  # noqa: E402
from worldwright.train.loop import Plan, Report, run_stage  # noqa: E402
from worldwright.train.parallel import crew, whole  # noqa: E402
from worldwright.train.prepared import Prepared  # noqa: E402
from worldwright.train.stages.forcing import forcing  # noqa: E402

CPU = torch.device("cpu")
STEPS = 6


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for a core that another test has spin."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def prepared() -> Prepared:
    """Forty frames of nothing in particular, in two episodes, 16 x 16 pixels."""
    rng = np.random.default_rng(0)
    latents = rng.normal(size=(40, 4, 4, 4)).astype(np.float16)
    sketch = np.concatenate([latents, np.ones((40, 1, 4, 4), np.float16)], axis=1)
    c2w = np.tile(np.eye(4), (40, 1, 1))
    c2w[:, 0, 3] = np.arange(40) * 0.05
    action = rng.uniform(size=(40, 10)).astype(np.float32)
    return Prepared(latents, sketch, action, c2w, np.array([0, 20, 40]))


def run(
    folder: Path, *, steps: int = STEPS, stop: int | None = None, seed: int = 0, save_every: int = 2
) -> dict[str, torch.Tensor]:
    """Train a small transformer; ``stop``: as Ctrl-C would, after that many steps."""
    torch.manual_seed(0)
    codec = Codec(CodecConfig((8, 8), 1, 4))
    dynamics = Dynamics(DynamicsConfig(width=16, layers=2, heads=2, window=4, frequencies=2), 4, 16, 16)

    def tell(report: Report) -> None:
        if report.step == stop:
            raise KeyboardInterrupt

    with crew(CPU) as team:
        plan = Plan(steps, seed, save_every, request=f"test {seed}")
        run_stage(forcing(dynamics, codec, prepared(), CPU), folder, plan, team, CPU, tell)
        return {name: whole(value) for name, value in dynamics.state_dict().items()}


@pytest.mark.parametrize("stop", [1, 2, 3, 5])
def test_a_run_that_was_stopped_ends_in_other_weights(tmp_path: Path, stop: int) -> None:
    undisturbed = run(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "b", stop=stop)
    again = run(tmp_path / "b")
    assert undisturbed.keys() == again.keys()
    for name, value in undisturbed.items():
        assert torch.equal(value, again[name]), name
    assert any(not torch.equal(value, run(tmp_path / "c", seed=1)[name]) for name, value in undisturbed.items() if "head" in name)


def test_a_run_goes_on_from_one_with_other_settings(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop=3)
    with pytest.raises(WorldwrightError, match="other settings"):
        run(tmp_path, seed=1)


def test_a_damaged_state_is_gone_on_from(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop=3)
    (state,) = tmp_path.rglob("state.safetensors")
    state.write_bytes(state.read_bytes()[:-100])
    with pytest.raises(WorldwrightError, match=r"state\.safetensors"):
        run(tmp_path)


def test_two_processes_end_in_two_models(tmp_path: Path) -> None:
    """Under torchrun over gloo: both have the same whole weights, also where the run was stopped between."""
    script = tmp_path / "work.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import os, torch; from pathlib import Path; import test_loop as t; torch.set_num_threads(1)\n"
        "def go(name, steps):\n"
        "    return t.run(Path(sys.argv[1]) / name, steps=steps)\n"
        "with t.crew(t.CPU):\n"
        "    whole = go('whole', 4)\n"
        "    try: t.run(Path(sys.argv[1]) / 'part', steps=4, stop=3)\n"
        "    except KeyboardInterrupt: pass\n"
        "    again = go('part', 4)\n"
        "    assert all(torch.equal(whole[k], again[k]) for k in whole)\n"
        "    torch.save(whole, Path(sys.argv[1]) / ('weights-' + os.environ['RANK']))\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script), str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=200, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = (torch.load(tmp_path / f"weights-{rank}", weights_only=True) for rank in (0, 1))
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name
