"""Only what is finished, verified and of one kind goes into a dataset, and a dataset is there whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import worldwright.cli
from worldwright.dataset.check import check_dataset
from worldwright.dataset.codecs import LIMITS
from worldwright.dataset.pack import pack
from worldwright.errors import WorldwrightError
from worldwright.outputs import MANIFEST, check_manifest, write_manifest
from worldwright.render.passes import PASSES

Verdicts = dict[Path, dict[str, Any]]


def refused(match: str, shots: list[Path], out: Path, **more: Any) -> None:
    with pytest.raises(WorldwrightError, match=match) as caught:
        pack(shots, out, **more)
    assert "\n" not in caught.value.line()
    assert list(out.parent.iterdir()) == []


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / "dataset"


def test_nothing_to_pack_is_said(out: Path) -> None:
    refused("no shots to pack", [], out)


def test_an_unverified_shot_is_refused(shots: list[Path], out: Path) -> None:
    refused("a: is not verified", shots, out)


def test_a_shot_that_failed_is_refused_with_its_check(
    shots: list[Path], verdicts: Verdicts, made: SimpleNamespace, out: Path
) -> None:
    bad = verdicts | {shots[1]: made.verdict(shots[1], passed=False)}
    refused("b: failed verification: rays: depth of frame 3", shots, out, verdicts=bad)


def test_a_verdict_of_another_shot_is_refused(shots: list[Path], verdicts: Verdicts, out: Path) -> None:
    refused("of another shot", shots[:1], out, verdicts={shots[0]: verdicts[shots[1]]})
    refused("of a 'take', not of a shot", shots[:1], out, verdicts={shots[0]: verdicts[shots[0]] | {"kind": "take"}})


def test_the_verdict_of_a_shot_that_was_made_again_since_is_refused(
    shots: list[Path], verdicts: Verdicts, made: SimpleNamespace, tmp_path: Path, out: Path
) -> None:
    copy = shutil.copytree(shots[2], tmp_path / "copy")
    info = json.loads((copy / "shot.json").read_text())
    (copy / "shot.json").write_text(json.dumps(info | {"renderer": info["renderer"] | {"device": "another"}}))
    (copy / MANIFEST).unlink()
    write_manifest(copy, "shot")
    assert made.verdict(copy)["id"] == verdicts[shots[2]]["id"]  # the request is the same, the files are not
    refused("copy: the verdict is of other files than are there now; verify", [copy], out, verdicts={copy: verdicts[shots[2]]})
    pack([copy], out, verdicts={copy: made.verdict(copy)})


def test_a_verdict_that_does_not_say_what_it_judged_is_refused(shots: list[Path], verdicts: Verdicts, out: Path) -> None:
    old = {key: value for key, value in verdicts[shots[2]].items() if key != "manifest"}
    refused("the verdict does not name its files; verify", [shots[2]], out, verdicts={shots[2]: old})


def test_a_shot_that_is_replaced_while_it_is_packed_is_not_sold_under_its_old_verdict(
    shots: list[Path], verdicts: Verdicts, made: SimpleNamespace, tmp_path: Path, out: Path
) -> None:
    copy = shutil.copytree(shots[2], tmp_path / "copy")

    def replace(done: int, total: int) -> None:
        if done < total:
            (copy / MANIFEST).unlink()
            write_manifest(copy, "shot", note="made again")

    given = {shots[0]: verdicts[shots[0]], copy: made.verdict(copy)}
    refused("copy: was replaced while it was packed", [shots[0], copy], out, verdicts=given, progress=replace)


def test_an_unfinished_shot_is_refused(shots: list[Path], verdicts: Verdicts, tmp_path: Path, out: Path) -> None:
    copy = shutil.copytree(shots[2], tmp_path / "copy")
    (copy / MANIFEST).unlink()
    refused("was never finished", [copy], out, verdicts={copy: verdicts[shots[2]]})


def test_a_shot_whose_files_changed_is_refused(shots: list[Path], verdicts: Verdicts, tmp_path: Path, out: Path) -> None:
    copy = shutil.copytree(shots[2], tmp_path / "copy")
    file = copy / "rgb.mp4"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    refused("rgb.mp4: content differs", [copy], out, verdicts={copy: verdicts[shots[2]]})


def test_the_same_shot_twice_is_refused(shots: list[Path], verdicts: Verdicts, out: Path) -> None:
    refused("is the same shot as", [shots[2], shots[2]], out, verdicts=verdicts)


def test_minutes_of_verifying_go_before_a_refusal_that_takes_none(
    shots: list[Path], made: SimpleNamespace, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: Any, **__: Any) -> None:
        pytest.fail("a shot was verified first")

    monkeypatch.setattr("worldwright.verify.run.verify_path", slow)
    other = made.shot(tmp_path / "other", frames=2, fps=48)
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "notes.txt").write_text("mine")
    for match, given, target, tier in (
        ("its rate is 48 Hz", [shots[2], other], out, "master"),
        ("is the same shot as", [shots[2], shots[2]], out, "master"),
        ("no such folder", [shots[2], tmp_path / "none"], out, "master"),
        ("unknown tier", [shots[2]], out, "huge"),
        ("exists and is no finished output", [shots[2]], taken, "master"),
    ):
        with pytest.raises(WorldwrightError, match=match):
            worldwright.cli.pack(given, target, tier=tier)
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"fps": 30}, "odd: its rate is 30 Hz, that of .*/c is 24 Hz"),
        ({"passes": ("depth",)}, "odd: its passes is rgb, depth, that of"),
        ({"rgb": False}, "odd: has no rgb"),
    ],
)
def test_shots_of_different_kinds_are_refused_and_both_named(
    change: dict[str, Any], match: str, shots: list[Path], verdicts: Verdicts, made: SimpleNamespace, tmp_path: Path, out: Path
) -> None:
    odd = made.shot(tmp_path / "odd", frames=2, **change)
    refused(match, [shots[2], odd], out, verdicts=verdicts | {odd: made.verdict(odd)})


def test_an_unknown_tier_is_refused(shots: list[Path], out: Path) -> None:
    refused("unknown tier 'gold'", shots, out, tier="gold")


def test_a_folder_that_is_no_dataset_is_not_overwritten(shots: list[Path], verdicts: Verdicts, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(WorldwrightError, match="is no finished output"):
        pack(shots, mine, verdicts=verdicts)
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_a_verdict_beside_the_shot_is_found(made: SimpleNamespace, tmp_path: Path, out: Path) -> None:
    shot = made.shot(tmp_path / "s", frames=2, passes=("depth",))
    (tmp_path / "s.verdict.json").write_text(json.dumps(made.verdict(shot)))
    report = pack([shot], out)
    assert (report.episodes, report.frames, report.verified) == (1, 2, 1)
    (tmp_path / "s.verdict.json").write_text("[" * 100_000)
    with pytest.raises(WorldwrightError, match="unreadable verdict"):
        pack([shot], out)


def test_unverified_shots_are_marked_as_such(shots: list[Path], out: Path) -> None:
    report = pack(shots[2:], out, allow_unverified=True)
    assert report.verified == 0
    assert "0 of 1 verified" in report.line()
    assert "None of the 1 shots was verified" in (out / "README.md").read_text()
    assert pq.read_table(out / "meta/provenance.parquet")["verified"].to_pylist() == [False]


def test_the_same_shots_give_the_same_bytes(shots: list[Path], verdicts: Verdicts, tmp_path: Path) -> None:
    for name in "ab":
        pack(shots[2:], tmp_path / name, tier="both", verdicts=verdicts)
    assert (tmp_path / "a" / MANIFEST).read_bytes() == (tmp_path / "b" / MANIFEST).read_bytes()
    names = [check.name for check in check_dataset(tmp_path / "a")]
    assert names == ["manifest", "index", "shots_verified", "rows", "stats", "pictures", "errors"]
    assert all(check.passed for check in check_dataset(tmp_path / "a"))


def test_the_masters_passes_are_the_shots_own_bytes(master: Path, shots: list[Path]) -> None:
    for episode, shot in enumerate(shots):
        ours, theirs = master / f"passes/episode-{episode:06d}/passes.zarr", shot / "passes.zarr"
        files = sorted(p.relative_to(theirs) for p in theirs.rglob("*") if p.is_file())
        assert files == sorted(p.relative_to(ours) for p in ours.rglob("*") if p.is_file())
        assert all((ours / f).read_bytes() == (theirs / f).read_bytes() for f in files)


def test_progress_ends_at_the_number_of_frames(shots: list[Path], verdicts: Verdicts, out: Path) -> None:
    seen: list[tuple[int, int]] = []
    pack(shots, out, verdicts=verdicts, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(30, 61), (56, 61), (61, 61)]


def test_an_interrupted_pack_leaves_nothing(shots: list[Path], verdicts: Verdicts, out: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(shots, out, verdicts=verdicts, progress=stop)
    assert list(out.parent.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/bin/mount").exists(), reason="a small file system can only be mounted by root")
@pytest.mark.parametrize(("kilobytes", "tier"), [(16, "master"), (100, "compact")])
def test_a_full_disk_is_one_clear_line(kilobytes: int, tier: str, shots: list[Path], verdicts: Verdicts, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", small], check=False, capture_output=True
    ).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(WorldwrightError, match="the disk is full; free some space"):
            pack(shots, small / "dataset", tier=tier, verdicts=verdicts)
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)


def test_wild_passes_fall_back_to_wider_codecs(made: SimpleNamespace, tmp_path: Path, out: Path) -> None:
    shot = made.shot(tmp_path / "wild", frames=3, passes=("flow", "entity"), far=True)
    pack([shot], out, tier="compact", verdicts={shot: made.verdict(shot)})
    own = json.loads((out / "meta/worldwright.json").read_text())
    assert list(own["passes"]["flow"]["compact"]["codecs"]) == ["flow-16"]
    assert list(own["passes"]["entity"]["compact"]["codecs"]) == ["id-16"]
    assert all(check.passed for check in check_dataset(out))


def test_the_card_says_what_is_in_it(compact: Path) -> None:
    text = (compact / "README.md").read_text()
    front = yaml.safe_load(text.split("---")[1])
    assert front["tags"][0] == "LeRobot"
    assert front["configs"] == [{"config_name": "default", "data_files": "data/*/*.parquet"}]
    assert front["license"] == "apache-2.0"
    for line in (
        "3 episodes, 61 frames",
        "| things | CC0-1.0 |",
        "3 of 3 shots passed every check",
        "| rays | 3 | 0 | 0 | 90 frames, 1920 rays |",
        "| forward | 100.0 % |",
        "| back | 49.2 % |",
        "- explore yard",
        "action[i] is what was held from frame i to frame i + 1",
    ):
        assert line in text
    for name in PASSES:
        assert f"\n| {name} |" in text


def test_measured_errors_are_declared_and_within_the_limits(compact: Path) -> None:
    own = json.loads((compact / "meta/worldwright.json").read_text())
    for name, limit in LIMITS.items():
        entry = own["passes"][name]["compact"]
        assert entry["limit"] == limit.limit
        assert entry["worst"] is None or limit.holds(entry["worst"])
    assert own["passes"]["depth"]["compact"]["worst"] == pytest.approx(0.121, abs=0.002)


def test_where_each_episode_came_from_is_kept(master: Path, shots: list[Path]) -> None:
    rows = pq.read_table(master / "meta/provenance.parquet").to_pylist()
    infos = [json.loads((shot / "shot.json").read_text()) for shot in shots]
    assert [row["shot"] for row in rows] == [info["id"] for info in infos]
    assert [row["policy"] for row in rows] == ["explore", "loop", "explore"]
    assert all(row["verified"] and row["seed"] == 7 for row in rows)
    worlds = json.loads((master / "meta/worlds.json").read_text())
    assert worlds[infos[0]["world_hash"]]["entities"]["1"] == ["floor", "ground"]


def test_a_manifest_lists_every_file(master: Path, tmp_path: Path) -> None:
    assert check_manifest(master, "dataset") == []
    copy = shutil.copytree(master, tmp_path / "copy")
    (copy / "extra").write_text("x")
    assert check_manifest(copy, "dataset") == ["extra: not in the manifest"]
    write_manifest(copy, "dataset")
    assert check_manifest(copy, "dataset") == []
