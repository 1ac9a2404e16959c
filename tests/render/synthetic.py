"""Shots of made-up pictures: frame numbers drawn as blocks, planes that count. No renderer needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES
from worldwright.render.info import EntityName, RendererInfo, ShotInfo, VideoInfo, pass_entries
from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR, PASSES
from worldwright.render.shot import FrameRow, write_shot
from worldwright.render.writer import segment_frames
from worldwright.transforms import camera_look, intrinsics

BITS = 10


def shot_info(
    frames: int, *, width: int = 64, height: int = 36, fps: int = 24, passes: tuple[str, ...] = tuple(PASSES), rgb: bool = True
) -> ShotInfo:
    return ShotInfo(
        id="0" * 31 + "1",
        take_hash="0" * 32,
        world_hash="w",
        world_name="made-up",
        renderer=RendererInfo(name="synthetic", version="1", device="none"),
        camera={"kind": "rig", "rig": "third", "fov_y_deg": 60.0},
        preset=f"{width}x{height}",
        width=width,
        height=height,
        frame_rate=(fps, 1),
        tick_rate=240,
        frame_ticks=240 // fps,
        n_frames=frames,
        passes=pass_entries(list(passes), frames, height, width),
        rgb=VideoInfo(group=fps) if rgb else None,
        entities=[EntityName(id=0, name="sky", label="sky"), EntityName(id=1, name="floor", label="ground")],
    )


def picture(i: int, width: int = 64, height: int = 36) -> NDArray[np.uint8]:
    """Grey, with the bits of ``i`` as white blocks along the top."""
    out = np.full((height, width, 3), 70, np.uint8)
    cell = width // BITS
    for bit in range(BITS):
        if i >> bit & 1:
            out[: height // 3, bit * cell : (bit + 1) * cell] = 220
    return out


def number_in(rgb: NDArray[np.uint8]) -> int:
    """The frame number that ``picture`` drew."""
    height, width, _ = rgb.shape
    cell = width // BITS
    blocks = [rgb[: height // 3, bit * cell : (bit + 1) * cell].mean() > 145 for bit in range(BITS)]
    return sum(int(on) << bit for bit, on in enumerate(blocks))


def plane(name: str, i: int, width: int = 64, height: int = 36) -> NDArray[Any]:
    """A plane of pass ``name`` that differs in every pixel and frame."""
    info = PASSES[name]
    shape = (height, width) if info.channels == 1 else (height, width, info.channels)
    count = np.arange(int(np.prod(shape))).reshape(shape)
    return ((count + 7 * i) % 251).astype(info.dtype)


def pictures(info: ShotInfo, i: int) -> dict[str, NDArray[Any]]:
    out: dict[str, NDArray[Any]] = {p.name: plane(p.name, i, info.width, info.height) for p in info.pass_infos}
    if info.rgb is not None:
        out["rgb"] = picture(i, info.width, info.height)
    return out


def row(info: ShotInfo, i: int) -> FrameRow:
    tick = (info.first_frame + i) * info.frame_ticks
    K = intrinsics(info.width, info.height, 1.0)
    return FrameRow(
        frame=i,
        tick=tick,
        t_ns=tick * 1_000_000_000 // info.tick_rate,
        c2w=camera_look((0.1 * i, 0, 1.6), 0.01 * i, 0),
        K=K,
        next_c2w=camera_look((0.1 * (i + 1), 0, 1.6), 0.01 * (i + 1), 0),
        next_K=K,
        near=DEPTH_NEAR,
        far=DEPTH_FAR,
        action=np.arange(len(ACTION_NAMES), dtype=np.float32) / 10,
        effective=np.arange(len(EFFECT_NAMES), dtype=np.float32) / 10,
        flags=i % 4,
        character_position=np.array([0.1 * i, 0, 0]),
        character_yaw=0.01 * i,
        character_pitch=0.0,
        character_velocity=np.array([2.4, 0, 0]),
        clip="walk",
        ground=1,
    )


def make_shot(target: Path, info: ShotInfo, *, stop_at: int | None = None) -> Path:
    """Write a made-up shot; with ``stop_at`` the body fails before that frame, as an interruption does."""
    take = target.with_name("made-up.mcap")
    if not take.exists():
        take.write_bytes(b"not a real take")
    with write_shot(target, info, take) as writer:
        for i in range(writer.start, info.n_frames):
            if i == stop_at:
                raise KeyboardInterrupt
            writer.add(row(info, i), pictures(info, i))
    return target


__all__ = ["make_shot", "number_in", "picture", "pictures", "plane", "row", "segment_frames", "shot_info"]
