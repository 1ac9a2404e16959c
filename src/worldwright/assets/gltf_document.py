"""A glTF file taken apart without trust: container, JSON with pointers, buffers.

Every value is read through a ``Value``, which knows where it stands (``x.glb: /accessors/3/count``), so that each complaint names the
place. Nothing is allocated on the file's word: sizes are checked against what is there first.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import unquote

from worldwright.errors import WorldwrightError
from worldwright.ids import content_id, hash_bytes

MAX_FILE_BYTES = 1 << 30
MAX_JSON_BYTES = 128 << 20
MAX_ITEMS = 1_000_000
"""Most entries that one JSON array may have."""

SUPPORTED_EXTENSIONS = frozenset(
    {"KHR_texture_transform", "KHR_materials_unlit", "KHR_mesh_quantization", "KHR_materials_emissive_strength"}
)
GLB_MAGIC, GLB_JSON, GLB_BIN = 0x46546C67, 0x4E4F534A, 0x004E4942


class Value:
    """A JSON value and its place in a file."""

    __slots__ = ("data", "file", "pointer")

    def __init__(self, data: Any, file: str, pointer: str = "") -> None:
        self.data, self.file, self.pointer = data, file, pointer

    def fail(self, what: str, fix: str = "export the file again") -> NoReturn:
        """Raise an error about this value."""
        raise WorldwrightError(what, where=f"{self.file}: {self.pointer or '/'}", fix=fix)

    def _shown(self) -> str:
        text = repr(self.data)
        return text if len(text) <= 60 else text[:57] + "..."

    def __contains__(self, key: str) -> bool:
        return isinstance(self.data, dict) and key in self.data

    def at(self, key: str | int) -> Value:
        """A member of an object, or an item of an array, that must be there."""
        pointer = f"{self.pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        if isinstance(key, int):
            if not isinstance(self.data, list):
                self.fail(f"{self._shown()} is no array")
            if not 0 <= key < len(self.data):
                self.fail(f"index {key} is out of range, there are {len(self.data)}")
            return Value(self.data[key], self.file, pointer)
        if not isinstance(self.data, dict):
            self.fail(f"{self._shown()} is no object")
        if key not in self.data:
            self.fail(f"{key} is missing")
        return Value(self.data[key], self.file, pointer)

    def get(self, key: str) -> Value | None:
        """A member of an object, None when it is not there."""
        if not isinstance(self.data, dict):
            self.fail(f"{self._shown()} is no object")
        return self.at(key) if key in self.data else None

    def items(self, key: str, limit: int = MAX_ITEMS) -> list[Value]:
        """The items of the array at ``key``; none when it is not there."""
        member = self.get(key)
        if member is None:
            return []
        if not isinstance(member.data, list):
            member.fail(f"{member._shown()} is no array")
        if len(member.data) > limit:
            member.fail(f"{len(member.data)} items, at most {limit} are read", "split the file")
        return [Value(item, self.file, f"{member.pointer}/{k}") for k, item in enumerate(member.data)]

    def members(self) -> Iterator[tuple[str, Value]]:
        """Names and values of an object."""
        if not isinstance(self.data, dict):
            self.fail(f"{self._shown()} is no object")
        for key in self.data:
            yield key, self.at(key)

    def as_int(self, low: int = 0, high: int = 2**53) -> int:
        """A whole number in [low, high]."""
        value = self.data
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(f"{self._shown()} is no whole number")
        if not low <= value <= high:
            self.fail(f"{self._shown()} is not in {low} to {high}")
        return value

    def whole(self, key: str, default: int | None = None, *, low: int = 0, high: int = 2**53) -> int:
        """The whole number at ``key``; ``default`` when it is not there (None: it must be)."""
        member = self.get(key) if default is not None else self.at(key)
        return default if member is None and default is not None else (member or self.at(key)).as_int(low, high)

    def index(self, key: str, count: int) -> int | None:
        """The index at ``key`` into something with ``count`` entries, None when it is not there."""
        member = self.get(key)
        if member is None:
            return None
        value = member.as_int()
        if value >= count:
            member.fail(f"index {value} is out of range, there are {count}")
        return value

    def as_float(self) -> float:
        """A finite number."""
        if isinstance(self.data, bool) or not isinstance(self.data, (int, float)):
            self.fail(f"{self._shown()} is no number")
        try:
            value = float(self.data)
        except OverflowError:
            value = math.inf
        if not abs(value) <= 1e30:
            self.fail(f"{self._shown()} is no usable number")
        return value

    def number(self, key: str, default: float) -> float:
        """The number at ``key``."""
        member = self.get(key)
        return default if member is None else member.as_float()

    def numbers(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """As many numbers as ``default`` has."""
        member = self.get(key)
        if member is None:
            return default
        if not isinstance(member.data, list) or len(member.data) != len(default):
            member.fail(f"{member._shown()} is not {len(default)} numbers")
        return tuple(member.at(k).as_float() for k in range(len(default)))

    def text(self, key: str, default: str | None = None) -> str:
        """The string at ``key``."""
        member = self.get(key) if default is not None else self.at(key)
        if member is None:
            return str(default)
        if not isinstance(member.data, str):
            member.fail(f"{member._shown()} is no text")
        return member.data

    def flag(self, key: str) -> bool:
        """The boolean at ``key``, False when it is not there."""
        member = self.get(key)
        if member is None:
            return False
        if not isinstance(member.data, bool):
            member.fail(f"{member._shown()} is neither true nor false")
        return member.data


class Document:
    """An opened glTF file: ``root`` is its JSON; ``view`` gives the bytes of a buffer view; ``content_hash`` covers all that was read."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.name = path.name
        self.path = path
        try:
            self._folder = folder.resolve(strict=True)
            self._path = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise WorldwrightError("no such file", where=str(path), fix="check the path and the pack's folder") from error
        if not self._path.is_relative_to(self._folder):
            raise WorldwrightError(f"lies outside of the pack's folder {folder}", where=str(path), fix="keep it inside")
        self._read: dict[str, bytes] = {}
        data = self._load(self._path, str(path))
        self._hashes = {"": hash_bytes(data)}
        self.binary: memoryview | None = None
        text = self._open_glb(data) if data[:4] == b"glTF" else data
        self.root = Value(self._parse(text), self.name)
        self._check_head()
        self.buffers: list[memoryview | None] = [None] * len(self.root.items("buffers"))
        self.views = self.root.items("bufferViews")
        self.accessors = self.root.items("accessors")

    def fail(self, what: str, fix: str = "export the file again") -> NoReturn:
        """Raise an error about the file as a whole."""
        raise WorldwrightError(what, where=str(self.path), fix=fix)

    def _load(self, path: Path, shown: str) -> bytes:
        try:
            if not path.is_file():
                raise WorldwrightError("is no file", where=shown, fix="check the path")
            size = path.stat().st_size
            if size > MAX_FILE_BYTES:
                raise WorldwrightError(f"{size} bytes, at most {MAX_FILE_BYTES} are read", where=shown, fix="split the file")
            return path.read_bytes()
        except OSError as error:
            raise WorldwrightError(f"cannot be read ({error.strerror})", where=shown) from error

    def _open_glb(self, data: bytes) -> bytes:
        """The JSON chunk; the binary one is kept."""
        if len(data) < 20:
            self.fail(f"truncated: {len(data)} bytes, a GLB has at least 20")
        _, version, length = struct.unpack_from("<III", data)
        if version != 2:
            self.fail(f"GLB version {version}, only 2 is read", "convert it to glTF 2.0")
        if length > len(data):
            self.fail(f"truncated: {len(data)} bytes of the {length} that its header claims", "copy the file again")
        at, text = 12, None
        while at + 8 <= length:
            size, kind = struct.unpack_from("<II", data, at)
            at += 8
            if at + size > length:
                self.fail(f"truncated: a chunk claims {size} bytes, {length - at} are left", "copy the file again")
            if kind == GLB_JSON and text is None:
                text = data[at : at + size]
            elif kind == GLB_BIN and self.binary is None:
                self.binary = memoryview(data)[at : at + size]
            at += size
        if text is None:
            self.fail("no JSON chunk")
        return text

    def _parse(self, text: bytes) -> Any:
        if len(text) > MAX_JSON_BYTES:
            self.fail(f"{len(text)} bytes of JSON, at most {MAX_JSON_BYTES} are read", "split the file")

        def refuse(word: str) -> NoReturn:
            raise ValueError(f"{word} is no JSON number")

        try:
            return json.loads(text.decode("utf-8-sig"), parse_constant=refuse)
        except RecursionError:
            self.fail("JSON nested too deep")
        except ValueError as error:
            self.fail(f"no valid JSON ({error})", "is it a glTF file, whole?")

    def _check_head(self) -> None:
        version = self.root.at("asset").text("version")
        if not version.startswith("2."):
            self.root.at("asset").at("version").fail(f"glTF version {version!r}, only 2.x is read", "convert it to glTF 2.0")
        for item in self.root.items("extensionsRequired"):
            if item.data not in SUPPORTED_EXTENSIONS:
                item.fail(f"{item.data!r} is required and not supported", "export without it (no Draco or meshopt compression)")

    def _uri(self, value: Value, uri: str) -> bytes:
        if uri.startswith("data:"):
            head, comma, body = uri.partition(",")
            if not comma:
                value.fail("a data: URI without a comma")
            try:
                return base64.b64decode(body, validate=True) if head.endswith(";base64") else unquote(body).encode("latin-1")
            except (binascii.Error, ValueError) as error:
                value.fail(f"a data: URI that cannot be decoded ({error})")
        shown = uri if len(uri) <= 80 else uri[:77] + "..."
        name = unquote(uri)
        if ":" in name or name.startswith(("/", "\\")) or "\x00" in name or "\\" in name:
            value.fail(f"{shown!r} is no relative path", "keep buffers and images in the pack's folder")
        target = self._path.parent / PurePosixPath(name)
        try:
            target = target.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            value.fail(f"{shown!r} is not there", "copy the file with everything that it refers to")
        if not target.is_relative_to(self._folder):
            value.fail(f"{shown!r} leaves the pack's folder", "keep buffers and images in the pack's folder")
        if name not in self._read:
            self._read[name] = self._load(target, f"{self.name}: {value.pointer}")
            self._hashes[name] = hash_bytes(self._read[name])
        return self._read[name]

    def resource(self, holder: Value) -> bytes:
        """The bytes that the ``uri`` of a buffer or an image names."""
        return self._uri(holder.at("uri"), holder.text("uri"))

    def buffer(self, index: int) -> memoryview:
        """A buffer's bytes, as many as it claims."""
        held = self.buffers[index]
        if held is not None:
            return held
        value = self.root.at("buffers").at(index)
        size = value.whole("byteLength", low=1)
        if "uri" in value:
            data = memoryview(self.resource(value))
        elif index == 0 and self.binary is not None:
            data = self.binary
        else:
            value.fail("has no uri, and the file no binary chunk for it")
        if size > len(data):
            value.at("byteLength").fail(f"claims {size} bytes, there are {len(data)}", "copy the file again, it is cut")
        self.buffers[index] = data[:size]
        return data[:size]

    def view(self, index: int) -> tuple[memoryview, int]:
        """The bytes of a buffer view, and its stride (0: packed)."""
        value = self.views[index]
        target = value.index("buffer", len(self.buffers))
        if target is None:
            value.fail("buffer is missing")
        data = self.buffer(target)
        offset, length = value.whole("byteOffset", 0), value.whole("byteLength", low=1)
        if offset + length > len(data):
            value.fail(f"bytes {offset} to {offset + length} of a buffer of {len(data)}")
        return data[offset : offset + length], value.whole("byteStride", 0, high=252)

    def content_hash(self) -> str:
        """Over the file and everything that it was read with, by name."""
        return content_id(self._hashes)
