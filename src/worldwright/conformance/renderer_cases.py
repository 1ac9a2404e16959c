"""What every renderer must do, found out with pictures of the arena whose every pixel is known by formula or by an independent ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion

from worldwright.conformance import arena
from worldwright.conformance.case import Case
from worldwright.conformance.forms import form_problems
from worldwright.engine.probe import GeometryProbe
from worldwright.errors import WorldwrightError
from worldwright.render.passes import decode
from worldwright.render.protocol import Moment, Renderer, Scenery, View
from worldwright.transforms import camera_look, intrinsics, invert_rigid, pixel_rays, project
from worldwright.verify.measure import failed, from_problems, passed, skipped
from worldwright.verify.verdict import Check

Array = NDArray[Any]
Pictures = list[dict[str, Array]]

WIDTH, HEIGHT = 192, 108
EYE, YAW, PITCH = (0.3, -0.2, 1.5), 0.06, -0.1
DEPTH_SHARE = 1e-3
"""The convention: depth within 0.1 % of the truth."""
NORMAL_DEG = 0.1
BALL_DEG = 1.5
"""The ball is a polyhedron with smooth normals."""
FLOW_PX = 1 / 32
NEAR_PX = 0.05
"""A pixel's centre may lie this much on the other side of an edge: rasterisers snap corners to a grid."""
FAR_M = 100.0
GREY, GREY_LOW, GREY_HIGH = 0.18, 0.36, 0.50
"""A surface that sends the eye a radiance of 0.18 is middle grey: the sRGB curve gives 0.461, filmic curves a little less."""
REACH = 1
"""Pixels by which the beauty picture's outline may differ from the geometry's."""


def camera(step: int = 0) -> View:
    """The arena's camera: off its axes, its picture's centre off the middle; every step it goes on and turns."""
    K = intrinsics(WIDTH, HEIGHT, 1.0)
    K[0, 2] += 7.0
    K[1, 2] -= 5.0
    position = (EYE[0] + 0.05 * step, EYE[1] + 0.02 * step, EYE[2])
    return View(camera_look(position, YAW + 0.01 * step, PITCH), K)


@dataclass(frozen=True)
class RendererSubject:
    """A renderer to try: how to make one, closed by whoever made it."""

    name: str
    make: Callable[[], Renderer]

    @cached_property
    def place(self) -> Scenery:
        """The arena by day."""
        return arena.scenery(arena.arena_world())

    @cached_property
    def passes(self) -> tuple[str, ...]:
        """What it says that it can give."""
        maker = self.make()
        try:
            return tuple(maker.passes)
        finally:
            maker.close()

    def draw(
        self,
        place: Scenery,
        moments: Sequence[Moment],
        passes: Sequence[str] | None = None,
        *,
        ahead: int = 1,
        samples: int | None = None,
    ) -> Pictures:
        """Pictures of these moments by a fresh renderer, ``ahead`` of them submitted before the first is collected."""
        renderer = self.make()
        try:
            renderer.open(place, WIDTH, HEIGHT, passes or renderer.passes, samples)
            out: Pictures = []
            waiting = 0
            for moment in moments:
                renderer.submit(moment)
                waiting += 1
                if waiting == ahead:
                    out.append(_collected(renderer))
                    waiting -= 1
            out += [_collected(renderer) for _ in range(waiting)]
            return out
        finally:
            renderer.close()

    @cached_property
    def day(self) -> dict[str, Array]:
        """One picture of the arena by day, every pass."""
        return self.draw(self.place, [self.moment(0)])[0]

    def moment(self, step: int, place: Scenery | None = None) -> Moment:
        """The arena at a step: camera and mover go on."""
        place = place or self.place

        def at(k: int) -> Any:
            x, y, z = arena.MOVER_START
            return arena.instant(place, 10.0 * k, (x, y + 0.04 * k, z))

        return Moment(at(step), camera(step), at(step + 1), camera(step + 1))

    @cached_property
    def probe(self) -> GeometryProbe:
        """Independent rays against the arena (not its player)."""
        return GeometryProbe(self.place.geometry, self.place.world, self.place.body_ids)


