"""The raster renderer against answers derived by hand."""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from worldwright.assets.model import Image, Mesh, Model, SceneGeometry, Skeleton, Surface
from worldwright.errors import WorldwrightError
from worldwright.render.passes import ALL_PASSES, PASSES, decode, linear_to_srgb
from worldwright.render.protocol import Moment, Scenery, View
from worldwright.render.raster import RasterRenderer, describe_device, fieldcache
from worldwright.render.raster.fieldcache import CACHE_VARIABLE
from worldwright.render.raster.textures import paint_surfaces
from worldwright.take.model import CharacterInstant, Instant
from worldwright.transforms import (
    camera_look,
    camera_look_at,
    intrinsics,
    invert_rigid,
    pixel_rays,
    pose_matrix,
    project,
    quat_axis_angle,
    quat_to_matrix,
    quat_yaw,
)
from worldwright.world.spec import World

Array = NDArray[Any]
GREY = Surface("grey", base_colour=(0.5, 0.5, 0.5, 1.0), roughness=0.8)


def quad(corners: Sequence[Sequence[float]], surface: Surface = GREY) -> Mesh:
    """Two triangles over four corners, counter-clockwise from outside."""
    p = np.array(corners, np.float32)
    n = np.cross(p[1] - p[0], p[2] - p[0])
    n = np.tile(n / np.linalg.norm(n), (4, 1)).astype(np.float32)
    uv = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
    return Mesh(p, n, uv, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), surface)


def box(size: float | Sequence[float], surface: Surface = GREY) -> tuple[Mesh, ...]:
    """A box around the origin."""
    x, y, z = np.broadcast_to(np.asarray(size, dtype=float) / 2, 3)
    faces = [
        [(x, -y, -z), (x, y, -z), (x, y, z), (x, -y, z)],
        [(-x, y, -z), (-x, -y, -z), (-x, -y, z), (-x, y, z)],
        [(x, y, -z), (-x, y, -z), (-x, y, z), (x, y, z)],
        [(-x, -y, -z), (x, -y, -z), (x, -y, z), (-x, -y, z)],
        [(-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)],
        [(-x, y, -z), (x, y, -z), (x, -y, -z), (-x, -y, -z)],
    ]
    return tuple(quad(face, surface) for face in faces)


def ground(half: float = 20.0, surface: Surface = GREY) -> tuple[Mesh, ...]:
    """A square at z = 0."""
    return (quad([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], surface),)


def sphere(radius: float, rings: int = 96) -> tuple[Mesh, ...]:
    """A smooth sphere around the origin."""
    v, u = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings + 1), indexing="ij")
    n = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=-1).reshape(-1, 3).astype(np.float32)
    wide = 2 * rings + 1
    i, j = (a.ravel() for a in np.meshgrid(np.arange(rings), np.arange(2 * rings), indexing="ij"))
    a = i * wide + j
    triangles = np.concatenate([np.stack([a, a + wide, a + 1], 1), np.stack([a + 1, a + wide, a + wide + 1], 1)]).astype(np.uint32)
    return (Mesh(n * np.float32(radius), n, np.zeros((len(n), 2), np.float32), triangles, GREY),)


def world_of(places: Sequence[tuple[str, tuple[float, float, float]]], **light: Any) -> World:
    """A world whose entities are at these places: ("static" or "dynamic", position). Their shapes come from the geometry."""
    unit_box = {"geometry": {"shape": "box", "size": (1, 1, 1)}, "material": "m"}
    entities = []
    for k, (body, position) in enumerate(places):
        entity: dict[str, Any] = {"name": f"e{k + 1}", "label": "thing", "body": body, "position": position, "parts": [unit_box]}
        entities.append(entity | ({"mass": 1.0} if body == "dynamic" else {}))
    return World.model_validate(
        {
            "name": "test",
            "bounds": {"min": (-50, -50, -50), "max": (50, 50, 50)},
            "materials": {"m": {}},
            "entities": entities,
            "light": light,
            "spawns": [{"position": (0, 0, 0)}],
        }
    )


def geometry_of(entities: Mapping[int, tuple[Mesh, ...]], characters: Mapping[int, Model] | None = None) -> SceneGeometry:
    """Geometry with nothing else."""
    return SceneGeometry(entities, {}, characters or {}, {})


def instant(positions: Sequence[Sequence[float]] = (), characters: tuple[CharacterInstant, ...] = (), tick: float = 0.0) -> Instant:
    """Bodies at positions, upright."""
    p = np.array(positions, dtype=np.float64).reshape(-1, 3)
    q = np.tile([1.0, 0, 0, 0], (len(p), 1))
    return Instant(tick, p, q, np.zeros_like(p), np.zeros_like(p), characters, np.zeros((0, 2), np.int32), {})


def look(position: Sequence[float], target: Sequence[float], width: int, height: int, fov: float = 1.0) -> View:
    """A camera that looks at a point."""
    return View(camera_look_at(position, target), intrinsics(width, height, fov))


