"""Physics rays through the recorded cameras against rendered depth and entity: geometry that the renderer never saw.

A ray is cast by Bullet from the row's camera through a pixel's centre, at the bodies' poses of the row's tick. It must meet the entity
that the picture shows, at the depth that the picture shows. From all rays of a frame the camera is registered (point to plane, as in
ICP: Chen and Medioni 1992): the small motion of the camera that would explain the differences must be none. That finds a picture that
is one frame late, half a pixel off, taken a centimetre beside or half a degree turned, whatever was sealed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldwright.engine.protocol import RayHits
from worldwright.render.declared import DeclaredDepth, DeclaredEntity
from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR, DEPTH_STEPS
from worldwright.verify.frame import SEED, Frame, Pixels
from worldwright.verify.measure import Measure

NAME = "rays"
RAYS = 160
SKY_RAYS = 16
BODY_RAYS = 8
"""Extra rays a frame on each of the bodies that move, up to ``BODIES`` of them."""
BODIES = 8
FAR_OFF = 0.003
"""A ray is off when its depth differs by more than this share of it."""
FAR_OFF_SHARE = 0.04
ENTITY_SHARE = 0.03
MEDIAN = 0.0004
"""The median of the signed relative error: depth codes are 0.0151 % apart, so an honest median is below 0.0001."""
BODY_MEDIAN = 0.002
SHIFT_M = 0.002
TURN_PX = 0.06
FEWEST = 24
GRAZING = 0.08
BOUNDARY = 4.0
"""Standard errors that the fitted motion of the camera may have beyond its limit."""

F64 = NDArray[np.float64]


class Probe(Protocol):
    """What casts the rays: ``engine.probe.GeometryProbe``."""

    def set_poses(self, positions: Any, rotations: Any) -> None:
        """Move the bodies."""

    def cast_rays(self, origins: F64, directions: F64, max_distance: float) -> RayHits:
        """First hits."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How a shot's pictures are to be read beside the world's geometry (``render.declared``).

    ``depth``: depth is off by so much, and known so near and so far, in metres; None: as the conventions say. ``shown`` [ids]: the id that an
    entity's pixels have. ``flat`` [ids] true: its shape in the world is not what is drawn."""

    depth: DeclaredDepth | None
    shown: NDArray[np.int64]
    flat: NDArray[np.bool_]

    @classmethod
    def of(cls, depth: DeclaredDepth | None, entity: DeclaredEntity | None) -> Judged:
        """From what the passes declare."""
        shown, flat = np.arange(1 << 16), np.zeros(1 << 16, dtype=np.bool_)
        if entity is not None:
            for id, other in entity.shown_as.items():
                shown[id] = other
            flat[entity.stand_ins] = True
        return cls(depth, shown, flat)

    @property
    def error(self) -> float:
        """Metres by which depth may be off beside the rounding of its codes."""
        return 0.0 if self.depth is None else self.depth.error_m

    def known(self, depth: F64) -> NDArray[np.bool_]:
        """Where a surface at this depth has one in the picture."""
        if self.depth is None:
            return depth > DEPTH_NEAR
        return (depth > self.depth.near_m + self.error) & (depth < self.depth.far_m - self.error)


AS_IT_IS = Judged.of(None, None)
"""Of a shot that keeps the conventions."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Rays of a frame: index [n] into the frame's pixels, planar depth [n] (inf: nothing), entity [n], normal [n, 3] in camera space,
    ``trusted`` [n] false where the ray met the back of a face or a cut-out surface, which a renderer may not draw."""

    index: NDArray[np.int64]
    depth: F64
    entity: NDArray[np.int64]
    normal: F64
    trusted: NDArray[np.bool_]


