"""The process in which one world is played: ``python -m worldwright.serve.child``. Requests come on stdin, answers go to stdout.

A crash, a hang or the memory of a driver end one visitor's play, and nobody else's. It ends with the server, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from worldwright.controls import ACTION_NAMES
from worldwright.errors import WorldwrightError
from worldwright.orphans import die_with_parent
from worldwright.play.dream import ModelSession
from worldwright.play.engine import EngineSession
from worldwright.play.session import Picture
from worldwright.serve.encode import encode_picture
from worldwright.serve.wire import pack_message, read_message

Played = EngineSession | ModelSession


def open_session(scene: Mapping[str, Any]) -> Played:
    """The session of a scene (``scenes.Scene.request``)."""
    if scene["kind"] == "model":
        dream = ModelSession.open(Path(scene["path"]), memory=scene["memory"], device=scene["device"], steps=scene["steps"])
        suit_threads(dream)
        return dream
    from worldwright.world.files import load_world, resolve_packs
    from worldwright.world.looks import find_look

    path = Path(scene["path"])
    world = load_world(path)
    packs = resolve_packs(world, path, {name: Path(folder) for name, folder in scene["packs"].items()})
    look = find_look(world, scene["look"]) if scene["look"] else None
    session = EngineSession(
        world, packs, width=scene["width"], height=scene["height"], camera=scene["camera"], look=look, device=scene["device"]
    )
    session.suit()
    return session


def suit_threads(session: ModelSession) -> None:
    """As many threads of torch as are fastest now. Threads wait for each other by spinning: where other work holds the cores, two can be
    twenty times slower than one."""
    import torch

    session.reset(0)
    still, taken = np.zeros(len(ACTION_NAMES), np.float32), {}
    for threads in sorted({1, min(4, os.cpu_count() or 1)}):
        torch.set_num_threads(threads)
        session.step(still)
        start = time.perf_counter()
        session.step(still)
        session.step(still)
        taken[threads] = time.perf_counter() - start
    torch.set_num_threads(min(taken, key=lambda threads: taken[threads]))


def answer(session: Played, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """What one request gives: a head, and a picture where one was asked for."""
    start = time.perf_counter()
    grade = request.get("picture")
    head: dict[str, Any] = {}
    picture: Picture | None = None
    match request["do"]:
        case "reset":
            where = request.get("c2w")
            if where is not None and isinstance(session, ModelSession):
                picture = session.reset_at(np.reshape(where, (4, 4)), request["seed"])
            else:
                picture = session.reset(request["seed"])
        case "step":
            action, where = request["action"], request.get("c2w")
            if isinstance(session, ModelSession):
                picture = session.step(action) if where is None else session.step_to(action, np.reshape(where, (4, 4)))
            elif grade is None:
                session.advance(action)
                head["c2w"] = session.pose().reshape(-1).tolist()
            else:
                picture = session.step(action)
        case "record" if isinstance(session, EngineSession):
            picture = session.start_recording(Path(request["out"]), request.get("params"))
        case "keep" if isinstance(session, EngineSession):
            kept = session.stop_recording()
            head["take"] = None if kept is None else str(kept)
        case other:
            raise WorldwrightError(f"no request {other!r}")
    if isinstance(session, EngineSession):
        head["recording"] = session.recording is not None
    head["step_ms"] = round((time.perf_counter() - start) * 1e3, 2)
    body = b""
    if picture is not None:
        head |= {"frame": picture.frame, "c2w": picture.c2w.reshape(-1).tolist(), "info": dict(picture.info)}
        if grade is not None:
            body, form = encode_picture(picture.rgb, grade["quality"], grade["scale"])
            head |= form
    head["ms"] = round((time.perf_counter() - start) * 1e3, 2)
    return head, body


def main() -> None:
    """Answer until stdin ends. What goes wrong with a request is told; what goes wrong with the session ends the process."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C in the terminal is the server's to handle
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what libraries print is no answer

    def tell(head: Mapping[str, Any], body: bytes = b"") -> None:
        data = memoryview(pack_message(head, body))
        while data:
            data = data[out.write(data) :]

    session: Played | None = None
    try:
        while (message := read_message(sys.stdin.buffer)) is not None:
            request = message[0]
            try:
                if request["do"] == "open":
                    session = open_session(request["scene"])
                    tell({"kind": session.kind, "fps": session.fps, "width": session.width, "height": session.height})
                    continue
                assert session is not None  # the server opens first
                tell(*answer(session, request))
            except WorldwrightError as error:
                tell({"error": error.line()})
                if session is None:
                    return
    except BrokenPipeError:
        pass
    finally:
        if session is not None:
            with contextlib.suppress(WorldwrightError):
                session.close()


if __name__ == "__main__":
    main()