def still(view: View, now: Instant | None = None) -> Moment:
    """A picture of a moment in which nothing moves."""
    at = instant() if now is None else now
    return Moment(at, view, at, view)


def arm() -> tuple[Model, NDArray[np.float32]]:
    """A skinned bar along +Z, 2 m long and 0.4 m wide, with a joint at its foot and one in its middle; and its bones at rest."""
    rows = np.linspace(0, 2, 21)
    corners = np.array([(0.2, -0.2), (0.2, 0.2), (-0.2, 0.2), (-0.2, -0.2)])
    positions = np.array([(x, y, z) for z in rows for x, y in corners], np.float32)
    normals = np.array([(x, y, 0) for _ in rows for x, y in corners / np.linalg.norm(corners[0])], np.float32)
    triangles = []
    for r in range(len(rows) - 1):
        for k in range(4):
            a, b = r * 4 + k, r * 4 + (k + 1) % 4
            triangles += [(a, b, b + 4), (a, b + 4, a + 4)]
    upper = np.clip((positions[:, 2] - 0.5) / 1.0, 0, 1)
    weights = np.stack([1 - upper, upper, 0 * upper, 0 * upper], axis=1).astype(np.float32)
    joints = np.tile(np.array([0, 1, 0, 0], np.uint16), (len(positions), 1))
    mesh = Mesh(
        positions, normals, np.zeros((len(positions), 2), np.float32), np.array(triangles, np.uint32), GREY, joints, weights
    )
    inverse = np.tile(np.eye(4, dtype=np.float32), (2, 1, 1))
    inverse[1, 2, 3] = -1.0
    skeleton = Skeleton(
        ("foot", "middle"),
        np.array([-1, 0], np.int32),
        np.array([[0, 0, 0], [0, 0, 1]], np.float32),
        np.tile(np.array([1, 0, 0, 0], np.float32), (2, 1)),
        np.ones((2, 3), np.float32),
        inverse,
    )
    bones = np.array([[0, 0, 0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0, 0, 1]], np.float32)
    return Model("arm", (mesh,), skeleton), bones


W, H = 96, 64
Picture = dict[str, Array]


@pytest.fixture(scope="module")
def renderer() -> Iterator[RasterRenderer]:
    made = RasterRenderer()
    yield made
    made.close()


TICK_RATE = 240


def bare() -> Scenery:
    return Scenery(world_of([("static", (0, 0, 0))]), geometry_of({1: ground()}), (), TICK_RATE)


def picture(
    renderer: RasterRenderer,
    world: World,
    geometry: SceneGeometry,
    moment: Moment,
    bodies: tuple[int, ...] = (),
    passes: tuple[str, ...] = ALL_PASSES,
    size: tuple[int, int] = (W, H),
) -> Picture:
    renderer.open(Scenery(world, geometry, bodies, TICK_RATE), *size, passes)
    renderer.submit(moment)
    return renderer.collect()


def centres(width: int = W, height: int = H) -> NDArray[np.float64]:
    u, v = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    return np.stack([u, v], axis=-1)


def test_every_pass_has_its_stored_form(renderer: RasterRenderer) -> None:
    out = picture(renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: ground()}), still(look((0, 0, 2), (5, 0, 0), W, H)))
    assert set(out) == set(ALL_PASSES)
    assert out["rgb"].shape == (H, W, 3) and out["rgb"].dtype == np.uint8
    for name, info in PASSES.items():
        assert out[name].dtype == np.dtype(info.dtype)
        assert out[name].shape == ((H, W) if info.channels == 1 else (H, W, info.channels))


@pytest.mark.parametrize("height", [0.3, 1.7, 30.0])
def test_depth_is_planar_and_true_on_a_large_plane(renderer: RasterRenderer, height: float) -> None:
    view = View(camera_look((0.3, -0.2, height), 0.4, -0.25), intrinsics(W, H, 1.1))
    out = picture(renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: ground(400.0)}), still(view), passes=("depth",))
    depth = decode("depth", out["depth"])
    rays = pixel_rays(centres(), view.K) @ view.c2w[:3, :3].T
    with np.errstate(divide="ignore"):
        true = -height / rays[..., 2]  # the rays have z = 1 in the camera, so this is planar depth, not distance
    points = view.c2w[:3, 3] + rays * true[..., None]
    inside = (true > 0) & (np.abs(points[..., :2]).max(axis=-1) < 390)
    assert inside.sum() > W * H / 3
    np.testing.assert_allclose(depth[inside], true[inside], rtol=2e-4)
    assert np.isnan(depth[true < 0]).all()


