"""A whole training: the stages one after another, then the model's folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import torch

import worldwright.dataset
from worldwright.errors import WorldwrightError
from worldwright.ids import content_id
from worldwright.model.checkpoint import Trained, make_modules, save
from worldwright.model.codec import Codec
from worldwright.model.config import preset, to_document
from worldwright.model.device import choose_device
from worldwright.model.walker import fit
from worldwright.outputs import looks_whole, manifest_hash, write_text
from worldwright.train.footage import PASSES, Footage
from worldwright.train.loop import Plan, Report, run_stage
from worldwright.train.parallel import crew, turns, unshared
from worldwright.train.prepared import choose_keyframes, prepare
from worldwright.train.stages.bidirectional import bidirectional
from worldwright.train.stages.codec import CodecStage
from worldwright.train.stages.forcing import forcing


@dataclass(frozen=True)
class Steps:
    """Steps of each stage."""

    codec: int = 700
    bidirectional: int = 40
    forcing: int = 300

    @classmethod
    def of(cls, words: Mapping[str, str]) -> Self:
        """From words: stage to number; the default for stages that are not named. Raises WorldwrightError."""
        values: dict[str, int] = {}
        for name, text in words.items():
            if name not in cls.__dataclass_fields__:
                raise WorldwrightError(f"no stage {name!r}", where="--steps", fix=f"one of {', '.join(cls.__dataclass_fields__)}")
            if not text.isdigit() or not 1 <= int(text) <= 10_000_000:
                raise WorldwrightError(f"{name} is {text!r}", where="--steps", fix="a whole number, 1 to 10,000,000")
            values[name] = int(text)
        return cls(**values)


@dataclass(frozen=True)
class Outcome:
    """What a training made."""

    folder: Path
    frames: int
    parameters: int


def run_folder(out: Path) -> Path:
    """Where a run for the model ``out`` keeps its states."""
    return out.with_name(f"{out.name}.run")


def train(
    data: Path,
    out: Path,
    *,
    preset_name: str = "tiny",
    steps: Steps | None = None,
    seed: int = 0,
    device: str = "auto",
    half: bool | None = None,
    save_every: int = 100,
    tell: Callable[[Report], None] = lambda report: None,
    tell_prepared: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Train a model on a dataset, or go on where it was.

    Args:
        data: a packed dataset with rgb and depth.
        out: the model's folder, made in the end.
        preset_name: of ``model.config.PRESETS``.
        steps: of each stage.
        seed: of all that is random.
        half: bfloat16; None: where it is worth it, on a GPU.
        save_every: steps.

    Raises:
        WorldwrightError: for data that a model cannot be trained on, a folder that is something else, a run with other settings.
    """
    config, steps, chosen = preset(preset_name), steps or Steps(), choose_device(device)
    if looks_whole(out, "model"):
        raise WorldwrightError("is a trained model already", where=str(out), fix="name another folder")
    if out.exists():
        raise WorldwrightError("is there and is no model", where=str(out), fix="name another folder")
    half = chosen.type == "cuda" if half is None else half
    footage = Footage(data, config.dynamics.window + 1)
    asked = {"config": to_document(config), "steps": steps.__dict__, "seed": seed, "data": manifest_hash(data), "half": half}
    request = content_id(asked)
    folder = run_folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    with crew(chosen) as team:
        plan = Plan(0, seed, save_every, half=half, request=f"{request}-{team.size}")
        codec, dynamics = make_modules(config, footage.lens)
        run_stage(CodecStage(codec, footage, chosen), folder, replace(plan, steps=steps.codec), team, chosen, tell)
        codec = unshared(codec, Codec(config.codec), chosen)
        CodecStage(codec, footage, chosen).calibrate()
        keyframes = choose_keyframes(footage, config.memory)
        for _ in turns(team):
            prepared = prepare(folder / "prepared", footage, codec, keyframes, config.memory, chosen, tell_prepared)
        for make, count in ((bidirectional, steps.bidirectional), (forcing, steps.forcing)):
            run_stage(make(dynamics, codec, prepared, chosen), folder, replace(plan, steps=count), team, chosen, tell)
            dynamics = unshared(dynamics, make_modules(config, footage.lens)[1], chosen)
        if team.first:
            record = {"dataset": str(data), "asked": asked, "request": request}
            walker = fit(worldwright.dataset.open(data, passes=PASSES)).to_document()
            save(out, Trained(config, footage.lens, codec, dynamics, keyframes, walker, json.loads(json.dumps(record))))
            write_text(folder / "done.txt", "the model is made; this folder can go\n")
    return Outcome(out, footage.frames, sum(p.numel() for m in (codec, dynamics) for p in m.parameters()))