def _collected(renderer: Renderer) -> dict[str, Array]:
    picture: object = renderer.collect()
    if not isinstance(picture, dict):
        raise WorldwrightError(
            f"collect gave {type(picture).__name__}", where=renderer.name, fix="a dict: a pass's name to its array"
        )
    return picture


def _pixels() -> Array:
    u, v = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    return np.stack([u, v], axis=-1)


def _plane_depth(view: View, point: Sequence[float], normal: Sequence[float]) -> Array:
    """Planar z [h, w] at which the pixels' rays meet a plane."""
    rays = pixel_rays(_pixels(), view.K) @ view.c2w[:3, :3].T
    n = np.asarray(normal, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(((np.asarray(point) - view.c2w[:3, 3]) @ n) / (rays @ n))


def _truth(subject: RendererSubject, moment: Moment, pixels: Array) -> tuple[Array, Array]:
    """Planar depth and entity by independent rays through these pixel positions [N, 2]; infinite and 0 where nothing is. The player is not
    met: pixels that show it are left out by the caller."""
    subject.probe.set_poses(moment.now.positions, moment.now.rotations)
    local = pixel_rays(pixels, moment.view.K)
    length = np.linalg.norm(local, axis=-1, keepdims=True)
    hits = subject.probe.cast_rays(
        np.broadcast_to(moment.view.c2w[:3, 3], local.shape), (local / length) @ moment.view.c2w[:3, :3].T, FAR_M
    )
    return hits.distance / length[:, 0], hits.entity


# --- the cases ---------------------------------------------------------------------------------------------------------------


def _stored_form(subject: RendererSubject) -> Check:
    problems = form_problems(subject.day, subject.passes, WIDTH, HEIGHT)
    return from_problems("stored_form", problems, f"{len(subject.passes)} passes in their stored form")


def _camera(subject: RendererSubject) -> Check:
    """Known points lie where u = fx x / z + cx, v = fy y / z + cy puts them."""
    name = "camera_convention"
    if "entity" not in subject.passes:
        return skipped(name, "no entity pass")
    view, ids = subject.moment(0).view, subject.day["entity"]
    for id, point in (
        (arena.BOX, arena.BOX_CENTRE),
        (arena.BALL, arena.BALL_CENTRE),
        (arena.PILLAR, arena.PILLAR_CENTRE),
        (arena.MOVER, arena.MOVER_START),
        (arena.CARD, arena.CARD_CENTRE),
    ):
        (uv,), _ = project([point], view.c2w, view.K)
        u, v = (int(x) for x in uv)
        if not (0 <= u < WIDTH and 0 <= v < HEIGHT) or int(ids[v, u]) != id:
            seen = np.argwhere(ids == id)
            where = (
                f"it is seen around column {seen[:, 1].mean():.1f}, row {seen[:, 0].mean():.1f}" if len(seen) else "it is not seen"
            )
            return failed(
                name,
                f"entity {id} at {point} belongs into column {u}, row {v}, where {int(ids[v, u])} is; {where}: axes, handedness, up, "
                "units or the direction of c2w are others",
                value=int(ids[v, u]),
                limit=id,
            )
    # To a fraction of a pixel: the ball's outline about its projected centre.
    outline = np.argwhere(ids == arena.BALL)[:, ::-1] + 0.5
    off = float(np.linalg.norm(outline.mean(axis=0) - _middle(view)))
    if off > 0.25:
        return failed(name, f"the ball's middle is {off:.2f} px off: pixel centres lie at + 0.5", value=off, limit=0.25)
    return passed(name, f"five known points and the ball's middle (off by {off:.3f} px)")


def _middle(view: View) -> Array:
    """The mean pixel position of the ball by the sphere's equation."""
    centre = (invert_rigid(view.c2w) @ [*arena.BALL_CENTRE, 1.0])[:3]
    rays = pixel_rays(_pixels(), view.K)
    along = rays @ centre / np.linalg.norm(rays, axis=-1)
    hit = along**2 >= centre @ centre - arena.BALL_RADIUS**2
    return np.asarray((np.argwhere(hit)[:, ::-1] + 0.5).mean(axis=0))


def _depth(subject: RendererSubject) -> Check:
    name = "depth"
    if not {"depth", "entity"} <= set(subject.passes):
        return skipped(name, "no depth and entity passes")
    view, ids = subject.moment(0).view, subject.day["entity"]
    depth = decode("depth", subject.day["depth"])
    for id, point, normal in ((arena.WALL, (arena.WALL_X, 0, 0), (-1, 0, 0)), (arena.FLOOR, (0, 0, 0), (0, 0, 1))):
        truth = _plane_depth(view, point, normal)
        on = (ids == id) & binary_erosion(ids == id, iterations=1)
        if on.sum() < 50:
            return failed(name, f"only {int(on.sum())} pixels show entity {id}", value=int(on.sum()), limit=50)
        wrong = np.abs(depth - truth) / truth
        wrong[~on] = 0
        v, u = np.unravel_index(int(np.nanargmax(np.where(np.isnan(wrong), np.inf, wrong))), wrong.shape)
        if not wrong[v, u] <= DEPTH_SHARE:
            ray = float(np.linalg.norm(pixel_rays(np.array([u + 0.5, v + 0.5]), view.K)))
            ratio = float(depth[v, u] / truth[v, u])
            hint = "; that is the distance along the ray" if abs(ratio - ray) < 2e-3 else ""
            return failed(
                name,
                f"row {v}, column {u}: {depth[v, u]:.4f} m, the plane's planar z is {truth[v, u]:.4f} m ({ratio:.3f} times){hint}",
                value=float(wrong[v, u]),
                limit=DEPTH_SHARE,
            )
    sky = ids == 0
    if sky.any() and not np.all(subject.day["depth"][sky] == 0):
        return failed(
            name, "the sky has a depth: its code must be 0, no surface", value=int(subject.day["depth"][sky].max()), limit=0
        )
    return passed(name, f"planar z of two planes within {DEPTH_SHARE:.1%}; the sky has none")


def _normals(subject: RendererSubject) -> Check:
    name = "normal"
    if not {"normal", "entity"} <= set(subject.passes):
        return skipped(name, "no normal and entity passes")
    view, ids = subject.moment(0).view, subject.day["entity"]
    normal = decode("normal", subject.day["normal"])
    to_camera = view.c2w[:3, :3].T
    rays = pixel_rays(_pixels(), view.K)
    centre = to_camera @ (np.asarray(arena.BALL_CENTRE) - view.c2w[:3, 3])
    square = np.sum(rays * rays, axis=-1)
    half = rays @ centre
    inside = np.maximum(half**2 - square * (centre @ centre - arena.BALL_RADIUS**2), 0)
    ball = (rays * ((half - np.sqrt(inside)) / square)[..., None] - centre) / arena.BALL_RADIUS
    worst = 0.0
    for id, truth, limit, margin in (
        (arena.WALL, np.broadcast_to(to_camera @ [-1.0, 0, 0], rays.shape), NORMAL_DEG, 1),
        (arena.FLOOR, np.broadcast_to(to_camera @ [0, 0, 1.0], rays.shape), NORMAL_DEG, 1),
        (arena.BALL, ball, BALL_DEG, 2),
    ):
        on = binary_erosion(ids == id, iterations=margin)
        if on.sum() < 30:
            return failed(name, f"only {int(on.sum())} pixels show entity {id}", value=int(on.sum()), limit=30)
        apart = np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(normal[on] - truth[on], axis=-1) / 2, 0, 1)))
        value = float(np.nanmax(np.where(np.isnan(apart), 180.0, apart)))
        if value > limit:
            return failed(
                name,
                f"entity {id}: {value:.2f} degrees off; normals are unit, of the camera's frame (x right, y down, z forward)",
                value=value,
                limit=limit,
            )
        worst = max(worst, value / limit)
    return passed(name, f"wall, floor and ball, at worst {worst:.0%} of the limit")


