"""Reading pictures back by pixel buffers, while the next picture is drawn."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.device import GL
from worldwright.render.raster.targets import Targets

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Source:
    """A plane of pixels: attachment, components and type in GL and in numpy."""

    attachment: int
    components: int
    gl_type: str
    dtype: str


_SOURCES = {
    "albedo": _Source(0, 4, "f1", "u1"),
    "depth": _Source(2, 1, "u2", "<u2"),
    "normal": _Source(3, 2, "u2", "<u2"),
    "entity": _Source(4, 1, "u2", "<u2"),
    "flow": _Source(5, 2, "i2", "<i2"),
    "metallic": _Source(6, 1, "f1", "u1"),
    "rgb": _Source(0, 4, "f1", "u1"),
}


class Readback:
    """A ring of buffers: ``start`` sends the targets as they are now, ``finish`` gives the oldest as arrays."""

    def __init__(self, context: moderngl.Context, gl: GL, targets: Targets, passes: tuple[str, ...], depth: int) -> None:
        self._gl, self._targets, self._passes = gl, targets, passes
        width, height = targets.size
        planes = {"albedo" if name == "roughness" else name for name in passes}
        self._layout: dict[str, tuple[int, int]] = {}
        at = 0
        for name in sorted(planes):
            source = _SOURCES[name]
            size = width * height * source.components * np.dtype(source.dtype).itemsize
            self._layout[name] = (at, size)
            at += (size + 63) // 64 * 64
        self._size = at
        self._free = deque(context.buffer(reserve=at, dynamic=True) for _ in range(depth))
        self._busy: deque[tuple[moderngl.Buffer, int]] = deque()

    @property
    def waiting(self) -> int:
        """Pictures started and not finished."""
        return len(self._busy)

    def start(self) -> None:
        """Begin to read what the targets hold."""
        buffer = self._free.popleft()
        for name, (at, _) in self._layout.items():
            source = _SOURCES[name]
            frame = self._targets.picture if name == "rgb" else self._targets.buffer
            frame.read_into(
                buffer, components=source.components, attachment=source.attachment, dtype=source.gl_type, write_offset=at
            )
        self._busy.append((buffer, self._gl.fence()))

    def finish(self) -> dict[str, Array]:
        """The oldest picture: each pass in its stored form, row 0 at the top."""
        buffer, mark = self._busy.popleft()
        self._gl.wait(mark)
        data = np.empty(self._size, np.uint8)
        buffer.read_into(data)
        self._free.append(buffer)
        width, height = self._targets.size
        out: dict[str, Array] = {}
        for name in self._passes:
            at, size = self._layout["albedo" if name == "roughness" else name]
            source = _SOURCES["albedo" if name == "roughness" else name]
            plane = data[at : at + size].view(source.dtype).reshape(height, width, source.components)
            match name:
                case "rgb" | "albedo":
                    out[name] = _first_three(plane)
                case "roughness":
                    out[name] = np.ascontiguousarray(plane[..., 3])
                case _:
                    out[name] = plane if source.components > 1 else plane[..., 0]
        return out


def _first_three(plane: Array) -> Array:
    """[h, w, 4] to [h, w, 3]: a copy by channel, which is 8 times faster than numpy's own copy by pixel."""
    out = np.empty((*plane.shape[:2], 3), plane.dtype)
    for channel in range(3):
        out[..., channel] = plane[..., channel]
    return out
