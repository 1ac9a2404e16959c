"""Accessors to arrays: every component type, interleaved and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.gltf_document import Document, Value

COMPONENTS = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
SHAPES = {"SCALAR": (1, 1), "VEC2": (1, 2), "VEC3": (1, 3), "VEC4": (1, 4), "MAT2": (2, 2), "MAT3": (3, 3), "MAT4": (4, 4)}
"""Columns and rows."""
MAX_ELEMENTS = 16_000_000


def read_accessor(document: Document, index: int, kinds: tuple[str, ...]) -> NDArray[Any]:
    """The raw values [count, components] (matrices column by column) of an accessor whose type is one of ``kinds``."""
    accessor = document.accessors[index]
    kind = accessor.text("type")
    if kind not in kinds:
        accessor.at("type").fail(f"{kind!r}, must be {' or '.join(kinds)} here")
    dtype = _component(accessor)
    count = accessor.whole("count", low=1, high=MAX_ELEMENTS)
    columns, rows = SHAPES[kind]
    view = accessor.index("bufferView", len(document.views))
    if view is None:
        values = np.zeros((count, columns * rows), dtype=dtype)
    else:
        values = _read(document, accessor, view, accessor.whole("byteOffset", 0), count, columns, rows, dtype)
    if "sparse" in accessor:
        values = _sparse(document, accessor.at("sparse"), values, columns, rows)
    if dtype == np.float32 and not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        accessor.fail(f"element {bad} is {values[bad].tolist()}: not finite")
    return values


def read_floats(document: Document, index: int, kinds: tuple[str, ...]) -> NDArray[np.float32]:
    """As ``read_accessor``, as float32: normalised integers become [0, 1] or [-1, 1], others keep their value (KHR_mesh_quantization)."""
    values = read_accessor(document, index, kinds)
    if values.dtype == np.float32:
        return values
    scaled = values.astype(np.float32)
    if not document.accessors[index].flag("normalized"):
        return scaled
    if values.dtype == np.uint32:
        document.accessors[index].at("normalized").fail("32-bit integers cannot be normalised")
    return np.maximum(scaled / np.float32(np.iinfo(values.dtype).max), np.float32(-1.0))


def _component(value: Value) -> np.dtype[Any]:
    code = value.whole("componentType")
    if code not in COMPONENTS:
        value.at("componentType").fail(f"{code} is no component type")
    return np.dtype(COMPONENTS[code]).newbyteorder("<")


def _read(
    document: Document, where: Value, view: int, offset: int, count: int, columns: int, rows: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """``count`` elements at ``offset`` in a view. Columns of matrices start at multiples of four bytes."""
    data, stride = document.view(view)
    column = rows * dtype.itemsize if columns == 1 else (rows * dtype.itemsize + 3) // 4 * 4
    element = column * columns
    stride = stride or element
    if stride < element:
        where.fail(f"byteStride {stride} is less than an element of {element} bytes")
    if offset + stride * (count - 1) + element > len(data):
        where.fail(f"needs {offset + stride * (count - 1) + element} bytes, its buffer view {view} has {len(data)}")
    if offset % dtype.itemsize or stride % dtype.itemsize:
        where.fail(f"byteOffset {offset} or byteStride {stride} is no multiple of {dtype.itemsize}")
    strided = np.ndarray((count, columns, rows), dtype=dtype, buffer=data, offset=offset, strides=(stride, column, dtype.itemsize))
    return np.array(strided).reshape(count, columns * rows).astype(dtype.newbyteorder("="), copy=False)


def _sparse(document: Document, sparse: Value, values: NDArray[Any], columns: int, rows: int) -> NDArray[Any]:
    count = sparse.whole("count", low=1, high=len(values))
    places, news = sparse.at("indices"), sparse.at("values")
    kind = _component(places)
    if kind.kind != "u":
        places.at("componentType").fail("indices must be unsigned")
    parts = []
    for where, shape, dtype in ((places, (1, 1), kind), (news, (columns, rows), values.dtype)):
        view = where.index("bufferView", len(document.views))
        if view is None:
            where.fail("bufferView is missing")
        parts.append(_read(document, where, view, where.whole("byteOffset", 0), count, *shape, np.dtype(dtype)))
    at = parts[0][:, 0].astype(np.int64)
    if at.max() >= len(values):
        places.fail(f"index {int(at.max())} is out of range, there are {len(values)}")
    values = values.copy()
    values[at] = parts[1]
    return values
