"""A child process that cannot outlive its parent: a kill -9 of the command leaves nothing running and no lock held."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it is gone (Linux, prctl(2)); elsewhere this does nothing.

    SIGKILL, because a library in the middle of its work may never get to a handler; outputs are made to be taken up after it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
