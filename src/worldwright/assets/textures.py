"""Procedural PBR textures."""

from __future__ import annotations

from functools import lru_cache

from worldwright.assets.model import Surface
from worldwright.world.spec import Material


@lru_cache(maxsize=256)
def surface_of(material: Material, name: str) -> Surface:
    """The surface of a material."""
    return Surface(
        name=name,
        base_colour=(*material.base_colour, 1.0),
        metallic=material.metallic,
        roughness=material.roughness,
        emissive=material.emissive,
    )