def test_normals_are_the_cameras_and_unfiltered(renderer: RasterRenderer) -> None:
    view = look((4, 1, 2), (0, 0, 0), W, H)
    out = picture(
        renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: sphere(1.0)}), still(view), passes=("normal", "depth")
    )
    normal, depth = decode("normal", out["normal"]), decode("depth", out["depth"])
    hit = ~np.isnan(depth)
    points = pixel_rays(centres(), view.K) * depth[..., None]
    centre = invert_rigid(view.c2w)[:3, 3]
    true = points - centre
    true /= np.linalg.norm(true, axis=-1, keepdims=True)
    angle = np.degrees(np.arccos(np.clip((normal * true).sum(axis=-1), -1, 1)))
    facing = hit & (
        -(true * points).sum(axis=-1) / np.linalg.norm(points, axis=-1) > 0.3
    )  # at the rim the facets' depth bends the truth
    assert facing.sum() > 300
    assert np.percentile(angle[facing], 99) < 0.3 and np.median(angle[facing]) < 0.1
    assert (normal[hit][:, 2] < 0.1).all()
    assert np.isnan(normal[~hit]).all()


def test_ids_are_where_projection_says(renderer: RasterRenderer) -> None:
    world = world_of([("static", (0, 0, 0)), ("static", (4, 1, 1)), ("dynamic", (5, -1, 0.5))])
    geometry = geometry_of({1: ground(), 2: box(0.8), 3: box((0.5, 0.7, 0.9))})
    view = look((0, 0, 1.5), (5, 0, 0.6), W, H)
    out = picture(renderer, world, geometry, still(view, instant([(5, -1, 0.5)])), bodies=(3,), passes=("entity",))
    assert set(np.unique(out["entity"])) == {0, 1, 2, 3}
    for entity, place, size in ((2, (4, 1, 1), (0.8, 0.8, 0.8)), (3, (5, -1, 0.5), (0.5, 0.7, 0.9))):
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size + place
        pixels, _ = project(corners, view.c2w, view.K)
        rows, columns = np.nonzero(out["entity"] == entity)
        found = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
        np.testing.assert_allclose(found, np.concatenate([pixels.min(axis=0), pixels.max(axis=0)]), atol=1.01)


def test_flow_of_a_turning_camera_holds_for_the_sky_too(renderer: RasterRenderer) -> None:
    K = intrinsics(W, H, 1.0)
    view, later = View(camera_look((0, 0, 1.5), 0.1, -0.1), K), View(camera_look((0, 0, 1.5), 0.13, -0.08), K)
    world, now = world_of([("static", (0, 0, 0))]), instant()
    out = picture(renderer, world, geometry_of({1: ground()}), Moment(now, view, now, later), passes=("flow", "entity"))
    rays = pixel_rays(centres(), K) @ view.c2w[:3, :3].T @ later.c2w[:3, :3]
    true = (
        np.stack([rays[..., 0] / rays[..., 2] * K[0, 0] + W / 2, rays[..., 1] / rays[..., 2] * K[1, 1] + H / 2], axis=-1)
        - centres()
    )
    assert {0, 1} == set(np.unique(out["entity"]))
    np.testing.assert_allclose(decode("flow", out["flow"]), true, atol=1 / 32)


def test_flow_of_a_moving_box_is_its_own(renderer: RasterRenderer) -> None:
    world = world_of([("static", (0, 0, 0)), ("dynamic", (5, 0, 1))])
    view = look((0, 0, 1), (5, 0, 1), W, H)
    moment = Moment(instant([(5, 0, 1)]), view, instant([(5, 0.3, 1.1)]), view)
    out = picture(renderer, world, geometry_of({1: ground(), 2: box(1.0)}), moment, bodies=(2,))
    flow, mine = decode("flow", out["flow"]), out["entity"] == 2
    points = pixel_rays(centres(), view.K) * decode("depth", out["depth"])[..., None]
    seen = points[mine] @ view.c2w[:3, :3].T + view.c2w[:3, 3]
    pixels, _ = project(seen + np.array([0, 0.3, 0.1]), view.c2w, view.K)
    np.testing.assert_allclose(flow[mine], pixels - centres()[mine], atol=1 / 32)
    assert np.abs(flow[out["entity"] == 1]).max() == 0


def test_what_goes_behind_the_camera_has_unknown_flow(renderer: RasterRenderer) -> None:
    K = intrinsics(W, H, 1.0)
    view, turned = View(camera_look((0, 0, 1), 0, 0), K), View(camera_look((0, 0, 1), np.pi, 0), K)
    now = instant()
    out = picture(
        renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: ground()}), Moment(now, view, now, turned), passes=("flow",)
    )
    assert np.isnan(decode("flow", out["flow"])).all()


def test_the_first_row_is_the_top(renderer: RasterRenderer) -> None:
    view = View(camera_look((0, 0, 1), 0, 0), intrinsics(W, H, 1.0))
    out = picture(renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: ground()}), still(view))
    assert (out["entity"][0] == 0).all() and (out["entity"][-1] == 1).all()


