"""glTF files come out as the format says, in our axes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldwright.assets.animation import bind_bones, pose_to_bones, skin
from worldwright.assets.gltf import load_gltf
from worldwright.errors import WorldwrightError


def test_y_up_becomes_z_up(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    mesh = load_gltf(gltf_file.save(tmp_path), tmp_path).meshes[0]
    assert mesh.positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert np.allclose(mesh.normals, [0, -1, 0])  # +Z of glTF
    assert mesh.name == "thing"


def test_node_transforms_are_applied_down_the_tree(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    gltf_file.json["nodes"] = [
        {"children": [1], "translation": [0, 0, 5], "rotation": [0, 2**-0.5, 0, 2**-0.5]},  # 90 degrees about glTF's up
        {"mesh": 0, "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 0, 0, 1]},
    ]
    mesh = load_gltf(gltf_file.save(tmp_path), tmp_path).meshes[0]
    # (1, 0, 0): scaled 2, moved +1 in x: 3; turned: x to -z; moved: (0, 0, 2); ours: (0, -2, 0).
    assert np.allclose(mesh.positions, [[0, -4, 0], [0, -2, 0], [0, -4, 2]], atol=1e-6)


def test_a_mirrored_node_keeps_its_outside_outside(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    gltf_file.json["nodes"][0]["scale"] = [-1, 1, 1]
    mesh = load_gltf(gltf_file.save(tmp_path), tmp_path).meshes[0]
    a, b, c = mesh.positions[mesh.indices[0]]
    assert np.allclose(np.cross(b - a, c - a), [0, -1, 0])
    assert np.allclose(mesh.normals, [0, -1, 0])


@pytest.mark.parametrize(
    ("mode", "triangles"),
    [(4, [[0, 1, 2]]), (5, [[0, 1, 2], [2, 1, 3]]), (6, [[0, 1, 2], [0, 2, 3]])],
)
def test_lists_strips_and_fans(gltf_file: Any, tmp_path: Path, mode: int, triangles: list[list[int]]) -> None:
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] if mode == 5 else [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    count = 3 if mode == 4 else 4
    primitive = {
        "attributes": {"POSITION": gltf_file.accessor(points), "NORMAL": gltf_file.accessor([[0, 0, 1]] * 4)},
        "indices": gltf_file.accessor(list(range(count)), "uint8"),
        "mode": mode,
    }
    gltf_file.json["meshes"] = [{"primitives": [primitive]}]
    mesh = load_gltf(gltf_file.save(tmp_path), tmp_path).meshes[0]
    assert mesh.indices.tolist() == triangles


def test_interleaved_and_quantised_attributes(gltf_file: Any, tmp_path: Path) -> None:
    rows = np.zeros(3, dtype=[("p", "<i2", 3), ("pad", "<i2"), ("uv", "<u2", 2)])
    rows["p"] = [[0, 0, 0], [32767, 0, 0], [0, 16384, 0]]
    rows["uv"] = [[0, 0], [65535, 0], [0, 32768]]
    view = gltf_file.view(rows.tobytes(), byteStride=12)
    gltf_file.json["accessors"] = [
        {"bufferView": view, "componentType": 5122, "normalized": True, "count": 3, "type": "VEC3"},
        {"bufferView": view, "byteOffset": 8, "componentType": 5123, "normalized": True, "count": 3, "type": "VEC2"},
    ]
    gltf_file.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}}]}]
    gltf_file.json["materials"] = [{}]
    gltf_file.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    mesh = load_gltf(gltf_file.save(tmp_path), tmp_path).meshes[0]
    assert np.allclose(mesh.positions, [[0, 0, 0], [1, 0, 0], [0, 0, 0.5]], atol=1e-4)
    assert np.allclose(mesh.uvs, [[0, 0], [1, 0], [0, 0.5]], atol=1e-4)


def test_texture_transform_alpha_and_factors(rich_file: Any, tmp_path: Path) -> None:
    model = load_gltf(rich_file.save(tmp_path), tmp_path)
    mesh = model.meshes[0]
    assert np.allclose(mesh.uvs, [[0.5, 0], [2.5, 0], [0.5, 1], [2.5, 1]])
    surface = mesh.surface
    assert (surface.name, surface.metallic, surface.roughness, surface.alpha_cutoff) == ("paint", 0.25, 1.0, 0.5)
    assert surface.base_colour_image is not None
    assert surface.base_colour_image.srgb
    assert surface.base_colour_image.pixels[0, 1].tolist() == [3, 4, 5, 255]


def test_a_turned_texture_turns_as_the_extension_says(rich_file: Any, tmp_path: Path) -> None:
    info = rich_file.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
    info["extensions"]["KHR_texture_transform"] = {"rotation": np.pi / 2}
    mesh = load_gltf(rich_file.save(tmp_path), tmp_path).meshes[0]
    # Counter-clockwise with v downwards: (1, 0) goes to (0, -1), (0, 1) to (1, 0).
    assert np.allclose(mesh.uvs, [[0, 0], [0, -1], [1, 0], [1, -1]], atol=1e-6)


def test_sparse_values_replace_the_base(rich_file: Any, tmp_path: Path) -> None:
    assert load_gltf(rich_file.save(tmp_path), tmp_path).meshes[0].positions[3].tolist() == [1, 0, 2]


def test_joints_come_parents_first_and_weights_follow(rich_file: Any, tmp_path: Path) -> None:
    model = load_gltf(rich_file.save(tmp_path), tmp_path)
    assert model.skeleton is not None
    assert model.skeleton.names == ("root", "tip")
    assert model.skeleton.parents.tolist() == [-1, 0]
    mesh = model.meshes[0]
    assert mesh.joints is not None
    assert mesh.joints[0].tolist()[:2] == [1, 0]  # the skin lists tip first
    positions, normals = skin(mesh, model, bind_bones(model))
    assert np.allclose(positions, mesh.positions, atol=1e-6)
    assert np.allclose(normals, mesh.normals, atol=1e-6)


def test_clips_are_baked_at_sixty_a_second_by_kind(rich_file: Any, tmp_path: Path) -> None:
    model = load_gltf(rich_file.save(tmp_path), tmp_path)
    clip = model.clips["nod"]
    assert clip.loop
    assert len(clip.translations) == 60
    assert np.allclose(clip.translations[15, 0], [0, 0, 1.5])  # linear: half-way from 1 to 2 up
    assert np.allclose(clip.rotations[29, 1], [1, 0, 0, 0])  # step: not before its time
    assert np.allclose(clip.rotations[30, 1], [0.8, 0, -0.6, 0])
    assert np.allclose(clip.scales[15, 1], 1.5)  # cubic without slopes at both ends: smoothstep
    assert np.allclose(clip.scales[6, 1], 1 + (3 * 0.2**2 - 2 * 0.2**3))


def test_a_transform_above_the_skeleton_is_folded_into_its_root(rich_file: Any, tmp_path: Path) -> None:
    rich_file.json["nodes"] += [{"children": [1], "translation": [0, 0, 3], "scale": [2, 2, 2], "rotation": [0, 1, 0, 0]}]
    rich_file.json["scenes"] = [{"nodes": [0, 3]}]
    model = load_gltf(rich_file.save(tmp_path), tmp_path)
    assert model.skeleton is not None
    s = model.skeleton
    rest = pose_to_bones(s, s.rest_translations, s.rest_rotations, s.rest_scales)
    assert np.allclose(rest[0, :3], [0, -3, 2], atol=1e-6)
    assert np.allclose(rest[1, :3], [0, -3, 4], atol=1e-6)
    assert np.allclose(rest[:, 7], 2)
    clip = model.clips["nod"]
    moved = pose_to_bones(s, clip.translations, clip.rotations, clip.scales)
    assert np.allclose(moved[30, 0, :3], [0, -3, 4], atol=1e-5)


def test_a_thing_in_a_hand_rides_on_it(rich_file: Any, tmp_path: Path) -> None:
    rich_file.json["meshes"].append({"primitives": [{"attributes": {"POSITION": 0}, "mode": 5}]})
    rich_file.json["nodes"][2]["children"] = [3]
    rich_file.json["nodes"].append({"name": "sword", "mesh": 1, "translation": [0.5, 0, 0]})
    model = load_gltf(rich_file.save(tmp_path), tmp_path)
    sword = next(m for m in model.meshes if m.name == "sword")
    assert model.skeleton is not None
    s = model.skeleton
    rest = pose_to_bones(s, s.rest_translations, s.rest_rotations, s.rest_scales)
    # glTF: root (0, 1, 0), tip (0, 2, 0) turned by cos 0.28, sin 0.96 about Z, sword +0.5 along its x.
    assert np.allclose(skin(sword, model, rest)[0][0], [0.5 * 0.28, 0, 2 + 0.5 * 0.96], atol=1e-5)


def test_two_skins_that_bind_a_joint_differently_both_hold(rich_file: Any, tmp_path: Path) -> None:
    other = np.tile(np.eye(4), (2, 1, 1))
    other[0, 3, 1], other[1, 3, 1] = -5, -4
    rich_file.json["skins"].append({"joints": [2, 1], "inverseBindMatrices": rich_file.accessor(other)})
    rich_file.json["nodes"].append({"name": "coat", "mesh": 0, "skin": 1})
    rich_file.json["scenes"] = [{"nodes": [0, 1, 3]}]
    model = load_gltf(rich_file.save(tmp_path), tmp_path)
    assert model.skeleton is not None
    assert len(model.skeleton.names) == 4
    s = model.skeleton
    rest = pose_to_bones(s, s.rest_translations, s.rest_rotations, s.rest_scales)
    body, coat = (next(m for m in model.meshes if m.name == name) for name in ("body", "coat"))
    # Both joints of the coat are bound three units higher: it hangs three units lower, along each joint's own up.
    difference = skin(body, model, rest)[0] - skin(coat, model, rest)[0]
    assert np.allclose(difference[:, 2], 0.75 * 3 * 0.28 + 0.25 * 3, atol=1e-5)


def test_face_colours_become_an_exact_palette(gltf_file: Any, tmp_path: Path) -> None:
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    colours = [[1, 0, 0]] * 3 + [[0, 0, 1]] * 3
    gltf_file.json["meshes"] = [
        {"primitives": [{"attributes": {"POSITION": gltf_file.accessor(points), "COLOR_0": gltf_file.accessor(colours)}}]}
    ]
    mesh = load_gltf(gltf_file.save(tmp_path), tmp_path).meshes[0]
    image = mesh.surface.base_colour_image
    assert image is not None
    side = image.pixels.shape[0]
    texels = image.pixels[(mesh.uvs[:, 1] * side).astype(int), (mesh.uvs[:, 0] * side).astype(int)]
    by_height = np.where(mesh.positions[:, 1:2] == 0, [[255, 0, 0, 255]], [[0, 0, 255, 255]])
    assert (texels == by_height).all()


def test_gltf_with_files_beside_it_and_data_uris(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    first = gltf_file.json | {"buffers": [{"uri": "my%20data.bin", "byteLength": len(gltf_file.blob)}]}
    (tmp_path / "my data.bin").write_bytes(bytes(gltf_file.blob))
    (tmp_path / "a.gltf").write_text(json.dumps(first))
    uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(gltf_file.blob)).decode()
    second = gltf_file.json | {"buffers": [{"uri": uri, "byteLength": len(gltf_file.blob)}]}
    (tmp_path / "b.gltf").write_text(json.dumps(second))
    a, b = load_gltf(tmp_path / "a.gltf", tmp_path), load_gltf(tmp_path / "b.gltf", tmp_path)
    assert (a.meshes[0].positions == b.meshes[0].positions).all()
    before = a.content_hash
    (tmp_path / "my data.bin").write_bytes(bytes(gltf_file.blob)[:-4] + b"\0\0\0\x3f")
    assert load_gltf(tmp_path / "a.gltf", tmp_path).content_hash != before


def test_the_licence_is_found(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    folder = tmp_path / "pack" / "models"
    folder.mkdir(parents=True)
    path = gltf_file.save(folder)
    assert load_gltf(path, tmp_path / "pack").licence == "unknown"
    (tmp_path / "LICENSE").write_text("outside of the pack")
    assert load_gltf(path, tmp_path / "pack").licence == "unknown"
    (tmp_path / "pack" / "License.txt").write_text("\n  My own   terms\nmore")
    assert load_gltf(path, tmp_path / "pack").licence == "My own terms"
    (folder / "LICENSE.md").write_text("License: (Creative Commons Zero, CC0)")
    assert load_gltf(path, tmp_path / "pack").licence == "CC0-1.0"
    gltf_file.json["asset"]["copyright"] = "CC-BY 4.0 Somebody"
    assert load_gltf(gltf_file.save(folder), tmp_path / "pack").licence == "CC-BY 4.0 Somebody"


def test_only_the_clips_asked_for_are_baked(rich_file: Any, tmp_path: Path) -> None:
    path = rich_file.save(tmp_path)
    asked: list[tuple[str, ...]] = []

    def none(names: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(names)
        return ()

    assert load_gltf(path, tmp_path, clips=none).clips == {}
    assert asked == [("nod",)]


def test_an_image_in_many_files_is_held_once(packs: dict[str, Path]) -> None:
    root = packs["dungeon"]
    wall, floor = (load_gltf(root / f"models/{name}.gltf.glb", root) for name in ("wall", "floor_tile_large"))
    assert wall.meshes[0].surface.base_colour_image is floor.meshes[0].surface.base_colour_image
    assert wall.licence == "CC0-1.0"
    size = np.ptp(wall.meshes[0].positions, axis=0)
    assert np.allclose(size, [4, 1, 4], atol=0.01)


def test_an_unskinned_file_has_no_skeleton_unless_asked(packs: dict[str, Path]) -> None:
    root = packs["platformer"]
    path = next(p for p in sorted(root.rglob("*.glb")) if "character" in p.name.lower())
    assert load_gltf(path, root).skeleton is None
    assert load_gltf(path, root, moving_nodes=True).skeleton is not None


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(WorldwrightError, match="no such file"):
        load_gltf(tmp_path / "none.glb", tmp_path)
