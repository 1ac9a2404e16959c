"""Verifies a take: it is whole, its numbers can be, its rows follow from its inputs, and playing it again gives the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES, MOUSE_RADIANS, Control, Flag
from worldwright.engine.protocol import Engine, Event, State
from worldwright.engine.registry import engine_names, make_engine
from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.take import take_pb2 as pb
from worldwright.take.container import Channels, scan_chunks
from worldwright.take.model import FrameTable
from worldwright.take.reader import Take
from worldwright.take.replay import replay
from worldwright.verify.context import Context, Scene
from worldwright.verify.measure import failed, from_problems, passed, skipped
from worldwright.verify.settings import Exactness, exactness_of
from worldwright.verify.verdict import Check, Verdict

Progress = Callable[[int, int], None]

FASTEST = 80.0
"""Metres a second: a fall of 330 m. What moves faster between two samples was moved by hand."""
TURN_ERROR = 2e-5
"""Radians: yaw is stored as float32, whose steps below 64 rad are at most 4e-6; a frame's turn is a difference of two."""
MOVED_EVENTS = ("appear", "teleport")
"""What has one of these in a frame may be anywhere at its end."""
STEADY_FRAMES = 6
"""Frames in which the same keys were held before motion is expected to have settled into their direction."""
WAY_OFF_DEG = 35.0
LAZY = 0.35
"""Share of the walking speed below which somebody who holds a key and is not stopped counts as not moving."""
CONTRADICTIONS = 0.05
FEWEST_STEADY = 8
HINDERED = Flag.BLOCKED | Flag.SLIDING | Flag.AIRBORNE | Flag.PUSHING | Flag.STEPPING | Flag.HELD


def verify_take(
    path: Path,
    packs: Mapping[str, Path],
    *,
    partial: bool = False,
    progress: Progress | None = None,
    context: Context | None = None,
) -> Verdict:
    """All checks on a take.

    Args:
        path: the .mcap file.
        packs: folders of the asset packs that its world uses.
        partial: judge what can be read of a damaged file; that it is not whole still fails.
        progress: called with (0, 1) and (1, 1).
        context: keeps geometry between calls.

    Raises:
        WorldwrightError: no such file, or a pack is missing.
    """
    if not path.is_file():
        raise WorldwrightError("no such file", where=str(path))
    if progress:
        progress(0, 1)
    try:
        take = Take.open(path, partial=partial)
    except WorldwrightError as error:
        return Verdict("take", str(path), "", [failed("whole", error.line())])
    with take:
        own = context or Context(packs)
        try:
            checks = check_take(take, packs, own.scene(take.header.world))
        finally:
            if context is None:
                own.close()
    if progress:
        progress(1, 1)
    return Verdict("take", str(path), hash_file(path), checks)


def check_take(take: Take, packs: Mapping[str, Path], scene: Scene) -> list[Check]:
    """All checks on an open take. The reader has already refused wrong lengths, clocks, non-finite numbers and unit-less quaternions."""
    try:
        exact = exactness_of(take.header.settings)
    except WorldwrightError as error:
        return [_whole(take), failed("settings", error.line())]
    played, events = _replay(take, packs)
    return [
        _whole(take),
        _assets(take, scene),
        _rows(take),
        _frame_cameras(take),
        _plausible(take),
        _mouse(take, exact),
        _effect(take, exact),
        played,
        _events(take, events),
    ]


def _whole(take: Take) -> Check:
    if not take.complete:
        return failed("whole", f"the file is damaged: {take.damage}; read up to tick {take.last_tick}", value=float(take.last_tick))
    seconds = take.last_tick / take.header.tick_rate
    return passed("whole", f"{take.n_frames} frames, {take.n_samples} samples, {seconds:.2f} s, clocks exact")


