"""A broken or hostile glTF file is one line that names the file and the place, never a traceback, a hang or a full memory."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldwright.assets.gltf import load_gltf
from worldwright.errors import WorldwrightError

Edit = Callable[[Any], Any]


def _set(*path: str | int, to: Any) -> Edit:
    def edit(file: Any) -> None:
        at = file.json
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to

    return edit


CASES: dict[str, tuple[Edit, str]] = {
    "accessor count beyond its view": (_set("accessors", 0, "count", to=4000), r"x\.glb: /accessors/0: needs 48000 bytes"),
    "accessor offset beyond its view": (_set("accessors", 0, "byteOffset", to=400), r"x\.glb: /accessors/0: needs"),
    "a huge count": (_set("accessors", 0, "count", to=4_000_000_000), r"x\.glb: /accessors/0/count: 4000000000 is not in"),
    "a negative count": (_set("accessors", 0, "count", to=-1), r"/accessors/0/count: -1"),
    "a view of no buffer": (_set("bufferViews", 0, "buffer", to=3), r"/bufferViews/0/buffer: index 3 is out of range"),
    "a view beyond the buffer": (_set("bufferViews", 0, "byteLength", to=10_000_000), r"/bufferViews/0: bytes"),
    "a four-gigabyte buffer": (_set("buffers", to=[{"byteLength": 2**32}]), r"/buffers/0/byteLength: claims 4294967296 bytes"),
    "an unknown component type": (_set("accessors", 0, "componentType", to=5124), r"/accessors/0/componentType: 5124"),
    "positions that are scalars": (_set("accessors", 0, "type", to="SCALAR"), r"/accessors/0/type: 'SCALAR', must be VEC3"),
    "an unaligned offset": (_set("accessors", 0, "byteOffset", to=1), r"/accessors/0: "),
    "a stride below an element": (_set("bufferViews", 0, "byteStride", to=4), r"/accessors/0: byteStride 4"),
    "a cyclic node tree": (
        _set("nodes", 2, "children", to=[1]),
        r"/nodes/1: is its own ancestor: the node tree has a cycle",
    ),
    "a node that is its own child": (_set("nodes", 0, "children", to=[0]), r"/nodes/0: is its own ancestor"),
    "a node with two parents": (_set("nodes", 0, "children", to=[2]), r"/nodes/1/children/0: node 2 has two parents"),
    "a child that is not there": (_set("nodes", 0, "children", to=[9]), r"/nodes/0/children/0: index 9"),
    "a scene root that is not there": (_set("scenes", 0, "nodes", to=[9]), r"/scenes/0/nodes/0: index 9"),
    "a mesh that is not there": (_set("nodes", 0, "mesh", to=7), r"/nodes/0/mesh: index 7"),
    "a joint that is not there": (_set("skins", 0, "joints", to=[2, 44]), r"/skins/0/joints/1: index 44"),
    "a skin without joints": (_set("skins", 0, "joints", to=[]), r"/skins/0: has no joints"),
    "fewer joints than the mesh names": (_set("skins", 0, "joints", to=[2]), r"/nodes/0: its mesh names joint 1"),
    "a material that is not there": (
        _set("meshes", 0, "primitives", 0, "material", to=5),
        r"/meshes/0/primitives/0/material: index 5",
    ),
    "an image that is not there": (_set("textures", 0, "source", to=5), r"/textures/0/source: index 5"),
    "text for a number": (_set("nodes", 1, "translation", to=["a", 0, 0]), r"/nodes/1/translation/0: 'a' is no number"),
    "an endless number": (_set("nodes", 1, "translation", to=[1e300, 0, 0]), r"/nodes/1/translation/0"),
    "two numbers for three": (_set("nodes", 1, "translation", to=[0, 0]), r"/nodes/1/translation: \[0, 0\] is not 3 numbers"),
    "a rotation of no length": (_set("nodes", 1, "rotation", to=[0, 0, 0, 0]), r"/nodes/1/rotation"),
    "an object for an array": (_set("nodes", to={}), r"/nodes: \{\} is no array"),
    "version 1": (_set("asset", "version", to="1.0"), r"/asset/version: glTF version '1.0'"),
    "Draco": (
        _set("extensionsRequired", to=["KHR_draco_mesh_compression"]),
        r"/extensionsRequired/0: 'KHR_draco_mesh_compression' is required",
    ),
    "times that fall": (_set("animations", 0, "samplers", 0, "input", to=0), r"/accessors/0/type"),
    "an unknown interpolation": (_set("animations", 0, "samplers", 0, "interpolation", to="MAGIC"), r"/interpolation: 'MAGIC'"),
    "http": (
        _set("images", 0, to={"uri": "http://example.com/x.png"}),
        r"/images/0/uri: 'http://example.com/x.png' is no relative path",
    ),
    "a path out of the pack": (
        _set("images", 0, to={"uri": "../secret.png"}),
        r"/images/0/uri: '\.\./secret\.png' leaves the pack's folder",
    ),
    "a coded path out of the pack": (
        _set("images", 0, to={"uri": "%2e%2e/secret.png"}),
        r"/images/0/uri: .* leaves the pack's folder",
    ),
    "an absolute path": (_set("images", 0, to={"uri": "/etc/passwd"}), r"/images/0/uri: '/etc/passwd' is no relative path"),
    "a picture that is none": (_set("images", 0, to={"uri": "data:,hello"}), r"/images/0: no PNG or JPEG"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_file_is_one_line_with_its_place(case: str, rich_file: Any, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    edit, message = CASES[case]
    edit(rich_file)
    with pytest.raises(WorldwrightError, match=message) as caught:
        load_gltf(rich_file.save(folder), folder)
    assert "\n" not in str(caught.value)
    assert "x.glb" in str(caught.value)


def test_nan_positions_are_refused(rich_file: Any, tmp_path: Path) -> None:
    offset = rich_file.json["bufferViews"][0]["byteOffset"]
    rich_file.blob[offset : offset + 4] = struct.pack("<f", float("nan"))
    with pytest.raises(WorldwrightError, match=r"/accessors/0: element 0 is .*not finite"):
        load_gltf(rich_file.save(tmp_path), tmp_path)


def test_indices_beyond_the_vertices_are_refused(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    gltf_file.json["meshes"][0]["primitives"][0]["indices"] = gltf_file.accessor([0, 1, 3], "uint8")
    with pytest.raises(WorldwrightError, match=r"/meshes/0/primitives/0/indices: accessor 1 has index 3, there are 3 vertices"):
        load_gltf(gltf_file.save(tmp_path), tmp_path)


def test_a_link_out_of_the_pack_is_refused(rich_file: Any, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(b"x")
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    rich_file.json["images"] = [{"uri": "link.png"}]
    with pytest.raises(WorldwrightError, match="leaves the pack's folder"):
        load_gltf(rich_file.save(folder), folder)
    with pytest.raises(WorldwrightError, match="outside of the pack"):
        load_gltf(rich_file.save(tmp_path), folder)


def test_a_picture_bomb_is_refused_unopened(rich_file: Any, tmp_path: Path) -> None:
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    rich_file.json["images"] = [{"bufferView": rich_file.view(data), "mimeType": "image/png"}]
    with pytest.raises(
        WorldwrightError, match=r"/images/0: (60000 x 60000 pixels|no PNG or JPEG that can be read \(DecompressionBomb)"
    ):
        load_gltf(rich_file.save(tmp_path), tmp_path)


def test_a_mesh_shown_too_often_is_refused(gltf_file: Any, tmp_path: Path) -> None:
    position = gltf_file.accessor([[k % 7, k % 5, k % 3] for k in range(9000)])
    gltf_file.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": position, "NORMAL": position}}]}]
    gltf_file.json["nodes"] = [{"mesh": 0}] * 3000
    gltf_file.json["scenes"] = [{"nodes": list(range(3000))}]
    with pytest.raises(WorldwrightError, match=r"27000000 vertices, at most"):
        load_gltf(gltf_file.save(tmp_path), tmp_path)


def test_points_without_data_make_no_mesh(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.json["accessors"] = [{"componentType": 5126, "count": 9_000_000, "type": "VEC3"}]
    gltf_file.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 1}]}]
    assert load_gltf(gltf_file.save(tmp_path), tmp_path).meshes == ()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"glTF",
        b"glTF" + b"\0" * 30,
        b"{",
        b"[1]",
        b'{"asset": {"version": "2.0"}, "nodes": 7}',
        b'{"asset": NaN}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_what_is_no_gltf_at_all_is_said(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.gltf").write_bytes(data)
    with pytest.raises(WorldwrightError, match=r"x\.gltf"):
        load_gltf(tmp_path / "x.gltf", tmp_path)


def test_a_deep_node_tree_is_no_stack_overflow(gltf_file: Any, tmp_path: Path) -> None:
    gltf_file.triangle()
    count = 5000
    gltf_file.json["nodes"] = [{"children": [k + 1]} for k in range(count)] + [{"mesh": 0}]
    assert len(load_gltf(gltf_file.save(tmp_path), tmp_path).meshes) == 1


def test_every_cut_of_a_file_is_refused(rich_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.glb"
    for length in range(0, len(rich_bytes), 97):
        path.write_bytes(rich_bytes[:length])
        with pytest.raises(WorldwrightError):
            load_gltf(path, tmp_path)


def _load(data: bytes) -> None:
    """Loads, or says why not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.glb"
        path.write_bytes(data)
        try:
            load_gltf(path, Path(folder), moving_nodes=True)
        except WorldwrightError as error:
            assert "\n" not in str(error)


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=6))
def test_flipped_bytes_load_or_are_refused(rich_bytes: bytes, edits: list[tuple[int, int]]) -> None:
    data = bytearray(rich_bytes)
    for at, value in edits:
        data[12 + at % (len(data) - 12)] = value
    _load(bytes(data))


ODD = st.sampled_from(
    [None, True, -1, 0, 1, 2, 3, 7, 2**31, 2**63, 10**400, 0.5, 1e308, -1e-308, "", "x", [], {}, [0], [[]], {"index": 0}]
)


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_edit_of_the_json_loads_or_is_refused(rich_bytes: bytes, data: st.DataObject) -> None:
    size = struct.unpack_from("<I", rich_bytes, 12)[0]
    document = json.loads(rich_bytes[20 : 20 + size])
    for _ in range(data.draw(st.integers(1, 2))):
        holder: Any = document
        while True:
            keys = sorted(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(holder[key], (dict, list)) or data.draw(st.integers(0, 5)) == 0:
                if data.draw(st.booleans()):
                    holder[key] = data.draw(ODD)
                elif isinstance(holder, dict):
                    del holder[key]
                break
            holder = holder[key]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = rich_bytes[20 + size :]
    _load(struct.pack("<III", 0x46546C67, 2, 20 + len(text) + len(rest)) + struct.pack("<II", len(text), 0x4E4F534A) + text + rest)
