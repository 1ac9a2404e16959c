"""Assets as plain arrays: what every engine and every renderer is fed with.

Everything here is already in our axes (right-handed, Z up, metres); texture coordinates have v = 0 at the top row of the image, as in
glTF. Arrays are read-only by agreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]
U16 = NDArray[np.uint16]
U8 = NDArray[np.uint8]

CLIP_RATE = 60
"""Samples per second of a baked clip."""

CLIP_NAMES = (
    "idle",
    "walk",
    "run",
    "strafe_left",
    "strafe_right",
    "back",
    "jump",
    "fall",
    "push",
    "crouch",
    "crouch_walk",
)
"""Our set of clips. Every character has all of them: mapped by name, or the nearest one that it has (``Model.clip_sources``)."""


@dataclass(frozen=True)
class Image:
    """Pixels [height, width, 4] uint8, row 0 at the top. ``srgb`` says whether RGB is sRGB-coded (colour) or linear (data)."""

    pixels: U8
    srgb: bool


@dataclass(frozen=True)
class Surface:
    """A glTF metallic-roughness material. Factors multiply images. Colours are linear."""

    name: str
    base_colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    metallic: float = 0.0
    roughness: float = 1.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    base_colour_image: Image | None = None
    metallic_roughness_image: Image | None = None
    """Linear: G is roughness, B is metallic."""
    normal_image: Image | None = None
    """Tangent space, +Y up (glTF). It changes shading only: the normal pass is the geometry's."""
    emissive_image: Image | None = None
    double_sided: bool = False
    alpha_cutoff: float | None = None
    """None is opaque; else pixels with less alpha are holes. Blended materials are read as cut out at 0.5."""


@dataclass(frozen=True)
class Mesh:
    """Triangles with one surface. positions [N, 3], normals [N, 3] unit, uvs [N, 2], indices [T, 3] counter-clockwise from outside.

    A skinned mesh also has joints [N, 4] (indices into the skeleton) and weights [N, 4] (they sum to 1); its positions are in the
    bind pose.
    """

    positions: F32
    normals: F32
    uvs: F32
    indices: U32
    surface: Surface
    joints: U16 | None = None
    weights: F32 | None = None
    name: str = ""


@dataclass(frozen=True)
class Skeleton:
    """Joints in an order in which parents come first. parents [J] (-1 for a root), rest pose local to the parent, inverse_bind
    [J, 4, 4] from model space to joint space."""

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    rest_translations: F32
    rest_rotations: F32
    rest_scales: F32
    inverse_bind: F32


@dataclass(frozen=True)
class Clip:
    """A baked animation at CLIP_RATE. translations [F, J, 3], rotations [F, J, 4] wxyz, scales [F, J, 3], local to the parent.

    A loop's last frame leads to its first one; ``speed`` is the ground speed in m/s that the clip's feet show (0 in place).
    """

    name: str
    translations: F32
    rotations: F32
    scales: F32
    loop: bool
    speed: float = 0.0

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.translations) / CLIP_RATE


@dataclass(frozen=True)
class Model:
    """A thing from a pack, or a built-in one. A character has a skeleton and the clips CLIP_NAMES; it looks along +X, feet at z = 0."""

    name: str
    meshes: tuple[Mesh, ...]
    skeleton: Skeleton | None = None
    clips: Mapping[str, Clip] = field(default_factory=dict)
    clip_sources: Mapping[str, str] = field(default_factory=dict)
    """Which clip of the file each of ours is, and what had to stand in."""
    licence: str = "unknown"
    content_hash: str = ""


@dataclass(frozen=True)
class SceneGeometry:
    """A world's geometry for engines and renderers. ``entities[id]`` are the visible meshes of an entity in the entity's frame, and
    ``collision[id]`` those of them that are touched; ``characters[id]`` are skinned models. ``asset_hashes`` names every file used."""

    entities: Mapping[int, tuple[Mesh, ...]]
    collision: Mapping[int, tuple[Mesh, ...]]
    characters: Mapping[int, Model]
    asset_hashes: Mapping[str, str]
