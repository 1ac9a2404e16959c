"""The unit of work: one kind, plain arguments, a plain result. The same function runs here, in a child process or on a cluster.

``python -m worldwright.factory.task`` reads ``{"kind", "args"}`` as JSON from standard input and answers with JSON lines:
``{"progress": [done, total]}`` while it works, then ``{"result": ...}`` or ``{"error": ...}``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from worldwright.errors import WorldwrightError
from worldwright.orphans import die_with_parent
from worldwright.outputs import write_text

Progress = Callable[[int, int], None]
Args = Mapping[str, Any]


def _packs(args: Args) -> dict[str, Path]:
    return {name: Path(path) for name, path in args.get("packs", {}).items()}


def _record(args: Args, progress: Progress) -> dict[str, Any]:
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


def _render(args: Args, progress: Progress) -> dict[str, Any]:
    from worldwright.render.run import render_shot

    report = render_shot(
        Path(args["take"]),
        Path(args["out"]),
        camera=args["camera"],
        preset=args["preset"],
        fps=args["fps"],
        motion_blur=args["motion_blur"],
        renderer=args["renderer"],
        packs=_packs(args),
        progress=progress,
    )
    return asdict(report)


def _verify(args: Args, progress: Progress) -> dict[str, Any]:
    from worldwright.verify.run import verify_path

    verdict = verify_path(Path(args["path"]), _packs(args), progress=progress).as_dict()
    write_text(Path(args["out"]), json.dumps(verdict, indent=1, default=_plain))
    return verdict


def _pack(args: Args, progress: Progress) -> dict[str, Any]:
    from worldwright.dataset.pack import pack

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


KINDS: dict[str, Callable[[Args, Progress], dict[str, Any]]] = {
    "record": _record,
    "render": _render,
    "verify": _verify,
    "pack": _pack,
}


def run_task(kind: str, args: Args, progress: Progress) -> dict[str, Any]:
    """Do one task here. The result has the wall and CPU seconds that it took beside what its kind reports."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = KINDS[kind](args, progress)
    return {"result": result, "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} in a task's result")


def main() -> int:
    """The child's side of ``factory.child``."""
    die_with_parent()
    # Whatever a library prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    request = json.loads(sys.stdin.read())
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.2 or done >= total:
            last = now
            answers.write(json.dumps({"progress": [done, total]}) + "\n")

    try:
        answers.write(json.dumps(run_task(request["kind"], request["args"], progress), default=_plain) + "\n")
    except WorldwrightError as error:
        answers.write(json.dumps({"error": error.line()}) + "\n")
        return 2
    except OSError as error:
        answers.write(json.dumps({"error": f"{error.filename or request['args'].get('out', '')}: {error.strerror}"}) + "\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
