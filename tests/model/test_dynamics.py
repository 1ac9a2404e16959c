"""The transformer plays as it was trained, and a checkpoint is what it says."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from worldwright.errors import WorldwrightError  # noqa: E402
from worldwright.model.checkpoint import Keyframes, Lens, Trained, load, make_modules, save  # noqa: E402
from worldwright.model.codec import code_depth, decode_depth  # noqa: E402
from worldwright.model.conditioning import relative_pose  # noqa: E402
from worldwright.model.config import CodecConfig, DynamicsConfig, MemoryConfig, ModelConfig  # noqa: E402
from worldwright.model.dreamer import Dreamer  # noqa: E402
from worldwright.model.dynamics import Dynamics  # noqa: E402
from worldwright.transforms import camera_look  # noqa: E402

SMALL = ModelConfig(
    "test", CodecConfig((16, 16), 1, 4), DynamicsConfig(width=32, layers=2, heads=2, window=4, steps=2), MemoryConfig(8, 4, 4)
)
LENS = Lens(32, 16, 24, (16.0, 16.0, 16.0, 8.0), "recorded")
CPU = torch.device("cpu")


def lively(module: torch.nn.Module) -> None:
    """Weights that do something: the zeros of a fresh module would hide every mistake."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for p in module.parameters():
            p.add_(torch.randn(p.shape, generator=generator) * 0.15)


def model() -> Trained:
    torch.manual_seed(0)
    codec, dynamics = make_modules(SMALL, LENS)
    lively(codec)
    lively(dynamics)
    n = 3
    poses = torch.from_numpy(np.stack([camera_look((0.0, 0.0, 1.0), 0.3 * k, 0.0) for k in range(n)]))
    generator = torch.Generator().manual_seed(1)
    keyframes = Keyframes(
        torch.randint(0, 256, (n, 16, 32, 3), generator=generator, dtype=torch.uint8),
        torch.full((n, 16, 32), 3.0),
        poses,
        torch.zeros(n, 8),
        torch.zeros(n, dtype=torch.int64),
        torch.arange(n),
    )
    return Trained(SMALL, LENS, codec.eval(), dynamics.eval(), keyframes, {}, {"seed": 0})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    save(path, model())
    return path


def test_frame_by_frame_with_a_cache_differs_from_all_at_once() -> None:
    """More frames than the window holds: what has left it must count for nothing."""
    torch.manual_seed(0)
    dynamics = Dynamics(SMALL.dynamics, 4, 16, 32).eval()
    lively(dynamics)
    frames = 7
    z, sketch = torch.randn(1, frames, 4, 4, 8), torch.randn(1, frames, 5, 4, 8)
    told, noise, anchor, first = torch.randn(1, frames, 16), torch.rand(1, frames), torch.randn(1, 4, 4, 8), torch.randn(1, 16)
    with torch.inference_mode():
        whole = dynamics(z, sketch, told, noise, anchor, first)
        cache = dynamics.begin(anchor, first)
        parts = [dynamics.step(cache, z[:, k], sketch[:, k], told[:, k], noise[:, k], keep=True) for k in range(frames)]
    assert torch.allclose(torch.stack(parts, 1), whole, atol=2e-5), (torch.stack(parts, 1) - whole).abs().amax((0, 2, 3, 4))
    assert cache.keys[0].shape[-2] == SMALL.dynamics.window - 1


def test_a_frame_sees_those_after_it() -> None:
    dynamics = Dynamics(SMALL.dynamics, 4, 16, 32).eval()
    lively(dynamics)
    z, sketch, told, noise = torch.randn(1, 4, 4, 4, 8), torch.randn(1, 4, 5, 4, 8), torch.randn(1, 4, 16), torch.rand(1, 4)
    anchor, first = torch.randn(1, 4, 4, 8), torch.randn(1, 16)
    later = z.clone()
    later[:, 3] += 1
    with torch.inference_mode():
        causal, changed = (dynamics(x, sketch, told, noise, anchor, first) for x in (z, later))
        both, other = (dynamics(x, sketch, told, noise, anchor, first, causal=False) for x in (z, later))
    assert torch.equal(causal[:, :3], changed[:, :3]) and not torch.equal(causal[:, 3], changed[:, 3])
    assert not torch.allclose(both[:, 0], other[:, 0])


def test_latents_are_put_together_as_they_were_taken_apart() -> None:
    dynamics = Dynamics(SMALL.dynamics, 4, 16, 32)
    z = torch.randn(2, 3, 4, 4, 8)
    assert torch.equal(dynamics.latents(dynamics.tokens(z)), z)


def test_a_turn_is_told_as_another() -> None:
    """0.2 rad to the left of a camera that looks ahead: about its own y axis (down), negative; and 0.5 m forward is +z."""
    before, after = (torch.from_numpy(camera_look((x, 0.0, 1.0), yaw, 0.0)) for x, yaw in ((0.0, 0.0), (0.5, 0.2)))
    assert torch.allclose(relative_pose(before, after), torch.tensor([0, 0, 0.5, 0, -0.2, 0]), atol=1e-6)
    assert torch.equal(relative_pose(before, before), torch.zeros(6))


def test_no_surface_is_a_far_surface() -> None:
    depth = torch.tensor([0.1, 3.0, 50.0, math.nan])
    back = decode_depth(code_depth(depth, 3.0), 3.0)
    assert torch.allclose(back[:3], depth[:3], rtol=1e-4) and bool(torch.isnan(back[3]))


