"""Passes that mean something else than they say: other units, axes, signs, curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from worldwright.render.passes import (
    FLOW_INVALID,
    decode_depth,
    decode_normal,
    encode_depth,
    encode_normal,
    linear_to_srgb,
    srgb_to_linear,
)
from worldwright.transforms import pixel_rays
from worldwright.verify.faults.registry import Array, Rng, fault
from worldwright.verify.faults.sizes import CENTIMETRE, matters
from worldwright.verify.workshop import Workshop


def _whole_pass(kind: str, name: str, change: Callable[[Workshop, Array], Array], what: str) -> None:
    @fault(kind)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        before = shop.read(name)
        after = change(shop, before.copy())
        if not any(matters(name, a, b) for a, b in zip(before, after, strict=True)):
            return None
        shop.write(name, after)
        return what


def _ray_length(shop: Workshop) -> Array:
    v, u = np.mgrid[0 : shop.info.height, 0 : shop.info.width]
    return np.linalg.norm(pixel_rays(np.stack([u + 0.5, v + 0.5], -1), shop.rows().K[0]), axis=-1)


def _world_normals(shop: Workshop, code: Array) -> Array:
    c2w = shop.rows().c2w
    return np.stack([encode_normal(np.nan_to_num(decode_normal(c)) @ m[:3, :3].T) for c, m in zip(code, c2w, strict=True)])


def _blended_ids(_shop: Workshop, ids: Array) -> Array:
    wide = ids.astype(np.float64)
    soft = (wide + np.roll(wide, 1, axis=2)) / 2
    return np.rint(soft).astype(np.uint16)


def _twice(_shop: Workshop, code: Array) -> Array:
    return np.rint(linear_to_srgb(code / 255.0) * 255).astype(np.uint8)


def _flow(change: Callable[[Array], Array]) -> Callable[[Workshop, Array], Array]:
    return lambda _shop, code: np.where(
        code == FLOW_INVALID, code, np.clip(np.rint(change(code.astype(np.float64))), -32767, 32767)
    ).astype(np.int16)


_whole_pass(
    "depth_in_centimetres", "depth", lambda _s, c: encode_depth(decode_depth(c) * 100.0), "depth: centimetres sold as metres"
)
_whole_pass(
    "depth_along_the_ray",
    "depth",
    lambda s, c: encode_depth(decode_depth(c) * _ray_length(s)),
    "depth: along the ray, sold as planar",
)
_whole_pass(
    "depth_a_centimetre_off", "depth", lambda _s, c: encode_depth(decode_depth(c) + CENTIMETRE), "depth: a centimetre too far"
)
_whole_pass("normals_in_world_space", "normal", _world_normals, "normal: world space sold as camera space")
_whole_pass(
    "normals_y_up",
    "normal",
    lambda _s, c: encode_normal(np.nan_to_num(decode_normal(c)) * [1, -1, -1]),
    "normal: OpenGL's axes sold as OpenCV's",
)
_whole_pass("albedo_channels", "albedo", lambda _s, c: c[..., ::-1], "albedo: red and blue swapped")
_whole_pass("albedo_gamma_twice", "albedo", _twice, "albedo: sRGB curve applied twice")
_whole_pass(
    "albedo_linear",
    "albedo",
    lambda _s, c: np.rint(srgb_to_linear(c / 255.0) * 255).astype(np.uint8),
    "albedo: linear sold as sRGB-coded",
)
_whole_pass("metallic_is_roughness", "metallic", lambda s, _c: s.read("roughness"), "metallic: roughness in its place")
_whole_pass("roughness_inverted", "roughness", lambda _s, c: 255 - c, "roughness: smoothness in its place")
_whole_pass("entity_anti_aliased", "entity", _blended_ids, "entity: ids filtered at edges")
_whole_pass("entity_off_by_one", "entity", lambda _s, c: np.where(c > 0, c + 1, c).astype(np.uint16), "entity: ids one too high")
_whole_pass("flow_backwards", "flow", _flow(lambda c: -c), "flow: sign turned round")
_whole_pass("flow_half", "flow", _flow(lambda c: c / 2), "flow: half as long")
_whole_pass("flow_axes", "flow", lambda _s, c: c[..., ::-1], "flow: x and y swapped")
_whole_pass("rgb_channels", "rgb", lambda _s, c: c[..., ::-1], "rgb: red and blue swapped")
_whole_pass("rgb_gamma_twice", "rgb", _twice, "rgb: sRGB curve applied twice")
_whole_pass("rgb_mirrored", "rgb", lambda _s, c: c[:, :, ::-1], "rgb: mirrored")
