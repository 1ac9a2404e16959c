"""glTF 2.0 files (.gltf, .glb) into plain arrays in our axes. Nothing in a file is trusted; every complaint names the file and the place.

Read: external and embedded buffers and images, node trees, PBR materials, skins, animations, interleaved, sparse and quantised
accessors, triangle lists, strips and fans, and the extensions in ``gltf_document.SUPPORTED_EXTENSIONS``. Not read: cameras, lights, morph
targets, points and lines, samplers' wrap and filter modes (textures repeat).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.gltf_document import Document
from worldwright.assets.gltf_licence import licence_of
from worldwright.assets.gltf_materials import Materials
from worldwright.assets.gltf_meshes import Primitive, Primitives
from worldwright.assets.gltf_nodes import Nodes, read_nodes
from worldwright.assets.gltf_skeleton import Rigging, animated_nodes, clip_names, read_clips, read_rigging
from worldwright.assets.model import Mesh, Model

F64 = NDArray[np.float64]
MAX_VERTICES = 20_000_000
"""Most vertices that one file can make, instances counted."""


def load_gltf(
    path: Path,
    root: Path,
    *,
    clips: Callable[[tuple[str, ...]], Collection[str]] | None = None,
    moving_nodes: bool = False,
) -> Model:
    """Read a file in the folder ``root``, which it may not leave.

    Args:
        path: the .gltf or .glb file.
        root: the pack's folder; buffers and images outside of it are refused.
        clips: is given the names of the file's animations and says which to bake; None: all.
        moving_nodes: where the file has animations but no skin, make the nodes that move the joints of a skeleton.

    Returns:
        Meshes in the file's rest pose, node transforms applied, named after their nodes; skinned ones in the bind pose. Meshes below
        a joint ride on it with weight 1. Clips under the file's own names; ``clip_sources`` is empty.

    Raises:
        WorldwrightError: anything that is missing, malformed, out of range, too large or unsupported, as ``FILE: /json/pointer: ...``.
    """
    document = Document(path, root)
    nodes = read_nodes(document)
    materials = Materials(document)
    primitives = Primitives(document, materials)
    skins = len(document.root.items("skins", 4096))
    shown = [(node, mesh) for node in nodes.order if (mesh := nodes.values[node].index("mesh", len(primitives))) is not None]
    used = {skin for node, _ in shown if (skin := nodes.values[node].index("skin", skins)) is not None}
    moved = animated_nodes(document, len(nodes.names)) if used or moving_nodes else set()
    rigging = read_rigging(document, nodes, used, moved) if used or moved & set(nodes.order) else None

    vertices = sum(len(primitive.positions) for _, mesh in shown for primitive in primitives.get(mesh))
    if vertices > MAX_VERTICES:
        document.fail(f"{vertices} vertices, at most {MAX_VERTICES} are read", "simplify the model")
    meshes = tuple(
        _placed(document, nodes, rigging, node, nodes.values[node].index("skin", skins), primitive)
        for node, mesh in shown
        for primitive in primitives.get(mesh)
    )
    names = clip_names(document)
    wanted = names if clips is None else clips(names)
    return Model(
        name=path.name.split(".")[0],
        meshes=meshes,
        skeleton=rigging.skeleton if rigging else None,
        clips=read_clips(document, nodes, rigging, wanted) if rigging else {},
        licence=licence_of(document.root.at("asset").text("copyright", ""), path, root),
        content_hash=document.content_hash(),
    )


def _placed(document: Document, nodes: Nodes, rigging: Rigging | None, node: int, skin: int | None, primitive: Primitive) -> Mesh:
    """A primitive as a mesh of the model: with its skin, riding on a joint, or where its node stands."""
    name = nodes.names[node]
    if rigging is not None and skin is not None and primitive.joints is not None and primitive.weights is not None:
        slots = rigging.slots[skin]
        if primitive.joints.max() >= len(slots):
            strays = primitive.weights[primitive.joints >= len(slots)]
            if strays.max() > 0:
                nodes.values[node].fail(f"its mesh names joint {int(primitive.joints.max())}, skin {skin} has {len(slots)}")
        joints = slots[np.minimum(primitive.joints, len(slots) - 1)]
        return Mesh(
            primitive.positions,
            primitive.normals,
            primitive.uvs,
            primitive.indices,
            primitive.surface,
            joints,
            primitive.weights,
            name,
        )
    carrier = _carrier(nodes, rigging, node)
    if rigging is None or carrier is None:
        return _transformed(document, nodes.world[node], primitive, name)
    # On a joint: the place in the bind pose is where joint-to-model times node-to-joint puts it.
    bind = np.linalg.inv(rigging.skeleton.inverse_bind[carrier].astype(np.float64))
    to_joint = np.linalg.pinv(nodes.world[rigging.nodes[carrier]]) @ nodes.world[node]
    joints = np.zeros((len(primitive.positions), 4), dtype=np.uint16)
    joints[:, 0] = carrier
    weights = np.zeros((len(primitive.positions), 4), dtype=np.float32)
    weights[:, 0] = 1.0
    return _transformed(document, bind @ to_joint, primitive, name, joints, weights)


def _carrier(nodes: Nodes, rigging: Rigging | None, node: int) -> int | None:
    """The joint that is this node, or the nearest above it."""
    while rigging is not None and node >= 0:
        if node in rigging.joint_of:
            return rigging.joint_of[node]
        node = nodes.parents[node]
    return None


def _transformed(
    document: Document,
    matrix: F64,
    primitive: Primitive,
    name: str,
    joints: NDArray[np.uint16] | None = None,
    weights: NDArray[np.float32] | None = None,
) -> Mesh:
    """The primitive through a transform. A mirroring one turns the triangles round, so that they stay counter-clockwise."""
    linear = matrix[:3, :3]
    positions = primitive.positions.astype(np.float64) @ linear.T + matrix[:3, 3]
    if not np.abs(positions).max() <= 1e7:
        document.fail(f"node {name!r} puts a vertex beyond 1e7 m", "scale the model to metres")
    # The cofactor matrix is the inverse transpose times the determinant: it needs no inverse, and a flat scale is no trouble.
    cofactor = np.stack([np.cross(linear[1], linear[2]), np.cross(linear[2], linear[0]), np.cross(linear[0], linear[1])])
    mirrored = float(np.linalg.det(linear)) < 0
    normals = primitive.normals.astype(np.float64) @ (-cofactor if mirrored else cofactor).T
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 1e-20, normals / np.where(length > 1e-20, length, 1.0), primitive.normals)
    return Mesh(
        positions=positions.astype(np.float32),
        normals=normals.astype(np.float32),
        uvs=primitive.uvs,
        indices=primitive.indices[:, ::-1].copy() if mirrored else primitive.indices,
        surface=primitive.surface,
        joints=joints,
        weights=weights,
        name=name,
    )
