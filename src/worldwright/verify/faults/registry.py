"""All kinds of faults by name, and how one is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.verify.workshop import Workshop

Rng = np.random.Generator
Array = NDArray[Any]
Apply = Callable[[Workshop, Rng], str | None]


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault. ``sealed``: all hashes are computed again after it."""

    name: str
    apply: Apply
    sealed: bool = True


FAULTS: dict[str, Fault] = {}


def fault(name: str, *, sealed: bool = True) -> Callable[[Apply], Apply]:
    """Enter a function as the fault of this name. Raises ValueError where the name is taken."""

    def register(apply: Apply) -> Apply:
        if name in FAULTS:
            raise ValueError(f"two faults are called {name!r}")
        FAULTS[name] = Fault(name, apply, sealed)
        return apply

    return register


def inject(shop: Workshop, name: str, rng: Rng) -> str | None:
    """Make the fault in the copy, seal it if it is one that is sealed, and say what was done; None: it makes no difference here."""
    chosen = FAULTS[name]
    text = chosen.apply(shop, rng)
    if text is not None and chosen.sealed:
        shop.seal()
    return text
