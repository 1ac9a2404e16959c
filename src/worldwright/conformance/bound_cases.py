"""What a renderer must do that shows the takes of one engine alone, with that engine's own pictures: found out on a short take of the engine's own
world, with independent rays against that world's shapes, within what the renderer declares (``render.declared``)."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from worldwright.conformance.case import Case
from worldwright.conformance.forms import form_problems
from worldwright.engine.probe import GeometryProbe
from worldwright.engine.protocol import Habits
from worldwright.engine.registry import habits_of, make_engine
from worldwright.errors import WorldwrightError
from worldwright.record.loop import record
from worldwright.render.cameras import make_camera
from worldwright.render.declared import DeclaredDepth, DeclaredEntity, read_declared
from worldwright.render.passes import ALL_PASSES, decode
from worldwright.render.presets import Preset
from worldwright.render.protocol import Moment, Renderer, Scenery, declared_by
from worldwright.render.run import moments, render_shot
from worldwright.render.stage import Stage
from worldwright.take.reader import Take
from worldwright.transforms import pixel_rays
from worldwright.verify.measure import failed, from_problems, passed, skipped
from worldwright.verify.shot import verify_shot
from worldwright.verify.shot_rays import Judged
from worldwright.verify.verdict import Check
from worldwright.world.files import resolve_packs

Array = NDArray[Any]
Pictures = list[dict[str, Array]]

SIZES = ((320, 180), (640, 360), (320, 240), (640, 480), (1280, 720))
"""The first of these that it has is taken."""
SECONDS = 3.0
FRAMES = (0.15, 0.35, 0.55, 0.75)
"""Places in the take of the frames that are looked at, as shares of it."""
STEP = 6
"""Every so many pixels one is looked at."""
FAR_M = 200.0
DEPTH_SHARE = 1e-3
WIDEST_M, STRAYS = 3.0, 0.005
"""Nothing that moves reaches farther from its place than this; the share of its pixels that may."""
EDGES = 0.05
"""Share of the pixels, those next to another id left out, that may be off: thin things and what moves are drawn otherwise than they are."""


@dataclass(frozen=True)
class BoundSubject:
    """A renderer of one engine's takes: how to make one, and the engine's name."""

    name: str
    engine: str
    make: Callable[[], Renderer]
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="worldwright-conformance-")))

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @cached_property
    def take(self) -> Path:
        """A few seconds of everybody's keys in the engine's own world."""
        engine = make_engine(self.engine)
        world = engine.sample_world()
        if world is None:
            raise WorldwrightError(
                "has no world of its own to be tried in", where=f"engine {self.engine}", fix="let sample_world give one"
            )
        habits, path = habits_of(self.engine) or Habits(), self.folder / "take.mcap"
        record(
            world,
            resolve_packs(world, None, {}),
            path,
            policy="grammar",
            seconds=SECONDS,
            seed=1,
            engine=engine,
            tick_rate=habits.tick_rate,
            frame_rate=habits.frame_rate,
            sample_rate=habits.sample_rate,
        )
        return path

    @cached_property
    def size(self) -> tuple[int, int]:
        """The picture's size: one that it has."""
        refusal: WorldwrightError | None = None
        for size in SIZES:
            try:
                with self.opened(size):
                    return size
            except WorldwrightError as error:
                refusal = refusal or error
        assert refusal is not None
        raise refusal

    @contextmanager
    def opened(self, size: tuple[int, int] | None = None) -> Iterator[Renderer]:
        """A fresh renderer, open for the take with all that it can give."""
        width, height = size or self.size
        renderer = self.make()
        with Stage({}) as stage, Take.open(self.take) as take:
            header = take.header
            try:
                scenery = Scenery(header.world, stage.geometry(header.world), header.body_ids, header.tick_rate, take.attachments())
                renderer.open(scenery, width, height, renderer.passes)
                yield renderer
            finally:
                renderer.close()

    @cached_property
    def moments(self) -> list[Moment]:
        """The moments of the frames that are looked at."""
        with Take.open(self.take) as take:
            table = take.frames()
            rigs = self.make()
            camera = make_camera((rigs.rigs or take.header.rigs)[0], take.header)
            rigs.close()
            size = Preset("conformance", *self.size)
            chosen = {round(share * (len(table) - 1)) for share in FRAMES}
            return [m for row, m in moments(take, table, camera, size, 0, 0, len(table), None) if row.frame in chosen]

    @cached_property
    def drawn(self) -> tuple[Pictures, Mapping[str, Mapping[str, Any]]]:
        """Their pictures, and what the passes declare."""
        with self.opened() as renderer:
            pictures = []
            for moment in self.moments:
                renderer.submit(moment)
                pictures.append(renderer.collect())
            return pictures, declared_by(renderer)

    @cached_property
    def judged(self) -> Judged:
        """How the pictures are to be read."""
        said = self.drawn[1]
        depth = read_declared("depth", said["depth"]) if "depth" in said else None
        entity = read_declared("entity", said["entity"]) if "entity" in said else None
        assert depth is None or isinstance(depth, DeclaredDepth)
        assert entity is None or isinstance(entity, DeclaredEntity)
        return Judged.of(depth, entity)

    @cached_property
    def pixels(self) -> NDArray[np.int64]:
        """Column and row of the pixels that are looked at [N, 2]."""
        width, height = self.size
        u, v = np.meshgrid(np.arange(STEP // 2, width, STEP), np.arange(STEP // 2, height, STEP))
        return np.stack([u.ravel(), v.ravel()], axis=1)

    def truth(self, moment: Moment) -> tuple[Array, Array]:
        """Planar depth and entity [N] that independent rays meet at the pixels."""
        self._probe.set_poses(moment.now.positions, moment.now.rotations)
        local = pixel_rays(self.pixels + 0.5, moment.view.K)
        length = np.linalg.norm(local, axis=-1, keepdims=True)
        origins = np.broadcast_to(moment.view.c2w[:3, 3], local.shape)
        hits = self._probe.cast_rays(origins, (local / length) @ moment.view.c2w[:3, :3].T, FAR_M)
        return hits.distance / length[:, 0], hits.entity

    @cached_property
    def _probe(self) -> GeometryProbe:
        with Take.open(self.take) as take, Stage({}) as stage:
            return GeometryProbe(stage.geometry(take.header.world), take.header.world, take.header.body_ids)

    def at(self, plane: Array) -> Array:
        """A plane's values at the pixels [N]."""
        return plane[self.pixels[:, 1], self.pixels[:, 0]]


def _even(ids: Array) -> NDArray[np.bool_]:
    """Where a pixel's neighbours have its id [h, w]."""
    return np.asarray(maximum_filter(ids, 5) == minimum_filter(ids, 5))


def _off(subject: BoundSubject, picture: Mapping[str, Array], moment: Moment) -> tuple[Array, Array]:
    """How far depth is off the rays, over the pixels that can be compared, and beyond what was declared: metres, and limits."""
    judged = subject.judged
    truth, entity = subject.truth(moment)
    depth = subject.at(decode("depth", picture["depth"])).astype(np.float64)
    plain = np.isfinite(truth) & judged.known(np.where(np.isfinite(truth), truth, 0)) & ~judged.flat[entity] & ~np.isnan(depth)
    if "entity" in picture:
        plain &= subject.at(_even(picture["entity"])) & ~judged.flat[subject.at(picture["entity"])]
    return np.abs(depth - truth)[plain], judged.error + DEPTH_SHARE * truth[plain]


# --- the cases ---------------------------------------------------------------------------------------------------------------


def _stored_form(subject: BoundSubject) -> Check:
    width, height = subject.size
    maker = subject.make()
    passes = tuple(maker.passes)
    maker.close()
    problems = [problem for picture in subject.drawn[0] for problem in form_problems(picture, passes, width, height)]
    absent = [name for name in ALL_PASSES if name not in passes]
    return from_problems("stored_form", problems, f"{', '.join(passes)}; absent: {', '.join(absent) or 'none'}")


def _depth(subject: BoundSubject) -> Check:
    name = "depth"
    if "depth" not in subject.drawn[0][0]:
        return skipped(name, "no depth pass")
    shares = []
    for k, (picture, moment) in enumerate(zip(subject.drawn[0], subject.moments, strict=True)):
        off, limit = _off(subject, picture, moment)
        if len(off) < 100:
            return failed(name, f"only {len(off)} pixels can be compared with rays", frame=k, value=len(off), limit=100)
        shares.append(float((off > limit).mean()))
        if shares[-1] > EDGES:
            return failed(
                name,
                f"{shares[-1]:.1%} of {len(off)} pixels are farther off the rays than declared, in the median {np.median(off):.3f} m: another "
                "camera, unit or kind of depth",
                frame=k,
                value=shares[-1],
                limit=EDGES,
            )
    error = subject.judged.error
    return passed(
        name, f"at most {max(shares):.2%} of the pixels are off by more than {f'the declared {error:g} m' if error else '0.1 %'}"
    )


def _entities(subject: BoundSubject) -> Check:
    name = "entity"
    if "entity" not in subject.drawn[0][0]:
        return skipped(name, "no entity pass")
    judged = subject.judged
    with Take.open(subject.take) as take:
        known = set(take.header.world.labels())
    shares = []
    for k, (picture, moment) in enumerate(zip(subject.drawn[0], subject.moments, strict=True)):
        ids = picture["entity"]
        if strange := sorted({int(i) for i in np.unique(ids)} - known):
            return failed(name, f"id {strange[0]} is nobody's: ids are never filtered", frame=k, value=strange[0])
        truth, entity = subject.truth(moment)
        sure = subject.at(_even(ids)) & ~judged.flat[entity] & ~judged.flat[subject.at(ids)]
        if judged.depth is not None:  # what is too far for its depth is 0, like the sky
            sure &= ~np.isfinite(truth) | judged.known(np.where(np.isfinite(truth), truth, 0))
        shares.append(float((subject.at(ids) != judged.shown[entity])[sure].mean()))
        if shares[-1] > EDGES:
            return failed(
                name, f"{shares[-1]:.1%} of the pixels have another id than rays meet", frame=k, value=shares[-1], limit=EDGES
            )
    return passed(name, f"at most {max(shares):.2%} of the pixels within things have another id than rays meet")


def _smooth(subject: BoundSubject) -> Check:
    """Ids are not smoothed: the mean of two things' ids is a third's, which is somewhere else."""
    name = "unfiltered"
    if "entity" not in subject.drawn[0][0]:
        return skipped(name, "no entity pass")
    with Take.open(subject.take) as take:
        row_of = {id: row for row, id in enumerate(take.header.body_ids)}
    seen = strays = 0
    for picture, moment in zip(subject.drawn[0], subject.moments, strict=True):
        ids = picture["entity"]
        rows, columns = np.nonzero(np.isin(ids, list(row_of)))
        if not len(rows):
            continue
        ray = pixel_rays(np.stack([columns, rows], axis=1) + 0.5, moment.view.K) @ moment.view.c2w[:3, :3].T
        ray /= np.linalg.norm(ray, axis=1, keepdims=True)
        way = moment.now.positions[[row_of[int(k)] for k in ids[rows, columns]]] - moment.view.c2w[:3, 3]
        apart = np.linalg.norm(way - ray * np.sum(way * ray, axis=1, keepdims=True), axis=1)
        seen, strays = seen + len(rows), strays + int((apart > WIDEST_M).sum())
    if not seen:
        return skipped(name, "nothing that moves is in view")
    if strays / seen > STRAYS:
        return failed(
            name,
            f"{strays} of {seen} pixels have the id of something that is over {WIDEST_M} m beside them: ids are sampled, never filtered",
            value=strays / seen,
            limit=STRAYS,
        )
    return passed(name, f"{seen} pixels of things that move, {strays} of them beside the thing")


def _in_time(subject: BoundSubject) -> Check:
    """Each picture is of its own moment: rays at the others' fit it worse."""
    name = "in_time"
    if "depth" not in subject.drawn[0][0]:
        return skipped(name, "no depth pass")
    for i, picture in enumerate(subject.drawn[0]):
        errors = []
        for moment in subject.moments:
            off, _ = _off(subject, picture, moment)
            errors.append(float(np.mean(np.minimum(off, 5.0))) if len(off) > 50 else np.inf)
        best = int(np.argmin(errors))
        if best != i:
            return failed(
                name, f"picture {i} fits moment {best} ({errors[best]:.3f} m) better than its own ({errors[i]:.3f} m)", frame=i
            )
    return passed(name, f"{len(subject.moments)} pictures, each of its own moment")


def _same_again(subject: BoundSubject) -> Check:
    """A fresh one, asked in another order, gives the same."""
    name = "same_again"
    first, _ = subject.drawn
    order = [len(first) - 1, *range(len(first) - 1)]
    with subject.opened() as renderer:
        tolerance = int(getattr(renderer, "rgb_tolerance", 0))
        for k in order:
            renderer.submit(subject.moments[k])
            again = renderer.collect()
            for key in again:
                gap = np.abs(first[k][key].astype(np.int64) - again[key].astype(np.int64)).max()
                limit = tolerance if key == "rgb" else 0
                if gap > limit:
                    return failed(
                        name,
                        f"{key} of picture {k} differs when it is drawn again in another order",
                        frame=k,
                        value=int(gap),
                        limit=limit,
                    )
    return passed(name, "the same bytes, in whatever order they are drawn")


def _verified(subject: BoundSubject) -> Check:
    """The whole line: a shot of it holds every check."""
    name = "verified_shot"
    out = subject.folder / "shot"
    width, height = subject.size
    rigs = subject.make()
    rig = (rigs.rigs or ("first",))[0]
    rigs.close()
    render_shot(subject.take, out, camera=rig, preset=f"{width}x{height}", renderer=subject.name, first=4, count=8)
    verdict = verify_shot(out, {})
    if verdict.failures:
        worst = verdict.failures[0]
        return failed(name, f"{worst.name}: {worst.message}", frame=worst.frame, value=worst.value, limit=worst.limit)
    held = sum(check.passed for check in verdict.checks)
    return passed(name, f"{held} checks hold of a shot of 8 frames, {sum(check.skipped for check in verdict.checks)} do not apply")


BOUND_CASES: Sequence[Case[BoundSubject]] = (
    Case("stored_form", "passes are those declared, in their stored types and sizes; others are absent, not faked", _stored_form),
    Case("depth", "planar z in metres where rays meet the world's shapes, within the declared error", _depth),
    Case("entity", "ids of what rays meet, but for those declared to show as others", _entities),
    Case("unfiltered", "ids are sampled, never filtered", _smooth),
    Case("in_time", "each picture is of its own moment", _in_time),
    Case("same_again", "the same moment gives the same bytes, in whatever order", _same_again),
    Case("verified_shot", "a shot of it holds every check", _verified),
)
