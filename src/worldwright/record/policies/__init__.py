"""Policies by name: the built-in ones, and third parties' by the entry point group ``worldwright.policies``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from pydantic import ValidationError

from worldwright.errors import WorldwrightError
from worldwright.record.policies.protocol import Policy, PolicyContext

__all__ = ["Policy", "PolicyContext", "make_policy", "policy_names"]

GROUP = "worldwright.policies"
_BUILT_IN = {
    "explore": "worldwright.record.policies.explore:Explore",
    "grammar": "worldwright.record.policies.grammar:Grammar",
    "loop": "worldwright.record.policies.loop:Loop",
    "replay": "worldwright.record.policies.replay:Replay",
}


def policy_names() -> list[str]:
    """Names that ``make_policy`` knows, sorted."""
    return sorted({*_BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def make_policy(name: str, params: Mapping[str, Any] | None = None) -> Policy:
    """A fresh policy.

    Args:
        name: one of ``policy_names()``.
        params: its parameters; those left out have their defaults.

    Raises:
        WorldwrightError: no such policy, an unknown parameter, or a value out of range.
    """
    factory = _factory(name)
    try:
        return factory(**dict(params or {}))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise WorldwrightError(
            f"{field} = {first.get('input')!r}: {first['msg']}", where=f"policy {name}", fix=f"parameters: {_parameters(factory)}"
        ) from error


def _factory(name: str) -> Callable[..., Policy]:
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name].split(":")
        return getattr(import_module(module), attribute)
    for point in entry_points(group=GROUP):
        if point.name == name:
            return point.load()
    raise WorldwrightError(f"no policy {name!r}", fix=f"there are: {', '.join(policy_names())}")


def _parameters(factory: Any) -> str:
    fields = getattr(getattr(factory, "Params", None), "model_fields", {})
    return ", ".join(fields) or "none"
