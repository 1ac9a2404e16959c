"""A small writer of glTF files, so that tests can make valid ones and break them."""

from __future__ import annotations

import io
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
CODES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}


class GltfFile:
    """Collects accessors; ``json`` is free to be edited before ``glb`` writes the file."""

    def __init__(self) -> None:
        self.blob = bytearray()
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "name": "thing"}],
            "bufferViews": [],
            "accessors": [],
        }

    def view(self, data: bytes, **extra: Any) -> int:
        self.blob += b"\0" * (-len(self.blob) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(data), **extra})
        self.blob += data
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values: Any, dtype: str = "float32", **extra: Any) -> int:
        array = np.asarray(values, dtype=dtype)
        array = array.reshape(len(array), -1)
        entry = {
            "bufferView": self.view(array.tobytes()),
            "componentType": CODES[dtype],
            "count": len(array),
            "type": KINDS[array.shape[1]],
        }
        self.json["accessors"].append(entry | extra)
        return len(self.json["accessors"]) - 1

    def triangle(self) -> None:
        """One triangle in glTF's XY plane, seen from +Z, as mesh 0."""
        position = self.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
        self.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": position}}]}]

    def data(self) -> bytes:
        if self.blob:
            self.json.setdefault("buffers", [{"byteLength": len(self.blob)}])
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        blob = bytes(self.blob) + b"\0" * (-len(self.blob) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks

    def save(self, folder: Path, name: str = "x.glb") -> Path:
        path = folder / name
        path.write_bytes(self.data())
        return path


def rich() -> GltfFile:
    """A valid file with all that the reader reads: a texture, a skin of two joints, clips of every kind, sparse and interleaved data."""
    f = GltfFile()
    buffer = io.BytesIO()
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(buffer, "PNG")
    position = f.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    f.json["accessors"][position]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": f.view(np.array([3], dtype=np.uint8).tobytes()), "componentType": 5121},
        "values": {"bufferView": f.view(np.array([[1, 2, 0]], dtype=np.float32).tobytes())},
    }
    attributes = {
        "POSITION": position,
        "NORMAL": f.accessor(np.tile([0, 0, 127, 0], (4, 1))[:, :3], "int8", normalized=True),
        "TEXCOORD_0": f.accessor([[0, 0], [1, 0], [0, 1], [1, 1]]),
        "JOINTS_0": f.accessor([[0, 1, 0, 0]] * 4, "uint8"),
        "WEIGHTS_0": f.accessor([[0.75, 0.25, 0, 0]] * 4),
    }
    f.json["meshes"] = [
        {"primitives": [{"attributes": attributes, "indices": f.accessor([0, 1, 2, 3], "uint16"), "mode": 5, "material": 0}]}
    ]
    f.json["materials"] = [
        {
            "name": "paint",
            "pbrMetallicRoughness": {
                "baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"offset": [0.5, 0], "scale": [2, 1]}}},
                "metallicFactor": 0.25,
            },
            "alphaMode": "MASK",
        }
    ]
    f.json["textures"] = [{"source": 0}]
    f.json["images"] = [{"bufferView": f.view(buffer.getvalue()), "mimeType": "image/png"}]
    f.json["nodes"] = [
        {"name": "body", "mesh": 0, "skin": 0},
        {"name": "root", "children": [2], "translation": [0, 1, 0]},
        {"name": "tip", "translation": [0, 1, 0], "rotation": [0, 0, 0.6, 0.8]},
    ]
    f.json["scenes"] = [{"nodes": [0, 1]}]
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[0, 3, 1], bind[1, 3, 1] = -1, -2
    f.json["skins"] = [{"joints": [2, 1], "inverseBindMatrices": f.accessor(bind[::-1])}]
    times = f.accessor([0.0, 0.5, 1.0])
    moves = f.accessor([[0, 1, 0], [0, 2, 0], [0, 1, 0]])
    turns = f.accessor([[0, 0, 0, 1], [0, 0, 0.6, 0.8], [0, 0, 0, 1]])
    cubic = f.accessor([[0, 0, 0] if k % 3 != 1 else [size] * 3 for k, size in enumerate([1, 1, 1, 2, 2, 2, 1, 1, 1])])
    f.json["animations"] = [
        {
            "name": "nod",
            "samplers": [
                {"input": times, "output": moves},
                {"input": times, "output": turns, "interpolation": "STEP"},
                {"input": times, "output": cubic, "interpolation": "CUBICSPLINE"},
            ],
            "channels": [
                {"sampler": 0, "target": {"node": 1, "path": "translation"}},
                {"sampler": 1, "target": {"node": 2, "path": "rotation"}},
                {"sampler": 2, "target": {"node": 2, "path": "scale"}},
            ],
        }
    ]
    return f


@pytest.fixture
def gltf_file() -> GltfFile:
    """An empty file to fill."""
    return GltfFile()


@pytest.fixture
def rich_file() -> GltfFile:
    """See ``rich``."""
    return rich()


@pytest.fixture(scope="session")
def rich_bytes() -> bytes:
    """The rich file, written."""
    return rich().data()


@pytest.fixture(scope="session")
def packs() -> dict[str, Path]:
    """The KayKit packs among the shared assets, where they are."""
    shared = Path(os.environ.get("WORLDWRIGHT_SHARED", Path(__file__).parents[3] / "shared")) / "assets"
    found = {
        "dungeon": shared / "kaykit-dungeon",
        "adventurers": shared / "kaykit-adventurers",
        "platformer": shared / "kenney-platformer",
    }
    if not all(path.is_dir() for path in found.values()):
        pytest.skip(f"the KayKit packs are not in {shared}: set WORLDWRIGHT_SHARED")
    return found
