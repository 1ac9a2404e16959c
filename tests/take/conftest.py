"""A small world and made-up states for it: takes without an engine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from worldwright.controls import Control
from worldwright.engine.protocol import CharacterState, Event, State
from worldwright.take.model import TakeHeader
from worldwright.take.writer import TakeWriter
from worldwright.transforms import camera_look, quat_normalise
from worldwright.world.files import world_hash
from worldwright.world.spec import World

BODIES, JOINTS = 5, 7


def small_world() -> World:
    part = {"geometry": {"shape": "box", "size": [1, 1, 1]}, "material": "grey"}
    crates = [
        {"name": f"crate{k}", "label": "crate", "body": "dynamic", "mass": 1.0, "position": [k, 0, 1], "parts": [part]}
        for k in range(BODIES)
    ]
    return World.model_validate(
        {
            "name": "small",
            "bounds": {"min": [-50, -50, -5], "max": [50, 50, 20]},
            "materials": {"grey": {}},
            "entities": [{"name": "floor", "label": "floor", "parts": [part]}, *crates],
            "spawns": [{"position": [0, 0, 0]}],
        }
    )


def make_header(**changes: object) -> TakeHeader:
    world = small_world()
    fields: dict[str, object] = {
        "world": world,
        "world_hash": world_hash(world),
        "assets": {"pack/b.glb": "2", "pack/a.glb": "1"},
        "engine": "made-up",
        "engine_version": "1",
        "settings": {"z": "1", "a": "2"},
        "policy": "none",
        "policy_params": {"speed": 1.5},
        "seed": 7,
        "tick_rate": 240,
        "sample_ticks": 2,
        "frame_ticks": 10,
        "body_ids": tuple(range(2, 2 + BODIES)),
        "character_ids": (BODIES + 2,),
        "joint_counts": (JOINTS,),
        "rigs": ("first", "third"),
    }
    return TakeHeader(**(fields | changes))  # type: ignore[arg-type]


def make_state(tick: int, events: tuple[Event, ...] = ()) -> State:
    """Body 0 moves always, body 1 in every third sample, the rest never; the character walks a curve, its yaw passing pi."""
    s = tick / 240
    positions = np.zeros((BODIES, 3), dtype=np.float32)
    positions[:, 0] = np.arange(BODIES)
    positions[0, 2] = np.sin(3 * s)
    positions[1, 1] = tick // 6
    rotations = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (BODIES, 1))
    rotations[0] = [np.cos(s), 0, 0, np.sin(s)]
    bones = np.zeros((JOINTS, 8), dtype=np.float32)
    bones[:, 0] = np.arange(JOINTS) + s
    bones[:, 3:7] = quat_normalise([1.0, 0.1 * np.sin(s), 0.2, 0.0])
    bones[:, 7] = 1
    yaw = float((3.0 + s + np.pi) % (2 * np.pi) - np.pi)
    character = CharacterState(
        id=BODIES + 2,
        position=(s, float(np.sin(s)), 0.0),
        yaw=yaw,
        pitch=0.1 * s,
        velocity=(1.0, 0.0, 0.0),
        flags=(tick // 20) % 3,
        clip="walk",
        clip_time=s % 1.0,
        ground=1,
        bones=bones,
    )
    return State(
        tick=tick,
        positions=positions,
        rotations=rotations,
        linear=np.zeros((BODIES, 3), dtype=np.float32),
        angular=np.zeros((BODIES, 3), dtype=np.float32),
        characters=(character,),
        contacts=np.array([[1, 2], [1, 3]], dtype=np.int32),
        events=events,
        cameras={"first": camera_look([s, 0, 1.6], yaw, 0.1 * s), "third": camera_look([s - 3, 0, 2], yaw, 0.0)},
    )


def control_of(tick: int) -> Control:
    """Forward from tick 3 to 52, run with it from 20 on, the mouse in every seventh tick."""
    keys = (1 if 3 <= tick < 53 else 0) | (16 if 20 <= tick < 53 else 0)
    return Control(keys, *((tick % 5 - 2, 1) if tick % 7 == 0 else (0, 0)))


def write_take(path: Path, ticks: int = 240, header: TakeHeader | None = None) -> None:
    header = header or make_header()
    with TakeWriter(path, header) as writer:
        writer.sample(make_state(0))
        for tick in range(ticks):
            if tick % header.frame_ticks == 0:
                writer.frame(f"intent {tick // header.frame_ticks}")
            writer.input(tick, control_of(tick))
            if (tick + 1) % header.sample_ticks == 0:
                events = (Event(tick, "push", 2, 3, 1.5),) if tick == 99 else ()
                writer.sample(make_state(tick + 1, events))


@pytest.fixture
def take_path(tmp_path: Path) -> Path:
    path = tmp_path / "t.mcap"
    write_take(path)
    return path


@pytest.fixture(scope="session")
def made_up() -> SimpleNamespace:
    """What the tests need of this file: test modules cannot import it."""
    return SimpleNamespace(header=make_header, state=make_state, control=control_of, write=write_take, bodies=BODIES, joints=JOINTS)
