"""A pass on disk: a Zarr v3 array, lossless, a chunk a frame, a shard a segment.

zarr-python wants a whole shard in memory to write it (64 frames of seven 720p passes are a gigabyte), so shards are written here, a
frame at a time, in the layout of Zarr's ``sharding_indexed`` codec: the chunks one after another, then an index of (offset, bytes) a
chunk in uint64, then the index's CRC-32C. The arrays' metadata is zarr-python's own, and so is every reader.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numcodecs import blosc
from numpy.typing import NDArray
from zarr.codecs import BloscCodec

from worldwright.errors import WorldwrightError
from worldwright.render.passes import PassInfo

STORE = "passes.zarr"
BLOCK = 1 << 20
"""Blosc's block. Measured on 720p planes: against its own choice of 64 to 256 kB, 10 to 30 % less CPU time and up to 70 % smaller."""
_MISSING = 2**64 - 1
ALLOWED_CODECS = {"bytes", "blosc", "zstd", "gzip", "crc32c", "transpose", "sharding_indexed"}
"""The codecs of Zarr's core: what a foreign shot may use."""


def plane_shape(info: PassInfo, height: int, width: int) -> tuple[int, ...]:
    """The shape of one frame of a pass."""
    return (height, width) if info.channels == 1 else (height, width, info.channels)


def _pixel_bytes(info: PassInfo) -> int:
    """What bytes are shuffled by: a pixel, so that like bytes of like channels meet (flow gets 3.6 times smaller than by component)."""
    return info.channels * np.dtype(info.dtype).itemsize


def create_store(
    folder: Path,
    infos: list[PassInfo],
    frames: int,
    height: int,
    width: int,
    segment: int,
    attributes: dict[str, Any],
    declared: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write the metadata of ``folder/passes.zarr``: a group with an array [frame, height, width(, channel)] per pass. ``declared`` are
    attributes by pass beside the conventions' (``declared.py``)."""
    group = zarr.create_group(store=folder / STORE, zarr_format=3, attributes=attributes, overwrite=False)
    for info in infos:
        shape = plane_shape(info, height, width)
        group.create_array(
            info.name,
            shape=(frames, *shape),
            chunks=(1, *shape),
            shards=(segment, *shape),
            dtype=info.dtype,
            fill_value=0,
            compressors=BloscCodec(typesize=_pixel_bytes(info), cname="zstd", clevel=1, shuffle="shuffle", blocksize=BLOCK),
            attributes=info.attributes() | dict(declared.get(info.name, {})),
            dimension_names=["frame", "height", "width", "channel"][: 1 + len(shape)],
        )


def shard_path(folder: Path, info: PassInfo, segment_index: int) -> Path:
    """Where zarr looks for a shard."""
    return folder / STORE / info.name / "c" / "/".join([str(segment_index)] + ["0"] * (2 if info.channels == 1 else 3))


class ShardWriter:
    """Writes one shard of ``capacity`` frames, of which the first ones may be all there are."""

    def __init__(self, path: Path, info: PassInfo, capacity: int, shape: tuple[int, ...]) -> None:
        self.path, self._info, self._capacity, self._shape = path, info, capacity, shape
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)
        self._hash = hashlib.blake2b(digest_size=16)
        self._index: list[tuple[int, int]] = []
        self._size = 0

    def add(self, plane: NDArray[Any]) -> None:
        """Append the next frame, as stored: little-endian, C order."""
        if plane.shape != self._shape or plane.dtype != np.dtype(self._info.dtype):
            raise WorldwrightError(
                f"a picture of {plane.dtype} {plane.shape}, expected {self._info.dtype} {self._shape}",
                where=f"pass {self._info.name}",
            )
        pixels = np.ascontiguousarray(plane).view(f"V{_pixel_bytes(self._info)}")  # numcodecs takes the type size from the array
        chunk = blosc.compress(pixels, b"zstd", 1, blosc.SHUFFLE, BLOCK)
        self._index.append((self._size, len(chunk)))
        self._write(chunk)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        self._hash.update(data)
        self._size += len(data)

    def close(self) -> dict[str, Any]:
        """Write the index; the shard's manifest entry."""
        rows = self._index + [(_MISSING, _MISSING)] * (self._capacity - len(self._index))
        index = b"".join(struct.pack("<QQ", *row) for row in rows)
        self._write(index + struct.pack("<I", google_crc32c.value(index)))
        self._file.close()
        return {"bytes": self._size, "hash": self._hash.hexdigest()}

    def abort(self) -> None:
        """Close without an index."""
        self._file.close()


def open_store(folder: Path, infos: list[PassInfo], frames: int, height: int, width: int) -> dict[str, zarr.Array[Any]]:
    """The arrays of a shot, checked against what shot.json says: type, shape, a chunk a frame, codecs of Zarr's core."""
    where = str(folder / STORE)
    try:
        group = zarr.open_group(store=folder / STORE, mode="r", zarr_format=3)
        arrays = {info.name: group[info.name] for info in infos}
    except Exception as error:  # zarr raises many kinds for metadata that is not as it should be
        raise WorldwrightError(
            f"not a readable Zarr v3 group ({type(error).__name__}: {error})", where=where, fix="render the shot again"
        ) from error
    found: dict[str, zarr.Array[Any]] = {}
    for info in infos:
        array, shape = arrays[info.name], plane_shape(info, height, width)
        if not isinstance(array, zarr.Array) or array.dtype != np.dtype(info.dtype) or array.shape != (frames, *shape):
            got = f"{array.dtype} {array.shape}" if isinstance(array, zarr.Array) else "a group"
            raise WorldwrightError(f"{got}, expected {info.dtype} {(frames, *shape)}", where=f"{where}/{info.name}")
        if array.chunks != (1, *shape):
            raise WorldwrightError(f"chunks {array.chunks}, expected a chunk a frame {(1, *shape)}", where=f"{where}/{info.name}")
        if odd := sorted(_codec_names(array.metadata.to_dict().get("codecs", ())) - ALLOWED_CODECS):
            raise WorldwrightError(
                f"codecs {odd} are not of Zarr's core", where=f"{where}/{info.name}", fix=f"use {sorted(ALLOWED_CODECS)}"
            )
        found[info.name] = array
    return found


def _codec_names(codecs: Any) -> set[str]:
    names: set[str] = set()
    for codec in codecs:
        names.add(str(codec["name"]))
        names |= _codec_names(codec.get("configuration", {}).get("codecs", ()))
    return names
