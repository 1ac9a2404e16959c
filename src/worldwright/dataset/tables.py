"""The Parquet files of a dataset, written by one writer and closed: a file without its footer is no file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from worldwright.dataset.features import COLUMNS, Column, data_schema
from worldwright.dataset.layout import DATA_MB, DATA_PATH, EPISODES_PATH, PROVENANCE_PATH, TASKS_PATH, next_file
from worldwright.errors import WorldwrightError

Array = NDArray[Any]

EPISODE_BATCH = 64
"""Episodes a row group of the tables that have a row per episode."""


class TableFiles:
    """Appends tables to numbered files, beginning a new file when one has reached ``max_bytes``. ``batch`` tables make a row group."""

    def __init__(self, root: Path, pattern: str, *, batch: int = 1, max_bytes: int = DATA_MB << 20) -> None:
        self._root, self._pattern, self._batch, self._max_bytes = root, pattern, batch, max_bytes
        self._place = (0, 0)
        self._sink: Any = None
        self._writer: pq.ParquetWriter | None = None
        self._schema: pa.Schema | None = None
        self._waiting: list[pa.Table] = []
        self.total_bytes = 0

    def place(self) -> tuple[int, int]:
        """(chunk, file) that the next table goes to."""
        if not self._waiting and self._sink is not None and self._sink.tell() >= self._max_bytes:
            self.close()
            self._place = next_file(*self._place)
        return self._place

    def append(self, table: pa.Table) -> tuple[int, int]:
        """Add a table; where it goes."""
        place = self.place()
        self._schema = self._schema or table.schema
        self._waiting.append(table.select(self._schema.names).cast(self._schema))
        if len(self._waiting) >= self._batch:
            self._flush()
        return place

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._writer is None:
            path = self._root / self._pattern.format(chunk_index=self._place[0], file_index=self._place[1])
            path.parent.mkdir(parents=True, exist_ok=True)
            self._sink = path.open("wb")
            self._writer = pq.ParquetWriter(self._sink, self._schema, compression="snappy", use_dictionary=True)
        table = pa.concat_tables(self._waiting)
        self._writer.write_table(table, row_group_size=len(table))
        self._waiting = []

    def close(self) -> None:
        """Write what waits and the footer, and close the file."""
        self._flush()
        if self._writer is not None:
            self._writer.close()
            self.total_bytes += self._sink.tell()
            self._sink.close()
            self._writer = self._sink = None


def data_files(root: Path) -> TableFiles:
    """The writer of ``data/``."""
    return TableFiles(root, DATA_PATH)


def provenance_file(root: Path) -> TableFiles:
    """The writer of ``meta/provenance.parquet``: one file, however large."""
    return TableFiles(root, PROVENANCE_PATH, batch=EPISODE_BATCH, max_bytes=1 << 62)


def episode_files(root: Path) -> TableFiles:
    """The writer of ``meta/episodes/``."""
    return TableFiles(root, EPISODES_PATH, batch=EPISODE_BATCH)


def data_table(columns: Mapping[str, Array]) -> pa.Table:
    """Rows of an episode as a table with the schema of the data files. Vectors are [N, size]."""
    return pa.table([_arrow(column, columns[column.name]) for column in COLUMNS], schema=data_schema())


def _arrow(column: Column, values: Array) -> pa.Array:
    flat = np.ascontiguousarray(values, dtype=column.dtype)
    if column.size == 1:
        return pa.array(flat)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), column.size)


def one_row(row: Mapping[str, Any]) -> pa.Table:
    """A table of one row, its types inferred. By way of one struct: pyarrow looks for pandas anew for every array that it makes."""
    return pa.Table.from_struct_array(pa.array([dict(row)]))


def column_values(table: pa.Table, name: str) -> Array:
    """A column as an array [N] or [N, size]."""
    column = table.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    if pa.types.is_fixed_size_list(column.type):
        return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(table), -1)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def write_tasks(root: Path, tasks: Sequence[str]) -> None:
    """``tasks.parquet``: pandas' form of a frame whose index is the task's text and whose column is its number."""
    pandas = {
        "index_columns": ["task"],
        "column_indexes": [
            {"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "object", "metadata": {"encoding": "UTF-8"}}
        ],
        "columns": [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
            {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object", "metadata": None},
        ],
        "attributes": {},
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.3",
    }
    table = pa.table({"task_index": pa.array(range(len(tasks)), pa.int64()), "task": pa.array(list(tasks), pa.string())})
    path = root / TASKS_PATH
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(pandas).encode()}), path)


def read_column(root: Path, name: str) -> Array:
    """One column of all data files, in order. Raises WorldwrightError for a file that is none, lacks it, or has another type there."""
    kind = next(column.arrow() for column in COLUMNS if column.name == name)
    parts = []
    for path in sorted((root / "data").glob("chunk-*/file-*.parquet")):
        try:
            table = pq.read_table(path, columns=[name])
        except (pa.ArrowException, OSError) as error:
            raise WorldwrightError(f"not a readable table ({error})", where=str(path), fix="pack again") from error
        if table.column_names != [name] or table.schema.field(name).type != kind or table.column(name).null_count:
            raise WorldwrightError("is missing, empty or of another type", where=f"{path}: {name}", fix="pack again")
        parts.append(column_values(table, name))
    if not parts:
        raise WorldwrightError("holds no table", where=str(root / "data"), fix="pack again")
    return np.concatenate(parts)
