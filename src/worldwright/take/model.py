"""What a reader of takes gets: plain arrays at an instant, and rows a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.world.spec import World

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TakeHeader:
    """What was recorded: everything but the samples. Times are ticks of ``1 / tick_rate`` seconds."""

    world: World
    world_hash: str
    assets: Mapping[str, str]
    engine: str
    engine_version: str
    settings: Mapping[str, str]
    policy: str
    policy_params: Mapping[str, object]
    seed: int
    tick_rate: int
    sample_ticks: int
    frame_ticks: int
    body_ids: tuple[int, ...]
    character_ids: tuple[int, ...]
    joint_counts: tuple[int, ...]
    rigs: tuple[str, ...]

    @property
    def frame_rate(self) -> float:
        """Frames a second as recorded."""
        return self.tick_rate / self.frame_ticks

    def t_ns(self, tick: int) -> int:
        """Nanoseconds of a tick: tick * 1e9 / tick_rate, rounded down, in integers."""
        return tick * 1_000_000_000 // self.tick_rate


@dataclass(frozen=True, slots=True)
class CharacterInstant:
    """A character at an instant. Model-to-world is ``position`` and ``yaw`` alone; ``bones`` [J, 8] as in the engine's state."""

    id: int
    position: F64
    yaw: float
    pitch: float
    velocity: F64
    flags: int
    clip: str
    clip_time: float
    ground: int
    bones: F32


@dataclass(frozen=True, slots=True)
class Instant:
    """The world at an instant, on a sample or between two: everything that a renderer needs of time.

    ``positions`` [B, 3], ``rotations`` [B, 4] wxyz, ``linear`` and ``angular`` [B, 3] are in the order of ``TakeHeader.body_ids``;
    ``cameras`` is rig name to c2w [4, 4]. ``tick`` may be fractional (sub-frames).
    """

    tick: float
    positions: F64
    rotations: F64
    linear: F64
    angular: F64
    characters: tuple[CharacterInstant, ...]
    contacts: I32
    cameras: Mapping[str, F64]


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A row a frame, N frames at ``frame_ticks``: ``action[i]`` is held from frame i to i + 1. The take also has the state of instant N.

    frame [N] int32, tick [N] int64, t_ns [N] int64, issued [N, len(ACTION_NAMES)] float32, effective [N, len(EFFECT_NAMES)] float32,
    flags [N] uint32.
    """

    frame_ticks: int
    frame: I32
    tick: NDArray[np.int64]
    t_ns: NDArray[np.int64]
    issued: F32
    effective: F32
    flags: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.frame)
