"""A world model is trained on our own dataset, stopped and gone on with, and judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import worldwright.dataset  # noqa: E402
from worldwright.dataset.pack import pack  # noqa: E402
from worldwright.errors import WorldwrightError  # noqa: E402
from worldwright.evaluate.run import evaluate  # noqa: E402
from worldwright.model import config as presets  # noqa: E402
from worldwright.model.config import CodecConfig, DynamicsConfig, MemoryConfig, ModelConfig  # noqa: E402
from worldwright.record.loop import record  # noqa: E402
from worldwright.render.run import render_shot  # noqa: E402
from worldwright.train.footage import Footage  # noqa: E402
from worldwright.train.loop import Report  # noqa: E402
from worldwright.train.run import Steps, run_folder, train  # noqa: E402
from worldwright.train.stages.forcing import own_levels  # noqa: E402
from worldwright.world.generators import generate  # noqa: E402

SMALL = ModelConfig(
    "test", CodecConfig((16, 16), 1, 4), DynamicsConfig(width=32, layers=2, heads=2, window=4, steps=2), MemoryConfig(12, 3, 8)
)
STEPS = Steps(codec=4, bidirectional=2, forcing=4)


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    patch = pytest.MonkeyPatch()
    patch.setitem(presets.PRESETS, "test", SMALL)  # type: ignore[arg-type]
    yield
    patch.undo()


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("take") / "t.mcap"
    record(generate("rooms", 5, {}), {}, path, policy="grammar", policy_params={}, seconds=2.5, seed=1)
    return path


@pytest.fixture(scope="module")
def data(take: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    render_shot(take, folder / "shot", camera="first", preset="32x16", packs={}, passes=("rgb", "depth"))
    pack([folder / "shot"], folder / "dataset", allow_unverified=True)
    return folder / "dataset"


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("model") / "m"
    train(data, out, preset_name="test", steps=STEPS, save_every=2, device="cpu")
    return out


def weights(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("codec.safetensors", "dynamics.safetensors", "memory.safetensors")}


def stop_at(stage: str, step: int) -> Callable[[Report], None]:
    def tell(report: Report) -> None:
        if (report.stage, report.step) == (stage, step):
            raise KeyboardInterrupt

    return tell


def test_a_training_that_was_stopped_ends_in_other_weights(data: Path, model: Path, tmp_path: Path) -> None:
    """Stopped in each stage, between saves: what was done since the last save is done again, alike."""
    out = tmp_path / "m"
    for stage, step in (("codec", 3), ("bidirectional", 1), ("forcing", 3)):
        with pytest.raises(KeyboardInterrupt):
            train(data, out, preset_name="test", steps=STEPS, save_every=2, device="cpu", tell=stop_at(stage, step))
        assert not out.exists()
    seen: list[tuple[str, int]] = []
    train(data, out, preset_name="test", steps=STEPS, save_every=2, device="cpu", tell=lambda r: seen.append((r.stage, r.step)))
    assert seen == [("forcing", 3), ("forcing", 4)]
    assert weights(out) == weights(model)


def test_a_run_goes_on_with_other_settings(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        train(data, out, preset_name="test", steps=STEPS, save_every=2, device="cpu", tell=stop_at("codec", 3))
    with pytest.raises(WorldwrightError, match="other settings"):
        train(data, out, preset_name="test", steps=STEPS, seed=1, device="cpu")


def test_a_save_that_was_cut_is_taken_for_whole(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        train(data, out, preset_name="test", steps=STEPS, save_every=2, device="cpu", tell=stop_at("codec", 3))
    state = run_folder(out) / "codec" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-10])
    with pytest.raises(WorldwrightError, match=r"state\.safetensors"):
        train(data, out, preset_name="test", steps=STEPS, device="cpu")


def test_a_trained_model_is_written_over(data: Path, model: Path, tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="trained model already"):
        train(data, model, preset_name="test", steps=STEPS, device="cpu")
    (tmp_path / "mine").mkdir()
    with pytest.raises(WorldwrightError, match="is there and is no model"):
        train(data, tmp_path / "mine", preset_name="test", steps=STEPS, device="cpu")


def test_data_without_depth_or_too_short_is_trained_on(take: Path, data: Path, tmp_path: Path) -> None:
    render_shot(take, tmp_path / "shot", camera="first", preset="32x16", packs={}, passes=("rgb", "normal"), count=2)
    pack([tmp_path / "shot"], tmp_path / "dataset", allow_unverified=True)
    with pytest.raises(WorldwrightError, match="has no pass depth"):
        train(tmp_path / "dataset", tmp_path / "m", preset_name="test", device="cpu")
    with pytest.raises(WorldwrightError, match="longest of its episodes has 60 frames"):
        Footage(data, 100)
    with pytest.raises(WorldwrightError, match="do not divide into tokens"):
        _odd(data, tmp_path)
    assert not (tmp_path / "m").exists()


def _odd(data: Path, folder: Path) -> None:
    presets.PRESETS["odd"] = ModelConfig(
        "odd", SMALL.codec, DynamicsConfig(width=32, layers=1, heads=2, window=4, patch=3), SMALL.memory
    )  # type: ignore[index]
    try:
        train(data, folder / "m", preset_name="odd", device="cpu")
    finally:
        del presets.PRESETS["odd"]  # type: ignore[attr-defined]


def test_a_frame_is_told_the_action_after_it(data: Path, model: Path) -> None:
    """Frame i of a clip is told the action of row i - 1, which leads from there to here."""
    from worldwright.model.conditioning import controls, relative_pose
    from worldwright.train.prepared import Prepared
    from worldwright.train.stages.clips import draw

    clip = worldwright.dataset.open(data, length=20, passes=("rgb",)).clip(0, 0)
    prepared = Prepared(
        np.zeros((20, 4, 4, 8), np.float16),
        np.zeros((20, 5, 4, 8), np.float16),
        clip["action"],
        clip["camera.c2w"],
        np.array([0, 20]),
    )
    batch = draw(prepared, np.array([5]), 1, 4, torch.Generator().manual_seed(0), torch.device("cpu"))
    before, after = (torch.from_numpy(clip["camera.c2w"][a:b]) for a, b in ((4, 8), (5, 9)))
    told = controls(torch.from_numpy(clip["action"][4:8]), relative_pose(before, after))
    assert torch.equal(batch.controls[0], told)
    assert prepared.clips(4).min() == 1 and prepared.clips(4).max() == 16


def test_frames_before_are_never_clean_in_training() -> None:
    levels = own_levels(400, 8, torch.Generator().manual_seed(0))
    played = (levels[:, 0] == 0).float().mean()
    assert 0.3 < played < 0.6 and levels.min() >= 0 and levels.max() <= 1 and (levels[:, -1] > 0).all()


def test_an_evaluation_leaves_something_out(data: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldwright.evaluate.run.FAR", 40)
    figures = evaluate(model, data, tmp_path / "e", device="cpu", most=24)
    written = json.loads((tmp_path / "e" / "figures.json").read_text())
    assert set(written["players"]) == {
        "model, capture",
        "model, imagination",
        "splat alone",
        "repeat the last frame",
        "codec's ceiling",
    }
    clip = worldwright.dataset.open(data, length=2, passes=("rgb",)).clip(0, 0)
    error = np.mean((clip["rgb"][0].astype(float) - clip["rgb"][1]) ** 2)
    assert figures["players"]["repeat the last frame"]["psnr"][1] == pytest.approx(10 * np.log10(255**2 / error))
    assert written["players"]["model, capture"]["psnr"]["500"] is None  # no take is so long
    page = (tmp_path / "e" / "index.html").read_text()
    assert "take-0.png" in page and (tmp_path / "e" / "take-0.png").is_file() and "http" not in page


def test_a_model_is_judged_on_pictures_of_another_size(take: Path, model: Path, tmp_path: Path) -> None:
    render_shot(take, tmp_path / "shot", camera="first", preset="48x32", packs={}, passes=("rgb", "depth"), count=4)
    pack([tmp_path / "shot"], tmp_path / "dataset", allow_unverified=True)
    with pytest.raises(WorldwrightError, match="48x32"):
        evaluate(model, tmp_path / "dataset", tmp_path / "e", device="cpu")
    assert not (tmp_path / "e").exists()