def test_materials_come_out_as_they_went_in(renderer: RasterRenderer) -> None:
    colour = (0.6, 0.05, 0.3)
    surface = Surface("m", base_colour=(*colour, 1.0), metallic=1.0, roughness=0.4)
    view = look((0, 0, 3), (0.01, 0, 0), W, H)
    out = picture(renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: ground(surface=surface)}), still(view))
    assert (out["metallic"] == 255).all() and (out["roughness"] == round(0.4 * 255)).all()
    assert np.abs(out["albedo"].astype(int) - np.rint(linear_to_srgb(np.array(colour)) * 255)).max() <= 1


def test_a_texture_is_upright_and_its_factor_multiplies(renderer: RasterRenderer) -> None:
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[..., 3] = 255
    pixels[:2, :, 0] = 255  # top half red
    pixels[2:, :, 1] = 255  # bottom half green
    surface = Surface("t", base_colour=(0.5, 1, 1, 1), base_colour_image=Image(pixels, True))
    wall = quad([(2, 1, -1), (2, -1, -1), (2, -1, 1), (2, 1, 1)], surface)
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 1.0))
    out = picture(renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: (wall,)}), still(view), passes=("albedo",))
    above, below = out["albedo"][H // 4, W // 2], out["albedo"][3 * H // 4, W // 2]
    assert abs(int(above[0]) - round(float(linear_to_srgb(np.array(0.5))) * 255)) <= 2 and above[1] < 8
    assert below[1] > 250 and below[0] < 8


def test_every_part_of_a_pack_keeps_a_copy_of_its_image() -> None:
    """Parts of a pack share an image, each with a material of its own; a hundred copies of a page were two gigabytes."""
    image = Image(np.full((4, 4, 4), 200, np.uint8), srgb=True)
    parts = [Surface(f"part {k}", base_colour_image=image, emissive=(0.1 * k, 0, 0)) for k in range(5)]
    rough = Surface("rough", base_colour_image=image, roughness=0.25)
    paint = paint_surfaces([*parts, rough])
    assert paint.pages[4].shape == (4, 4, 4, 4)  # two layers for the parts, two for the rough one
    assert len({paint.row(part).params for part in parts}) == 1 and len({paint.row(part).emissive for part in parts}) == 5
    assert paint.row(rough).params & 0xFFFF == 2


def test_holes_show_what_is_behind(renderer: RasterRenderer) -> None:
    pixels = np.full((8, 8, 4), 255, np.uint8)
    pixels[:, :4, 3] = 76  # the left half's alpha is 0.3
    wall = [(2, 1, -1), (2, -1, -1), (2, -1, 1), (2, 1, 1)]
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 0.8))
    for cutoff, left in ((0.5, 2), (0.2, 1)):
        surface = Surface("h", base_colour_image=Image(pixels, True), alpha_cutoff=cutoff)
        geometry = geometry_of({1: (quad(wall, surface),), 2: (quad([(x + 1, y * 9, z * 9) for x, y, z in wall]),)})
        out = picture(renderer, world_of([("static", (0, 0, 0))] * 2), geometry, still(view), passes=("entity",))
        assert out["entity"][H // 2, W // 4] == left and out["entity"][H // 2, 3 * W // 4] == 1


def test_back_faces_are_seen_only_where_double_sided(renderer: RasterRenderer) -> None:
    away = [(2, -1, -1), (2, 1, -1), (2, 1, 1), (2, -1, 1)]
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 0.5))
    world = world_of([("static", (0, 0, 0))])
    out = picture(renderer, world, geometry_of({1: (quad(away),)}), still(view), passes=("entity",))
    assert not out["entity"].any()
    both = dataclasses.replace(GREY, double_sided=True)
    out = picture(renderer, world, geometry_of({1: (quad(away, both),)}), still(view), passes=("entity", "normal"))
    assert out["entity"].all()
    np.testing.assert_allclose(decode("normal", out["normal"])[H // 2, W // 2], (0, 0, -1), atol=1e-3)


def tone(x: Array) -> Array:
    """The curve that docs/rendering.md gives, from radiance to the sRGB code."""
    s = np.sqrt(x)
    return np.asarray(x * (s + 0.33998) / (x * (s + 0.27709) + s * 0.20034 + 0.1221))


def test_a_grey_card_reads_as_the_tone_curve_says(renderer: RasterRenderer) -> None:
    card = Surface("card", base_colour=(0, 0, 0, 1), emissive=(0.18, 0.18, 0.18), roughness=1.0)
    wall = quad([(2, 3, -3), (2, -3, -3), (2, -3, 3), (2, 3, 3)], card)
    world = world_of([("static", (0, 0, 0))], sun=None, sky={"intensity": 0})
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 0.8))
    for exposure in (1.0, 2.0):
        lit = world.model_copy(update={"light": world.light.model_copy(update={"exposure": exposure})})
        out = picture(renderer, lit, geometry_of({1: (wall,)}), still(view), passes=("rgb",))
        assert np.abs(out["rgb"].astype(int) - round(float(tone(np.array(0.18 * exposure))) * 255)).max() <= 2


