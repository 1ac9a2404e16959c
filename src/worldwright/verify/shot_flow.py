"""Flow against depth and motion: the surface point under a pixel, moved with its body, must land where flow says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
DEPTH_ERROR = 2e-4
"""Relative error of depth that predictions must bear: half a code is 0.000076; the rest is the renderer's float32."""
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
    motion = frame.body_motion[frame.body_rows(pixels.entity)]
    centres = np.stack([pixels.u + 0.5, pixels.v + 0.5], axis=-1)
    focal, centre = np.array([frame.next_K[0, 0], frame.next_K[1, 1]]), frame.next_K[:2, 2]
    to_next = invert_rigid(frame.next_c2w)
    # The sky is infinitely far: only the turn of the camera moves it.
    turned = pixels.ray @ (frame.next_c2w[:3, :3].T @ frame.c2w[:3, :3]).T

    def flow_at(depth: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        world = transform_points(frame.c2w, pixels.ray * np.where(seen, depth, 1.0)[:, None])
        moved = np.einsum("nij,nj->ni", motion[:, :3, :3], world) + motion[:, :3, 3]
        then = np.where(sky[:, None], turned, transform_points(to_next, moved))
        ahead = then[:, 2] > NEAREST
        return then[:, :2] / np.where(ahead, then[:, 2], 1.0)[:, None] * focal + centre - centres, ahead

    expected, ahead = flow_at(pixels.depth)
    use = (seen | sky) & ahead
    if not use.any():
        return []
    # Where the next camera is close to the point, the rounding of depth alone moves it by pixels.
    unsure = np.linalg.norm(flow_at(pixels.depth * (1 + DEPTH_ERROR))[0] - expected, axis=-1)
    length = np.linalg.norm(expected, axis=-1)
    use &= length < 1000
    unknown = np.any(stored == FLOW_INVALID, axis=-1)
    error = np.where(unknown, np.inf, np.linalg.norm(stored / FLOW_SCALE - expected, axis=-1))
    excess = np.maximum(error - RELATIVE * length - unsure, 0.0)
    beyond = excess > TOLERANCE_PX
    if not use.any():
        return []
    share = float(beyond[use].mean())
    median = float(np.median(excess[use]))
    return [
        Measure(NAME, frame.index, share, SHARE, f"share of pixels whose flow is over {TOLERANCE_PX} px off depth and motion"),
        Measure(NAME, frame.index, median, TOLERANCE_PX, f"median error of flow beyond {RELATIVE:.1%} of its length (px)"),
    ]
