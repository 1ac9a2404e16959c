"""How large a world model is. One frozen dataclass a module, and the presets that put them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from worldwright.errors import WorldwrightError


@dataclass(frozen=True)
class CodecConfig:
    """``width``: channels at half and quarter size. ``latent``: channels of a latent, a quarter as wide and high as the picture."""

    width: tuple[int, int] = (40, 80)
    blocks: int = 1
    latent: int = 8
    depth_scale: float = 3.0
    """Metres at which depth is half way between near and infinitely far, as it is coded (``codec.code_depth``)."""


@dataclass(frozen=True)
class DynamicsConfig:
    """A causal space-time transformer. ``window``: frames that it sees, the newest with them; ``patch``: latents on a side of a token;
    ``heads`` of ``width // heads``; ``steps`` of denoising when it plays."""

    width: int = 160
    layers: int = 6
    heads: int = 5
    window: int = 8
    patch: int = 2
    mlp: int = 4
    frequencies: int = 8
    steps: int = 4


@dataclass(frozen=True)
class MemoryConfig:
    """``keyframes`` of the capture are kept; ``sources`` of the archive make a sketch; ``grown`` more places for what is dreamed."""

    keyframes: int = 1200
    sources: int = 10
    grown: int = 256


@dataclass(frozen=True)
class ModelConfig:
    """A whole model."""

    preset: str
    codec: CodecConfig
    dynamics: DynamicsConfig
    memory: MemoryConfig


PRESETS: Mapping[str, ModelConfig] = {
    "tiny": ModelConfig("tiny", CodecConfig(), DynamicsConfig(), MemoryConfig()),
    "small": ModelConfig(
        "small",
        CodecConfig((128, 192), 2, 12),
        DynamicsConfig(width=512, layers=12, heads=8, window=16),
        MemoryConfig(keyframes=4000, grown=1024),
    ),
    "large": ModelConfig(
        "large",
        CodecConfig((256, 384), 3, 16),
        DynamicsConfig(width=1536, layers=28, heads=24, window=32),
        MemoryConfig(keyframes=16000, grown=4096),
    ),
}
"""tiny: a CPU; small: one GPU; large: many."""

_T = TypeVar("_T")


def preset(name: str) -> ModelConfig:
    """A preset by name. Raises WorldwrightError for one that is none."""
    if name not in PRESETS:
        raise WorldwrightError(f"no preset {name!r}", where="preset", fix=f"one of {', '.join(PRESETS)}")
    return PRESETS[name]


def to_document(config: ModelConfig) -> dict[str, Any]:
    """As plain values."""
    return asdict(config)


LIMITS = {
    "width": 4096,
    "layers": 128,
    "heads": 64,
    "window": 256,
    "patch": 8,
    "mlp": 8,
    "frequencies": 32,
    "steps": 64,
    "blocks": 8,
}
LIMITS |= {"latent": 64, "keyframes": 100_000, "sources": 32, "grown": 100_000}
"""What a checkpoint of a stranger's may ask for at most."""


def from_document(data: Any, where: str) -> ModelConfig:
    """From plain values of an untrusted file. Raises WorldwrightError for what is missing, unknown, of another type or too large."""
    if not isinstance(data, dict) or set(data) != {"preset", "codec", "dynamics", "memory"} or not isinstance(data["preset"], str):
        raise WorldwrightError("has no whole model config", where=where, fix="train again")
    return ModelConfig(
        data["preset"][:64],
        _part(CodecConfig, data["codec"], f"{where}: codec"),
        _part(DynamicsConfig, data["dynamics"], f"{where}: dynamics"),
        _part(MemoryConfig, data["memory"], f"{where}: memory"),
    )


def _part(kind: type[_T], data: Any, where: str) -> _T:
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(data, dict) or set(data) != names:
        raise WorldwrightError(f"the fields are not {', '.join(sorted(names))}", where=where, fix="train again")
    values: dict[str, Any] = {}
    usual: dict[str, Any] = {field.name: field.default for field in fields(kind)}  # type: ignore[arg-type]
    for name, value in data.items():
        if isinstance(usual[name], tuple) and (not isinstance(value, list | tuple) or len(value) != len(usual[name])):
            raise WorldwrightError(
                f"{name} is {value!r}", where=where, fix=f"{len(usual[name])} numbers: a model of another version; train again"
            )
        many = value if isinstance(value, list | tuple) else [value]
        for one in many:
            if isinstance(one, bool) or not isinstance(one, int | float) or not 0 < one <= LIMITS.get(name, 4096):
                raise WorldwrightError(f"{name} is {value!r}", where=where, fix=f"above 0, at most {LIMITS.get(name, 4096)}")
        values[name] = tuple(many) if isinstance(value, list | tuple) else value
    return kind(**values)
