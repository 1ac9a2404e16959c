"""A crouch for models that have no clip of it: the lowest pose of another clip, deepened and held, and laid over the walk.

A character that crouches fits where it cannot stand. One that is shown upright there stands in the ceiling, so no upright clip stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.animation import pose_to_bones, skeleton_of
from worldwright.assets.character_clips import LOW, Choice
from worldwright.assets.feet import sole_paths
from worldwright.assets.model import Clip, Model
from worldwright.transforms import quat_between, quat_conjugate, quat_multiply

F64 = NDArray[np.float64]

LOW_ENOUGH = 0.93
"""A pose is a crouch when its highest joint is no higher above the soles than this share of its height in the idle pose."""
WANTED = 0.75
"""How low a landing is made, as the same share, if MOST_DEEPER allows it."""
MOST_DEEPER = 1.6
"""How far a pose may be taken beyond itself, away from the idle pose: more folds short legs into the body."""


def crouched(model: Model, low: Clip, chosen: Mapping[str, Choice]) -> Model:
    """The model with a crouch and a crouched walk where they were to be stood in for; as it was when ``low`` is not low.

    Args:
        model: with the clips idle, walk, crouch and crouch_walk, feet at z = 0.
        low: the clip that has a pose near the ground.
        chosen: where the clips come from; those of crouch and crouch_walk that stand in are replaced.
    """
    idle = model.clips["idle"]
    top = int(np.argmax(_bones(model, _frame(idle, 0))[0, :, 2]))
    standing = _heights(model, _frame(idle, 0), top)[0]
    heights = _heights(model, low, top)
    at = int(np.argmin(heights))
    if heights[at] > LOW_ENOUGH * standing:
        return model
    pose = _frame(low, at)
    source = chosen[LOW]
    if source.stand_in:
        pose = _deepened(model, _frame(idle, 0), pose, top, WANTED * standing)
    clips, sources = dict(model.clips), dict(model.clip_sources)
    if chosen["crouch"].stand_in:
        clips["crouch"] = replace(pose, name="crouch", loop=True)
        sources["crouch"] = f"the lowest pose of {source.name} (stand-in)"
    if chosen["crouch_walk"].stand_in:
        clips["crouch_walk"] = replace(_laid_over(model, clips["walk"], _frame(idle, 0), pose), name="crouch_walk")
        sources["crouch_walk"] = f"{chosen['walk'].name} lowered as {source.name} (stand-in)"
    return replace(model, clips=clips, clip_sources=sources)


def _frame(clip: Clip, k: int) -> Clip:
    which = slice(k, k + 1)
    return replace(clip, translations=clip.translations[which], rotations=clip.rotations[which], scales=clip.scales[which])


def _bones(model: Model, clip: Clip) -> F64:
    return pose_to_bones(skeleton_of(model), clip.translations, clip.rotations, clip.scales).astype(np.float64)


def _soles(model: Model, clip: Clip) -> F64:
    """Height of the lower sole in every frame [F]."""
    return np.asarray(sole_paths(model, _bones(model, clip))[:, :, 2].min(axis=1), dtype=np.float64)


def _heights(model: Model, clip: Clip, joint: int) -> F64:
    """Height of a joint above the lower sole in every frame [F]."""
    return np.asarray(_bones(model, clip)[:, joint, 2] - _soles(model, clip), dtype=np.float64)


def _lifted(model: Model, clip: Clip, up: F64) -> Clip:
    """The clip with its roots moved up by metres [F]."""
    translations = clip.translations.astype(np.float64)
    translations[:, skeleton_of(model).parents < 0, 2] += up[:, None]
    return replace(clip, translations=translations.astype(np.float32))


def _deepened(model: Model, idle: Clip, pose: Clip, top: int, wanted: float) -> Clip:
    """The pose, taken further away from the idle one until its top is as low as wanted; on the ground."""
    made = pose
    for further in np.linspace(1.0, MOST_DEEPER, 7):
        made = replace(
            pose,
            translations=(idle.translations + (pose.translations - idle.translations) * further).astype(np.float32),
            rotations=quat_between(idle.rotations, pose.rotations, further).astype(np.float32),
        )
        made = _lifted(model, made, -_soles(model, made))
        if _heights(model, made, top)[0] <= wanted:
            break
    return made


def _laid_over(model: Model, walk: Clip, idle: Clip, pose: Clip) -> Clip:
    """The walk with every joint bent as the pose bends it from the idle one, its soles as high above the ground as before."""
    bend = quat_multiply(quat_conjugate(idle.rotations[0]), pose.rotations[0])
    made = replace(
        walk,
        translations=(walk.translations + (pose.translations - idle.translations)).astype(np.float32),
        rotations=quat_multiply(walk.rotations, bend).astype(np.float32),
    )
    return _lifted(model, made, _soles(model, walk) - _soles(model, made))
