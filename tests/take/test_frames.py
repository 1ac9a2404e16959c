"""Rows a frame: golden values derived by hand, and recorded rows against derived ones."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldwright.controls import ACTION_NAMES, KEY_BITS, KEYS
from worldwright.errors import WorldwrightError
from worldwright.take.frames import Change, effective_row, issued_row, short_turn
from worldwright.take.reader import Take


def test_a_key_pressed_inside_a_frame_counts_for_the_ticks_in_which_it_was_held() -> None:
    forward = KEY_BITS["forward"]
    row = issued_row(10, 10, 0, [Change(13, forward, 0, 0), Change(18, 0, 0, 0)])
    assert row[0] == 0.5, "ticks 13 to 17 of 10 to 19"


def test_a_key_held_from_before_counts_from_the_frames_start() -> None:
    row = issued_row(20, 10, KEY_BITS["run"], [Change(24, 0, 0, 0)])
    assert row[KEYS.index("run")] == 0.4


def test_the_mouse_is_summed_over_the_frame() -> None:
    row = issued_row(0, 10, 0, [Change(0, 0, 3, 1), Change(4, 0, -5, 1), Change(9, 0, 1, 1)])
    assert row[ACTION_NAMES.index("mouse_dx") :] == [-1.0, 3.0]


def test_the_effect_is_along_the_characters_own_axes() -> None:
    east = effective_row((0, 0, 0, math.pi / 2, 0), (2, 0, 0.5, math.pi / 2, 0.1))
    assert east == pytest.approx([0, 2, 0.5, 0, 0.1]), "looking north, going east is going right"
    left = effective_row((1, 1, 0, 0, 0), (1, 2, 0, 0, 0))
    assert left == pytest.approx([0, -1, 0, 0, 0]), "looking east, going north is going left"


def test_a_turn_over_pi_is_the_short_one() -> None:
    assert short_turn(math.radians(350)) == pytest.approx(math.radians(-10))
    row = effective_row((0, 0, 0, 3.1, 0), (0, 0, 0, -3.1, 0))
    assert row[3] == pytest.approx(2 * math.pi - 6.2)


@given(st.floats(-50, 50))
def test_a_short_turn_is_the_same_turn(angle: float) -> None:
    turn = short_turn(angle)
    assert -math.pi < turn <= math.pi
    assert math.cos(turn - angle) == pytest.approx(1)


@given(
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 255), st.integers(-9, 9), st.integers(-9, 9)), max_size=12),
    st.integers(0, 255),
)
def test_two_half_frames_are_the_whole_one(raw: list[tuple[int, int, int, int]], before: int) -> None:
    changes = [Change(*r) for r in sorted({r[0]: r for r in raw}.values())]
    whole = issued_row(0, 40, before, changes)
    first = [c for c in changes if c.tick < 20]
    halves = issued_row(0, 20, before, first), issued_row(20, 20, first[-1].keys if first else before, changes[len(first) :])
    assert whole[:8] == pytest.approx([(a + b) / 2 for a, b in zip(halves[0][:8], halves[1][:8], strict=True)])
    assert whole[8:] == [a + b for a, b in zip(halves[0][8:], halves[1][8:], strict=True)]


def test_derived_rows_equal_the_recorded_ones_to_the_bit(take_path: Path) -> None:
    with Take.open(take_path) as take:
        recorded, derived = take.frames(), take.derive_frames(10)
    assert len(recorded) == 24
    for name in ("frame", "tick", "t_ns", "issued", "effective", "flags"):
        np.testing.assert_array_equal(getattr(recorded, name), getattr(derived, name))


def test_rows_at_another_rate_follow_the_ticks(take_path: Path, made_up: SimpleNamespace) -> None:
    with Take.open(take_path) as take:
        rows = take.frames(8)
        assert len(rows) == 30
        assert rows.t_ns[3] == 100_000_000
        held = [sum(made_up.control(t).keys & 1 for t in range(8 * k, 8 * k + 8)) / 8 for k in range(30)]
        np.testing.assert_allclose(rows.issued[:, 0], held)
        mouse = [sum(made_up.control(t).mouse_dx for t in range(8 * k, 8 * k + 8)) for k in range(30)]
        np.testing.assert_array_equal(rows.issued[:, 8], mouse)
        flags = [np.bitwise_or.reduce([(t // 20) % 3 for t in range(8 * k + 2, 8 * k + 9, 2)]) for k in range(30)]
        np.testing.assert_array_equal(rows.flags, flags)


@pytest.mark.parametrize("ticks", [0, -2, 3])
def test_a_frame_length_between_samples_is_refused(take_path: Path, ticks: int) -> None:
    with Take.open(take_path) as take, pytest.raises(WorldwrightError, match="do not fall on samples"):
        take.frames(ticks)
