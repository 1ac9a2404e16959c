"""frames.parquet: a row per frame of a shot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES
from worldwright.errors import WorldwrightError

F64 = NDArray[np.float64]
F32 = NDArray[np.float32]

_VECTORS: dict[str, tuple[Any, str, tuple[int, ...]]] = {
    "c2w": (pa.float64(), "f8", (4, 4)),
    "K": (pa.float64(), "f8", (3, 3)),
    "next_c2w": (pa.float64(), "f8", (4, 4)),
    "next_K": (pa.float64(), "f8", (3, 3)),
    "action": (pa.float32(), "f4", (len(ACTION_NAMES),)),
    "effective": (pa.float32(), "f4", (len(EFFECT_NAMES),)),
    "character_position": (pa.float64(), "f8", (3,)),
    "character_velocity": (pa.float64(), "f8", (3,)),
}
_SCALARS: dict[str, tuple[Any, str]] = {
    "frame": (pa.int32(), "i4"),
    "tick": (pa.int64(), "i8"),
    "t_ns": (pa.int64(), "i8"),
    "near": (pa.float64(), "f8"),
    "far": (pa.float64(), "f8"),
    "flags": (pa.uint32(), "u4"),
    "character_yaw": (pa.float64(), "f8"),
    "character_pitch": (pa.float64(), "f8"),
    "ground": (pa.int32(), "i4"),
}
MAX_CLIP_NAME = 256


@dataclass(frozen=True, slots=True)
class FrameRow:
    """One frame. ``frame`` counts from 0 in the shot; ``tick`` = (first_frame + frame) * frame_ticks is the take's.

    ``c2w`` [4, 4] and ``K`` [3, 3] are the camera at the frame's instant, ``next_c2w`` and ``next_K`` at the next frame's (flow needs
    them; they are there for the last row too). ``action`` [10] is what was held from this frame to the next, ``effective`` [5] what it
    did, ``flags`` what held between the two (``controls.Flag``). The character is the played one, at this frame's instant:
    ``character_position`` [3] metres between the feet, yaw and pitch in radians, ``character_velocity`` [3] m/s, the ``clip`` it plays
    and the entity it stands on (``ground``, 0 in the air). ``near`` and ``far`` are the depth pass's range in metres.
    """

    frame: int
    tick: int
    t_ns: int
    c2w: F64
    K: F64
    next_c2w: F64
    next_K: F64  # noqa: N815
    near: float
    far: float
    action: F32
    effective: F32
    flags: int
    character_position: F64
    character_yaw: float
    character_pitch: float
    character_velocity: F64
    clip: str
    ground: int


@dataclass(frozen=True, slots=True)
class FrameRows:
    """All rows of a shot as columns: those of ``FrameRow`` with the frames [N] in front (``c2w`` [N, 4, 4] and so on)."""

    frame: NDArray[np.int32]
    tick: NDArray[np.int64]
    t_ns: NDArray[np.int64]
    c2w: F64
    K: F64
    next_c2w: F64
    next_K: F64  # noqa: N815
    near: F64
    far: F64
    action: F32
    effective: F32
    flags: NDArray[np.uint32]
    character_position: F64
    character_yaw: F64
    character_pitch: F64
    character_velocity: F64
    clip: tuple[str, ...]
    ground: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.frame)


def _field(name: str) -> pa.Field:
    if name == "clip":
        return pa.field(name, pa.string(), nullable=False)
    if name in _SCALARS:
        return pa.field(name, _SCALARS[name][0], nullable=False)
    kind, _, shape = _VECTORS[name]
    return pa.field(name, pa.list_(pa.field("element", kind, nullable=False), int(np.prod(shape))), nullable=False)


SCHEMA = pa.schema([_field(f.name) for f in fields(FrameRow)], metadata={"format": "worldwright.frames/1"})
"""Matrices are fixed-size lists, row by row."""


def _column(name: str, values: Sequence[Any] | NDArray[Any]) -> pa.Array:
    kind = SCHEMA.field(name).type
    if name == "clip":
        return pa.array(list(values), kind)
    if name in _SCALARS:
        return pa.array(np.asarray(values, dtype=_SCALARS[name][1]), kind)
    _, dtype, shape = _VECTORS[name]
    flat = np.ascontiguousarray(values, dtype=dtype)
    if flat.shape[1:] != shape:
        raise WorldwrightError(f"shape {flat.shape[1:]}, expected {shape}", where=f"frames.parquet: {name}")
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), type=kind)


def write_rows(path: Path, rows: Sequence[FrameRow] | FrameRows) -> None:
    """Write a table with these rows."""
    columns = {
        f.name: getattr(rows, f.name) if isinstance(rows, FrameRows) else [getattr(row, f.name) for row in rows]
        for f in fields(FrameRow)
    }
    table = pa.table([_column(name, values) for name, values in columns.items()], schema=SCHEMA)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")


def join_rows(parts: Sequence[Path], out: Path) -> None:
    """Write the tables one after another into one, a row group each, with one of them in memory at a time."""
    with pq.ParquetWriter(out, SCHEMA, compression="zstd") as writer:
        for part in parts:
            writer.write_table(pq.read_table(part, schema=SCHEMA))


def _tables(path: Path, expected: int) -> Iterator[pa.Table]:
    file = pq.ParquetFile(path)
    if file.metadata.num_rows != expected:
        raise WorldwrightError(
            f"{file.metadata.num_rows} rows, shot.json says {expected}", where=str(path), fix="render the shot again"
        )
    if not file.schema_arrow.equals(SCHEMA):
        odd = [f.name for f in SCHEMA if f.name not in file.schema_arrow.names or file.schema_arrow.field(f.name).type != f.type]
        raise WorldwrightError(
            f"not the columns of a shot (wrong or missing: {', '.join(odd) or 'extra columns'})", where=str(path)
        )
    for group in range(file.num_row_groups):
        yield file.read_row_group(group)


def read_rows(path: Path, expected: int) -> FrameRows:
    """The rows of a table that must have exactly ``expected`` of them and exactly our columns, all finite."""
    try:
        table = pa.concat_tables([SCHEMA.empty_table(), *_tables(path, expected)])
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise WorldwrightError(f"not a readable table ({error})", where=str(path), fix="render the shot again") from error
    out: dict[str, Any] = {}
    for name in SCHEMA.names:
        column = table.column(name).combine_chunks()
        if column.null_count:
            raise WorldwrightError("has empty cells", where=f"{path}: {name}")
        if name == "clip":
            out[name] = tuple(column.to_pylist())
            if any(len(clip) > MAX_CLIP_NAME for clip in out[name]):
                raise WorldwrightError(f"a name longer than {MAX_CLIP_NAME} characters", where=f"{path}: clip")
            continue
        if name in _VECTORS:
            values = column.flatten().to_numpy(zero_copy_only=False).reshape(len(table), *_VECTORS[name][2])
        else:
            values = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise WorldwrightError("is not finite", where=f"{path}: {name} of row {int(np.argwhere(~np.isfinite(values))[0][0])}")
        out[name] = values
    return FrameRows(**out)
