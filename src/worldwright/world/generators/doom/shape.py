"""The surfaces of a map, as polygons: floors and ceilings by its BSP tree, walls by its lines. In map units.

A sub-sector is what is left of the whole plane when it is cut by every partition above it and by the lines of its own segs: a convex
polygon, exact whatever holes a sector has. What of a sector's planes can move belongs to that plane: its polygons, and the walls that
hang from it, long enough for wherever it goes; the walls of what stands still are as long as the moving neighbour may uncover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.world.generators.doom.wad import LEAF, NONE, Level

F64 = NDArray[np.float64]

SKY = b"F_SKY1"
_NO_TEXTURE = (b"-", b"")
ROOM = 64.0
"""How far beyond all planes around it a moving plane may go."""
SLIVER = 1e-3
"""Square units: smaller polygons are rounding."""

_MANUAL_DOORS = frozenset((1, 26, 27, 28, 31, 32, 33, 34, 117, 118))
_NO_MOTION = frozenset(
    (9, 11, 12, 13, 17, 35, 39, 48, 51, 52, 79, 80, 81, 85, 97, 104, 124, 125, 126, 138, 139, 156, 157, 169, 170, 171, 172, 173, 174,
     192, 193, 194, 195, 197, 198, 207, 208, 209, 210, 213, 223, 224, 225, 226, 242, 243, 244, 253, 254, 255, 260, 261, 262, 263, 264,
     265, 266, 267, 268, 269)
)  # fmt: skip
"""Line types with a tag that move no plane: exits, lights, teleports, scrollers, friction, wind, transfers."""
_BOSS_TAGS = (666, 667)
_TIMED_DOORS = (10, 14)
"""Sector types: a door that shuts after 30 s, one that opens after 5 minutes."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Whose surface something is: a moving plane of a sector, or (``sector`` -1) what stands still, the sky, or the grates: textures
    between rooms that one may see through."""

    sector: int = -1
    part: Literal["level", "sky", "grates", "floor", "ceiling"] = "level"


@dataclass(frozen=True, slots=True)
class Surface:
    """A convex polygon ``points`` [n, 3], counter-clockwise from where it is seen, and what it looks like."""

    plane: Plane
    look: Literal["floor", "wall", "ceiling", "sky", "grate"]
    points: F64


STILL, OPEN_SKY, GRATES = Plane(), Plane(part="sky"), Plane(part="grates")


def moving_sectors(level: Level) -> frozenset[int]:
    """The sectors whose planes some line, boss or clock may move."""
    moved = set(np.flatnonzero(np.isin(level.sectors["special"], _TIMED_DOORS)).tolist())
    tags = set(_BOSS_TAGS)
    for line in level.lines[level.lines["special"] != 0]:
        special = int(line["special"])
        if special in _MANUAL_DOORS and line["back"] != NONE:
            moved.add(int(level.sides["sector"][line["back"]]))
        if special not in _NO_MOTION and line["tag"] != 0:
            tags.add(int(line["tag"]))
    moved |= set(np.flatnonzero(np.isin(level.sectors["tag"], list(tags))).tolist())
    # Stairs and "donuts" move neighbours of the tagged sector that have no tag of their own.
    builders = {
        int(line["tag"]) for line in level.lines if int(line["special"]) in (7, 8, 9, 100, 127, 146, 155, 191, 256, 257, 258, 259)
    }
    front = {k for k in moved if int(level.sectors["tag"][k]) in builders}
    around = _neighbours(level)
    while front:
        front = {n for k in front for n in around[k]} - moved if len(moved) < len(level.sectors) else set()
        front = {n for n in front if level.sectors["tag"][n] == 0 and _stair_like(level, n, moved, around)}
        moved |= front
    return frozenset(moved)


def _stair_like(level: Level, sector: int, moved: set[int], around: list[set[int]]) -> bool:
    """Whether a stair goes on in a sector: it has the floor's texture of the one that moves beside it."""
    flat = level.sectors["floor_flat"]
    return any(n in moved and flat[n] == flat[sector] for n in around[sector])


