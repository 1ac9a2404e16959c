"""Runs a stage: steps, averaging, saving, going on. It knows no stage by name.

All that is random in a step comes from a generator seeded by the run's seed, the stage, the step and the process, so a run that was killed goes
on from its last save to the same weights as one that was not.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

from worldwright.errors import WorldwrightError
from worldwright.ids import content_id
from worldwright.model.checkpoint import read_tensors
from worldwright.outputs import check_manifest, new_folder, read_manifest, write_manifest
from worldwright.train.parallel import Crew, mean, part_of, share, whole
from worldwright.train.stages.stage import Stage

KIND = "training"
WARM_UP = 50
CLIP = 1.0
BETAS, DECAY = (0.9, 0.95), 0.01


@dataclass(frozen=True)
class Plan:
    """How a stage is run: ``steps`` in all, a save and a picture every so many, ``average``: the share of old weights that the averaged ones
    keep a step at most, ``half``: compute in bfloat16."""

    steps: int
    seed: int
    save_every: int
    average: float = 0.995
    half: bool = False
    request: str = ""
    """What the run was asked for: a save of another one is refused."""


@dataclass(frozen=True)
class Report:
    """A step: ``step`` of ``steps``, the loss and other figures, ``seconds`` of work since it was begun or gone on with, ``frames`` trained on in them."""

    stage: str
    step: int
    steps: int
    figures: dict[str, float]
    seconds: float
    frames: int
    made: int
    """Steps made since the stage was begun or gone on with."""


def generator_of(seed: int, stage: str, step: int, rank: int, what: str) -> torch.Generator:
    """The generator of a step, for its batch or its loss."""
    return torch.Generator().manual_seed(int(content_id([seed, stage, step, rank, what])[:15], 16))


def _batches(stage: Stage, plan: Plan, crew: Crew, first: int) -> Iterator[Any]:
    """The batches of the steps from ``first`` on, each made while the one before is trained on."""
    with ThreadPoolExecutor(1, "batches") as ahead:

        def start(step: int) -> Future[Any]:
            return ahead.submit(stage.batch, generator_of(plan.seed, stage.name, step, crew.rank, "batch"))

        waiting = start(first) if first < plan.steps else None
        for step in range(first, plan.steps):
            assert waiting is not None
            batch = waiting.result()
            if step + 1 < plan.steps:
                waiting = start(step + 1)
            yield batch


def run_stage(stage: Stage, folder: Path, plan: Plan, crew: Crew, device: torch.device, tell: Callable[[Report], None]) -> None:
    """Train until ``plan.steps`` are made, from the last save in ``folder`` on. In the end the module has the averaged weights."""
    module = share(stage.module, crew, device).train()
    named = dict(module.named_parameters())
    average = {name: p.detach().clone() for name, p in named.items()}
    optimizer = torch.optim.AdamW(
        named.values(), lr=stage.rate, betas=BETAS, weight_decay=DECAY, fused=device.type in ("cpu", "cuda")
    )
    place = folder / stage.name
    done = _resume(place, named, average, optimizer, plan, device)
    began, frames = time.perf_counter(), 0
    for step, batch in enumerate(_batches(stage, plan, crew, done), done):
        for group in optimizer.param_groups:
            group["lr"] = stage.rate * _schedule(step, plan.steps)
        with torch.autocast(device.type, torch.bfloat16, enabled=plan.half):
            loss, figures = stage.loss(module, batch, generator_of(plan.seed, stage.name, step, crew.rank, "loss"))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(named.values(), CLIP)
        if not bool(torch.isfinite(loss)):
            raise WorldwrightError(
                f"the loss of step {step} is not finite",
                where=f"stage {stage.name}",
                fix="train with a lower --rate, or without bf16",
            )
        optimizer.step()
        # Early on the average follows quickly: what the first steps made is worth nothing.
        keep = min(plan.average, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, p in named.items():
                average[name].lerp_(p.detach(), 1 - keep)
        frames += stage.frames * crew.size
        told = {"loss": float(mean(loss.detach().clone(), crew)), "gradient": float(whole(norm)), **figures}
        tell(Report(stage.name, step + 1, plan.steps, told, time.perf_counter() - began, frames, step + 1 - done))
        if (step + 1) % plan.save_every == 0 or step + 1 == plan.steps:
            _save(place, step + 1, named, average, optimizer, plan, crew)
            if crew.size == 1:
                _look(stage, folder, step + 1, named, average)
    with torch.no_grad():
        for name, p in named.items():
            p.copy_(average[name])
    module.eval()


def _schedule(step: int, steps: int) -> float:
    """Warm up, then down along a cosine to a twentieth."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    along = (step - WARM_UP) / max(1, steps - WARM_UP)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * along))


