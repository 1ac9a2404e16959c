"""What is served: worlds, models, and a model beside the world that it learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from worldwright.errors import WorldwrightError

MODEL_FILE = "model.json"


@dataclass(frozen=True)
class Settings:
    """How scenes are shown: ``width`` and ``height`` of an engine's pictures, its ``look``, packs, the ``device``, denoising ``steps`` of a model."""

    width: int = 640
    height: int = 360
    look: str | None = None
    packs: Mapping[str, str] | None = None
    device: str = "auto"
    steps: int | None = None


@dataclass(frozen=True)
class Source:
    """A world file or a model's folder."""

    kind: Literal["engine", "model"]
    path: Path
    title: str

    def request(self, settings: Settings, *, camera: str = "first", memory: str = "capture") -> dict[str, Any]:
        """What a player process is asked to open."""
        return {
            "kind": self.kind,
            "path": str(self.path.absolute()),
            "memory": memory,
            "camera": camera,
            "width": settings.width,
            "height": settings.height,
            "look": settings.look,
            "packs": dict(settings.packs or {}),
            "device": settings.device,
            "steps": settings.steps,
        }


@dataclass(frozen=True)
class Scene:
    """What a visitor can choose: one source, or a world and the model that runs beside it on the same keys, from the engine's camera."""

    title: str
    sources: tuple[Source, ...]

    def told(self, number: int) -> dict[str, Any]:
        """For the page."""
        return {"scene": number, "title": self.title, "kinds": [source.kind for source in self.sources]}


def find_source(path: Path) -> Source:
    """What a path is. Raises WorldwrightError for what cannot be served, or is no whole world; a model is opened by ``check_model``."""
    if path.is_dir():
        if not (path / MODEL_FILE).is_file():
            raise WorldwrightError("is no model", where=str(path), fix="name a world file, or a folder that worldwright train made")
        return Source("model", path, f"model {path.resolve().name}")
    from worldwright.world.files import load_world

    world = load_world(path)
    if world.level is not None:
        raise WorldwrightError(f"is a level of {world.level.engine}", where=str(path), fix="serve a world of another family")
    return Source("engine", path, f"world {world.name}")


def find_scenes(paths: Sequence[Path]) -> list[Scene]:
    """Every pair of world and model first, since that is why one names both; then each alone."""
    sources = [find_source(path) for path in paths]
    worlds, models = ([s for s in sources if s.kind == kind] for kind in ("engine", "model"))
    pairs = [Scene(f"{world.title} beside {model.title}", (world, model)) for world in worlds for model in models]
    return pairs + [Scene(source.title, (source,)) for source in sources]