def test_the_same_seed_dreams_something_else(folder: Path) -> None:
    first = {"rgb": np.full((16, 32, 3), 90, np.uint8), "depth": np.full((16, 32), 3.0, np.float32)}
    shows = []
    for seed, memory in ((5, "capture"), (5, "capture"), (6, "capture"), (5, "imagination")):
        dreamer = Dreamer.open(folder, device="cpu")
        dreamer.begin(**first, c2w=camera_look((0.0, 0.0, 1.0), 0.0, 0.0), seed=seed, memory=memory)
        frames = [dreamer.step(np.zeros(10), camera_look((0.0, 0.0, 1.0), 0.1 * k, 0.0)) for k in range(1, 9)]
        assert [f.frame for f in frames] == list(range(1, 9))
        shows.append(np.stack([f.rgb for f in frames]))
    assert np.array_equal(shows[0], shows[1]) and not np.array_equal(shows[0], shows[2]) and not np.array_equal(shows[0], shows[3])


def test_a_second_session_remembers_the_first(folder: Path) -> None:
    first = {"rgb": np.full((16, 32, 3), 90, np.uint8), "depth": np.full((16, 32), 3.0, np.float32)}
    dreamer = Dreamer.open(folder, device="cpu")
    shows = []
    for _ in range(2):
        dreamer.begin(**first, c2w=camera_look((0.0, 0.0, 1.0), 0.0, 0.0), seed=5)
        shows.append(np.stack([dreamer.step(np.zeros(10), camera_look((0.0, 0.0, 1.0), 0.2 * k, 0.0)).rgb for k in range(1, 9)]))
    assert np.array_equal(*shows)


def test_a_dream_takes_what_is_no_number(folder: Path) -> None:
    dreamer = Dreamer.open(folder, device="cpu")
    pose = camera_look((0.0, 0.0, 1.0), 0.0, 0.0)
    with pytest.raises(WorldwrightError, match="begin first"):
        dreamer.step(np.zeros(10), pose)
    with pytest.raises(WorldwrightError, match="a first picture"):
        dreamer.begin(rgb=np.zeros((8, 8, 3), np.uint8), depth=np.zeros((8, 8), np.float32), c2w=pose)
    dreamer.begin(rgb=np.zeros((16, 32, 3), np.uint8), depth=np.full((16, 32), np.nan, np.float32), c2w=pose)
    with pytest.raises(WorldwrightError, match="finite"):
        dreamer.step(np.full(10, np.nan), pose)
    with pytest.raises(WorldwrightError, match="4 by 4"):
        dreamer.step(np.zeros(10), np.full((4, 4), np.inf))


def broken(folder: Path, out: Path, name: str, change: object) -> Path:
    """A copy with one file changed and sealed again."""
    from worldwright.outputs import write_manifest

    out.mkdir()
    for path in folder.iterdir():
        if path.name != "_DONE":
            (out / path.name).write_bytes(path.read_bytes())
    data = (out / name).read_bytes()
    (out / name).write_bytes(change(data))  # type: ignore[operator]
    write_manifest(out, "model")
    return out


def with_document(**changes: object) -> object:
    def change(data: bytes) -> bytes:
        document = json.loads(data)
        for path, value in changes.items():
            *into, last = path.split("__")
            part = document
            for key in into:
                part = part[key]
            part[last] = value
        return json.dumps(document).encode()

    return change


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("dynamics.safetensors", lambda data: data[:-100], "no safetensors"),
        ("codec.safetensors", lambda data: pickle.dumps({"weight": 1}), "no safetensors"),
        ("memory.safetensors", lambda data: b"", "no safetensors"),
        ("model.json", lambda data: b"{", "cannot be read"),
        ("model.json", with_document(format="worldwright.model/9"), "not of the format"),
        ("model.json", with_document(config__dynamics__width=64), "another preset"),
        ("model.json", with_document(config__dynamics__width=10**9), "width is"),
        ("model.json", with_document(config__dynamics__layers=True), "layers is"),
        ("model.json", with_document(lens__width=33), "do not divide"),
        ("model.json", with_document(lens__K=[0, 0, 0, 0]), "K is"),
        ("model.json", with_document(lens__fps="24"), "fps is"),
    ],
)
def test_a_bad_checkpoint_is_a_traceback(folder: Path, tmp_path: Path, name: str, change: object, says: str) -> None:
    with pytest.raises(WorldwrightError, match=says) as caught:
        load(broken(folder, tmp_path / "bad", name, change), CPU)
    assert "\n" not in caught.value.line()


def test_a_checkpoint_that_was_changed_after_it_was_made_is_opened(folder: Path, tmp_path: Path) -> None:
    bad = broken(folder, tmp_path / "bad", "model.json", lambda data: data)
    (bad / "codec.safetensors").write_bytes((bad / "codec.safetensors").read_bytes() + b"x")
    with pytest.raises(WorldwrightError, match=r"codec\.safetensors"):
        load(bad, CPU)
    with pytest.raises(WorldwrightError, match="no folder"):
        load(tmp_path / "none", CPU)


def test_a_gpu_that_is_not_there_is_a_traceback(folder: Path) -> None:
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(WorldwrightError, match="no GPU"):
        Dreamer.open(folder, device="gpu")
