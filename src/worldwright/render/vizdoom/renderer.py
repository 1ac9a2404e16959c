"""Plays the demo of a take again and takes ViZDoom's own pictures: see ``render.protocol.Renderer``.

Every picture is checked to be the take's: where the game's camera is not exactly where the take has it, the demo does not follow the
take. Normals, base colour and flow it does not have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.engine.vizdoom.game import ENGINE, VERSION, Game, level_of, resolutions
from worldwright.engine.vizdoom.views import CAMERA, camera, place
from worldwright.errors import WorldwrightError
from worldwright.render.declared import declarations, declared_entity
from worldwright.render.protocol import Moment, Scenery
from worldwright.render.vizdoom.depth import declared_depth, depth_tables
from worldwright.take.model import Instant

DEMO = "demo.lmp"
SLACK = 1e-9
"""Of the camera's axes, which the take keeps as a quaternion; its place must be exact."""
WALLS, FLATS = 0, 1
"""Labels of what is no thing. Things have others."""
_SHAPES = ((4, 3), (16, 9), (16, 10))
"""Sides of the pictures whose camera is the one that we declare."""


@dataclass
class _Open:
    """What lives from ``open`` to ``close``."""

    scenery: Scenery
    game: Game
    demo: bytes
    width: int
    height: int
    passes: tuple[str, ...]
    tick: int
    """What is shown; -1: nothing yet."""
    tables: NDArray[np.uint16]
    level: int
    """The id of what is no thing."""
    names: Mapping[int, str]
    """Of each body, in small letters and without its number."""
    stands: int = -1
    """Where the game is: it may be ahead of what is shown."""
    stride: int = 0
    """Tics between the last two pictures: so many it is played on while pictures are made."""
    pending: int = 0
    """Tics that it is being played on now."""
    over: bool = False
    last: Any = None
    """ViZDoom's last state with a picture."""


