"""From what a policy does in a frame to what arrives tick by tick."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldwright.controls import Control
from worldwright.errors import WorldwrightError
from worldwright.record.inputs import FrameInput, tick_controls


@given(st.integers(-5000, 5000), st.integers(-5000, 5000), st.integers(1, 40))
def test_no_mouse_count_is_lost_or_bunched(dx: int, dy: int, ticks: int) -> None:
    controls = tick_controls(FrameInput(3, dx, dy), ticks)
    assert len(controls) == ticks and all(c.keys == 3 for c in controls)
    assert sum(c.mouse_dx for c in controls) == dx and sum(c.mouse_dy for c in controls) == dy
    assert max(c.mouse_dx for c in controls) - min(c.mouse_dx for c in controls) <= 1


def test_seven_counts_over_three_ticks() -> None:
    assert [c.mouse_dx for c in tick_controls(FrameInput(mouse_dx=7), 3)] == [2, 2, 3]
    assert [c.mouse_dx for c in tick_controls(FrameInput(mouse_dx=-7), 3)] == [-2, -2, -3]


def test_controls_given_tick_by_tick_are_used_as_they_are() -> None:
    given_controls = [Control(1), Control(0, 3, 0)]
    assert list(tick_controls(FrameInput(controls=given_controls), 2)) == given_controls


@pytest.mark.parametrize("action", [FrameInput(keys=256), FrameInput(keys=-1), FrameInput(controls=[Control()])])
def test_input_that_no_keyboard_can_give_is_refused(action: FrameInput) -> None:
    with pytest.raises(WorldwrightError, match="the policy"):
        tick_controls(action, 10)
