"""A shot is made whole or not at all, and what an interruption left is used and never trusted blindly."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import ModuleType

import pytest

from worldwright.errors import WorldwrightError
from worldwright.outputs import check_manifest, new_folder
from worldwright.render.shot import Shot, write_shot
from worldwright.render.writer import segment_frames


def same_bytes(a: Path, b: Path) -> bool:
    """Whether two folders hold the same files."""
    files = [sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()) for root in (a, b)]
    return files[0] == files[1] and all((a / name).read_bytes() == (b / name).read_bytes() for name in files[0])


def part(target: Path) -> Path:
    return target.with_name(f".{target.name}.part")


@pytest.mark.parametrize("stop_at", [30, 72, 99])
def test_an_interrupted_shot_goes_on_and_gets_the_same_bytes(
    stop_at: int, made_up: Path, synthetic: ModuleType, tmp_path: Path
) -> None:
    target, info = tmp_path / "shot", synthetic.shot_info(100)
    with pytest.raises(KeyboardInterrupt):
        synthetic.make_shot(target, info, stop_at=stop_at)
    assert not target.exists()
    assert part(target).exists() == (stop_at >= segment_frames(info))
    with write_shot(target, info, tmp_path / "made-up.mcap") as writer:
        assert writer.start == (segment_frames(info) if stop_at >= segment_frames(info) else 0)
        for i in range(writer.start, 100):
            writer.add(synthetic.row(info, i), synthetic.pictures(info, i))
    assert same_bytes(target, made_up)
    assert check_manifest(target, "shot") == []
    assert not part(target).exists()


CHILD = """
    import importlib.util, os, signal, sys
    spec = importlib.util.spec_from_file_location("synthetic", sys.argv[1])
    synthetic = importlib.util.module_from_spec(spec)
    sys.modules["synthetic"] = synthetic
    spec.loader.exec_module(synthetic)
    from pathlib import Path
    from worldwright.render.shot import write_shot
    target, info = Path(sys.argv[2]), synthetic.shot_info(150)
    take = target.with_name("made-up.mcap")
    take.write_bytes(b"not a real take")
    with write_shot(target, info, take) as writer:
        print(writer.start, flush=True)
        for i in range(writer.start, info.n_frames):
            if i == int(sys.argv[3]):
                os.kill(os.getpid(), signal.SIGKILL)
            writer.add(synthetic.row(info, i), synthetic.pictures(info, i))
