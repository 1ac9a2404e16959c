"""Verifies a shot: its files, its take, its rows, and every frame of every pass.

Nothing that the shot says about itself is evidence. The take is played again in its engine; rows are computed again from the take;
pictures are compared with physics rays, with each other, and with the same pictures drawn again. Hashes only tell damage early.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.ids import canonical_json, hash_file
from worldwright.outputs import manifest_hash
from worldwright.render.cameras import CameraTrack, camera_from
from worldwright.render.declared import DECLARED, read_declared
from worldwright.render.info import TAKE_FILE, ShotInfo
from worldwright.render.passes import PASSES
from worldwright.render.presets import Preset
from worldwright.render.protocol import Moment, Renderer, declared_by
from worldwright.render.run import moments
from worldwright.render.shot import Shot
from worldwright.take.model import Instant
from worldwright.take.reader import Take
from worldwright.verify import (
    shot_camera,
    shot_characters,
    shot_edges,
    shot_entities,
    shot_exposure,
    shot_flow,
    shot_normals,
    shot_rays,
    shot_rerender,
    shot_rgb,
    shot_rows,
)
from worldwright.verify.context import Context, Scene
from worldwright.verify.frame import Frame
from worldwright.verify.measure import Measure, failed, passed, skipped, summarise
from worldwright.verify.shot_files import check_counts, check_description, check_hashes, check_stored_attributes
from worldwright.verify.spread import spread
from worldwright.verify.take import check_take
from worldwright.verify.verdict import Check, Verdict

Progress = Callable[[int, int], None]
FAST_SHARE = 8
"""``fast`` looks at one run of three frames in this many."""
RUN = 3
FEWEST_A_WORKER = 24
"""Frames that make a process of their own worth while: it imports, builds the scene and opens a renderer first."""


@dataclass
class Findings:
    """What the frames of a part of a shot gave."""

    measures: list[Measure] = field(default_factory=list)
    offsets: list[tuple[int, float, float]] = field(default_factory=list)
    times: list[tuple[int, float]] = field(default_factory=list)
    unreadable: list[tuple[int, str]] = field(default_factory=list)
    declared: str = ""
    """What a pass declares that its renderer does not."""
    drawn: int = 0
    not_drawn: str = ""
    exact: bool = False


def verify_shot(
    path: Path,
    packs: Mapping[str, Path],
    *,
    fast: bool = False,
    workers: int | None = 1,
    progress: Progress | None = None,
    context: Context | None = None,
) -> Verdict:
    """All checks on a shot folder.

    Args:
        path: the folder.
        packs: folders of the asset packs that its world uses.
        fast: look at a seeded sample of the frames (runs of three) instead of at all; files, take and rows are always checked whole.
        workers: processes that share the frames, a stretch each; the verdict is the same for any number. None: one a core, where there
            are frames enough.
        progress: called with (frames done, all frames).
        context: keeps geometry, renderer and replays between calls; with ``workers`` > 1 it serves this process only.

    Raises:
        WorldwrightError: there is no finished shot, or a pack that its world needs was not given.
    """
    if context is not None:
        return _verify(path, context, fast, workers, progress)
    with Context(packs) as own:
        return _verify(path, own, fast, workers, progress)


def _verify(path: Path, context: Context, fast: bool, workers: int | None, progress: Progress | None) -> Verdict:
    manifest = manifest_hash(path)  # before the checks: what is rendered meanwhile is not what they judged
    checks = [check_hashes(path)]
    try:
        shot = Shot.open(path)
        take = Take.open(path / TAKE_FILE, partial=shot.info.take_partial)
    except WorldwrightError as error:
        checks.append(failed("readable", error.line()))
        return Verdict("shot", str(path), "", checks, manifest)
    with take:
        checks += _check_whole(shot, take, context)
        held = {check.name: check.passed for check in checks}
        if held["counts"] and held["clock"] and held.get("camera_description", True):
            checks += _check_frames(shot, take, context, fast, workers, progress)
        else:
            checks.append(failed("readable", "its frames cannot be told apart in time: see the failures above"))
    return Verdict("shot", str(path), shot.info.id, checks, manifest)


def _check_whole(shot: Shot, take: Take, context: Context) -> list[Check]:
    """Everything but the pictures."""
    info, rows, header = shot.info, shot.frames, take.header
    take_hash = hash_file(shot.path / TAKE_FILE)
    checks = [check_counts(shot), check_description(shot, header, take_hash), check_stored_attributes(shot)]
    scene = context.scene(header.world)
    recorded = context.checks(take_hash, lambda: tuple(check_take(take, context.packs, scene)))
    checks += [Check(**{**_fields(check), "name": f"take_{check.name}"}) for check in recorded]
    clock = shot_rows.check_clock(rows, info, header, take.last_tick)
    checks += [clock, shot_rows.check_rigid(rows)]
    try:
        track = camera_from(info.camera, header.tick_rate, where="shot.json: camera")
    except WorldwrightError as error:
        return [*checks, failed("camera_description", error.line())]
    if isinstance(rig := info.camera.get("rig"), str) and rig not in header.rigs:
        return [*checks, failed("camera_description", f"rig {rig!r} was not recorded, there are {', '.join(header.rigs)}")]
    if clock.passed:
        states = [take.instant((info.first_frame + k) * info.frame_ticks) for k in range(info.n_frames + 1)]
        checks += [
            shot_rows.check_cameras(rows, info, track, states),
            shot_rows.check_actions(rows, info, take),
            shot_rows.check_character(rows, states),
        ]
    return checks


def _fields(check: Check) -> dict[str, Any]:
    return {name: getattr(check, name) for name in check.__slots__}


# --- frames ---------------------------------------------------------------------------------------------------------------------


def chosen_frames(count: int, fast: bool, seed: str) -> list[int]:
    """The frames that are looked at: all, or a seeded sample of runs of three."""
    if not fast or count <= RUN * FAST_SHARE:
        return list(range(count))
    rng = np.random.default_rng(np.frombuffer(bytes.fromhex(seed), dtype=np.uint32))
    stretch = RUN * FAST_SHARE
    starts = [k + int(rng.integers(0, stretch - RUN)) for k in range(0, count - RUN, stretch)]
    return sorted({min(start + i, count - 1) for start in starts for i in range(RUN)})


def _check_frames(
    shot: Shot, take: Take, context: Context, fast: bool, workers: int | None, progress: Progress | None
) -> list[Check]:
    frames = chosen_frames(shot.info.n_frames, fast, shot.info.id)
    if workers is None:
        workers = min(len(os.sched_getaffinity(0)), len(frames) // FEWEST_A_WORKER)
    stretches = [[int(k) for k in part] for part in np.array_split(np.array(frames), max(1, min(workers, len(frames))))]
    if len(stretches) == 1:
        found = [measure_frames(shot, take, context, frames, progress)]
    else:
        parts = [_Part(shot.path, context.packs, part, [k for k in frames if beside(k, part)]) for part in stretches]
        found = spread(_measure_part, parts, progress, len(frames))
    return _sum_up(shot.info, found, fast)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a process is given: the frames to judge, and those next to them."""

    path: Path
    packs: Mapping[str, Path]
    frames: Sequence[int]
    neighbours: Sequence[int]


