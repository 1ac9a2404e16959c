"""Players along recorded ways: what they show, judged frame by frame as it is shown. Nothing but the frame and its judgement is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from worldwright.evaluate.pictures import depth_error, psnr, ssim
from worldwright.evaluate.players import Player
from worldwright.train.footage import Footage

MARKS = (1, 10, 50, 100, 500)
AROUND = 4
"""A mark's figure is the mean of the frames so many before and after it: one frame of a few takes says little."""
STRIP = (0, 1, 10, 25, 50, 100, 200, 350, 500)
"""Frames of a film strip."""


@dataclass
class Way:
    """What a player did along one take: per frame from 1 on ``psnr``, ``ssim``, ``depth`` (median relative error), ``known`` and ``seconds``;
    ``strip``: some of its frames by number. Mutable while it is made."""

    episode: int
    psnr: list[float] = field(default_factory=list)
    ssim: list[float] = field(default_factory=list)
    depth: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    strip: dict[int, NDArray[np.uint8]] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """A player along all takes. ``truth``: the engine's frames of the strips, by take and number."""

    name: str
    ways: tuple[Way, ...]


def frames_of(
    footage: Footage, episode: int
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float64], NDArray[np.float32]]]:
    """An episode's frames: rgb, depth, c2w, and the action that led there (of zeros for the first)."""
    before = np.zeros(10, np.float32)
    for _, clip in footage.pieces(episode):
        for k in range(len(clip["tick"])):
            yield clip["rgb"][k], np.asarray(clip["depth"][k], np.float32), np.asarray(clip["camera.c2w"][k], np.float64), before
            before = clip["action"][k]


def roll(
    player: Player,
    footage: Footage,
    episodes: Sequence[int],
    most: int,
    tell: Callable[[int], None],
    see: Callable[[int, int, NDArray[np.uint8]], None],
) -> Run:
    """Play along takes, at most ``most`` frames of each. ``tell``: a frame more is done. ``see(episode, frame, rgb)`` gets every frame shown."""
    ways = []
    for episode in episodes:
        way = Way(episode)
        for k, (rgb, depth, c2w, action) in enumerate(frames_of(footage, episode)):
            if k > most:
                break
            began = time.perf_counter()
            shown = player.begin(rgb, depth, c2w) if k == 0 else player.step(action, c2w, (rgb, depth))
            passed = time.perf_counter() - began
            if k in STRIP:
                way.strip[k] = shown.rgb
            see(episode, k, shown.rgb)
            if k == 0:
                continue
            way.psnr.append(psnr(shown.rgb, rgb))
            way.ssim.append(ssim(shown.rgb, rgb))
            way.depth.append(depth_error(shown.depth, depth))
            way.known.append(shown.known)
            way.seconds.append(passed)
            tell(1)
        ways.append(way)
    return Run(player.name, tuple(ways))


def at_mark(run: Run, what: str, mark: int) -> float:
    """Mean of a figure around frame ``mark`` over all takes that are so long; NaN where none is."""
    values: list[float] = []
    for way in run.ways:
        series: list[float] = getattr(way, what)
        if len(series) >= mark:
            low, high = max(0, mark - 1 - AROUND), min(len(series), mark + AROUND)
            values += series[mark - 1 : mark] if mark == 1 else series[low:high]
    finite = [v for v in values if np.isfinite(v)]
    return float(np.mean(finite)) if finite else float("nan")


def cost(run: Run, mark: int) -> float:
    """Median milliseconds of a frame around frame ``mark``: of the 21 frames there, over takes; NaN where no take is so long."""
    values = [s for way in run.ways if len(way.seconds) >= mark + 10 for s in way.seconds[max(0, mark - 11) : mark + 10]]
    return float(np.median(values)) * 1e3 if values else float("nan")


def far_cost(player: Player, footage: Footage, episode: int, far: int) -> dict[str, float]:
    """Median milliseconds of the 21 frames around frame 12 and around frame ``far`` of one session, which goes through an episode there and back as often as it
    takes, and the ratio of the two."""
    frames = [frame for k, frame in enumerate(frames_of(footage, episode)) if k < 96]
    way = [*range(len(frames)), *range(len(frames) - 2, 0, -1)]
    player.begin(*frames[0][:3])
    seconds = []
    for k in range(1, far + 11):
        rgb, depth, c2w, action = frames[way[k % len(way)]]
        began = time.perf_counter()
        player.step(action, c2w, (rgb, depth))
        seconds.append(time.perf_counter() - began)
    early, late = (float(np.median(seconds[m - 11 : m + 10])) * 1e3 for m in (12, far))
    return {"ms at 10": early, f"ms at {far}": late, "ratio": late / early}