def lit_scene(azimuth: float) -> tuple[World, SceneGeometry]:
    world = world_of(
        [("static", (0, 0, 0)), ("static", (0, 0, 1)), ("dynamic", (0, 5, 1))], sun={"azimuth_deg": azimuth, "elevation_deg": 45}
    )
    return world, geometry_of({1: ground(12), 2: box((1, 1, 2)), 3: box((1, 1, 2))})


def test_shadows_fall_away_from_the_sun_and_touch_their_casters(renderer: RasterRenderer) -> None:
    view = View(camera_look((0, 2.5, 14), 0, -np.pi / 2 + 1e-6), intrinsics(192, 128, 1.0))  # image up is +X
    for azimuth, side in ((0.0, -1), (180.0, 1)):
        world, geometry = lit_scene(azimuth)
        out = picture(renderer, world, geometry, still(view, instant([(0, 5, 1)])), bodies=(3,), size=(192, 128))
        brightness = out["rgb"].astype(int).sum(axis=-1)
        for y in (0.0, 5.0):  # the standing box and the moving one
            beside = np.array([[side * x, y, 0.0] for x in (0.66, 1.5, 2.2, 3.2)] + [[-side * 1.5, y, 0.0]])
            columns, rows = np.floor(project(beside, view.c2w, view.K)[0]).astype(int).T
            touching, middle, far, beyond, sunny = brightness[rows, columns]
            assert max(touching, middle, far) < 0.75 * sunny, (azimuth, y, touching, middle, far, sunny)
            assert beyond > 0.9 * sunny


