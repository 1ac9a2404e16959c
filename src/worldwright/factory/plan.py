"""From a recipe to tasks. Planning twice gives the same tasks; a changed parameter changes only the ids of what depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldwright import __version__
from worldwright.errors import WorldwrightError
from worldwright.factory.check import check_recipe, naming
from worldwright.factory.recipe import Recipe, RecipePreset, RecipeWorld
from worldwright.factory.sources import camera_content, camera_source, params_content, policy_params
from worldwright.ids import content_id
from worldwright.outputs import looks_whole
from worldwright.render.registry import does_sample
from worldwright.world.files import load_world, resolve_packs, save_world, world_hash
from worldwright.world.generators import generate
from worldwright.world.looks import FILE_ENDINGS, find_look
from worldwright.world.spec import Look, World

_OWN = ("vizdoom",)
MOST_NAME = 120
"""Characters of a task's name, of which the name of its output is made: file systems take 255 bytes."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to make. ``id`` is the content id of all that it is made from; ``out`` exists when it was made. ``source`` names the take
    that it is about: a process that has just worked on the same take does it for less."""

    id: str
    kind: str
    name: str
    needs: tuple[str, ...]
    args: Mapping[str, Any]
    out: Path
    source: str

    def has_output(self) -> bool:
        """True when the output is there and whole."""
        kind = {"render": "shot", "pack": "dataset"}.get(self.kind)
        return self.out.is_file() if kind is None else looks_whole(self.out, kind)


@dataclass(frozen=True, slots=True)
class Plan:
    """All tasks in an order in which each comes after what it needs."""

    recipe: Recipe
    folder: Path
    packs: Mapping[str, Path]
    tasks: tuple[Task, ...]

    def of_kind(self, kind: str) -> list[Task]:
        """The tasks of one kind, in order."""
        return [task for task in self.tasks if task.kind == kind]

    def record_path(self, task: Task) -> Path:
        """Where the answer of a finished task is kept."""
        return self.folder / "tasks" / f"{task.id}.json"


def _world(source: RecipeWorld, recipe_folder: Path, place: str) -> World:
    if source.file is not None:
        return load_world(recipe_folder / source.file)
    assert source.family is not None
    with naming(place):
        return generate(source.family, source.seed, source.params)


def _task(
    kind: str,
    name: str,
    needs: tuple[Task, ...],
    args: dict[str, Any],
    folder: Path,
    suffix: str,
    place: str | None = None,
    content: Mapping[str, Any] | None = None,
) -> Task:
    """``content``: what stands in the id for arguments that name files."""
    source = needs[0].source if needs else name
    name = name[:MOST_NAME]
    # Paths are no part of an id: the run folder may be moved, and packs lie elsewhere on another machine.
    inputs = {
        key: value for key, value in args.items() if key not in ("packs", "world", "take", "path", "shots", "verdicts", "out")
    }
    inputs |= dict(content or {})
    ident = content_id({"kind": kind, "name": name, "needs": [need.id for need in needs], "args": inputs, "version": __version__})
    out = folder / (place or f"{kind}/{name}-{ident[:8]}{suffix}")
    return Task(ident, kind, name, tuple(need.id for need in needs), args | {"out": str(out)}, out, source)


def _ways(recipe: Recipe) -> Iterator[tuple[RecipePreset, str, str | None]]:
    """Every preset with each renderer and look that it is to be made by and in."""
    for preset in recipe.presets:
        for renderer in preset.renderers or recipe.renderers:
            for look in preset.looks or recipe.looks:
                yield preset, renderer, look


def _looks(recipe: Recipe, world: World, folder: Path) -> dict[str, Look]:
    """The looks that the recipe names, as this world has them; files lie beside the recipe."""
    with naming(f"recipe {recipe.name}"):
        return {look: find_look(world, _look_source(look, folder)) for _, _, look in _ways(recipe) if look is not None}


def _look_source(look: str, folder: Path) -> str:
    """A look as ``find_look`` takes it: its name, or the path of its file."""
    return str(folder / look) if look.endswith(FILE_ENDINGS) else look


def make_plan(recipe: Recipe, recipe_folder: Path, folder: Path, packs: Mapping[str, Path]) -> Plan:
    """Generate the worlds (they are small) into ``folder``/worlds and plan everything that follows from them."""
    made: dict[int, tuple[World, Path, str, dict[str, str], dict[str, Look]]] = {}
    (folder / "worlds").mkdir(parents=True, exist_ok=True)
    check_recipe(recipe, recipe_folder)
    for k, source in enumerate(recipe.worlds):
        world = _world(source, recipe_folder, f"recipe {recipe.name}: worlds[{k}]")
        worn = _looks(recipe, world, recipe_folder)
        if (recipe.engine == "vizdoom") != (world.level is not None and world.level.engine == "vizdoom") and recipe.engine in _OWN:
            raise WorldwrightError(
                f"engine {recipe.engine!r} does not play {world.name!r}",
                where=f"recipe {recipe.name}: worlds[{k}]",
                fix="vizdoom plays worlds of the family doom, and they want it",
            )
        digest = world_hash(world)
        path = folder / "worlds" / f"{world.name}-{digest[:8]}.yaml"
        if not path.exists():
            save_world(world, path)
        # A world that names folders of its own names them from where it lies, not from the run's copy of it.
        origin = recipe_folder / source.file if source.file is not None else None
        used = {name: str(folder.resolve()) for name, folder in sorted(resolve_packs(world, origin, packs).items())}
        made[id(source)] = (world, path, digest, used, worn)

    tasks: list[Task] = []
    # A dataset has one size and one rate: shots of each go into one of their own.
    batches: dict[str, list[tuple[Task, Task]]] = {}
    for source, policy in recipe.pairs():
        world, path, digest, used, worn = made[id(source)]
        base = f"{world.name}-{policy.policy}-{policy.seed}"
        record = _task(
            "record",
            base,
            (),
            {
                "world": str(path),
                "world_hash": digest,
                "packs": used,
                "policy": policy.policy,
                "policy_params": policy_params(policy, recipe_folder),
                "seconds": policy.seconds,
                "seed": policy.seed,
                "engine": recipe.engine,
                "tick_rate": recipe.tick_rate,
                "frame_rate": recipe.frame_rate,
                "sample_rate": recipe.sample_rate,
            },
            folder,
            ".mcap",
            content={"policy_params": params_content(policy, recipe_folder)},
        )
        tasks.append(record)
        for camera in recipe.cameras:
            for preset, renderer, look in _ways(recipe):
                # Samples are for those that sample: one preset compares them with those that do not.
                size = preset.size if does_sample(renderer) else preset.size.partition("@")[0]
                blur = "-blur" if preset.motion_blur else ""
                rate = None if preset.fps == recipe.frame_rate else preset.fps
                fps = f"-{rate}fps" if rate else ""
                way = "".join(f"-{text}" for text in (None if renderer == "raster" else renderer, look and worn[look].name) if text)
                name = f"{base}-{''.join(c if c.isalnum() else '_' for c in camera)}-{size.replace('@', '_')}{fps}{blur}{way}"
                render = _task(
                    "render",
                    name,
                    (record,),
                    {
                        "take": str(record.out),
                        "packs": used,
                        "camera": camera_source(camera, recipe_folder),
                        "preset": size,
                        "fps": rate,
                        "motion_blur": preset.motion_blur,
                        "renderer": renderer,
                        "look": look and _look_source(look, recipe_folder),
                    },
                    folder,
                    "",
                    content={
                        "camera": camera_content(camera, recipe_folder),
                        "look": look and worn[look].model_dump(mode="json"),
                    },
                )
                verify = _task("verify", name, (render,), {"path": str(render.out), "packs": used}, folder, ".json")
                tasks += [render, verify]
                batches.setdefault(f"-{preset.size.partition('@')[0]}{fps}", []).append((render, verify))
    for kind, batch in batches.items():
        which = kind if len(batches) > 1 else ""
        for k, tier in enumerate(recipe.dataset.tiers):
            args = {
                "shots": [str(render.out) for render, _ in batch],
                "verdicts": {str(render.out): str(verify.out) for render, verify in batch},
                "tier": tier,
                "name": f"{recipe.dataset.name}{which}",
            }
            place = f"dataset{which}" if k == 0 else f"dataset{which}-{tier}"
            needs = tuple(verify for _, verify in batch)
            tasks.append(_task("pack", f"{recipe.dataset.name}{which}-{tier}", needs, args, folder, "", place))
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise WorldwrightError(
                f"asks for the same {task.kind} twice: {task.name}",
                where=f"recipe {recipe.name}",
                fix="let worlds, policies, cameras and presets differ, such as by their seed",
            )
        seen.add(task.id)
    found = {name: Path(used) for *_, all_used, _ in made.values() for name, used in all_used.items()}
    return Plan(recipe, folder, found | dict(packs), tuple(tasks))
