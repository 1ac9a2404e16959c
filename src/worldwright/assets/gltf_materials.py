"""Materials and textures of glTF to surfaces.

What a surface cannot hold is read like this: BLEND is cut out at 0.5; KHR_materials_unlit is fully rough and lit by the world like all
else; occlusion images are left out (the renderer finds its own). A surface has one set of texture coordinates: those of its first
texture in the order base colour, metallic-roughness, normal, emissive, with that texture's KHR_texture_transform.
"""

from __future__ import annotations

import io
import threading
import warnings
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from worldwright.assets.gltf_document import Document, Value
from worldwright.assets.model import Image, Surface
from worldwright.ids import hash_bytes

MAX_SIDE = 8192
MAX_PIXELS = 256 << 20
"""Most pixels of all images of one file together."""

_shared: WeakValueDictionary[tuple[str, bool], Image] = WeakValueDictionary()
_shared_lock = threading.Lock()


@dataclass(frozen=True)
class Coordinates:
    """Which TEXCOORD set a surface uses, and the 2x3 matrix that it goes through."""

    channel: int = 0
    matrix: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Material:
    """A surface and its texture coordinates."""

    surface: Surface
    coordinates: Coordinates


class Materials:
    """The materials of a file, each read once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._materials = document.root.items("materials")
        self._textures = document.root.items("textures")
        self._images = document.root.items("images")
        self._samplers = document.root.items("samplers")
        self._done: dict[int | None, Material] = {
            None: Material(Surface(name="default", metallic=0.0, roughness=0.8), Coordinates())
        }
        self._pixels = 0

    def __len__(self) -> int:
        return len(self._materials)

    def get(self, index: int | None) -> Material:
        """Material ``index``; None is the default one."""
        if index not in self._done:
            self._done[index] = self._read(self._materials[index or 0])
        return self._done[index]

    def _read(self, value: Value) -> Material:
        pbr = value.get("pbrMetallicRoughness") or Value({}, value.file, value.pointer)
        extensions = value.get("extensions") or Value({}, value.file, value.pointer)
        unlit = "KHR_materials_unlit" in extensions
        colour = pbr.numbers("baseColorFactor", (1.0, 1.0, 1.0, 1.0))
        glow = value.numbers("emissiveFactor", (0.0, 0.0, 0.0))
        strength = extensions.get("KHR_materials_emissive_strength")
        power = strength.number("emissiveStrength", 1.0) if strength is not None else 1.0
        textures = {
            "base": pbr.get("baseColorTexture"),
            "rough": None if unlit else pbr.get("metallicRoughnessTexture"),
            "normal": None if unlit else value.get("normalTexture"),
            "glow": value.get("emissiveTexture"),
        }
        images = {
            name: self._texture(info, srgb=name in {"base", "glow"}) if info is not None else None
            for name, info in textures.items()
        }
        first = next((info for info in textures.values() if info is not None), None)
        mode = value.text("alphaMode", "OPAQUE")
        if mode not in {"OPAQUE", "MASK", "BLEND"}:
            value.at("alphaMode").fail(f"{mode!r} is none of OPAQUE, MASK, BLEND")
        cutoff = {"OPAQUE": None, "MASK": value.number("alphaCutoff", 0.5), "BLEND": 0.5}[mode]
        surface = Surface(
            name=value.text("name", "material"),
            base_colour=(_unit(colour[0]), _unit(colour[1]), _unit(colour[2]), _unit(colour[3])),
            metallic=0.0 if unlit else _unit(pbr.number("metallicFactor", 1.0)),
            roughness=1.0 if unlit else _unit(pbr.number("roughnessFactor", 1.0)),
            emissive=(max(glow[0] * power, 0.0), max(glow[1] * power, 0.0), max(glow[2] * power, 0.0)),
            base_colour_image=images["base"],
            metallic_roughness_image=images["rough"],
            normal_image=images["normal"],
            emissive_image=images["glow"],
            double_sided=value.flag("doubleSided"),
            alpha_cutoff=cutoff,
        )
        return Material(surface, _coordinates(first) if first is not None else Coordinates())

    def _texture(self, info: Value, *, srgb: bool) -> Image | None:
        index = info.index("index", len(self._textures))
        if index is None:
            info.fail("index is missing")
        texture = self._textures[index]
        texture.index("sampler", len(self._samplers))
        source = texture.index("source", len(self._images))
        return None if source is None else self._image(self._images[source], srgb=srgb)

    def _image(self, value: Value, *, srgb: bool) -> Image:
        view = value.index("bufferView", len(self._document.views))
        data = bytes(self._document.view(view)[0]) if view is not None else self._document.resource(value)
        key = (hash_bytes(data), srgb)
        with _shared_lock:
            held = _shared.get(key)
        if held is None:
            held = Image(_decode(data, value), srgb=srgb)
            with _shared_lock:
                held = _shared.setdefault(key, held)
        self._pixels += held.pixels.shape[0] * held.pixels.shape[1]
        if self._pixels > MAX_PIXELS:
            value.fail(f"more than {MAX_PIXELS} pixels in the file's images", "use smaller images")
        return held


def _decode(data: bytes, value: Value) -> NDArray[np.uint8]:
    """Pixels [h, w, 4] of a PNG or JPEG. Its size is known and checked before anything is decoded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PillowImage.DecompressionBombWarning)
            with PillowImage.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
                width, height = picture.size
                pixels = np.array(picture.convert("RGBA"), dtype=np.uint8) if max(width, height) <= MAX_SIDE else None
    except Exception as error:  # Pillow's decoders raise many kinds on broken data
        value.fail(f"no PNG or JPEG that can be read ({type(error).__name__}: {error})", "save the image again")
    if pixels is None:
        value.fail(f"{width} x {height} pixels, at most {MAX_SIDE} a side are read", "use a smaller image")
    return pixels


def _coordinates(info: Value) -> Coordinates:
    channel = info.whole("texCoord", 0, high=7)
    extensions = info.get("extensions")
    transform = extensions.get("KHR_texture_transform") if extensions is not None else None
    if transform is None:
        return Coordinates(channel)
    x, y = transform.numbers("offset", (0.0, 0.0))
    sx, sy = transform.numbers("scale", (1.0, 1.0))
    c, s = np.cos(transform.number("rotation", 0.0)), np.sin(transform.number("rotation", 0.0))
    # The extension's order: scale, then rotate (counter-clockwise in image space), then offset.
    matrix = np.array([[c * sx, s * sy, x], [-s * sx, c * sy, y]])
    return Coordinates(transform.whole("texCoord", channel, high=7), matrix)


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)
