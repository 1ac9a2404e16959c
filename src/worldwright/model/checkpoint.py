"""A trained model as a folder: ``model.json``, weights and keyframes as safetensors, ``_DONE`` last. Nothing in it is ever run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from worldwright.errors import WorldwrightError
from worldwright.model.codec import FACTOR, Codec
from worldwright.model.config import ModelConfig, from_document, to_document
from worldwright.model.dynamics import Dynamics
from worldwright.outputs import check_manifest, new_folder, write_manifest

FORMAT = "worldwright.model/1"
KIND = "model"
MODEL, CODEC, DYNAMICS, MEMORY = "model.json", "codec.safetensors", "dynamics.safetensors", "memory.safetensors"
MAX_JSON = 1 << 20
MAX_SIDE = 4096


@dataclass(frozen=True)
class Lens:
    """The pictures that a model makes: size in pixels, frames a second, ``K`` (fx, fy, cx, cy in pixels), and how the camera rides."""

    width: int
    height: int
    fps: int
    K: tuple[float, float, float, float]
    camera: str

    def matrix(self) -> Tensor:
        """K as [3, 3] float32."""
        fx, fy, cx, cy = self.K
        return torch.tensor([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Keyframes:
    """What the model remembers of the capture: rgb [N, H, W, 3] uint8, depth [N, H, W] float32, c2w [N, 4, 4] float64, state [N, 8]
    float32 (``observation.state``), episode and frame [N] int64."""

    rgb: Tensor
    depth: Tensor
    c2w: Tensor
    state: Tensor
    episode: Tensor
    frame: Tensor


@dataclass(frozen=True)
class Trained:
    """A whole model, in memory."""

    config: ModelConfig
    lens: Lens
    codec: Codec
    dynamics: Dynamics
    keyframes: Keyframes
    walker: dict[str, Any]
    record: dict[str, Any]


def make_modules(config: ModelConfig, lens: Lens) -> tuple[Codec, Dynamics]:
    """Fresh modules. Raises WorldwrightError for a size that does not divide into tokens."""
    side = config.dynamics.patch * FACTOR
    if lens.width % side or lens.height % side:
        raise WorldwrightError(
            f"pictures of {lens.width}x{lens.height} do not divide into tokens of {side} pixels",
            where=f"preset {config.preset}",
            fix=f"render them with sides that are multiples of {side}, such as {max(side, lens.width // side * side)}x{max(side, lens.height // side * side)}",
        )
    codec = Codec(config.codec)
    return codec, Dynamics(config.dynamics, config.codec.latent, lens.height, lens.width)


def save(folder: Path, trained: Trained) -> None:
    """Write a model. Raises WorldwrightError for a folder that is something else."""
    with new_folder(folder, KIND) as place:
        document = {
            "format": FORMAT,
            "config": to_document(trained.config),
            "lens": trained.lens.__dict__,
            "walker": trained.walker,
            "record": trained.record,
        }
        (place / MODEL).write_text(json.dumps(document, indent=1, sort_keys=True))
        save_file(_plain(trained.codec), place / CODEC)
        save_file(_plain(trained.dynamics), place / DYNAMICS)
        save_file({name: value.contiguous().cpu() for name, value in trained.keyframes.__dict__.items()}, place / MEMORY)
        write_manifest(place, KIND)


def _plain(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().contiguous().cpu() for name, value in module.state_dict().items()}


def load(folder: Path, device: torch.device) -> Trained:
    """Read a model that nobody vouches for. Raises WorldwrightError for what is missing, damaged, or not what it says."""
    if not folder.is_dir():
        raise WorldwrightError("is no folder", where=str(folder), fix="name a folder that worldwright train made")
    if problems := check_manifest(folder, KIND):
        raise WorldwrightError(problems[0], where=str(folder), fix="train again, or copy the folder again")
    document = _document(folder / MODEL)
    config = from_document(document["config"], f"{folder / MODEL}: config")
    lens = _lens(document["lens"], f"{folder / MODEL}: lens")
    codec, dynamics = make_modules(config, lens)
    _fill(codec, folder / CODEC, device)
    _fill(dynamics, folder / DYNAMICS, device)
    keyframes = _keyframes(folder / MEMORY, lens, config, device)
    return Trained(config, lens, codec, dynamics, keyframes, document["walker"], document["record"])


def _document(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_JSON:
            raise WorldwrightError(f"is over {MAX_JSON >> 20} MB", where=str(path), fix="train again")
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise WorldwrightError(
            f"cannot be read ({error})", where=str(path), fix="name a folder that worldwright train made"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorldwrightError(f"is not of the format {FORMAT}", where=str(path), fix="train it with this version")
    for name in ("config", "lens", "walker", "record"):
        if not isinstance(document.get(name), dict):
            raise WorldwrightError(f"has no {name}", where=str(path), fix="train again")
    return document


def _lens(data: Mapping[str, Any], where: str) -> Lens:
    def whole(name: str, most: int) -> int:
        value = data.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise WorldwrightError(f"{name} is {value!r}", where=where, fix=f"1 to {most}")
        return value

    k, camera = data.get("K"), data.get("camera")
    if not isinstance(k, list) or len(k) != 4 or not all(isinstance(x, int | float) and abs(x) < 1e6 for x in k) or min(k[:2]) <= 0:
        raise WorldwrightError(f"K is {k!r}", where=where, fix="fx, fy, cx, cy in pixels")
    if not isinstance(camera, str) or len(camera) > 200:
        raise WorldwrightError("has no camera", where=where, fix="train again")
    return Lens(whole("width", MAX_SIDE), whole("height", MAX_SIDE), whole("fps", 240), (k[0], k[1], k[2], k[3]), camera)


def read_tensors(path: Path, device: torch.device) -> dict[str, Tensor]:
    """All tensors of a safetensors file. Raises WorldwrightError for one that is none."""
    try:
        return load_file(path, device=str(device))
    except (OSError, SafetensorError, ValueError) as error:
        raise WorldwrightError(
            f"holds no safetensors ({error})", where=str(path), fix="train again, or copy the file again"
        ) from error


def _fill(module: nn.Module, path: Path, device: torch.device) -> None:
    found, wanted = read_tensors(path, device), module.state_dict()
    for name in sorted(set(found) ^ set(wanted)):
        raise WorldwrightError(
            f"{name} is {'missing' if name in wanted else 'not of this model'}", where=str(path), fix="is it of another preset?"
        )
    for name, value in found.items():
        if value.shape != wanted[name].shape or value.dtype != wanted[name].dtype:
            raise WorldwrightError(
                f"{name} is {list(value.shape)} {value.dtype}, expected {list(wanted[name].shape)} {wanted[name].dtype}",
                where=str(path),
                fix="is it of another preset?",
            )
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise WorldwrightError(f"{name} is not finite", where=str(path), fix="train again")
    module.load_state_dict(found)
    module.to(device).eval().requires_grad_(False)


def _keyframes(path: Path, lens: Lens, config: ModelConfig, device: torch.device) -> Keyframes:
    found = read_tensors(path, device)
    n = len(found["c2w"]) if "c2w" in found and found["c2w"].ndim == 3 else 0
    picture = (n, lens.height, lens.width)
    forms: dict[str, tuple[tuple[int, ...], torch.dtype]] = {
        "rgb": ((*picture, 3), torch.uint8),
        "depth": (picture, torch.float32),
        "c2w": ((n, 4, 4), torch.float64),
        "state": ((n, 8), torch.float32),
        "episode": ((n,), torch.int64),
        "frame": ((n,), torch.int64),
    }
    for name, (shape, dtype) in forms.items():
        if name not in found or tuple(found[name].shape) != shape or found[name].dtype != dtype:
            raise WorldwrightError(f"{name} is not {list(shape)} {dtype}", where=str(path), fix="train again")
    if not 1 <= n <= config.memory.keyframes:
        raise WorldwrightError(f"{n} keyframes", where=str(path), fix=f"1 to {config.memory.keyframes}")
    for name in ("c2w", "state"):
        if not bool(torch.isfinite(found[name]).all()):
            raise WorldwrightError(f"{name} is not finite", where=str(path), fix="train again")
    return Keyframes(**{name: found[name] for name in forms})