def _neighbours(level: Level) -> list[set[int]]:
    around: list[set[int]] = [set() for _ in level.sectors]
    two = level.lines[level.lines["back"] != NONE]
    for a, b in zip(level.sides["sector"][two["front"]].tolist(), level.sides["sector"][two["back"]].tolist(), strict=True):
        if a != b:
            around[a].add(b)
            around[b].add(a)
    return around


# --- sub-sectors ----------------------------------------------------------------------------------------------------------------


def _cut(polygon: F64, x: float, y: float, dx: float, dy: float) -> F64:
    """What of a convex polygon [n, 2] lies to the right of a directed line through (x, y)."""
    if not len(polygon):
        return polygon
    side = (polygon[:, 0] - x) * dy - (polygon[:, 1] - y) * dx
    out = []
    for k in range(len(polygon)):
        a, b, sa, sb = polygon[k - 1], polygon[k], side[k - 1], side[k]
        if (sa > 0) != (sb > 0):
            out.append(a + (b - a) * (sa / (sa - sb)))
        if sb > 0:
            out.append(b)
    return np.array(out).reshape(-1, 2)


def leaf_polygons(level: Level) -> list[F64]:
    """The polygon [n, 2] of every sub-sector, counter-clockwise from above; empty where nothing is left of it."""
    low = np.array([level.vertices["x"].min(), level.vertices["y"].min()]) - 64.0
    high = np.array([level.vertices["x"].max(), level.vertices["y"].max()]) + 64.0
    whole = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    out: list[F64] = [np.zeros((0, 2)) for _ in level.leaves]
    stack = [(len(level.nodes) - 1, whole)]
    left = len(level.nodes) + len(level.leaves)
    while stack:
        child, polygon = stack.pop()
        if (left := left - 1) < 0:
            raise WorldwrightError("its BSP tree is none: a node has two parents", fix="choose another map")
        if child & LEAF:
            out[child & ~LEAF] = _within_segs(level, child & ~LEAF, polygon)
            continue
        node = level.nodes[child]
        x, y, dx, dy = (float(node[name]) for name in ("x", "y", "dx", "dy"))
        stack.append((int(node["right"]), _cut(polygon, x, y, dx, dy)))
        stack.append((int(node["left"]), _cut(polygon, x, y, -dx, -dy)))
    return out


def _within_segs(level: Level, leaf: int, polygon: F64) -> F64:
    first, count = int(level.leaves["first"][leaf]), int(level.leaves["count"][leaf])
    for seg in level.segs[first : first + count]:
        line = level.lines[seg["line"]]
        a, b = (line["start"], line["end"]) if seg["side"] == 0 else (line["end"], line["start"])
        p, q = level.vertices[a], level.vertices[b]
        polygon = _cut(polygon, float(p["x"]), float(p["y"]), float(q["x"]) - float(p["x"]), float(q["y"]) - float(p["y"]))
    if len(polygon) < 3:
        return np.zeros((0, 2))
    after = np.roll(polygon, -1, axis=0)
    area = 0.5 * float(np.sum(polygon[:, 0] * after[:, 1] - after[:, 0] * polygon[:, 1]))
    return polygon if area > SLIVER else np.zeros((0, 2))


def leaf_sectors(level: Level) -> NDArray[np.int64]:
    """The sector of every sub-sector [n]: that of its first seg, as the game has it."""
    segs = level.segs[level.leaves["first"]]
    lines = level.lines[segs["line"]]
    return level.sides["sector"][np.where(segs["side"] == 0, lines["front"], lines["back"])].astype(np.int64)


def sector_at(level: Level, x: float, y: float) -> int:
    """The sector of a place, found by walking down the tree."""
    child = len(level.nodes) - 1
    while not child & LEAF:
        node = level.nodes[child]
        right = (x - float(node["x"])) * float(node["dy"]) - (y - float(node["y"])) * float(node["dx"]) > 0
        child = int(node["right" if right else "left"])
    return int(leaf_sectors(level)[child & ~LEAF])


# --- surfaces -------------------------------------------------------------------------------------------------------------------


