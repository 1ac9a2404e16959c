"""Whether what a sweep downwards met is ground to stand on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from worldwright.engine.person.body import GAP, Person, Vec
from worldwright.engine.physics import Hit


@dataclass(slots=True)
class Touch:
    """Ground under the capsule: whether it carries, the surface's normal, and who it is."""

    carries: bool
    normal: Vec
    entity: int
    beside: bool = False
    """The sweep met something steep beside the ground: the height stays."""


def footing(me: Person, hit: Hit) -> Touch:
    """Judge ground met by a sweep downwards. A capsule that rolls over an edge has a steep contact on a flat surface: then the
    surface's own normal counts, and whether there is ground to go down to."""
    entity = me.physics.ids[hit.node]
    if hit.normal[2] >= me.walkable:
        return Touch(True, hit.normal, entity)
    px, py, pz = hit.position
    ox, oy = px - me.x, py - me.y
    aside = math.hypot(ox, oy)
    face = _face(me, px, py, pz, ox, oy, aside)
    below = me.physics.ray((me.x, me.y, me.z + GAP), (me.x, me.y, me.z - me.character.step_height - GAP), me.mask)
    depth = below.fraction * (me.character.step_height + 2 * GAP) - GAP if below is not None else math.inf
    flat_below = below is not None and below.normal[2] >= me.walkable
    if face is not None and face[2] >= me.walkable:
        return Touch(flat_below or aside < 0.5 * me.radius, face, entity)
    if flat_below and below is not None and depth < GAP + 0.03:
        return Touch(True, below.normal, me.physics.ids[below.node], beside=True)
    return Touch(False, hit.normal, entity)


def step_footing(me: Person, hit: Hit) -> Touch | None:
    """The step's own surface, if one can stand on it."""
    entity = me.physics.ids[hit.node]
    if hit.normal[2] >= me.walkable:
        return Touch(True, hit.normal, entity)
    px, py, pz = hit.position
    ox, oy = px - me.x, py - me.y
    face = _face(me, px, py, pz, ox, oy, math.hypot(ox, oy))
    return Touch(True, face, entity) if face is not None and face[2] >= me.walkable else None


def _face(me: Person, px: float, py: float, pz: float, ox: float, oy: float, aside: float) -> Vec | None:
    """Normal of the surface a centimetre beyond a contact, seen from above."""
    if aside < 1e-6:
        return None
    x, y = px + 0.01 * ox / aside, py + 0.01 * oy / aside
    hit = me.physics.ray((x, y, pz + 0.04), (x, y, pz - 0.04), me.mask)
    return hit.normal if hit is not None else None
