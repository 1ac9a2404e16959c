"""Renders a shot from a take: reads instants, draws, and writes, all at the same time, with memory that does not grow with length."""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from worldwright import __version__
from worldwright.errors import WorldwrightError
from worldwright.ids import content_id, hash_file
from worldwright.outputs import looks_whole
from worldwright.render.cameras import CameraTrack, make_camera
from worldwright.render.info import EntityName, MotionBlur, RendererInfo, ShotInfo, VideoInfo, pass_entries, read_info
from worldwright.render.passes import ALL_PASSES, DEPTH_FAR, DEPTH_NEAR
from worldwright.render.presets import Preset, frame_ticks_for, parse_preset
from worldwright.render.protocol import Moment, Renderer, declared_by
from worldwright.render.rows import FrameRow
from worldwright.render.stage import Stage
from worldwright.render.video import CRF, PRESET, group_size
from worldwright.render.writer import write_shot
from worldwright.take.model import FrameTable, TakeHeader
from worldwright.take.reader import Take
from worldwright.words import counted
from worldwright.world.looks import find_look, put_on
from worldwright.world.spec import Look

IN_FLIGHT = 2
"""Pictures that are submitted before the first is collected: one is drawn while the last one is read back and encoded."""
BLUR = MotionBlur(subframes=8, shutter=0.5)
"""A shutter of 180 degrees."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RenderReport:
    """What a rendering did and what it cost. ``rendered`` of the ``frames`` were made now; the rest was there from an interrupted run
    (all of them: ``reused``). ``stage_ms`` and ``encode_ms`` are CPU milliseconds per rendered frame: reading and preparing the scene,
    submitting, drawing (the driver's own threads), reading back, handing over; and encoding by pass."""

    path: str
    frames: int
    rendered: int
    reused: bool
    wall_s: float
    cpu_s: float
    setup_s: float
    device: str
    stage_ms: Mapping[str, float] = field(default_factory=dict)
    encode_ms: Mapping[str, float] = field(default_factory=dict)
    bytes: Mapping[str, int] = field(default_factory=dict)
    peak_memory_mb: float = 0.0

    @property
    def fps(self) -> float:
        """Frames a second of wall time, without the loading of the scene."""
        return self.rendered / max(self.wall_s - self.setup_s, 1e-9)

    @property
    def render_ms(self) -> float:
        """CPU milliseconds a frame for everything but encoding."""
        return sum(self.stage_ms.values())

    def line(self) -> str:
        """For a person."""
        if self.reused:
            return f"{self.path}: {self.frames} frames are there already"
        size = sum(self.bytes.values()) / 1e6
        return (
            f"{self.path}: {counted(self.frames, 'frame')} in {self.wall_s:.1f} s, {self.setup_s:.1f} of it loading "
            f"({self.fps:.1f} a second after that; CPU a frame: "
            f"render {self.render_ms:.0f} ms, encode {sum(self.encode_ms.values()):.0f} ms; {size:.1f} MB)"
        )


def request_id(
    take_hash: str,
    camera: CameraTrack,
    preset: Preset,
    first: int,
    count: int,
    frame_ticks: int,
    passes: Sequence[str],
    blur: MotionBlur | None,
    renderer: str,
    renderer_version: str,
    samples: int | None,
    look: Look | None,
) -> str:
    """The content id of a shot: the same request has the same one, on every machine."""
    # What not every request has is left out of the others.
    chosen = {"samples": samples, "look": None if look is None else look.model_dump(mode="json")}
    return content_id(
        {key: value for key, value in chosen.items() if value is not None}
        | {
            "take": take_hash,
            "camera": camera.describe(),
            "size": [preset.width, preset.height],
            "first": first,
            "count": count,
            "frame_ticks": frame_ticks,
            "passes": [name for name in ALL_PASSES if name in passes],
            "motion_blur": None if blur is None else blur.model_dump(),
            "renderer": [renderer, renderer_version],
        }
    )


def shutter_ticks(tick: int, frame_ticks: int, blur: MotionBlur) -> list[float]:
    """The instants that rgb is the mean of: the middles of equal slices of the open time, which begins at the frame's instant."""
    return [tick + frame_ticks * blur.shutter * (k + 0.5) / blur.subframes for k in range(blur.subframes)]


def moments(
    take: Take, table: FrameTable, camera: CameraTrack, preset: Preset, first: int, start: int, count: int, blur: MotionBlur | None
) -> Iterator[tuple[FrameRow, Moment]]:
    """Rows and moments of frames ``start`` to ``count`` - 1 of a shot that begins at the take's frame ``first``. Instants are asked for
    in ascending order, so that the take streams."""
    ticks = table.frame_ticks
    now = take.instant((first + start) * ticks)
    view = camera.view(now, preset.width, preset.height)
    for i in range(start, count):
        k = first + i
        open_at = [] if blur is None else [take.instant(t) for t in shutter_ticks(k * ticks, ticks, blur)]
        shutter = tuple((instant, camera.view(instant, preset.width, preset.height)) for instant in open_at)
        following = take.instant((k + 1) * ticks)
        next_view = camera.view(following, preset.width, preset.height)
        who = now.characters[0]
        row = FrameRow(
            frame=i,
            tick=int(table.tick[k]),
            t_ns=int(table.t_ns[k]),
            c2w=view.c2w,
            K=view.K,
            next_c2w=next_view.c2w,
            next_K=next_view.K,
            near=DEPTH_NEAR,
            far=DEPTH_FAR,
            action=table.issued[k],
            effective=table.effective[k],
            flags=int(table.flags[k]),
            character_position=np.asarray(who.position, dtype=np.float64),
            character_yaw=who.yaw,
            character_pitch=who.pitch,
            character_velocity=np.asarray(who.velocity, dtype=np.float64),
            clip=who.clip,
            ground=who.ground,
        )
        yield row, Moment(now, view, following, next_view, shutter)
        now, view = following, next_view


def _is_there(out: Path, request: str) -> bool:
    """Whether ``out`` is this very shot already, as far as names and sizes tell."""
    try:
        return looks_whole(out, "shot") and read_info(out).id == request
    except WorldwrightError:
        return False


def _chosen_passes(passes: Sequence[str], renderer: Renderer) -> tuple[str, ...]:
    if odd := [name for name in passes if name not in ALL_PASSES]:
        raise WorldwrightError(f"no pass {odd[0]!r}", where="passes", fix=f"choose from {', '.join(ALL_PASSES)}")
    chosen = tuple(name for name in ALL_PASSES if name in passes and name in renderer.passes)
    if not chosen:
        raise WorldwrightError(f"none of {', '.join(passes) or 'no passes'} can be made by {renderer.name}", where="passes")
    return chosen


def _check_rig(renderer: Renderer, camera: CameraTrack) -> None:
    rig = camera.describe().get("rig")
    if renderer.rigs is not None and rig not in renderer.rigs:
        raise WorldwrightError(
            f"renderer {renderer.name!r} looks through {', '.join(renderer.rigs)} alone", where="camera", fix="name one of these"
        )


def _range(available: int, first: int | None, count: int | None, where: str) -> tuple[int, int]:
    start = first or 0
    number = available - start if count is None else count
    if start < 0 or number < 1 or start + number > available:
        raise WorldwrightError(
            f"frames {start} to {start + number - 1} of a take with {available}",
            where=where,
            fix="choose --first and --count inside it",
        )
    return start, number


def _check_assets(header: TakeHeader, found: Mapping[str, str]) -> None:
    for name, recorded in header.assets.items():
        if found.get(name) != recorded:
            what = "is not there" if name not in found else "is not the file that was recorded"
            raise WorldwrightError(
                f"asset {what}", where=name, fix="give the pack that the take was recorded with (--pack NAME=FOLDER)"
            )


def _info(
    take: Take,
    take_hash: str,
    camera: CameraTrack,
    preset: Preset,
    renderer: Renderer,
    passes: Sequence[str],
    request: str,
    frame_ticks: int,
    first: int,
    count: int,
    blur: MotionBlur | None,
    samples: int | None,
    look: Look | None,
) -> ShotInfo:
    header = take.header
    rate = (header.tick_rate, frame_ticks)
    divisor = int(np.gcd(*rate))
    frame_rate = (rate[0] // divisor, rate[1] // divisor)
    info = ShotInfo(
        id=request,
        take_hash=take_hash,
        take_partial=not take.complete,
        world_hash=header.world_hash,
        world_name=header.world.name,
        renderer=RendererInfo(
            name=renderer.name,
            version=renderer.version,
            device=renderer.device,
            samples=samples,
            exposure=(header.world if look is None else put_on(header.world, look)).light.exposure,
            tone_curve=str(getattr(renderer, "tone_curve", RendererInfo.model_fields["tone_curve"].default)),
        ),
        camera=camera.describe(),
        preset=preset.name,
        width=preset.width,
        height=preset.height,
        frame_rate=frame_rate,
        tick_rate=header.tick_rate,
        frame_ticks=frame_ticks,
        n_frames=count,
        first_frame=first,
        motion_blur=blur,
        look=look,
        passes=pass_entries([name for name in passes if name != "rgb"], count, preset.height, preset.width, declared_by(renderer)),
        absent=[name for name in ALL_PASSES if name not in passes],
        rgb=None,
        entities=[EntityName(id=id, name=name, label=label) for id, (name, label) in sorted(header.world.labels().items())],
        versions={"worldwright": __version__, **{name: version(name) for name in ("av", "zarr", "numcodecs")}},
    )
    if "rgb" not in passes:
        return info
    return info.model_copy(
        update={"rgb": VideoInfo(group=group_size(info.rate), settings={"encoder": "libx264", "crf": CRF, "preset": PRESET})}
    )


@contextmanager
def _standing(stage: Stage | None, packs: Mapping[str, Path]) -> Iterator[Stage]:
    """The caller's stage, or one for this shot alone. After an error no picture of it may turn up in the next shot."""
    own = Stage(packs) if stage is None else stage
    try:
        yield own
    except BaseException:
        own.dismiss()
        raise
    finally:
        if stage is None:
            own.close()


class _Clock:
    """CPU time of this thread by stage."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._last = time.thread_time()

    def lap(self, stage: str) -> None:
        now = time.thread_time()
        self.spent[stage] = self.spent.get(stage, 0.0) + now - self._last
        self._last = now


def render_shot(
    take_path: Path,
    out: Path,
    *,
    camera: str | Mapping[str, Any] | None = None,
    preset: str = "720p",
    fps: int | None = None,
    passes: Sequence[str] = ALL_PASSES,
    motion_blur: bool = False,
    look: str | None = None,
    first: int | None = None,
    count: int | None = None,
    packs: Mapping[str, Path] | None = None,
    renderer: str = "raster",
    device: str = "auto",
    partial: bool = False,
    progress: Progress | None = None,
    stage: Stage | None = None,
) -> RenderReport:
    """Render frames ``first`` to ``first + count - 1`` of a take, at the take's own rate or at ``fps``, into the shot folder ``out``.

    Args:
        take_path: the take; ``partial`` accepts one that was cut off.
        out: the folder to make. If it already is this very shot, it is left as it is. An interrupted rendering goes on where it was.
        camera: see ``cameras.make_camera``; None is the third-person rig, or the first that was recorded where there is none.
        preset: see ``presets.parse_preset``.
        passes: what to store; what the renderer cannot give is declared absent.
        motion_blur: rgb is the mean in linear light of 8 true sub-frames over the first half of the frame's time.
        look: the light and weather to show it in (``world.looks.find_look``); the world's own unless given.
        packs: name to folder of the asset packs that the world uses.
        renderer, device: who draws (``registry.make_renderer``), and on what: auto, cpu or gpu.
        progress: called with (frames done, all frames).
        stage: keeps geometry and renderer between calls; its packs are the ones used, ``packs`` are not.

    Raises:
        WorldwrightError: anything in the request is wrong, an asset is not the recorded one, or the disk is full.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    size = parse_preset(preset)
    blur = BLUR if motion_blur else None
    report = progress or (lambda _done, _total: None)
    with Take.open(take_path, partial=partial) as take, _standing(stage, packs or {}) as own:
        header = take.header
        frame_ticks = frame_ticks_for(header, fps)
        worn = None if look is None else find_look(header.world, look)
        rig = "third" if "third" in header.rigs or not header.rigs else header.rigs[0]
        track = make_camera(rig if camera is None else camera, header)
        table = take.frames(frame_ticks)
        start, number = _range(len(table), first, count, str(take_path))
        artist = own.artist(renderer, device)
        _check_rig(artist, track)
        chosen = _chosen_passes(passes, artist)
        samples = size.samples or artist.samples if "rgb" in chosen else None
        take_hash = hash_file(take_path)
        request = request_id(
            take_hash, track, size, start, number, frame_ticks, chosen, blur, artist.name, artist.version, samples, worn
        )
        if _is_there(out, request):
            report(number, number)
            return RenderReport(
                str(out), number, 0, True, time.perf_counter() - wall, time.process_time() - cpu, 0.0, artist.device
            )
        _check_assets(header, own.geometry(header.world).asset_hashes)
        own.open(artist, take, worn, size.width, size.height, chosen, samples)
        info = _info(take, take_hash, track, size, artist, chosen, request, frame_ticks, start, number, blur, samples, worn)
        setup, setup_cpu, clock = time.perf_counter() - wall, time.process_time(), _Clock()
        waiting: deque[FrameRow] = deque()
        with write_shot(out, info, take_path) as writer:
            report(writer.start, number)

            def collect() -> None:
                pictures = artist.collect()
                clock.lap("read-back")
                writer.add(row := waiting.popleft(), pictures)
                clock.lap("hand-over")
                report(row.frame + 1, number)

            for row, moment in moments(take, table, track, size, start, writer.start, number, blur):
                clock.lap("scene")
                artist.submit(moment)
                waiting.append(row)
                clock.lap("submit")
                if len(waiting) == IN_FLIGHT:
                    collect()
            while waiting:
                collect()
        rendered = number - writer.start
        encode, spent = writer.cpu_seconds, clock.spent
        stages = {**spent, "draw": max(0.0, time.process_time() - setup_cpu - sum(encode.values()) - sum(spent.values()))}
        per_frame = 1000 / max(rendered, 1)
        return RenderReport(
            path=str(out),
            frames=number,
            rendered=rendered,
            reused=False,
            wall_s=time.perf_counter() - wall,
            cpu_s=time.process_time() - cpu,
            setup_s=setup,
            device=artist.device,
            stage_ms={name: s * per_frame for name, s in stages.items()},
            encode_ms={name: s * per_frame for name, s in encode.items()},
            bytes=dict(writer.bytes),
            peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        )
