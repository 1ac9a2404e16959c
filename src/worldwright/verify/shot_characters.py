"""Characters, skinned again on the CPU from the take's bones, against their pixels: silhouette, depth and flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from worldwright.assets.animation import skin, skin_matrices
from worldwright.assets.model import Model
from worldwright.render.passes import FLOW_INVALID, FLOW_SCALE
from worldwright.take.model import CharacterInstant
from worldwright.transforms import invert_rigid, pixel_rays, pose_matrix, project, quat_yaw, transform_points
from worldwright.verify.frame import Frame, decode_depth_64
from worldwright.verify.measure import Measure
from worldwright.verify.skinned import Surface, follow, nearest_point

NAME = "characters"
MOST_PIXELS = 300
HIDDEN_SHARE = 0.1
"""Of the pixels that vertices fall on: those where they stand in front of everything shown within a pixel. Hands and feet far away are
thinner than a pixel and may be missed by all pixel centres."""
FEWEST_COVERED = 40
IN_FRONT_M = 0.03
"""A vertex stands in front of what is shown when it is nearer by more than this and two pixels' size."""
OFF_SURFACE_M = 0.002
OFF_SURFACE = 0.001
"""95 % of a character's pixels lie this close to its skinned surface, plus this share of their depth."""
FACING = 0.2
FLOW_PX = 1 / 16
FLOW_SHARE = 0.01
"""Flow may be off by this many pixels and this share of its length."""
FEWEST = 12
NEAR = 0.06

F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Skinned:
    """A character's vertices in world space now and at the next frame [N, 3], and its unit normals now."""

    id: int
    now: F64
    normals: F64
    next: F64


def _placed(model: Model, state: CharacterInstant) -> tuple[F64, F64]:
    matrices = skin_matrices(model, state.bones) if model.skeleton is not None else None
    parts = [skin(mesh, model, state.bones, matrices) for mesh in model.meshes]
    place = pose_matrix(state.position, quat_yaw(state.yaw))
    positions = transform_points(place, np.concatenate([p for p, _ in parts]))
    return positions, np.concatenate([n for _, n in parts]) @ place[:3, :3].T


def skin_characters(frame: Frame, models: Mapping[int, Model]) -> list[Skinned]:
    """Every character of a frame, skinned by ``assets.animation.skin`` from the take's bones."""
    later = {state.id: state for state in frame.next.characters}
    out = []
    for state in frame.now.characters:
        if state.id in frame.hidden:
            continue
        now, normals = _placed(models[state.id], state)
        out.append(Skinned(state.id, now, normals, _placed(models[state.id], later[state.id])[0]))
    return out


def measure_characters(frame: Frame, models: Mapping[int, Model], surfaces: Mapping[int, Surface]) -> list[Measure]:
    """How well each character's pixels and its skinned vertices agree; nothing where it is neither in the picture nor in view."""
    if "entity" not in frame.stored or "depth" not in frame.stored:
        return []
    out: list[Measure] = []
    for character in skin_characters(frame, models):
        out += _measure(frame, character, surfaces[character.id])
    return out


def _measure(frame: Frame, character: Skinned, surface: Surface) -> list[Measure]:
    mask = frame.stored["entity"] == character.id
    uv, z = project(character.now, frame.c2w, frame.K)
    inside = (z > NEAR) & (uv >= 1).all(axis=-1) & (uv[:, 0] < frame.width - 1) & (uv[:, 1] < frame.height - 1)
    # Only what faces the camera can be seen.
    sight = frame.c2w[:3, 3] - character.now
    facing = np.einsum("ni,ni->n", sight, character.normals) > FACING * np.linalg.norm(sight, axis=-1)
    inside &= facing
    pixels = np.argwhere(mask)
    out: list[Measure] = []
    if inside.sum() >= FEWEST:
        column, row = uv[inside].astype(np.int64).T
        pixel = z[inside] / frame.K[0, 0]
        depth = decode_depth_64(frame.stored["depth"])
        depth = np.where(np.isnan(depth), np.inf, depth)
        # A vertex may lie between pixel centres: what counts is the nearest surface shown within a pixel, and whose it is.
        nearest = minimum_filter(depth, size=3)[row, column]
        own = maximum_filter(mask.astype(np.uint8), size=3)[row, column] > 0
        in_front = (z[inside] < nearest - IN_FRONT_M - 2 * pixel) & ~own
        covered = np.unique(row * frame.width + column)
        unseen = np.unique((row * frame.width + column)[in_front])
        if len(covered) >= FEWEST_COVERED:
            share = len(unseen) / len(covered)
            what = f"share of the pixels of character {character.id}'s vertices in which it should be seen and is not"
            out.append(Measure(NAME, frame.index, share, HIDDEN_SHARE, what))
    if len(pixels) < FEWEST:
        return out
    step = max(1, len(pixels) // MOST_PIXELS)
    rows, columns = pixels[::step].T
    depth_there = decode_depth_64(frame.stored["depth"][rows, columns])
    rays = pixel_rays(np.stack([columns + 0.5, rows + 0.5], axis=-1), frame.K)
    points = np.nan_to_num(transform_points(frame.c2w, rays * depth_there[:, None]), nan=1e9)
    gap, triangle, weights = nearest_point(surface, character.now, points)
    limit = OFF_SURFACE_M + OFF_SURFACE * float(np.nanmedian(depth_there)) if np.isfinite(depth_there).any() else OFF_SURFACE_M
    out.append(
        Measure(
            NAME,
            frame.index,
            float(np.percentile(gap, 95)),
            limit,
            f"distance of the pixels of character {character.id} from its skinned surface (m, 95 %)",
        )
    )
    if "flow" in frame.stored:
        stored = frame.stored["flow"][rows, columns].astype(np.float64)
        moved = follow(surface, character.next, triangle, weights)
        local = transform_points(invert_rigid(frame.next_c2w), moved)
        use = (local[:, 2] > NEAR) & ~np.any(stored == FLOW_INVALID, axis=-1) & np.isfinite(local).all(axis=-1)
        if use.sum() >= FEWEST:
            there, _ = project(moved[use], frame.next_c2w, frame.next_K)
            expected = there - np.stack([columns + 0.5, rows + 0.5], axis=-1)[use]
            error = np.linalg.norm(stored[use] / FLOW_SCALE - expected, axis=-1)
            allowed = FLOW_PX + FLOW_SHARE * float(np.median(np.linalg.norm(expected, axis=-1)))
            out.append(
                Measure(
                    NAME, frame.index, float(np.median(error)), allowed, f"median error of flow on character {character.id} (px)"
                )
            )
    return out
