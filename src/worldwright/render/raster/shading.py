"""Shader sources: files beside this module, joined by ``#include`` and specialised by ``#define``."""

from __future__ import annotations

from functools import cache
from importlib import resources

import moderngl


@cache
def _text(name: str) -> str:
    return (resources.files("worldwright.render.raster") / "shaders" / name).read_text()


def source(name: str, defines: tuple[str, ...] = ()) -> str:
    """The text of a shader, with its includes in place and its defines after the version line."""
    lines: list[str] = []
    for line in _text(name).splitlines():
        if line.startswith("#include"):
            lines.append(source(line.split('"')[1]))
        else:
            lines.append(line)
            if line.startswith("#version"):
                lines += [f"#define {define}" for define in defines]
    return "\n".join(lines)


def program(context: moderngl.Context, vertex: str, fragment: str, defines: tuple[str, ...] = ()) -> moderngl.Program:
    """A linked program."""
    return context.program(vertex_shader=source(vertex, defines), fragment_shader=source(fragment, defines))
