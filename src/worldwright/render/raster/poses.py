"""Where everything is at an instant, as the rows of matrices that the shaders read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError
from worldwright.render.raster.geometry import CharacterRig
from worldwright.take.model import CharacterInstant, Instant
from worldwright.transforms import pose_matrix, quat_yaw

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Poses:
    """Object-to-world [O, 3, 4] (row 0 is the identity), bone-to-world skin matrices [J, 3, 4], and the bounding spheres of the
    characters: centres [C, 3], radii [C]."""

    objects: NDArray[np.float32]
    bones: NDArray[np.float32]
    centres: NDArray[np.float64]
    radii: NDArray[np.float64]


def poses_of(instant: Instant, rigs: tuple[CharacterRig, ...], object_count: int, bone_count: int) -> Poses:
    """Matrices of an instant. Raises WorldwrightError when the instant is of another world."""
    if len(instant.positions) != object_count - 1:
        raise WorldwrightError(
            f"{len(instant.positions)} bodies in the instant and {object_count - 1} in the scene", where=f"tick {instant.tick:g}"
        )
    objects = np.zeros((object_count, 3, 4), np.float32)
    objects[0, :, :3] = np.eye(3)
    objects[1:] = pose_matrix(instant.positions, instant.rotations)[:, :3]
    bones = np.zeros((max(bone_count, 1), 3, 4), np.float32)
    centres, radii = np.zeros((len(rigs), 3)), np.zeros(len(rigs))
    present = {character.id: character for character in instant.characters}
    for k, rig in enumerate(rigs):
        character = present.get(rig.id)
        if character is None:
            raise WorldwrightError(f"character {rig.id} is not in the instant", where=f"tick {instant.tick:g}")
        bones[rig.first_bone : rig.first_bone + len(rig.inverse_bind) + 1], centres[k], radii[k] = _skin_matrices(character, rig)
    return Poses(objects, bones, centres, radii)


def _skin_matrices(character: CharacterInstant, rig: CharacterRig) -> tuple[Array, Array, float]:
    count = len(rig.inverse_bind)
    if character.bones.shape != (count, 8):
        raise WorldwrightError(f"bones {character.bones.shape} for a skeleton of {count} joints", where=f"character {character.id}")
    place = pose_matrix(character.position, quat_yaw(character.yaw))
    bones = character.bones.astype(np.float64)
    joints = pose_matrix(bones[:, :3], bones[:, 3:7], bones[:, 7:8])
    skin = np.concatenate([place @ (joints @ rig.inverse_bind), place[None]])
    middles = np.concatenate([joints[:, :3, 3], np.zeros((1, 3))])
    sizes = rig.reach * np.append(np.abs(bones[:, 7]), 1.0)
    used = sizes > 0
    if not used.any():
        return skin[:, :3], place[:3, 3], 0.0
    middle = middles[used].mean(axis=0)
    radius = float((np.linalg.norm(middles[used] - middle, axis=1) + sizes[used]).max())
    return skin[:, :3], place[:3, :3] @ middle + place[:3, 3], radius
