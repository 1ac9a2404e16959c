"""World documents: what is wrong is told in one line with field and value; what is written reads back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.errors import WorldwrightError
from worldwright.world.files import load_world, parse_world, resolve_packs, save_world, world_hash
from worldwright.world.spec import World

GOOD = """\
format: worldwright.world/1
name: small
bounds: {min: [-5, -5, -1], max: [5, 5, 5]}
materials:
  red: {base_colour: [1, 0.5, 0]}
spawns:
- position: [0, 0, 0]
entities:
- name: thing
  label: box
  body: dynamic
  mass: 2.5
  parts:
  - geometry: {shape: box, size: [1, 1, 1]}
    rotation: [0.9, 0.1, 0.3, 0.3]
    material: red
"""


def told(text: str, where: str = "w.yaml") -> str:
    with pytest.raises(WorldwrightError) as caught:
        parse_world(text, where)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(where)
    return line


def with_quaternion(text: str) -> str:
    return text.replace("[0.9, 0.1, 0.3, 0.3]", "[1, 0, 0, 0]")


BASE = with_quaternion(GOOD)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("label: box", "lable: box", ["entities[0].lable", "'box'", "'label'"]),
        ("size: [1, 1", "size: [.nan, 1", ["entities[0].parts[0].geometry.size[0]", "nan"]),
        ("size: [1, 1", "size: [1, .inf", ["geometry.size[1]", "inf"]),
        ("mass: 2.5", "mass: -3", ["entities[0].mass", "-3"]),
        ("  mass: 2.5\n", "", ["entities[0]", "need a mass"]),
        ("material: red", "material: blue", ["entities[0].parts[0].material", "'blue'"]),
        ("shape: box", "shape: bx", ["geometry", "'bx'", "'box'"]),
        ("shape: box, ", "", ["geometry", "shape"]),
        ("base_colour:", "base_color:", ["materials.red.base_color", "'base_colour'"]),
        ("{shape: box, size: [1, 1, 1]}", "{shape: gltf, pack: p, path: ../../etc/passwd}", ["geometry.path", "../../etc/passwd"]),
        ("{shape: box, size: [1, 1, 1]}", "{shape: gltf, pack: p, path: /etc/passwd}", ["geometry.path", "/etc/passwd"]),
        ("{shape: box, size: [1, 1, 1]}", "{shape: gltf, pack: p, path: a.glb}", ["geometry.pack", "'p'"]),
        ("min: [-5, -5, -1]", "min: [9, -5, -1]", ["bounds", "min"]),
        ("[1, 0, 0, 0]", "[1, 1, 0, 0]", ["rotation", "unit"]),
        ("name: small", "name: small\nname: other", ["'name'", "twice", "line 3"]),
        ("spawns:\n- position: [0, 0, 0]\n", "", ["spawns", "missing"]),
        ("name: small", "name: small\ncharacters: [{spawn: nowhere}]", ["characters[0].spawn", "'nowhere'"]),
        ("format: worldwright.world/1", "format: worldwright.world/9", ["format", "worldwright.world/9"]),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_with_its_value(old: str, new: str, parts: list[str]) -> None:
    assert old in BASE
    line = told(BASE.replace(old, new))
    assert all(part in line for part in parts), line


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefghijklmnopqrs", "bcdefghijklmnopqrst", strict=True)
    )
    assert "alias" in told(bomb)


@pytest.mark.parametrize(
    "text",
    ["", "- 1\n", "3", "name: [", "[" * 5000, "{" * 200_000, "a: !!python/object/apply:os.system [ls]", "\x00", "? [a]\n: 1"],
)
def test_what_is_no_document_is_told(text: str) -> None:
    told(text)


def test_a_cut_document_is_told_wherever_it_is_cut() -> None:
    for cut in range(0, len(BASE) - 14, 7):
        told(BASE[:cut])


def test_json_is_read_too_and_its_faults_are_told() -> None:
    world = parse_world(BASE, "w.yaml")
    assert world_hash(parse_world(world.model_dump_json(), "w.json")) == world_hash(world)
    assert "twice" in told('{"name": "a", "name": "b"}', "w.json")
    assert "column" in told('{"name": ', "w.json")
    assert "mass" in told(json.dumps(world.model_dump(mode="json")).replace('"mass": 2.5', '"mass": NaN'), "w.json")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(80 << 20)
    with pytest.raises(WorldwrightError, match="80 MB"):
        load_world(path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00bad"])
def test_an_unreadable_file_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "w.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WorldwrightError, match=r"w\.yaml"):
        load_world(path)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: sum(x * x for x in q) > 0.1), st.floats(-1e5, 1e5))
@settings(max_examples=60, deadline=None)
def test_the_hash_survives_writing_and_reading(q: list[float], x: float) -> None:
    n = sum(c * c for c in q) ** 0.5
    data = json.loads(parse_world(BASE, "w").model_dump_json())
    data["entities"][0]["rotation"] = [c / n for c in q]
    data["entities"][0]["position"] = [x, -x, x / 3]
    world = World.model_validate(data)
    again = World.model_validate_json(world.model_dump_json())
    assert world_hash(again) == world_hash(world)


def test_writing_a_default_changes_no_hash(tmp_path: Path) -> None:
    world = parse_world(BASE, "w.yaml")
    assert world_hash(parse_world(BASE.replace("mass: 2.5", "mass: 2.5\n  friction: 0.6"), "w")) == world_hash(world)
    assert world_hash(parse_world(BASE.replace("mass: 2.5", "mass: 2.6"), "w")) != world_hash(world)
    path = tmp_path / "out.yaml"
    save_world(world, path)
    assert world_hash(load_world(path)) == world_hash(world)
    assert "friction" not in path.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["out.yaml"]


def test_a_world_is_not_half_written_where_it_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="cannot be written"):
        save_world(parse_world(BASE, "w.yaml"), tmp_path / "missing" / "w.yaml")


class TestPacks:
    def world(self, root: str | None) -> World:
        data = parse_world(BASE, "w.yaml").model_dump()
        data["packs"] = {"kit": {"root": root}}
        return World.model_validate(data)

    def test_a_missing_pack_says_how_to_give_it(self, tmp_path: Path) -> None:
        for root in (None, "no/such"):
            with pytest.raises(WorldwrightError, match=r"packs\.kit.*--pack kit=FOLDER"):
                resolve_packs(self.world(root), tmp_path / "w.yaml", {})

    def test_a_given_folder_wins_over_the_root(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        world = self.world("a")
        assert resolve_packs(world, tmp_path / "w.yaml", {}) == {"kit": tmp_path / "a"}
        assert resolve_packs(world, tmp_path / "w.yaml", {"kit": tmp_path / "b"}) == {"kit": tmp_path / "b"}
        with pytest.raises(WorldwrightError, match="no folder"):
            resolve_packs(world, tmp_path / "w.yaml", {"kit": tmp_path / "c"})

    def test_a_link_does_not_lead_out_of_the_worlds_folder(self, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "inside").mkdir()
        (tmp_path / "inside" / "kit").symlink_to(tmp_path / "outside")
        with pytest.raises(WorldwrightError, match="leaves the folder"):
            resolve_packs(self.world("kit"), tmp_path / "inside" / "w.yaml", {})


@pytest.mark.parametrize("text", ['{"name": ' + "1" * 6000 + "}", "name: " + "1" * 6000, "seed: 0x" + "f" * 9000])
def test_a_number_too_long_to_print_breaks_the_message(text: str) -> None:
    assert "number of" in told(text) or "digits" in told(text)
