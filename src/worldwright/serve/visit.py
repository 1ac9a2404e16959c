"""One visitor: what he presses goes to the players, what they show goes to him, at the world's rate and no faster than his line."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from worldwright.controls import KEYS
from worldwright.errors import WorldwrightError
from worldwright.record.inputs import MOST_COUNTS
from worldwright.serve import messages
from worldwright.serve.pace import Pace
from worldwright.serve.player import Player
from worldwright.serve.scenes import Scene, Settings
from worldwright.serve.wire import pack_picture

BYE_GARBAGE, BYE_FLOOD, BYE_IDLE, BYE_GONE, BYE_FULL = 4001, 4002, 4003, 4004, 4005
"""Codes with which a socket is closed."""
LATE_FRAMES = 3
"""Frames in a row that an engine plays without a picture when it is behind its clock."""
GIVE_UP_S = 0.25
"""Seconds behind the clock beyond which the lost time is let go: the world runs slower, and the page says so."""

Verify = Callable[[Path], Any]


@dataclass
class Hands:
    """What the visitor holds, and has done since the last frame."""

    keys: int = 0
    tapped: int = 0
    dx: int = 0
    dy: int = 0
    seq: int = 0

    def take(self) -> list[float]:
        """The action of the next frame (``controls.ACTION_NAMES``). A key that was tapped between two frames counts as held for one."""
        mask = self.keys | self.tapped
        dx, dy = (max(-MOST_COUNTS, min(MOST_COUNTS, v)) for v in (self.dx, self.dy))
        self.tapped = self.dx = self.dy = 0
        return [*(float(mask >> k & 1) for k in range(len(KEYS))), float(dx), float(dy)]


@dataclass
class Rules:
    """What all visitors share: ``takes``, the folder of recordings; ``idle_s``, seconds without input after which a visitor is let go;
    ``verify``, called with a take that was kept, gives its verdict (awaitable, bool)."""

    scenes: list[Scene]
    settings: Settings
    takes: Path
    idle_s: float = 300.0
    verify: Verify | None = None
    clock: Callable[[], float] = field(default=time.monotonic)


class Visit:
    """A visitor's socket, from its opening to its end. ``run`` returns when he has gone; his processes have ended then."""

    def __init__(self, socket: WebSocket, rules: Rules, number: int) -> None:
        self._socket, self._rules, self._number = socket, rules, number
        self._players: list[Player] = []
        self._hands = Hands()
        self._pace = Pace(24.0, rules.clock())
        self._wishes: asyncio.Queue[messages.Message] = asyncio.Queue(maxsize=16)
        self._touched = rules.clock()
        self._picture = 0
        self._paused = False
        self._takes = 0
        self._verdicts: set[asyncio.Task[None]] = set()
        self._dreaming: asyncio.Task[None] | None = None
        self._bye: tuple[int, str] | None = None

    @property
    def pids(self) -> list[int]:
        """His processes."""
        return [player.pid for player in self._players]

    async def run(self) -> None:
        """Serve him."""
        await self._say(
            {
                "type": "hello",
                "scenes": [scene.told(k) for k, scene in enumerate(self._rules.scenes)],
                "keys": list(KEYS),
                "idle_s": self._rules.idle_s,
            }
        )
        listening, playing = asyncio.create_task(self._listen()), asyncio.create_task(self._play())
        try:
            done, _ = await asyncio.wait({listening, playing}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if (error := task.exception()) is not None and not isinstance(error, WebSocketDisconnect | RuntimeError):
                    raise error
        finally:
            for task in (listening, playing, *self._verdicts):
                task.cancel()
            await asyncio.gather(listening, playing, *self._verdicts, return_exceptions=True)
            await self._leave()
            if self._bye is not None:
                with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                    await self._socket.close(*self._bye)

    async def _leave(self) -> None:
        players, self._players = self._players, []
        dreaming, self._dreaming = self._dreaming, None
        if dreaming is not None:
            dreaming.cancel()
            await asyncio.gather(dreaming, return_exceptions=True)
        await asyncio.gather(*(player.close() for player in players))

    async def _say(self, head: Mapping[str, Any]) -> None:
        await self._socket.send_json(dict(head))

    # --- what he says ---

    async def _listen(self) -> None:
        clock = self._rules.clock
        meter = messages.Meter(clock())
        while True:
            event = await self._socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            now = clock()
            if not meter.take(now):
                self._bye = BYE_FLOOD, "too many messages"
                return
            try:
                message = messages.read_message(event.get("text") or "")
            except WorldwrightError as error:
                self._bye = BYE_GARBAGE, error.line()
                return
            match message:
                case messages.Input():
                    hands = self._hands
                    if message.keys != hands.keys or message.tapped or message.dx or message.dy:
                        self._touched = now
                    hands.keys, hands.seq = message.keys, message.seq
                    hands.tapped |= message.tapped
                    hands.dx, hands.dy = hands.dx + message.dx, hands.dy + message.dy
                case messages.Seen():
                    self._pace.answered(message.picture, now)
                case messages.Pause():
                    self._paused, self._touched = message.on, now
                case _:
                    self._touched = now
                    if self._wishes.full():
                        self._bye = BYE_FLOOD, "too many wishes at once"
                        return
                    self._wishes.put_nowait(message)

    # --- what is played ---

    async def _play(self) -> None:
        clock = self._rules.clock
        due, skipped, steps, since, rate = clock(), 0, 0, clock(), 0.0
        while True:
            while not self._wishes.empty() or not self._players:
                if not self._players and self._wishes.empty():
                    try:
                        async with asyncio.timeout(1.0):
                            wish = await self._wishes.get()
                    except TimeoutError:
                        if self._late_or_gone():
                            return
                        continue
                else:
                    wish = self._wishes.get_nowait()
                try:
                    await self._fulfil(wish)
                except WorldwrightError as error:
                    await self._failed(error)
                due = clock()
            if self._late_or_gone():
                return
            if self._paused:
                await asyncio.sleep(0.05)
                due = clock()
                continue
            fps = self._players[0].fps
            now = clock()
            if now - since >= 1.0:
                rate, steps, since = steps / (now - since), 0, now
            late = now - due > 1.0 / fps and skipped < LATE_FRAMES and self._players[0].kind == "engine"
            wanted = not late and self._pace.may_send(now)
            skipped = skipped + 1 if late else 0
            try:
                await self._frame(wanted, rate)
            except WorldwrightError as error:
                await self._failed(error)
                continue
            steps += 1
            due += 1.0 / fps
            now = clock()
            if now > due + GIVE_UP_S:
                due = now
            await asyncio.sleep(max(0.0, due - now))

    def _late_or_gone(self) -> bool:
        now = self._rules.clock()
        if self._pace.gone(now):
            self._bye = BYE_GONE, "no answer"
        elif now - self._touched > self._rules.idle_s:
            self._bye = BYE_IDLE, f"nothing was pressed for {self._rules.idle_s:g} s"
        return self._bye is not None

    async def _failed(self, error: WorldwrightError) -> None:
        """A session that cannot go on is closed, and he may choose again; one that can goes on."""
        await self._say({"type": "error", "line": error.line()})
        if not all(player.alive for player in self._players):
            await self._leave()
            await self._say({"type": "closed"})

    async def _fulfil(self, wish: messages.Message) -> None:
        match wish:
            case messages.Open():
                await self._open(wish)
            case messages.Reset():
                await self._begin({"do": "reset", "seed": wish.seed}, wish.seed)
            case messages.Record(on=True):
                if not self._players or self._players[0].kind != "engine":
                    raise WorldwrightError("only the play of an engine's world becomes a take", fix="choose a world")
                self._takes += 1
                stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
                out = self._rules.takes / f"person-{stamp}-{self._number}-{self._takes}.mcap"
                await self._begin({"do": "record", "out": str(out.absolute()), "params": {"input": "browser"}}, 0)
                await self._say({"type": "recording", "on": True})
            case messages.Record(on=False):
                await self._keep()
            case _:
                pass

    async def _open(self, wish: messages.Open) -> None:
        if wish.scene >= len(self._rules.scenes):
            raise WorldwrightError(f"no scene {wish.scene}")
        try:
            await self._keep()
        finally:
            await self._leave()
        scene, settings = self._rules.scenes[wish.scene], self._rules.settings
        await self._say({"type": "opening", "scene": wish.scene})
        requests = [source.request(settings, camera=wish.camera, memory=wish.memory) for source in scene.sources]
        opened = await asyncio.gather(*(Player.open(request) for request in requests), return_exceptions=True)
        self._players = [player for player in opened if isinstance(player, Player)]
        for error in opened:
            if isinstance(error, BaseException):
                await self._leave()
                raise error
        self._pace = Pace(self._players[0].fps, self._rules.clock())
        await self._say(
            {
                "type": "opened",
                "scene": wish.scene,
                "memory": wish.memory,
                "panes": [{"kind": p.kind, "fps": p.fps, "width": p.width, "height": p.height} for p in self._players],
            }
        )
        await self._begin({"do": "reset", "seed": wish.seed}, wish.seed)

    async def _begin(self, request: dict[str, Any], seed: int) -> None:
        """Begin anew, with the model at the engine's camera where both are played."""
        if not self._players:
            raise WorldwrightError("nothing is played", fix="choose a scene")
        await self._settled()
        self._hands.take()
        first, *rest = self._players
        head, body = await first.ask({**request, "picture": self._grade()})
        await self._show(0, head, body, 0.0)
        for pane, player in enumerate(rest, 1):
            where = {"do": "reset", "seed": seed, "c2w": head["c2w"], "picture": self._grade()}
            await self._show(pane, *(await player.ask(where)), 0.0)

    async def _keep(self) -> None:
        """End a recording, tell him its name, and verify it beside the play."""
        if not self._players or self._players[0].kind != "engine":
            return
        head, _ = await self._players[0].ask({"do": "keep"})
        if head.get("take") is None:
            await self._say({"type": "recording", "on": False})
            return
        await self._say({"type": "take", "file": Path(head["take"]).name, "folder": str(self._rules.takes)})
        if self._rules.verify is not None:
            task = asyncio.create_task(self._judge(Path(head["take"])))
            self._verdicts.add(task)
            task.add_done_callback(self._verdicts.discard)

    async def _judge(self, take: Path) -> None:
        assert self._rules.verify is not None
        await self._say({"type": "verdict", "file": take.name, "passed": bool(await self._rules.verify(take))})

    async def _settled(self) -> None:
        """Wait for the model's frame that is being made."""
        if self._dreaming is not None:
            dreaming, self._dreaming = self._dreaming, None
            await dreaming

    def _grade(self) -> dict[str, Any]:
        grade = self._pace.grade
        return {"quality": grade.quality, "scale": grade.scale}

    async def _frame(self, wanted: bool, rate: float) -> None:
        """One frame of all players. The model dreams a frame while the engine makes the next one."""
        action, seq = self._hands.take(), self._hands.seq
        picture = self._grade() if wanted else None
        first, *rest = self._players
        head, body = await first.ask({"do": "step", "action": action, "picture": picture})
        await self._show(0, head | {"seq": seq}, body, rate)
        if rest:
            await self._settled()
            self._dreaming = asyncio.create_task(self._dream(rest[0], action, head["c2w"], picture, seq, rate))

    async def _dream(
        self, player: Player, action: list[float], c2w: list[float], picture: dict[str, Any] | None, seq: int, rate: float
    ) -> None:
        head, body = await player.ask({"do": "step", "action": action, "c2w": c2w, "picture": picture})
        await self._show(1, head | {"seq": seq}, body, rate)

    async def _show(self, pane: int, head: dict[str, Any], body: bytes, rate: float) -> None:
        if not body:
            return
        self._picture += 1
        pace = self._pace
        told = {
            "picture": self._picture,
            "pane": pane,
            "rate": round(rate, 1),
            "quality": pace.grade.quality,
            **{name: head[name] for name in ("frame", "format", "width", "height", "ms", "step_ms", "info")},
            "seq": head.get("seq", self._hands.seq),
            "recording": head.get("recording", False),
        }
        data = pack_picture(told, body)
        pace.sent(self._picture, len(data), self._rules.clock())
        await self._socket.send_bytes(data)
