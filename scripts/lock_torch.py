"""Splits the lock of torch in two: ``requirements/train.txt`` is what every machine needs, ``requirements/train-cuda.txt`` what PyPI's build for
Linux needs beside it. Hashes of torch's own CPU wheels (version 2.13.0+cpu) are added, so that one lock takes either build.

    python scripts/lock_torch.py FULL_LOCK [FOLDER_OF_WHEELS ...]

Install with ``pip install --require-hashes --no-deps -r requirements/train.txt``: the lock names every package itself, and without
``--no-deps`` pip would want those of the GPU's build too. Where a ``+cpu`` wheel is found (``--find-links``), pip prefers it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

CUDA = re.compile(r"(nvidia-|cuda-|triton==)")
REQUIREMENTS = Path(__file__).parents[1] / "requirements"


def entries(text: str) -> list[str]:
    """The packages of a lock, each with its hashes and comments."""
    return [part for part in re.split(r"^(?=[a-z0-9])", text, flags=re.M) if "==" in part]


def with_wheels(entry: str, hashes: set[str]) -> str:
    """An entry that also takes files with these hashes."""
    first, *rest = [line for line in entry.splitlines() if line.strip() and not line.strip().startswith("#")]
    known = {line.strip().removesuffix("\\").strip() for line in rest} | {f"--hash=sha256:{value}" for value in hashes}
    return f"{first}\n" + " \\\n".join(f"    {value}" for value in sorted(known)) + "\n"


def main() -> None:
    """Write both."""
    full, *folders = sys.argv[1:]
    places = [Path(folder) for folder in folders or os.environ.get("PIP_FIND_LINKS", "").split()]
    hashes = {hashlib.sha256(wheel.read_bytes()).hexdigest() for place in places for wheel in place.glob("torch-2.13.0+cpu-*.whl")}
    old = REQUIREMENTS / "train.txt"
    if old.exists():  # wheels that this machine does not have stay known
        torch = next(entry for entry in entries(old.read_text()) if entry.startswith("torch=="))
        hashes |= set(re.findall(r"sha256:([0-9a-f]{64})", torch))
    found = entries(Path(full).read_text())
    plain = [with_wheels(e, hashes) if e.startswith("torch==") else e for e in found if not CUDA.match(e)]
    (REQUIREMENTS / "train.txt").write_text("".join(plain))
    (REQUIREMENTS / "train-cuda.txt").write_text("".join(e for e in found if CUDA.match(e)))


if __name__ == "__main__":
    main()
