"""Train a small policy in a model's world, then let it walk in the engine's, beside one that acts by chance.

    python examples/policy_in_the_model.py MODEL WORLD [--generations 12]

The policy sees an 8 x 4 grey picture and decides to walk, and how fast to turn; the reward is metres gone ahead. It is trained by evolution
strategies (Salimans et al. 2017) with antithetic noise and ranks: no gradient goes through the model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from worldwright.play.env import EngineEnv, SessionEnv, WorldModelEnv
from worldwright.world.files import load_world, resolve_packs

CELLS = 4, 8
INPUTS = CELLS[0] * CELLS[1] + 1
NOISE, RATE = 0.3, 0.3
Act = Callable[[np.ndarray], np.ndarray]


def policy(weights: np.ndarray) -> Act:
    """Linear: [2, INPUTS] weights, of walking and of turning."""

    def act(seen: np.ndarray) -> np.ndarray:
        grey = seen.mean(-1) / 255 - 0.5
        cells = [[part.mean() for part in np.array_split(row, CELLS[1], axis=1)] for row in np.array_split(grey, CELLS[0])]
        walk, turn = np.tanh(weights @ np.append(np.ravel(cells), 0.5))
        action = np.zeros(10, np.float32)
        action[0], action[8] = float(walk > 0), turn
        return action

    return act


def chance(rng: np.random.Generator) -> Act:
    """Walks half of the time and turns anyhow."""

    def act(seen: np.ndarray) -> np.ndarray:
        action = np.zeros(10, np.float32)
        action[0], action[8] = rng.integers(2), rng.uniform(-1, 1)
        return action

    return act


def episode(env: SessionEnv, act: Act, seed: int) -> float:
    """The sum of rewards."""
    seen, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        seen, reward, ended, cut, _ = env.step(act(seen))
        total, over = total + reward, ended or cut
    return total


def train(env: SessionEnv, generations: int, pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Weights [2, INPUTS]."""
    weights = np.zeros((2, INPUTS))
    for generation in range(generations):
        noise = rng.standard_normal((pairs, *weights.shape))
        both = np.concatenate([noise, -noise])
        returns = np.array([episode(env, policy(weights + NOISE * n), generation) for n in both])
        ranks = np.argsort(np.argsort(returns)) / (len(returns) - 1) - 0.5
        weights = weights + RATE / (len(both) * NOISE) * np.einsum("n,nij->ij", ranks, both)
        print(f"generation {generation + 1}: {returns.mean():.2f} m on average, {returns.max():.2f} m at best", flush=True)
    return weights


def main() -> None:
    """The command."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("model", type=Path)
    ask.add_argument("world", type=Path)
    ask.add_argument("--generations", type=int, default=12)
    ask.add_argument("--pairs", type=int, default=6)
    ask.add_argument("--frames", type=int, default=96)
    ask.add_argument("--steps", type=int, default=1, help="denoising steps of the model")
    ask.add_argument("--seed", type=int, default=0)
    given = ask.parse_args()
    rng = np.random.default_rng(given.seed)
    world = load_world(given.world)
    model = WorldModelEnv(given.model, steps=given.steps, frames=given.frames)
    _, width, _ = model.observation_space.shape or (0, 0, 0)
    engine = EngineEnv(
        world,
        resolve_packs(world, given.world, {}),
        width=width,
        height=model.session.height,
        fps=model.session.fps,
        frames=given.frames,
        vary=False,
    )
    trained = policy(train(model, given.generations, given.pairs, rng))
    for name, env in (("model", model), ("engine", engine)):
        random = [episode(env, chance(rng), 10_000 + k) for k in range(5)]
        own = [episode(env, trained, 10_000 + k) for k in range(5)]
        print(f"in the {name}: trained {np.mean(own):.2f} m, by chance {np.mean(random):.2f} m ahead in {given.frames} frames")
        env.close()


if __name__ == "__main__":
    main()
