"""A world's geometry: merged per surface, posed, and no file outside a pack."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from worldwright.assets.primitives import mesh_volume
from worldwright.assets.scene import build_scene
from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.world.spec import World


def world_of(parts: list[dict[str, object]], **fields: object) -> World:
    return World.model_validate(
        {
            "name": "w",
            "bounds": {"min": (-9, -9, -9), "max": (9, 9, 9)},
            "materials": {"a": {}, "b": {"texture": {"kind": "brick"}}},
            "entities": [{"name": "thing", "label": "thing", "position": (5, 5, 5), "parts": parts}],
            "spawns": [{"position": (0, 0, 0)}],
        }
        | fields
    )


def cube(material: str, **fields: object) -> dict[str, object]:
    return {"geometry": {"shape": "box", "size": (1, 1, 1)}, "material": material} | fields


def write_triangle(path: Path) -> None:
    """A glTF file of one triangle in the plane z = 0 of its own axes, one unit long."""
    data = struct.pack("<9f3H", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 2) + b"\x00\x00"
    path.with_suffix(".bin").write_bytes(data)
    path.write_text(
        json.dumps(
            {
                "asset": {"version": "2.0"},
                "scene": 0,
                "scenes": [{"nodes": [0]}],
                "nodes": [{"mesh": 0}],
                "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
                "buffers": [{"byteLength": len(data), "uri": path.with_suffix(".bin").name}],
                "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
                "accessors": [
                    {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
                    {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
                ],
            }
        )
    )


def test_parts_are_merged_per_surface_and_posed_in_the_entitys_frame() -> None:
    geometry = build_scene(world_of([cube("a"), cube("b", position=(0, 0, 2)), cube("a", position=(3, 0, 0))]), {})
    meshes = geometry.entities[1]
    assert [mesh.surface.name for mesh in meshes] == ["a", "b"]
    assert mesh_volume(meshes[0]) == pytest.approx(2.0, rel=1e-5)
    assert meshes[0].positions[:, 0].max() == pytest.approx(3.5)
    assert meshes[1].positions[:, 2].min() == pytest.approx(1.5)


def test_what_is_only_seen_is_not_touched() -> None:
    geometry = build_scene(world_of([cube("a"), cube("a", position=(0, 0, 2), collide=False)]), {})
    assert sum(mesh_volume(m) for m in geometry.entities[1]) == pytest.approx(2.0, rel=1e-5)
    assert sum(mesh_volume(m) for m in geometry.collision[1]) == pytest.approx(1.0, rel=1e-5)


def test_an_engine_gets_the_same_triangles_without_pictures() -> None:
    world = world_of([cube("b")])
    seen, felt = build_scene(world, {}), build_scene(world, {}, images=False)
    assert np.array_equal(seen.entities[1][0].positions, felt.entities[1][0].positions)
    assert seen.entities[1][0].surface.base_colour_image is not None
    assert felt.entities[1][0].surface.base_colour_image is None


def test_the_built_in_character_is_there() -> None:
    geometry = build_scene(world_of([cube("a")]), {})
    assert list(geometry.characters) == [2]
    assert geometry.characters[2].skeleton is not None


def gltf(path: str) -> list[dict[str, object]]:
    return [{"geometry": {"shape": "gltf", "pack": "kit", "path": path, "scale": 2.0}, "position": (0, 0, 1)}]


def test_a_model_is_scaled_posed_and_hashed(tmp_path: Path) -> None:
    write_triangle(tmp_path / "t.gltf")
    geometry = build_scene(world_of(gltf("t.gltf"), packs={"kit": {}}), {"kit": tmp_path})
    (mesh,) = geometry.entities[1]
    assert mesh.positions[:, 2].max() == pytest.approx(3.0)  # one unit up in glTF's Y, twice as large, one metre higher
    assert geometry.asset_hashes["kit/t.gltf"] == hash_file(tmp_path / "t.gltf")


def test_a_missing_model_names_entity_and_part(tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match=r"entities\[0\] 'thing' parts\[0\].*'no\.glb'"):
        build_scene(world_of(gltf("no.glb"), packs={"kit": {}}), {"kit": tmp_path})


def test_a_pack_without_a_folder_says_how_to_give_one() -> None:
    with pytest.raises(WorldwrightError, match="--pack kit=FOLDER"):
        build_scene(world_of(gltf("t.gltf"), packs={"kit": {}}), {})


def test_a_link_does_not_lead_out_of_a_pack(tmp_path: Path) -> None:
    write_triangle(tmp_path / "t.gltf")
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "t.gltf").symlink_to(tmp_path / "t.gltf")
    with pytest.raises(WorldwrightError, match="leaves the folder"):
        build_scene(world_of(gltf("t.gltf"), packs={"kit": {}}), {"kit": tmp_path / "kit"})


def test_a_broken_model_names_entity_and_file(tmp_path: Path) -> None:
    (tmp_path / "t.gltf").write_text('{"asset": {"version": "2.0"}, "meshes": [')
    with pytest.raises(WorldwrightError, match=r"entities\[0\].*t\.gltf"):
        build_scene(world_of(gltf("t.gltf"), packs={"kit": {}}), {"kit": tmp_path})
