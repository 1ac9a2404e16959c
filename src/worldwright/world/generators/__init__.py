"""Built-in generators: families of worlds, each with a seed and a few parameters."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from worldwright.errors import WorldwrightError
from worldwright.world.generators.courtyard import Courtyard, courtyard
from worldwright.world.generators.doom import Doom, doom
from worldwright.world.generators.dungeon import Dungeon, dungeon
from worldwright.world.generators.parameters import Params
from worldwright.world.generators.playground import Playground, playground
from worldwright.world.generators.rooms import Rooms, rooms
from worldwright.world.spec import Generator, World


@dataclass(frozen=True, slots=True)
class Family:
    """A generator: what it makes, its parameters, and the function that makes it from them and a seed."""

    name: str
    description: str
    params: type[Params]
    make: Callable[[Any, int], World]


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("courtyard", "outdoors: uneven ground, stairs, ramps, arches, trees, crates", Courtyard, courtyard),
        Family("rooms", "several furnished rooms: doorways, windows, lamps, things to push", Rooms, rooms),
        Family("playground", "physics that reacts: stacks, dominoes, seesaws, balls, doors", Playground, playground),
        Family(
            "dungeon",
            "two rooms, stairs and torches from the parts of the KayKit packs (--pack dungeon=, adventurers=)",
            Dungeon,
            dungeon,
        ),
        Family("doom", "a map of Freedoom, played in the engine vizdoom (extra vizdoom)", Doom, doom),
    )
}


def generate(family: str, seed: int, params: Mapping[str, Any]) -> World:
    """The world of a family, a seed and parameters; the same ones give the same world.

    Args:
        family: a name in ``FAMILIES``.
        seed: from 0 on.
        params: values for fields of the family's parameters; the others keep their defaults.

    Raises:
        WorldwrightError: no such family or parameter, or a value out of range.
    """
    if family not in FAMILIES:
        near = difflib.get_close_matches(family, FAMILIES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise WorldwrightError(f"no generator {family!r}", fix=f"{hint}there are: {', '.join(FAMILIES)}")
    if not 0 <= seed < 2**63:
        raise WorldwrightError(f"seed {seed} is out of range", where=family, fix="a seed is a whole number from 0 on")
    chosen = FAMILIES[family]
    try:
        checked = chosen.params.model_validate(dict(params))
    except ValidationError as error:
        raise _explain(error, chosen) from error
    world = chosen.make(checked, seed)
    made = world.model_dump() | {"generator": Generator(family=family, seed=seed, params=checked.model_dump(mode="json"))}
    return World.model_validate(made)


def _explain(error: ValidationError, family: Family) -> WorldwrightError:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(key) for key in first["loc"])
    known = list(family.params.model_fields)
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return WorldwrightError(f"unknown parameter {name!r}", where=family.name, fix=f"{hint}there are: {', '.join(known)}")
    message = first["msg"][:1].lower() + first["msg"][1:]
    return WorldwrightError(f"parameter {name} = {first['input']!r}", where=family.name, fix=message)