def _assets(take: Take, scene: Scene) -> Check:
    found, recorded = dict(scene.geometry.asset_hashes), dict(take.header.assets)
    problems = [
        f"{name}: {'is missing now' if name not in found else 'was not recorded' if name not in recorded else 'is another file than the recorded one'}"
        for name in sorted({*found, *recorded})
        if found.get(name) != recorded.get(name)
    ]
    return from_problems("assets", problems, f"{len(found)} asset files are those recorded")


def _rows(take: Take) -> Check:
    """The recorded frame rows against those derived from inputs and samples."""
    recorded, derived = take.frames(), take.derive_frames(take.header.frame_ticks)
    for name, names in (("issued", ACTION_NAMES), ("effective", EFFECT_NAMES), ("flags", ("flags",))):
        a, b = getattr(recorded, name).reshape(len(recorded), -1), getattr(derived, name).reshape(len(derived), -1)
        if a.shape != b.shape:
            return failed("rows", f"{len(recorded)} rows of {name}, the inputs and samples give {len(derived)}")
        wrong = np.argwhere(a != b)
        if len(wrong):
            frame, column = (int(x) for x in wrong[0])
            return failed(
                "rows",
                f"{name}.{names[column]} is {a[frame, column]!s}, the inputs and samples give {b[frame, column]!s}",
                frame=frame,
                value=float(a[frame, column]),
                limit=float(b[frame, column]),
            )
    return passed("rows", f"{len(recorded)} rows follow from the inputs and samples")


def _frame_cameras(take: Take) -> Check:
    """The cameras written with a frame are those of the sample at its tick."""
    header = take.header
    at: dict[int, bytes] = {}
    for tick, data in take.sample_messages():
        if tick % header.frame_ticks == 0:
            at[tick] = np.array(pb.Sample.FromString(data).cameras).tobytes()
    channels = Channels()
    with take.path.open("rb") as file:
        for ref, chunk in scan_chunks(file, take.path.stat().st_size, partial=not take.complete):
            for message in channels.messages(chunk, cut=ref.cut is not None):
                if message.topic == "/frame":
                    row = pb.Frame.FromString(message.data)
                    if at.get(row.tick) != np.array(row.cameras).tobytes():
                        return failed(
                            "frame_cameras", f"the cameras of frame {row.frame} are not those of its sample", frame=row.frame
                        )
    return passed("frame_cameras", f"{len(at)} samples at frames have the frames' cameras")