"""


def child(synthetic: ModuleType, target: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    """Write a shot in a process that kills itself before frame ``kill_at``."""
    command = [sys.executable, "-c", textwrap.dedent(CHILD), synthetic.__file__, str(target), str(kill_at)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_killed_shot_goes_on_after_its_last_segment_and_gets_the_same_bytes(synthetic: ModuleType, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    assert child(synthetic, killed, 110).returncode == -signal.SIGKILL
    assert not killed.exists()
    info = synthetic.shot_info(150)
    with write_shot(killed, info, tmp_path / "made-up.mcap") as writer:
        assert writer.start == 72
        for i in range(72, 150):
            writer.add(synthetic.row(info, i), synthetic.pictures(info, i))
    assert same_bytes(killed, synthetic.make_shot(whole, info))


def test_a_damaged_leftover_is_made_again(made_up: Path, synthetic: ModuleType, tmp_path: Path) -> None:
    target, info = tmp_path / "shot", synthetic.shot_info(100)
    with pytest.raises(KeyboardInterrupt):
        synthetic.make_shot(target, info, stop_at=99)
    shard = part(target) / "out" / "passes.zarr" / "depth" / "c" / "0" / "0" / "0"
    data = bytearray(shard.read_bytes())
    data[100] ^= 1
    shard.write_bytes(bytes(data))
    with write_shot(target, info, tmp_path / "made-up.mcap") as writer:
        assert writer.start == 0
        for i in range(100):
            writer.add(synthetic.row(info, i), synthetic.pictures(info, i))
    assert same_bytes(target, made_up)


def test_a_leftover_of_another_request_is_thrown_away(synthetic: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "shot"
    with pytest.raises(KeyboardInterrupt):
        synthetic.make_shot(target, synthetic.shot_info(100), stop_at=99)
    shot = Shot.open(synthetic.make_shot(target, synthetic.shot_info(80, passes=("entity",))))
    assert shot.info.n_frames == 80
    assert sorted(p.name for p in target.glob("passes.zarr/*")) == ["entity", "zarr.json"]


def test_two_processes_do_not_write_the_same_shot(synthetic: ModuleType, tmp_path: Path) -> None:
    target, info = tmp_path / "shot", synthetic.shot_info(3)
    (tmp_path / "take").write_bytes(b"")
    with write_shot(target, info, tmp_path / "take") as writer:
        with pytest.raises(WorldwrightError, match="another process"), write_shot(target, info, tmp_path / "take"):
            pass
        for i in range(3):
            writer.add(synthetic.row(info, i), synthetic.pictures(info, i))
    assert Shot.open(target).info.n_frames == 3


def test_a_folder_that_is_no_output_of_ours_is_never_overwritten(synthetic: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "letter.txt").write_text("dear")
    with pytest.raises(WorldwrightError, match="no finished output"):
        synthetic.make_shot(target, synthetic.shot_info(3))
    assert (target / "letter.txt").read_text() == "dear"


def test_a_finished_output_of_another_kind_is_never_overwritten(synthetic: ModuleType, tmp_path: Path) -> None:
    with new_folder(tmp_path / "data", "dataset") as folder:
        (folder / "rows").write_text("precious")
    with pytest.raises(WorldwrightError, match="not the manifest of a shot"):
        synthetic.make_shot(tmp_path / "data", synthetic.shot_info(3))
    assert (tmp_path / "data" / "rows").read_text() == "precious"


def test_frames_out_of_order_or_missing_never_make_a_shot(synthetic: ModuleType, tmp_path: Path) -> None:
    target, info = tmp_path / "shot", synthetic.shot_info(3)
    (tmp_path / "take").write_bytes(b"")
    with pytest.raises(WorldwrightError, match="frame 1, expected 0"), write_shot(target, info, tmp_path / "take") as writer:
        writer.add(synthetic.row(info, 1), synthetic.pictures(info, 1))
    with (
        pytest.raises(WorldwrightError, match="1 frames were given, expected 3"),
        write_shot(target, info, tmp_path / "take") as writer,
    ):
        writer.add(synthetic.row(info, 0), synthetic.pictures(info, 0))
    assert not target.exists() and not part(target).exists()


def test_a_picture_of_another_shape_names_pass_and_shape(synthetic: ModuleType, tmp_path: Path) -> None:
    info, target = synthetic.shot_info(30), tmp_path / "shot"
    (tmp_path / "take").write_bytes(b"")
    with (
        pytest.raises(WorldwrightError, match=r"pass flow: a picture of int16 \(36, 64\)"),
        write_shot(target, info, tmp_path / "take") as writer,
    ):
        for i in range(30):
            pictures = synthetic.pictures(info, i)
            pictures["flow"] = pictures["flow"][..., 0]
            writer.add(synthetic.row(info, i), pictures)
    assert not target.exists()


def test_a_full_disk_is_one_line_and_keeps_the_finished_segments(synthetic: ModuleType, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    info = synthetic.shot_info(150, width=128, height=72)
    elsewhere = synthetic.make_shot(tmp_path / "elsewhere", info)
    size = sum(path.stat().st_size for path in elsewhere.rglob("*") if path.is_file()) * 7 // 10
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here (needs root)")
    try:
        target = disk / "shot"
        with pytest.raises(WorldwrightError) as caught:
            synthetic.make_shot(target, info)
        line = caught.value.line()
        assert "the disk is full" in line and str(disk) in line and "72 frames that are finished" in line and "bytes more" in line
        assert not target.exists()
        subprocess.run(["mount", "-o", f"remount,size={16 * size}", str(disk)], check=True)
        with write_shot(target, info, disk / "made-up.mcap") as writer:
            assert writer.start == 72
            for i in range(72, 150):
                writer.add(synthetic.row(info, i), synthetic.pictures(info, i))
        assert same_bytes(target, elsewhere)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_memory_does_not_grow_with_length(synthetic: ModuleType, tmp_path: Path) -> None:
    """Peak memory of a process that writes 8 segments is that of one that writes 2, within 5 %."""
    script = textwrap.dedent(CHILD).replace(
        "shot_info(150)", "shot_info(int(sys.argv[4]), width=192, height=108)"
    ) + textwrap.dedent(
        """
        import resource
        print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        """
    )
    peaks = []
    for frames in (144, 432):
        command = [sys.executable, "-c", script, synthetic.__file__, str(tmp_path / f"shot{frames}"), "-1", str(frames)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        peaks.append(int(done.stdout.split("peak")[1]))
    assert peaks[1] < peaks[0] * 1.05, peaks


def test_an_error_in_an_encoder_does_not_hang(synthetic: ModuleType, tmp_path: Path) -> None:
    started = time.monotonic()
    info = synthetic.shot_info(60)
    (tmp_path / "take").write_bytes(b"")
    with pytest.raises(WorldwrightError, match="pass rgb"), write_shot(tmp_path / "shot", info, tmp_path / "take") as writer:
        for i in range(60):
            writer.add(synthetic.row(info, i), synthetic.pictures(info, i) | {"rgb": synthetic.picture(i)[:, :-2]})
    assert time.monotonic() - started < 30


def test_a_disk_that_is_full_at_the_very_end_is_waited_for(synthetic: ModuleType, tmp_path: Path) -> None:
    """A short shot is written when its one segment is closed: after the encoders were told that no more pictures come."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here (needs root)")
    try:
        script = textwrap.dedent(CHILD).replace("shot_info(150)", "shot_info(20, width=128, height=72)")
        command = [sys.executable, "-c", script, synthetic.__file__, str(disk / "shot"), "-1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode and "the disk is full at frame 0 of 20" in done.stderr, done.stderr[-300:]
        assert not (disk / "shot").exists()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