def beside(k: int, part: Sequence[int]) -> bool:
    """Whether frame k is not of this stretch but next to it: the frames at its ends are compared with these."""
    return k in (part[0] - 1, part[-1] + 1)


def _measure_part(part: _Part, progress: Progress) -> Findings:
    shot = Shot.open(part.path)
    with Context(part.packs) as context, Take.open(part.path / TAKE_FILE, partial=shot.info.take_partial) as take:
        return measure_frames(shot, take, context, part.frames, progress, part.neighbours)


def measure_frames(
    shot: Shot, take: Take, context: Context, frames: Sequence[int], progress: Progress | None, neighbours: Sequence[int] = ()
) -> Findings:
    """Measure these frames (ascending); ``neighbours`` are looked at for comparison alone. Streams: three frames' pictures are in memory
    at a time."""
    info, header = shot.info, take.header
    found = Findings()
    scene, probe = context.scene(header.world), context.probe(header.world, header.body_ids)
    solid = context.probe(header.world, header.body_ids, solid=True)
    reading = _reading(info)
    renderer = context.renderer(info, take)
    if renderer is None:
        found.not_drawn = f"renderer {info.renderer.name!r} is not installed here"
    else:
        found.declared = _declared_otherwise(info, renderer)
        found.exact = (renderer.name, renderer.version, renderer.device) == (
            info.renderer.name,
            info.renderer.version,
            info.renderer.device,
        )
    known = np.zeros(1 << 16, dtype=np.bool_)
    known[list(header.world.labels())] = True
    edges = shot_edges.EdgeRegistration()
    window: dict[int, tuple[NDArray[np.uint8] | None, Mapping[str, NDArray[Any]] | None]] = {}
    judged, wanted = set(frames), {*frames, *neighbours}
    planes = zip(_stream(shot, take, renderer, wanted, found), shot.read_frames(sorted(wanted)), strict=True)
    for done, ((k, moment, drawn, decoded), stored) in enumerate(planes):
        if isinstance(stored, WorldwrightError):
            if k in judged:
                found.unreadable.append((k, stored.line()))
            continue
        if decoded is not None:
            edges.add(k, decoded, stored, None if drawn is None else drawn.get("rgb"))
        window[k] = (decoded, drawn)
        if k - 1 in judged:
            _rgb(window, k - 1, wanted, found, info.renderer.samples)
        window.pop(k - 2, None)
        if k not in judged:
            continue
        frame = _frame(shot, take, k, moment, stored)
        known[list(moment.view.hidden)] = False
        for each in (probe, solid):
            each.set_poses(frame.now.positions, frame.now.rotations)
        found.measures += _measure(frame, probe, scene, known, reading)
        found.measures += shot_camera.measure_camera(frame, solid, scene.two_sided)
        if decoded is not None:
            found.measures += shot_exposure.measure_exposure(k, decoded)
        if drawn is not None:
            found.drawn += 1
            found.measures += shot_rerender.measure_again(k, stored, drawn, exact=found.exact)
        if k + 1 not in wanted:
            _rgb(window, k, wanted, found, info.renderer.samples)
        if progress:
            progress(done + 1, len(frames))
    offsets, times = edges.state()
    found.offsets, found.times = [o for o in offsets if o[0] in judged], [t for t in times if t[0] in judged]
    return found


