"""The node tree of glTF: checked to be a forest, its transforms in our axes.

glTF is Y up; (x, y, z) becomes (x, -z, y). A matrix M becomes C M C^-1, so nodes, inverse binds and clips all change in one way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.gltf_document import Document, Value
from worldwright.transforms import matrix_to_quat, pose_matrix

F64 = NDArray[np.float64]

AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""C: glTF's axes to ours."""
MAX_NODES = 100_000
MAX_DEPTH = 10_000


def to_our_points(points: NDArray[np.floating]) -> NDArray[np.float32]:
    """Points or directions [..., 3]."""
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1).astype(np.float32)


def to_our_quats(xyzw: NDArray[np.floating]) -> F64:
    """glTF's quaternions [..., 4] (x, y, z, w) to ours (w, x, y, z), unit."""
    q = np.asarray(xyzw, dtype=np.float64)
    q = np.stack([q[..., 3], q[..., 0], -q[..., 2], q[..., 1]], axis=-1)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def to_our_scales(scales: NDArray[np.floating]) -> F64:
    """Scales [..., 3] along glTF's axes to scales along ours."""
    return np.asarray(scales, dtype=np.float64)[..., [0, 2, 1]]


def to_our_matrices(matrices: NDArray[np.floating]) -> F64:
    """Transforms [..., 4, 4]."""
    change = np.eye(4)
    change[:3, :3] = AXES
    return np.asarray(change @ np.asarray(matrices, dtype=np.float64) @ change.T)


def decompose(matrices: F64) -> tuple[F64, F64, F64]:
    """Translation [..., 3], rotation [..., 4] wxyz and scale [..., 3] of transforms [..., 4, 4].

    A mirrored one gets three negative scales. What shear there is goes into the nearest rotation (polar decomposition).
    """
    linear = matrices[..., :3, :3]
    sign = np.where(np.linalg.det(linear) < 0, -1.0, 1.0)
    scale = np.linalg.norm(linear, axis=-2) * sign[..., None]
    safe = np.where(np.abs(scale) < 1e-12, 1.0, scale)
    u, _, vt = np.linalg.svd(linear / safe[..., None, :])
    flip = np.where(np.linalg.det(u @ vt) < 0, -1.0, 1.0)
    u = u.copy()
    u[..., :, 2] *= flip[..., None]
    return matrices[..., :3, 3], matrix_to_quat(u @ vt), scale


@dataclass(frozen=True)
class Nodes:
    """All nodes, in our axes. ``order`` has the nodes of the shown scene, parents first; ``world`` [N, 4, 4] of those."""

    values: list[Value]
    names: tuple[str, ...]
    parents: tuple[int, ...]
    order: tuple[int, ...]
    translations: F64
    rotations: F64
    scales: F64
    local: F64
    world: F64


def read_nodes(document: Document) -> Nodes:
    """The node tree; a cycle, a second parent or an index out of range is an error."""
    values = document.root.items("nodes", MAX_NODES)
    parents = _parents(values)
    count = len(values)
    translations, rotations, scales = np.zeros((count, 3)), np.tile(np.array([1.0, 0, 0, 0]), (count, 1)), np.ones((count, 3))
    local = np.tile(np.eye(4), (count, 1, 1))
    for k, value in enumerate(values):
        if "matrix" in value:
            matrix = np.array(value.numbers("matrix", (0.0,) * 16)).reshape(4, 4).T
            if np.abs(matrix[3] - [0, 0, 0, 1]).max() > 1e-5:
                value.at("matrix").fail("its last row is not 0 0 0 1")
            local[k] = to_our_matrices(matrix)
            translations[k], rotations[k], scales[k] = decompose(local[k])
        else:
            rotation = np.array(value.numbers("rotation", (0.0, 0.0, 0.0, 1.0)))
            if abs(float(np.linalg.norm(rotation)) - 1.0) > 0.05:
                value.at("rotation").fail(f"{rotation.tolist()} is no unit quaternion")
            translations[k] = to_our_points(np.array(value.numbers("translation", (0.0, 0.0, 0.0))))
            rotations[k] = to_our_quats(rotation)
            scales[k] = to_our_scales(np.array(value.numbers("scale", (1.0, 1.0, 1.0))))
            local[k] = pose_matrix(translations[k], rotations[k], scales[k])
    order = _order(document, values, parents)
    world = local.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for k in order:
            if parents[k] >= 0:
                world[k] = world[parents[k]] @ local[k]
            if not np.abs(world[k]).max() <= 1e9:
                values[k].fail("its transform is not finite, or beyond 1e9")
    names = tuple(value.text("name", f"node{k}") for k, value in enumerate(values))
    return Nodes(values, names, tuple(parents), tuple(order), translations, rotations, scales, local, world)


def _parents(values: list[Value]) -> list[int]:
    parents = [-1] * len(values)
    for k, value in enumerate(values):
        for item in value.items("children", MAX_NODES):
            child = item.as_int()
            if child >= len(values):
                item.fail(f"index {child} is out of range, there are {len(values)}")
            if parents[child] >= 0:
                item.fail(f"node {child} has two parents, {parents[child]} and {k}")
            parents[child] = k
    done = [False] * len(values)
    for k in range(len(values)):
        path: set[int] = set()
        at = k
        while at >= 0 and not done[at]:
            if at in path:
                values[at].fail("is its own ancestor: the node tree has a cycle")
            path.add(at)
            at = parents[at]
        for seen in path:
            done[seen] = True
    return parents


def _order(document: Document, values: list[Value], parents: list[int]) -> list[int]:
    """The nodes of the default scene (the first one; all nodes where there is no scene), parents before children."""
    scenes = document.root.items("scenes")
    shown = document.root.index("scene", len(scenes))
    if scenes:
        named: dict[int, None] = {}
        for item in scenes[shown or 0].items("nodes", MAX_NODES):
            node = item.as_int()
            if node >= len(values):
                item.fail(f"index {node} is out of range, there are {len(values)}")
            if parents[node] >= 0:
                item.fail(f"node {node} is no root, its parent is {parents[node]}")
            if node in named:
                item.fail(f"node {node} is named twice")
            named[node] = None
        roots = list(named)
    else:
        roots = [k for k, parent in enumerate(parents) if parent < 0]
    order = []
    stack = [(root, 0) for root in reversed(roots)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            values[node].fail(f"the node tree is deeper than {MAX_DEPTH}", "simplify the node tree")
        order.append(node)
        stack += [(int(child), depth + 1) for child in reversed(values[node].data.get("children", []))]
    return order
