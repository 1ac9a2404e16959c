"""An engine's world, played and drawn live; its play can be recorded as a take like any other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from worldwright.assets.scene import build_scene
from worldwright.engine.protocol import DEFAULT_TICK_RATE, State
from worldwright.engine.registry import make_engine
from worldwright.errors import WorldwrightError
from worldwright.outputs import FULL, check_new_file
from worldwright.play.session import Picture
from worldwright.record.inputs import action_controls
from worldwright.record.loop import header_of
from worldwright.record.rates import check_rates
from worldwright.render.cameras import make_camera
from worldwright.render.passes import decode
from worldwright.render.protocol import Moment, Scenery, View
from worldwright.render.registry import make_renderer
from worldwright.take.model import CharacterInstant, Instant
from worldwright.take.writer import TakeWriter
from worldwright.world.files import world_hash
from worldwright.world.looks import put_on
from worldwright.world.spec import Look, World

POLICY = "person"
TRIED = 4
"""Pictures that are timed at a size."""
BUSY = 0.75
"""Share of a frame that drawing may take: physics and encoding need the rest."""
LONGEST_S = 1800
"""Seconds of a recording by a person; then it is closed, whole."""


class EngineSession:
    """A world in an engine and before a camera.

    Args:
        world: the world. packs: the folder of each pack that it uses.
        width, height: of the pictures, pixels.
        camera: ``first``, ``third``, or whatever ``render.cameras.make_camera`` takes.
        fps: frames a second, a divisor of ``tick_rate``.
        passes: ``rgb``, and ``depth`` where pictures shall have it.
        look: light and weather other than the world's own.
        device: auto, cpu or gpu, for the renderer.

    Raises:
        WorldwrightError: rates that do not fit, a world that cannot be loaded or is another engine's, no such camera.
    """

    kind: Literal["engine", "model"] = "engine"

    def __init__(
        self,
        world: World,
        packs: Mapping[str, Path],
        *,
        width: int = 640,
        height: int = 360,
        camera: str = "first",
        fps: int = 24,
        tick_rate: int = DEFAULT_TICK_RATE,
        sample_rate: int = 120,
        passes: Sequence[str] = ("rgb",),
        look: Look | None = None,
        device: str = "auto",
    ) -> None:
        if world.level is not None:
            raise WorldwrightError(
                f"is a level of {world.level.engine}",
                where=world.name,
                fix="play a world of another family: this plays worlds of ours",
            )
        self.fps, self.width, self.height, self.passes = fps, width, height, tuple(passes)
        self._world, self._packs, self._camera_name = world, dict(packs), camera
        frame_ticks, sample_ticks = check_rates(tick_rate, fps, sample_rate)
        self._rates = tick_rate, sample_ticks, frame_ticks
        self._frame = 0
        self._seed: int | None = None
        self._writer: TakeWriter | None = None
        self._state: State
        self._engine, self._renderer = make_engine("panda"), make_renderer("raster", device)
        try:
            self._load(0)
            shown = world if look is None else put_on(world, look)
            self._scenery = Scenery(shown, build_scene(world, packs), tuple(self._engine.body_ids), tick_rate)
            self._renderer.open(self._scenery, width, height, self.passes)
        except BaseException:
            self.close()
            raise

    @property
    def K(self) -> NDArray[np.float64]:  # noqa: N802 (the name of a lens, here as everywhere)
        """The lens [3, 3] in pixels."""
        return self._view().K

    @property
    def world_hash(self) -> str:
        """Which world it is."""
        return world_hash(self._world)

    @property
    def recording(self) -> Path | None:
        """The take that is being recorded."""
        return None if self._writer is None else self._writer.path

    def reset(self, seed: int = 0) -> Picture:
        """Back to the world's beginning; a recording ends first and is kept."""
        self.stop_recording()
        self._load(seed)
        return self.look()

    def step(self, action: ArrayLike) -> Picture:
        """A frame later, after ``action`` [10] (``controls.ACTION_NAMES``)."""
        self.advance(action)
        return self.look()

    def advance(self, action: ArrayLike) -> None:
        """A frame later, without a picture of it: who is late plays on and looks again when there is time."""
        tick_rate, sample_ticks, frame_ticks = self._rates
        values = np.asarray(action, dtype=np.float64).reshape(-1).tolist()
        controls = action_controls(values, frame_ticks)
        writer, first = self._writer, self._frame * frame_ticks
        try:
            if writer is not None:
                writer.frame("")
            for k, control in enumerate(controls):
                if writer is not None:
                    writer.input(first + k, control)
                self._engine.tick(control)
                if (k + 1) % sample_ticks == 0 and writer is not None:
                    self._state = self._engine.state()
                    writer.sample(self._state)
        except OSError as error:
            raise self._abort(error) from error
        if writer is None:
            self._state = self._engine.state()
        self._frame += 1
        if writer is not None and self._frame >= LONGEST_S * tick_rate // frame_ticks:
            self.stop_recording()

    def look(self) -> Picture:
        """What is seen now."""
        instant = instant_of(self._state)
        view = self._camera.view(instant, self.width, self.height)
        self._renderer.submit(Moment(instant, view, instant, view))
        planes = self._renderer.collect()
        depth = decode("depth", planes["depth"]) if "depth" in planes else None
        info = {"flags": self._state.characters[0].flags, "recording": self._writer is not None}
        return Picture(planes["rgb"], view.c2w, self._frame, depth, info)

    def pose(self) -> NDArray[np.float64]:
        """Where the camera is, c2w [4, 4], without a picture."""
        return self._view().c2w

    def resize(self, width: int, height: int) -> None:
        """Pictures of another size from now on, in pixels."""
        self._renderer.open(self._scenery, width, height, self.passes)
        self.width, self.height = width, height

    def suit(self, shares: Sequence[float] = (1.0, 0.75, 0.5)) -> None:
        """Take the largest share of the size of now that this machine draws within its frame, as it is now: a few pictures of each are timed.
        Where even the smallest takes longer, that one is kept."""
        width, height = self.width, self.height
        for share in shares:
            if share != 1.0:
                self.resize(even(width * share), even(height * share))
            self.look()  # the first picture compiles what it needs
            start = time.perf_counter()
            for _ in range(TRIED):
                self.look()
            if (time.perf_counter() - start) / TRIED < BUSY / self.fps:
                return

    def state(self) -> NDArray[np.float32]:
        """The played character as a row of a dataset's ``observation.state`` [8]: feet, yaw, pitch, velocity."""
        c = self._state.characters[0]
        return np.array([*c.position, c.yaw, c.pitch, *c.velocity], dtype=np.float32)

    # --- recording ---

    def start_recording(self, out: Path, params: Mapping[str, object] | None = None) -> Picture:
        """Begin anew and record from there: a take is whole only from its world's beginning on. Raises WorldwrightError where ``out`` cannot be
        written."""
        check_new_file(out, "take", b"\x89MCAP")
        picture = self.reset(self._seed or 0)
        header = header_of(
            self._engine,
            self._world,
            self._packs,
            self._state,
            policy=POLICY,
            params=dict(params or {}),
            seed=self._seed or 0,
            rates=self._rates,
        )
        try:
            self._writer = TakeWriter(out, header)
            self._writer.sample(self._state)
        except OSError as error:
            raise self._abort(error, out) from error
        return picture

    def stop_recording(self) -> Path | None:
        """Close the take and return its path; None where none was recorded, or nothing was done in it."""
        writer, self._writer = self._writer, None
        if writer is None:
            return None
        try:
            if self._frame == 0:
                writer.abort()
                writer.part.unlink(missing_ok=True)
                return None
            writer.close()
        except OSError as error:
            self._writer = writer
            raise self._abort(error) from error
        return writer.path

    def _abort(self, error: OSError, out: Path | None = None) -> WorldwrightError:
        """The recording cannot go on; the play can."""
        writer, self._writer = self._writer, None
        part = writer.abort() if writer is not None else None
        reason = "the disk is full" if error.errno in FULL else f"cannot be written ({error.strerror or error})"
        kept = f"; what was recorded so far is in {part}: read it with --partial" if part else ""
        return WorldwrightError(
            f"{reason}; the recording has ended",
            where=str(out or (writer and writer.path) or ""),
            fix=f"make room, then record again{kept}",
        )

    def close(self) -> None:
        """Keep what is being recorded; free everything."""
        try:
            self.stop_recording()
        finally:
            self._engine.close()
            self._renderer.close()

    # --- within ---

    def _load(self, seed: int) -> None:
        if seed == self._seed:
            self._engine.reset()
        else:
            self._engine.load(self._world, self._packs, tick_rate=self._rates[0], seed=seed)
            self._seed = seed
        self._state = self._engine.state()
        self._frame = 0
        header = header_of(
            self._engine, self._world, {}, self._state, policy=POLICY, params={}, seed=seed, rates=self._rates, assets=False
        )
        self._camera = make_camera(self._camera_name, header)

    def _view(self) -> View:
        return self._camera.view(instant_of(self._state), self.width, self.height)


def even(pixels: float) -> int:
    """The nearest even whole number of pixels, 16 at least."""
    return max(16, 2 * round(pixels / 2))


def instant_of(state: State) -> Instant:
    """An engine's state as a renderer takes it."""
    return Instant(
        tick=float(state.tick),
        positions=np.asarray(state.positions, dtype=np.float64),
        rotations=np.asarray(state.rotations, dtype=np.float64),
        linear=np.asarray(state.linear, dtype=np.float64),
        angular=np.asarray(state.angular, dtype=np.float64),
        characters=tuple(
            CharacterInstant(
                c.id, np.array(c.position), c.yaw, c.pitch, np.array(c.velocity), c.flags, c.clip, c.clip_time, c.ground, c.bones
            )
            for c in state.characters
        ),
        contacts=state.contacts,
        cameras=state.cameras,
    )