def _rgb(window: Mapping[int, tuple[Any, Any]], k: int, wanted: set[int], found: Findings, samples: int | None) -> None:
    """Compare frame k's decoded picture with those drawn for it and its neighbours, once these are there."""
    decoded, drawn = window.get(k, (None, None))
    if decoded is None or drawn is None or "rgb" not in drawn:
        return
    if k + 1 in wanted and k + 1 not in window:
        return
    near = {j: window[j][1]["rgb"] for j in (k - 1, k + 1) if j in window and window[j][1] is not None}
    found.measures += shot_rgb.measure_rgb(k, decoded, drawn["rgb"], near, None if found.exact else samples)


def _stream(
    shot: Shot, take: Take, renderer: Renderer | None, wanted: set[int], found: Findings
) -> Iterator[tuple[int, Moment, Mapping[str, NDArray[Any]] | None, NDArray[np.uint8] | None]]:
    """The wanted frames in order: number, moment, pictures drawn again, decoded rgb."""
    info = shot.info
    table = take.derive_frames(info.frame_ticks)
    camera: CameraTrack = camera_from(info.camera, take.header.tick_rate, where="shot.json: camera")
    size = Preset(info.preset, info.width, info.height)
    first, last = min(wanted), max(wanted) + 1
    video = shot.rgb_frames(first) if info.rgb is not None else None
    for _, (row, moment) in zip(
        range(first, last), moments(take, table, camera, size, info.first_frame, first, last, info.motion_blur), strict=True
    ):
        k = row.frame
        decoded = None
        if video is not None:
            try:
                decoded = next(video)
            except (WorldwrightError, StopIteration) as error:
                found.unreadable.append((k, error.line() if isinstance(error, WorldwrightError) else "the video ends here"))
                video = None
        if k not in wanted:
            continue
        drawn = None
        if renderer is not None:
            renderer.submit(moment)
            drawn = renderer.collect()
        yield k, moment, drawn, decoded


