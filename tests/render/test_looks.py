"""Looks as the raster renderer shows them, against answers derived by hand."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry, Surface
from worldwright.errors import WorldwrightError
from worldwright.render.air import air_of
from worldwright.render.grade import LUMINANCE, apply_grade, grade_matrix, white_of
from worldwright.render.passes import ALL_PASSES, decode
from worldwright.render.protocol import Moment, Scenery, View
from worldwright.render.raster import RasterRenderer
from worldwright.render.raster.device import create_context
from worldwright.render.raster.shading import source
from worldwright.render.sky import mean_radiance, picture_directions, sky_picture, sky_radiance, sun_irradiance
from worldwright.render.weathering import cover, patches
from worldwright.transforms import camera_look, intrinsics, pixel_rays
from worldwright.world.looks import LOOKS, put_on
from worldwright.world.spec import Grade, Sky, Sun, Water, Weather, World

_spec = importlib.util.spec_from_file_location("raster_scenes", Path(__file__).with_name("test_raster.py"))
assert _spec is not None and _spec.loader is not None
_scenes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_scenes)
GREY, TICK_RATE, bare, box, geometry_of, ground, instant, look, quad, still, world_of = (
    getattr(_scenes, name)
    for name in [
        "GREY",
        "TICK_RATE",
        "bare",
        "box",
        "geometry_of",
        "ground",
        "instant",
        "look",
        "quad",
        "still",
        "world_of",
    ]
)

Array = NDArray[Any]
W, H = 96, 64
VIEW = look((0, 0, 1.5), (6, 0, 1.2), W, H)


@pytest.fixture(scope="module")
def renderer() -> Iterator[RasterRenderer]:
    made = RasterRenderer()
    yield made
    made.close()


def under(elevation: float, *, turbidity: float = 2.0, cover: float = 0.0, azimuth: float = 0.0) -> World:
    """Bare ground under a physical sky with a white sun of irradiance 1 above the air."""
    world = world_of(
        [("static", (0, 0, 0))],
        sun={"azimuth_deg": azimuth, "elevation_deg": elevation, "colour": (1, 1, 1), "intensity": 1},
        sky={"model": "physical", "turbidity": turbidity},
    )
    return world.model_copy(update={"weather": Weather(cloud_cover=cover)})


def weathered(world: World, **weather: Any) -> World:
    return world.model_copy(update={"weather": Weather(**weather)})


def drawn(
    renderer: RasterRenderer, world: World, geometry: SceneGeometry, moment: Moment, passes: tuple[str, ...] = ("rgb",)
) -> Array:
    renderer.open(Scenery(world, geometry, (), TICK_RATE), W, H, passes)
    renderer.submit(moment)
    return renderer.collect()["rgb"]


def at_second(seconds: float, view: View = VIEW) -> Moment:
    now = instant(tick=seconds * TICK_RATE)
    return Moment(now, view, dataclasses.replace(now, tick=now.tick + 10), view)


def tone(exposed: Array) -> Array:
    """The tone curve as ``RasterRenderer.tone_curve`` says it."""
    x = np.asarray(exposed, dtype=np.float64)
    s = np.sqrt(x)
    return np.minimum(1, x * (s + 0.33998) / (x * (s + 0.27709) + s * 0.20034 + 0.1221)) * 255


# --- sky --------------------------------------------------------------------------------------------------------------------


def test_the_sun_through_clean_air_is_what_optical_depth_says() -> None:
    """Straight up: exp of minus 13.5e-6 and 33.1e-6 a metre of air 8 km deep, from 200 m up, and 15 km of ozone."""
    arriving = sun_irradiance(under(90, turbidity=1))
    air = 8000 * np.exp(-200 / 8000)
    for channel, scattering, ozone in ((1, 13.5e-6, 1.881e-6), (2, 33.1e-6, 0.085e-6)):
        assert arriving[channel] == pytest.approx(np.exp(-scattering * air - ozone * 15000), abs=0.004)


def test_a_physical_sky_gives_no_more_light_than_it_gets() -> None:
    up = picture_directions(64)
    weight = np.sqrt(1 - up[..., 2] ** 2) * np.maximum(up[..., 2], 0)
    for elevation in (10, 30, 60):
        world = under(elevation)
        dome = (sky_picture(world, 64) * weight[..., None]).sum(axis=(0, 1)) * (np.pi / 64) ** 2
        total = dome + sun_irradiance(world) * np.sin(np.radians(elevation))
        assert (total < np.sin(np.radians(elevation)) * 1.02).all() and (dome > 0.025 * np.sin(np.radians(elevation))).all()


def test_a_low_sun_is_red_and_the_sky_above_blue() -> None:
    high, low = sun_irradiance(under(60)), sun_irradiance(under(4))
    assert low[2] / low[0] < 0.2 and 0.7 < high[2] / high[0] < 1
    zenith = sky_radiance(under(60), np.array([0.0, 0.0, 1.0]))
    assert zenith[2] > 2 * zenith[0]
    assert not sun_irradiance(under(-1)).any() and sky_picture(under(-3), 16).max() > 0


def test_noon_is_as_bright_as_the_default_light() -> None:
    default = world_of([("static", (0, 0, 0))])
    noon = put_on(default, LOOKS["noon"])

    def on_ground(world: World) -> float:
        sun = world.light.sun
        assert sun is not None
        total = sun_irradiance(world) * np.sin(np.radians(sun.elevation_deg)) + np.pi * mean_radiance(world)
        return float(total @ LUMINANCE) * world.light.exposure

    assert 0.6 < on_ground(noon) / on_ground(default) < 1.5


def test_row_0_of_the_sky_is_the_zenith_and_columns_are_azimuth() -> None:
    gradient = world_of([("static", (0, 0, 0))], sun={"azimuth_deg": 90, "elevation_deg": 10})
    picture = sky_picture(gradient, 64)
    assert picture.shape == (64, 128, 3) and picture.dtype == np.float32
    np.testing.assert_allclose(picture[0].mean(axis=0), gradient.light.sky.zenith, rtol=0.2)
    for world in (gradient, under(10, azimuth=90)):
        rows, columns = np.unravel_index(int(sky_picture(world, 64).sum(axis=-1).argmax()), (64, 128))
        assert abs(int(columns) - 32) <= 1 and 25 <= rows <= 32


@pytest.mark.parametrize("physical", [False, True])
def test_the_sky_in_a_picture_is_the_sky_of_the_path_tracer(renderer: RasterRenderer, physical: bool) -> None:
    world = under(25, azimuth=200) if physical else world_of([("static", (0, 0, 0))])
    view = View(camera_look((0, 0, 2), 0.3, 0.5), intrinsics(W, H, 1.2))
    out = drawn(renderer, world, geometry_of({1: ground(1)}), still(view))
    u, v = np.meshgrid(np.arange(W) + 0.5, np.arange(H) + 0.5)
    rays = pixel_rays(np.stack([u, v], -1), view.K) @ view.c2w[:3, :3].T
    expected = tone(sky_radiance(world, rays / np.linalg.norm(rays, axis=-1, keepdims=True)))
    seen = rays[..., 2] > 0.02
    assert np.abs(out[seen] - expected[seen]).max() < 3


def test_clouds_take_the_sun_and_its_blue() -> None:
    clear, closed = under(45), under(45, cover=1)
    assert (sun_irradiance(closed) < 0.1 * sun_irradiance(clear)).all()
    zenith = sky_radiance(closed, np.array([0.0, 0.0, 1.0]))
    assert np.ptp(zenith) < 1e-9 and zenith[0] > 0.05


# --- grade ------------------------------------------------------------------------------------------------------------------


def test_the_default_grade_changes_nothing() -> None:
    np.testing.assert_array_equal(grade_matrix(Grade()), np.eye(3))
    x = np.array([0.02, 0.18, 2.0])
    np.testing.assert_allclose(apply_grade(Grade(), x), x)


def test_light_of_the_temperature_looks_white() -> None:
    white = white_of(6504)
    np.testing.assert_allclose(white[:2:1] / white.sum(), [0.3127, 0.3290], atol=2e-4)  # D65
    to_rgb = np.array([[3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560], [0.0556434, -0.2040259, 1.0572252]])
    for temperature, tint in ((2500, 0), (3200, 0.3), (5000, -0.5), (9000, 0)):
        out = grade_matrix(Grade(temperature=temperature, tint=tint)) @ to_rgb @ white_of(temperature, tint)
        np.testing.assert_allclose(out / out[1], 1, atol=2e-3)
    warm, cold = (grade_matrix(Grade(temperature=t)) @ np.ones(3) for t in (9000, 4000))
    assert warm[0] > warm[2] and cold[0] < cold[2]


def test_a_grey_card_is_graded_as_the_formula_says(renderer: RasterRenderer) -> None:
    colour = np.array([0.30, 0.18, 0.06])
    card = Surface("card", base_colour=(0, 0, 0, 1), emissive=tuple(colour), roughness=1.0)
    wall = quad([(2, 3, -3), (2, -3, -3), (2, -3, 3), (2, 3, 3)], card)
    world = world_of([("static", (0, 0, 0))], sun=None, sky={"intensity": 0}, exposure=1.5)
    grade = Grade(temperature=4500, tint=0.2, gain=(1.1, 1.0, 0.9), saturation=0.6, contrast=1.3)
    out = drawn(
        renderer,
        world.model_copy(update={"grade": grade}),
        geometry_of({1: (wall,)}),
        still(View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 0.8))),
    )
    assert np.abs(out - tone(apply_grade(grade, colour * 1.5))).max() <= 3


# --- air and weather --------------------------------------------------------------------------------------------------------


def yard() -> tuple[World, SceneGeometry, tuple[int, ...]]:
    """Ground with a standing and a moving box: small, so that its light is quickly baked."""
    world = world_of([("static", (0, 0, 0)), ("static", (3, 1, 0.5)), ("dynamic", (3, -1, 0.5))])
    return world, geometry_of({1: ground(5), 2: box(1.0), 3: box(1.0)}), (3,)


def test_the_passes_of_a_surface_know_no_look(renderer: RasterRenderer) -> None:
    """And outdoors, without a lamp, no look is black, blown or one flat grey: the exposure check's limits with room to spare."""
    world, geometry, bodies = yard()
    now = instant([(3, -1, 0.6)], tick=30.0)
    plain: dict[str, Array] = {}
    for name in (None, *LOOKS):
        shown = world if name is None else put_on(world, LOOKS[name])
        renderer.open(Scenery(shown, geometry, bodies, TICK_RATE), W, H, ALL_PASSES)
        renderer.submit(still(look((-2, 0, 1.6), (3, 0, 0.9), W, H), now))
        out = renderer.collect()
        grey = out["rgb"] @ LUMINANCE
        assert (grey <= 6).mean() < 0.5 and (grey >= 250).mean() < 0.3 and grey.std() > 5, name
        for each in ALL_PASSES:
            if name is None:
                plain[each] = out[each]
            elif each == "rgb":
                assert np.abs(out[each].astype(int) - plain[each]).mean() > 0.3, name
            else:
                np.testing.assert_array_equal(out[each], plain[each], err_msg=f"{name} {each}")


