"""What a thing's number in a map stands for: class names, sizes and kinds, read from the definitions that come with ViZDoom.

The definitions are ZDoom's DECORATE and MAPINFO texts inside ``vizdoom.pk3``, a ZIP. Only what is asked for is read from them.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from worldwright.errors import WorldwrightError

MAX_TEXT = 4 << 20
_FOLDERS = ("actors/actor.txt", "actors/shared/", "actors/doom/")
_NUMBERS = "mapinfo/doomitems.txt"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ACTOR = re.compile(r"(?im)^\s*actor\s+(\w+)(?:\s*:\s*(\w+))?[^{]*\{")
_NUMBER = re.compile(r"(?m)^\s*(\d+)\s*=\s*(\w+)")
_ITEMS = ("doomammo", "doomarmor", "doomartifacts", "doomhealth", "doomkeys", "doomweapons")


@dataclass(frozen=True, slots=True)
class Actor:
    """A class of things. ``radius`` and ``height`` in map units; ``kind`` is monster, item, barrel or decoration."""

    name: str
    radius: float
    height: float
    kind: str
    hangs: bool
    """From the ceiling."""


def read_actors(pk3: Path) -> dict[int, Actor]:
    """Thing number to actor, of those that Doom's maps are furnished with (no starts, no teleport destinations).

    Raises:
        WorldwrightError: no such file, or not ViZDoom's.
    """
    try:
        with zipfile.ZipFile(pk3) as archive:
            names = [i.filename for i in archive.infolist() if i.filename.startswith(_FOLDERS) and i.filename.endswith(".txt")]
            texts = {name: _read(archive, name) for name in names}
            numbers = _read(archive, _NUMBERS)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise WorldwrightError(f"cannot be read ({error})", where=str(pk3), fix="install vizdoom again") from error
    bodies: dict[str, tuple[str, str, str, str]] = {}
    for path, text in texts.items():
        for name, parent, body in _actors(text):
            bodies[name.lower()] = (name, parent.lower() or "actor", body, Path(path).stem)
    return {int(number): _actor(name, bodies) for number, name in _NUMBER.findall(numbers) if name.lower() in bodies}


def _read(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > MAX_TEXT:
        raise WorldwrightError(f"is larger than {MAX_TEXT} bytes", where=name)
    return _COMMENT.sub("", archive.read(name).decode("latin-1"))


def _actors(text: str) -> list[tuple[str, str, str]]:
    """Name, parent and body (up to its states) of each actor of a text."""
    found = list(_ACTOR.finditer(text))
    ends = [*(m.start() for m in found), len(text)][1:]
    return [(m[1], m[2] or "", re.split(r"(?i)\bstates\b", text[m.end() : end])[0]) for m, end in zip(found, ends, strict=True)]


def _actor(name: str, bodies: dict[str, tuple[str, str, str, str]]) -> Actor:
    chain: list[tuple[str, str, str, str]] = []
    key = name.lower()
    while key in bodies and len(chain) < 32:
        chain.append(bodies[key])
        key = bodies[key][1] if bodies[key][1] != key else ""

    def number(field: str) -> float:
        values = (re.search(rf"(?im)^\s*{field}\s+([\d.]+)", body) for _, _, body, _ in chain)
        return next((float(m[1]) for m in values if m), 0.0)

    def has(word: str) -> bool:
        return any(re.search(rf"(?im)^\s*{word}\s*$", body) for _, _, body, _ in chain)

    files = {stem for _, _, _, stem in chain}
    if has("monster"):
        kind = "monster"
    elif files & set(_ITEMS):
        kind = "item"
    else:
        kind = "barrel" if "barrel" in name.lower() else "decoration"
    return Actor(chain[0][0], max(number("radius"), 1.0), max(number("height"), 1.0), kind, has(r"\+spawnceiling"))
