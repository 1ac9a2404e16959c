"""Procedural textures: seamless, coloured as asked, the same every time."""

from __future__ import annotations

import typing

import numpy as np
import pytest

from worldwright.assets.textures import _KINDS, _relief, surface_of
from worldwright.world.spec import Material, Texture

KINDS = typing.get_args(Texture.model_fields["kind"].annotation)


def textured(kind: str, **fields: object) -> Material:
    return Material.model_validate({"base_colour": (0.6, 0.3, 0.2), "texture": {"kind": kind, "second": (0.3, 0.2, 0.1)}} | fields)


def test_every_kind_of_the_spec_has_a_texture() -> None:
    assert set(KINDS) == set(_KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_texture_has_no_seam(kind: str) -> None:
    """Neighbours across the border differ no more than neighbours at some other place (a joint lies on the border of some kinds)."""
    for image in (surface_of(textured(kind), "m").base_colour_image, surface_of(textured(kind), "m").normal_image):
        assert image is not None
        p = image.pixels[..., :3].astype(float)
        for axis in (0, 1):
            steps = np.abs(p - np.roll(p, 1, axis)).mean(axis=(1 - axis, 2))
            assert steps[0] <= steps[1:].max() * 1.3


@pytest.mark.parametrize("kind", KINDS)
def test_a_texture_lies_between_its_two_colours_and_is_not_flat(kind: str) -> None:
    surface = surface_of(textured(kind), "m")
    assert surface.base_colour_image is not None
    assert surface.base_colour_image.srgb
    linear = (surface.base_colour_image.pixels[..., :3] / 255.0) ** 2.2
    mean = linear.mean(axis=(0, 1))
    assert (mean > np.array([0.3, 0.2, 0.1]) * 0.6).all()
    assert (mean < np.array([0.6, 0.3, 0.2]) * 1.25).all()
    assert linear.std() > 0.005


@pytest.mark.parametrize("kind", KINDS)
def test_normals_are_unit_and_look_out_of_the_surface(kind: str) -> None:
    image = surface_of(textured(kind), "m").normal_image
    assert image is not None
    assert not image.srgb
    n = image.pixels[..., :3] / 255.0 * 2 - 1
    assert np.abs(np.linalg.norm(n, axis=-1) - 1).max() < 0.02
    assert n[..., 2].min() > 0.5
    assert np.abs(n[..., :2].mean(axis=(0, 1))).max() < 0.02


def test_roughness_and_metalness_stand_in_green_and_blue() -> None:
    image = surface_of(textured("metal", metallic=1.0, roughness=0.4), "m").metallic_roughness_image
    assert image is not None
    assert image.pixels[..., 2].min() == 255
    assert image.pixels[..., 1].mean() / 255 == pytest.approx(0.4, abs=0.05)
    plain = surface_of(textured("brick", roughness=0.8), "m").metallic_roughness_image
    assert plain is not None
    assert plain.pixels[..., 2].max() == 0


def test_a_brick_texture_has_sixteen_courses() -> None:
    mortar = _relief("brick", 0).mix.mean(axis=1) > 0.5
    assert np.count_nonzero(mortar & ~np.roll(mortar, 1)) == 16


def test_the_same_texture_twice_has_the_same_bytes_and_another_seed_others() -> None:
    first = surface_of(textured("stone"), "m").base_colour_image
    surface_of.cache_clear()
    _relief.cache_clear()
    again = surface_of(textured("stone"), "m").base_colour_image
    other = surface_of(textured("stone", texture={"kind": "stone", "seed": 5, "second": (0.3, 0.2, 0.1)}), "m").base_colour_image
    assert first is not None
    assert again is not None
    assert other is not None
    assert np.array_equal(first.pixels, again.pixels)
    assert not np.array_equal(first.pixels, other.pixels)


def test_a_plain_material_needs_no_images() -> None:
    surface = surface_of(Material(base_colour=(0.1, 0.2, 0.3), emissive=(2.0, 1.0, 0.5)), "plain")
    assert surface.base_colour == (0.1, 0.2, 0.3, 1.0)
    assert surface.emissive == (2.0, 1.0, 0.5)
    assert surface.base_colour_image is surface.normal_image is None
