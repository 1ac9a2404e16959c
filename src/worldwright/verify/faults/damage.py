"""Damaged files. They are not sealed again: damage is what hashes are for."""

from __future__ import annotations

from typing import Any

from worldwright.verify.faults.registry import Rng, fault
from worldwright.verify.workshop import Workshop


def _some_file(shop: Workshop, rng: Rng) -> Any:
    files = [p for p in shop.shards() if p.stat().st_size]
    return files[int(rng.integers(len(files)))]


@fault("truncated", sealed=False)
def _truncated(shop: Workshop, rng: Rng) -> str | None:
    path = _some_file(shop, rng)
    data = path.read_bytes()
    length = int(rng.integers(len(data)))
    path.unlink()
    path.write_bytes(data[:length])
    return f"{path.name} cut to {length} of {len(data)} bytes"


@fault("bit_flipped", sealed=False)
def _bit(shop: Workshop, rng: Rng) -> str | None:
    path = _some_file(shop, rng)
    data = bytearray(path.read_bytes())
    at, bit = int(rng.integers(len(data))), int(rng.integers(8))
    data[at] ^= 1 << bit
    path.unlink()
    path.write_bytes(bytes(data))
    return f"{path.name}: bit {bit} of byte {at} flipped"


@fault("file_missing", sealed=False)
def _missing(shop: Workshop, rng: Rng) -> str | None:
    path = _some_file(shop, rng)
    path.unlink()
    return f"{path.name} removed"


@fault("shard_missing")
def _shard_missing(shop: Workshop, rng: Rng) -> str | None:
    names = sorted(shop.info.passes)
    if not names:
        return None
    name = names[int(rng.integers(len(names)))]
    if not shop.read(name).any():
        return None
    for path in (shop.folder / "passes.zarr" / name / "c").rglob("*"):
        if path.is_file():
            path.unlink()
    return f"{name}: its shards removed, and sealed: it reads as zeros"
