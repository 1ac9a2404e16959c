#!/usr/bin/env python3
"""Splits a lock with torch in it, read from stdin: what every machine needs, and what only torch's CUDA build does.

usage: split_lock.py MAIN CUDA
"""

import re
import sys
from pathlib import Path

CPU_BUILDS = ("sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",)
"""torch 2.13.0+cpu for CPython 3.11 on x86-64 Linux."""

main, cuda = [], []
for block in re.findall(r"^\S.*\n(?: .*\n)*", sys.stdin.read(), flags=re.MULTILINE):
    name, kept = block.partition("==")[0], block
    if name == "torch":
        kept = block.rstrip("\n") + "".join(f" \\\n    --hash={digest}" for digest in CPU_BUILDS) + "\n"
    (cuda if name.startswith(("nvidia-", "cuda-", "triton")) else main).append(kept)
Path(sys.argv[1]).write_text("".join(main))
Path(sys.argv[2]).write_text("".join(cuda))
