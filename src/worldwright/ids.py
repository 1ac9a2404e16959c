"""Content ids: the same request has the same id, always, everywhere."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no white space and no NaN: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def content_id(value: Any) -> str:
    """BLAKE2b-128 of the canonical JSON of ``value``, as 32 hex digits."""
    return hashlib.blake2b(canonical_json(value).encode(), digest_size=16).hexdigest()


def hash_bytes(data: bytes | memoryview) -> str:
    """BLAKE2b-128 of bytes, as 32 hex digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def hash_file(path: Path) -> str:
    """BLAKE2b-128 of a file's bytes, read in pieces, as 32 hex digits."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
