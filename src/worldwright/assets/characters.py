"""Characters ready to be played: the built-in humanoid, or any rigged glTF model made to fit our conventions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.animation import bind_bones, pose_to_bones, skeleton_of, skin
from worldwright.assets.character_clips import LOOPS, LOW, Choice, choose_clips, choose_low_pose
from worldwright.assets.crouching import crouched
from worldwright.assets.feet import pairs_of, sole_paths, stance_speed
from worldwright.assets.gltf import load_gltf
from worldwright.assets.humanoid import humanoid
from worldwright.assets.model import CLIP_NAMES, CLIP_RATE, Clip, Mesh, Model, Skeleton
from worldwright.errors import WorldwrightError
from worldwright.transforms import quat_multiply, quat_rotate, quat_yaw
from worldwright.world.spec import Character, GltfCharacter, Humanoid

F64 = NDArray[np.float64]

GLTF_FORWARD = -np.pi / 2
"""Yaw of glTF's +Z, the way models look, in our axes."""
HELD = re.compile(r"hand|wrist|finger|thumb|weapon|slot|prop|item|holder", re.IGNORECASE)
"""Joints whose load (a sword, a staff) does not count in the character's height."""
SEAM_SECONDS = 0.2
"""A clip that must loop and does not close is led back to its start in this time."""


def load_character(character: Character, packs: Mapping[str, Path]) -> Model:
    """The model of a character: looks along +X, feet at z = 0, as tall as asked for, all clips of CLIP_NAMES.

    Raises:
        WorldwrightError: the pack, the file, the rig, a clip or a node to hide is missing, or the file is bad; names the character.
    """
    look = character.look
    if isinstance(look, Humanoid):
        return humanoid(look, character.height)
    where = f"character {character.name!r}"
    if look.pack not in packs:
        raise WorldwrightError(f"pack {look.pack!r} has no folder", where=where, fix=f"give it with --pack {look.pack}=FOLDER")
    return _gltf_character(look, packs[look.pack], where)


def _gltf_character(look: GltfCharacter, root: Path, where: str) -> Model:
    chosen: dict[str, Choice] = {}

    def wanted(names: tuple[str, ...]) -> Collection[str]:
        chosen.update(choose_clips(names, look.clips, f"{where}: {look.path}"))
        low = choose_low_pose(names, chosen)
        if low is not None:
            chosen[LOW] = low
        return {choice.name for choice in chosen.values() if choice.name is not None}

    model = load_gltf(root / look.path, root, clips=wanted, moving_nodes=True)
    if model.skeleton is None:
        raise WorldwrightError("has neither a skin nor animated nodes", where=f"{where}: {look.path}", fix="give a rigged model")
    model = replace(model, meshes=_shown(model.meshes, look.hide, f"{where}: {look.path}"))
    clips = {ours: _fitted(skeleton_of(model), ours, choice, model.clips) for ours, choice in chosen.items()}
    model = replace(model, clips=clips, clip_sources={ours: chosen[ours].source() for ours in CLIP_NAMES})
    model = _moved(model, *_placement(model, look.height, f"{where}: {look.path}"))
    if LOW in chosen:
        model = crouched(model, model.clips[LOW], chosen)
        model = replace(model, clips={name: clip for name, clip in model.clips.items() if name != LOW})
    return replace(model, clips={name: _in_place(model, clip) for name, clip in model.clips.items()})


def _shown(meshes: Sequence[Mesh], hide: Sequence[str], where: str) -> tuple[Mesh, ...]:
    names = sorted({mesh.name for mesh in meshes})
    for name in hide:
        if name not in names:
            near = difflib.get_close_matches(name, names, 3, 0.4)
            raise WorldwrightError(
                f"hide: no mesh node {name!r}", where=where, fix=f"its mesh nodes: {', '.join(near or names)[:200]}"
            )
    shown = tuple(mesh for mesh in meshes if mesh.name not in set(hide))
    if not shown:
        raise WorldwrightError("hide: nothing is left to show", where=where, fix="hide fewer nodes")
    return shown


