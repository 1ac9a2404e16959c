"""Reading pictures back by pixel buffers, while the next picture is drawn."""

from __future__ import annotations

from collections import deque
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from worldwright.render.raster.device import GL
from worldwright.render.raster.targets import Targets

Array = NDArray[Any]

_SURFACE, _AIM, _PICTURE = 0, 1, 2
_WORDS = (4, 2, 1)
"""32-bit words a pixel of what is read: the two targets of shaders/outputs.glsl, and the picture."""
_FIELDS: dict[str, tuple[int, int, str, slice | int]] = {
    "rgb": (_PICTURE, 0, "u1", slice(0, 3)),
    "albedo": (_SURFACE, 0, "u1", slice(0, 3)),
    "roughness": (_SURFACE, 0, "u1", 3),
    "metallic": (_SURFACE, 1, "u1", 3),
    "depth": (_SURFACE, 2, "<u2", 0),
    "entity": (_SURFACE, 2, "<u2", 1),
    "normal": (_AIM, 0, "<u2", slice(0, 2)),
    "flow": (_AIM, 1, "<i2", slice(0, 2)),
}
"""Where a pass lies: what is read, the word in it, the type of the parts of that word, and which of them."""


class Readback:
    """A ring of buffers: ``start`` sends the targets as they are now, ``finish`` gives the oldest as arrays."""

    def __init__(self, context: moderngl.Context, gl: GL, targets: Targets, passes: tuple[str, ...], depth: int) -> None:
        self._gl, self._targets, self._passes = gl, targets, passes
        width, height = targets.size
        self._place: dict[int, slice] = {}
        at = 0
        for source in sorted({_FIELDS[name][0] for name in passes}):
            self._place[source] = slice(at, at + width * height * _WORDS[source])
            at = (self._place[source].stop + 15) // 16 * 16
        self._copy = np.empty(at, "<u4")  # kept: fresh memory for every picture costs more than the copying
        self._free = deque(context.buffer(reserve=at * 4, dynamic=True) for _ in range(depth))
        self._busy: deque[tuple[moderngl.Buffer, int]] = deque()

    @property
    def waiting(self) -> int:
        """Pictures started and not finished."""
        return len(self._busy)

    def start(self) -> None:
        """Begin to read what the targets hold."""
        buffer, targets = self._free.popleft(), self._targets
        for source, place in self._place.items():
            if source == _PICTURE:
                targets.picture.read_into(buffer, components=4, write_offset=place.start * 4)
            else:
                targets.buffer.read_into(
                    buffer, components=_WORDS[source], attachment=source, dtype="u4", write_offset=place.start * 4
                )
        self._busy.append((buffer, self._gl.fence()))

    def finish(self) -> dict[str, Array]:
        """The oldest picture: each pass in its stored form, row 0 at the top."""
        buffer, mark = self._busy.popleft()
        self._gl.wait(mark)
        data = self._copy
        buffer.read_into(data)
        self._free.append(buffer)
        width, height = self._targets.size
        words: dict[tuple[int, int], Array] = {}
        out: dict[str, Array] = {}
        for name in self._passes:
            source, word, dtype, part = _FIELDS[name]
            if (source, word) not in words:
                plane = data[self._place[source]].reshape(height, width, _WORDS[source])
                words[source, word] = np.ascontiguousarray(plane[..., word])
            parts = words[source, word].view(dtype).reshape(height, width, -1)
            out[name] = np.ascontiguousarray(parts[..., part]) if isinstance(part, int) else _channels(parts, part.stop)
        return out


def _channels(plane: Array, count: int) -> Array:
    """The first channels of a plane. By channel: 8 times faster than numpy's own copy by pixel."""
    if count == plane.shape[2]:
        return plane
    out = np.empty((*plane.shape[:2], count), plane.dtype)
    for channel in range(count):
        out[..., channel] = plane[..., channel]
    return out
