"""The camera is in free space: not inside a thing, and nothing between it and its near plane.

Things that can be touched count. Among leaves, or in a flame, a camera may be.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from worldwright.render.passes import DEPTH_NEAR
from worldwright.transforms import pixel_rays
from worldwright.verify.frame import Frame
from worldwright.verify.measure import Measure
from worldwright.verify.shot_rays import Probe

NAME = "camera_free"
_DIRECTIONS = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
_DIRECTIONS /= np.linalg.norm(_DIRECTIONS, axis=-1, keepdims=True)
BACKS_SHARE = 0.5
REACH = 1000.0


def measure_camera(frame: Frame, probe: Probe, two_sided: NDArray[np.int64]) -> list[Measure]:
    """Rays from the camera to 26 sides that first meet the back of a face (inside a body nearly all do), and rays to the near plane
    that meet anything. Expects a probe of solid things, at this frame's poses."""
    w, h = frame.width, frame.height
    corners = pixel_rays(np.array([[0, 0], [w, 0], [0, h], [w, h], [w / 2, h / 2]], dtype=np.float64), frame.K)
    near = np.linalg.norm(corners, axis=-1) * DEPTH_NEAR
    directions = np.concatenate([_DIRECTIONS, corners / np.linalg.norm(corners, axis=-1, keepdims=True) @ frame.c2w[:3, :3].T])
    origins = np.broadcast_to(frame.c2w[:3, 3], directions.shape).copy()
    hits = probe.cast_rays(origins, directions, REACH)
    around = slice(0, len(_DIRECTIONS))
    met = np.asarray(hits.entity[around]) != 0
    backs = met & (np.einsum("ni,ni->n", np.asarray(hits.normal[around]), _DIRECTIONS) > 0)
    backs &= ~np.isin(np.asarray(hits.entity[around]), two_sided)
    cut = np.asarray(hits.distance[len(_DIRECTIONS) :]) < near
    return [
        Measure(
            NAME,
            frame.index,
            float(backs.sum() / len(_DIRECTIONS)),
            BACKS_SHARE,
            "share of directions in which the camera sees a thing from inside",
        ),
        Measure(NAME, frame.index, float(cut.sum()), 0.0, "rays to the near plane that meet geometry"),
    ]
