"""A floor plan of a world: what lies below a cut, seen from above, and where the cut goes through things."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from worldwright.assets.model import SceneGeometry
from worldwright.transforms import quat_rotate
from worldwright.world.spec import World

Array = NDArray[Any]

GROUND = (32, 36, 42)
CUT = (24, 24, 30)
SIDE = 640
"""Pixels along the longer side."""


def triangles(world: World, geometry: SceneGeometry) -> tuple[Array, Array]:
    """All triangles of the entities where they stand at the start: corners [T, 3, 3] in metres, linear base colour [T, 3]."""
    corners, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for index, entity in enumerate(world.entities):
        for mesh in geometry.entities.get(world.entity_id(index), ()):
            points = quat_rotate(np.array(entity.rotation), mesh.positions) + np.array(entity.position)
            faces = points[mesh.indices]
            corners.append(faces)
            colours.append(np.broadcast_to(np.array(mesh.surface.base_colour[:3]), (len(faces), 3)))
    return np.concatenate(corners), np.concatenate(colours)


def sections(corners: Array, height: float) -> Array:
    """Where the plane z = ``height`` cuts triangles [T, 3, 3]: segments [S, 2, 2] in x and y."""
    z = corners[:, :, 2] - height
    found = corners[(z.min(axis=1) < 0) & (z.max(axis=1) >= 0)]
    z = found[:, :, 2] - height
    # The corner alone on its side of the plane comes first: both edges from it are cut.
    above = z >= 0
    alone = np.where(above.sum(axis=1) == 1, np.argmax(above, axis=1), np.argmin(above, axis=1))
    rows = np.arange(len(found))
    first, ends = found[rows, alone], []
    for step in (1, 2):
        other = found[rows, (alone + step) % 3]
        share = (first[:, 2] - height) / (first[:, 2] - other[:, 2])
        ends.append((first + share[:, None] * (other - first))[:, :2])
    return np.stack(ends, axis=1)


def floor_plan(world: World, geometry: SceneGeometry, lo: Array, hi: Array, cut: float) -> Image.Image:
    """A picture of the rectangle from ``lo`` to ``hi`` (x, y in metres), north (+Y) up: what is below ``cut`` metres from above, light
    where it is level, and dark lines where the cut goes through walls."""
    corners, colours = triangles(world, geometry)
    near = np.all((corners[:, :, :2].min(axis=1) < hi) & (corners[:, :, :2].max(axis=1) > lo), axis=1)
    corners, colours = corners[near], colours[near]
    scale = SIDE / float(np.max(hi - lo))
    size = tuple(int(max(1, round(s))) for s in (hi - lo) * scale)

    def pixels(points: Array) -> Array:
        return np.stack([(points[..., 0] - lo[0]) * scale, (hi[1] - points[..., 1]) * scale], axis=-1)

    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    level = np.abs(normal[:, 2]) / np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    shown = (corners[:, :, 2].max(axis=1) < cut) & (np.abs(normal[:, 2]) > 1e-9)
    order = np.flatnonzero(shown)[np.argsort(corners[shown][:, :, 2].mean(axis=1), kind="stable")]
    shade = np.clip(colours, 0, 1) ** (1 / 2.2) * (0.45 + 0.55 * level[:, None])
    image = Image.new("RGB", (size[0], size[1]), GROUND)
    draw = ImageDraw.Draw(image)
    for outline, colour in zip(
        pixels(corners[order]).reshape(-1, 6).tolist(), (shade[order] * 255).astype(int).tolist(), strict=True
    ):
        draw.polygon(outline, fill=tuple(colour))
    for line in pixels(sections(corners, cut)).reshape(-1, 4).tolist():
        draw.line(line, fill=CUT, width=2)
    return image
