"""Skins and animations of glTF: one skeleton for the whole file, clips baked at ``CLIP_RATE``.

The skeleton has every joint of the skins in use, the nodes between them, and every animated node above them. What stands above those is
constant and is folded into the roots. Nodes that carry meshes without a skin below a joint ride on it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.gltf_accessors import read_floats
from worldwright.assets.gltf_document import Document, Value
from worldwright.assets.gltf_nodes import Nodes, decompose, to_our_matrices, to_our_points, to_our_scales
from worldwright.assets.model import CLIP_RATE, Clip, Skeleton
from worldwright.transforms import pose_matrix, quat_normalise

F64 = NDArray[np.float64]
MAX_JOINTS = 2048
MAX_CLIP_SECONDS = 1200.0
MAX_BAKED = 64_000_000
"""Most frames times joints of a file's clips together."""
LOOP_TOLERANCE = 0.02
"""A clip whose last pose is that near to its first (in quaternion components) is a loop."""
PATHS = {"translation": ("VEC3",), "rotation": ("VEC4",), "scale": ("VEC3",)}


@dataclass(frozen=True)
class Rigging:
    """The skeleton, and how to get there: ``slots[skin][k]`` is the joint of the skin's k-th joint; ``carrier(node)`` the joint that a
    node rides on."""

    skeleton: Skeleton
    nodes: tuple[int, ...]
    """Joint to node."""
    slots: dict[int, NDArray[np.uint16]]
    joint_of: dict[int, int]
    above: dict[int, F64]
    """Root joint to the constant transform above it [4, 4]."""


def read_rigging(document: Document, nodes: Nodes, used: Collection[int], moved: Collection[int]) -> Rigging:
    """The skeleton for the skins ``used`` and the animated nodes ``moved`` (both indices); at least one of them is not empty."""
    skins = document.root.items("skins", 4096)
    wanted: dict[int, list[int]] = {}
    binds: dict[int, F64] = {}
    for skin in sorted(used):
        wanted[skin] = _joints(skins[skin], nodes)
        binds[skin] = _inverse_binds(document, skins[skin], len(wanted[skin]))
    if len(moved) > MAX_JOINTS and not used:
        document.fail(f"{len(moved)} animated nodes, at most {MAX_JOINTS} are read", "simplify the rig")
    members = _members(nodes, {node for joints in wanted.values() for node in joints}, set(moved), bool(used))
    shown = set(nodes.order)
    for skin, joints in wanted.items():
        lost = [node for node in joints if node not in shown]
        if lost:
            skins[skin].fail(f"joint node {lost[0]} is not in the scene")
    order = [node for node in nodes.order if node in members]
    joint_of = {node: k for k, node in enumerate(order)}
    inverse = np.linalg.pinv(nodes.world[order])
    taken: dict[int, bytes] = {}
    extra_nodes: list[int] = []
    extra_binds: list[F64] = []
    slots: dict[int, NDArray[np.uint16]] = {}
    for skin, joints in wanted.items():
        slot = []
        for node, bind in zip(joints, binds[skin], strict=True):
            joint = joint_of[node]
            if node not in taken:
                taken[node] = bind.tobytes()
                inverse[joint] = bind
            elif taken[node] != bind.tobytes():
                # A second skin binds this joint otherwise: it gets a twin that moves alike.
                joint = len(order) + len(extra_nodes)
                extra_nodes.append(node)
                extra_binds.append(bind)
            slot.append(joint)
        slots[skin] = np.array(slot, dtype=np.uint16)
    if len(order) + len(extra_nodes) > MAX_JOINTS:
        document.fail(f"{len(order) + len(extra_nodes)} joints, at most {MAX_JOINTS} are read", "simplify the rig")
    all_nodes = [*order, *extra_nodes]
    parents = [joint_of.get(nodes.parents[node], -1) for node in all_nodes]
    above = {
        k: nodes.world[nodes.parents[node]]
        for k, (node, parent) in enumerate(zip(all_nodes, parents, strict=True))
        if parent < 0 and nodes.parents[node] >= 0
    }
    translations, rotations, scales = nodes.translations[all_nodes], nodes.rotations[all_nodes], nodes.scales[all_nodes]
    for k, matrix in above.items():
        translations[k], rotations[k], scales[k] = decompose(matrix @ nodes.local[all_nodes[k]])
    skeleton = Skeleton(
        names=_unique([nodes.names[node] for node in all_nodes]),
        parents=np.array(parents, dtype=np.int32),
        rest_translations=translations.astype(np.float32),
        rest_rotations=rotations.astype(np.float32),
        rest_scales=scales.astype(np.float32),
        inverse_bind=np.concatenate([inverse, np.array(extra_binds).reshape(-1, 4, 4)]).astype(np.float32),
    )
    return Rigging(skeleton, tuple(all_nodes), slots, joint_of, above)