def test_shade_on_level_ground_has_the_colour_of_the_ground_in_the_sun(renderer: RasterRenderer) -> None:
    """Level ground does not see itself: its shade has the sky's light alone, whatever colour the sunlit ground around sends up. Ratios in
    linear radiance: base colour times that of the sky."""
    red = Surface("red", base_colour=(0.6, 0.3, 0.2, 1.0), roughness=1.0)
    world = world_of(
        [("static", (0, 0, 0)), ("static", (0, 0, 2))],
        sun={"azimuth_deg": 0, "elevation_deg": 20, "intensity": 4.0},
        sky={"zenith": (0.15, 0.3, 0.6), "horizon": (0.15, 0.3, 0.6), "ground": (0.1, 0.1, 0.1)},
    )
    floor = quad([(-20, -20, 0), (20, -20, 0), (20, 20, 0), (-20, 20, 0)], red)
    black = Surface("black", base_colour=(0.0, 0.0, 0.0, 1.0), roughness=1.0)  # it bounces no light into its own shade
    geometry = geometry_of({1: (floor,), 2: box((0.4, 3, 4), black)})
    view = View(camera_look((-4, 0, 9), 0, -np.pi / 2 + 1e-6), intrinsics(W, H, 0.6))
    coded = picture(renderer, world, geometry, still(view), passes=("rgb",))["rgb"][H // 2, W // 2]
    x = np.linspace(0, 1, 4096)
    shade = np.interp(coded / 255, tone(x), x)
    expected = np.array([0.6 * 0.15, 0.3 * 0.3, 0.2 * 0.6])
    assert np.allclose(shade / shade.sum(), expected / expected.sum(), atol=0.06), shade


def test_sunlit_ground_has_no_acne(renderer: RasterRenderer) -> None:
    world = world_of([("static", (0, 0, 0))], sun={"azimuth_deg": 30, "elevation_deg": 12})
    out = picture(renderer, world, geometry_of({1: ground(30)}), still(look((0, 0, 2), (6, 0, 0), W, H)), passes=("rgb", "entity"))
    red = out["rgb"][..., 0].astype(int)
    near = out["entity"] == 1
    near[: H // 2] = False
    assert np.ptp(red[near]) < 40 and np.abs(np.diff(red, axis=1))[near[:, 1:] & near[:, :-1]].max() <= 3


def test_a_lamp_casts_shadows_of_what_stands_and_what_moves(renderer: RasterRenderer) -> None:
    view = View(camera_look((0, 2.5, 9), 0, -np.pi / 2 + 1e-6), intrinsics(192, 128, 1.2))
    geometry = geometry_of({1: ground(12), 2: box((0.6, 0.6, 1)), 3: box((0.6, 0.6, 1))})
    lamp = {"name": "lamp", "position": (0, 2.5, 2.5), "intensity": 20.0, "reach": 12}
    beside = np.array(
        [(0, -1.2, 0), (0, 6.2, 0), (1.2, -1.2, 0), (1.2, 6.2, 0)]
    )  # behind the boxes seen from the lamp; and in its light
    columns, rows = np.floor(project(beside, view.c2w, view.K)[0]).astype(int).T
    for shadow in (False, True):
        world = world_of(
            [("static", (0, 0, 0)), ("static", (0, 0, 0.5)), ("dynamic", (0, 5, 0.5))],
            sun=None,
            sky={"intensity": 0.02},
            lamps=[lamp | {"shadow": shadow}],
        )
        out = picture(renderer, world, geometry, still(view, instant([(0, 5, 0.5)])), bodies=(3,), passes=("rgb",), size=(192, 128))
        dark_standing, dark_moving, lit_a, lit_b = out["rgb"].astype(int).sum(axis=-1)[rows, columns]
        assert (max(dark_standing, dark_moving) < 0.6 * min(lit_a, lit_b)) == shadow


def test_a_closed_room_is_dark_and_a_lamp_lights_it(renderer: RasterRenderer) -> None:
    inside_out = tuple(dataclasses.replace(m, indices=m.indices[:, ::-1].copy(), normals=-m.normals) for m in box(4.0))
    geometry = geometry_of({1: (*inside_out, *box(4.6))})
    view = View(camera_look((-1.5, 0, 0), 0, 0), intrinsics(W, H, 1.0))
    places = [("static", (0.0, 0.0, 0.0))]
    dark = picture(renderer, world_of(places), geometry, still(view), passes=("rgb",))["rgb"]
    assert dark.max() < 20
    lamp = {"name": "lamp", "position": (0, 0, 1), "intensity": 3.0}
    lit = picture(renderer, world_of(places, lamps=[lamp]), geometry, still(view), passes=("rgb",))["rgb"]
    assert lit.min() > dark.max() and lit.min() > 15 and lit[H // 2, W // 2].max() > 60


def busy() -> tuple[World, SceneGeometry, tuple[int, ...]]:
    rng = np.random.default_rng(5)
    places = [("static", (0.0, 0.0, 0.0))]
    places += [
        ("dynamic" if k % 3 == 0 else "static", (float(x), float(y), 0.5)) for k, (x, y) in enumerate(rng.uniform(-9, 9, (24, 2)))
    ]
    entities = {1: ground()} | {k + 2: box(0.9) for k in range(24)}
    return world_of(places), geometry_of(entities), tuple(k + 2 for k in range(24) if k % 3 == 0)


def busy_moment(world: World, bodies: tuple[int, ...], k: int) -> Moment:
    def at(n: int) -> Any:
        return instant([np.array(world.entities[b - 1].position) + np.array([0.1 * n, 0.05 * n, 0]) for b in bodies], tick=10.0 * n)

    def view(n: int) -> View:
        return View(camera_look((-3 + 0.2 * n, 0.5, 1.6), 0.1 * n, -0.15), intrinsics(W, H, 1.1))

    return Moment(at(k), view(k), at(k + 1), view(k + 1))


def test_culling_changes_no_pixel(renderer: RasterRenderer) -> None:
    world, geometry, bodies = busy()
    everything = RasterRenderer(cull=False)
    try:
        for r in (renderer, everything):
            r.open(Scenery(world, geometry, bodies, TICK_RATE), W, H, ALL_PASSES)
        for k in (0, 12, 25):
            outs = []
            for r in (renderer, everything):
                r.submit(busy_moment(world, bodies, k))
                outs.append(r.collect())
            for name in ALL_PASSES:
                np.testing.assert_array_equal(outs[0][name], outs[1][name], err_msg=name)
    finally:
        everything.close()


def test_a_closed_renderer_keeps_buffers_that_the_exit_trips_over() -> None:
    def buffers() -> set[int]:
        return {id(thing) for thing in gc.get_objects() if isinstance(thing, moderngl.Buffer)}

    before = buffers()
    world, geometry, bodies = busy()
    made = RasterRenderer()
    try:
        picture(made, world, geometry, busy_moment(world, bodies, 1), bodies)
        assert buffers() > before
    finally:
        made.close()
    assert buffers() == before


def test_a_picture_does_not_depend_on_those_before(renderer: RasterRenderer) -> None:
    world, geometry, bodies = busy()
    alone = picture(renderer, world, geometry, busy_moment(world, bodies, 3), bodies)
    renderer.open(Scenery(world, geometry, bodies, TICK_RATE), W, H, ALL_PASSES)
    rows = []
    for k in range(5):  # two in flight
        renderer.submit(busy_moment(world, bodies, k))
        if k:
            rows.append(renderer.collect())
    rows.append(renderer.collect())
    for name in ALL_PASSES:
        np.testing.assert_array_equal(rows[3][name], alone[name], err_msg=name)
    assert (rows[2]["depth"] != alone["depth"]).any()


def test_other_processes_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "")  # each bakes its own light
    monkeypatch.setenv("LP_NUM_THREADS", "1")  # of the other process; here the driver has read it already
    code = "import test_raster as t; print(t.fingerprint())"
    here = str(Path(__file__).parent)
    run = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.strip() == fingerprint()


def test_kept_light_is_the_light_that_is_baked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Baked, read back, and baked again after the file was damaged or cut."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "kept"))
    prints = [fingerprint()]
    (kept,) = (tmp_path / "kept").iterdir()
    whole = kept.read_bytes()
    prints.append(fingerprint())
    for spoilt in (whole[:-40], bytes([*whole[:200], whole[200] ^ 1, *whole[201:]]), b""):
        kept.write_bytes(spoilt)
        assert fieldcache.load(kept.name) is None
    prints.append(fingerprint())
    assert len(set(prints)) == 1
    assert [file.name for file in (tmp_path / "kept").iterdir()] == [kept.name] and kept.read_bytes() == whole


def test_light_that_cannot_be_kept_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "kept"))
    values = np.zeros((2, 3, 4, 4), np.float16)
    baked = fieldcache.Baked(np.zeros(3), 0.2, values, values)
    fieldcache.save("a", baked)
    assert fieldcache.load("a") is None
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "kept"))
    for k in range(fieldcache.MOST_FILES + 3):
        fieldcache.save(f"{k}", baked)
    assert len(list((tmp_path / "kept").iterdir())) == fieldcache.MOST_FILES
    assert fieldcache.load("0") is None and fieldcache.load(f"{fieldcache.MOST_FILES + 2}") is not None


