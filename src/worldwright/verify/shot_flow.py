"""Flow against depth and motion: the surface point under a pixel, moved with its body, must land where flow says."""

from __future__ import annotations

import numpy as np

from worldwright.render.passes import FLOW_INVALID, FLOW_SCALE
from worldwright.transforms import invert_rigid, transform_points
from worldwright.verify.frame import Frame
from worldwright.verify.measure import Measure

NAME = "flow"
TOLERANCE_PX = 1 / 16
RELATIVE = 0.002
"""Flow is also allowed this share of its length: the depth it is predicted from is rounded."""
SHARE = 0.005
"""Sampled pixels that may lie beyond the tolerance (a pixel's centre on an edge between triangles)."""
NEAREST = 0.06
"""Metres in front of the next camera below which a point has no trustworthy projection."""


def measure_flow(frame: Frame) -> list[Measure]:
    """Share of sampled pixels (characters excepted: they deform) whose flow is off its prediction, and the median error in pixels."""
    pixels = frame.pixels
    if pixels is None or "flow" not in frame.stored:
        return []
    stored = frame.stored["flow"][pixels.v, pixels.u].astype(np.float64)
    sky = pixels.entity == 0
    seen = np.isfinite(pixels.depth) & ~sky & ~frame.is_character(pixels.entity)
    local = pixels.ray * np.where(seen, pixels.depth, 1.0)[:, None]
    world = transform_points(frame.c2w, local)
    motion = frame.body_motion[frame.body_rows(pixels.entity)]
    moved = np.einsum("nij,nj->ni", motion[:, :3, :3], world) + motion[:, :3, 3]
    then = transform_points(invert_rigid(frame.next_c2w), moved)
    # The sky is infinitely far: only the turn of the camera moves it.
    turned = pixels.ray @ (frame.next_c2w[:3, :3].T @ frame.c2w[:3, :3]).T
    then = np.where(sky[:, None], turned, then)
    ahead = then[:, 2] > NEAREST
    use = (seen | sky) & ahead
    if not use.any():
        return []
    focal = np.array([frame.next_K[0, 0], frame.next_K[1, 1]])
    centre = frame.next_K[:2, 2]
    expected = (
        then[:, :2] / np.where(ahead, then[:, 2], 1.0)[:, None] * focal + centre - np.stack([pixels.u + 0.5, pixels.v + 0.5], -1)
    )
    length = np.linalg.norm(expected, axis=-1)
    use &= length < 1000
    unknown = np.any(stored == FLOW_INVALID, axis=-1)
    error = np.where(unknown, np.inf, np.linalg.norm(stored / FLOW_SCALE - expected, axis=-1))
    excess = np.maximum(error - RELATIVE * length, 0.0)
    beyond = excess > TOLERANCE_PX
    if not use.any():
        return []
    share = float(beyond[use].mean())
    median = float(np.median(excess[use]))
    return [
        Measure(NAME, frame.index, share, SHARE, f"share of pixels whose flow is over {TOLERANCE_PX} px off depth and motion"),
        Measure(NAME, frame.index, median, TOLERANCE_PX, f"median error of flow beyond {RELATIVE:.1%} of its length (px)"),
    ]
