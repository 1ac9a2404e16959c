"""What was lost, moved or changed in a dataset is found, even when its manifest was written anew."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import worldwright.dataset
from worldwright.dataset.check import check_dataset
from worldwright.dataset.pack import pack
from worldwright.errors import WorldwrightError
from worldwright.outputs import write_manifest

DATA, EPISODES, PROVENANCE = (
    "data/chunk-000/file-000.parquet",
    "meta/episodes/chunk-000/file-000.parquet",
    "meta/provenance.parquet",
)
RGB, DEPTH = "videos/observation.images.rgb/chunk-000/file-000.mp4", "videos/observation.images.depth/chunk-000/file-000.mp4"


def failures(root: Path) -> dict[str, str]:
    return {check.name: check.message for check in check_dataset(root) if not check.passed}


def edit_table(path: Path, edit: Callable[[list[dict[str, Any]]], None], groups: int | None = None) -> None:
    """Change rows, keeping the schema and, where ``groups`` says so, a row group per episode."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    edit(rows)
    new = pa.Table.from_pylist(rows, schema=table.schema)
    with pq.ParquetWriter(path, new.schema) as writer:
        if groups is None:
            writer.write_table(new)
            return
        for episode in range(groups):
            writer.write_table(new.filter(pa.compute.equal(new["episode_index"], episode)))


def edit_json(path: Path, edit: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value))


@pytest.fixture
def copy(master: Path, tmp_path: Path) -> Path:
    return shutil.copytree(master, tmp_path / "copy")


@pytest.fixture
def compact_copy(compact: Path, tmp_path: Path) -> Path:
    return shutil.copytree(compact, tmp_path / "copy")


def test_whole_datasets_pass(master: Path, compact: Path) -> None:
    for root in (master, compact):
        assert failures(root) == {}
        assert [check.name for check in check_dataset(root)] == ["manifest", "index", "shots_verified", "rows", "stats", "pictures"]


def test_a_dataset_of_shots_that_nobody_verified_is_said_to_be_verified(
    master: Path, shots: list[Path], verdicts: dict[Path, dict[str, Any]], tmp_path: Path
) -> None:
    def said(root: Path) -> tuple[bool, bool, str]:
        found = next(check for check in check_dataset(root) if check.name == "shots_verified")
        return found.passed, found.skipped, found.message

    assert said(master) == (True, False, "all 3 shots were verified when packed")
    for name, given, message in (
        ("none", {}, "3 of 3 shots were packed without being verified"),
        ("some", {shot: verdicts[shot] for shot in shots[:2]}, "1 of 3 shots was packed without being verified"),
    ):
        pack(shots, tmp_path / name, verdicts=given, allow_unverified=True)
        assert said(tmp_path / name) == (False, True, message)


def test_a_shot_that_is_only_said_to_be_verified_is_believed(copy: Path) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        checks = json.loads(rows[1]["checks"])
        rows[1]["checks"] = json.dumps([check | {"passed": False} for check in checks])

    edit_table(copy / PROVENANCE, edit)
    assert "episode 1 is said to be verified" in failures(copy)["shots_verified"]
    edit_table(copy / PROVENANCE, lambda rows: rows[2].update(checks="[7]"))
    assert "its checks do not hold" in failures(copy)["shots_verified"]
    edit_table(copy / PROVENANCE, lambda rows: rows[0].update(checks="[7]"))
    assert "episode 0: checks is no list of checks" in failures(copy)["shots_verified"]


def test_a_flipped_bit_is_found(copy: Path) -> None:
    path = copy / "passes/episode-000001/passes.zarr/depth/c/0/0/0"
    data = bytearray(path.read_bytes())
    data[100] ^= 4
    path.write_bytes(data)
    assert "depth/c/0/0/0: content differs" in failures(copy)["manifest"]


def test_an_edited_action_is_found(copy: Path) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        rows[33]["action"][2] = 1.0

    edit_table(copy / DATA, edit, groups=3)
    write_manifest(copy, "dataset")
    assert "episode 1: its rows are not those of its shot" in failures(copy)["rows"]


@pytest.mark.parametrize("name", ["timestamp", "frame_index", "index", "task_index", "tick"])
def test_a_row_out_of_order_is_found(name: str, copy: Path) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        rows[35][name] = rows[36][name] + (1 if name == "task_index" else 0)
        if name == "task_index":
            rows[35][name] = 0

    edit_table(copy / DATA, edit, groups=3)
    write_manifest(copy, "dataset")
    assert "episode 1" in failures(copy)["rows"]


