"""What a dataset says of itself, read as untrusted input: limits, types and ranges are checked before anything is believed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from worldwright.dataset.codecs import CODECS
from worldwright.dataset.features import COLUMNS, DEPTH_KEY, RGB_KEY
from worldwright.dataset.layout import (
    DATA_PATH,
    INFO_PATH,
    OWN_PATH,
    PROVENANCE_PATH,
    TASKS_PATH,
    VIDEO_PATH,
    compact_stem,
    master_path,
)
from worldwright.errors import WorldwrightError
from worldwright.outputs import read_manifest
from worldwright.render.passes import PASSES

MAX_JSON_BYTES = 64 << 20
MAX_ROWS = 1_000_000_000
MAX_EPISODES = 1_000_000

Side = Annotated[int, Field(ge=2, le=16384)]
Text = Annotated[str, Field(max_length=4000)]


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class LeRobotInfo(_Loose):
    """The part of ``info.json`` that reading rests on."""

    codebase_version: Literal["v3.0"]
    total_episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES)]
    total_frames: Annotated[int, Field(ge=1, le=MAX_ROWS)]
    total_tasks: Annotated[int, Field(ge=1, le=MAX_EPISODES)]
    fps: Annotated[int, Field(ge=1, le=1000)]
    data_path: Literal["data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"]
    video_path: Literal["videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"]
    features: Annotated[dict[str, dict[str, Any]], Field(max_length=256)]


class OwnInfo(_Loose):
    """The part of ``worldwright.json`` that reading rests on."""

    format: Literal["worldwright.dataset/1"]
    name: Text
    tier: Literal["master", "compact", "both"]
    width: Side
    height: Side
    fps: Annotated[int, Field(ge=1, le=1000)]
    passes: Annotated[dict[str, dict[str, Any]], Field(max_length=16)]


@dataclass(frozen=True, slots=True)
class VideoPlace:
    """An episode's frames in a video file: from ``first_frame`` on."""

    path: str
    first_frame: int


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode: its rows [first_row, first_row + length) of the dataset and where its pictures are. Paths are below the root."""

    index: int
    length: int
    task: str
    first_row: int
    data_path: str
    row_group: int
    rgb: VideoPlace
    depth: VideoPlace | None
    codecs: dict[str, str]
    rows_hash: str
    store_hash: str
    world_hash: str

    def compact_file(self, name: str) -> str:
        """The video of a pass other than depth."""
        suffix = "mkv" if CODECS[name, self.codecs[name]].encoder == "ffv1" else "mp4"
        return f"{compact_stem(self.index, name)}.{suffix}"

    @property
    def master(self) -> str:
        """The folder of its Zarr group."""
        return master_path(self.index)


@dataclass(frozen=True, slots=True)
class Index:
    """A dataset's metadata."""

    root: Path
    info: LeRobotInfo
    own: OwnInfo
    episodes: tuple[Episode, ...]
    tasks: tuple[str, ...]

    @property
    def passes(self) -> tuple[str, ...]:
        """What can be asked for, rgb first."""
        return ("rgb", *(name for name in PASSES if name in self.own.passes))


def read_json(path: Path) -> Any:
    """A JSON document of bounded size."""
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            raise WorldwrightError("no such file", where=str(path), fix="pack again")
        if path.stat().st_size > MAX_JSON_BYTES:
            raise WorldwrightError(f"larger than {MAX_JSON_BYTES} bytes", where=str(path))
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise WorldwrightError(f"unreadable ({error})", where=str(path), fix="pack again") from error


Model = TypeVar("Model", bound=BaseModel)


