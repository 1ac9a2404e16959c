"""Splits the lock of torch: ``requirements/train.txt`` is what every machine needs beside torch, ``train-cpu.txt`` torch's own build for CPUs
(2.13.0+cpu, from a folder of wheels), ``train-cuda.txt`` PyPI's build with what it needs (gigabytes on Linux).

    python scripts/lock_torch.py FULL_LOCK [FOLDER_OF_WHEELS ...]

Install with ``pip install --require-hashes --no-deps -r requirements/train.txt -r requirements/train-cpu.txt`` where such a wheel is found
(``--find-links``), else with ``train-cuda.txt``. One entry with the hashes of both does not do: pip then takes PyPI's, whose link carries its
hash, before a file whose link does not.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

CUDA = re.compile(r"(nvidia-|cuda-|triton==|torch==)")
REQUIREMENTS = Path(__file__).parents[1] / "requirements"


def entries(text: str) -> list[str]:
    """The packages of a lock, each with its hashes and comments."""
    return [part for part in re.split(r"^(?=[a-z0-9])", text, flags=re.M) if "==" in part]


def main() -> None:
    """Write both."""
    full, *folders = sys.argv[1:]
    places = [Path(folder) for folder in folders or os.environ.get("PIP_FIND_LINKS", "").split()]
    hashes = {hashlib.sha256(wheel.read_bytes()).hexdigest() for place in places for wheel in place.glob("torch-2.13.0+cpu-*.whl")}
    cpu = REQUIREMENTS / "train-cpu.txt"
    if cpu.exists():  # wheels that this machine does not have stay known
        hashes |= set(re.findall(r"sha256:([0-9a-f]{64})", cpu.read_text()))
    cpu.write_text("torch==2.13.0+cpu" + "".join(f" \\\n    --hash=sha256:{value}" for value in sorted(hashes)) + "\n")
    found = entries(Path(full).read_text())
    (REQUIREMENTS / "train.txt").write_text("".join(e for e in found if not CUDA.match(e)))
    (REQUIREMENTS / "train-cuda.txt").write_text("".join(e for e in found if CUDA.match(e)))


if __name__ == "__main__":
    main()
