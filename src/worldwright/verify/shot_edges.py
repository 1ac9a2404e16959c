"""rgb against the geometry's passes without drawing anything again: the edges of both lie in the same places, at the same times.

For shots by a renderer that is not installed here, and as a second opinion for all others. Edges of the geometry are steps of entity,
normal, inverse depth and base colour. They are compared with the gradients of rgb at small displacements, and with those of the frames
before and after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, gaussian_gradient_magnitude

from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR, DEPTH_STEPS
from worldwright.verify.measure import failed, passed, skipped
from worldwright.verify.shot_exposure import luma
from worldwright.verify.verdict import Check

NAME = "rgb_registration"
OFFSET_PX = 0.75
"""Over all frames: a systematic displacement of rgb against geometry. Shadows that fall beside what casts them account for up to 0.4."""
ROWS = 180
"""Larger pictures are looked at in every second, third, ... row and column; pixels are those of the smaller picture then."""
REACH = 2
LATE_SHARE = 0.5
MOVING = 0.02
"""Relative change of the geometry's edges between frames from which on time can be told."""
FEWEST_FRAMES = 3

F32 = NDArray[np.float32]

_NEARNESS: F32 = (2 * np.exp(-(np.arange(1 << 16) - 1) / DEPTH_STEPS * np.log(DEPTH_FAR / DEPTH_NEAR) * 0.5)).astype(np.float32)
"""2 / sqrt(depth / DEPTH_NEAR) for each code."""
_NEARNESS[0] = 0


def geometry_edges(stored: Mapping[str, NDArray[Any]]) -> F32 | None:
    """Strength of edges [h, w] of what there is: entity steps, normals, inverse depth, base colour; None without any of them."""
    layers: list[F32] = []
    if "depth" in stored:
        layers.append(gaussian_gradient_magnitude(_NEARNESS[stored["depth"]], 0.8))
    if "normal" in stored:
        flat = np.where(stored["normal"] == 65535, 2048, stored["normal"]).astype(np.float32) / 4095
        layers += [gaussian_gradient_magnitude(flat[..., k], 0.8) for k in range(2)]
    if "albedo" in stored:
        layers.append(gaussian_gradient_magnitude(luma(stored["albedo"]) / 255, 0.8) * 1.5)
    if "entity" in stored:
        ids = stored["entity"].astype(np.int32)
        step = np.zeros(ids.shape, dtype=np.float32)
        across, down = ids[:, 1:] != ids[:, :-1], ids[1:] != ids[:-1]
        step[:, 1:] += across
        step[:, :-1] += across
        step[1:] += down
        step[:-1] += down
        layers.append(gaussian_filter(np.minimum(step, 1), 0.8) * 0.15)
    if not layers:
        return None
    return np.sqrt(np.sum([np.minimum(layer, 0.3) for layer in layers], axis=0))


def rgb_edges(picture: NDArray[np.uint8]) -> F32:
    """Strength of edges of an rgb picture; the square root keeps strong shadows from drowning the rest."""
    return np.sqrt(gaussian_gradient_magnitude(luma(picture) / 255, 0.8))


def _likeness(a: F32, b: F32) -> float:
    """Correlation coefficient."""
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt(float(np.vdot(a, a)) * float(np.vdot(b, b)))
    return float(np.vdot(a, b)) / scale if scale > 0 else 0.0


def displacement(picture: F32, geometry: F32) -> tuple[float, float]:
    """By how many pixels (x, y) the edges of ``picture`` lie off those of ``geometry``: the peak of their correlation over small
    displacements, between pixels by a parabola."""
    m = REACH
    h, w = geometry.shape
    inner = geometry[m : h - m, m : w - m]
    inner = inner - inner.mean()
    power = float(np.vdot(inner, inner))
    score = np.zeros((2 * m + 1, 2 * m + 1))
    for j, i in np.ndindex(score.shape):
        seen = picture[j : h - 2 * m + j, i : w - 2 * m + i].ravel()
        # ``inner`` has mean 0: the mean of ``seen`` takes no part in the product.
        scale = power * (float(np.dot(seen, seen)) - seen.size * float(seen.mean()) ** 2)
        score[j, i] = float(np.dot(seen, inner.ravel())) / np.sqrt(scale) if scale > 0 else 0.0
    j, i = np.unravel_index(int(np.argmax(score)), score.shape)

    def peak(line: NDArray[np.float64], k: int) -> float:
        if k in {0, len(line) - 1}:
            return float(k)
        bend = line[k - 1] - 2 * line[k] + line[k + 1]
        return k if bend >= 0 else float(k + 0.5 * (line[k - 1] - line[k + 1]) / bend)

    return peak(score[j], int(i)) - m, peak(score[:, i], int(j)) - m


