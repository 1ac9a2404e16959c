"""How fast a served world and a served model are: pictures a second, rate of the world, and delay from input to picture, for one visitor and for three.

Visitors are sockets that answer each picture at once, so decoding and drawing in a browser are not in the delay. Each turns and walks; the delay is that from
sending an input to receiving the first picture that was made after it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from websockets.asyncio.client import connect


async def visit(address: str, scene: int, seconds: float) -> dict[str, object]:
    """One visitor's figures."""
    async with connect(address, max_size=None, compression=None) as socket:
        await socket.recv()
        await socket.send(json.dumps({"type": "open", "scene": scene}))
        delays: list[float] = []
        sent: dict[int, float] = {}
        pictures = seq = 0
        start = last = first_frame = None
        head: dict[str, float] = {}
        while start is None or time.perf_counter() - start < seconds:
            data = await socket.recv()
            if isinstance(data, str):
                if json.loads(data)["type"] == "error":
                    raise SystemExit(data)
                continue
            now = time.perf_counter()
            size = struct.unpack("<I", data[:4])[0]
            head = json.loads(data[4 : 4 + size])
            await socket.send(json.dumps({"type": "seen", "picture": head["picture"]}))
            if start is None or last is None or first_frame is None:
                start = last = now
                first_frame = head["frame"]
            pictures += 1
            if head["seq"] in sent:
                delays.append(now - sent.pop(head["seq"]))
            if now - last > 0.25:
                last, seq = now, seq + 1
                sent[seq] = now
                await socket.send(json.dumps({"type": "input", "seq": seq, "keys": int(seq % 3 > 0), "dx": 25}))
        passed = time.perf_counter() - start
        return {
            "pictures": pictures / passed,
            "world": (head["frame"] - (first_frame or 0)) / passed,
            "delay": 1e3 * statistics.median(delays) if delays else float("nan"),
            "step": head["step_ms"],
            "size": f"{head['width']}x{head['height']}",
        }


async def several(address: str, scene: int, visitors: int, seconds: float) -> str:
    """A line of the table."""
    found = await asyncio.gather(*(visit(address, scene, seconds) for _ in range(visitors)))
    mean = {key: statistics.fmean(float(str(one[key])) for one in found) for key in ("pictures", "world", "delay", "step")}
    return f"{mean['pictures']:10.1f} {mean['world']:14.1f} {mean['delay']:10.0f} {mean['step']:10.0f}   {found[0]['size']}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", type=Path, help="a world file; a fresh one of the family rooms unless given")
    parser.add_argument("--model", type=Path, help="a model's folder")
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    command = [sys.executable, "-m", "worldwright"]
    with tempfile.TemporaryDirectory() as folder:
        world = options.world or Path(folder) / "w.yaml"
        if options.world is None:
            subprocess.run(
                [*command, "world", "new", "rooms", "--seed", "1", "-o", str(world)], check=True, stdout=subprocess.DEVNULL
            )
        sources = [str(world), *([str(options.model)] if options.model else [])]
        server = subprocess.Popen(
            [*command, "serve", *sources, "--port", "0", "--size", options.size, "--takes", folder],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[0].replace("http", "ws") + "play"
            scenes = ["side by side", "world", "model"] if options.model else ["world"]
            print(f"{'scene':<14} visitors {'pictures/s':>10} {'world frames/s':>14} {'delay ms':>10} {'step ms':>10}   size")
            for scene, name in enumerate(scenes):
                for visitors in (1, 3):
                    print(f"{name:<14} {visitors:8} {asyncio.run(several(address, scene, visitors, options.seconds))}", flush=True)
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
