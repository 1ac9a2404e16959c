"""Rendering in a process of its own, from the take alone: its graphics driver, its memory and its crash are its own.

``python -m worldwright.render.worker ARGS_JSON`` renders, and says how far it is on its standard output: JSON lines ``{"progress":
[done, total]}``, and at the end ``{"report": {...}}`` or ``{"error": {...}}``. ``render_in_process`` is the other side.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.orphans import die_with_parent
from worldwright.render.run import RenderReport, render_shot

GRACE_S = 10.0
"""How long a renderer may take to close its files after Ctrl-C."""
PROGRESS_EVERY_S = 0.2


def render_in_process(
    take_path: Path, out: Path, *, progress: Callable[[int, int], None] | None = None, **options: Any
) -> RenderReport:
    """``render_shot`` in a child process; the same arguments, errors and report. Ctrl-C ends the child too."""
    options["packs"] = {name: str(folder) for name, folder in (options.get("packs") or {}).items()}
    request = json.dumps({"take_path": str(take_path), "out": str(out), **options})
    with tempfile.TemporaryFile() as words:
        child = subprocess.Popen(
            [sys.executable, "-m", "worldwright.render.worker", request],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
            start_new_session=True,  # Ctrl-C in the terminal reaches the parent alone, which tells the child
        )
        try:
            answer = _listen(child, progress)
        finally:
            _end(child)
        if "report" in answer:
            return RenderReport(**answer["report"])
        if "error" in answer:
            raise WorldwrightError(**answer["error"])
        words.seek(0, os.SEEK_END)
        words.seek(max(0, words.tell() - 4000))
        raise _died(child.returncode, words.read().decode(errors="replace"), out)


def _listen(child: subprocess.Popen[str], progress: Callable[[int, int], None] | None) -> Mapping[str, Any]:
    answer: Mapping[str, Any] = {}
    for line in child.stdout or ():
        answer = json.loads(line)
        if progress is not None and "progress" in answer:
            progress(*answer["progress"])
    child.wait()
    return answer


def _end(child: subprocess.Popen[str]) -> None:
    """Politely first, so that finished segments are closed and kept."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _died(code: int, words: str, out: Path) -> WorldwrightError:
    how = signal.Signals(-code).name if code < 0 else f"status {code}"
    last = (words.strip().splitlines() or ["it said nothing"])[-1]
    raise WorldwrightError(
        f"the rendering process ended by {how}: {last}", where=str(out), fix="run again: it goes on where it stopped"
    )


def main(argv: list[str]) -> int:
    """The child's side."""
    die_with_parent()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints must not mix with the answers
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last > PROGRESS_EVERY_S or done >= total:
            last = now
            answers.write(json.dumps({"progress": [done, total]}) + "\n")

    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        options = json.loads(argv[0])
        take_path, out = Path(options.pop("take_path")), Path(options.pop("out"))
        options["packs"] = {name: Path(folder) for name, folder in options.get("packs", {}).items()}
    except (IndexError, ValueError, KeyError, AttributeError) as error:
        sys.stderr.write(f"error: not a render request ({error}); usage: python -m worldwright.render.worker ARGS_JSON\n")
        return 2
    try:
        report = render_shot(take_path, out, **options, progress=progress)
        answers.write(json.dumps({"report": asdict(report)}) + "\n")
    except WorldwrightError as error:
        answers.write(json.dumps({"error": {"what": error.what, "where": error.where, "fix": error.fix}}) + "\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
