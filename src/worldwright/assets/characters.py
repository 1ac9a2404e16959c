"""Characters ready to be played: the built-in humanoid, or any rigged glTF model made to fit our conventions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from worldwright.assets.humanoid import humanoid
from worldwright.assets.model import Model
from worldwright.errors import WorldwrightError
from worldwright.world.spec import Character, Humanoid


def load_character(character: Character, packs: Mapping[str, Path]) -> Model:
    """The model of a character: looks along +X, feet at z = 0, all clips of CLIP_NAMES."""
    if isinstance(character.look, Humanoid):
        return humanoid(character.look, character.height)
    raise WorldwrightError("glTF characters are loaded by a later commit", where=character.name)