def _model(kind: type[Model], path: Path) -> Model:
    try:
        return kind.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "document"
        raise WorldwrightError(first["msg"], where=f"{path}: {field}", fix="pack again") from error


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A Parquet table, or one clear error. A file that claims more rows than a dataset may have is refused before it is read."""
    try:
        file = pq.ParquetFile(path)
        if file.metadata.num_rows > MAX_ROWS:
            raise WorldwrightError(f"claims {file.metadata.num_rows} rows", where=str(path))
        table = file.read(columns=columns)
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError) as error:
        raise WorldwrightError(f"not a readable table ({error})", where=str(path), fix="pack again") from error


def _texts(path: Path) -> tuple[str, ...]:
    table = read_table(path)
    if set(table.column_names) != {"task", "task_index"} or table.column("task_index").to_pylist() != list(range(len(table))):
        raise WorldwrightError("tasks are not numbered 0, 1, 2, ...", where=str(path), fix="pack again")
    return tuple(str(task) for task in table.column("task").to_pylist())


def load_index(root: Path) -> Index:
    """Read a dataset's metadata and check that it makes sense: versions, counts, contiguous rows, files inside the folder and there.

    Raises WorldwrightError, naming file, field or episode. The rows and pictures themselves are not read.
    """
    read_manifest(root, "dataset")
    info = _model(LeRobotInfo, root / INFO_PATH)
    own = _model(OwnInfo, root / OWN_PATH)
    if info.fps != own.fps:
        raise WorldwrightError(f"fps is {info.fps} in {INFO_PATH} and {own.fps} in {OWN_PATH}", where=str(root), fix="pack again")
    if unknown := sorted(set(own.passes) - set(PASSES)):
        raise WorldwrightError(f"unknown passes {unknown}", where=str(root / OWN_PATH))
    for column in COLUMNS:
        if info.features.get(column.name) != column.feature():
            raise WorldwrightError(
                f"is {info.features.get(column.name)}, expected {column.feature()}",
                where=f"{root / INFO_PATH}: features.{column.name}",
            )
    tasks = _texts(root / TASKS_PATH)
    if len(tasks) != info.total_tasks:
        raise WorldwrightError(f"{len(tasks)} tasks, total_tasks is {info.total_tasks}", where=str(root / TASKS_PATH))
    return Index(root, info, own, _episodes(root, info, own), tasks)


def _columns(root: Path, info: LeRobotInfo) -> dict[str, list[Any]]:
    keys = [key for key in (RGB_KEY, DEPTH_KEY) if key in info.features]
    wanted = ["episode_index", "tasks", "length", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index"]
    wanted += [f"videos/{key}/{part}" for key in keys for part in ("chunk_index", "file_index", "from_timestamp", "to_timestamp")]
    out: dict[str, list[Any]] = {name: [] for name in wanted}
    for path in sorted((root / "meta/episodes").glob("chunk-*/file-*.parquet")):
        table = pick_columns(path, wanted)
        for name in wanted:
            out[name] += table.column(name).to_pylist()
    found = len(out["episode_index"])
    if out["episode_index"] != list(range(info.total_episodes)):
        raise WorldwrightError(
            f"{found} episodes, not 0 to {info.total_episodes - 1} in order", where=str(root / "meta/episodes"), fix="pack again"
        )
    return out


def pick_columns(path: Path, wanted: list[str]) -> pa.Table:
    """These columns of a table, without empty cells, or one clear error."""
    try:
        missing = sorted(set(wanted) - set(pq.read_schema(path).names))
    except (pa.ArrowException, OSError) as error:
        raise WorldwrightError(f"not a readable table ({error})", where=str(path), fix="pack again") from error
    if missing:
        raise WorldwrightError(f"has no columns {missing}", where=str(path), fix="pack again")
    table = read_table(path, wanted)
    for name in wanted:
        if table.column(name).null_count:
            raise WorldwrightError("has empty cells", where=f"{path}: {name}", fix="pack again")
    return table


def _episodes(root: Path, info: LeRobotInfo, own: OwnInfo) -> tuple[Episode, ...]:
    columns = _columns(root, info)
    facts = pick_columns(root / PROVENANCE_PATH, ["episode_index", "codecs", "rows_hash", "store_hash", "world_hash"])
    if facts.column("episode_index").to_pylist() != list(range(info.total_episodes)):
        raise WorldwrightError("episodes are not those of meta/episodes", where=str(root / PROVENANCE_PATH), fix="pack again")
    episodes: list[Episode] = []
    groups: dict[str, int] = {}
    row = 0
    for i in range(info.total_episodes):
        where = f"{root}: episode {i}"
        length = _natural(columns["length"][i], where, "length")
        if length == 0 or (columns["dataset_from_index"][i], columns["dataset_to_index"][i]) != (row, row + length):
            raise WorldwrightError(f"its rows do not follow those before it, from {row} on", where=where, fix="pack again")
        data = DATA_PATH.format(**_place(columns, "data", i, where))
        codecs = _codecs(str(facts.column("codecs")[i].as_py()), own, where)
        depth = _video(columns, DEPTH_KEY, i, info.fps, where) if DEPTH_KEY in info.features else None
        if "depth" in codecs and depth is None:
            raise WorldwrightError(f"has compact depth, but {INFO_PATH} has no {DEPTH_KEY}", where=where, fix="pack again")
        tasks = columns["tasks"][i]
        episodes.append(
            Episode(
                i,
                length,
                str(tasks[0]) if tasks else "",
                row,
                data,
                groups.get(data, 0),
                _video(columns, RGB_KEY, i, info.fps, where),
                depth,
                codecs,
                str(facts.column("rows_hash")[i].as_py()),
                str(facts.column("store_hash")[i].as_py()),
                str(facts.column("world_hash")[i].as_py()),
            )
        )
        groups[data] = groups.get(data, 0) + 1
        row += length
    if row != info.total_frames:
        raise WorldwrightError(f"{row} frames, total_frames is {info.total_frames}", where=str(root / INFO_PATH), fix="pack again")
    return tuple(episodes)


def _codecs(text: str, own: OwnInfo, where: str) -> dict[str, str]:
    try:
        codecs = json.loads(text)
    except (ValueError, RecursionError):
        codecs = None
    want = set(own.passes) if own.tier != "master" else set()
    if (
        not isinstance(codecs, dict)
        or set(codecs) != want
        or any((name, str(codec)) not in CODECS for name, codec in codecs.items())
    ):
        raise WorldwrightError(f"its codecs {text[:200]!r} are not those of the {own.tier} tier", where=where, fix="pack again")
    return codecs


def _natural(value: Any, where: str, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_ROWS:
        raise WorldwrightError(f"{what} is {value!r}", where=where, fix="pack again")
    return value


def _place(columns: dict[str, list[Any]], prefix: str, i: int, where: str) -> dict[str, int]:
    return {part: _natural(columns[f"{prefix}/{part}"][i], where, f"{prefix}/{part}") for part in ("chunk_index", "file_index")}


def _video(columns: dict[str, list[Any]], key: str, i: int, fps: int, where: str) -> VideoPlace:
    prefix = f"videos/{key}"
    place = _place(columns, prefix, i, where)
    start, end, length = columns[f"{prefix}/from_timestamp"][i], columns[f"{prefix}/to_timestamp"][i], columns["length"][i]
    if not isinstance(start, float) or not np.isfinite(start) or start < 0:
        raise WorldwrightError(f"{prefix}/from_timestamp is {start!r}", where=where, fix="pack again")
    first = round(start * fps)
    if abs(first / fps - start) > 1e-6 or abs((first + length) / fps - end) > 1e-6:
        raise WorldwrightError(
            f"{prefix} from {start} to {end} s are not {length} frames at {fps} Hz", where=where, fix="pack again"
        )
    return VideoPlace(VIDEO_PATH.format(video_key=key, **place), first)


def episode_rows(root: Path, episode: Episode) -> dict[str, NDArray[Any]]:
    """All columns of an episode's rows, vectors as [length, size], checked against what the index says of them."""
    from worldwright.dataset.tables import column_values

    path = root / episode.data_path
    try:
        file = pq.ParquetFile(path)
        if (
            episode.row_group >= file.metadata.num_row_groups
            or file.metadata.row_group(episode.row_group).num_rows != episode.length
        ):
            raise WorldwrightError(
                f"row group {episode.row_group} is not episode {episode.index}", where=str(path), fix="pack again"
            )
        table = file.read_row_group(episode.row_group)
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise WorldwrightError(f"not a readable table ({error})", where=str(path), fix="pack again") from error
    for column in COLUMNS:
        if column.name not in table.column_names or table.schema.field(column.name).type != column.arrow():
            raise WorldwrightError("is missing or of another type", where=f"{path}: {column.name}", fix="pack again")
        if table.column(column.name).null_count:
            raise WorldwrightError("has empty cells", where=f"{path}: {column.name}", fix="pack again")
    return {column.name: column_values(table, column.name) for column in COLUMNS}
