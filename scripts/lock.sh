#!/usr/bin/env bash
# Writes the locks anew from pyproject.toml, for every Python that we support. Run by hand: `make lock`.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() { .venv/bin/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links "$@"; }
.venv/bin/python -m pip install --quiet uv
printf 'hatchling\neditables\n' | compile pyproject.toml - -o requirements/base.txt
printf 'hatchling\neditables\n' | compile pyproject.toml - --extra view --extra pathtraced --extra vizdoom --extra serve --group dev -c requirements/base.txt -o requirements/dev.txt
# Blender wants an older numpy: it lives in an environment of its own and is never imported by ours.
printf 'bpy==4.5.0\nnumpy<2\n' | .venv/bin/python -m uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links - -o requirements/bench.txt
# torch: what a CPU needs apart from what only a GPU's build needs (gigabytes); see scripts/lock_torch.py.
full=$(mktemp)
printf 'torch==2.13.0\nsafetensors>=0.5\n' | compile -c requirements/base.txt -c requirements/dev.txt - -o "$full"
.venv/bin/python scripts/lock_torch.py "$full"
rm -f "$full"
