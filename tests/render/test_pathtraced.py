"""The path-traced renderer against answers derived by hand."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worldwright.assets.humanoid import humanoid
from worldwright.assets.model import Image, Mesh, Model, SceneGeometry, Surface
from worldwright.errors import WorldwrightError
from worldwright.render import weathering
from worldwright.render.pathtraced.exposure import slices
from worldwright.render.pathtraced.llvm import candidates, choose
from worldwright.render.protocol import Moment, Renderer, Scenery, View
from worldwright.render.registry import make_renderer
from worldwright.take.model import CharacterInstant, Instant
from worldwright.transforms import camera_look_at, intrinsics
from worldwright.world.spec import Humanoid, Weather, World

Array = NDArray[Any]
W, H = 48, 32
DARK = {"zenith": (0, 0, 0), "horizon": (0, 0, 0), "ground": (0, 0, 0)}
EVEN = {"zenith": (1, 1, 1), "horizon": (1, 1, 1), "ground": (1, 1, 1)}
NOON = {"azimuth_deg": 0, "elevation_deg": 90, "colour": (1, 1, 1), "intensity": 2.0}
GREY = Surface("grey", base_colour=(0.5, 0.5, 0.5, 1.0), roughness=1.0)
GLOW = Surface("glow", base_colour=(0.0, 0.0, 0.0, 1.0), emissive=(1.0, 1.0, 1.0))


# --- choosing LLVM: needs nothing installed ---


def libraries(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"\x7fELF" + name.encode())
    return folder


def test_the_newest_llvm_that_works_is_taken(tmp_path: Path) -> None:
    found = candidates([libraries(tmp_path, "libLLVM-14.so.1", "x/libLLVM.so.19.1", "x/libLLVM-17.so.1", "libLLVM-16.so")])
    assert [library.version for library in found] == [(19, 1), (17,), (16,), (14,)]
    chosen = choose(None, found)
    assert chosen is not None and chosen.path.endswith("libLLVM.so.19.1")


def test_an_llvm_that_stops_the_process_is_never_taken(tmp_path: Path) -> None:
    found = candidates([libraries(tmp_path, "libLLVM-14.so.1", "libLLVM-15.so.1", "libLLVM-16.so.1")])
    assert len(found) == 3 and choose(None, found) is None


@pytest.mark.parametrize(("name", "words"), [("libLLVM-15.so.1", "LLVM 15 stops the process"), ("libLLVM.so.1", "does not tell")])
def test_the_users_own_bad_llvm_is_refused_in_a_line(tmp_path: Path, name: str, words: str) -> None:
    libraries(tmp_path, name)
    with pytest.raises(WorldwrightError, match=words) as caught:
        choose(str(tmp_path / name), [])
    assert "DRJIT_LIBLLVM_PATH" in caught.value.line() and "libllvm19" in caught.value.line()


def test_the_users_own_llvm_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="no library"):
        choose(str(tmp_path / "none.so"), [])


def test_a_link_tells_the_version_of_what_it_links_to(tmp_path: Path) -> None:
    libraries(tmp_path, "deep/libLLVM.so.18.1")
    (tmp_path / "libLLVM.so").symlink_to(tmp_path / "deep" / "libLLVM.so.18.1")
    chosen = choose(str(tmp_path / "libLLVM.so"), [])
    assert chosen is not None and chosen.version == (18, 1)


def test_a_renderer_that_is_not_installed_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldwright.render.registry.find_spec", lambda name: None)
    with pytest.raises(WorldwrightError, match=r"-e '\.\[pathtraced\]'"):
        make_renderer("pathtraced")


# --- parts ---


def test_a_small_budget_is_spread_over_the_shutter() -> None:
    now, view = instant(), look((0, 0, 2), (1, 0, 0))
    shutter = tuple((replace(now, tick=float(k)), view) for k in range(8))
    moment = Moment(now, view, now, view, shutter)
    assert [(part.instant.tick, part.first, part.samples) for part in slices(moment, 4)] == [
        (1, 0, 1),
        (3, 1, 1),
        (5, 2, 1),
        (7, 3, 1),
    ]
    assert [part.samples for part in slices(moment, 18)] == [3, 3, 2, 2, 2, 2, 2, 2]
    assert [(part.instant.tick, part.samples) for part in slices(replace(moment, shutter=()), 4)] == [(0, 4)]


def test_weather_lies_on_surfaces_as_the_numpy_formulas_say(renderer: Renderer) -> None:
    """Wet and snowed on, under a roof and not, of a body and of the ground."""
    from worldwright.render.pathtraced.platform import choose_platform, use

    use(choose_platform("cpu"))
    import mitsuba as mi

    from worldwright.render.pathtraced.weathered import caustics, cover

    rng = np.random.default_rng(1)
    n = 64
    at, normal = rng.uniform(-20, 20, (n, 3)), rng.normal(size=(n, 3)) * [0.2, 0.2, 0] + [0, 0, 1]
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    base, rough, metallic, above = rng.uniform(size=(n, 3)), rng.uniform(size=n), rng.uniform(size=n), rng.integers(0, 2, n)
    for moves in (False, True):
        for weather in (Weather(wetness=0.9), Weather(snow=0.8), Weather(wetness=0.4, snow=0.3)):
            there = weathering.cover(weather, at, normal, above.astype(float), base, metallic, rough, moves=moves)
            here = cover(
                weather,
                mi.Float(above.astype(np.float32)),
                mi.Point3f(at.T.astype(np.float32)),
                mi.Vector3f(normal.T.astype(np.float32)),
                mi.Vector3f(base.T.astype(np.float32)),
                mi.Float(metallic.astype(np.float32)),
                mi.Float(rough.astype(np.float32)),
                mi.Bool([moves] * n),
            )
            np.testing.assert_allclose(np.array(here.base).T, there.base, atol=2e-4)
            np.testing.assert_allclose(np.array(here.rough), there.roughness, atol=2e-4)
            np.testing.assert_allclose(np.array(here.metallic), there.metallic, atol=2e-4)
    wide = rng.uniform(-50, 50, (20_000, 3)).astype(np.float32)
    light = np.array(caustics(0.8, mi.Vector3f(0.3, 0.1, 0.9), mi.Point3f(wide.T), mi.Float(2.0)))
    assert light.mean() == pytest.approx(1.0, abs=0.03) and light.min() >= 0.7 and light.max() > 2, (
        "waves gather light, they make none"
    )


# --- pictures ---


def quad(corners: Sequence[Sequence[float]], surface: Surface) -> Mesh:
    p = np.array(corners, np.float32)
    n = np.cross(p[1] - p[0], p[2] - p[0])
    n = np.tile(n / np.linalg.norm(n), (4, 1)).astype(np.float32)
    uv = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
    return Mesh(p, n, uv, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), surface)


def plate(half: float, surface: Surface, z: float = 0.0) -> tuple[Mesh, ...]:
    return (quad([(-half, -half, z), (half, -half, z), (half, half, z), (-half, half, z)], surface),)


def world_of(count: int, **light: Any) -> World:
    part = {"geometry": {"shape": "box", "size": (1, 1, 1)}, "material": "m"}
    return World.model_validate(
        {
            "name": "test",
            "bounds": {"min": (-50, -50, -50), "max": (50, 50, 50)},
            "materials": {"m": {}},
            "entities": [{"name": f"e{k + 1}", "label": "thing", "parts": [part]} for k in range(count)],
            "light": light,
            "spawns": [{"position": (0, 0, 0)}],
        }
    )


def instant(positions: Sequence[Sequence[float]] = (), characters: tuple[CharacterInstant, ...] = (), tick: float = 0.0) -> Instant:
    p = np.array(positions, dtype=np.float64).reshape(-1, 3)
    q = np.tile([1.0, 0, 0, 0], (len(p), 1))
    return Instant(tick, p, q, np.zeros_like(p), np.zeros_like(p), characters, np.zeros((0, 2), np.int32), {})


def look(position: Sequence[float], target: Sequence[float]) -> View:
    return View(camera_look_at(position, target), intrinsics(W, H, 1.0))


def still(view: View, now: Instant | None = None) -> Moment:
    at = instant() if now is None else now
    return Moment(at, view, at, view)


@pytest.fixture(scope="module")
def renderer() -> Iterator[Renderer]:
    if any(importlib.util.find_spec(name) is None for name in ("mitsuba", "mitsuba_oidn")):
        pytest.skip("the extra 'pathtraced' is not installed")
    made = make_renderer("pathtraced", "cpu")
    yield made
    made.close()


def picture(
    renderer: Renderer,
    world: World,
    entities: Mapping[int, tuple[Mesh, ...]],
    moment: Moment,
    *,
    bodies: tuple[int, ...] = (),
    characters: Mapping[int, Model] | None = None,
    passes: tuple[str, ...] = ("rgb",),
    samples: int = 8,
) -> dict[str, Array]:
    scenery = Scenery(world, SceneGeometry(entities, {}, characters or {}, {}), bodies, 240)
    renderer.open(scenery, W, H, passes, samples)
    renderer.submit(moment)
    return renderer.collect()


def code(radiance: float) -> float:
    """The sRGB code of a radiance: ``graded`` of shaders/light.glsl."""
    s = math.sqrt(radiance)
    return round(255 * min(1.0, radiance * (s + 0.33998) / (radiance * (s + 0.27709) + s * 0.20034 + 0.1221)))


def test_a_grey_card_in_the_sun_has_the_brightness_of_the_formula(renderer: Renderer) -> None:
    """Seen and lit head-on: 0.96 of 0.5 by Lambert and 0.04 times 1 / 4 of mirror with roughness 1, over pi, times the irradiance."""
    out = picture(renderer, world_of(1, sun=NOON, sky=DARK), {1: plate(5, GREY)}, still(look((0, 0, 3), (0.001, 0, 0))))["rgb"]
    assert np.abs(out[H // 4 : -H // 4, W // 4 : -W // 4].mean() - code(0.49 / np.pi * 2)) < 3


def test_a_grey_card_under_an_even_sky_neither_loses_nor_makes_light(renderer: Renderer) -> None:
    """A furnace: 0.5 comes back but for what the mirror part adds and Lambert's factor takes, some hundredths."""
    out = picture(renderer, world_of(1, sun=None, sky=EVEN), {1: plate(5, GREY)}, still(look((0, 0, 3), (0.001, 0, 0))), samples=32)
    middle = out["rgb"][H // 4 : -H // 4, W // 4 : -W // 4]
    assert code(0.48) - 2 < middle.mean() < code(0.52) + 2 and middle.std() < 3


def test_what_glows_is_where_the_passes_have_it(renderer: Renderer) -> None:
    """The camera's axes, the first row, which pixel is which: the same as in the raster renderer."""
    wall = (quad([(4, 1.2, 0.3), (4, 0.2, 0.3), (4, 0.2, 1.5), (4, 1.2, 1.5)], GLOW),)
    out = picture(
        renderer, world_of(1, sun=NOON, sky=DARK), {1: wall}, still(look((0, 0, 1), (4, 0.4, 1))), passes=("rgb", "entity")
    )
    bright, there = out["rgb"][..., 0] > code(0.5), out["entity"] == 1
    assert 30 < there.sum() < W * H / 3
    assert (bright != there).mean() < 0.03


def test_a_body_that_moves_is_moved_and_the_same_moment_gives_the_same_bytes(renderer: Renderer) -> None:
    world, view = world_of(2, sun=NOON, sky=DARK), look((0, 0, 6), (0.001, 0, 0))
    entities = {1: plate(5, GREY), 2: plate(0.6, GLOW, 0.5)}
    left, right = still(view, instant([(0, 1.5, 0)], tick=0)), still(view, instant([(0, -1.5, 0)], tick=10))
    first = picture(renderer, world, entities, left, bodies=(2,))["rgb"]
    renderer.submit(right)
    renderer.submit(left)  # the scene moves on while the picture before is still being made
    second, again = renderer.collect()["rgb"], renderer.collect()["rgb"]
    np.testing.assert_array_equal(first, again)
    columns = [
        float((p[H // 2, :, 0] > code(0.7)) @ np.arange(W) / max((p[H // 2, :, 0] > code(0.7)).sum(), 1)) for p in (first, second)
    ]
    assert columns[0] < W / 2 - 5 and columns[1] > W / 2 + 5


def test_motion_blur_is_the_mean_in_linear_light(renderer: Renderer) -> None:
    """A plate that is there for half of the shutter is half as bright in linear light, not in codes."""
    world, view = world_of(2, sun=None, sky=DARK), look((0, 0, 6), (0.001, 0, 0))
    there, away = instant([(0, 0, 0)]), instant([(40, 0, 0)])
    moment = Moment(there, view, there, view, ((there, view), (away, view)))
    out = picture(renderer, world, {1: plate(0.01, GREY, -9), 2: plate(1.5, GLOW, 0.5)}, moment, bodies=(2,))["rgb"]
    assert abs(float(out[H // 2, W // 2, 0]) - code(0.5)) < 3


def standing(bones: Array) -> CharacterInstant:
    return CharacterInstant(2, np.zeros(3), 0.0, 0.0, np.zeros(3), 0, "idle", 0.0, 1, bones)


def person() -> tuple[Model, Array]:
    from worldwright.assets.animation import bind_bones

    model = humanoid(Humanoid(model="humanoid"), 1.75)
    return model, bind_bones(model)


def test_a_hidden_character_is_not_seen_and_throws_its_shadow(renderer: Renderer) -> None:
    model, bones = person()
    world = world_of(1, sun=NOON | {"elevation_deg": 30}, sky={**EVEN, "intensity": 0.1})
    now = instant(characters=(standing(bones),))
    view = look((0.2, 1.9, 2.4), (-0.6, 0, 0.5))
    pictures = {}
    for name, hidden, characters in (("seen", (), {2: model}), ("hidden", (2,), {2: model})):
        moment = still(replace(view, hidden=hidden), now)
        pictures[name] = picture(renderer, world, {1: plate(9, GREY)}, moment, characters=characters, passes=("rgb", "entity"))
    body = pictures["seen"]["entity"] == 2
    assert body.sum() > 40 and not (pictures["hidden"]["entity"] == 2).any()
    shade = pictures["hidden"]["rgb"][..., 1] < pictures["hidden"]["rgb"][..., 1].max() * 0.6
    assert (shade & ~body).sum() > 40
    outside = (pictures["seen"]["rgb"][..., 1] < pictures["hidden"]["rgb"][..., 1].max() * 0.6) & ~body
    assert ((shade & ~body) != outside).mean() < 0.04


def test_a_skinned_character_follows_its_bones(renderer: Renderer) -> None:
    model, bones = person()
    raised = bones.copy()
    raised[:, 2] += 1.0
    world, view = world_of(1, sun=NOON, sky=EVEN), look((4, 0, 1.5), (0, 0, 1.5))
    rows = []
    for pose in (bones, raised):
        moment = still(view, instant(characters=(standing(pose),)))
        out = picture(renderer, world, {1: plate(0.1, GREY, -2)}, moment, characters={2: model}, passes=("rgb", "entity"))
        seen = np.abs(out["rgb"].astype(int) - out["rgb"][2, 2]).max(axis=-1) > 25
        assert (seen != (out["entity"] == 2)).mean() < 0.05
        rows.append(np.nonzero(seen)[0].mean())
    assert rows[1] < rows[0] - 4


def test_holes_let_light_through_and_backs_are_looked_through(renderer: Renderer) -> None:
    leaf = Surface("leaf", base_colour=(1, 1, 1, 1), base_colour_image=Image(np.zeros((4, 4, 4), np.uint8), True), alpha_cutoff=0.5)
    solid = replace(leaf, base_colour_image=None)
    world = world_of(2, sun=NOON, sky=DARK)
    moment = still(look((0, 0, 0.5), (0.001, 0, 0)))
    brightness = {}
    for name, surface in (("holes", leaf), ("solid", solid)):
        out = picture(renderer, world, {1: plate(5, GREY), 2: plate(5, surface, 2.0)}, moment)["rgb"]
        brightness[name] = float(out[H // 2, W // 2, 0])
    assert abs(brightness["holes"] - code(0.49 / np.pi * 2)) < 4 and brightness["solid"] < 3
    night = world_of(2, sun=None, sky=DARK)
    above = picture(renderer, night, {1: plate(5, GREY), 2: plate(5, GLOW, 2.0)}, still(look((0, 0, 0.5), (0.1, 0, 9))))["rgb"]
    assert above.max() < 5  # from below the plate shows its back: the dark sky is behind it


def test_a_size_or_pass_that_cannot_be_is_refused(renderer: Renderer) -> None:
    scenery = Scenery(world_of(1), SceneGeometry({1: plate(1, GREY)}, {}, {}, {}), (), 240)
    with pytest.raises(WorldwrightError, match="no pass"):
        renderer.open(scenery, W, H, ("heat",), 4)
    with pytest.raises(WorldwrightError, match="9000"):
        renderer.open(scenery, 9000, 9000, ("rgb",), 4)


def test_a_gpu_that_is_not_there_is_refused_in_a_line(renderer: Renderer) -> None:
    import drjit

    if drjit.has_backend(drjit.JitBackend.CUDA):
        pytest.skip("there is a GPU")
    with pytest.raises(WorldwrightError, match="no GPU"):
        make_renderer("pathtraced", "gpu")


def test_without_llvm_the_device_says_so_and_the_card_is_as_bright(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRJIT_LIBLLVM_PATH", "")
    monkeypatch.setattr("worldwright.render.pathtraced.platform.find_llvm", lambda: None)
    plain = make_renderer("pathtraced", "cpu")
    assert "scalar_rgb (no LLVM" in plain.device and "llvm_ad_rgb" in renderer.device
    out = picture(plain, world_of(1, sun=NOON, sky=DARK), {1: plate(5, GREY)}, still(look((0, 0, 3), (0.001, 0, 0))), samples=2)[
        "rgb"
    ]
    plain.close()
    assert (
        np.abs(out[H // 4 : -H // 4, W // 4 : -W // 4].mean() - code(0.49 / np.pi * 2)) < 8
    )  # Disney's Lambert is a little brighter
