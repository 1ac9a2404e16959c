"""What all generators write with: parts by one call, and a draft of a world that grows entity by entity.

Numbers are rounded to a tenth of a millimetre, so that documents are short and the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from worldwright.transforms import quat_multiply, quat_rotate, quat_yaw
from worldwright.world.spec import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Entity,
    Geometry,
    Lamp,
    Material,
    Part,
    Sphere,
    Texture,
    Wedge,
)

Array = NDArray[Any]
Triple = tuple[float, float, float]
Quad = tuple[float, float, float, float]
Kind = Literal["brick", "tile", "wood", "concrete", "metal", "grass", "fabric", "plaster", "stone", "checker", "bark", "dirt"]


def r3(v: Sequence[float]) -> Triple:
    """A triple rounded to 0.1 mm; no negative zero."""
    x, y, z = (round(float(c), 4) + 0.0 for c in v)
    return (x, y, z)


def turn(axis: Literal["x", "y", "z"], angle: float) -> Quad:
    """Quaternion of a turn about an axis, in radians."""
    half = angle / 2
    parts = [math.cos(half), 0.0, 0.0, 0.0]
    parts["xyz".index(axis) + 1] = math.sin(half)
    w, x, y, z = (round(p, 7) + 0.0 for p in parts)
    return (w, x, y, z)


def colour(code: str) -> Triple:
    """Linear RGB of an sRGB colour ``#rrggbb`` (IEC 61966-2-1)."""
    coded = (int(code[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return r3([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in coded])


def material(
    code: str,
    kind: Kind | None = None,
    second: str = "#808080",
    size_m: float = 1.0,
    *,
    roughness: float = 0.75,
    metallic: float = 0.0,
    seed: int = 0,
) -> Material:
    """A material from colours that people write."""
    texture = None if kind is None else Texture(kind=kind, seed=seed, size_m=size_m, second=colour(second))
    return Material(base_colour=colour(code), roughness=roughness, metallic=metallic, texture=texture)


def glow(code: str, strength: float) -> Material:
    """A material that shines by itself."""
    x, y, z = (c * strength for c in colour(code))
    return Material(base_colour=colour(code), roughness=0.5, emissive=r3((x, y, z)))


# --- parts ------------------------------------------------------------------------------------------------------------------


def _part(geometry: Geometry, name: str, at: Sequence[float], rotation: Quad | None, collide: bool) -> Part:
    if rotation is None:
        return Part(geometry=geometry, position=r3(at), material=name, collide=collide)
    return Part(geometry=geometry, position=r3(at), rotation=rotation, material=name, collide=collide)


def box(
    name: str, size: Sequence[float], at: Sequence[float] = (0, 0, 0), rotation: Quad | None = None, collide: bool = True
) -> Part:
    """A box of material ``name``, centred at ``at``."""
    return _part(Box(shape="box", size=r3(size)), name, at, rotation, collide)


def wedge(name: str, size: Sequence[float], at: Sequence[float] = (0, 0, 0), rotation: Quad | None = None) -> Part:
    """A ramp that rises towards +X."""
    return _part(Wedge(shape="wedge", size=r3(size)), name, at, rotation, True)


def sphere(name: str, radius: float, at: Sequence[float] = (0, 0, 0), collide: bool = True) -> Part:
    """A ball."""
    return _part(Sphere(shape="sphere", radius=round(radius, 4)), name, at, None, collide)


def cylinder(
    name: str, radius: float, height: float, at: Sequence[float] = (0, 0, 0), rotation: Quad | None = None, collide: bool = True
) -> Part:
    """A cylinder along Z."""
    return _part(Cylinder(shape="cylinder", radius=round(radius, 4), height=round(height, 4)), name, at, rotation, collide)


def cone(
    name: str, radius: float, height: float, at: Sequence[float] = (0, 0, 0), rotation: Quad | None = None, collide: bool = True
) -> Part:
    """A cone, its apex up."""
    return _part(Cone(shape="cone", radius=round(radius, 4), height=round(height, 4)), name, at, rotation, collide)


def capsule(
    name: str, radius: float, height: float, at: Sequence[float] = (0, 0, 0), rotation: Quad | None = None, collide: bool = True
) -> Part:
    """A capsule along Z."""
    return _part(Capsule(shape="capsule", radius=round(radius, 4), height=round(height, 4)), name, at, rotation, collide)


def moved(parts: Sequence[Part], at: Sequence[float], yaw: float = 0.0) -> list[Part]:
    """Parts turned about Z by ``yaw`` and then moved by ``at``."""
    q = quat_yaw(yaw)
    out = []
    for part in parts:
        rotation = tuple(round(float(c), 7) + 0.0 for c in quat_multiply(q, part.rotation))
        position = r3(quat_rotate(q, part.position) + np.asarray(at, dtype=float))
        out.append(
            part.model_copy(update={"position": position, "rotation": Part(geometry=part.geometry, rotation=rotation).rotation})
        )
    return out


# --- the draft --------------------------------------------------------------------------------------------------------------


class Draft:
    """A world in the making: its materials, entities and lamps."""

    def __init__(self) -> None:
        self.materials: dict[str, Material] = {}
        self.entities: list[Entity] = []
        self.lamps: list[Lamp] = []
        self._counts: dict[str, int] = {}

    def paint(self, **materials: Material) -> None:
        """Add materials by name."""
        self.materials |= materials

    def name(self, stem: str) -> str:
        """``stem``, with a number from its second use on."""
        self._counts[stem] = self._counts.get(stem, 0) + 1
        return stem if self._counts[stem] == 1 else f"{stem}_{self._counts[stem]}"

    def add(
        self, stem: str, label: str, parts: Sequence[Part], at: Sequence[float] = (0, 0, 0), yaw: float = 0.0, **fields: Any
    ) -> Entity:
        """Add an entity of these parts. ``fields`` are the entity's own: body, mass, joint, ..."""
        rotation = fields.pop("rotation", turn("z", yaw))
        entity = Entity(name=self.name(stem), label=label, parts=list(parts), position=r3(at), rotation=rotation, **fields)
        self.entities.append(entity)
        return entity

    def lamp(
        self,
        stem: str,
        at: Sequence[float],
        code: str = "#ffcf94",
        intensity: float = 3.0,
        reach: float = 8.0,
        shadow: bool = False,
    ) -> None:
        """Add a point light."""
        name = self.name(f"light_{stem}")
        self.lamps.append(
            Lamp(name=name, position=r3(at), colour=colour(code), intensity=round(intensity, 3), reach=reach, shadow=shadow)
        )

    def used_materials(self) -> dict[str, Material]:
        """The materials that some part has, in the order in which they were added."""
        used = {part.material for entity in self.entities for part in entity.parts}
        return {name: made for name, made in self.materials.items() if name in used}