def test_a_missing_row_is_found(copy: Path) -> None:
    edit_table(copy / DATA, lambda rows: rows.pop(40), groups=3)
    write_manifest(copy, "dataset")
    assert "row group 1 is not episode 1" in failures(copy)["rows"]


def test_swapped_videos_are_found(copy: Path) -> None:
    key = "videos/observation.images.rgb"

    def edit(rows: list[dict[str, Any]]) -> None:
        rows[1][f"{key}/from_timestamp"], rows[1][f"{key}/to_timestamp"] = 0.0, 26 / 24

    edit_table(copy / EPISODES, edit)
    write_manifest(copy, "dataset")
    assert "episode 1: begins at frame 0" in failures(copy)["pictures"]


def test_ranges_that_do_not_follow_one_another_are_found(copy: Path) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        rows[2]["dataset_from_index"] += 1

    edit_table(copy / EPISODES, edit)
    write_manifest(copy, "dataset")
    assert "episode 2: its rows do not follow" in failures(copy)["index"]


def test_edited_statistics_are_found(copy: Path) -> None:
    def edit(stats: Any) -> None:
        stats["action"]["mean"][0] += 0.01

    edit_json(copy / "meta/stats.json", edit)
    write_manifest(copy, "dataset")
    assert "action.mean" in failures(copy)["stats"]


def test_a_cut_video_is_found(copy: Path, compact_copy_of: Callable[[], Path]) -> None:
    path = copy / RGB
    path.write_bytes(path.read_bytes()[:-400])
    write_manifest(copy, "dataset")
    assert "pictures" in failures(copy)
    other = compact_copy_of()
    path = other / "passes/episode-000000/normal.mp4"
    path.write_bytes(path.read_bytes()[:-300])
    write_manifest(other, "dataset")
    assert "normal.mp4" in failures(other)["pictures"]


@pytest.fixture
def compact_copy_of(compact: Path, tmp_path: Path) -> Callable[[], Path]:
    return lambda: shutil.copytree(compact, tmp_path / "other")


def test_a_video_of_another_kind_is_found(compact_copy: Path) -> None:
    shutil.copy(compact_copy / RGB, compact_copy / DEPTH)
    write_manifest(compact_copy, "dataset")
    assert "pictures" in failures(compact_copy)


def test_a_missing_shard_is_found(copy: Path) -> None:
    (copy / "passes/episode-000000/passes.zarr/normal/zarr.json").unlink()
    write_manifest(copy, "dataset")
    assert "episode-000000" in failures(copy)["pictures"]


def test_another_episodes_passes_are_found_by_their_length(copy: Path) -> None:
    shutil.rmtree(copy / "passes/episode-000000")
    shutil.copytree(copy / "passes/episode-000001", copy / "passes/episode-000000")
    write_manifest(copy, "dataset")
    assert "pictures" in failures(copy)


@pytest.mark.parametrize(
    ("file", "edit", "match"),
    [
        ("meta/info.json", lambda v: v.update(codebase_version="v2.1"), "codebase_version"),
        ("meta/info.json", lambda v: v.update(total_frames=10**12), "total_frames"),
        ("meta/info.json", lambda v: v.update(total_episodes=4), "3 episodes, not 0 to 3"),
        ("meta/info.json", lambda v: v.update(data_path="../../etc/{chunk_index}"), "data_path"),
        ("meta/info.json", lambda v: v.update(video_path="/etc/{video_key}"), "video_path"),
        ("meta/info.json", lambda v: v["features"].pop("action"), "features.action"),
        ("meta/worldwright.json", lambda v: v.update(tier="gold"), "tier"),
        ("meta/worldwright.json", lambda v: v.update(width=10**9), "width"),
        ("meta/worldwright.json", lambda v: v["passes"].update(heat={}), "unknown passes"),
        ("meta/worldwright.json", lambda v: v.update(fps=30), "fps is 24"),
    ],
)
def test_hostile_metadata_is_one_clear_error(file: str, edit: Callable[[Any], None], match: str, copy: Path) -> None:
    edit_json(copy / file, edit)
    with pytest.raises(WorldwrightError, match=match):
        worldwright.dataset.open(copy)


def hostile_codecs(rows: list[dict[str, Any]]) -> None:
    rows[0]["codecs"] = '{"depth": "../../../etc/passwd"}'


def huge_chunk(rows: list[dict[str, Any]]) -> None:
    rows[0]["data/chunk_index"] = -1


