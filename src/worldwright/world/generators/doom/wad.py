"""Doom's WAD files: a directory of named lumps, and the lumps of a map as plain arrays.

A WAD is untrusted: sizes and counts are bounded, and every index of a map is checked, so that whoever uses a ``Level`` need not. Format:
the Unofficial Doom Specs 1.666 (Matthew S Fell), chapters 2 and 4.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.errors import WorldwrightError

MAX_WAD = 256 << 20
MAX_LUMPS = 100_000
MAX_LUMP = 16 << 20
NONE = 0xFFFF
"""A line without a second side."""
LEAF = 0x8000
"""This bit of a node's child says that it is a sub-sector."""

MAP_NAME = re.compile(r"MAP\d\d|E\dM\d")

Table = NDArray[Any]

_VERTEX = np.dtype([("x", "<i2"), ("y", "<i2")])
_LINE = np.dtype(
    [("start", "<u2"), ("end", "<u2"), ("flags", "<u2"), ("special", "<u2"), ("tag", "<i2"), ("front", "<u2"), ("back", "<u2")]
)
_SIDE = np.dtype([("x", "<i2"), ("y", "<i2"), ("upper", "S8"), ("lower", "S8"), ("middle", "S8"), ("sector", "<u2")])
_SECTOR = np.dtype(
    [
        ("floor", "<i2"), ("ceiling", "<i2"), ("floor_flat", "S8"), ("ceiling_flat", "S8"),
        ("light", "<i2"), ("special", "<i2"), ("tag", "<i2"),
    ]
)  # fmt: skip
_SEG = np.dtype([("start", "<u2"), ("end", "<u2"), ("angle", "<i2"), ("line", "<u2"), ("side", "<u2"), ("offset", "<i2")])
_LEAF = np.dtype([("count", "<u2"), ("first", "<u2")])
_NODE = np.dtype([("x", "<i2"), ("y", "<i2"), ("dx", "<i2"), ("dy", "<i2"), ("boxes", "<i2", 8), ("right", "<u2"), ("left", "<u2")])
_THING = np.dtype([("x", "<i2"), ("y", "<i2"), ("angle", "<i2"), ("type", "<u2"), ("flags", "<u2")])

_LUMPS = (
    ("THINGS", _THING), ("LINEDEFS", _LINE), ("SIDEDEFS", _SIDE), ("VERTEXES", _VERTEX), ("SEGS", _SEG), ("SSECTORS", _LEAF),
    ("NODES", _NODE), ("SECTORS", _SECTOR),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Level:
    """A map. Structured arrays, a row each; lengths in map units, x east, y north. Every index in them is in range.

    ``nodes`` is the BSP tree, its root last; a node's right child is where the partition's right is. ``leaves`` are its sub-sectors:
    stretches of ``segs``.
    """

    things: Table
    lines: Table
    sides: Table
    vertices: Table
    segs: Table
    leaves: Table
    nodes: Table
    sectors: Table


class Wad:
    """The directory of a WAD file; lumps are read when asked for.

    Raises:
        WorldwrightError: unreadable, or no WAD.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            size = path.stat().st_size
            if size > MAX_WAD:
                raise WorldwrightError(f"is {size >> 20} MB large", where=str(path), fix=f"a WAD has at most {MAX_WAD >> 20} MB")
            with path.open("rb") as file:
                head = file.read(12)
                if len(head) < 12 or head[:4] not in (b"IWAD", b"PWAD"):
                    raise WorldwrightError("is no WAD file", where=str(path), fix="name a WAD")
                count, offset = struct.unpack("<II", head[4:])
                if count > MAX_LUMPS or offset + 16 * count > size:
                    raise WorldwrightError(f"its directory of {count} lumps does not lie in the file", where=str(path))
                file.seek(offset)
                data = file.read(16 * count)
        except OSError as error:
            raise WorldwrightError(f"cannot be read ({error.strerror})", where=str(path), fix="name a WAD") from error
        directory = [struct.unpack_from("<II8s", data, 16 * k) for k in range(count)]
        self._lumps = [(name.split(b"\0")[0].decode("ascii", "replace").upper(), at, length) for at, length, name in directory]
        self._size = size

    def maps(self) -> list[str]:
        """The names of its maps, in its order."""
        return [name for name, _, _ in self._lumps if MAP_NAME.fullmatch(name)]

    def level(self, name: str) -> Level:
        """A map. Raises WorldwrightError for one that is not there, is of another game's format or is damaged."""
        names = [lump[0] for lump in self._lumps]
        if not MAP_NAME.fullmatch(name) or name not in names:
            raise WorldwrightError(f"no map {name!r}", where=self.path.name, fix=f"there are: {', '.join(self.maps())}")
        first = names.index(name) + 1
        if names[first : first + len(_LUMPS)] != [lump for lump, _ in _LUMPS]:
            raise WorldwrightError("is no map in Doom's own format", where=f"{self.path.name} {name}", fix="choose another map")
        tables = [self._table(first + k, dtype, f"{self.path.name} {name} {lump}") for k, (lump, dtype) in enumerate(_LUMPS)]
        things, lines, sides, vertices, segs, leaves, nodes, sectors = tables
        level = Level(things, lines, sides, vertices, segs, leaves, nodes, sectors)
        _check(level, f"{self.path.name} {name}")
        return level

    def _table(self, index: int, dtype: np.dtype[Any], where: str) -> Table:
        _, at, length = self._lumps[index]
        if length > MAX_LUMP or at + length > self._size or length % dtype.itemsize:
            raise WorldwrightError(f"a lump of {length} bytes at {at} cannot be", where=where)
        with self.path.open("rb") as file:
            file.seek(at)
            data = file.read(length)
        return np.frombuffer(data, dtype=dtype)


def _check(level: Level, where: str) -> None:
    """Every index in range, and the tree a tree: children come before their node, as every node builder writes them."""

    def within(what: str, index: Table, count: int) -> None:
        if len(index) and int(index.max()) >= count:
            raise WorldwrightError(f"{what} {int(index.max())} of {count}", where=where)

    if not (len(level.nodes) and len(level.leaves) and len(level.sectors)):
        raise WorldwrightError("has no BSP tree", where=where, fix="choose a map with its nodes built")
    lines, segs, leaves, nodes = level.lines, level.segs, level.leaves, level.nodes
    for ends in (lines, segs):
        within("vertex", ends["start"], len(level.vertices))
        within("vertex", ends["end"], len(level.vertices))
    within("side", lines["front"], len(level.sides))
    within("side", lines["back"][lines["back"] != NONE], len(level.sides))
    within("sector", level.sides["sector"], len(level.sectors))
    within("line", segs["line"], len(lines))
    within("side of a line", segs["side"], 2)
    if (lines["back"][segs["line"][segs["side"] == 1]] == NONE).any():
        raise WorldwrightError("a seg lies on a side that its line does not have", where=where)
    within("seg", leaves["first"].astype(np.int64) + leaves["count"] - 1, len(segs))
    if not leaves["count"].all():
        raise WorldwrightError("a sub-sector without segs", where=where)
    for side in ("right", "left"):
        child = nodes[side].astype(np.int64)
        leaf = (child & LEAF) != 0
        within("sub-sector", child[leaf] & ~LEAF, len(leaves))
        if (child[~leaf] >= np.flatnonzero(~leaf)).any():
            raise WorldwrightError("a node that comes before its child", where=where)
