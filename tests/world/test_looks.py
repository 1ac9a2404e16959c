"""Looks: another light and weather over the same world."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldwright.errors import WorldwrightError
from worldwright.world.files import load_world, parse_world, save_world
from worldwright.world.looks import LOOKS, find_look, find_looks, put_on, sun_at
from worldwright.world.spec import Look, Sky, Sun, Weather

HEAD = """
format: worldwright.world/1
name: yard
bounds: {min: [-5, -5, -1], max: [5, 5, 5]}
materials: {grey: {}}
entities: [{name: ground, label: ground, parts: [{geometry: {shape: box, size: [9, 9, 1]}, material: grey}]}]
spawns: [{position: [0, 0, 0.5]}]
light: {lamps: [{name: lamp, position: [0, 0, 2]}], exposure: 1.5}
"""
WORLD = parse_world(HEAD, "yard.yaml")


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_ends_as_what_a_world_could_say_itself(name: str, tmp_path: Path) -> None:
    shown = put_on(WORLD, LOOKS[name])
    save_world(shown, tmp_path / "w.yaml")
    assert load_world(tmp_path / "w.yaml") == shown
    own = ("light", "weather", "grade")
    assert all(getattr(shown, field) == getattr(WORLD, field) for field in type(WORLD).model_fields if field not in own)
    assert shown.light.lamps == WORLD.light.lamps and LOOKS[name].description


def test_what_a_look_does_not_name_stays() -> None:
    shown = put_on(WORLD, Look(name="mist", weather=Weather(fog_density=0.02)))
    assert shown.light == WORLD.light and shown.grade == WORLD.grade and shown.weather.fog_density == 0.02


def test_a_worlds_own_look_takes_the_built_in_ones_place() -> None:
    own = Look(name="fog", weather=Weather(fog_density=0.5))
    world = WORLD.model_copy(update={"looks": [own]})
    assert find_look(world, "fog") is own and find_look(WORLD, "fog") is LOOKS["fog"]


def test_a_name_that_is_no_look_is_found_before_anything_is_rendered() -> None:
    with pytest.raises(WorldwrightError, match=r"no look 'smoke'.*choose one of clear, dusk"):
        find_looks(WORLD, ["fog", "smoke"])
    with pytest.raises(WorldwrightError, match="'fog' is named twice"):
        find_looks(WORLD, ["fog", "night", "fog"])
    assert [look.name for look in find_looks(WORLD, ["night", "fog"])] == ["night", "fog"]


def test_a_take_cannot_be_shown_in_a_look_that_was_written_later(tmp_path: Path) -> None:
    file = tmp_path / "late.yaml"
    file.write_text("name: late\nexposure: 1.5\n")
    assert find_look(WORLD, str(file)) == Look(name="late", exposure=1.5)
    with pytest.raises(WorldwrightError, match="'late' is named twice"):
        find_looks(WORLD, [str(file), str(file)])
    file.write_text("name: late\nexposre: 1.5\n")
    with pytest.raises(WorldwrightError, match=r"late\.yaml.*exposre"):
        find_look(WORLD, str(file))
    with pytest.raises(WorldwrightError, match="cannot be read"):
        find_look(WORLD, str(tmp_path / "none.yaml"))


def test_the_sun_stands_where_the_hour_says() -> None:
    """At an equinox it rises in the east at six, is 90 degrees minus the latitude high in the south at noon, and sets in the west."""
    for hour, latitude, azimuth, elevation in (
        (6, 45, 0, 0),
        (12, 45, 270, 45),
        (18, 45, 180, 0),
        (12, 60, 270, 30),
        (9, 0, 0, 45),
    ):
        found = sun_at(hour, latitude)
        assert found[1] == pytest.approx(elevation, abs=1e-9)
        assert abs((found[0] - azimuth + 180) % 360 - 180) < 1e-9
    assert sun_at(12, -45)[0] == pytest.approx(90)  # south of the equator the sun stands in the north
    shown = put_on(WORLD, Look(name="late", hour=17, sun=Sun(intensity=5), sky=Sky(model="physical")))
    assert shown.light.sun is not None and shown.light.sun.intensity == 5
    assert shown.light.sun.elevation_deg == pytest.approx(sun_at(17, 45)[1])


@pytest.mark.parametrize(
    ("look", "named"),
    [
        ("{name: a, grade: {temperature: 100}}", "temperature"),
        ("{name: a, sky: {model: painted}}", "model"),
        ("{name: a, sky: {turbidity: 0.5}}", "turbidity"),
        ("{name: a, weather: {rain: 2}}", "rain"),
        ("{name: a, weather: {water: {absorption: [-1, 0, 0]}}}", "absorption"),
        ("{name: a, weather: {wind: [900, 0, 0]}}", "wind"),
        ("{name: a, hour: 24}", "hour"),
        ("{name: a, exposure: 0}", "exposure"),
        ("{name: a, lamps: []}", "lamps"),
        ("{weather: {rain: 1}}", "name"),
    ],
)
def test_a_wrong_value_of_a_look_is_one_clear_line(look: str, named: str) -> None:
    with pytest.raises(WorldwrightError, match=rf"looks\[0\].*{named}") as caught:
        parse_world(f"{HEAD}looks: [{look}]", "yard.yaml")
    assert "\n" not in caught.value.line()