class VizdoomRenderer:
    """ViZDoom's software renderer on a CPU, whatever the device asked for."""

    name = ENGINE
    version = VERSION
    tone_curve = "Doom's palette of 256 colours, darkened with distance as the game does"
    passes: tuple[str, ...] = ("rgb", "depth", "entity")
    samples: int | None = None
    engine: str | None = ENGINE
    rigs: tuple[str, ...] | None = ("first",)

    def __init__(self, device: str = "auto") -> None:
        if device == "gpu":
            raise WorldwrightError("ViZDoom draws on the CPU", where="device", fix="say auto or cpu")
        self.device = "CPU (Doom's software renderer)"
        self._open: _Open | None = None
        self._pictures: deque[dict[str, NDArray[Any]]] = deque()

    def open(self, scenery: Scenery, width: int, height: int, passes: Sequence[str], samples: int | None = None) -> None:
        """Start the game at a size. Raises WorldwrightError for a size or pass that it does not have, or a take without a whole demo."""
        self.close()
        if samples is not None:
            raise WorldwrightError(f"{samples} samples a pixel", where="preset", fix="ViZDoom does not sample: leave them out")
        if (width, height) not in sizes():
            known = ", ".join(f"{w}x{h}" for w, h in sizes())
            raise WorldwrightError(f"ViZDoom has no pictures of {width}x{height}", where="preset", fix=f"choose one of {known}")
        if unknown := [name for name in passes if name not in self.passes]:
            raise WorldwrightError(f"no pass {', '.join(unknown)}", fix=f"choose from {', '.join(self.passes)}")
        level = level_of(scenery.world.level, scenery.world.name)
        if DEMO not in scenery.attachments:
            raise WorldwrightError("the take has no demo file", where="renderer vizdoom", fix="record it to its end")
        world = scenery.world
        game = Game(level, 0, width, height, pictures=True)
        self._open = _Open(
            scenery=scenery,
            game=game,
            demo=scenery.attachments[DEMO],
            width=width,
            height=height,
            passes=tuple(passes),
            tick=-1,
            tables=depth_tables(height),
            level=next((world.entity_id(k) for k, entity in enumerate(world.entities) if entity.label == "level"), 1),
            names={id: world.entities[id - 1].name.rpartition(" ")[0].lower() for id in scenery.body_ids},
        )
        try:
            self._start(self._open)
        except BaseException:
            self.close()
            raise

    def declares(self) -> dict[str, dict[str, Any]]:
        """See ``declared.py``; of what is open."""
        at = self._opened()
        return declarations(declared_depth(at.height), declared_entity(at.scenery.world))

    def submit(self, moment: Moment) -> None:
        """Play on to a moment, or again from the start where it lies behind, and take the pictures."""
        at = self._opened()
        if moment.shutter:
            raise WorldwrightError("motion blur", where="renderer vizdoom", fix="Doom has nothing between two tics: leave it out")
        tick = moment.now.tick
        if tick != int(tick):
            raise WorldwrightError(f"tick {tick}", where="renderer vizdoom", fix="Doom has nothing between two tics")
        self._go_to(at, int(tick))
        self._check(at, moment.now)
        self._play_on(at)
        self._pictures.append(self._take(at, moment.now))

    def collect(self) -> dict[str, NDArray[Any]]:
        """The oldest picture submitted."""
        if not self._pictures:
            raise WorldwrightError("no picture was submitted", where="renderer vizdoom")
        return self._pictures.popleft()

    def close(self) -> None:
        """End the game."""
        if self._open is not None:
            self._open.game.close()
        self._open = None
        self._pictures.clear()

    def _opened(self) -> _Open:
        if self._open is None:
            raise WorldwrightError("the renderer is not open", where="renderer vizdoom", fix="call open first")
        return self._open

    # --- the game -----------------------------------------------------------------------------------------------------------

    def _start(self, at: _Open) -> None:
        at.game.replay(at.demo)
        at.tick = at.stands = 0
        at.over, at.last = False, at.game.state()

    def _go_to(self, at: _Open, tick: int) -> None:
        """Bring the game to a tick. Once it is over its last picture stays."""
        if at.pending:
            at.game.wait()
            at.stands, at.pending = at.stands + at.pending, 0
        if tick < at.stands:
            self._start(at)
        shown, at.stride = at.tick, max(tick - at.tick, 0)
        if not at.over:
            at.game.advance(tick - at.stands)
            if (state := at.game.state()) is not None:
                at.last = state
            else:
                self._find_end(at, shown)
        at.tick = at.stands = tick

    def _find_end(self, at: _Open, shown: int) -> None:
        """The last picture before the game is over, by single steps from where it was not."""
        self._start(at)
        at.game.advance(shown)
        while (state := at.game.state()) is not None:
            at.last = state
            at.game.advance(1)
        at.over = True

    def _play_on(self, at: _Open) -> None:
        """Let the game come to where the next picture may be wanted, while this one's are made."""
        if not at.over and at.stride and at.game.advance_meanwhile(at.stride):
            at.pending = at.stride

    def _check(self, at: _Open, now: Instant) -> None:
        """The game's camera must be the take's."""
        if at.over:
            return  # it stands still where it was: that was checked
        found, wanted = camera(at.game.variables(CAMERA)), now.cameras["first"]
        off = float(np.abs(found[:3, 3] - wanted[:3, 3]).max())
        if off > 0 or not np.allclose(found, wanted, rtol=0, atol=SLACK):
            raise WorldwrightError(
                f"the demo does not follow the take: at tick {at.tick} its camera is {off:.6f} m off",
                where="renderer vizdoom",
                fix="record the take again with the vizdoom that is installed here",
            )

    # --- pictures -----------------------------------------------------------------------------------------------------------

    def _take(self, at: _Open, now: Instant) -> dict[str, NDArray[Any]]:
        state = at.last
        out: dict[str, NDArray[Any]] = {}
        if "rgb" in at.passes:
            out["rgb"] = state.screen_buffer
        if "depth" not in at.passes and "entity" not in at.passes:
            return out
        labels, codes = state.labels_buffer, state.depth_buffer
        depth = at.tables[WALLS].take(codes)
        np.copyto(depth, at.tables[FLATS].take(codes), where=labels == FLATS)
        things = np.flatnonzero(labels > FLATS)
        depth.ravel()[things] = at.tables[2].take(codes.ravel()[things])
        if "depth" in at.passes:
            out["depth"] = depth
        if "entity" in at.passes:
            entity = np.full(labels.shape, at.level, dtype=np.uint16)
            entity.ravel()[things] = self._ids(at, state.labels, now).take(labels.ravel()[things])
            np.copyto(entity, 0, where=depth == 0)  # the sky, and what is beyond the last code
            out["entity"] = entity
        return out

    def _ids(self, at: _Open, labels: Sequence[Any], now: Instant) -> NDArray[np.uint16]:
        """[256] the entity of every label: the body that the take has where the game has the thing."""
        ids = np.full(256, at.level, dtype=np.uint16)
        places = now.positions.astype(np.float32)
        taken = set()
        for label in labels:
            if label.value in (WALLS, FLATS) or label.value in taken:
                raise WorldwrightError(
                    f"more things are in view than ViZDoom can tell apart at tick {at.tick}",
                    where="renderer vizdoom",
                    fix="leave out entity",
                )
            taken.add(label.value)
            where = np.array(place(label.object_position_x, label.object_position_y, label.object_position_z), dtype=np.float32)
            found = [at.scenery.body_ids[row] for row in np.flatnonzero((places == where).all(axis=1))]
            if not found:
                raise WorldwrightError(
                    f"the demo does not follow the take: at tick {at.tick} there is a {label.object_name} where the take has nothing",
                    where="renderer vizdoom",
                    fix="record the take again with the vizdoom that is installed here",
                )
            name = label.object_name.lower()
            named = [id for id in found if at.names[id] in (name, name.removeprefix("dead"))]
            spare = [id for id in found if at.names[id] == "spare"]
            ids[label.value] = (named or spare or found)[0]
        return ids


def sizes() -> list[tuple[int, int]]:
    """Width and height of the pictures that can be had, both even, smallest first."""
    return sorted((w, h) for w, h in resolutions() if w % 2 == 0 and h % 2 == 0 and any(w * b == h * a for a, b in _SHAPES))
