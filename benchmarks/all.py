"""Every benchmark, one after the other: `make bench`. Each prints ratios against something that ran in the same run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
COMMANDS = (
    ("record.py",),
    ("render.py", "--cycles"),
    ("pathtraced.py",),
    ("doom.py",),
    ("serve.py",),
    ("faults.py", "--faults", "1000", "--good", "100"),
)


def main() -> int:
    """Run all; the exit status is the first one that is not 0."""
    status = 0
    for name, *args in COMMANDS:
        started = time.perf_counter()
        print(f"== {name} {' '.join(args)}", flush=True)
        code = subprocess.run([sys.executable, str(HERE / name), *args], check=False).returncode
        print(f"== {name}: {time.perf_counter() - started:.0f} s, exit status {code}\n", flush=True)
        status = status or code
    return status


if __name__ == "__main__":
    sys.exit(main())
