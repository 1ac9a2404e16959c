"""Parameters of a family, for programs to check and for people to read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic import ConfigDict
from pydantic.fields import FieldInfo

from worldwright.world.spec import Strict


class Params(Strict):
    """Base of the parameters of a family. The text below a field is its description."""

    model_config = ConfigDict(use_attribute_docstrings=True)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter in words: its name, what values it takes, its default, what it means."""

    name: str
    values: str
    default: str
    meaning: str


def parameters_of(params: type[Params]) -> list[Parameter]:
    """The parameters of a family, in the order in which they are declared."""
    return [
        Parameter(name, _values(info), _plain(info.default), info.description or "") for name, info in params.model_fields.items()
    ]


def _values(info: FieldInfo) -> str:
    kind: Any = info.annotation
    if get_origin(kind) is Literal:
        return ", ".join(str(value) for value in get_args(kind))
    if kind is bool:
        return "true or false"
    if any(getattr(rule, "pattern", None) for rule in info.metadata):
        return f"such as {info.default}"
    low = next((rule.ge for rule in info.metadata if isinstance(rule, annotated_types.Ge)), None)
    high = next((rule.le for rule in info.metadata if isinstance(rule, annotated_types.Le)), None)
    return f"{low} to {high}" + (", whole" if kind is int else "")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
