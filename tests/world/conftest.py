"""Worlds made once, and oriented boxes to ask what overlaps what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from worldwright.transforms import quat_multiply, quat_rotate, quat_to_matrix
from worldwright.world.generators import generate
from worldwright.world.spec import Box, Capsule, Cone, Cylinder, Heightfield, Part, Sphere, TriangleMesh, Wedge, World

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Solid:
    """The oriented box about a part in the world: its entity, middle, axes (columns), half sizes."""

    entity: int
    name: str
    middle: F64
    axes: F64
    half: F64

    @property
    def reach(self) -> F64:
        return np.abs(self.axes) @ self.half


def half_sizes(part: Part) -> F64 | None:
    """Half sizes of a part in its own frame; None for what no box describes (a ground)."""
    match part.geometry:
        case Box() | Wedge():
            return np.array(part.geometry.size) / 2
        case Sphere():
            return np.full(3, part.geometry.radius)
        case Cylinder() | Cone() | Capsule():
            return np.array([part.geometry.radius, part.geometry.radius, part.geometry.height / 2])
        case TriangleMesh():
            return np.abs(np.array(part.geometry.vertices)).max(axis=0)
        case Heightfield():
            return None
    raise TypeError(part.geometry)


class Solids(list[Solid]):
    """Solids with their upright boxes side by side, so that most pairs are ruled out at once."""

    def __init__(self, solids: list[Solid]) -> None:
        super().__init__(solids)
        self.middles, self.reaches = np.array([s.middle for s in solids]), np.array([s.reach for s in solids])


_KEPT: dict[int, tuple[World, Solids]] = {}


def solids_of(world: World) -> Solids:
    """A box for every part that is touched, made once a world."""
    if id(world) not in _KEPT:
        _KEPT[id(world)] = (world, Solids(_solids(world)))
    return _KEPT[id(world)][1]


def _solids(world: World) -> list[Solid]:
    found = []
    for k, entity in enumerate(world.entities):
        for part in entity.parts:
            half = half_sizes(part)
            if half is None or not part.collide:
                continue
            middle = np.array(entity.position) + quat_rotate(entity.rotation, part.position)
            found.append(Solid(k, entity.name, middle, quat_to_matrix(quat_multiply(entity.rotation, part.rotation)), half))
    return found


def penetration(a: Solid, b: Solid) -> float:
    """How deep two oriented boxes overlap, in metres; negative when apart (separating axis theorem)."""
    crosses = np.cross(a.axes.T[:, None], b.axes.T[None]).reshape(-1, 3)
    length = np.linalg.norm(crosses, axis=1)
    axes = np.concatenate([a.axes.T, b.axes.T, crosses[length > 1e-6] / length[length > 1e-6, None]])
    apart = np.abs(axes @ (b.middle - a.middle))
    return float((np.abs(axes @ a.axes) @ a.half + np.abs(axes @ b.axes) @ b.half - apart).min())


def overlaps(probe: Solid, solids: Solids, deeper: float) -> list[tuple[str, float]]:
    """Which solids of other entities ``probe`` enters by more than ``deeper`` metres."""
    near = np.all(np.abs(solids.middles - probe.middle) <= solids.reaches + probe.reach, axis=1)
    found = []
    for k in np.flatnonzero(near):
        if solids[k].entity != probe.entity:
            depth = penetration(probe, solids[k])
            if depth > deeper:
                found.append((solids[k].name, round(depth, 4)))
    return found


@lru_cache(maxsize=32)
def _made(family: str, seed: int) -> World:
    return generate(family, seed, {})


@pytest.fixture
def made() -> Callable[[str, int], World]:
    """A generated world with default parameters; the same object when asked again."""
    return _made


class Space:
    """What tests ask about room and touch."""

    solids_of = staticmethod(solids_of)
    overlaps = staticmethod(overlaps)

    @staticmethod
    def box_at(position: tuple[float, ...], low: float, high: float, half: float) -> Solid:
        """An upright box over a place, from ``low`` to ``high`` above it."""
        middle = np.add(position, (0, 0, (low + high) / 2))
        return Solid(-1, "probe", middle, np.eye(3), np.array([half, half, (high - low) / 2]))

    @staticmethod
    def lowered(solid: Solid, by: float) -> Solid:
        """The same, lower."""
        return Solid(solid.entity, solid.name, solid.middle - np.array([0, 0, by]), solid.axes, solid.half)


@pytest.fixture
def space() -> type[Space]:
    """See ``Space``."""
    return Space
