"""Baked light kept between processes: rendering a shot, verifying it and rendering the next one open the same world again and again.

A file a world and light in ``$WORLDWRIGHT_CACHE`` (else ``worldwright/light`` in the user's cache folder; set it empty to keep nothing). It may be
deleted at any time: what is not there, or is damaged, is baked again, to the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numcodecs import zstd
from numpy.typing import NDArray

CACHE_VARIABLE = "WORLDWRIGHT_CACHE"
MOST_FILES = 64
"""Enough for every look over a few worlds; a file is some megabytes."""
MOST_BYTES = 1 << 28
"""Largest volume that is kept, before compression."""
_MAGIC = b"WWLIGHT1"
_DIGEST = 16


@dataclass(frozen=True)
class Baked:
    """``light`` and ``side`` [z, y, x, 4] float16; ``low`` [3] metres is the centre of the first texel, ``spacing`` metres between two."""

    low: NDArray[np.float64]
    spacing: float
    light: NDArray[np.float16]
    side: NDArray[np.float16]


def key_of(*parts: str | NDArray[Any]) -> str:
    """A name for what is baked from these."""
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        data = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.hexdigest()


def folder() -> Path | None:
    """Where the files are; None when none are kept."""
    named = os.environ.get(CACHE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(home) if home else Path.home() / ".cache") / "worldwright" / "light"
    except RuntimeError:  # a user without a home
        return None


def load(key: str) -> Baked | None:
    """What was saved under this key; None when there is nothing whole."""
    place = folder()
    if place is None:
        return None
    try:
        data = (place / key).read_bytes()
        content = data[:-_DIGEST]
        if not data.startswith(_MAGIC) or hashlib.blake2b(content, digest_size=_DIGEST).digest() != data[-_DIGEST:]:
            return None
        length = struct.unpack_from("<I", content, len(_MAGIC))[0]
        start = len(_MAGIC) + 4
        head = json.loads(content[start : start + length])
        shape = (2, *(int(n) for n in head["shape"]), 4)
        values = np.frombuffer(zstd.decompress(content[start + length :]), "<f2").reshape(shape)
        os.utime(place / key)
    except (OSError, ValueError, KeyError, TypeError, struct.error, RuntimeError):
        return None
    return Baked(np.array(head["low"], dtype=np.float64), float(head["spacing"]), values[0], values[1])


def save(key: str, baked: Baked) -> None:
    """Keep it for later. A full disk or a folder that cannot be written is no error: nothing is kept then."""
    place = folder()
    if place is None or baked.light.nbytes > MOST_BYTES:
        return
    head = json.dumps({"shape": baked.light.shape[:3], "low": baked.low.tolist(), "spacing": baked.spacing}).encode()
    values = np.stack([baked.light, baked.side]).astype("<f2").tobytes()
    content = _MAGIC + struct.pack("<I", len(head)) + head + zstd.compress(values, 1)
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place, prefix=".part-", delete=False) as file:
            try:
                file.write(content + hashlib.blake2b(content, digest_size=_DIGEST).digest())
                file.close()
                Path(file.name).replace(place / key)
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise
        _drop_oldest(place)


def _drop_oldest(place: Path) -> None:
    files = [(path.stat().st_mtime_ns, path) for path in place.iterdir() if path.is_file()]
    for _, path in sorted(files)[:-MOST_FILES]:
        path.unlink(missing_ok=True)
