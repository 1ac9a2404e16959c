"""The unit of work: one kind, plain arguments, a plain result. The same function runs here, in a child process or on a cluster.

``python -m worldwright.factory.task KIND`` reads a line of arguments (JSON) for each task of that kind from standard input, and answers
with JSON lines: ``{"progress": [done, total]}`` while it works, then ``{"result": ...}``, or ``{"error": ...}`` after which it ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from worldwright.errors import WorldwrightError
from worldwright.orphans import die_with_parent
from worldwright.outputs import FULL, write_text

if TYPE_CHECKING:  # each kind of task imports its own part of the package alone
    from worldwright.render.stage import Stage
    from worldwright.verify.context import Context

Progress = Callable[[int, int], None]
Args = Mapping[str, Any]


class Warm:
    """What a process keeps between tasks of one kind: for rendering a stage, for verifying a context. A process that does both shares
    nothing between them, so that a picture is never judged by the renderer that drew it."""

    def __init__(self) -> None:
        self._kept: Stage | Context | None = None

    def stage(self, packs: Mapping[str, Path]) -> Stage:
        """The stage for these packs."""
        from worldwright.render.stage import Stage

        if not (isinstance(self._kept, Stage) and self._kept.packs == packs):
            self.close()
            self._kept = Stage(packs)
        return self._kept

    def context(self, packs: Mapping[str, Path]) -> Context:
        """The context for these packs."""
        from worldwright.verify.context import Context

        if not (isinstance(self._kept, Context) and self._kept.packs == packs):
            self.close()
            self._kept = Context(packs)
        return self._kept

    def close(self) -> None:
        """Free what is kept."""
        if self._kept is not None:
            self._kept.close()
        self._kept = None


def _packs(args: Args) -> dict[str, Path]:
    return {name: Path(path) for name, path in args.get("packs", {}).items()}


def _record(args: Args, progress: Progress, _: Warm) -> dict[str, Any]:
    from worldwright.record.loop import record
    from worldwright.world.files import load_world, world_hash

    world = load_world(Path(args["world"]))
    if world_hash(world) != args["world_hash"]:
        raise WorldwrightError(
            "is not the planned world any more", where=args["world"], fix="remove it: the next run writes it again"
        )
    report = record(
        world,
        _packs(args),
        Path(args["out"]),
        policy=args["policy"],
        policy_params=args["policy_params"],
        seconds=args["seconds"],
        seed=args["seed"],
        engine=args["engine"],
        tick_rate=args["tick_rate"],
        frame_rate=args["frame_rate"],
        sample_rate=args["sample_rate"],
        progress=progress,
    )
    return asdict(report)


def _render(args: Args, progress: Progress, warm: Warm) -> dict[str, Any]:
    from worldwright.render.run import render_shot

    options = {name: value for name, value in args.items() if name not in ("take", "out", "packs")}
    report = render_shot(Path(args["take"]), Path(args["out"]), **options, stage=warm.stage(_packs(args)), progress=progress)
    return asdict(report)


def _verify(args: Args, progress: Progress, warm: Warm) -> dict[str, Any]:
    from worldwright.verify.run import verify_path

    packs = _packs(args)
    verdict = verify_path(Path(args["path"]), packs, progress=progress, context=warm.context(packs)).as_dict()
    write_text(Path(args["out"]), json.dumps(verdict, indent=1, default=_plain))
    return verdict


def _pack(args: Args, progress: Progress, _: Warm) -> dict[str, Any]:
    from worldwright.dataset.pack import pack

    if not args["shots"]:
        raise WorldwrightError("no shot is there and verified", fix="see what failed before it")
    verdicts = {Path(shot): json.loads(Path(file).read_text()) for shot, file in args["verdicts"].items()}
    report = pack(
        [Path(shot) for shot in args["shots"]],
        Path(args["out"]),
        tier=args["tier"],
        name=args["name"],
        verdicts=verdicts,
        progress=progress,
    )
    return asdict(report)


KINDS: dict[str, Callable[[Args, Progress, Warm], dict[str, Any]]] = {
    "record": _record,
    "render": _render,
    "verify": _verify,
    "pack": _pack,
}


def run_task(kind: str, args: Args, progress: Progress, warm: Warm) -> dict[str, Any]:
    """Do one task here. The result has the wall and CPU seconds that it took beside what its kind reports."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = KINDS[kind](args, progress, warm)
    return {"result": result, "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} in a task's result")


def _serve(kind: str, requests: TextIO, answers: TextIO) -> int:
    """Task after task until there are no more, or one fails."""
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.2 or done >= total:
            last = now
            answers.write(json.dumps({"progress": [done, total]}) + "\n")

    with closing(Warm()) as warm:
        for line in requests:
            args = json.loads(line)
            try:
                answers.write(json.dumps(run_task(kind, args, progress, warm), default=_plain) + "\n")
            except WorldwrightError as error:
                answers.write(json.dumps({"error": {"what": error.what, "where": error.where, "fix": error.fix}}) + "\n")
                return 2
            except OSError as error:
                where = str(error.filename or args.get("out", ""))
                fix = "free some space and run the same command again" if error.errno in FULL else ""
                answers.write(json.dumps({"error": {"what": error.strerror or str(error), "where": where, "fix": fix}}) + "\n")
                return 2
            except Exception as error:  # an adapter of another package may raise anything: it is told with what was at work
                traceback.print_exc()
                name = args.get("engine") or args.get("renderer") or kind
                what = f"{name} raised {type(error).__name__}: {' '.join(str(error).split())[:300]}"
                answers.write(json.dumps({"error": {"what": what, "where": str(args.get("out", "")), "fix": ""}}) + "\n")
                return 2
    return 0


def main(argv: list[str]) -> int:
    """The child's side of ``factory.child``."""
    if len(argv) != 1 or argv[0] not in KINDS:
        sys.stderr.write(f"error: usage: python -m worldwright.factory.task {{{','.join(KINDS)}}} < ARGUMENTS\n")
        return 2
    die_with_parent()
    # Whatever a library prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        return _serve(argv[0], sys.stdin, answers)
    except (KeyboardInterrupt, BrokenPipeError):
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
