"""What an engine is. Nothing here knows Panda."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import Control
from worldwright.world.spec import World

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

DEFAULT_TICK_RATE = 240
RIGS = ("first", "third")
"""The cameras that ride with the played character."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What an engine is used with where nobody says otherwise: ticks, samples and frames a second; and the rigs that it records."""

    tick_rate: int = DEFAULT_TICK_RATE
    sample_rate: int = 120
    frame_rate: int = 24
    rigs: tuple[str, ...] = RIGS


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a tick: ``kind`` in {"jump", "land", "door", "push", "goal", "out_of_bounds", "fall", ...}."""

    tick: int
    kind: str
    entity: int
    other: int = 0
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class CharacterState:
    """A character after a tick. ``position`` is between the feet; ``yaw`` is the look's (and with it the body's); ``bones`` [J, 8]
    float32 are joints in model space: position xyz, quaternion wxyz, uniform scale."""

    id: int
    position: tuple[float, float, float]
    yaw: float
    pitch: float
    velocity: tuple[float, float, float]
    flags: int
    clip: str
    clip_time: float
    ground: int
    """The entity stood upon, 0 in the air."""
    bones: F32


@dataclass(frozen=True, slots=True)
class State:
    """The whole state after tick ``tick``. Bodies are in the order of ``Engine.body_ids``."""

    tick: int
    positions: F32
    """[B, 3] metres."""
    rotations: F32
    """[B, 4] wxyz."""
    linear: F32
    """[B, 3] m/s."""
    angular: F32
    """[B, 3] rad/s."""
    characters: tuple[CharacterState, ...]
    contacts: I32
    """[C, 2] pairs of entity ids that touch, smaller id first, sorted."""
    events: tuple[Event, ...]
    """Since the last read of the state."""
    cameras: Mapping[str, F64]
    """Rig name to c2w [4, 4] (OpenCV), for the played (first) character."""


@dataclass(frozen=True, slots=True)
class RayHits:
    """distance [N] metres along the unit direction (inf: nothing), entity [N] (0: nothing), normal [N, 3] world space."""

    distance: F64
    entity: I32
    normal: F64


@dataclass(frozen=True, slots=True)
class SweepHit:
    """The first touch of a swept shape: ``fraction`` of the way, normal at the touch, entity. fraction 1 and entity 0: free."""

    fraction: float
    normal: tuple[float, float, float]
    entity: int


class Engine(Protocol):
    """Runs a world in fixed ticks. Same world, seed and controls give the same states, in any process."""

    name: str
    version: str
    tick_rate: int
    body_ids: tuple[int, ...]
    """Ids of the entities that can move (dynamic and kinematic), ascending."""
    character_ids: tuple[int, ...]

    def sample_world(self) -> World | None:
        """A world to try the engine in, for one that cannot run any other's; None: it runs every world."""

    def load(self, world: World, packs: Mapping[str, Path], *, tick_rate: int = DEFAULT_TICK_RATE, seed: int = 0) -> None:
        """Build the world at tick 0. Raises WorldwrightError where it cannot be built (a spawn inside a wall, a missing asset)."""

    def reset(self) -> None:
        """Back to tick 0 of the loaded world, exactly as loaded."""

    def tick(self, control: Control) -> None:
        """Advance one tick with this input for the played character."""

    def state(self) -> State:
        """The state after the last tick."""

    def cast_rays(self, origins: F64, directions: F64, max_distance: float, *, ignore: Sequence[int] = ()) -> RayHits:
        """First hits of rays, origins and unit directions [N, 3], against everything that collides now."""

    def sweep_sphere(self, radius: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move a sphere from start to end."""

    def sweep_capsule(self, radius: float, height: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move an upright capsule (whole height, its centre given) from start to end."""

    def attachments(self) -> Mapping[str, bytes]:
        """The engine's own files of the run so far by name, for a renderer that lets the engine play them again: asked for once, after
        the last tick, and kept in the take. Empty where the states say everything."""

    def snapshot(self) -> dict[str, Any]:
        """Versions and settings that reproduce this run: written into the take."""

    def close(self) -> None:
        """Free everything."""
