"""Wrong cells in ``frames.parquet``: cameras, actions, times, the character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from worldwright.controls import ACTION_NAMES, KEYS
from worldwright.transforms import invert_rigid
from worldwright.verify.faults.registry import Array, Rng, fault
from worldwright.verify.faults.sizes import CENTIMETRE, HALF_DEGREE, shift, turn
from worldwright.verify.workshop import Workshop


def _row(name: str, column: str, change: Callable[[Array, Rng], str | None]) -> None:
    """A fault in one cell of ``frames.parquet``: ``change`` edits the row's value in place and says what it did."""

    @fault(name)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        rows = shop.rows()
        values = getattr(rows, column).copy()
        k = int(rng.integers(shop.n))
        cell = values[k : k + 1]
        text = change(cell, rng)
        if text is None:
            return None
        shop.write_rows(replace(rows, **{column: values}))
        return f"row {k}: {column} {text}"


def _moved_pose(cell: Array, rng: Rng) -> str:
    cell[0] = cell[0] @ shift(rng)
    return "moved by a centimetre"


def _turned_pose(cell: Array, rng: Rng) -> str:
    cell[0] = cell[0] @ turn(rng)
    return "turned by half a degree"


def _inverted_pose(cell: Array, rng: Rng) -> str | None:
    cell[0] = invert_rigid(cell[0])
    return "inverted"


def _flipped_pose(cell: Array, rng: Rng) -> str:
    cell[0] = cell[0] @ np.diag([1.0, -1.0, -1.0, 1.0])
    return "in OpenGL's axes"


def _other_key(cell: Array, rng: Rng) -> str:
    k = int(rng.integers(len(KEYS)))
    cell[0, k] = 0.0 if cell[0, k] > 0 else 1.0
    return f"key {KEYS[k]} {'pressed' if cell[0, k] else 'released'}"


def _other_mouse(cell: Array, rng: Rng) -> str:
    k = int(rng.integers(len(KEYS), len(ACTION_NAMES)))
    cell[0, k] += float(rng.choice([-1, 1]))
    return f"{ACTION_NAMES[k]} one count off"


def _added(amount: float, what: str) -> Callable[[Array, Rng], str]:
    def change(cell: Array, rng: Rng) -> str:
        flat = cell.reshape(-1)
        flat[int(rng.integers(len(flat)))] += amount
        return what

    return change


def _focal(cell: Array, rng: Rng) -> str:
    cell[0, 0, 0] *= 1.005
    cell[0, 1, 1] *= 1.005
    return "focal length half a per cent longer"


def _centre(cell: Array, rng: Rng) -> str:
    cell[0, int(rng.integers(2)), 2] += 0.5
    return "principal point half a pixel off"


_row("row_camera_moved", "c2w", _moved_pose)
_row("row_camera_turned", "c2w", _turned_pose)
_row("row_camera_inverted", "c2w", _inverted_pose)
_row("row_camera_flipped", "c2w", _flipped_pose)
_row("row_next_camera_moved", "next_c2w", _moved_pose)
_row("row_next_camera_turned", "next_c2w", _turned_pose)
_row("row_focal_length", "K", _focal)
_row("row_principal_point", "K", _centre)
_row("row_key", "action", _other_key)
_row("row_mouse", "action", _other_mouse)
_row("row_effective", "effective", _added(CENTIMETRE, "a cell 0.01 off"))
_row("row_tick", "tick", _added(1, "one tick off"))
_row("row_time", "t_ns", _added(1, "a nanosecond off"))
_row("row_flags", "flags", _added(1, "one off"))
_row("row_character_moved", "character_position", _added(CENTIMETRE, "a centimetre off"))
_row("row_character_turned", "character_yaw", _added(HALF_DEGREE, "half a degree off"))
_row("row_character_speed", "character_velocity", _added(CENTIMETRE, "a centimetre a second off"))
_row("row_ground", "ground", _added(1, "another entity"))
_row("row_near", "near", _added(0.05, "twice as far"))


@fault("rows_swapped")
def _rows_swapped(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    a, b = (int(k) for k in rng.choice(shop.n, 2, replace=False))
    if np.array_equal(rows.c2w[a], rows.c2w[b]) and np.array_equal(rows.action[a], rows.action[b]):
        return None
    columns = {}
    for name in ("c2w", "next_c2w", "action", "effective", "flags", "character_position", "character_yaw", "character_velocity"):
        values = getattr(rows, name).copy()
        values[[a, b]] = values[[b, a]]
        columns[name] = values
    shop.write_rows(replace(rows, **columns))
    return f"rows {a} and {b} swapped"


@fault("actions_late")
def _actions_late(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    late = np.roll(rows.action, 1, axis=0)
    if np.array_equal(late, rows.action):
        return None
    shop.write_rows(replace(rows, action=late))
    return "every action one frame late"