def _joints(skin: Value, nodes: Nodes) -> list[int]:
    joints = []
    for item in skin.items("joints", MAX_JOINTS):
        node = item.as_int()
        if node >= len(nodes.names):
            item.fail(f"index {node} is out of range, there are {len(nodes.names)}")
        joints.append(node)
    if not joints:
        skin.fail("has no joints")
    return joints


def _inverse_binds(document: Document, skin: Value, count: int) -> F64:
    where = skin.index("inverseBindMatrices", len(document.accessors))
    if where is None:
        return np.tile(np.eye(4), (count, 1, 1))
    raw = read_floats(document, where, ("MAT4",))
    if len(raw) < count:
        skin.at("inverseBindMatrices").fail(f"{len(raw)} matrices for {count} joints")
    matrices = to_our_matrices(raw[:count].reshape(count, 4, 4).transpose(0, 2, 1))
    for k in range(count):
        size = abs(float(np.linalg.det(matrices[k, :3, :3])))
        if not 1e-18 < size < 1e18:
            skin.at("inverseBindMatrices").fail(f"matrix {k} cannot be inverted")
    return matrices


def _members(nodes: Nodes, joints: set[int], moved: set[int], skinned: bool) -> set[int]:
    """Nodes that become joints: the skins' joints and what moves above them; without a skin, all that moves; and all between."""
    members = set(joints)
    tops = set(joints)
    if skinned:
        for joint in joints:
            at = nodes.parents[joint]
            while at >= 0:
                if at in moved:
                    tops.add(at)
                at = nodes.parents[at]
    else:
        tops |= moved & set(nodes.order)
        members |= tops
    members |= tops
    for node in sorted(members):
        between: list[int] = []
        at = nodes.parents[node]
        while at >= 0:
            between.append(at)
            if at in tops:
                members |= set(between)
                between = []
            at = nodes.parents[at]
    return members


