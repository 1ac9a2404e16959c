"""What costs to set up and is the same for every shot of a world: its geometry, and a renderer that is open for it.

One process that renders or verifies several shots keeps a ``Stage`` between them. It holds little: the last few worlds, one renderer. Assets
are read when a world is first met; a pack that changes under a running process is seen by the next process.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.errors import WorldwrightError
from worldwright.render.protocol import Renderer, Scenery
from worldwright.render.registry import make_renderer
from worldwright.take.reader import Take
from worldwright.world.files import resolve_packs, world_hash
from worldwright.world.looks import put_on
from worldwright.world.spec import Look, World

KEPT_WORLDS = 3


class Stage:
    """A cache for one thread. Close it, or use it in a ``with``. ``packs``: name to folder of the asset packs of its worlds."""

    def __init__(self, packs: Mapping[str, Path]) -> None:
        self.packs = dict(packs)
        self._geometry: OrderedDict[str, SceneGeometry] = OrderedDict()
        self._artist: tuple[tuple[object, ...], Renderer] | None = None
        self._open_for: tuple[object, ...] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the renderer; forget the rest."""
        self.dismiss()
        self._geometry.clear()

    def dismiss(self) -> None:
        """Free the renderer, with the pictures that it may still hold: after an error nobody knows which those are."""
        if self._artist is not None:
            self._artist[1].close()
        self._artist = self._open_for = None

    def geometry(self, world: World) -> SceneGeometry:
        """A world's geometry. Raises WorldwrightError for a missing or bad asset."""
        key = world_hash(world)
        if key not in self._geometry:
            self._geometry[key] = build_scene(world, resolve_packs(world, None, self.packs))
            while len(self._geometry) > KEPT_WORLDS:
                self._geometry.popitem(last=False)
        self._geometry.move_to_end(key)
        return self._geometry[key]

    def artist(self, name: str, device: str = "auto", *, made_on: str | None = None) -> Renderer:
        """The renderer ``name``, not yet open for a scene. ``made_on`` names a device as a driver does: where the machine has several,
        the one of that name is taken if it is there."""
        key = (name, device, made_on)
        if self._artist is not None and self._artist[0] == key:
            return self._artist[1]
        self.dismiss()
        renderer = make_renderer(name, device)
        if made_on is not None and renderer.device != made_on:
            renderer = _on_cpu(renderer, name, made_on)
        self._artist = (key, renderer)
        return renderer

    def open(
        self, artist: Renderer, take: Take, look: Look | None, width: int, height: int, passes: Sequence[str], samples: int | None
    ) -> Renderer:
        """``artist``, open for a take's scenery at a size: as it stands where it is open for them already.

        Raises:
            WorldwrightError: a renderer that cannot show takes of this engine, or what ``Renderer.open`` refuses.
        """
        header = take.header
        if artist.engine not in (None, header.engine):
            raise WorldwrightError(
                f"renderer {artist.name!r} shows takes of engine {artist.engine!r} alone, this one is of {header.engine!r}",
                where=str(take.path),
                fix="name another renderer",
            )
        attachments = take.attachments()
        digest = hashlib.blake2b(b"".join(attachments[name] for name in sorted(attachments))).hexdigest()
        world = header.world if look is None else put_on(header.world, look)
        key = (id(artist), world_hash(world), header.body_ids, header.tick_rate, digest, width, height, tuple(passes), samples)
        if self._open_for != key:
            self._open_for = None
            scenery = Scenery(world, self.geometry(header.world), header.body_ids, header.tick_rate, attachments)
            artist.open(scenery, width, height, passes, samples)
            self._open_for = key
        return artist


def _on_cpu(renderer: Renderer, name: str, made_on: str) -> Renderer:
    """The software device in place of ``renderer`` where that is ``made_on``."""
    try:
        other = make_renderer(name, "cpu")
    except WorldwrightError:
        return renderer
    if other.device == made_on:
        renderer.close()
        return other
    other.close()
    return renderer