def never(rows: list[dict[str, Any]]) -> None:
    rows[0]["videos/observation.images.rgb/from_timestamp"] = float("nan")


@pytest.mark.parametrize(
    ("file", "edit", "match"),
    [
        (PROVENANCE, hostile_codecs, "codecs"),
        (EPISODES, huge_chunk, "chunk_index is -1"),
        (EPISODES, never, "from_timestamp is nan"),
    ],
)
def test_hostile_tables_are_one_clear_error(
    file: str, edit: Callable[[list[dict[str, Any]]], None], match: str, copy: Path
) -> None:
    edit_table(copy / file, edit)
    with pytest.raises(WorldwrightError, match=match):
        worldwright.dataset.open(copy)


@pytest.mark.parametrize("file", [EPISODES, PROVENANCE, "meta/tasks.parquet", "meta/info.json", "meta/worldwright.json"])
def test_cut_metadata_is_one_clear_error(file: str, copy: Path) -> None:
    path = copy / file
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(WorldwrightError, match=Path(file).name):
        worldwright.dataset.open(copy)


def test_damaged_pixels_are_named_when_they_are_read(copy: Path) -> None:
    path = copy / "passes/episode-000000/passes.zarr/depth/c/0/0/0"
    path.write_bytes(b"\0" * path.stat().st_size)
    clips = worldwright.dataset.open(copy, length=2, passes=("depth",))
    with pytest.raises(WorldwrightError, match=r"episode-000000.*depth"):
        clips[0]


def test_a_dataset_without_its_manifest_is_refused(copy: Path) -> None:
    (copy / "_DONE").unlink()
    with pytest.raises(WorldwrightError, match="was never finished"):
        worldwright.dataset.open(copy)


def test_a_shard_that_is_missing_reads_as_zeros(copy: Path) -> None:
    gone = copy / "passes/episode-000001/passes.zarr/roughness/c/0/0/0"
    gone.unlink()
    (copy / "_DONE").unlink()
    write_manifest(copy, "dataset")
    assert failures(copy)["pictures"].endswith("roughness/c/0/0/0: is missing; pack again")
    dataset = worldwright.dataset.open(copy, length=4, passes=("roughness",))
    dataset.clip(0, 0)
    with pytest.raises(WorldwrightError, match="is missing"):
        dataset.clip(1, 0)


def test_a_column_of_another_type_ends_the_checks_with_a_traceback(copy: Path) -> None:
    table = pq.read_table(copy / DATA)
    at = table.column_names.index("camera.near_far")
    pq.write_table(table.set_column(at, "camera.near_far", pa.array(["x"] * len(table))), copy / DATA)
    assert {"manifest", "rows", "stats"} <= set(failures(copy))
    (copy / DATA).write_bytes(b"")
    assert {"manifest", "rows", "stats"} <= set(failures(copy))


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"a": 1}'])
def test_names_of_entities_that_are_lost_are_not_noticed(copy: Path, text: str) -> None:
    (copy / "meta/worlds.json").write_text(text)
    assert "meta/worlds.json" in failures(copy)["index"]


def test_a_pass_that_was_swapped_for_another_is_sold_as_verified(copy: Path) -> None:
    passes = copy / "passes/episode-000000/passes.zarr"
    shutil.copy(passes / "roughness/c/0/0/0", passes / "metallic/c/0/0/0")
    (copy / "_DONE").unlink()
    write_manifest(copy, "dataset")
    assert "episode 0: its passes are not those of its shot" in failures(copy)["rows"]


def test_a_pipe_in_a_dataset_is_waited_for(copy: Path) -> None:
    (copy / "meta/worlds.json").unlink()
    os.mkfifo(copy / "meta/worlds.json")
    assert failures(copy) == {"manifest": f"{copy}/meta/worlds.json: is neither a file nor a folder; remove it"}
    (copy / "meta/info.json").unlink()
    os.mkfifo(copy / "meta/info.json")
    with pytest.raises(WorldwrightError, match=r"info\.json: no such file"):
        worldwright.dataset.open(copy)


@pytest.mark.parametrize("edit", [lambda stats: stats.update(tick=1), lambda stats: stats.clear(), lambda stats: stats.pop("tick")])
def test_statistics_that_are_no_mapping_end_the_checks_with_a_traceback(copy: Path, edit: Callable[[Any], None]) -> None:
    edit_json(copy / "meta/stats.json", edit)
    assert "meta/stats.json" in failures(copy)["stats"]
    (copy / "meta/stats.json").write_text("[]")
    assert failures(copy)["stats"] == "meta/stats.json: is no mapping"
