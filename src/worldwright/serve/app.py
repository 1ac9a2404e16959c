"""The server: a page, a socket a visitor, and who may come in."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from worldwright.errors import WorldwrightError
from worldwright.serve.guard import Guard
from worldwright.serve.messages import MOST_BYTES
from worldwright.serve.player import Player
from worldwright.serve.scenes import Scene, Settings
from worldwright.serve.visit import BYE_FULL, Rules, Visit

STATIC = Path(__file__).parent / "static"
VERIFY_S = 600.0
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


@dataclass
class House:
    """All visitors of a server."""

    guard: Guard
    rules: Rules
    most: int
    visits: set[Visit] = field(default_factory=set)
    came: int = 0

    async def page(self, request: Request) -> Response:
        """The page."""
        refused = self.guard.refuses(request.headers, request.query_params.get("token"), opening_socket=False)
        if refused:
            return PlainTextResponse(refused, 403)
        return FileResponse(STATIC / "index.html")

    async def health(self, request: Request) -> Response:
        """How many play."""
        refused = self.guard.refuses(request.headers, request.query_params.get("token"), opening_socket=False)
        if refused:
            return PlainTextResponse(refused, 403)
        return JSONResponse({"visitors": len(self.visits), "most": self.most, "processes": sum(len(v.pids) for v in self.visits)})

    async def socket(self, socket: WebSocket) -> None:
        """A visitor."""
        if self.guard.refuses(socket.headers, socket.query_params.get("token"), opening_socket=True):
            await socket.close(1008)  # before it was accepted: the browser is answered 403
            return
        await socket.accept()
        if len(self.visits) >= self.most:
            await socket.send_json({"type": "error", "line": f"all {self.most} places are taken; try again later"})
            await socket.close(BYE_FULL, "full")
            return
        self.came += 1
        visit = Visit(socket, self.rules, self.came)
        self.visits.add(visit)
        try:
            await visit.run()
        finally:
            self.visits.discard(visit)


class _Headers:
    """Adds what keeps a page from being framed, or from loading anything from elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        await self._app(scope, receive, told if scope["type"] == "http" else send)


def make_app(house: House) -> Starlette:
    """The application."""
    return Starlette(
        routes=[
            Route("/", house.page),
            Route("/health", house.health),
            WebSocketRoute("/play", house.socket),
            Mount("/assets", StaticFiles(directory=STATIC / "assets", check_dir=False)),
        ],
        middleware=[Middleware(_Headers)],
    )


def open_port(host: str, port: int) -> socket.socket:
    """A listening socket. Raises WorldwrightError where the port is in use, or the address is not this machine's."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        where = f"--host {host} --port {port}"
        raise WorldwrightError(
            f"cannot listen there ({error.strerror or error})", where=where, fix="choose another --port; 0 takes a free one"
        ) from error
    return listening


async def check_models(scenes: list[Scene], settings: Settings) -> None:
    """Open every model once, in a process: a bad one is told before anybody visits."""
    for source in {source.path: source for scene in scenes for source in scene.sources if source.kind == "model"}.values():
        player = await Player.open(source.request(settings))
        await player.close(grace=0.0)


def verifier() -> Callable[[Path], Awaitable[bool]]:
    """``worldwright verify`` of a take in a process of low priority, one at a time."""
    turn = asyncio.Semaphore(1)

    async def verify(take: Path) -> bool:
        async with turn:
            process = await asyncio.create_subprocess_exec(
                *(["nice", "-n", "10"] if shutil.which("nice") else []),
                sys.executable,
                "-m",
                "worldwright",
                "verify",
                str(take),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                async with asyncio.timeout(VERIFY_S):
                    return await process.wait() == 0
            finally:
                if process.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        process.kill()

    return verify


def run(
    scenes: list[Scene],
    settings: Settings,
    guard: Guard,
    *,
    host: str,
    port: int,
    takes: Path,
    most: int,
    idle_s: float,
    ready: Callable[[str], Any],
) -> None:
    """Serve until Ctrl-C. ``ready`` is called with the page's address once visitors can come."""

    async def serve() -> None:
        with open_port(host, port) as listening:
            await check_models(scenes, settings)
            house = House(guard, Rules(scenes, settings, takes, idle_s, verifier()), most)
            config = uvicorn.Config(
                make_app(house),
                log_level="error",
                access_log=False,
                server_header=False,
                lifespan="off",
                ws_max_size=MOST_BYTES,
                ws_ping_interval=5.0,
                ws_ping_timeout=10.0,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=8,
            )
            server = uvicorn.Server(config)
            name = "127.0.0.1" if host in ("0.0.0.0", "::") else host
            if ":" in name:
                name = f"[{name}]"
            real = listening.getsockname()[1]
            ready(f"http://{name}:{real}/" + (f"?token={guard.token}" if guard.token else ""))
            await server.serve([listening])  # after its orderly end it raises the signal again, for the command to tell

    asyncio.run(serve())
