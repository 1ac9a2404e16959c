"""A played session as a Gymnasium environment: a model's world and an engine's with the same spaces, so that a policy of one runs in the other.

Needs gymnasium; nothing else imports this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, KEYS
from worldwright.errors import WorldwrightError
from worldwright.play.dream import Memory, ModelSession
from worldwright.play.engine import EngineSession
from worldwright.play.session import Picture, Session
from worldwright.world.spec import World

U8 = NDArray[np.uint8]
MOUSE_COUNTS = 80.0
"""Mouse counts a frame that an action of 1 stands for: 0.2 rad."""
REACHED = 1.0
"""What reaching the goal is worth beside the way there."""


@dataclass(frozen=True)
class Place:
    """A goal on the ground: metres of the world; reached within ``radius`` of the camera, seen from above."""

    x: float
    y: float
    radius: float = 0.6


def place_of(world: World, name: str | None = None) -> Place:
    """A goal of a world by its name, or its first. Raises WorldwrightError where there is none."""
    for goal in world.goals:
        if name in (None, goal.name):
            return Place(float(goal.position[0]), float(goal.position[1]), float(goal.radius))
    names = ", ".join(goal.name for goal in world.goals) or "it has none"
    raise WorldwrightError(f"no goal {name!r}" if name else "no goal", where=world.name, fix=f"goals: {names}")


class SessionEnv(gymnasium.Env[U8, NDArray[np.float32]]):
    """Any session.

    Observation: the picture, [height, width, 3] uint8 sRGB. Action [10] float32: for each of ``controls.KEYS`` the share of the frame in which it
    is held (0 to 1), then the mouse, -1 to 1 of ``MOUSE_COUNTS``; what lies beyond is clipped.

    Reward, from the camera's way alone, which a model knows as well as an engine: with a ``goal`` the metres that the camera came nearer to it,
    seen from above, and ``REACHED`` more when it is there, which ends the episode; without one the metres that it went where it looked, so that walking
    backwards costs. After ``frames`` frames an episode is truncated.

    ``vary``: each ``reset`` draws the session's seed from the environment's; else every episode begins as the session's seed 0 does.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 24}

    def __init__(
        self,
        session: Session,
        *,
        goal: Place | None = None,
        frames: int = 240,
        vary: bool = True,
        render_mode: Literal["rgb_array"] | None = None,
    ) -> None:
        if frames < 1:
            raise WorldwrightError(f"episodes of {frames} frames", fix="1 at least")
        if render_mode not in (None, "rgb_array"):
            raise WorldwrightError(f"no render mode {render_mode!r}", fix="rgb_array, or none")
        self.session, self.goal, self.frames, self.vary, self.render_mode = session, goal, frames, vary, render_mode
        self.metadata = {**type(self).metadata, "render_fps": session.fps}
        self.observation_space = gymnasium.spaces.Box(0, 255, (session.height, session.width, 3), np.uint8)
        low = np.zeros(len(ACTION_NAMES), np.float32)
        low[len(KEYS) :] = -1
        self._low = low
        self.action_space = gymnasium.spaces.Box(low, np.ones_like(low), dtype=np.float32)
        self._picture: Picture | None = None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[U8, dict[str, Any]]:
        """Begin an episode. The same ``seed`` and actions give the same episode; no ``options`` are known."""
        super().reset(seed=seed)
        own = int(self.np_random.integers(1, 2**31 - 1)) if self.vary else 0
        self._picture = self.session.reset(own)
        return self._seen(self._picture), self._info(self._picture)

    def step(self, action: NDArray[np.float32]) -> tuple[U8, float, bool, bool, dict[str, Any]]:
        """A frame later. Raises WorldwrightError before ``reset`` and for what is no action."""
        before = self._picture
        if before is None:
            raise WorldwrightError("no episode", fix="reset first")
        held = np.asarray(action, np.float64)
        if held.shape != self.action_space.shape or not np.isfinite(held).all():
            raise WorldwrightError(f"an action of {list(held.shape)}", fix=f"{len(ACTION_NAMES)} finite numbers")
        held = np.clip(held, self._low, 1.0)
        held[len(KEYS) :] *= MOUSE_COUNTS
        self._picture = now = self.session.step(held.astype(np.float32))
        reward, reached = reward_of(before.c2w, now.c2w, self.goal)
        return self._seen(now), reward, reached, now.frame >= self.frames, self._info(now)

    def render(self) -> U8 | None:
        """The picture of now, in render mode ``rgb_array``."""
        return None if self.render_mode is None or self._picture is None else self._seen(self._picture)

    def close(self) -> None:
        """Free the session."""
        self.session.close()

    def _seen(self, picture: Picture) -> U8:
        return np.array(picture.rgb, dtype=np.uint8)  # a copy: who keeps observations may write into them

    def _info(self, picture: Picture) -> dict[str, Any]:
        info: dict[str, Any] = {"frame": picture.frame, "c2w": np.array(picture.c2w, dtype=np.float64)}
        if self.goal is not None:
            info["distance"] = _away(picture.c2w, self.goal)
        return info


def reward_of(before: NDArray[np.float64], now: NDArray[np.float64], goal: Place | None) -> tuple[float, bool]:
    """(reward, whether the goal is reached) of a frame between two camera poses c2w [4, 4]; see ``SessionEnv``."""
    if goal is not None:
        left = _away(now, goal)
        reached = left <= goal.radius
        return _away(before, goal) - left + (REACHED if reached else 0.0), reached
    ahead = before[:2, 2]  # OpenCV: the third axis looks forward
    size = float(np.linalg.norm(ahead))
    return (float((now[:2, 3] - before[:2, 3]) @ ahead) / size if size > 1e-6 else 0.0), False


def _away(c2w: NDArray[np.float64], goal: Place) -> float:
    return float(np.hypot(c2w[0, 3] - goal.x, c2w[1, 3] - goal.y))


class WorldModelEnv(SessionEnv):
    """A model's world, from its checkpoint's folder; see ``SessionEnv``. Its pictures and its walls are learned, its reward is that of the engine."""

    def __init__(
        self, model: Path | str, *, memory: Memory = "capture", device: str = "auto", steps: int | None = None, **more: Any
    ) -> None:
        super().__init__(ModelSession.open(Path(model), memory=memory, device=device, steps=steps), **more)


class EngineEnv(SessionEnv):
    """A world in the engine, drawn at ``width`` x ``height``; see ``SessionEnv``. A world's seed changes what is by chance in it, not where it begins."""

    def __init__(
        self,
        world: World,
        packs: Mapping[str, Path] | None = None,
        *,
        width: int = 80,
        height: int = 48,
        fps: int = 24,
        camera: str = "first",
        device: str = "auto",
        **more: Any,
    ) -> None:
        super().__init__(
            EngineSession(world, packs or {}, width=width, height=height, fps=fps, camera=camera, device=device), **more
        )