def _look(stage: Stage, folder: Path, step: int, named: Mapping[str, Tensor], average: dict[str, Tensor]) -> None:
    """A picture by the averaged weights."""
    kept = {name: p.detach().clone() for name, p in named.items()}
    with torch.no_grad():
        for name, p in named.items():
            p.copy_(average[name])
        picture = stage.picture(stage.module.eval())
        for name, p in named.items():
            p.copy_(kept[name])
    stage.module.train()
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture.numpy()).save(folder / "pictures" / f"{stage.name}-{step:06d}.png")


def _save(
    place: Path,
    step: int,
    named: Mapping[str, Tensor],
    average: dict[str, Tensor],
    optimizer: torch.optim.Optimizer,
    plan: Plan,
    crew: Crew,
) -> None:
    tensors: dict[str, Tensor] = {}
    for name, p in named.items():
        state = optimizer.state[p]
        tensors |= {f"weight.{name}": whole(p), f"average.{name}": whole(average[name])}
        tensors |= {f"{key}.{name}": whole(state[key]) for key in ("exp_avg", "exp_avg_sq")}
    if crew.first:
        with new_folder(place, KIND) as made:
            save_file(tensors, made / "state.safetensors")
            (made / "state.json").write_text(json.dumps({"step": step, "request": plan.request}))
            write_manifest(made, KIND)


def _resume(
    place: Path,
    named: Mapping[str, Tensor],
    average: dict[str, Tensor],
    optimizer: torch.optim.Optimizer,
    plan: Plan,
    device: torch.device,
) -> int:
    """Steps that are made already, their results loaded."""
    if not place.exists():
        return 0
    read_manifest(place, KIND)
    if problems := check_manifest(place, KIND):
        raise WorldwrightError(problems[0], where=str(place), fix="remove the folder: the stage starts anew")
    state = json.loads((place / "state.json").read_text())
    if state.get("request") != plan.request or not isinstance(state.get("step"), int):
        raise WorldwrightError(
            "is of a run with other settings", where=str(place), fix="name another folder, or the settings that it was begun with"
        )
    tensors = read_tensors(place / "state.safetensors", torch.device("cpu"))
    with torch.no_grad():
        for name, p in named.items():
            for prefix in ("weight", "average", "exp_avg", "exp_avg_sq"):
                if f"{prefix}.{name}" not in tensors or tensors[f"{prefix}.{name}"].shape != p.shape:
                    raise WorldwrightError(f"has no {prefix} of {name}", where=str(place), fix="is it of another preset?")
            p.copy_(part_of(tensors[f"weight.{name}"], p))
            average[name].copy_(part_of(tensors[f"average.{name}"], p))
            optimizer.state[p] = {
                "step": torch.tensor(float(state["step"]), dtype=torch.float32, device=device if device.type == "cuda" else None),
                "exp_avg": part_of(tensors[f"exp_avg.{name}"], p),
                "exp_avg_sq": part_of(tensors[f"exp_avg_sq.{name}"], p),
            }
    return int(state["step"])
