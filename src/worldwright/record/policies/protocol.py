"""What a policy is: who presses the keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from worldwright.engine.protocol import Engine, State
from worldwright.record.inputs import FrameInput
from worldwright.world.spec import World

if TYPE_CHECKING:
    from worldwright.record.navigation import NavigationGrid


@dataclass(frozen=True)
class PolicyContext:
    """What a policy may know when it starts.

    Attributes:
        world: the world.
        engine: loaded, at tick 0: for rays and sweeps; a policy never ticks it.
        state: the state at tick 0.
        frames: how many frames will be played.
        frame_ticks: ticks a frame.
        tick_rate: ticks a second.
        rng: the policy's only source of chance.
        navigation: builds the grid of walkable ground around the spawn; slow, so only on demand, and before the first frame.
    """

    world: World
    engine: Engine
    state: State
    frames: int
    frame_ticks: int
    tick_rate: int
    rng: np.random.Generator
    navigation: Callable[[], NavigationGrid]

    @property
    def frame_seconds(self) -> float:
        """Seconds a frame."""
        return self.frame_ticks / self.tick_rate


class Policy(Protocol):
    """Plays the first character of a world, frame by frame. Same context and states give the same inputs."""

    name: str

    @property
    def params(self) -> Mapping[str, object]:
        """What it was made with, as plain JSON: written into the take."""

    def start(self, context: PolicyContext) -> None:
        """Before the first frame. Raises WorldwrightError where this world cannot be played."""

    def act(self, frame: int, state: State) -> FrameInput:
        """The input of a frame, given the state at its beginning."""

    def report(self) -> Mapping[str, object]:
        """What it did, as plain JSON, for people; asked for after the last frame."""