def _entities(subject: RendererSubject) -> Check:
    """Every id is that which an independent ray meets at the pixel's centre: nothing between two ids, no edge smoothed."""
    name = "entity"
    if "entity" not in subject.passes:
        return skipped(name, "no entity pass")
    ids, moment = subject.day["entity"], subject.moment(0)
    known = set(subject.place.world.labels())
    strange = sorted({int(k) for k in np.unique(ids)} - known)
    if strange:
        return failed(name, f"id {strange[0]} is nobody's", value=strange[0])
    player = binary_dilation(ids == arena.PLAYER, iterations=2)
    pixels = _pixels().reshape(-1, 2)
    _, truth = _truth(subject, moment, pixels)
    wrong = np.flatnonzero((truth != ids.ravel()) & ~player.ravel())
    bad = []
    for k in wrong:
        near = pixels[k] + NEAR_PX * np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)])
        if int(ids.ravel()[k]) not in _truth(subject, moment, near)[1]:
            bad.append(k)
    if bad:
        v, u = divmod(int(bad[0]), WIDTH)
        return failed(
            name,
            f"row {v}, column {u} is {int(ids[v, u])}, a ray through its centre meets {int(truth[bad[0]])}; {len(bad)} pixels are wrong: ids are "
            "sampled at pixel centres, never filtered",
            value=len(bad),
            limit=0,
        )
    return passed(name, f"{len(pixels):,} pixels, {len(wrong)} of them on an edge")


