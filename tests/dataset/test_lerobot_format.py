"""The tree against the rules of LeRobotDataset v3, read as its own reader does, without it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from worldwright.dataset.layout import next_file
from worldwright.dataset.videos import VideoFiles
from worldwright.errors import WorldwrightError
from worldwright.render.video import VideoWriter

STATS = ["min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99"]


def load(root: Path, name: str) -> Any:
    return json.loads((root / name).read_text())


def table(root: Path, pattern: str) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in sorted(root.glob(pattern))])


def lerobot_frame(path: Path, from_timestamp: float, timestamp: np.float32) -> np.ndarray[Any, Any]:
    """LeRobot's rule: seek to the key frame at or before the time, decode on, take the nearest frame; times in float32, within 1e-4 s."""
    query = from_timestamp + float(timestamp)
    times, pictures = [], []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        container.seek(round(query / stream.time_base) - 1, backward=True, any_frame=False, stream=stream)
        for frame in container.decode(stream):
            times.append(float(frame.pts * stream.time_base))
            pictures.append(frame.to_ndarray(format="rgb24"))
            if times[-1] >= query:
                break
    apart = np.abs(np.float32(times) - np.float32(query))
    assert apart.min() <= 1e-4
    return pictures[int(apart.argmin())]


def test_info_json_has_the_fields_of_v3_and_no_others(master: Path) -> None:
    info = load(master, "meta/info.json")
    features = info.pop("features")
    assert info == {
        "codebase_version": "v3.0",
        "robot_type": "worldwright",
        "total_episodes": 3,
        "total_frames": 61,
        "total_tasks": 2,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": 24,
        "splits": {"train": "0:3"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    for name in ("timestamp", "frame_index", "episode_index", "index", "task_index"):
        assert features[name] == {"dtype": "float32" if name == "timestamp" else "int64", "shape": [1], "names": None}
    assert features["action"]["shape"] == [10]
    assert features["observation.state"]["shape"] == [8]
    assert not any("/" in name for name in features)
    rgb = features["observation.images.rgb"]
    assert (rgb["dtype"], rgb["shape"], rgb["names"]) == ("video", [36, 64, 3], ["height", "width", "channels"])
    assert rgb["info"]["video.codec"] == "h264"
    assert rgb["info"]["video.fps"] == 24
    assert rgb["info"]["is_depth_map"] is False


def test_no_other_column_than_action_is_taken_for_an_action_to_predict(master: Path) -> None:
    assert [name for name in load(master, "meta/info.json")["features"] if name.startswith("action")] == ["action"]


def test_data_columns_have_the_types_that_the_datasets_library_expects(master: Path) -> None:
    info = load(master, "meta/info.json")
    file = pq.ParquetFile(master / "data/chunk-000/file-000.parquet")
    schema = file.schema_arrow
    named = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    numbers = {name: f for name, f in info["features"].items() if f["dtype"] != "video"}
    assert schema.names == list(numbers) == list(named)
    for name, feature in numbers.items():
        value = pa.type_for_alias(feature["dtype"])
        assert schema.field(name).type == (value if feature["shape"] == [1] else pa.list_(value, feature["shape"][0]))
        kind = {"dtype": feature["dtype"], "_type": "Value"}
        assert named[name] == (
            kind if feature["shape"] == [1] else {"feature": kind, "length": feature["shape"][0], "_type": "List"}
        )
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [30, 26, 5]


def test_rows_count_on_through_the_episodes(master: Path) -> None:
    data = table(master, "data/*/*.parquet")
    assert data["index"].to_pylist() == list(range(61))
    assert data["episode_index"].to_pylist() == [0] * 30 + [1] * 26 + [2] * 5
    assert data["frame_index"].to_pylist() == [*range(30), *range(26), *range(5)]
    assert data["task_index"].to_pylist() == [0] * 30 + [1] * 26 + [0] * 5
    expected = np.concatenate([np.arange(n) / 24 for n in (30, 26, 5)]).astype(np.float32)
    np.testing.assert_array_equal(data["timestamp"].to_numpy(), expected)


def test_tasks_are_the_index_of_a_pandas_table(master: Path) -> None:
    tasks = pq.read_table(master / "meta/tasks.parquet")
    assert tasks["task"].to_pylist() == ["explore yard", "go somewhere in yard and come back the same way"]
    assert tasks["task_index"].to_pylist() == [0, 1]
    pandas = json.loads(tasks.schema.metadata[b"pandas"])
    assert pandas["index_columns"] == ["task"]
    assert {column["field_name"] for column in pandas["columns"]} == {"task", "task_index"}


@pytest.mark.parametrize("tier", ["master", "compact"])
def test_episodes_have_every_column_of_v3(tier: str, master: Path, compact: Path) -> None:
    root = {"master": master, "compact": compact}[tier]
    info = load(root, "meta/info.json")
    episodes = table(root, "meta/episodes/*/*.parquet")
    videos = [name for name, f in info["features"].items() if f["dtype"] == "video"]
    assert len(videos) == (1 if tier == "master" else 2)
    wanted = {"episode_index", "tasks", "length", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index"}
    wanted |= {"meta/episodes/chunk_index", "meta/episodes/file_index"}
    wanted |= {f"videos/{key}/{part}" for key in videos for part in ("chunk_index", "file_index", "from_timestamp", "to_timestamp")}
    wanted |= {f"stats/{name}/{part}" for name in info["features"] for part in STATS}
    assert set(episodes.column_names) == wanted
    assert episodes["tasks"].to_pylist()[1] == ["go somewhere in yard and come back the same way"]
    assert episodes["dataset_from_index"].to_pylist() == [0, 30, 56]
    assert episodes["dataset_to_index"].to_pylist() == [30, 56, 61]
    assert episodes["videos/observation.images.rgb/from_timestamp"].to_pylist() == [0.0, 30 / 24, 56 / 24]
    assert episodes["videos/observation.images.rgb/to_timestamp"].to_pylist() == [30 / 24, 56 / 24, 61 / 24]
    shapes = {f"stats/{key}/mean": np.array(episodes[f"stats/{key}/mean"].to_pylist()).shape for key in videos}
    assert shapes["stats/observation.images.rgb/mean"] == (3, 3, 1, 1)
    assert episodes["stats/observation.images.rgb/count"].to_pylist() == [[30], [26], [5]]


def test_every_frame_is_found_by_lerobots_rule(master: Path, made: SimpleNamespace) -> None:
    info, data = load(master, "meta/info.json"), table(master, "data/*/*.parquet").to_pylist()
    episodes = table(master, "meta/episodes/*/*.parquet").to_pylist()
    key, drawn_from = "observation.images.rgb", [0, 40, 100]
    for row in data[::3] + data[28:32] + data[-6:]:
        episode = episodes[row["episode_index"]]
        assert episode["dataset_from_index"] <= row["index"] < episode["dataset_to_index"]
        path = master / info["video_path"].format(
            video_key=key, chunk_index=episode[f"videos/{key}/chunk_index"], file_index=episode[f"videos/{key}/file_index"]
        )
        picture = lerobot_frame(path, episode[f"videos/{key}/from_timestamp"], np.float32(row["timestamp"]))
        assert made.number(picture) == drawn_from[row["episode_index"]] + row["frame_index"]


def test_depth_is_declared_as_lerobot_reads_it(compact: Path, shots: list[Path]) -> None:
    """LeRobot's dequantiser, written down again: exp(code * scale + log(min + shift)) - shift, in metres."""
    from worldwright.render.shot import Shot

    info = load(compact, "meta/info.json")["features"]["observation.images.depth"]
    assert info["shape"] == [36, 64, 1]
    video = info["info"]
    assert video["is_depth_map"] is True
    assert (video["video.codec"], video["video.pix_fmt"], video["depth_unit"]) == ("hevc", "gray12le", "m")
    low, high, shift = video["video.depth_min"], video["video.depth_max"], video["video.shift"]
    scale = (np.log(high + shift) - np.log(low + shift)) / 4095
    with av.open(str(compact / "videos/observation.images.depth/chunk-000/file-000.mp4")) as container:
        codes = next(iter(container.decode(video=0))).to_ndarray(format="gray12le").astype(np.float64)
    metres = np.exp(codes * scale + np.log(low + shift)) - shift
    truth = Shot.open(shots[0]).decode("depth", 0)
    seen = np.isfinite(truth)
    assert np.abs(metres[seen] / truth[seen] - 1).max() < 0.005
    np.testing.assert_allclose(metres[~seen], high)


def test_stats_are_those_of_all_rows(master: Path) -> None:
    stats = load(master, "meta/stats.json")
    assert list(stats["action"]) == STATS
    assert stats["frame_index"]["max"] == [29.0]
    # back is held in every second frame: 15 + 13 + 2 of 61
    np.testing.assert_allclose(stats["action"]["mean"][1], 30 / 61)
    np.testing.assert_allclose(stats["action"]["std"][1], np.sqrt(30 / 61 * 31 / 61))
    assert stats["action"]["count"] == [61]
    assert stats["index"]["q50"] == [30.0]
    rgb = stats["observation.images.rgb"]
    assert np.array(rgb["mean"]).shape == (3, 1, 1)
    assert rgb["count"] == [61]
    assert 0.2 < rgb["min"][0][0][0] < 0.3  # the greys are 70 and 220
    assert 0.8 < rgb["max"][0][0][0] < 0.9


def test_files_are_closed_and_nothing_else_lies_around(compact: Path) -> None:
    tops = {path.name for path in compact.iterdir()}
    assert tops == {"README.md", "_DONE", "data", "meta", "passes", "videos"}
    assert not list(compact.rglob("*.part"))
    for path in compact.rglob("*.parquet"):
        assert path.read_bytes()[-4:] == b"PAR1"


def video(path: Path, frames: int, made: SimpleNamespace, fps: int = 24, size: tuple[int, int] = (64, 36)) -> Path:
    writer = VideoWriter(path, *size, Fraction(fps))
    for i in range(frames):
        writer.add(np.full((size[1], size[0], 3), i * 7 % 256, np.uint8))
    writer.close()
    return path


def test_a_new_video_file_begins_before_the_old_one_is_too_large(tmp_path: Path, made: SimpleNamespace) -> None:
    source = video(tmp_path / "v.mp4", 10, made)
    files = VideoFiles(tmp_path / "d", "k", 24, max_bytes=int(source.stat().st_size * 2.5))
    placed = [files.append(source, 10) for _ in range(5)]
    files.close()
    assert [(p.file, p.first_frame) for p in placed] == [(0, 0), (0, 10), (1, 0), (1, 10), (2, 0)]


def test_a_video_file_stays_short_enough_for_float32_times(tmp_path: Path, made: SimpleNamespace) -> None:
    source = video(tmp_path / "v.mp4", 400, made, fps=1)
    files = VideoFiles(tmp_path / "d", "k", 1)
    placed = [files.append(source, 400) for _ in range(3)]
    files.close()
    assert [(p.file, p.first_frame) for p in placed] == [(0, 0), (0, 400), (1, 0)]


def test_videos_with_other_parameters_do_not_share_a_file(tmp_path: Path, made: SimpleNamespace) -> None:
    files = VideoFiles(tmp_path / "d", "k", 24)
    first = files.append(video(tmp_path / "a.mp4", 3, made), 3)
    other = files.append(video(tmp_path / "b.mp4", 3, made, size=(64, 48)), 3)
    files.close()
    assert (first.file, other.file) == (0, 1)


def test_a_video_with_a_frame_too_few_is_refused(tmp_path: Path, made: SimpleNamespace) -> None:
    files = VideoFiles(tmp_path / "d", "k", 24)
    with pytest.raises(WorldwrightError, match="9 frames, expected 10"):
        files.append(video(tmp_path / "a.mp4", 9, made), 10)
    files.close()


def test_file_numbers_go_on_in_the_next_chunk_after_a_thousand() -> None:
    assert next_file(0, 0) == (0, 1)
    assert next_file(0, 998) == (0, 999)
    assert next_file(0, 999) == (1, 0)