def fingerprint() -> str:
    """A digest of every pass of one picture."""
    world, geometry, bodies = busy()
    made = RasterRenderer()
    try:
        out = picture(made, world, geometry, busy_moment(world, bodies, 2), bodies)
    finally:
        made.close()
    return hashlib.sha256(b"".join(out[name].tobytes() for name in ALL_PASSES)).hexdigest()


def test_motion_blur_is_as_wide_as_the_motion_and_leaves_the_passes_sharp(renderer: RasterRenderer) -> None:
    glow = Surface("glow", base_colour=(0, 0, 0, 1), emissive=(4, 4, 4), roughness=1.0)
    world = world_of([("dynamic", (5, 0, 0))], sun=None, sky={"intensity": 0})
    geometry = geometry_of({1: box(0.5, glow)})
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(192, 96, 0.8))

    def at(share: float) -> Any:
        return instant([(5, 1.0 * share, 0)])

    shutter = tuple((at((k + 0.5) / 8), view) for k in range(8))
    sharp = picture(renderer, world, geometry, Moment(at(0), view, at(1), view), (1,), size=(192, 96))
    blurred = picture(renderer, world, geometry, Moment(at(0), view, at(1), view, shutter), (1,), size=(192, 96))
    for name in PASSES:
        np.testing.assert_array_equal(sharp[name], blurred[name], err_msg=name)
    row = 48
    wide_sharp, wide_blurred = ((out["rgb"][row, :, 0] > 8).sum() for out in (sharp, blurred))
    metre = view.K[0, 0] / 4.75  # pixels a metre at the box's front
    assert abs(wide_blurred - wide_sharp - 7 / 8 * metre) <= 2


def bent_arm() -> tuple[World, SceneGeometry, CharacterInstant, NDArray[np.float64]]:
    """A bar whose upper half is bent by 50 degrees, and where its vertices are in the world, skinned here by hand."""
    model, bones = arm()
    bones = bones.copy()
    bones[1, 3:7] = quat_axis_angle([1.0, 0, 0], np.radians(50))
    position, yaw = np.array([4.0, 0.3, -0.5]), 0.7
    world = world_of([("static", (0, 0, -9))])
    mesh = model.meshes[0]
    assert mesh.weights is not None and mesh.joints is not None and model.skeleton is not None
    skin = pose_matrix(bones[:, :3], bones[:, 3:7], bones[:, 7:8]) @ model.skeleton.inverse_bind
    local = np.einsum("vk,vkij,vj->vi", mesh.weights, skin[mesh.joints], np.c_[mesh.positions, np.ones(len(mesh.positions))])[:, :3]
    points = local @ quat_to_matrix(quat_yaw(yaw)).T + position
    character = CharacterInstant(2, position, yaw, 0.0, np.zeros(3), 0, "idle", 0.0, 0, bones)
    return world, geometry_of({1: ground(1)}, {2: model}), character, points


def test_skinned_vertices_are_where_the_skin_says(renderer: RasterRenderer) -> None:
    world, geometry, character, points = bent_arm()
    both = tuple(
        dataclasses.replace(m, surface=dataclasses.replace(m.surface, double_sided=True)) for m in geometry.characters[2].meshes
    )
    geometry = dataclasses.replace(geometry, characters={2: dataclasses.replace(geometry.characters[2], meshes=both)})
    view = look((0, 0, 0.5), (4, 0, 0.5), 160, 120, 0.7)
    out = picture(renderer, world, geometry, still(view, instant(characters=(character,))), size=(160, 120))
    depth = decode("depth", out["depth"])
    pixels, z = project(points, view.c2w, view.K)
    rows, columns = np.nonzero(out["entity"] == 2)
    found = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
    np.testing.assert_allclose(found, np.concatenate([pixels.min(axis=0), pixels.max(axis=0)]), atol=1.01)
    column, row = np.floor(pixels).astype(int).T
    shown = depth[row, column]
    visible = np.abs(shown - z) < 0.05  # the vertex may be hidden by the bar itself
    assert visible.sum() > 20