# --- clips ------------------------------------------------------------------------------------------------------------------


def _fitted(skeleton: Skeleton, ours: str, choice: Choice, clips: Mapping[str, Clip]) -> Clip:
    """The model's clip as one of ours: looping where ours loops, a jump from its push-off on."""
    if choice.name is None:
        count = len(skeleton.names)
        rest = (skeleton.rest_translations, skeleton.rest_rotations, skeleton.rest_scales)
        t, r, s = (value.reshape(1, count, -1) for value in rest)
        return Clip(ours, t, r, s, loop=True)
    clip = clips[choice.name]
    if ours == "jump":
        return replace(_from_push_off(skeleton, clip), name=ours, loop=False)
    if choice.of == "jump":
        return replace(_frames(clip, slice(-1, None)), name=ours, loop=True)
    if choice.stand_in and ours == "back":
        clip = _frames(clip, slice(None, None, -1))
    return replace(clip if clip.loop else _closed(clip), name=ours, loop=ours in LOOPS)


def _frames(clip: Clip, which: slice) -> Clip:
    return replace(clip, translations=clip.translations[which], rotations=clip.rotations[which], scales=clip.scales[which])


def _from_push_off(skeleton: Skeleton, clip: Clip) -> Clip:
    """Without the crouch before a jump: the physics jumps at once. It starts where the hips are lowest in its first half."""
    bones = pose_to_bones(skeleton, clip.translations, clip.rotations, clip.scales)
    height = bones[:, :, 2].mean(axis=1)
    half = max(len(height) // 2, 1)
    lowest = int(np.argmin(height[:half]))
    crouches = height[0] - height[lowest] > 0.03 * float(np.ptp(bones[0, :, 2]))
    return _frames(clip, slice(lowest, None)) if crouches else clip


def _closed(clip: Clip) -> Clip:
    """The clip with its last frames led over to its first one."""
    count = len(clip.translations)
    span = min(round(SEAM_SECONDS * CLIP_RATE), count // 3)
    if span < 1:
        return clip
    t = np.zeros(count)
    t[count - span :] = np.arange(1, span + 1) / (span + 1)
    t = (t * t * (3 - 2 * t))[:, None, None]
    first = clip.rotations[:1] * np.where(np.sum(clip.rotations[:1] * clip.rotations, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    rotations = clip.rotations * (1 - t) + first * t
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    return replace(
        clip,
        translations=(clip.translations * (1 - t) + clip.translations[:1] * t).astype(np.float32),
        rotations=rotations.astype(np.float32),
        scales=(clip.scales * (1 - t) + clip.scales[:1] * t).astype(np.float32),
    )


def _in_place(model: Model, clip: Clip) -> Clip:
    """The clip with the ground speed that its feet show, and without travel of its own (root motion): physics moves the character."""
    gaits = {"walk", "run", "strafe_left", "strafe_right", "back", "push", "crouch_walk"}
    if clip.name not in gaits or len(clip.translations) < 4:
        return clip
    skeleton = skeleton_of(model)
    bones = pose_to_bones(skeleton, clip.translations, clip.rotations, clip.scales).astype(np.float64)
    count = len(bones)
    middle = bones[:, :, :2].mean(axis=1)
    drift = (middle[-1] - middle[0]) * count / (count - 1)
    height = float(np.ptp(bones[0, :, 2]))
    if np.linalg.norm(drift) > 0.25 * height:
        translations = clip.translations.copy()
        for joint in np.flatnonzero(skeleton.parents < 0):
            translations[:, joint, :2] -= drift * (np.arange(count) / count)[:, None]
        return replace(clip, translations=translations, speed=float(np.linalg.norm(drift) / clip.duration))
    return replace(clip, speed=stance_speed(sole_paths(model, bones)))


# --- placement --------------------------------------------------------------------------------------------------------------


def _placement(model: Model, height: float | None, where: str) -> tuple[float, float, float]:
    """Yaw to turn by, scale, and how far up to move then."""
    clip = model.clips["idle"]
    bones = pose_to_bones(skeleton_of(model), clip.translations[0], clip.rotations[0], clip.scales[0])
    bottom, top = np.inf, -np.inf
    for mesh in model.meshes:
        if mesh.joints is None or HELD.search(_rides_on(model, mesh) or ""):
            continue
        z = skin(mesh, model, bones)[0][:, 2]
        bottom, top = min(bottom, float(z.min())), max(top, float(z.max()))
    if not top - bottom > 1e-6:
        raise WorldwrightError(
            "has no skinned mesh that gives it a height", where=where, fix="hide fewer nodes, or give a rigged model"
        )
    scale = height / (top - bottom) if height is not None else 1.0
    return -facing(skeleton_of(model).names, bind_bones(model)), scale, -bottom * scale


def _rides_on(model: Model, mesh: Mesh) -> str | None:
    """The name of the one joint that a rigid mesh hangs on, None for one that bends."""
    if mesh.joints is None or mesh.weights is None or not (mesh.weights[:, 0] == 1.0).all() or np.ptp(mesh.joints[:, 0]) > 0:
        return None
    return skeleton_of(model).names[int(mesh.joints[0, 0])]


def facing(names: Sequence[str], bones: NDArray[np.floating]) -> float:
    """Yaw in radians of where a rig looks: square to the line from its right to its left joints (0 is +X), glTF's forward when no
    joints come in pairs. A rig that is nearly along an axis is taken to be along it."""
    pairs = pairs_of(names)
    if not pairs:
        return GLTF_FORWARD
    left = np.mean([bones[a, :2] - bones[b, :2] for a, b in pairs], axis=0)
    if np.linalg.norm(left) < 1e-6:
        return GLTF_FORWARD
    yaw = float(np.arctan2(-left[0], left[1]))
    square = round(yaw / (np.pi / 2)) * (np.pi / 2)
    return float(square if abs(yaw - square) < np.radians(15) else yaw)


def _moved(model: Model, yaw: float, scale: float, up: float) -> Model:
    """The model through a similarity G: scaled, turned, lifted. Vertices and roots go through G, inverse binds through its inverse."""
    turn = quat_yaw(yaw)
    lift = np.array([0.0, 0.0, up])
    skeleton = skeleton_of(model)
    roots = np.flatnonzero(skeleton.parents < 0)
    back = np.eye(4)
    back[:3, :3] = _rotation(-yaw) / scale
    back[:3, 3] = _rotation(-yaw) @ (-lift / scale)

    def place(
        translations: NDArray[np.float32], rotations: NDArray[np.float32], scales: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], ...]:
        translations, rotations, scales = translations.copy(), rotations.copy(), scales.copy()
        translations[..., roots, :] = quat_rotate(turn, translations[..., roots, :]) * scale + lift
        rotations[..., roots, :] = quat_multiply(turn, rotations[..., roots, :])
        scales[..., roots, :] *= scale
        return translations, rotations, scales

    rest = place(skeleton.rest_translations, skeleton.rest_rotations, skeleton.rest_scales)
    clips = {}
    for name, clip in model.clips.items():
        t, r, s = place(clip.translations, clip.rotations, clip.scales)
        clips[name] = replace(clip, translations=t, rotations=r, scales=s)
    return replace(
        model,
        meshes=tuple(
            replace(
                mesh,
                positions=(mesh.positions @ _rotation(yaw).T * scale + lift).astype(np.float32),
                normals=(mesh.normals @ _rotation(yaw).T).astype(np.float32),
            )
            for mesh in model.meshes
        ),
        skeleton=replace(
            skeleton,
            rest_translations=rest[0],
            rest_rotations=rest[1],
            rest_scales=rest[2],
            inverse_bind=(skeleton.inverse_bind @ back).astype(np.float32),
        ),
        clips=clips,
    )


def _rotation(yaw: float) -> F64:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
