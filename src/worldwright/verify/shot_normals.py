"""Normals against the slopes of depth: two passes that cannot both be wrong in the same way."""

from __future__ import annotations

import numpy as np

from worldwright.render.passes import decode_normal
from worldwright.verify.frame import Frame
from worldwright.verify.measure import Measure

NAME = "normals"
MEDIAN_DEG = 4.0
"""Smooth shading bends normals away from the flat triangles that depth shows."""
FAR_OFF_DEG = 35.0
FAR_OFF_SHARE = 0.05
TURN_DEG = 0.5
"""A common turn of the normals of flat surfaces: that of a camera in another direction."""
FEWEST = 40
GRAZING = 0.2
"""Cosine to the view below which depth slopes are too steep to measure by."""


def fit_turn(measured: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """The turn (degrees) that best carries unit vectors ``reference`` [n, 3] to ``measured`` [n, 3], and its standard error.

    Least squares of ``measured - reference = w x reference`` for a small turn w, twice reweighted (Huber), only in the directions that
    the vectors determine.
    """
    delta = measured - reference
    weight = np.ones(len(delta))
    x, y, z = reference.T
    zero = np.zeros_like(x)
    rows = np.stack([np.stack([zero, z, -y], -1), np.stack([-z, zero, x], -1), np.stack([y, -x, zero], -1)], axis=1)
    turn = np.zeros(3)
    sigma = 0.0
    spread = np.zeros(3)
    flat, target = rows.reshape(-1, 3), delta.ravel()
    for _ in range(3):
        weighted = flat.T * np.repeat(weight, 3)
        values, vectors = np.linalg.eigh(weighted @ flat)
        known = values > 0.05 * weight.sum()
        inverse = np.where(known, 1.0 / np.where(known, values, 1.0), 0.0)
        turn = vectors @ (inverse * (vectors.T @ (weighted @ target)))
        residual = np.linalg.norm(delta - rows @ turn, axis=-1)
        sigma = 1.4826 * float(np.median(residual)) + 1e-6
        weight = np.minimum(1.0, 1.5 * sigma / np.maximum(residual, 1e-12))
        spread = inverse * sigma**2
    return float(np.degrees(np.linalg.norm(turn))), float(np.degrees(np.sqrt(spread.sum())))


def measure_normals(frame: Frame) -> list[Measure]:
    """Median angle to the normal that depth shows, the share that is far off, and the common turn."""
    pixels = frame.pixels
    if pixels is None or "normal" not in frame.stored:
        return []
    facing = -np.einsum("ni,ni->n", pixels.normal, pixels.ray) / np.linalg.norm(pixels.ray, axis=-1)
    use = pixels.inner & (facing > GRAZING) & ~frame.is_character(pixels.entity)
    if use.sum() < FEWEST:
        return []
    stored = decode_normal(frame.stored["normal"][pixels.v[use], pixels.u[use]]).astype(np.float64)
    reference = pixels.normal[use]
    missing = np.isnan(stored[:, :1])
    stored = np.where(missing, -reference, stored)
    angle = np.degrees(np.arccos(np.clip(np.einsum("ni,ni->n", stored, reference), -1, 1)))
    out = [
        Measure(
            NAME, frame.index, float(np.median(angle)), MEDIAN_DEG, "median angle between normals and depth's slopes (degrees)"
        ),
        Measure(
            NAME,
            frame.index,
            float((angle > FAR_OFF_DEG).mean()),
            FAR_OFF_SHARE,
            f"share of normals over {FAR_OFF_DEG:g} degrees off",
        ),
    ]
    # Shading bends the normals of round things away from their triangles, all to one side at times: only flat surfaces tell a turn.
    codes, reach = frame.stored["normal"].astype(np.int32), max(1, round(frame.height / 180))
    v, u = pixels.v[use], pixels.u[use]
    around = [codes[v + dv * reach, u + du * reach] - codes[v, u] for dv, du in ((0, 1), (0, -1), (1, 0), (-1, 0))]
    flat = np.all([np.abs(step).max(axis=-1) <= 1 for step in around], axis=0)
    if flat.sum() >= FEWEST:
        turn, error = fit_turn(stored[flat], reference[flat])
        out.append(Measure(NAME, frame.index, turn, TURN_DEG + 4 * error, "common turn of the normals of flat surfaces (degrees)"))
    return out
