"""The rows of a shot against its take: every column is computed again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES
from worldwright.errors import WorldwrightError
from worldwright.render.cameras import CameraTrack
from worldwright.render.info import ShotInfo
from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR
from worldwright.render.rows import FrameRows
from worldwright.take.model import Instant, TakeHeader
from worldwright.take.reader import Take
from worldwright.verify.measure import failed, passed
from worldwright.verify.verdict import Check

EXACT = 1e-9
"""Columns are computed by the same formulas from the same numbers; this leaves room for another math library's last bits."""
RIGID = 1e-6


def _first_difference(name: str, found: NDArray[Any], expected: NDArray[Any], limit: float) -> tuple[int, str, float] | None:
    """Frame, text and size of the first row beyond the limit."""
    gap = np.abs(found.astype(np.float64) - expected.astype(np.float64)).reshape(len(found), -1)
    wrong = np.flatnonzero(~(gap <= limit).all(axis=1))
    if not len(wrong):
        return None
    frame = int(wrong[0])
    at = int(np.nanargmax(gap[frame]))
    cell = f"{name}[{at}]" if gap.shape[1] > 1 else name
    match name:
        case "action":
            cell = f"action.{ACTION_NAMES[at]}"
        case "effective":
            cell = f"effective.{EFFECT_NAMES[at]}"
    value, right = found.reshape(len(found), -1)[frame, at], expected.reshape(len(found), -1)[frame, at]
    return frame, f"{cell} is {value!s}, the take gives {right!s}; {len(wrong)} of {len(found)} rows differ", float(gap[frame, at])


Column = tuple[str, NDArray[Any], NDArray[Any], float]


def _compare(name: str, columns: Sequence[Column], held: str) -> Check:
    for column, found, expected, limit in columns:
        if found.shape != expected.shape:
            return failed(name, f"{column} has shape {found.shape}, expected {expected.shape}")
        if difference := _first_difference(column, found, expected, limit):
            frame, text, size = difference
            return failed(name, text, frame=frame, value=size, limit=limit)
    return passed(name, held)


def check_clock(rows: FrameRows, info: ShotInfo, header: TakeHeader, last_tick: int) -> Check:
    """Frame numbers, ticks and nanoseconds are exactly those of the shot's rate, and the take covers them and one frame more."""
    n = info.n_frames
    frame = np.arange(n, dtype=np.int64)
    tick = (info.first_frame + frame) * info.frame_ticks
    t_ns = np.array([header.t_ns(int(t)) for t in tick], dtype=np.int64)
    if info.tick_rate != header.tick_rate:
        return failed(
            "clock",
            f"the shot has {info.tick_rate} ticks a second, its take {header.tick_rate}",
            value=info.tick_rate,
            limit=header.tick_rate,
        )
    if (info.first_frame + n) * info.frame_ticks > last_tick:
        return failed(
            "clock",
            f"the last frame ends at tick {(info.first_frame + n) * info.frame_ticks}, the take at {last_tick}",
            frame=n - 1,
        )
    columns: list[Column] = [("frame", rows.frame, frame, 0.0), ("tick", rows.tick, tick, 0.0), ("t_ns", rows.t_ns, t_ns, 0.0)]
    return _compare("clock", columns, f"{n} rows at exactly {info.rate} frames a second")


def check_rigid(rows: FrameRows) -> Check:
    """Every camera is a rigid, right-handed pose, and K one of square pixels."""
    for name in ("c2w", "next_c2w"):
        matrices = getattr(rows, name)
        rotation = matrices[:, :3, :3]
        off = np.abs(rotation @ np.swapaxes(rotation, 1, 2) - np.eye(3)).max(axis=(1, 2))
        off = np.maximum(off, np.abs(np.linalg.det(rotation) - 1))
        off = np.maximum(off, np.abs(matrices[:, 3] - np.array([0.0, 0, 0, 1])).max(axis=1))
        if (wrong := np.flatnonzero(~(off <= RIGID))).size:
            k = int(wrong[0])
            return failed("camera_rigid", f"{name} is no right-handed rigid pose", frame=k, value=float(off[k]), limit=RIGID)
    return passed("camera_rigid", f"{len(rows)} right-handed, orthonormal poses")


def check_cameras(rows: FrameRows, info: ShotInfo, track: CameraTrack, instants: Sequence[Instant]) -> Check:
    """c2w and K of every row, and of the frame after it, from the camera's description and the take. ``instants`` are N + 1."""
    views = [track.view(instant, info.width, info.height) for instant in instants]
    c2w, K = np.array([v.c2w for v in views]), np.array([v.K for v in views])
    n = len(rows)
    columns: list[Column] = [
        ("c2w", rows.c2w, c2w[:-1], EXACT),
        ("K", rows.K, K[:-1], EXACT * info.width),
        ("next_c2w", rows.next_c2w, c2w[1:], EXACT),
        ("next_K", rows.next_K, K[1:], EXACT * info.width),
        ("near", rows.near, np.full(n, DEPTH_NEAR), 0.0),
        ("far", rows.far, np.full(n, DEPTH_FAR), 0.0),
    ]
    return _compare("cameras", columns, f"{n} cameras equal those computed from the take")


def check_actions(rows: FrameRows, info: ShotInfo, take: Take) -> Check:
    """Action, effective action and flags, from the take's inputs and samples (never from its frame rows)."""
    try:
        table = take.derive_frames(info.frame_ticks)
    except WorldwrightError as error:
        return failed("actions", error.line())
    here = slice(info.first_frame, info.first_frame + info.n_frames)
    columns: list[Column] = [
        ("action", rows.action, table.issued[here], 0.0),
        ("effective", rows.effective, table.effective[here], 1e-7),
        ("flags", rows.flags, table.flags[here], 0.0),
    ]
    return _compare("actions", columns, f"{len(rows)} actions, their effects and flags follow from the take's inputs and samples")


def check_character(rows: FrameRows, instants: Sequence[Instant]) -> Check:
    """The played character's state at every frame."""
    played = [instant.characters[0] for instant in instants[:-1]]
    columns: list[Column] = [
        ("character_position", rows.character_position, np.array([c.position for c in played]), EXACT),
        ("character_yaw", rows.character_yaw, np.array([c.yaw for c in played]), EXACT),
        ("character_pitch", rows.character_pitch, np.array([c.pitch for c in played]), EXACT),
        ("character_velocity", rows.character_velocity, np.array([c.velocity for c in played]), EXACT),
        ("ground", rows.ground, np.array([c.ground for c in played]), 0.0),
    ]
    for k, c in enumerate(played):
        if rows.clip[k] != c.clip:
            return failed(
                "character", f"clip is {rows.clip[k]!r}, the take says {c.clip!r}", frame=k, value=rows.clip[k], limit=c.clip
            )
    return _compare("character", columns, f"{len(rows)} states equal the take's")
