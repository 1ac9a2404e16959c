"""What costs to make and is the same for every shot of a take: its geometry, the probe, an open renderer, the replay's outcome.

Verifying many shots of few takes (a run of the factory, the benchmark of faults) passes one ``Context`` to all of them. It holds little:
the last few worlds, one renderer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.engine.probe import GeometryProbe
from worldwright.render.info import ShotInfo
from worldwright.render.protocol import Renderer
from worldwright.render.registry import renderer_names
from worldwright.render.stage import Stage
from worldwright.take.reader import Take
from worldwright.verify.skinned import Surface, surface_of
from worldwright.verify.verdict import Check
from worldwright.world.files import resolve_packs, world_hash
from worldwright.world.spec import World

KEPT_WORLDS = 3
KEPT_VERDICTS = 64


@dataclass(frozen=True)
class Scene:
    """A world's geometry as verification needs it. ``holes`` are ids of entities with cut-out surfaces, through which a ray and a
    picture may disagree; ``two_sided`` ids that are seen from behind; ``surfaces`` those of the characters by id."""

    world: World
    geometry: SceneGeometry
    holes: NDArray[np.int64]
    two_sided: NDArray[np.int64]
    surfaces: Mapping[int, Surface]


def make_scene(world: World, packs: Mapping[str, Path]) -> Scene:
    """Build a world's geometry. Raises WorldwrightError for a missing or bad asset."""
    return as_scene(world, build_scene(world, resolve_packs(world, None, packs)))


def as_scene(world: World, geometry: SceneGeometry) -> Scene:
    """Geometry with what verification asks about its surfaces."""
    surfaces = [(k, mesh.surface) for k, meshes in geometry.entities.items() for mesh in meshes]
    holes = sorted({k for k, surface in surfaces if surface.alpha_cutoff is not None})
    two_sided = sorted({k for k, surface in surfaces if surface.double_sided})
    skins = {k: surface_of(model) for k, model in geometry.characters.items()}
    return Scene(world, geometry, np.array(holes, dtype=np.int64), np.array(two_sided, dtype=np.int64), skins)


class Context:
    """A cache for one thread. Close it, or use it in a ``with``."""

    def __init__(self, packs: Mapping[str, Path]) -> None:
        self.packs = dict(packs)
        self._scenes: OrderedDict[str, Scene] = OrderedDict()
        self._probes: OrderedDict[tuple[str, tuple[int, ...], bool], GeometryProbe] = OrderedDict()
        self._verdicts: OrderedDict[str, tuple[Check, ...]] = OrderedDict()
        self._stage = Stage(packs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the renderer; forget the rest."""
        self._stage.close()
        self._scenes.clear()
        self._probes.clear()
        self._verdicts.clear()

    def scene(self, world: World) -> Scene:
        """The geometry of a world."""
        key = world_hash(world)
        if key not in self._scenes:
            self._scenes[key] = as_scene(world, self._stage.geometry(world))
            while len(self._scenes) > KEPT_WORLDS:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(key)
        return self._scenes[key]

    def probe(self, world: World, body_ids: tuple[int, ...], *, solid: bool = False) -> GeometryProbe:
        """The ray-caster for a world's visible geometry; ``solid``: for what can be touched alone (no leaves, no flames)."""
        key = (world_hash(world), body_ids, solid)
        if key not in self._probes:
            geometry = self.scene(world).geometry
            shown = SceneGeometry(geometry.collision, geometry.collision, {}, {}) if solid else geometry
            self._probes[key] = GeometryProbe(shown, world, body_ids)
            while len(self._probes) > 2 * KEPT_WORLDS:
                self._probes.popitem(last=False)
        self._probes.move_to_end(key)
        return self._probes[key]

    def renderer(self, info: ShotInfo, take: Take) -> Renderer | None:
        """The shot's renderer, open for its take, look and size; None where it is not installed.

        Where the machine has several devices, the one that the shot was made on, if it is there.
        """
        made_by = info.renderer
        if made_by.name not in renderer_names():
            return None
        artist = self._stage.artist(made_by.name, made_on=made_by.device)
        return self._stage.open(artist, take, info.look, info.width, info.height, info.all_passes, made_by.samples)

    def checks(self, key: str, compute: Callable[[], tuple[Check, ...]]) -> tuple[Check, ...]:
        """The outcome of checks on what ``key`` (a content hash) names, computed once."""
        if key not in self._verdicts:
            self._verdicts[key] = compute()
            while len(self._verdicts) > KEPT_VERDICTS:
                self._verdicts.popitem(last=False)
        return self._verdicts[key]
