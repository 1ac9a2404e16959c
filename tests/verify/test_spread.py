"""Work shared out to real processes."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil
import pytest

from worldwright.verify.spread import spread


def count_to(item: int, progress: Callable[[int, int], None]) -> int:
    """``item`` pieces of work."""
    for k in range(item):
        time.sleep(0.01)
        progress(k, item)
    return item * item


def fail_or_go_on(item: int, progress: Callable[[int, int], None]) -> int:
    if item < 0:
        raise ValueError("this one fails")
    return count_to(item, progress)


def at_work() -> list[psutil.Process]:
    """Our processes but the one in which Python counts semaphores."""
    return [child for child in psutil.Process().children() if "resource_tracker" not in " ".join(child.cmdline())]


def test_parts_come_back_in_another_order() -> None:
    seen: list[tuple[int, int]] = []
    assert spread(count_to, [9, 3], lambda done, total: seen.append((done, total)), 12) == [81, 9]
    assert seen[-1] == (12, 12) and seen == sorted(seen)


def test_one_that_fails_is_waited_for_until_the_others_end() -> None:
    start = time.monotonic()
    with pytest.raises(ValueError, match="this one fails"):
        spread(fail_or_go_on, [-1, 100_000], None, 0)
    assert time.monotonic() - start < 100 and at_work() == []


def test_ctrl_c_leaves_processes_at_work() -> None:
    def stop(done: int, _total: int) -> None:
        if done > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread(count_to, [100_000, 100_000], stop, 200_000)
    assert at_work() == []