def _plausible(take: Take) -> Check:
    """Nothing jumps: between frames no body and no character goes farther than ``FASTEST`` allows, but what appears or is moved elsewhere,
    as an event tells (and the replay confirms)."""
    header = take.header
    seconds = header.frame_ticks / header.tick_rate
    labels = header.world.labels()
    ids = (*header.body_ids, *header.character_ids)
    before: NDArray[np.float64] | None = None
    fastest, at = 0.0, 0
    row_of = {id: row for row, id in enumerate(ids)}
    excused: dict[int, list[int]] = {}
    for event in take.events():
        if event.kind in MOVED_EVENTS and event.entity in row_of and event.tick > 0:
            excused.setdefault((event.tick - 1) // header.frame_ticks + 1, []).append(row_of[event.entity])
    for frame in range(take.n_frames + 1):
        now = take.instant(frame * header.frame_ticks)
        places = np.concatenate([now.positions, [c.position for c in now.characters]])
        if before is not None:
            speed = np.linalg.norm(places - before, axis=-1) / seconds
            speed[excused.get(frame, [])] = 0
            k = int(np.argmax(speed))
            if speed[k] > FASTEST:
                name = labels[ids[k]][0]
                return failed(
                    "plausible", f"{name!r} moves at {speed[k]:.1f} m/s", frame=frame - 1, value=float(speed[k]), limit=FASTEST
                )
            if speed[k] > fastest:
                fastest, at = float(speed[k]), ids[k]
        before = places
    return passed("plausible", f"nothing jumps; fastest: {labels[at][0] if at else 'nobody'} at {fastest:.2f} m/s")


def _mouse(take: Take, exact: Exactness) -> Check:
    """The look turns exactly as the mouse says, to the engine's smallest turn. Frames in which it was held are not judged."""
    table = take.derive_frames(take.header.frame_ticks)
    if not len(table):
        return skipped("mouse", "no frame has an action")
    turn = table.effective[:, EFFECT_NAMES.index("turn_rad")].astype(np.float64)
    expected = -table.issued[:, ACTION_NAMES.index("mouse_dx")].astype(np.float64) * MOUSE_RADIANS
    error = np.abs((turn - expected + np.pi) % (2 * np.pi) - np.pi)
    held = (table.flags & int(Flag.HELD)) != 0
    error[held] = 0
    limit = TURN_ERROR + exact.look_step
    if (worst := int(np.argmax(error))) >= 0 and error[worst] > limit:
        return failed(
            "mouse",
            f"the look turned by {turn[worst]:.6f} rad, the mouse says {expected[worst]:.6f}",
            frame=worst,
            value=float(error[worst]),
            limit=limit,
        )
    pitch = table.effective[:, EFFECT_NAMES.index("pitch_rad")].astype(np.float64)
    expected = -table.issued[:, ACTION_NAMES.index("mouse_dy")].astype(np.float64) * MOUSE_RADIANS
    looks = take.path_of_feet()[:: take.header.frame_ticks // take.header.sample_ticks, 4][: len(pitch) + 1]
    highest, lowest = np.maximum(looks[1:], looks[:-1]), np.minimum(looks[1:], looks[:-1])
    clamped = (highest > exact.look_up - 1e-3) | (lowest < -exact.look_down + 1e-3)
    error = np.where(clamped | held, 0, np.abs(pitch - expected))
    if error[worst := int(np.argmax(error))] > limit:
        return failed(
            "mouse",
            f"the look pitched by {pitch[worst]:.6f} rad, the mouse says {expected[worst]:.6f}",
            frame=worst,
            value=float(error[worst]),
            limit=limit,
        )
    return passed(
        "mouse", f"{len(turn)} frames turn exactly as the mouse says{f', {int(held.sum())} could not' if held.any() else ''}"
    )


def wanted_direction(issued: NDArray[Any]) -> NDArray[np.float64]:
    """Where the keys of rows [N, len(ACTION_NAMES)] point: (forward, right) [N, 2], unit, or 0 where keys cancel or change within a frame."""
    forward, back, left, right = (issued[:, ACTION_NAMES.index(k)].astype(np.float64) for k in ("forward", "back", "left", "right"))
    whole = np.all([(k == 0) | (k == 1) for k in (forward, back, left, right)], axis=0)
    wanted = np.stack([forward - back, right - left], axis=-1) * whole[:, None]
    length = np.linalg.norm(wanted, axis=-1, keepdims=True)
    return np.where(length > 0, wanted / np.maximum(length, 1e-12), 0.0)


def _effect(take: Take, exact: Exactness) -> Check:
    """What was pressed against what it did. Blocked, sliding, airborne, pushing and stepping frames are counted, not judged."""
    table = take.derive_frames(take.header.frame_ticks)
    shares = flag_shares(table)
    name = "action_effect"
    wanted = wanted_direction(table.issued)
    moved = table.effective[:, :2].astype(np.float64)
    held = np.all(wanted == np.roll(wanted, 1, axis=0), axis=1)
    held[:1] = False
    steady = np.zeros(len(table), dtype=np.bool_)
    run = 0
    fewest = max(STEADY_FRAMES, math.ceil(exact.settle * take.header.frame_rate))
    for k in range(len(table)):
        free = not int(table.flags[k]) & int(HINDERED)
        run = run + 1 if free and held[k] and wanted[k].any() else 0
        steady[k] = run >= fewest
    # A body that is carried by a platform, or that turns while it walks, goes where it goes: turning frames are left out.
    steady &= np.abs(table.effective[:, 3]) < np.radians(8)
    character = take.header.world.characters[0]
    pace = (
        np.where(table.flags & int(Flag.CROUCHED), character.crouch_speed, character.walk_speed)
        * take.header.frame_ticks
        / take.header.tick_rate
    )
    along = np.einsum("ni,ni->n", moved, wanted)
    distance = np.linalg.norm(moved, axis=-1)
    off = steady & ((along < LAZY * pace) | (along < np.cos(np.radians(WAY_OFF_DEG)) * distance))
    evidence = {"steady_frames": int(steady.sum()), "contradictions": int(off.sum()), **shares}
    told = ", ".join(f"{key} {value:.0%}" for key, value in shares.items() if value)
    if steady.sum() < FEWEST_STEADY:
        return skipped(name, f"only {int(steady.sum())} frames of steady, free walking to judge by; {told or 'nothing hindered'}")
    share = float(off.sum() / steady.sum())
    if share > CONTRADICTIONS:
        k = int(np.argmax(off))
        keys = "+".join(
            key
            for key, value in zip(ACTION_NAMES, table.issued[k], strict=True)
            if value and key in ("forward", "back", "left", "right")
        )
        text = f"{keys} moved {moved[k, 0]:+.3f} m forward and {moved[k, 1]:+.3f} m right; {int(off.sum())} of {int(steady.sum())} free, steady frames contradict their keys"
        return failed(name, text, frame=k, value=share, limit=CONTRADICTIONS, evidence=evidence)
    return passed(
        name,
        f"{int(steady.sum())} free, steady frames go where the keys say, {int(off.sum())} do not; {told or 'nothing hindered'}",
        evidence,
    )


def flag_shares(table: FrameTable) -> dict[str, float]:
    """Share of frames with each flag, by its name in small letters."""
    n = max(1, len(table))
    return {str(flag.name).lower(): float(np.count_nonzero(table.flags & flag.value) / n) for flag in Flag}


# --- playing it again -------------------------------------------------------------------------------------------------------------


class _Witness:
    """An engine that is watched: it notes the events of every state that is read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.events: list[Event] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def tick(self, control: Control) -> None:
        """As the engine's."""
        self._engine.tick(control)

    def state(self) -> State:
        """As the engine's; its events are noted."""
        state = self._engine.state()
        self.events += state.events
        return state


def _replay(take: Take, packs: Mapping[str, Path]) -> tuple[Check, Sequence[Event] | None]:
    header = take.header
    if header.engine not in engine_names():
        return skipped("replay", f"engine {header.engine!r} is not installed here"), None
    engine = _Witness(make_engine(header.engine))
    try:
        result = replay(take, packs, engine=engine)
    except WorldwrightError as error:
        return failed("replay", f"it cannot be played again: {error.line()}"), None
    if not result.equal:
        frame = None if result.tick is None else result.tick // header.frame_ticks
        text = f"played again, tick {result.tick} differs: {result.what} is {result.expected}, it comes out as {result.got}"
        if engine.version != header.engine_version:
            text += f"; it was recorded by another engine ({header.engine_version}, here {engine.version}): record it again, or verify it there"
        return failed("replay", text, frame=frame, value=result.expected, limit=result.got), None
    return passed(
        "replay", f"played again: {result.samples} samples come out byte for byte (hash {result.state_hash[:12]})"
    ), engine.events


def _events(take: Take, again: Sequence[Event] | None) -> Check:
    if again is None:
        return skipped("events", "there is no equal replay to compare with")
    said, found = [_key(e) for e in take.events()], [_key(e) for e in again]
    if said != found:
        at = next((k for k, (a, b) in enumerate(zip(said, found, strict=False)) if a != b), min(len(said), len(found)))
        a, b = said[at] if at < len(said) else "nothing", found[at] if at < len(found) else "nothing"
        return failed("events", f"event {at} is {a}, played again it is {b}", value=len(said), limit=len(found))
    return passed("events", f"{len(said)} events come out again")


def _key(event: Event) -> tuple[int, str, int, int, float]:
    return event.tick, event.kind, event.entity, event.other, float(np.float32(event.value))