def _unique(names: list[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    out = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        out.append(name if count == 0 else f"{name}#{count + 1}")
    return tuple(out)


def animated_nodes(document: Document, count: int) -> set[int]:
    """Every node that some animation moves, turns or scales."""
    found = set()
    for animation in document.root.items("animations", 4096):
        for channel in animation.items("channels"):
            target = channel.at("target")
            node = target.index("node", count)
            if node is not None and target.text("path") in PATHS:
                found.add(node)
    return found


def clip_names(document: Document) -> tuple[str, ...]:
    """The animations' names; nameless ones are ``clip0``, ``clip1``, ..., a name used again gets ``#2``."""
    return _unique([value.text("name", f"clip{k}") for k, value in enumerate(document.root.items("animations", 4096))])


def read_clips(document: Document, nodes: Nodes, rigging: Rigging, wanted: Collection[str]) -> dict[str, Clip]:
    """The animations named in ``wanted``, baked."""
    clips = {}
    budget = MAX_BAKED
    for name, value in zip(clip_names(document), document.root.items("animations", 4096), strict=True):
        if name in wanted:
            clips[name] = _bake(document, nodes, rigging, name, value, budget)
            budget -= clips[name].translations.shape[0] * len(rigging.nodes)
    return clips


def _bake(document: Document, nodes: Nodes, rigging: Rigging, name: str, value: Value, budget: int) -> Clip:
    samplers = value.items("samplers")
    channels = []
    for channel in value.items("channels"):
        target = channel.at("target")
        node = target.index("node", len(nodes.names))
        path = target.text("path")
        if path not in {*PATHS, "weights"}:
            target.at("path").fail(f"{path!r} is no path of an animation")
        index = channel.index("sampler", len(samplers))
        if index is None:
            channel.fail("sampler is missing")
        if node in rigging.joint_of and path in PATHS:
            channels.append((node, path, _keys(document, samplers[index], path)))
    start = min((float(times[0]) for _, _, (times, _, _) in channels), default=0.0)
    end = max((float(times[-1]) for _, _, (times, _, _) in channels), default=0.0)
    if end - start > MAX_CLIP_SECONDS:
        value.fail(f"{end - start:g} s long, at most {MAX_CLIP_SECONDS:g} s are read", "cut the clip")
    frames = round((end - start) * CLIP_RATE) + 1
    if frames * len(rigging.nodes) > budget:
        value.fail(f"more than {MAX_BAKED} frames times joints in the file's clips", "leave clips out")
    at = start + np.arange(frames) / CLIP_RATE
    twins: dict[int, list[int]] = {}
    for joint, node in enumerate(rigging.nodes):
        twins.setdefault(node, []).append(joint)
    shape = (frames, len(rigging.nodes))
    pose = {
        "translation": np.broadcast_to(nodes.translations[list(rigging.nodes)], (*shape, 3)).copy(),
        "rotation": np.broadcast_to(nodes.rotations[list(rigging.nodes)], (*shape, 4)).copy(),
        "scale": np.broadcast_to(nodes.scales[list(rigging.nodes)], (*shape, 3)).copy(),
    }
    for node, path, (times, values, kind) in channels:
        sampled = _sample(times, values, kind, at, turns=path == "rotation")
        for joint in twins[node]:
            pose[path][:, joint] = sampled
    for joint, matrix in rigging.above.items():
        local = pose_matrix(pose["translation"][:, joint], pose["rotation"][:, joint], pose["scale"][:, joint])
        pose["translation"][:, joint], pose["rotation"][:, joint], pose["scale"][:, joint] = decompose(matrix @ local)
    turns = np.sum(pose["rotation"][1:] * pose["rotation"][:-1], axis=-1) < 0
    pose["rotation"][1:] *= np.where(np.cumsum(turns, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    closes = frames > 2 and _same_pose(pose["rotation"][0], pose["rotation"][-1])
    last = frames - 1 if closes else frames
    return Clip(
        name=name,
        translations=pose["translation"][:last].astype(np.float32),
        rotations=pose["rotation"][:last].astype(np.float32),
        scales=pose["scale"][:last].astype(np.float32),
        loop=closes,
    )


def _same_pose(a: F64, b: F64) -> bool:
    return bool(np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1)).max() < LOOP_TOLERANCE)


def _keys(document: Document, sampler: Value, path: str) -> tuple[F64, F64, str]:
    """Times [K], values [K, C] (or [K, 3, C] with tangents) in our axes, and the interpolation."""
    kind = sampler.text("interpolation", "LINEAR")
    if kind not in {"LINEAR", "STEP", "CUBICSPLINE"}:
        sampler.at("interpolation").fail(f"{kind!r} is none of LINEAR, STEP, CUBICSPLINE")
    inputs, outputs = (sampler.index(key, len(document.accessors)) for key in ("input", "output"))
    if inputs is None or outputs is None:
        sampler.fail("input or output is missing")
    times = read_floats(document, inputs, ("SCALAR",))[:, 0].astype(np.float64)
    if not (np.diff(times) > 0).all() or times[0] < 0:
        sampler.at("input").fail(f"the times of accessor {inputs} do not rise from 0 on")
    raw = read_floats(document, outputs, PATHS[path]).astype(np.float64)
    rows = 3 if kind == "CUBICSPLINE" else 1
    if len(raw) != len(times) * rows:
        sampler.at("output").fail(f"{len(raw)} values for {len(times)} times")
    if path == "rotation":
        values = np.stack([raw[:, 3], raw[:, 0], -raw[:, 2], raw[:, 1]], axis=1)
        keys = values.reshape(len(times), rows, 4)[:, 1 if rows == 3 else 0]
        if not (np.linalg.norm(keys, axis=1) > 1e-6).all():
            sampler.at("output").fail(f"accessor {outputs} has a rotation of no length")
    else:
        values = to_our_points(raw).astype(np.float64) if path == "translation" else to_our_scales(raw)
        if np.abs(values).max() > 1e7:
            sampler.at("output").fail(f"accessor {outputs} goes up to {float(np.abs(values).max()):g}")
    return times, values.reshape(len(times), rows, -1) if rows == 3 else values, kind


def _sample(times: F64, values: F64, kind: str, at: F64, *, turns: bool) -> F64:
    """Values [F, C] at the times ``at``; rotations are unit (LINEAR ones by slerp)."""
    if len(times) == 1:
        only = values[0, 1] if kind == "CUBICSPLINE" else values[0]
        out = np.broadcast_to(only, (len(at), len(only)))
        return quat_normalise(out) if turns else out
    k = np.clip(np.searchsorted(times, at + 1e-9, side="right") - 1, 0, len(times) - 2)
    span = times[k + 1] - times[k]
    t = np.clip((at - times[k]) / span, 0.0, 1.0)[:, None]
    if kind == "STEP":
        out = np.where(t >= 1.0 - 1e-9, values[k + 1], values[k])
    elif kind == "LINEAR":
        out = _slerp(values[k], values[k + 1], t) if turns else values[k] + (values[k + 1] - values[k]) * t
    else:
        d = span[:, None]
        out = (
            (2 * t**3 - 3 * t**2 + 1) * values[k, 1]
            + d * (t**3 - 2 * t**2 + t) * values[k, 2]
            + (-2 * t**3 + 3 * t**2) * values[k + 1, 1]
            + d * (t**3 - t**2) * values[k + 1, 0]
        )
    if turns:
        length = np.linalg.norm(out, axis=1, keepdims=True)
        out = np.where(length > 1e-9, out / np.maximum(length, 1e-9), np.array([1.0, 0.0, 0.0, 0.0]))
    return out


def _slerp(a: F64, b: F64, t: F64) -> F64:
    a, b = quat_normalise(a), quat_normalise(b)
    dot = np.sum(a * b, axis=1, keepdims=True)
    b, dot = np.where(dot < 0, -b, b), np.abs(dot)
    angle = np.arccos(np.clip(dot, 0.0, 1.0))
    near = angle < 1e-4
    sine = np.sin(np.where(near, 1.0, angle))
    wa, wb = np.where(near, 1 - t, np.sin((1 - t) * angle) / sine), np.where(near, t, np.sin(t * angle) / sine)
    return np.asarray(wa * a + wb * b)
