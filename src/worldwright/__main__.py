"""The command ``worldwright``, and ``python -m worldwright``."""

from __future__ import annotations

import os
import signal
from typing import NoReturn


def _too_early(*_: object) -> NoReturn:
    os.write(2, b"stopped before anything was begun\n")
    os._exit(130)


def main() -> NoReturn:
    """Run the command; a Ctrl-C while its libraries are still being loaded is no traceback either."""
    signal.signal(signal.SIGINT, _too_early)
    from worldwright.cli import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
