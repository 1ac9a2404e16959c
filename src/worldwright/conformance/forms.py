"""The stored form of a renderer's pictures: which passes there are, and of which type and size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from worldwright.render.passes import ALL_PASSES, PASSES
from worldwright.render.planes import plane_shape


def form_problems(picture: Mapping[str, NDArray[Any]], passes: Sequence[str], width: int, height: int) -> list[str]:
    """What is wrong with a picture of a renderer that declares ``passes``."""
    problems = [f"pass {name!r} is none of {', '.join(ALL_PASSES)}" for name in passes if name not in ALL_PASSES]
    problems += [f"pass {name!r} is declared and not given" for name in passes if name not in picture]
    problems += [f"pass {name!r} is given and not declared" for name in picture if name not in passes]
    for name in (name for name in ALL_PASSES if name in picture):
        plane = picture[name]
        form = ((height, width, 3), "uint8") if name == "rgb" else (plane_shape(PASSES[name], height, width), PASSES[name].dtype)
        if (plane.shape, str(plane.dtype)) != form:
            problems.append(f"{name} is {plane.dtype} {list(plane.shape)}, expected {form[1]} {list(form[0])}")
    return problems