def _flow(subject: RendererSubject) -> Check:
    name = "flow"
    if not {"flow", "depth", "entity"} <= set(subject.passes):
        return skipped(name, "no flow, depth and entity passes")
    moment, ids = subject.moment(0), subject.day["entity"]
    flow, pixels = decode("flow", subject.day["flow"]), _pixels()
    depth = decode("depth", subject.day["depth"])
    local = pixel_rays(pixels, moment.view.K) * depth[..., None]
    points = local @ moment.view.c2w[:3, :3].T + moment.view.c2w[:3, 3]
    points = points + np.where((ids == arena.MOVER)[..., None], moment.next.positions[0] - moment.now.positions[0], 0.0)
    uv, _ = project(points.reshape(-1, 3), moment.next_view.c2w, moment.next_view.K)
    truth = uv.reshape(HEIGHT, WIDTH, 2) - pixels
    on = (ids != 0) & (ids != arena.PLAYER)
    off = np.linalg.norm(flow - truth, axis=-1)
    off[~on] = 0
    # Half a step of the depth code at 3 m moves a pixel by a few thousandths.
    limit = FLOW_PX + 0.02
    worst = float(np.nanmax(np.where(np.isnan(off), np.inf, off)))
    if worst > limit:
        v, u = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
        return failed(
            name,
            f"row {v}, column {u}: {np.round(flow[v, u], 3).tolist()} px, known motion is {np.round(truth[v, u], 3).tolist()} px "
            "(from this frame to the next)",
            value=worst,
            limit=limit,
        )
    return passed(name, f"camera and mover, at most {worst:.4f} px off")


def _in_time(subject: RendererSubject) -> Check:
    """Each picture is of its own moment, also when several are on their way."""
    name = "in_time"
    if not {"depth", "entity"} <= set(subject.passes):
        return skipped(name, "no depth and entity passes")
    moments = [subject.moment(k) for k in range(4)]
    pictures = subject.draw(subject.place, moments, ("depth", "entity"), ahead=2)
    pixels = _pixels()[::3, ::3].reshape(-1, 2)
    at = pixels.astype(np.int64)
    errors = np.zeros((4, 4))
    for i, picture in enumerate(pictures):
        depth = decode("depth", picture["depth"])[at[:, 1], at[:, 0]]
        shown = picture["entity"][at[:, 1], at[:, 0]] != arena.PLAYER
        for k, moment in enumerate(moments):
            truth, _ = _truth(subject, moment, pixels)
            both = shown & np.isfinite(truth) & ~np.isnan(depth)
            errors[i, k] = np.median(np.abs(depth[both] / truth[both] - 1)) if both.any() else np.inf
    found = errors.argmin(axis=1)
    for i, k in enumerate(found):
        if k != i or not errors[i, i] < DEPTH_SHARE:
            what = f"is that of moment {int(k)}" if k != i else f"is {errors[i, i]:.2%} off its own moment"
            return failed(name, f"picture {i} {what}", frame=i, value=float(errors[i, i]), limit=DEPTH_SHARE)
    return passed(name, "four pictures, two on their way at a time, each of its own moment")


