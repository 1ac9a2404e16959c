"""The walkable ground around a place, found by physics alone: rays find the floors, sweeps of the body find what is in the way.

The ground is flooded from where the character stands, cell by cell: a neighbour belongs to it when a ray finds ground there that is
reached by a step or a slope, and the body fits through in between. Cells have as many floors as can be reached, so what is on a bridge
and what is under it are both found, and what cannot be reached is not in the grid at all.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.engine.protocol import Engine
from worldwright.errors import WorldwrightError
from worldwright.transforms import quat_rotate
from worldwright.world.spec import Entity, TriangleMesh, World

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

CELLS = 30_000
"""The cell is chosen so that the bounds hold about this many, within CELL_RANGE."""
CELL_RANGE = (0.25, 0.4)
MAX_NODES = 24_000
SAME_FLOOR = 0.2
"""Metres: two heights in a cell nearer than this are one floor."""
BODY_SHARE = 0.95
"""Of the radius, so that a doorway just wide enough is found."""
LOW_SHARE = 0.62
"""Height of the body when crouching, of its own height; no less than what engines make of it."""
DROP = 60.0
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))
_CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


@dataclass(frozen=True)
class NavigationGrid:
    """Nodes on walkable ground, all reachable from the first.

    Attributes:
        cell: metres between neighbours.
        points: [N, 3] where feet can stand.
        low: [N] True where only a crouched body fits.
        neighbours: for each node the nodes that can be walked to.
        doors: [D, 4] x y z of hinged doors and how far they reach: the grid goes through them, whoever walks must open them.
    """

    cell: float
    points: F64
    low: NDArray[np.bool_]
    neighbours: tuple[tuple[int, ...], ...]
    doors: F64

    @classmethod
    def build(cls, engine: Engine, world: World, start: Sequence[float]) -> NavigationGrid:
        """Flood the ground from below ``start``.

        Args:
            engine: loaded with ``world``; its bodies stand where they now are. Doors on vertical hinges and bodies that move by
                themselves are passed through.
            world: the world.
            start: x y z near which the character stands.

        Raises:
            WorldwrightError: there is no ground below.
        """
        return _Flood(engine, world).run(start)

    def __len__(self) -> int:
        return len(self.points)

    def nearest(self, position: Sequence[float]) -> int:
        """The node nearest to a place; height counts double, so that a floor is not taken for another."""
        d = (self.points - np.asarray(position, dtype=np.float64)) * (1.0, 1.0, 2.0)
        return int(np.argmin(np.einsum("ij,ij->i", d, d)))

    def route(self, start: int, goal: int, penalties: Mapping[int, float] | None = None) -> list[int] | None:
        """The cheapest way by A*, as nodes from start to goal, or None. Nodes beside walls and low ones cost more.

        Args:
            start: a node.
            goal: a node.
            penalties: metres that entering a node costs besides, such as where the walker got stuck; infinity closes it.
        """
        points = self.points
        gx, gy, gz = points[goal].tolist()
        coordinates = points.tolist()
        cost = {start: 0.0}
        came: dict[int, int] = {}
        queue = [(0.0, start)]
        closed: set[int] = set()
        while queue:
            _, here = heapq.heappop(queue)
            if here == goal:
                way = [goal]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1]
            if here in closed:
                continue
            closed.add(here)
            x, y, z = coordinates[here]
            for there in self.neighbours[here]:
                if there in closed:
                    continue
                u, v, w = coordinates[there]
                step = math.sqrt((u - x) ** 2 + (v - y) ** 2 + (w - z) ** 2)
                step *= 1.0 + 0.12 * (8 - len(self.neighbours[there])) + (1.0 if self.low[there] else 0.0)
                if penalties:
                    step += penalties.get(there, 0.0)
                total = cost[here] + step
                if total < cost.get(there, math.inf):
                    cost[there], came[there] = total, here
                    heapq.heappush(queue, (total + math.sqrt((gx - u) ** 2 + (gy - v) ** 2 + (gz - w) ** 2), there))
        return None

    def path(self, start: int, goal: int, penalties: Mapping[int, float] | None = None) -> F64 | None:
        """The way from ``start`` to ``goal`` as few points [K, 3], straight where the ground is open; None where there is none."""
        way = self.route(start, goal, penalties)
        return None if way is None else self.points[self.straighten(way)]

    def straighten(self, way: Sequence[int]) -> list[int]:
        """The nodes of a way at which it turns: a string pulled tight over open ground."""
        kept = [way[0]]
        anchor = 0
        while anchor < len(way) - 1:
            far = anchor + 1
            # The farthest that is seen, looked for in growing steps and then back: ways are short.
            for k in range(min(len(way) - 1, anchor + 40), anchor + 1, -1):
                if self.clear(way[anchor], way[k]):
                    far = k
                    break
            kept.append(way[far])
            anchor = far
        return kept

    def clear(self, a: int, b: int) -> bool:
        """Whether the straight line between two nodes stays on open ground: nodes with all eight neighbours, no crouching."""
        p, q = self.points[a], self.points[b]
        steps = max(1, math.ceil(math.hypot(q[0] - p[0], q[1] - p[1]) / (0.5 * self.cell)))
        here = a
        for k in range(1, steps + 1):
            x, y = p[:2] + (q[:2] - p[:2]) * (k / steps)
            best, distance = here, math.hypot(self.points[here][0] - x, self.points[here][1] - y)
            for there in self.neighbours[here]:
                d = math.hypot(self.points[there][0] - x, self.points[there][1] - y)
                if d < distance:
                    best, distance = there, d
            if distance > 0.75 * self.cell or self.low[best] or (best not in (a, b) and len(self.neighbours[best]) < 8):
                return False
            here = best
        return here == b

    def door_near(self, position: Sequence[float], reach: float = 0.9) -> bool:
        """Whether a door is near enough to be opened."""
        if not len(self.doors):
            return False
        d = self.doors[:, :3] - np.asarray(position, dtype=np.float64)
        return bool((np.hypot(d[:, 0], d[:, 1]) < self.doors[:, 3] + reach).any())


def _middle(entity: Entity) -> list[float]:
    """x y z of the middle of an entity's meshes, and how far they reach from it."""
    corners = [np.array(part.geometry.vertices) for part in entity.parts if isinstance(part.geometry, TriangleMesh)]
    if not corners:
        return [*entity.position, 0.0]
    low, high = (bound(np.concatenate(corners), axis=0) for bound in (np.min, np.max))
    x, y = (0.5 * (low + high))[:2] + entity.position[:2]
    return [float(x), float(y), entity.position[2], 0.5 * float(np.linalg.norm((high - low)[:2]))]


