"""The feet of a rig: which joints they are, where their soles go, and what ground speed they show."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.animation import bind_bones, skeleton_of
from worldwright.assets.model import CLIP_RATE, Model, Skeleton
from worldwright.transforms import quat_rotate

F64 = NDArray[np.float64]

NO_FOOT = re.compile(r"ik|control|ctrl|roll|pole|target|helper|twist|end$|nub", re.IGNORECASE)


def sole_paths(model: Model, bones: F64) -> F64:
    """Where the lowest points of the two feet go [F, K, 3]: of the vertices that follow a foot's joint most, those at its sole."""
    bind = bind_bones(model)
    skeleton = skeleton_of(model)
    paths = []
    for joint in _feet(skeleton, bind):
        points = [
            mesh.positions[_strongest(mesh.joints, mesh.weights) == joint] for mesh in model.meshes if mesh.joints is not None
        ]
        mine = np.concatenate(points) if points else np.zeros((0, 3))
        low = mine[mine[:, 2] <= mine[:, 2].min() + 0.02].mean(axis=0) if len(mine) else bind[joint, :3]
        local = np.append(low, 1.0) @ skeleton.inverse_bind[joint].T.astype(np.float64)
        paths.append(quat_rotate(bones[:, joint, 3:7], local[:3] * bones[:, joint, 7:8]) + bones[:, joint, :3])
    return np.stack(paths, axis=1)


def _strongest(joints: NDArray[np.uint16], weights: NDArray[np.float32] | None) -> NDArray[np.uint16]:
    """The joint that moves each vertex most [N]."""
    rows = np.arange(len(joints))
    return joints[rows, np.argmax(weights, axis=1)] if weights is not None else joints[:, 0]


def stance_speed(feet: F64) -> float:
    """Ground speed in m/s that feet [F, K, >=3] of a cycle show: the median horizontal speed of a foot while it is down and moves
    against the body's way, 0 when none travels."""
    step = np.roll(feet, -1, axis=0)[:, :, :3] - np.roll(feet, 1, axis=0)[:, :, :3]
    velocity = step * (CLIP_RATE / 2)
    low, high = feet[:, :, 2].min(axis=0), feet[:, :, 2].max(axis=0)
    down = feet[:, :, 2] <= low + 0.2 * (high - low) + 1e-4
    mean = velocity[down][:, :2].mean(axis=0) if down.any() else np.zeros(2)
    size = float(np.linalg.norm(mean))
    if size < 0.05:
        return 0.0
    along = velocity[down][:, :2] @ (mean / size)
    return float(np.median(along[along > 0]))


_LEFT: tuple[tuple[re.Pattern[str], dict[str, str]], ...] = (
    (re.compile(r"(?<![A-Za-z])[lL](?![A-Za-z])"), {"l": "r", "L": "R"}),
    (re.compile(r"left|Left|LEFT"), {"left": "right", "Left": "Right", "LEFT": "RIGHT"}),
    (re.compile(r"(?<=[a-z])L(?=$|[^a-z])"), {"L": "R"}),
)


def pairs_of(names: Sequence[str]) -> list[tuple[int, int]]:
    """Indices of joints whose names differ by left and right alone."""
    index = {name: k for k, name in enumerate(names)}
    pairs = []
    for name, k in index.items():
        for pattern, other in _LEFT:
            found = pattern.search(name)
            mate = name[: found.start()] + other[found.group()] + name[found.end() :] if found else None
            if mate in index:
                pairs.append((k, index[mate]))
                break
    return pairs


def _feet(skeleton: Skeleton, bones: NDArray[np.floating]) -> list[int]:
    """The two joints that touch the ground: named toes or balls, else feet or ankles, else the lowest pair."""
    pairs = pairs_of(skeleton.names)
    named = [pair for pair in pairs if not NO_FOOT.search(skeleton.names[pair[0]])]
    for pattern in (r"toe|ball", r"foot|ankle", r"leg|shin|calf"):
        fits = [pair for pair in named if re.search(pattern, skeleton.names[pair[0]], re.IGNORECASE)]
        if fits:
            return _lowest(fits, bones)
    if named:
        return _lowest(named, bones)
    return [int(np.argmin(bones[:, 2]))]


def _lowest(pairs: Sequence[tuple[int, int]], bones: NDArray[np.floating]) -> list[int]:
    return list(pairs[int(np.argmin([bones[left, 2] for left, _ in pairs]))])