def _place(picture: F32, before: F32, own: F32, after: F32) -> float:
    """The time of a picture's edges between those of the geometry at -1, 0 and 1."""
    a, b, c = (_likeness(picture, geometry) for geometry in (before, own, after))
    bend = a - 2 * b + c
    return 0.5 * (a - c) / bend if bend < 0 and b >= max(a, c) else (1.0 if c > a else -1.0)


class EdgeRegistration:
    """Gathers the edges of a shot frame by frame, three at a time, and judges the whole sequence."""

    def __init__(self) -> None:
        self._geometry: dict[int, F32] = {}
        self._picture: dict[int, F32] = {}
        self._drawn: dict[int, NDArray[np.uint8]] = {}
        self._offsets: list[tuple[int, float, float]] = []
        self._times: list[tuple[int, float]] = []

    def add(
        self, index: int, picture: NDArray[np.uint8], stored: Mapping[str, NDArray[Any]], drawn: NDArray[np.uint8] | None = None
    ) -> None:
        """The next frame, in order. ``drawn``: its rgb drawn again, where that is possible.

        Where light makes the strongest edges (a horizon, shadows on a bare field), or weather hides those of the geometry, rgb seems
        displaced or late and is not: then the picture drawn again seems so too, and only what the stored one is beyond it counts.
        """
        step = max(1, round(picture.shape[0] / ROWS))
        if step > 1:  # the same pixels of both
            picture = picture[step // 2 :: step, step // 2 :: step]
            drawn = None if drawn is None else drawn[step // 2 :: step, step // 2 :: step]
            stored = {name: plane[step // 2 :: step, step // 2 :: step] for name, plane in stored.items()}
        geometry = geometry_edges(stored)
        if geometry is None:
            return
        edges = rgb_edges(picture)
        x, y = displacement(edges, geometry)
        if drawn is not None and float(np.hypot(x, y)) > OFFSET_PX:
            own = displacement(rgb_edges(drawn), geometry)
            x, y = x - own[0], y - own[1]
        self._offsets.append((index, x, y))
        self._geometry[index], self._picture[index] = geometry, edges
        if drawn is not None:
            self._drawn[index] = drawn
        if index - 1 in self._geometry and index - 2 in self._geometry:
            self._judge(index - 1)
        self._geometry.pop(index - 2, None)
        self._picture.pop(index - 2, None)
        self._drawn.pop(index - 2, None)

    def _judge(self, k: int) -> None:
        """Where frame k's picture lies in time: 0 at its own geometry, -1 or 1 at its neighbours', by the parabola's peak."""
        before, own, after = (self._geometry[k + d] for d in (-1, 0, 1))
        change = min(1 - _likeness(before, own), 1 - _likeness(own, after))
        if change < MOVING:
            return
        place = _place(self._picture[k], before, own, after)
        if abs(place) > LATE_SHARE and k in self._drawn:
            place -= _place(rgb_edges(self._drawn[k]), before, own, after)
        self._times.append((k, place))

    def state(self) -> tuple[list[tuple[int, float, float]], list[tuple[int, float]]]:
        """What was gathered: (frame, x, y) displacements and (frame, place in time), for joining several workers' parts."""
        return self._offsets, self._times


def check_edges(offsets: list[tuple[int, float, float]], times: list[tuple[int, float]], *, blurred: bool) -> Check:
    """The sequence as a whole: no systematic displacement, and not early or late.

    ``blurred``: rgb has motion blur from the frame's instant on, so that its edges lie along the motion: place is not judged, time is.
    """
    if not offsets:
        return skipped(NAME, "no geometry pass to compare rgb with")
    x, y = (float(np.median([o[k] for o in offsets])) for k in (1, 2))
    off = float(np.hypot(x, y))
    late = float(np.median([place for _, place in times])) if len(times) >= FEWEST_FRAMES else 0.0
    evidence = {"frames": len(offsets), "offset_px": [x, y], "frames_that_tell_time": len(times), "late_frames": late}
    if not blurred and not off <= OFFSET_PX:
        return failed(
            NAME,
            f"rgb lies {x:.2f}, {y:.2f} px off the geometry (median of all frames)",
            frame=offsets[0][0],
            value=off,
            limit=OFFSET_PX,
            evidence=evidence,
        )
    if not abs(late) <= LATE_SHARE:
        return failed(
            NAME,
            f"rgb shows the geometry of {late:+.2f} frames from its own (median of {len(times)} frames)",
            frame=times[0][0],
            value=abs(late),
            limit=LATE_SHARE,
            evidence=evidence,
        )
    told = (
        f"in time by {late:+.2f} frames over {len(times)} frames that move"
        if len(times) >= FEWEST_FRAMES
        else "too little moves to tell time"
    )
    return passed(NAME, f"{len(offsets)} frames: displaced by {x:+.2f}, {y:+.2f} px; {told}", evidence)