def _frame(shot: Shot, take: Take, k: int, moment: Moment, stored: Mapping[str, NDArray[Any]]) -> Frame:
    """Frame k as its row describes it: the recorded camera, the take's states."""
    rows, header = shot.frames, take.header
    now: Instant = moment.now
    return Frame(
        index=k,
        tick=int(rows.tick[k]),
        c2w=rows.c2w[k],
        K=rows.K[k],
        next_c2w=rows.next_c2w[k],
        next_K=rows.next_K[k],
        now=now,
        next=moment.next,
        stored=stored,
        body_ids=header.body_ids,
        character_ids=header.character_ids,
        height=shot.info.height,
        width=shot.info.width,
        hidden=moment.view.hidden,
    )


def _declared_otherwise(info: ShotInfo, renderer: Renderer) -> str:
    own = declared_by(renderer)
    for name, entry in info.passes.items():
        said, known = entry.attributes.get(DECLARED), dict(own.get(name, {})).get(DECLARED)
        if json.loads(canonical_json(said)) != json.loads(canonical_json(known)):
            return f"pass {name} declares {str(said)[:80]}, its renderer {str(known)[:80]}"
    return ""


def _reading(info: ShotInfo) -> shot_rays.Judged:
    """How its pictures are to be read. What cannot be declared has failed already, and counts as not declared."""
    declared: dict[str, Any] = {}
    for name in ("depth", "entity"):
        if name in info.passes:
            with contextlib.suppress(WorldwrightError):
                declared[name] = read_declared(name, info.passes[name].attributes)
    return shot_rays.Judged.of(declared.get("depth"), declared.get("entity"))


def _measure(
    frame: Frame, probe: shot_rays.Probe, scene: Scene, known: NDArray[np.bool_], reading: shot_rays.Judged
) -> list[Measure]:
    """Every check that looks at one frame alone; the probe is at its poses."""
    return [
        *shot_rays.measure_rays(frame, probe, scene.holes, scene.two_sided, reading=reading),
        *shot_flow.measure_flow(frame),
        *shot_normals.measure_normals(frame),
        *shot_entities.measure_entities(frame, known),
        *shot_entities.measure_validity(frame),
        *shot_characters.measure_characters(frame, scene.geometry.characters, scene.surfaces),
    ]


def _sum_up(info: ShotInfo, parts: Sequence[Findings], fast: bool) -> list[Check]:
    measures = [m for part in parts for m in part.measures]
    unreadable = sorted({item for part in parts for item in part.unreadable})
    frames = len({m.frame for m in measures})
    checks = [
        failed("readable", unreadable[0][1], frame=unreadable[0][0], value=len(unreadable), limit=0)
        if unreadable
        else passed("readable", f"{frames} of {info.n_frames} frames read whole" + (" (a sample: fast)" if fast else ""))
    ]
    if told := next((part.declared for part in parts if part.declared), ""):
        checks.append(failed("declared", told))
    no_depth = "the shot has no depth and entity passes"
    for name, nothing in (
        (shot_rays.NAME, no_depth),
        (shot_camera.NAME, no_depth),
        (shot_flow.NAME, "the shot has no flow, or no depth and entity to compare it with"),
        (shot_normals.NAME, "the shot has no normals, or no depth to compare them with, or no smooth surface is in view"),
        (shot_entities.NAME, "the shot has no entity pass"),
        (shot_entities.VALIDITY, "the shot has no entity pass"),
        (shot_characters.NAME, "no character is in view"),
        (shot_exposure.NAME, "the shot has no rgb"),
    ):
        checks.append(summarise(name, measures, nothing=nothing))
    offsets = sorted(o for part in parts for o in part.offsets)
    checks.append(
        shot_edges.check_edges(offsets, sorted(t for part in parts for t in part.times), blurred=info.motion_blur is not None)
        if info.rgb is not None
        else skipped(shot_edges.NAME, "the shot has no rgb")
    )
    why = next((part.not_drawn for part in parts if part.not_drawn), "nothing was drawn again")
    for name in PASSES:
        if name in info.passes:
            checks.append(summarise(shot_rerender.check_name(name), measures, nothing=why))
    if info.rgb is not None:
        checks.append(summarise(shot_rgb.PICTURE, measures, nothing=why))
        checks.append(summarise(shot_rgb.PLACE, measures, nothing=why))
        checks.append(
            summarise(
                shot_rgb.TIME,
                measures,
                nothing=why if not any(p.drawn for p in parts) else "nothing visible changes between frames",
            )
        )
    return checks