class _Flood:
    """Builds the grid."""

    def __init__(self, engine: Engine, world: World) -> None:
        self.engine, self.world = engine, world
        character = world.characters[0]
        low, high = np.array(world.bounds.min), np.array(world.bounds.max)
        extent = (high - low)[:2]
        self.cell = float(np.clip(math.sqrt(float(extent[0] * extent[1]) / CELLS), *CELL_RANGE))
        self.low_bound, self.high_bound = low[:2] + character.radius, high[:2] - character.radius
        self.step = max(character.step_height, 0.05)
        self.rise = max(self.step, self.cell * math.tan(math.radians(character.max_slope_deg)))
        self.flat = math.cos(math.radians(character.max_slope_deg))
        self.radius = character.radius * BODY_SHARE
        self.tall = max(character.height - self.step, 2 * self.radius + 0.01)
        self.short = max(LOW_SHARE * character.height - self.step, 2 * self.radius + 0.01)
        self.movable = frozenset(engine.body_ids)
        self.doors, passed = [], list(engine.character_ids)
        for k, entity in enumerate(world.entities):
            if entity.joint is not None and abs(quat_rotate(entity.rotation, entity.joint.axis)[2]) > 0.7:
                passed.append(world.entity_id(k))
                hinge = np.array(entity.position) + quat_rotate(entity.rotation, entity.joint.anchor)
                self.doors.append([*hinge, 2 * float(np.linalg.norm(entity.joint.anchor[:2]))])
            elif entity.path is not None:
                passed.append(world.entity_id(k))
            elif entity.label == "door" and entity.body == "kinematic":
                # It opens upwards when it is used: the grid goes through below it.
                passed.append(world.entity_id(k))
                self.doors.append(_middle(entity))
        self.passed = tuple(passed)
        self.points: list[tuple[float, float, float]] = []
        self.low: list[bool] = []
        self.floors: dict[tuple[int, int], list[int]] = {}
        self.cells: list[tuple[int, int]] = []
        self.sides: list[dict[int, int]] = []

    def run(self, start: Sequence[float]) -> NavigationGrid:
        """See ``NavigationGrid.build``."""
        x, y, z = (float(v) for v in start)
        origin = np.array([[x, y, z + self.step]])
        hit = self.engine.cast_rays(origin, np.array([[0.0, 0.0, -1.0]]), DROP, ignore=self.passed)
        if not np.isfinite(hit.distance[0]):
            raise WorldwrightError(
                f"no ground below {(round(x, 2), round(y, 2), round(z, 2))}", where="navigation", fix="put the spawn above ground"
            )
        self.origin = (x, y)
        self._node((0, 0), z + self.step - float(hit.distance[0]))
        front = [0]
        while front and len(self.points) < MAX_NODES:
            front = self._grow(front)
        return NavigationGrid(
            self.cell,
            np.array(self.points),
            np.array(self.low, dtype=np.bool_),
            tuple(tuple(sorted({*sides.values(), *self._corners(sides)})) for sides in self.sides),
            np.array(self.doors, dtype=np.float64).reshape(-1, 4),
        )

    def _node(self, cell: tuple[int, int], z: float) -> int:
        number = len(self.points)
        x, y = self.origin[0] + cell[0] * self.cell, self.origin[1] + cell[1] * self.cell
        self.points.append((x, y, z))
        self.low.append(self._is_low(x, y, z))
        self.cells.append(cell)
        self.sides.append({})
        self.floors.setdefault(cell, []).append(number)
        return number

    def _corners(self, sides: Mapping[int, int]) -> set[int]:
        """Diagonal neighbours: those that can be reached around both corners."""
        found = set()
        for k in range(4):
            a, b = sides.get(k), sides.get((k + 1) % 4)
            if a is not None and b is not None:
                over_a, over_b = self.sides[a].get((k + 1) % 4), self.sides[b].get(k)
                if over_a is not None and over_a == over_b:
                    found.add(over_a)
        return found

    def _grow(self, front: list[int]) -> list[int]:
        """Flood from these nodes by one cell; returns the new ones."""
        edges = []
        for node in front:
            i, j = self.cells[node]
            for side, (di, dj) in enumerate(_SIDES):
                if side not in self.sides[node]:
                    x, y = self.origin[0] + (i + di) * self.cell, self.origin[1] + (j + dj) * self.cell
                    if self.low_bound[0] <= x <= self.high_bound[0] and self.low_bound[1] <= y <= self.high_bound[1]:
                        edges.append((node, side, (i + di, j + dj), x, y))
        if not edges:
            return []
        up = self.rise + 0.05
        heights = np.array([self.points[e[0]][2] for e in edges])
        top = np.array([[e[3], e[4], 0.0] for e in edges])
        top[:, 2] = heights + up
        down = np.tile([0.0, 0.0, -1.0], (len(edges), 1))
        hits = self.engine.cast_rays(top, down, 2 * up, ignore=self.passed)
        ground = top[:, 2] - hits.distance
        stands = np.isfinite(hits.distance) & (hits.normal[:, 2] >= self.flat)
        stands &= np.array([int(e) not in self.movable for e in hits.entity])
        steep = np.flatnonzero(stands & (np.abs(ground - heights) > self.step))
        if len(steep):
            self._check_halfway(edges, steep, heights, ground, stands)
        new = []
        for k in np.flatnonzero(stands).tolist():
            node, side, cell, x, y = edges[k]
            if side in self.sides[node]:
                continue
            there = next((n for n in self.floors.get(cell, ()) if abs(self.points[n][2] - ground[k]) < SAME_FLOOR), None)
            if not self._passes(self.points[node], (x, y, float(ground[k]))):
                continue
            if there is None:
                there = self._node(cell, float(ground[k]))
                new.append(there)
            back = (side + 2) % 4
            if back in self.sides[there]:
                continue  # another floor of the neighbour's cell came first: one neighbour a side
            self.sides[node][side], self.sides[there][back] = there, node
        return new

    def _check_halfway(
        self,
        edges: list[tuple[int, int, tuple[int, int], float, float]],
        steep: NDArray[np.intp],
        heights: F64,
        ground: F64,
        stands: NDArray[np.bool_],
    ) -> None:
        """A rise of more than a step within a cell is a slope or two steps, or else a wall: the ground halfway tells."""
        starts = np.array([self.points[edges[k][0]][:2] for k in steep])
        ends = np.array([edges[k][3:] for k in steep])
        top = np.concatenate([(starts + ends) / 2, np.maximum(heights, ground)[steep, None] + 0.05], axis=1)
        down = np.tile([0.0, 0.0, -1.0], (len(steep), 1))
        hits = self.engine.cast_rays(top, down, 2 * self.rise + 0.1, ignore=self.passed)
        middle = top[:, 2] - hits.distance
        for k, m in zip(steep.tolist(), middle.tolist(), strict=True):
            stands[k] = abs(m - heights[k]) <= self.step and abs(ground[k] - m) <= self.step

    def _passes(self, a: Sequence[float], b: Sequence[float]) -> bool:
        """Whether a crouched body gets from a to b. It is swept above the height of a step, which it climbs; a is known to be free."""
        return self._sweep_free((a[0], a[1], a[2] + self.step + self.short / 2), (b[0], b[1], b[2] + self.step + self.short / 2))

    def _is_low(self, x: float, y: float, z: float) -> bool:
        """Whether a body that stands here crouched cannot stand up. (A sweep upwards: one that begins inside something finds nothing.)"""
        z += self.step + self.short / 2
        return not self._sweep_free((x, y, z), (x, y, z + self.tall - self.short))

    def _sweep_free(self, start: tuple[float, float, float], end: tuple[float, float, float]) -> bool:
        return self.engine.sweep_capsule(self.radius, self.short, np.array(start), np.array(end), ignore=self.passed).entity == 0
