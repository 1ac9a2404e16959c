"""Files that a recipe names beside worlds and packs: camera paths, and takes to play again. They lie relative to the recipe, and what is
in them counts, not where they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.factory.recipe import RecipePolicy
from worldwright.ids import hash_file
from worldwright.render.cameras import is_camera_file


def camera_source(camera: str, folder: Path) -> str:
    """A camera as ``render.cameras.make_camera`` reads it: a file by its place in the recipe's folder, all else as it stands."""
    return str(folder / camera) if is_camera_file(camera) else camera


def policy_params(policy: RecipePolicy, folder: Path) -> dict[str, Any]:
    """A policy's parameters, with the take of ``replay`` by its place in the recipe's folder."""
    if policy.policy == "replay" and isinstance(take := policy.params.get("take"), str):
        return {**policy.params, "take": str(folder / take)}
    return dict(policy.params)


def camera_content(camera: str, folder: Path) -> str:
    """What stands for a camera in a task's id."""
    return f"file {_hash(folder / camera)}" if is_camera_file(camera) else camera


def params_content(policy: RecipePolicy, folder: Path) -> dict[str, Any]:
    """What stands for a policy's parameters in a task's id."""
    params = policy_params(policy, folder)
    if policy.policy == "replay" and "take" in params:
        params["take"] = f"file {_hash(Path(params['take']))}"
    return params


def _hash(path: Path) -> str:
    try:
        return hash_file(path)
    except OSError as error:
        raise WorldwrightError(f"cannot be read ({error.strerror})", where=str(path)) from error