def surfaces(level: Level) -> Iterator[Surface]:
    """Everything that is drawn of a map but its things. The sky hangs at the height of its ceiling: the game draws nothing beyond it."""
    moved = moving_sectors(level)
    yield from _planes(level, moved)
    reach = _reach(level, moved)
    for line in level.lines:
        p, q = level.vertices[line["start"]], level.vertices[line["end"]]
        a, b = np.array([p["x"], p["y"]], dtype=np.float64), np.array([q["x"], q["y"]], dtype=np.float64)
        front = int(level.sides["sector"][line["front"]])
        if line["back"] == NONE:
            yield Surface(STILL, "wall", _wall(a, b, reach[front, 0], reach[front, 1]))
            continue
        back = int(level.sides["sector"][line["back"]])
        if front != back:
            yield from _steps(level, moved, reach, a, b, front, back)
            yield from _steps(level, moved, reach, b, a, back, front)
        low = max(float(level.sectors["floor"][k]) for k in (front, back))
        high = min(float(level.sectors["ceiling"][k]) for k in (front, back))
        for name, c, d in (("front", a, b), ("back", b, a)):
            if level.sides["middle"][line[name]] not in _NO_TEXTURE and high > low:
                yield Surface(GRATES, "grate", _wall(c, d, low, high))


def _planes(level: Level, moved: frozenset[int]) -> Iterator[Surface]:
    for polygon, sector in zip(leaf_polygons(level), leaf_sectors(level).tolist(), strict=True):
        if not len(polygon):
            continue
        row = level.sectors[sector]
        if row["floor_flat"] != SKY:
            z = np.full((len(polygon), 1), float(row["floor"]))
            yield Surface(Plane(sector, "floor") if sector in moved else STILL, "floor", np.hstack([polygon, z]))
        above = np.hstack([polygon[::-1], np.full((len(polygon), 1), float(row["ceiling"]))])
        if row["ceiling_flat"] == SKY:
            yield Surface(OPEN_SKY, "sky", above)
        else:
            yield Surface(Plane(sector, "ceiling") if sector in moved else STILL, "ceiling", above)


def _reach(level: Level, moved: frozenset[int]) -> F64:
    """[sectors, 3] the lowest floor and the highest ceiling that a sector may come to have, and how far they are apart at most (a ceiling
    of sky has no wall above it, and still may move)."""
    heights = np.stack([level.sectors["floor"], level.sectors["ceiling"]], axis=-1).astype(np.float64)
    reach = np.column_stack([heights, heights[:, 1] - heights[:, 0]])
    around = _neighbours(level)
    for sector in moved:
        near = heights[[sector, *around[sector]]]
        low, high = near[:, 0].min() - ROOM, near[:, 1].max() + ROOM
        sky = level.sectors["ceiling_flat"][sector] == SKY
        reach[sector] = low, heights[sector, 1] if sky else high, high - low
    return reach


def _steps(level: Level, moved: frozenset[int], reach: F64, a: F64, b: F64, here: int, there: int) -> Iterator[Surface]:
    """The walls below and above an opening from a to b, seen from sector ``here`` on its right: those of ``there``'s floor and ceiling."""
    near, far = level.sectors[here], level.sectors[there]
    floor, ceiling = float(far["floor"]), float(far["ceiling"])
    skirt = float(reach[there, 2])
    if there in moved:
        yield Surface(Plane(there, "floor"), "wall", _wall(a, b, floor - skirt, floor))
    elif floor > (low := float(reach[here, 0])):
        yield Surface(STILL, "wall", _wall(a, b, low, floor))
    if far["ceiling_flat"] == SKY and near["ceiling_flat"] == SKY:
        if ceiling < float(near["ceiling"]):
            yield Surface(OPEN_SKY, "sky", _wall(a, b, ceiling, float(near["ceiling"])))
        return
    if there in moved:
        yield Surface(Plane(there, "ceiling"), "wall", _wall(a, b, ceiling, ceiling + skirt))
    elif ceiling < (high := float(reach[here, 1])):
        yield Surface(STILL, "wall", _wall(a, b, ceiling, high))


def _wall(a: F64, b: F64, low: float, high: float) -> F64:
    """Upright from ``low`` to ``high`` over a to b, seen from the right of that direction."""
    return np.array([[*a, low], [*b, low], [*b, high], [*a, high]])
