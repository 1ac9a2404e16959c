"""The passes of a shot: what each channel means and how it is stored.

Stored values are integers, so that lossless codecs and exact comparisons mean something; ``decode`` gives what the convention says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DEPTH_NEAR, DEPTH_FAR = 0.05, 1000.0
"""The range of depth codes, metres. 65,534 steps of the logarithm: half a step is 0.0076 % of the depth."""
DEPTH_STEPS = 65534
NORMAL_STEPS = 4095
"""Octahedral normals in 12 bits a component: below 0.06 degrees from the truth."""
FLOW_SCALE = 32.0
"""Flow codes a pixel: rounding is 1/64 pixel. Codes reach 1,023 pixels."""
FLOW_INVALID = -32768


@dataclass(frozen=True, slots=True)
class PassInfo:
    """How a pass is stored: array [frame, height, width(, channel)] of ``dtype``; what the numbers are, in ``unit`` and ``kind``."""

    name: str
    dtype: str
    channels: int
    unit: str
    kind: str
    encoding: str
    invalid: int | None = None

    def attributes(self) -> dict[str, Any]:
        """What stands in the Zarr array's attributes and in shot.json."""
        base: dict[str, Any] = {
            "unit": self.unit,
            "kind": self.kind,
            "encoding": self.encoding,
            "invalid": self.invalid,
        }
        match self.name:
            case "depth":
                base |= {"near_m": DEPTH_NEAR, "far_m": DEPTH_FAR, "steps": DEPTH_STEPS}
            case "normal":
                base |= {"steps": NORMAL_STEPS}
            case "flow":
                base |= {"scale": 1.0 / FLOW_SCALE}
            case "albedo" | "metallic" | "roughness":
                base |= {"scale": 1.0 / 255.0}
        return base


PASSES = {
    p.name: p
    for p in (
        PassInfo("depth", "uint16", 1, "m", "planar z of the camera, at the pixel's centre", "log: m = near * (far / near) ** ((code - 1) / steps); 0 is no surface", 0),
        PassInfo("normal", "uint16", 2, "1", "unit normal of the geometry in the camera's axes (x right, y down, z forward)", "octahedral: xy / steps * 2 - 1, folded where z < 0; 65535 is no surface", 65535),
        PassInfo("albedo", "uint8", 3, "1", "base colour", "sRGB-coded: decode by the sRGB curve to linear", None),
        PassInfo("metallic", "uint8", 1, "1", "metallic of glTF", "linear", None),
        PassInfo("roughness", "uint8", 1, "1", "perceptual roughness of glTF", "linear", None),
        PassInfo("entity", "uint16", 1, "id", "integer id of the entity; 0 is the sky", "identity", None),
        PassInfo("flow", "int16", 2, "px", "from this frame to the next, x right and y down", "code * scale; -32768 is unknown", FLOW_INVALID),
    )
}  # fmt: skip
"""Every pass but rgb, which is a video of its own."""

ALL_PASSES = ("rgb", *PASSES)


def encode_depth(metres: Array) -> NDArray[np.uint16]:
    """Planar depth in metres (<= 0, inf or NaN: no surface) to codes."""
    metres = np.asarray(metres, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.log(metres / DEPTH_NEAR) / math.log(DEPTH_FAR / DEPTH_NEAR)
    ok = np.isfinite(metres) & (metres > 0)
    return np.where(ok, np.clip(np.rint(np.where(ok, t, 0) * DEPTH_STEPS), 0, DEPTH_STEPS) + 1, 0).astype(np.uint16)


def decode_depth(code: Array) -> NDArray[np.float32]:
    """Codes to planar depth in metres; no surface is NaN."""
    metres = DEPTH_NEAR * np.exp((np.asarray(code, dtype=np.float64) - 1) / DEPTH_STEPS * math.log(DEPTH_FAR / DEPTH_NEAR))
    return np.where(np.asarray(code) == 0, np.nan, metres).astype(np.float32)


def encode_normal(n: Array) -> NDArray[np.uint16]:
    """Unit normals [..., 3] (zero or NaN: none) to octahedral codes [..., 2] (Cigolle et al. 2014, JCGT 3(2))."""
    n = np.asarray(n, dtype=np.float64)
    total = np.abs(n).sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = n[..., :2] / total
    sign = np.where(p >= 0, 1.0, -1.0)
    p = np.where(n[..., 2:] < 0, (1 - np.abs(p[..., ::-1])) * sign, p)
    ok = np.isfinite(total) & (total > 0)
    return np.where(ok, np.rint((np.where(ok, p, 0) * 0.5 + 0.5) * NORMAL_STEPS), 65535).astype(np.uint16)


def decode_normal(code: Array) -> NDArray[np.float32]:
    """Codes [..., 2] to unit normals [..., 3]; none is NaN."""
    code = np.asarray(code)
    p = code.astype(np.float64) / NORMAL_STEPS * 2 - 1
    z = 1 - np.abs(p).sum(axis=-1, keepdims=True)
    sign = np.where(p >= 0, 1.0, -1.0)
    xy = np.where(z < 0, (1 - np.abs(p[..., ::-1])) * sign, p)
    n = np.concatenate([xy, z], axis=-1)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return np.where(code[..., :1] == 65535, np.nan, n).astype(np.float32)


def encode_flow(pixels: Array) -> NDArray[np.int16]:
    """Flow [..., 2] in pixels (NaN or beyond 1,023: unknown, both components) to codes."""
    pixels = np.asarray(pixels, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        ok = np.all(np.abs(pixels) * FLOW_SCALE <= 32767, axis=-1, keepdims=True)
    return np.where(ok, np.rint(np.where(ok, pixels, 0) * FLOW_SCALE), FLOW_INVALID).astype(np.int16)


def decode_flow(code: Array) -> NDArray[np.float32]:
    """Codes [..., 2] to pixels; unknown is NaN."""
    code = np.asarray(code)
    bad = np.any(code == FLOW_INVALID, axis=-1, keepdims=True)
    return np.where(bad, np.nan, code / FLOW_SCALE).astype(np.float32)


def srgb_to_linear(coded: Array) -> NDArray[np.float32]:
    """The sRGB curve (IEC 61966-2-1), values in [0, 1]."""
    c = np.asarray(coded, dtype=np.float64)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4).astype(np.float32)


def linear_to_srgb(linear: Array) -> NDArray[np.float32]:
    """The inverse of ``srgb_to_linear``."""
    c = np.clip(np.asarray(linear, dtype=np.float64), 0, None)
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * c ** (1 / 2.4) - 0.055).astype(np.float32)


def decode(name: str, code: Array) -> Array:
    """Stored values of pass ``name`` to what the convention says: depth m (NaN: none), normal [..., 3], albedo linear [..., 3],
    metallic and roughness in [0, 1], entity as it is, flow in pixels."""
    match name:
        case "depth":
            return decode_depth(code)
        case "normal":
            return decode_normal(code)
        case "albedo":
            return srgb_to_linear(np.asarray(code) / 255.0)
        case "metallic" | "roughness":
            return (np.asarray(code) / 255.0).astype(np.float32)
        case "entity":
            return np.asarray(code)
        case "flow":
            return decode_flow(code)
        case _:
            raise KeyError(name)
