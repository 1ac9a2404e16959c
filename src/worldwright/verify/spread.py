"""Shares work out to processes: an item each, one count of what is done, and an end for all when one fails or the user stops it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any, TypeVar

from worldwright.orphans import die_with_parent

Progress = Callable[[int, int], None]
Item = TypeVar("Item")
Result = TypeVar("Result")

TICK_S = 0.3
_STOP = -(1 << 62)
_counter: Any = None


def spread(work: Callable[[Item, Progress], Result], items: Sequence[Item], progress: Progress | None, total: int) -> list[Result]:
    """``work`` on each item in a process of its own; the results in order.

    Args:
        work: a function of a module, that calls its ``progress`` after each piece (its arguments are not looked at).
        items: what can be pickled.
        progress: called with (pieces done by all, ``total``).
        total: pieces of all items.

    Raises:
        whatever ``work`` raises; the other processes end at their next piece.
    """
    spawn = get_context("spawn")
    counter = spawn.Value("q", 0)
    with ProcessPoolExecutor(len(items), mp_context=spawn, initializer=_begin, initargs=(counter,)) as pool:
        jobs = [pool.submit(_run, work, item) for item in items]
        try:
            for job in _until_done(jobs):
                if job is not None:
                    job.result()
                if progress:
                    progress(counter.value, total)
            return [job.result() for job in jobs]
        finally:
            counter.value = _STOP  # where all went well nobody counts any more


def _until_done(jobs: Sequence[Future[Result]]) -> Iterator[Future[Result] | None]:
    """Each job when it is done, and None now and then."""
    left = set(jobs)
    while left:
        done, left = wait(left, timeout=TICK_S, return_when=FIRST_COMPLETED)
        yield from done or (None,)


def _begin(counter: Any) -> None:
    """A process of the pool. Ctrl-C reaches it too, but is for the parent to act on."""
    global _counter
    _counter = counter
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("LP_NUM_THREADS", "1")  # a process a core: no threads of the software renderer beside them


def _run(work: Callable[[Item, Progress], Result], item: Item) -> Result:
    return work(item, _count)


def _count(_done: int, _total: int) -> None:
    with _counter.get_lock():
        _counter.value += 1
        if _counter.value < 0:
            raise InterruptedError("another part failed, or the work was stopped")