def test_a_skinned_mesh_flows_with_its_bones(renderer: RasterRenderer) -> None:
    world, geometry, character, _ = bent_arm()
    later = dataclasses.replace(character, position=character.position + np.array([0, 0.1, 0]))
    view = look((0, 0, 0.5), (4, 0, 0.5), W, H, 0.7)
    moment = Moment(instant(characters=(character,)), view, instant(characters=(later,)), view)
    out = picture(renderer, world, geometry, moment)
    mine = out["entity"] == 2
    points = pixel_rays(centres(), view.K) * decode("depth", out["depth"])[..., None]
    moved = points[mine] @ view.c2w[:3, :3].T + view.c2w[:3, 3] + np.array([0, 0.1, 0])
    np.testing.assert_allclose(
        decode("flow", out["flow"])[mine], project(moved, view.c2w, view.K)[0] - centres()[mine], atol=1 / 32
    )


def test_a_normal_map_changes_light_but_not_the_normal_pass(renderer: RasterRenderer) -> None:
    tilted = np.zeros((4, 4, 4), np.uint8)
    tilted[:] = (218, 128, 218, 255)
    flat = np.zeros((4, 4, 4), np.uint8)
    flat[:] = (128, 128, 255, 255)
    view = look((0, 0, 3), (0.01, 0, 0), W, H)
    world = world_of([("static", (0, 0, 0))], sun={"azimuth_deg": 0, "elevation_deg": 40})
    outs = [
        picture(renderer, world, geometry_of({1: ground(surface=Surface("n", normal_image=Image(m, False)))}), still(view))
        for m in (flat, tilted)
    ]
    np.testing.assert_array_equal(outs[0]["normal"], outs[1]["normal"])
    middle = [int(out["rgb"][H // 2, W // 2, 0]) for out in outs]
    assert middle[1] > middle[0] + 10  # u grows along +X, where the sun is: the map leans towards it


def test_edges_are_smooth_in_rgb_alone(renderer: RasterRenderer) -> None:
    glow = Surface("glow", base_colour=(0, 0, 0, 1), emissive=(2, 2, 2))
    wall = quad([(2, 1, -1), (2, -1.4, -1), (2, -0.6, 1), (2, 1, 1)], glow)
    world = world_of([("static", (0, 0, 0))], sun=None, sky={"intensity": 0})
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 1.2))
    out = picture(renderer, world, geometry_of({1: (wall,)}), still(view))
    assert set(np.unique(out["entity"])) == {0, 1}
    rows = out["rgb"][H // 2 - 10 : H // 2 + 10, :, 0]
    between = ((rows > 30) & (rows < rows.max() - 30)).sum(axis=1)
    assert between.mean() > 0.5 and between.max() <= 3


def test_samples_asked_of_one_that_does_not_sample_are_refused(renderer: RasterRenderer) -> None:
    with pytest.raises(WorldwrightError, match="does not sample"):
        renderer.open(bare(), W, H, ("rgb",), samples=4)


@pytest.mark.parametrize(("size", "passes"), [((0, 10), ("rgb",)), ((10, 9000), ("rgb",)), ((10, 10), ("beauty",)), ((10, 10), ())])
def test_a_picture_that_cannot_be_made_is_refused(renderer: RasterRenderer, size: tuple[int, int], passes: tuple[str, ...]) -> None:
    with pytest.raises(WorldwrightError):
        renderer.open(bare(), *size, passes)


def test_an_instant_of_another_world_is_refused(renderer: RasterRenderer) -> None:
    renderer.open(bare(), W, H, ("depth",))
    with pytest.raises(WorldwrightError, match="1 bodies"):
        renderer.submit(still(look((0, 0, 2), (5, 0, 0), W, H), instant([(0, 0, 0)])))
    with pytest.raises(WorldwrightError, match="no picture"):
        renderer.collect()


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(WorldwrightError, match="no device 'tpu'"):
        describe_device("tpu")
    assert "OpenGL" in describe_device("cpu")


def test_an_empty_mesh_draws_nothing(renderer: RasterRenderer) -> None:
    empty = Mesh(
        np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros((0, 2), np.float32), np.zeros((0, 3), np.uint32), GREY
    )
    out = picture(renderer, world_of([("static", (0, 0, 0))]), geometry_of({1: (empty,)}), still(look((0, 0, 2), (5, 0, 0), W, H)))
    assert not out["entity"].any() and not out["depth"].any()
