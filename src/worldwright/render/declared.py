"""What a pass of one shot says beside the conventions, where its renderer cannot give what these promise.

An engine of its own may draw depth in a few coarse steps, things as flat pictures, and not tell a door from the wall around it. Then the
shot says so in the attributes of its passes, under ``declared``; verification judges by it and refuses what is absurd.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from worldwright.errors import WorldwrightError
from worldwright.world.spec import World

DECLARED = "declared"
"""The attribute's name."""
MOST_ERROR, MOST_NEAR, LEAST_FAR = 0.5, 2.0, 8.0
"""Metres: a depth pass that is worse is none."""

Entity = Annotated[int, Field(ge=0, le=65535)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DeclaredDepth(_Strict):
    """Depth in steps: off by at most ``error_m`` metres from ``near_m`` to ``far_m``. What is nearer is given as near_m; what is farther has
    no depth, and its entity is 0."""

    error_m: Annotated[float, Field(allow_inf_nan=False, ge=0, le=MOST_ERROR)]
    near_m: Annotated[float, Field(allow_inf_nan=False, ge=0, le=MOST_NEAR)]
    far_m: Annotated[float, Field(allow_inf_nan=False, ge=LEAST_FAR)]


class DeclaredEntity(_Strict):
    """``shown_as``: entities whose pixels have another id, 0 for what is sky. ``stand_ins``: entities that are drawn otherwise than the
    world has their shapes."""

    shown_as: dict[Entity, Entity]
    stand_ins: list[Entity]


def declared_entity(world: World) -> DeclaredEntity:
    """Ids of a level whose own engine draws it: what moves of it is not told from the rest, and what stands in is drawn flat."""
    level = next((world.entity_id(k) for k, entity in enumerate(world.entities) if entity.label == "level"), 1)
    shown, flat = {}, []
    for k, entity in enumerate(world.entities):
        id = world.entity_id(k)
        if entity.stand_in:
            flat.append(id)
        elif entity.label == "sky":
            shown[id] = 0
        elif entity.body == "kinematic":
            shown[id] = level
    return DeclaredEntity(shown_as=shown, stand_ins=flat)


def declarations(depth: DeclaredDepth | None, entity: DeclaredEntity | None) -> dict[str, dict[str, Any]]:
    """By pass, as plain JSON."""
    found = {"depth": depth, "entity": entity}
    return {name: {DECLARED: value.model_dump(mode="json")} for name, value in found.items() if value is not None}


def read_declared(name: str, attributes: Mapping[str, Any]) -> DeclaredDepth | DeclaredEntity | None:
    """What a pass declares; None where it keeps the conventions. Raises WorldwrightError for what cannot be."""
    if DECLARED not in attributes:
        return None
    kinds: dict[str, type[DeclaredDepth] | type[DeclaredEntity]] = {"depth": DeclaredDepth, "entity": DeclaredEntity}
    if name not in kinds:
        raise WorldwrightError("declares something", where=f"passes.{name}", fix=f"only {' and '.join(kinds)} may")
    try:
        return kinds[name].model_validate(attributes[DECLARED])
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise WorldwrightError(f"{field}: {first['msg']}", where=f"passes.{name}.{DECLARED}") from error
