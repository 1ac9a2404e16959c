"""The recipe: the YAML file that says what to make: worlds x policies x cameras x presets, and what to do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from worldwright.documents import parse_document, read_text
from worldwright.engine.protocol import Habits
from worldwright.engine.registry import habits_of
from worldwright.errors import WorldwrightError
from worldwright.take.schema import MAX_SECONDS
from worldwright.world.spec import InsidePath, Name, Strict

HABITS = Habits()
Rate = Annotated[int, Field(ge=1, le=240)]
"""Frames a second: a divisor of the tick rate, which is checked with the whole recipe."""
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]


class RecipeWorld(Strict):
    """A world from a built-in family or from a file beside the recipe."""

    family: Name | None = None
    file: InsidePath | None = None
    seed: Seed = 0
    params: dict[str, Any] = {}

    @model_validator(mode="after")
    def _one_source(self) -> RecipeWorld:
        if (self.family is None) == (self.file is None):
            raise ValueError("give either family or file")
        if self.file is not None and (self.params or self.seed):
            raise ValueError("a world from a file has no seed and no params")
        return self


class RecipePolicy(Strict):
    """Who plays, for how long, from which seed."""

    policy: Name
    seconds: Annotated[float, Field(gt=0, le=MAX_SECONDS, strict=True)] = 10.0
    seed: Seed = 0
    params: dict[str, Any] = {}


class RecipePreset(Strict):
    """Size (``360p``, ``128x72``; ``720p@16`` with 16 samples a pixel), frame rate (the take's own unless named) and motion blur of the
    shots. ``renderers`` and ``looks`` take the place of the recipe's."""

    size: Annotated[str, Field(pattern=r"^(\d{2,4}p|\d{2,4}x\d{2,4})(@\d{1,5})?$")] = "360p"
    fps: Rate | None = None
    motion_blur: bool = False
    renderers: Annotated[list[Name], Field(min_length=1, max_length=16)] | None = None
    looks: Annotated[list[Name | None], Field(min_length=1, max_length=64)] | None = None


class RecipeDataset(Strict):
    """How shots are packed. ``tiers`` are folders of the dataset's name: the first is ``dataset``, others ``dataset-TIER``."""

    name: Name = "dataset"
    tiers: Annotated[list[Literal["master", "compact"]], Field(min_length=1, max_length=2)] = ["master"]


class Recipe(Strict):
    """The whole document. ``pair``: ``all`` makes every world with every policy; ``zip`` the first with the first, and so on."""

    format: Literal["worldwright.recipe/1"] = "worldwright.recipe/1"
    name: Name
    packs: dict[Name, str] = {}
    """Pack name to a folder, relative to the recipe's; ``--pack name=folder`` overrides."""
    worlds: Annotated[list[RecipeWorld], Field(min_length=1, max_length=10_000)]
    policies: Annotated[list[RecipePolicy], Field(min_length=1, max_length=1_000)]
    pair: Literal["all", "zip"] = "all"
    cameras: Annotated[list[str], Field(min_length=1, max_length=64)] = ["third"]
    presets: Annotated[list[RecipePreset], Field(min_length=1, max_length=64)] = [RecipePreset()]
    engine: Name = "panda"
    tick_rate: Annotated[int, Field(ge=30, le=2_000)] = HABITS.tick_rate
    sample_rate: Annotated[int, Field(ge=1, le=2_000)] = HABITS.sample_rate
    frame_rate: Rate = HABITS.frame_rate
    """Those of the engine (``engine.registry.habits_of``) unless given."""
    renderers: Annotated[list[Name], Field(min_length=1, max_length=16)] = ["raster"]
    looks: Annotated[list[Name | None], Field(min_length=1, max_length=64)] = [None]
    """Light and weather of the shots, one each; null is the world's own."""
    dataset: RecipeDataset = RecipeDataset()

    @model_validator(mode="before")
    @classmethod
    def _rates(cls, data: Any) -> Any:
        habits = habits_of(str(data.get("engine", "panda"))) if isinstance(data, dict) else None
        if habits is None:
            return data
        return {"tick_rate": habits.tick_rate, "sample_rate": habits.sample_rate, "frame_rate": habits.frame_rate} | data

    @model_validator(mode="after")
    def _pairs(self) -> Recipe:
        if self.pair == "zip" and len(self.worlds) != len(self.policies):
            raise ValueError(f"pair is zip, and there are {len(self.worlds)} worlds and {len(self.policies)} policies")
        return self

    def pairs(self) -> list[tuple[RecipeWorld, RecipePolicy]]:
        """Every world with the policy that plays it, one take each."""
        if self.pair == "zip":
            return list(zip(self.worlds, self.policies, strict=True))
        return [(world, policy) for world in self.worlds for policy in self.policies]


DEMO = """
format: worldwright.recipe/1
name: demo
worlds:
  - {family: courtyard, seed: 3}
  - {family: rooms, seed: 5}
  - {family: playground, seed: 2}
policies:
  - {policy: explore, seconds: 6, seed: 1}
  - {policy: loop, seconds: 8, seed: 2}
  - {policy: grammar, seconds: 6, seed: 3}
pair: zip
cameras: [third, first]
presets:
  - {size: 180p}
dataset: {name: worldwright-demo, tiers: [master]}
"""
"""What ``worldwright demo`` makes."""


DOOM_DEMO = """
format: worldwright.recipe/1
name: demo
engine: vizdoom
worlds:
  - {family: doom, params: {map: MAP01}}
  - {family: doom, params: {map: MAP02}}
policies:
  - {policy: explore, seconds: 6, seed: 1}
  - {policy: grammar, seconds: 6, seed: 2}
pair: zip
cameras: [first]
renderers: [vizdoom]
presets:
  - {size: 320x180}
dataset: {name: worldwright-demo, tiers: [master]}
"""
"""The same for the engine that runs worlds of its own alone."""


def demo_recipe(engine: str = "panda", renderers: Sequence[str] | None = None, looks: Sequence[str | None] | None = None) -> Recipe:
    """The embedded recipe, by this engine, these renderers and in these looks (None: the light of the world)."""
    recipe = parse_document(DOOM_DEMO if engine == "vizdoom" else DEMO, "the demo's recipe", Recipe)
    changes = {"engine": engine, "renderers": renderers and list(renderers), "looks": looks and list(looks)}
    return recipe.model_copy(update={name: value for name, value in changes.items() if value is not None})


def load_recipe(path: Path) -> Recipe:
    """Read a recipe file."""
    return parse_document(read_text(path, "recipe"), str(path), Recipe)


def recipe_packs(recipe: Recipe, folder: Path, given: Mapping[str, Path]) -> dict[str, Path]:
    """Pack name to folder: what the user gave, else what the recipe says, relative to the recipe's folder."""
    packs = {name: (folder / text) for name, text in recipe.packs.items()} | dict(given)
    for name, path in packs.items():
        if not path.is_dir():
            raise WorldwrightError(
                f"pack {name!r}: no such folder {str(path)!r}", where=recipe.name, fix=f"say --pack {name}=FOLDER"
            )
    return packs
