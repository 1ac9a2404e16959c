"""What ViZDoom costs through us, beside its own loop, and whether what it shows is what was recorded.

    python benchmarks/doom.py [--maps 10] [--seconds 10]

Records maps of Freedoom at 160x120, then renders each take at 1280x720 with rgb, depth and entity, and compares in the same run with a bare
loop of ViZDoom that reads the same: for recording ``make_action``, ``get_state`` and every object's and sector's numbers; for rendering
``advance_action`` of the same demo with picture, depth and labels. Encoding is ours alone and is told beside it. Prints frames a second,
their ratios and the largest distance between the recorded camera and the one that was shown.
Exits 1 when a target is missed: 0.8 of the bare loops for both stages together, position error 0.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from operator import attrgetter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from worldwright.controls import Control
from worldwright.engine.vizdoom.game import Game, level_of
from worldwright.engine.vizdoom.player import action
from worldwright.engine.vizdoom.views import CAMERA, camera
from worldwright.record.loop import record
from worldwright.render.cameras import make_camera
from worldwright.render.passes import ALL_PASSES
from worldwright.render.protocol import Moment, Scenery
from worldwright.render.run import render_shot
from worldwright.render.vizdoom import VizdoomRenderer
from worldwright.take.reader import Take
from worldwright.world.generators import generate
from worldwright.world.spec import World

RATIO, ERROR = 0.8, 0.0
WIDTH, HEIGHT = 1280, 720
console = Console()
_read = attrgetter("id", "position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "angle", "name")


def bare_recording(world: World, take: Take) -> float:
    """Frames a second of ViZDoom alone, played by the take's own keys."""
    game = Game(level_of(world.level, world.name), take.header.seed, 160, 120, pictures=False)
    game.start("bare.lmp")
    controls = list(take.controls())
    began = time.perf_counter()
    for control in controls:
        game.act(action(Control(control.keys), 0.0, 0.0))
        state = game.state()
        read = list(map(_read, state.objects)) if state is not None else []
        read += [(s.floor_height, s.ceiling_height) for s in state.sectors] if state is not None else []
    passed = time.perf_counter() - began
    game.close()
    return len(controls) / passed


def bare_rendering(world: World, take: Take, frames: int) -> tuple[float, float]:
    """Frames a second of ViZDoom alone at full size, and the largest error of its camera's place in metres."""
    game = Game(level_of(world.level, world.name), 0, WIDTH, HEIGHT, pictures=True)
    game.replay(take.attachments()["demo.lmp"])
    error, passed = 0.0, 0.0
    for tick in range(frames):
        began = time.perf_counter()
        if tick:
            game.advance(1)
        state = game.state()
        passed += time.perf_counter() - began
        if state is None:
            break
        assert state.screen_buffer.shape == (HEIGHT, WIDTH, 3) and state.depth_buffer.shape == state.labels_buffer.shape
        found = camera(game.variables(CAMERA))
        error = max(error, float(np.abs(found[:3, 3] - take.instant(tick).cameras["first"][:3, 3]).max()))
    game.close()
    return frames / passed, error


def our_rendering(take: Take, frames: int) -> float:
    """Frames a second of the renderer, from moments to stored codes."""
    header = take.header
    renderer = VizdoomRenderer()
    from worldwright.assets.scene import build_scene

    geometry = build_scene(header.world, {}, images=False)
    scenery = Scenery(header.world, geometry, header.body_ids, header.tick_rate, take.attachments())
    renderer.open(scenery, WIDTH, HEIGHT, renderer.passes)
    track = make_camera("first", header)
    instants = [take.instant(tick) for tick in range(frames)]
    views = [track.view(instant, WIDTH, HEIGHT) for instant in instants]
    began = time.perf_counter()
    for instant, view in zip(instants, views, strict=True):
        renderer.submit(Moment(instant, view, instant, view))
        renderer.collect()
    passed = time.perf_counter() - began
    renderer.close()
    return frames / passed


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--maps", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    table = Table(
        "map", "record", "bare", "ratio", "render", "bare", "ratio", "both", "with encoding", "error m", title="frames a second"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.maps + 1):
            name = f"MAP{number:02d}"
            world = generate("doom", 0, {"map": name})
            path = Path(folder) / f"{name}.mcap"
            rates = {"tick_rate": 35, "frame_rate": 35, "sample_rate": 35}
            report = record(world, {}, path, policy="grammar", seconds=options.seconds, seed=number, engine="vizdoom", **rates)
            recorded = report.times_real_time * 35
            with Take.open(path) as take:
                bare = bare_recording(world, take)
                frames = min(len(take.frames()), 350)
                bare_drawn, error = bare_rendering(world, take, frames)
                drawn = our_rendering(take, frames)
            shot = render_shot(
                path, Path(folder) / name, camera="first", preset="720p", renderer="vizdoom", count=frames, passes=ALL_PASSES
            )
            both = (1 / bare + 1 / bare_drawn) / (1 / recorded + 1 / drawn)
            rows.append((recorded / bare, drawn / bare_drawn, both, error))
            figures = (recorded, bare, recorded / bare, drawn, bare_drawn, drawn / bare_drawn, both, shot.fps)
            table.add_row(name, *(f"{x:.2f}" if x < 10 else f"{x:.0f}" for x in figures), f"{error:g}")
    console.print(table)
    recording, rendering, both = (float(np.median([row[k] for row in rows])) for k in (0, 1, 2))
    error = max(row[3] for row in rows)
    console.print(
        f"ratio of both stages {both:.2f} (median, target {RATIO}; recording alone {recording:.2f}, rendering alone {rendering:.2f}); "
        f"largest error {error:g} m"
    )
    return int(both < RATIO or error > ERROR)


if __name__ == "__main__":
    sys.exit(main())
