"""A world for people: what is in it, and a picture of it."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image
from rich.table import Table

from worldwright.assets.characters import load_character
from worldwright.assets.scene import build_scene
from worldwright.engine.protocol import DEFAULT_TICK_RATE
from worldwright.engine.registry import make_engine
from worldwright.errors import WorldwrightError
from worldwright.outputs import write_bytes
from worldwright.render.protocol import Moment, Scenery, View
from worldwright.render.raster import RasterRenderer
from worldwright.take.model import CharacterInstant, Instant
from worldwright.transforms import intrinsics
from worldwright.world.files import world_hash
from worldwright.world.spec import World

PICTURE = (1280, 720)


def summary_of_world(world: World) -> Table:
    """A table of what the world has."""
    table = Table(title=f"{world.name}  {world_hash(world)[:8]}", show_header=False, title_justify="left")
    size = [b - a for a, b in zip(world.bounds.min, world.bounds.max, strict=True)]
    bodies = Counter(entity.body for entity in world.entities)
    labels = Counter(entity.label for entity in world.entities)
    if world.generator is not None:
        table.add_row("generator", f"{world.generator.family}, seed {world.generator.seed}")
    table.add_row("bounds", " x ".join(f"{x:.1f}" for x in size) + " m")
    table.add_row("entities", ", ".join(f"{n} {body}" for body, n in sorted(bodies.items())))
    table.add_row("labels", ", ".join(f"{label} {n}" for label, n in labels.most_common()))
    table.add_row("materials", ", ".join(sorted(world.materials)))
    table.add_row("lamps", str(len(world.light.lamps)))
    table.add_row("characters", ", ".join(f"{c.name} ({c.look.model})" for c in world.characters))
    table.add_row("spawns", ", ".join(f"{s.name} at {s.position}" for s in world.spawns))
    table.add_row("goals", ", ".join(goal.name for goal in world.goals) or "none")
    return table


def stand_ins(world: World, packs: Mapping[str, Path]) -> list[str]:
    """What stands in for clips that the models of characters lack, one line a character."""
    lines = []
    for character in world.characters:
        sources = load_character(character, packs).clip_sources
        told = ", ".join(
            f"{ours} by {source.removesuffix(' (stand-in)')}" for ours, source in sources.items() if "(stand-in)" in source
        )
        if told:
            lines.append(f"{character.name} lacks clips; stood in for: {told}")
    return lines


def picture_of_world(world: World, packs: Mapping[str, Path], out: Path, *, device: str = "auto") -> None:
    """Render the world as the player sees it at the start, from behind and a little above, to the PNG ``out``."""
    if out.suffix.lower() != ".png":
        raise WorldwrightError(f"{out.name!r} is no PNG", where="--out", fix="end the name in .png")
    engine = make_engine("panda")
    try:
        engine.load(world, packs)
        state = engine.state()
        instant = Instant(
            tick=0.0,
            positions=state.positions.astype(np.float64),
            rotations=state.rotations.astype(np.float64),
            linear=state.linear.astype(np.float64),
            angular=state.angular.astype(np.float64),
            characters=tuple(
                CharacterInstant(
                    c.id,
                    np.array(c.position),
                    c.yaw,
                    c.pitch,
                    np.array(c.velocity),
                    c.flags,
                    c.clip,
                    c.clip_time,
                    c.ground,
                    c.bones,
                )
                for c in state.characters
            ),
            contacts=state.contacts,
            cameras=state.cameras,
        )
        body_ids = engine.body_ids
    finally:
        engine.close()
    width, height = PICTURE
    view = View(state.cameras["third"], intrinsics(width, height, math.radians(world.camera.fov_y_deg)))
    renderer = RasterRenderer(device=device)
    try:
        renderer.open(Scenery(world, build_scene(world, packs), body_ids, DEFAULT_TICK_RATE), width, height, ("rgb",))
        renderer.submit(Moment(instant, view, instant, view))
        picture = renderer.collect()["rgb"]
    finally:
        renderer.close()
    # Encoded in memory: Pillow says of a file that could not be written neither which nor why.
    encoded = io.BytesIO()
    Image.fromarray(picture).save(encoded, format="PNG")
    write_bytes(out, encoded.getvalue())