def test_water_takes_red_first_by_the_metre(renderer: RasterRenderer) -> None:
    water = Water(absorption=(0.5, 0.1, 0.05), scatter=(0, 0, 0))
    world = weathered(world_of([("static", (0, 0, 0))]), water=water)
    geometry = geometry_of({1: (quad([(4, 9, -9), (4, -9, -9), (4, -9, 9), (4, 9, 9)]),)})
    view = View(camera_look((0, 0, 0), 0, 0), intrinsics(W, H, 1.0))
    renderer.open(Scenery(world, geometry, (), TICK_RATE), W, H, ("depth",))
    out = renderer.develop(still(view), np.full((H, W, 3), 0.8, np.float32))
    corner = pixel_rays(np.array([0.5, 0.5]), view.K)
    for pixel, metres in (((H // 2, W // 2), 4.0), ((0, 0), 4 * np.linalg.norm(corner))):
        expected = tone(0.8 * np.exp(-np.array(water.absorption) * metres))
        # A grain that drifts by may be in the way of single pixels.
        near = out[max(pixel[0] - 2, 0) : pixel[0] + 3, max(pixel[1] - 2, 0) : pixel[1] + 3]
        assert np.abs(np.median(near, axis=(0, 1)) - expected).max() < 3


def test_another_renderers_picture_gets_the_same_air(renderer: RasterRenderer) -> None:
    """Its own linear radiance, without air, developed: the picture that raster makes itself."""
    card = Surface("card", base_colour=(0, 0, 0, 1), emissive=(0.5, 0.3, 0.2), roughness=1.0)
    world = world_of([("static", (0, 0, 0))], sun=None, sky={"intensity": 0, "zenith": (1, 1, 1)}, exposure=1.2)
    world = weathered(world, fog_density=0.05, fog_colour=(0.3, 0.4, 0.5)).model_copy(update={"grade": Grade(saturation=0.5)})
    wall = geometry_of({1: (quad([(8, 9, -9), (8, -9, -9), (8, -9, 9), (8, 9, 9)], card),)})
    view = View(camera_look((0, 0, 0), 0.2, 0), intrinsics(W, H, 1.0))
    shutter = tuple((instant(tick=k + 0.5), view) for k in range(4))
    for moment in (still(view), Moment(instant(), view, instant(tick=10), view, shutter)):
        own = drawn(renderer, world, wall, moment, ALL_PASSES)
        radiance = np.broadcast_to(np.array((0.5, 0.3, 0.2), np.float32), (H, W, 3))
        np.testing.assert_allclose(renderer.develop(moment, radiance).astype(int), own.astype(int), atol=2)
        renderer.open(Scenery(world, wall, (), TICK_RATE), W, H, ("depth",))
        np.testing.assert_allclose(renderer.develop(moment, radiance).astype(int), own.astype(int), atol=2)


def test_a_picture_to_develop_of_another_size_is_refused(renderer: RasterRenderer) -> None:
    renderer.open(bare(), W, H, ("depth",))
    for wrong in (np.zeros((H, W + 2, 3), np.float32), np.zeros((H, W, 3), np.float64), np.zeros((H, W), np.float32)):
        with pytest.raises(WorldwrightError, match="float32, linear"):
            renderer.develop(still(VIEW), wrong)


RAINING = {"rain": 1.0, "cloud_cover": 1.0}


def test_rain_falls_at_seven_metres_a_second(renderer: RasterRenderer) -> None:
    """After 144 metres, a whole number of heights of every box, each drop has the place of one that was there; before, it has not."""
    world, geometry, _ = yard()
    geometry = geometry_of({1: ground(5), 2: box(1.0)})
    world = weathered(world.model_copy(update={"entities": world.entities[:2]}), **RAINING)
    first, half_way, again = (drawn(renderer, world, geometry, at_second(t)).astype(int) for t in (0.0, 5.3, 144 / 7))
    assert (np.abs(first - again).max(axis=-1) > 2).mean() < 0.005
    assert (np.abs(first - half_way).max(axis=-1) > 2).mean() > 0.015
    tick = drawn(renderer, world, geometry, at_second(1 / 240)).astype(int)
    assert 0 < np.abs(first - tick).mean() < 0.8 * np.abs(first - half_way).mean()  # 3 cm lower: nearly the same streaks


def test_neither_rain_nor_snow_is_under_a_roof(renderer: RasterRenderer) -> None:
    roof = quad([(-4, -4, 3), (4, -4, 3), (4, 4, 3), (-4, 4, 3)], dataclasses.replace(GREY, double_sided=True))
    open_sky, covered = geometry_of({1: ground(4)}), geometry_of({1: (*ground(4), roof)})
    view = look((-1.5, 0, 2), (0, 0, 0), W, H, 0.7)
    world = world_of([("static", (0, 0, 0))])
    for weather in (RAINING, {"snow": 1.0, "cloud_cover": 1.0}):
        falling = weathered(world, **weather)
        moved = []
        for geometry in (open_sky, covered):
            a, b = (drawn(renderer, falling, geometry, at_second(t, view)).astype(int) for t in (1.0, 1.5))
            moved.append(int((np.abs(a - b) > 2).sum()))
        assert moved[0] > 100 and moved[1] == 0
    lying = weathered(world, snow=1.0, cloud_cover=1.0)
    white, grey = (drawn(renderer, lying, geometry, at_second(1, view))[H // 2 :].mean() for geometry in (open_sky, covered))
    bare_ground = drawn(renderer, weathered(world, cloud_cover=1.0), open_sky, at_second(1, view))[H // 2 :].mean()
    assert white > bare_ground + 25 and grey < bare_ground


def test_wet_ground_is_darker(renderer: RasterRenderer) -> None:
    view = look((0, 0, 4), (0.5, 0, 0), W, H)
    dull = dataclasses.replace(GREY, roughness=0.95)
    dry, wet = (
        drawn(renderer, weathered(world_of([("static", (0, 0, 0))]), wetness=w), geometry_of({1: ground(4, dull)}), still(view))
        for w in (0.0, 0.5)
    )
    assert np.median(wet) < np.median(dry) - 15


def test_a_falling_drop_does_not_depend_on_pictures_before(renderer: RasterRenderer) -> None:
    world, geometry, bodies = yard()
    world = put_on(world, LOOKS["rain"])
    renderer.open(Scenery(world, geometry, bodies, TICK_RATE), W, H, ("rgb",))
    rows = []
    for k in (0, 1, 2, 3, 1):
        renderer.submit(still(VIEW, instant([(3, -1, 0.5 + 0.1 * k)], tick=10.0 * k)))
        rows.append(renderer.collect()["rgb"])
    np.testing.assert_array_equal(rows[1], rows[4])
    assert (rows[1] != rows[2]).any()


def test_a_streak_is_as_long_as_the_shutter_is_open(renderer: RasterRenderer) -> None:
    """The mean over the shutter holds the light of one streak, not of eight: it is no brighter, and smoother."""
    world = weathered(world_of([("static", (0, 0, 0))], sun=None), **RAINING)
    geometry = geometry_of({1: ground(5)})
    sharp_moment = at_second(2.0)
    shutter = tuple((dataclasses.replace(sharp_moment.now, tick=sharp_moment.now.tick + 5 * (k + 0.5) / 8), VIEW) for k in range(8))
    sharp, blurred = (
        drawn(renderer, world, geometry, dataclasses.replace(sharp_moment, shutter=s)).astype(float) for s in ((), shutter)
    )
    assert abs(sharp.mean() - blurred.mean()) < 1.5
    still_air = drawn(renderer, weathered(world_of([("static", (0, 0, 0))], sun=None), cloud_cover=1.0), geometry, sharp_moment)
    assert np.abs(np.diff(sharp[: H // 3], axis=1)).mean() > 2 * np.abs(np.diff(still_air[: H // 3].astype(float), axis=1)).mean()


def test_fog_in_a_dark_room_does_not_glow(renderer: RasterRenderer) -> None:
    inside_out = tuple(dataclasses.replace(m, indices=m.indices[:, ::-1].copy(), normals=-m.normals) for m in box(6.0))
    room = geometry_of({1: (*inside_out, *box(6.6))})
    view = View(camera_look((-2, 0, 0), 0, 0), intrinsics(W, H, 1.0))
    world = put_on(world_of([("static", (0, 0, 0))]), LOOKS["fog"])
    assert drawn(renderer, world, room, still(view)).max() < 40
    outside = drawn(renderer, world, geometry_of({1: ground()}), still(VIEW))
    assert outside.mean() > 100


def test_caustics_play_where_the_sun_shines_and_nowhere_else(renderer: RasterRenderer) -> None:
    view = look((0, 0, 4), (1.5, 0, 0), W, H)
    world = world_of([("static", (0, 0, 0))], sun={"elevation_deg": 70})
    thin = Water(absorption=(0, 0, 0), caustics=1.0)
    lit = [
        drawn(renderer, weathered(world, water=thin), geometry_of({1: ground(4)}), at_second(t, view)).astype(int) for t in (0, 0.4)
    ]
    assert lit[0].std() > 8 and np.abs(lit[0] - lit[1]).mean() > 3
    plain = drawn(
        renderer, weathered(world, water=thin.model_copy(update={"caustics": 0.0})), geometry_of({1: ground(4)}), at_second(0, view)
    )
    assert abs(plain.mean() - lit[0].mean()) < 12  # light is gathered, not made
    night = world.model_copy(update={"light": world.light.model_copy(update={"sun": None})})
    dark = [
        drawn(renderer, weathered(night, water=thin), geometry_of({1: ground(4)}), at_second(t, view)).astype(int) for t in (0, 0.4)
    ]
    assert np.median(np.abs(dark[0] - dark[1])) == 0


def test_air_of_several_kinds_is_one_air() -> None:
    world = world_of([("static", (0, 0, 0))])
    haze = air_of(weathered(world, fog_density=0.002, fog_colour=(0.5, 0.6, 0.7)))
    np.testing.assert_array_equal(haze.extinction, [0.002] * 3)
    np.testing.assert_array_equal(haze.colour, [0.5, 0.6, 0.7])
    assert not haze.local and air_of(world).clear
    both = air_of(weathered(world, fog_density=0.02, dust=0.5))
    assert both.local and (both.extinction > air_of(weathered(world, dust=0.5)).extinction).all()
    assert both.extinction[2] > both.extinction[0]  # dust takes blue first


# --- surfaces ---------------------------------------------------------------------------------------------------------------


def test_both_renderers_have_the_same_patches() -> None:
    context, _ = create_context("cpu")
    fragment = source("weathering.glsl").replace("#ifdef COVERED", "#if 1").replace("#ifdef CAUSTICS", "#if 0")
    code = f"#version 450 core\n{source('frame.glsl')}\n{fragment}\nout vec4 c;\nvoid main() {{ c = vec4(patches(gl_FragCoord.xy * 0.37 - 6.0)); }}"
    try:
        with context:
            target = context.framebuffer([context.texture((64, 32), 4, dtype="f4")])
            target.use()
            context.vertex_array(context.program(vertex_shader=source("full.vert"), fragment_shader=code), []).render(
                moderngl.TRIANGLES, vertices=3
            )
            shader = np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(32, 64, 4)[..., 0]
    finally:
        context.release()
    u, v = np.meshgrid(np.arange(64) + 0.5, np.arange(32) + 0.5)
    expected = patches(np.stack([u, v], -1) * 0.37 - 6.0)
    np.testing.assert_allclose(shader, expected, atol=2e-4)
    assert np.ptp(expected) > 0.8


def test_snow_lies_on_what_looks_up_and_nowhere_under_roofs() -> None:
    up, side = np.array([[0.0, 0, 1]]), np.array([[1.0, 0, 0]])
    at, base, metallic, rough = np.zeros((1, 3)), np.full((1, 3), 0.1), np.zeros(1), np.full(1, 0.5)
    for normal, sky_above, white in ((up, 1.0, True), (side, 1.0, False), (up, 0.0, False)):
        out = cover(Weather(snow=1), at, normal, np.full(1, sky_above), base, metallic, rough)
        assert (out.base[0, 0] > 0.8) == white and (out.base[0, 0] == 0.1) == (not white)
    assert sky_of(cover(Weather(), at, up, np.ones(1), base, metallic, rough)) == (0.1, 0.5)


def sky_of(covered: Any) -> tuple[float, float]:
    return float(covered.base[0, 0]), float(covered.roughness[0])


def test_a_default_sky_is_a_gradient() -> None:
    """Worlds that say nothing of it must not become slower."""
    assert Sky().model == "gradient" and Sky().stars == 0 and Sun().intensity == 3.2


def test_distance_is_decoded(renderer: RasterRenderer) -> None:
    """The stage reads the depth that the pass stores."""
    world = weathered(world_of([("static", (0, 0, 0))]), fog_density=0.009, fog_colour=(0, 0, 0))
    renderer.open(Scenery(world, geometry_of({1: ground(12)}), (), TICK_RATE), W, H, ("depth",))
    moment = still(VIEW)
    renderer.submit(moment)
    depth = decode("depth", renderer.collect()["depth"])
    out = renderer.develop(moment, np.full((H, W, 3), 0.5, np.float32))[..., 0]
    u, v = np.meshgrid(np.arange(W) + 0.5, np.arange(H) + 0.5)
    far = depth * np.linalg.norm(pixel_rays(np.stack([u, v], -1), VIEW.K), axis=-1)
    seen = np.isfinite(far)
    assert np.abs(out[seen] - tone(0.5 * np.exp(-0.009 * far[seen]))).max() < 2