def choose_rays(frame: Frame, pixels: Pixels, rays: int) -> NDArray[np.int64]:
    """Which of the sampled pixels get a ray: spread over the smooth ones, some of the sky, some on each moving body."""
    rng = np.random.default_rng((SEED, frame.index, 1))
    solid = pixels.inner & ~frame.is_character(pixels.entity)

    def some(mask: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
        found = np.flatnonzero(mask)
        if len(found) <= count:
            return found
        # One in each of ``count`` stretches of the raster order: spread over the picture.
        edges = np.linspace(0, len(found), count + 1)
        at = (edges[:-1] + rng.random(count) * np.diff(edges)).astype(np.int64)
        return found[np.minimum(at, len(found) - 1)]

    chosen = [some(solid, rays), some(pixels.entity == 0, SKY_RAYS)]
    motion = np.abs(frame.body_motion[:-1] - np.eye(4)).max(axis=(1, 2), initial=0.0) if frame.body_ids else np.zeros(0)
    ids = np.array(frame.body_ids, dtype=np.int64)[motion > 1e-4]
    visible = [(int(np.sum(solid & (pixels.entity == k))), int(k)) for k in ids]
    for count, k in sorted(visible, key=lambda item: (-item[0], item[1]))[:BODIES]:
        if count:
            chosen.append(some(solid & (pixels.entity == k), BODY_RAYS))
    return np.unique(np.concatenate(chosen))


def cast(
    frame: Frame,
    pixels: Pixels,
    index: NDArray[np.int64],
    probe: Probe,
    holes: NDArray[np.int64],
    two_sided: NDArray[np.int64],
    judged: Judged,
) -> Hits:
    """Cast the rays of a frame, with the probe at the frame's poses. ``holes`` are ids with cut-out surfaces, ``two_sided`` those seen from behind as well."""
    local = pixels.ray[index]
    length = np.linalg.norm(local, axis=-1)
    directions = local @ frame.c2w[:3, :3].T / length[:, None]
    origins = np.broadcast_to(frame.c2w[:3, 3], directions.shape).copy()
    found = probe.cast_rays(origins, directions, DEPTH_FAR)
    entity = np.asarray(found.entity, dtype=np.int64)
    normal = np.asarray(found.normal) @ frame.c2w[:3, :3]
    behind = np.einsum("ni,ni->n", np.asarray(found.normal), directions) > 0
    trusted = ~(behind & ~np.isin(entity, two_sided)) & ~np.isin(entity, holes) & ~judged.flat[entity]
    normal = np.where(behind[:, None], -normal, normal)
    return Hits(index, np.asarray(found.distance) / length, judged.shown[entity], normal, trusted)


def fit_camera(points: F64, normals: F64, depth: F64, error: F64, ray: F64, coarse: float = 0.0) -> tuple[F64, F64, F64]:
    """The small motion of the camera (turn [3] radians, shift [3] metres, camera axes) that explains depth errors, its standard
    errors [6], and the residuals.

    ``coarse``: metres by which depth may be off anyway. A camera moved by (w, s) sees a plane point at depth z change by ``dz = -n . (s + w x p) / (n . ray)`` (first order). Twice
    reweighted least squares (Huber); directions that the seen surfaces do not determine are left at 0 with standard error 0.
    """
    steep = np.einsum("ni,ni->n", normals, ray)
    rows = np.concatenate([np.cross(points, normals), normals], axis=-1) / steep[:, None]
    # In units of the depth's own rounding, which is a share of the depth.
    unit = depth[:, None]
    rows, target = rows / unit, -error / depth
    # Turn in radians, shift in metres over the typical distance: both columns of the same size.
    scale = np.concatenate([np.ones(3), np.full(3, float(np.median(depth)))])
    rows = rows * scale
    weight = np.ones(len(rows))
    floor = np.log(DEPTH_FAR / DEPTH_NEAR) / DEPTH_STEPS / np.sqrt(12) + coarse / np.sqrt(3) / float(np.median(depth))
    solution, spread, residual = np.zeros(6), np.zeros(6), target
    for _ in range(4):
        values, vectors = np.linalg.eigh(np.einsum("n,ni,nj->ij", weight, rows, rows))
        known = values > 0.02 * weight.sum()
        inverse = np.where(known, 1.0 / np.where(known, values, 1.0), 0.0)
        solution = vectors @ (inverse * (vectors.T @ np.einsum("n,ni,n->i", weight, rows, target)))
        residual = target - rows @ solution
        sigma = max(1.4826 * float(np.median(np.abs(residual))), float(floor))
        spread = np.sqrt(np.einsum("ij,j,ij->i", vectors, inverse, vectors)) * sigma
        weight = np.minimum(1.0, 2.0 * sigma / np.maximum(np.abs(residual), 1e-12))
    return solution * scale, spread * scale, residual


def measure_rays(
    frame: Frame,
    probe: Probe,
    holes: NDArray[np.int64],
    two_sided: NDArray[np.int64],
    rays: int = RAYS,
    reading: Judged = AS_IT_IS,
) -> list[Measure]:
    """Depth and entity along rays, the fitted motion of the camera, and the median error on each moving body.

    Where depth is declared coarse, every limit is wider by that: rays then find what is in another place, not what is a little off."""
    pixels = frame.pixels
    if pixels is None:
        return []
    index = choose_rays(frame, pixels, rays)
    if not len(index):
        return []
    hits = cast(frame, pixels, index, probe, holes, two_sided, reading)
    shown = pixels.entity[index]
    characters = frame.is_character(shown)
    judged = hits.trusted & ~characters & ~reading.flat[shown]
    # What is too far for the picture's depth is shown as sky.
    judged &= (shown != 0) | ~np.isfinite(hits.depth) | reading.known(hits.depth)
    out: list[Measure] = []
    if judged.sum() >= FEWEST // 2:
        wrong = judged & (hits.entity != shown)
        out.append(
            Measure(
                NAME,
                frame.index,
                float(wrong.sum() / judged.sum()),
                ENTITY_SHARE,
                "share of rays that meet another entity than shown",
            )
        )
    depth = pixels.depth[index]
    same = judged & (hits.entity == shown) & (shown != 0) & np.isfinite(depth) & np.isfinite(hits.depth)
    ray = pixels.ray[index]
    steep = np.abs(np.einsum("ni,ni->n", hits.normal, ray)) / np.linalg.norm(ray, axis=-1)
    same &= (steep > GRAZING) & reading.known(hits.depth)
    if same.sum() < FEWEST // 2:
        return out
    error = depth[same] - hits.depth[same]
    relative = error / hits.depth[same]
    out.append(
        Measure(
            NAME,
            frame.index,
            float(np.mean(np.abs(error) > FAR_OFF * hits.depth[same] + reading.error)),
            FAR_OFF_SHARE,
            f"share of rays whose depth is over {FAR_OFF:.1%}{f' and {reading.error:.2f} m' if reading.error else ''} off",
        )
    )
    coarse = reading.error / float(np.median(hits.depth[same]))
    out.append(Measure(NAME, frame.index, float(abs(np.median(relative))), MEDIAN + coarse, "median relative error of depth"))
    ids = shown[same]
    bodies = frame.body_rows(ids) < len(frame.body_ids)
    for k in np.unique(ids[bodies]):
        on = relative[ids == k]
        if len(on) >= 4:
            out.append(
                Measure(
                    NAME,
                    frame.index,
                    float(abs(np.median(on))),
                    BODY_MEDIAN + coarse,
                    f"median relative error of depth on body {k}",
                )
            )
    still = ~bodies
    if still.sum() >= FEWEST:
        points = ray[same][still] * hits.depth[same][still][:, None]
        motion, spread, _ = fit_camera(
            points, hits.normal[same][still], hits.depth[same][still], error[still], ray[same][still], reading.error
        )
        turn_px = float(np.linalg.norm(motion[:3]) * frame.K[0, 0])
        turn_error = float(np.linalg.norm(spread[:3]) * frame.K[0, 0])
        shift, shift_error = float(np.linalg.norm(motion[3:])), float(np.linalg.norm(spread[3:]))
        out.append(
            Measure(
                NAME,
                frame.index,
                turn_px,
                TURN_PX + BOUNDARY * turn_error + coarse * float(frame.K[0, 0]),
                "turn of the camera that the rays find (pixels at the centre)",
            )
        )
        out.append(
            Measure(
                NAME,
                frame.index,
                shift,
                SHIFT_M + reading.error + BOUNDARY * shift_error,
                "shift of the camera that the rays find (m)",
            )
        )
    return out