def _same_again(subject: RendererSubject) -> Check:
    name = "same_again"
    maker = subject.make()
    tolerance = int(getattr(maker, "rgb_tolerance", 0))
    maker.close()
    moments = [subject.moment(k) for k in range(2)]
    alone = [subject.draw(subject.place, [moment])[0] for moment in moments]
    # The second is asked for while the first may still be drawn: it must not take the first one's place.
    for k, (first, second) in enumerate(zip(alone, subject.draw(subject.place, moments, ahead=2), strict=True)):
        for key in first:
            gap = np.abs(first[key].astype(np.int64) - second[key].astype(np.int64))
            limit = tolerance if key == "rgb" else 0
            if gap.max() > limit:
                return failed(
                    name,
                    f"{key} of moment {k} differs in {int((gap > limit).sum())} values between a picture drawn alone and one of two on their way",
                    value=int(gap.max()),
                    limit=limit,
                )
    return passed(
        name, "the same bytes, whatever was drawn before" if not tolerance else f"the same but for {tolerance} levels of rgb"
    )


def _grey(subject: RendererSubject) -> Check:
    """The card emits known radiance in a dark world; exposure is 1. One curve, applied once."""
    name = "grey_card"
    if not {"rgb", "entity"} <= set(subject.passes):
        return skipped(name, "no rgb and entity passes")
    codes = []
    for glow in (0.02, GREY, 1.0):
        place = arena.scenery(arena.arena_world(glow=glow), people=False)
        picture = subject.draw(place, [subject.moment(0, place)], ("rgb", "entity"))[0]
        card = binary_erosion(picture["entity"] == arena.CARD, iterations=2)
        if card.sum() < 20:
            return failed(name, f"only {int(card.sum())} pixels show the card", value=int(card.sum()), limit=20)
        colour = picture["rgb"][card].reshape(-1, 3).mean(axis=0) / 255.0
        if np.ptp(colour) > 0.02:
            return failed(
                name, f"a white card of radiance {glow} is {np.round(colour, 3).tolist()}", value=float(np.ptp(colour)), limit=0.02
            )
        codes.append(float(colour.mean()))
    if not GREY_LOW <= codes[1] <= GREY_HIGH:
        return failed(
            name,
            f"radiance {GREY} reads {codes[1]:.3f}, it should be middle grey, {GREY_LOW} to {GREY_HIGH} (sRGB: 0.461): the curve is missing, "
            "or applied twice, or another exposure is",
            value=codes[1],
            limit=GREY_HIGH,
        )
    if not codes[0] < 0.6 * codes[1] < codes[1] < 0.75 * codes[2] <= 0.75:
        return failed(name, f"radiances 0.02, {GREY}, 1 read {[round(c, 3) for c in codes]}", value=codes[2])
    return passed(name, f"radiances 0.02, {GREY}, 1 read {', '.join(f'{c:.3f}' for c in codes)}")


def _silhouette(subject: RendererSubject) -> Check:
    """The beauty picture's outline of the glowing card is the entity pass's, to a pixel: so any two renderers' outlines agree."""
    name = "silhouette"
    if not {"rgb", "entity"} <= set(subject.passes):
        return skipped(name, "no rgb and entity passes")
    place = arena.scenery(arena.arena_world(glow=0.6), people=False)
    picture = subject.draw(place, [subject.moment(0, place)], ("rgb", "entity"), samples=_many(subject))[0]
    shape = picture["entity"] == arena.CARD
    bright = picture["rgb"].astype(np.float64).mean(axis=-1)
    seen = bright > 0.5 * np.median(bright[binary_erosion(shape, iterations=2)])
    ring = np.ones((2 * REACH + 1,) * 2, bool)
    extra = seen & ~binary_dilation(shape, ring)
    missing = binary_erosion(shape, ring) & ~seen
    # What the card lights (the wall behind it) is dimmer than half of it.
    count = int(extra.sum() + missing.sum())
    if count:
        v, u = np.argwhere(extra | missing)[0]
        return failed(
            name,
            f"rgb and entity disagree on the card's outline in {count} pixels, first row {v}, column {u}",
            value=count,
            limit=0,
        )
    return passed(name, f"the card's outline in rgb is the entity pass's within {REACH} px")


def _many(subject: RendererSubject) -> int | None:
    """Samples for a picture without noise; None of a renderer that does not sample."""
    maker = subject.make()
    try:
        return None if maker.samples is None else max(64, maker.samples)
    finally:
        maker.close()


def _hidden(subject: RendererSubject) -> Check:
    name = "hidden"
    if "entity" not in subject.passes:
        return skipped(name, "no entity pass")
    m = subject.moment(0)
    view = View(camera_look((0.0, 0.6, 1.4), 0.7, -0.1), m.view.K)
    shown = subject.draw(subject.place, [Moment(m.now, view, m.now, view)], ("entity",))[0]["entity"]
    hiding = View(view.c2w, view.K, (arena.PLAYER,))
    gone = subject.draw(subject.place, [Moment(m.now, hiding, m.now, hiding)], ("entity",))[0]["entity"]
    if not (shown == arena.PLAYER).any():
        return failed(name, "the player is not seen", value=0)
    count = int((gone == arena.PLAYER).sum())
    return (
        failed(name, f"a hidden character is seen in {count} pixels", value=count, limit=0)
        if count
        else passed(name, "who is hidden from a camera is not seen by it")
    )


def _shutter(subject: RendererSubject) -> Check:
    """Motion blur is in rgb alone, its mean in linear light: of a still scene it changes nothing, and half the time is half the light."""
    name = "shutter"
    if "rgb" not in subject.passes:
        return skipped(name, "no rgb pass")
    place = arena.scenery(arena.arena_world(glow=1.0), people=False)
    m = subject.moment(0, place)
    away = camera_look(EYE, YAW + np.pi, 0.0)  # looks the other way: there all is dark
    samples = _many(subject)
    still = Moment(m.now, m.view, m.next, m.next_view, ((m.now, m.view),) * 4)
    half = Moment(m.now, m.view, m.next, m.next_view, ((m.now, m.view), (m.now, View(away, m.view.K))) * 2)
    wanted = tuple(p for p in ("rgb", "entity", "depth") if p in subject.passes)
    sharp, blurred, halved = subject.draw(place, [m, still, half], wanted, samples=samples)
    for key in wanted[1:]:
        if not np.array_equal(sharp[key], halved[key]):
            return failed(name, f"the shutter changes the {key} pass: it is of the frame's instant alone")
    card: Array = (
        binary_erosion(sharp["entity"] == arena.CARD, iterations=2) if "entity" in sharp else sharp["rgb"].mean(axis=-1) > 128
    )
    off = float(np.abs(sharp["rgb"][card].astype(float) - blurred["rgb"][card]).mean())
    if off > 3:
        return failed(name, f"the mean of four equal sub-frames is {off:.1f} levels off the sharp picture", value=off, limit=3)
    # A radiance of 0.5, made by a card of half the glow, is what half the time must read.
    place = arena.scenery(arena.arena_world(glow=0.5), people=False)
    dim = subject.draw(place, [subject.moment(0, place)], wanted, samples=samples)[0]
    off = float(np.abs(dim["rgb"][card].astype(float) - halved["rgb"][card]).mean())
    if off > 4:
        return failed(
            name, f"half the time open is {off:.1f} levels off half the light: the mean is not in linear light", value=off, limit=4
        )
    return passed(name, "the mean is in linear light, and no other pass is blurred")


RENDERER_CASES: tuple[Case[RendererSubject], ...] = (
    Case("stored_form", "passes are those declared, in their stored types and sizes", _stored_form),
    Case("camera_convention", "OpenCV cameras, right-handed, Z up, metres: known points are where they belong", _camera),
    Case("depth", "planar z in metres; the sky has none", _depth),
    Case("normal", "unit normals in the camera's frame", _normals),
    Case("entity", "ids at pixel centres, unfiltered", _entities),
    Case("flow", "pixels from this frame to the next", _flow),
    Case("in_time", "each picture is of its own moment", _in_time),
    Case("same_again", "the same moment gives the same bytes, or within the declared tolerance", _same_again),
    Case("grey_card", "known radiance becomes the sRGB code of middle grey, once", _grey),
    Case("silhouette", "outlines of rgb and geometry agree to a pixel", _silhouette),
    Case("hidden", "a camera does not see who is hidden from it", _hidden),
    Case("shutter", "motion blur is a mean in linear light, of rgb alone", _shutter),
)
