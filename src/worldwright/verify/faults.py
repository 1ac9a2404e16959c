"""Known-bad shots: every way in which a shot can be wrong that verification claims to find, made on purpose.

A fault edits a copy of a good shot and says what it did, or None where it would make no difference there (two frames that are
equal anyway). After an edit every hash is computed again, but for damage (truncation, flipped bits, missing files), which is what hashes
are for. The tests and ``benchmarks/faults.py`` use them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from worldwright.controls import ACTION_NAMES, KEY_BITS, KEYS
from worldwright.render.cameras import camera_from
from worldwright.render.passes import (
    FLOW_INVALID,
    PASSES,
    decode_depth,
    decode_normal,
    encode_depth,
    encode_normal,
    linear_to_srgb,
    srgb_to_linear,
)
from worldwright.render.presets import Preset
from worldwright.render.protocol import Moment, View
from worldwright.render.run import moments
from worldwright.take import take_pb2 as pb
from worldwright.take.frames import Change, issued_row
from worldwright.take.reader import Take
from worldwright.transforms import invert_rigid, pixel_rays, pose_matrix, quat_axis_angle
from worldwright.verify.shot_exposure import luma
from worldwright.verify.shot_rgb import BLOCK_LEVELS
from worldwright.verify.workshop import Messages, Workshop

Rng = np.random.Generator
Array = NDArray[Any]
Apply = Callable[[Workshop, Rng], str | None]

CENTIMETRE = 0.01
HALF_DEGREE = float(np.radians(0.5))
CHANGED_SHARE = 0.002
VISIBLE_LEVELS = 16
"""An edit of rgb matters when more than ``CHANGED_SHARE`` of the pixels change by more than this; of another pass, when they change at all."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault. ``sealed``: all hashes are computed again after it."""

    name: str
    apply: Apply
    sealed: bool = True


FAULTS: dict[str, Fault] = {}


def _fault(name: str, *, sealed: bool = True) -> Callable[[Apply], Apply]:
    def register(apply: Apply) -> Apply:
        FAULTS[name] = Fault(name, apply, sealed)
        return apply

    return register


def inject(shop: Workshop, name: str, rng: Rng) -> str | None:
    """Make the fault in the copy, seal it if it is one that is sealed, and say what was done; None: it makes no difference here."""
    fault = FAULTS[name]
    text = fault.apply(shop, rng)
    if text is not None and fault.sealed:
        shop.seal()
    return text


def matters(name: str, before: Array, after: Array) -> bool:
    """Whether one picture of a pass was really changed."""
    gap = np.abs(before.astype(np.int64) - after.astype(np.int64))
    gap = gap.max(axis=-1) if gap.ndim == 3 else gap
    return bool((gap > (VISIBLE_LEVELS if name == "rgb" else 0)).mean() > CHANGED_SHARE)


# --- frames in the wrong place, any pass ---------------------------------------------------------------------------------------


def _moved_frames(name: str) -> None:
    @_fault(f"{name}_one_frame_late")
    def late(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        k = int(rng.integers(1, shop.n))
        if not matters(name, frames[k], frames[k - 1]):
            return None
        frames[k] = frames[k - 1]
        shop.write(name, frames)
        return f"{name}: frame {k} shows frame {k - 1}"

    @_fault(f"{name}_all_late")
    def all_late(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        if not any(matters(name, a, b) for a, b in itertools.pairwise(frames)):
            return None
        shop.write(name, np.concatenate([frames[:1], frames[:-1]]))
        return f"{name}: all frames one frame late"

    @_fault(f"{name}_swapped_frames")
    def swapped(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        a, b = (int(k) for k in rng.choice(shop.n, 2, replace=False))
        if not matters(name, frames[a], frames[b]):
            return None
        frames[[a, b]] = frames[[b, a]]
        shop.write(name, frames)
        return f"{name}: frames {a} and {b} swapped"

    @_fault(f"{name}_half_pixel")
    def half_pixel(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        k, axis = int(rng.integers(shop.n)), int(rng.integers(2))
        moved = half_pixel_shift(name, frames[k], axis)
        if not matters(name, frames[k], moved):
            return None
        frames[k] = moved
        shop.write(name, frames)
        return f"{name}: frame {k} shifted by half a pixel along axis {axis}"

    @_fault(f"{name}_patch")
    def patch(shop: Workshop, rng: Rng) -> str | None:
        frames = shop.read(name)
        k = int(rng.integers(shop.n))
        size = max(4, shop.info.height // 8)
        v, u = int(rng.integers(shop.info.height - size)), int(rng.integers(shop.info.width - size))
        before = frames[k].copy()
        area = before[v : v + size, u : u + size]
        frames[k, v : v + size, u : u + size] = area[::-1, ::-1]
        if not matters(name, before, frames[k]) or (name == "rgb" and not _beyond_codec(before, frames[k])):
            return None
        shop.write(name, frames)
        return f"{name}: frame {k}, a patch of {size} px at row {v}, column {u} turned round"


def _beyond_codec(before: Array, after: Array) -> bool:
    """A local edit of rgb is told from the codec's own errors when some 8 x 8 block differs by this much."""
    gap = luma(after) - luma(before)
    return float(np.sqrt(uniform_filter(gap * gap, 8).max())) > 1.5 * BLOCK_LEVELS


def half_pixel_shift(name: str, picture: Array, axis: int) -> Array:
    """A picture of stored values moved by half a pixel. Ids cannot be mixed: they move by the nearest pixel of a half, which is one."""
    if name == "entity":
        return np.roll(picture, 1, axis=axis)
    other = np.roll(picture, 1, axis=axis)
    if name == "depth":
        mixed = encode_depth((decode_depth(picture).astype(np.float64) + decode_depth(other)) / 2)
        return np.where((picture == 0) | (other == 0), picture, mixed)
    if name == "normal":
        mixed = encode_normal(decode_normal(picture).astype(np.float64) + decode_normal(other))
        return np.where((picture == 65535) | (other == 65535), picture, mixed)
    if name == "flow":
        mixed = np.rint((picture.astype(np.float64) + other) / 2).astype(np.int16)
        return np.where((picture == FLOW_INVALID) | (other == FLOW_INVALID), picture, mixed)
    return np.rint((picture.astype(np.float64) + other) / 2).astype(picture.dtype)


for _name in ("rgb", *PASSES):
    _moved_frames(_name)


# --- passes that mean something else ---------------------------------------------------------------------------------------------


def _whole_pass(fault: str, name: str, change: Callable[[Workshop, Array], Array], what: str) -> None:
    @_fault(fault)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        before = shop.read(name)
        after = change(shop, before.copy())
        if not any(matters(name, a, b) for a, b in zip(before, after, strict=True)):
            return None
        shop.write(name, after)
        return what


def _ray_length(shop: Workshop) -> Array:
    v, u = np.mgrid[0 : shop.info.height, 0 : shop.info.width]
    return np.linalg.norm(pixel_rays(np.stack([u + 0.5, v + 0.5], -1), shop.rows().K[0]), axis=-1)


def _world_normals(shop: Workshop, code: Array) -> Array:
    c2w = shop.rows().c2w
    return np.stack([encode_normal(np.nan_to_num(decode_normal(c)) @ m[:3, :3].T) for c, m in zip(code, c2w, strict=True)])


def _blended_ids(_shop: Workshop, ids: Array) -> Array:
    wide = ids.astype(np.float64)
    soft = (wide + np.roll(wide, 1, axis=2)) / 2
    return np.rint(soft).astype(np.uint16)


def _twice(_shop: Workshop, code: Array) -> Array:
    return np.rint(linear_to_srgb(code / 255.0) * 255).astype(np.uint8)


def _flow(change: Callable[[Array], Array]) -> Callable[[Workshop, Array], Array]:
    return lambda _shop, code: np.where(
        code == FLOW_INVALID, code, np.clip(np.rint(change(code.astype(np.float64))), -32767, 32767)
    ).astype(np.int16)


_whole_pass(
    "depth_in_centimetres", "depth", lambda _s, c: encode_depth(decode_depth(c) * 100.0), "depth: centimetres sold as metres"
)
_whole_pass(
    "depth_along_the_ray",
    "depth",
    lambda s, c: encode_depth(decode_depth(c) * _ray_length(s)),
    "depth: along the ray, sold as planar",
)
_whole_pass(
    "depth_a_centimetre_off", "depth", lambda _s, c: encode_depth(decode_depth(c) + CENTIMETRE), "depth: a centimetre too far"
)
_whole_pass("normals_in_world_space", "normal", _world_normals, "normal: world space sold as camera space")
_whole_pass(
    "normals_y_up",
    "normal",
    lambda _s, c: encode_normal(np.nan_to_num(decode_normal(c)) * [1, -1, -1]),
    "normal: OpenGL's axes sold as OpenCV's",
)
_whole_pass("albedo_channels", "albedo", lambda _s, c: c[..., ::-1], "albedo: red and blue swapped")
_whole_pass("albedo_gamma_twice", "albedo", _twice, "albedo: sRGB curve applied twice")
_whole_pass(
    "albedo_linear",
    "albedo",
    lambda _s, c: np.rint(srgb_to_linear(c / 255.0) * 255).astype(np.uint8),
    "albedo: linear sold as sRGB-coded",
)
_whole_pass("metallic_is_roughness", "metallic", lambda s, _c: s.read("roughness"), "metallic: roughness in its place")
_whole_pass("roughness_inverted", "roughness", lambda _s, c: 255 - c, "roughness: smoothness in its place")
_whole_pass("entity_anti_aliased", "entity", _blended_ids, "entity: ids filtered at edges")
_whole_pass("entity_off_by_one", "entity", lambda _s, c: np.where(c > 0, c + 1, c).astype(np.uint16), "entity: ids one too high")
_whole_pass("flow_backwards", "flow", _flow(lambda c: -c), "flow: sign turned round")
_whole_pass("flow_half", "flow", _flow(lambda c: c / 2), "flow: half as long")
_whole_pass("flow_axes", "flow", lambda _s, c: c[..., ::-1], "flow: x and y swapped")
_whole_pass("rgb_channels", "rgb", lambda _s, c: c[..., ::-1], "rgb: red and blue swapped")
_whole_pass("rgb_gamma_twice", "rgb", _twice, "rgb: sRGB curve applied twice")
_whole_pass("rgb_mirrored", "rgb", lambda _s, c: c[:, :, ::-1], "rgb: mirrored")


# --- another camera, every pass of it --------------------------------------------------------------------------------------------


def _redraw(shop: Workshop, change: Callable[[View], View], frames: range) -> bool:
    """Draw frames again, all passes, through changed cameras; False where nothing visible changes."""
    info = shop.info
    with Take.open(shop.folder / "take.mcap", partial=info.take_partial) as take:
        header = take.header
        renderer = shop.context.renderer(info.renderer, header.world, header.body_ids, info.width, info.height, info.all_passes)
        if renderer is None:
            return False
        camera = camera_from(info.camera, info.tick_rate, where="camera")
        size = Preset(info.preset, info.width, info.height)
        stored = {name: shop.read(name) for name in info.all_passes}
        changed = False
        for row, m in moments(
            take, take.derive_frames(info.frame_ticks), camera, size, info.first_frame, frames.start, frames.stop, info.motion_blur
        ):
            shutter = tuple((instant, change(view)) for instant, view in m.shutter)
            renderer.submit(Moment(m.now, change(m.view), m.next, change(m.next_view), shutter))
            for name, picture in renderer.collect().items():
                if name in stored:
                    changed = changed or (name == "depth" and matters(name, stored[name][row.frame], picture))
                    stored[name][row.frame] = picture
    if changed:
        for name, pictures in stored.items():
            shop.write(name, pictures)
    return changed


def _moved_camera(name: str, delta: Callable[[Rng], Array], what: str, *, one: bool) -> None:
    @_fault(name)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        k = int(rng.integers(shop.n))
        frames = range(k, k + 1) if one else range(shop.n)
        move = delta(rng)
        if not _redraw(shop, lambda view: replace(view, c2w=view.c2w @ move), frames):
            return None
        return f"every pass of {f'frame {k}' if one else 'all frames'}: {what}"


def _shift(rng: Rng) -> Array:
    direction = rng.normal(size=3)
    return pose_matrix(direction / np.linalg.norm(direction) * CENTIMETRE, [1.0, 0, 0, 0])


def _turn(rng: Rng) -> Array:
    axis = rng.normal(size=3)
    return pose_matrix(np.zeros(3), quat_axis_angle(axis / np.linalg.norm(axis), HALF_DEGREE))


for _one in (True, False):
    _which = "one_frame" if _one else "all_frames"
    _moved_camera(f"camera_a_centimetre_off_{_which}", _shift, "taken a centimetre beside", one=_one)
    _moved_camera(f"camera_half_a_degree_off_{_which}", _turn, "taken half a degree turned", one=_one)


@_fault("camera_of_another_lens")
def _lens(shop: Workshop, rng: Rng) -> str | None:
    wide = np.array([[1.01, 1, 1], [1, 1.01, 1], [1, 1, 1]])
    return (
        "every pass: focal length 1 % longer" if _redraw(shop, lambda view: replace(view, K=view.K * wide), range(shop.n)) else None
    )


# --- rows ------------------------------------------------------------------------------------------------------------------------


def _row(name: str, column: str, change: Callable[[Array, Rng], str | None]) -> None:
    """A fault in one cell of ``frames.parquet``: ``change`` edits the row's value in place and says what it did."""

    @_fault(name)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        rows = shop.rows()
        values = getattr(rows, column).copy()
        k = int(rng.integers(shop.n))
        cell = values[k : k + 1]
        text = change(cell, rng)
        if text is None:
            return None
        shop.write_rows(replace(rows, **{column: values}))
        return f"row {k}: {column} {text}"


def _moved_pose(cell: Array, rng: Rng) -> str:
    cell[0] = cell[0] @ _shift(rng)
    return "moved by a centimetre"


def _turned_pose(cell: Array, rng: Rng) -> str:
    cell[0] = cell[0] @ _turn(rng)
    return "turned by half a degree"


def _inverted_pose(cell: Array, rng: Rng) -> str | None:
    cell[0] = invert_rigid(cell[0])
    return "inverted"


def _flipped_pose(cell: Array, rng: Rng) -> str:
    cell[0] = cell[0] @ np.diag([1.0, -1.0, -1.0, 1.0])
    return "in OpenGL's axes"


def _other_key(cell: Array, rng: Rng) -> str:
    k = int(rng.integers(len(KEYS)))
    cell[0, k] = 0.0 if cell[0, k] > 0 else 1.0
    return f"key {KEYS[k]} {'pressed' if cell[0, k] else 'released'}"


def _other_mouse(cell: Array, rng: Rng) -> str:
    k = int(rng.integers(len(KEYS), len(ACTION_NAMES)))
    cell[0, k] += float(rng.choice([-1, 1]))
    return f"{ACTION_NAMES[k]} one count off"


def _added(amount: float, what: str) -> Callable[[Array, Rng], str]:
    def change(cell: Array, rng: Rng) -> str:
        flat = cell.reshape(-1)
        flat[int(rng.integers(len(flat)))] += amount
        return what

    return change


def _focal(cell: Array, rng: Rng) -> str:
    cell[0, 0, 0] *= 1.005
    cell[0, 1, 1] *= 1.005
    return "focal length half a per cent longer"


def _centre(cell: Array, rng: Rng) -> str:
    cell[0, int(rng.integers(2)), 2] += 0.5
    return "principal point half a pixel off"


_row("row_camera_moved", "c2w", _moved_pose)
_row("row_camera_turned", "c2w", _turned_pose)
_row("row_camera_inverted", "c2w", _inverted_pose)
_row("row_camera_flipped", "c2w", _flipped_pose)
_row("row_next_camera_moved", "next_c2w", _moved_pose)
_row("row_next_camera_turned", "next_c2w", _turned_pose)
_row("row_focal_length", "K", _focal)
_row("row_principal_point", "K", _centre)
_row("row_key", "action", _other_key)
_row("row_mouse", "action", _other_mouse)
_row("row_effective", "effective", _added(CENTIMETRE, "a cell 0.01 off"))
_row("row_tick", "tick", _added(1, "one tick off"))
_row("row_time", "t_ns", _added(1, "a nanosecond off"))
_row("row_flags", "flags", _added(1, "one off"))
_row("row_character_moved", "character_position", _added(CENTIMETRE, "a centimetre off"))
_row("row_character_turned", "character_yaw", _added(HALF_DEGREE, "half a degree off"))
_row("row_character_speed", "character_velocity", _added(CENTIMETRE, "a centimetre a second off"))
_row("row_ground", "ground", _added(1, "another entity"))
_row("row_near", "near", _added(0.05, "twice as far"))


@_fault("rows_swapped")
def _rows_swapped(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    a, b = (int(k) for k in rng.choice(shop.n, 2, replace=False))
    if np.array_equal(rows.c2w[a], rows.c2w[b]) and np.array_equal(rows.action[a], rows.action[b]):
        return None
    columns = {}
    for name in ("c2w", "next_c2w", "action", "effective", "flags", "character_position", "character_yaw", "character_velocity"):
        values = getattr(rows, name).copy()
        values[[a, b]] = values[[b, a]]
        columns[name] = values
    shop.write_rows(replace(rows, **columns))
    return f"rows {a} and {b} swapped"


@_fault("actions_late")
def _actions_late(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    late = np.roll(rows.action, 1, axis=0)
    if np.array_equal(late, rows.action):
        return None
    shop.write_rows(replace(rows, action=late))
    return "every action one frame late"


# --- what shot.json says ---------------------------------------------------------------------------------------------------------


@_fault("info_starts_a_frame_later")
def _first(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    ticks = shop.info.frame_ticks
    with Take.open(shop.folder / "take.mcap", partial=shop.info.take_partial) as take:
        if (shop.info.first_frame + 1 + shop.n) * ticks > take.last_tick:
            return None
        t_ns = np.array([take.header.t_ns(int(t)) for t in rows.tick + ticks], dtype=np.int64)
    shop.write_rows(replace(rows, tick=rows.tick + ticks, t_ns=t_ns))
    shop.write_info(first_frame=shop.info.first_frame + 1)
    return "the shot claims to begin a frame later"


@_fault("info_names_swapped")
def _names(shop: Workshop, rng: Rng) -> str | None:
    entities = list(shop.info.entities)
    if len(entities) < 3:
        return None
    a, b = (int(k) for k in rng.choice(np.arange(1, len(entities)), 2, replace=False))
    first, second = entities[a], entities[b]
    entities[a] = first.model_copy(update={"name": second.name, "label": second.label})
    entities[b] = second.model_copy(update={"name": first.name, "label": first.label})
    shop.write_info(entities=entities)
    return f"the names of ids {first.id} and {second.id} swapped"


@_fault("info_unit")
def _unit(shop: Workshop, rng: Rng) -> str | None:
    if "depth" not in shop.info.passes:
        return None
    entry = shop.info.passes["depth"]
    attributes = entry.attributes | {"unit": "cm"}
    shop.write_info(passes=shop.info.passes | {"depth": entry.model_copy(update={"attributes": attributes})})
    return "depth declared in centimetres"


@_fault("info_field_of_view")
def _fov(shop: Workshop, rng: Rng) -> str | None:
    if "fov_y_deg" not in shop.info.camera or isinstance(shop.info.camera["fov_y_deg"], list):
        return None
    shop.write_info(camera=shop.info.camera | {"fov_y_deg": shop.info.camera["fov_y_deg"] + 0.5})
    return "a field of view half a degree wider declared"


@_fault("frame_dropped")
def _dropped(shop: Workshop, rng: Rng) -> str | None:
    """A frame is missing in every pass; rows and counts are made to fit."""
    if shop.n < 4:
        return None
    k = int(rng.integers(1, shop.n - 1))
    keep = np.delete(np.arange(shop.n), k)
    passes = {name: shop.read(name) for name in shop.info.all_passes}
    if not any(matters(name, p[i], p[i + 1]) for name, p in passes.items() for i in range(k, shop.n - 1)):
        return None
    rows = shop.rows()
    n = shop.n - 1
    columns = {name: getattr(rows, name)[:n] for name in rows.__slots__}
    shop.write_rows(type(rows)(**columns))
    entries = {name: entry.model_copy(update={"shape": [n, *entry.shape[1:]]}) for name, entry in shop.info.passes.items()}
    shop.write_info(n_frames=n, passes=entries)
    for name, pictures in passes.items():
        if name != "rgb":
            _resize(shop, name, n)
        shop.write(name, pictures[keep])
    return f"frame {k} missing in every pass, counts made to fit"


def _resize(shop: Workshop, name: str, n: int) -> None:
    path = shop.folder / "passes.zarr" / name / "zarr.json"
    document = json.loads(path.read_text())
    document["shape"][0] = n
    path.unlink()
    path.write_text(json.dumps(document))
    for group in (shop.folder / "passes.zarr" / "zarr.json",):
        whole = json.loads(group.read_text())
        whole.pop("consolidated_metadata", None)
        group.unlink()
        group.write_text(json.dumps(whole))


@_fault("video_frame_dropped")
def _video_dropped(shop: Workshop, rng: Rng) -> str | None:
    frames = shop.read("rgb")
    k = int(rng.integers(shop.n))
    shop.write("rgb", np.delete(frames, k, axis=0))
    return f"frame {k} missing in the video"


@_fault("row_dropped")
def _row_dropped(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    k = int(rng.integers(shop.n))
    keep = np.delete(np.arange(shop.n), k)
    columns: dict[str, Any] = {
        name: getattr(rows, name)[keep] if name != "clip" else tuple(rows.clip[i] for i in keep) for name in rows.__slots__
    }
    shop.write_rows(type(rows)(**columns))
    return f"row {k} missing"


# --- an edited take --------------------------------------------------------------------------------------------------------------


def _edit_one(messages: Messages, topic: str, rng: Rng, edit: Callable[[Any], str | None]) -> str | None:
    """Edit one message of a topic at random, in place; tries a few."""
    kinds: dict[str, Any] = {"/sample": pb.Sample, "/input": pb.Input, "/frame": pb.Frame}
    places = [k for k, (t, _, _) in enumerate(messages) if t == topic]
    for at in rng.permutation(len(places))[:8]:
        k = places[int(at)]
        message: Any = kinds[topic].FromString(messages[k][2])
        if (text := edit(message)) is not None:
            messages[k] = (topic, messages[k][1], message.SerializeToString())
            return f"{text} at tick {message.tick}"
    return None


def _take(name: str, topic: str, edit: Callable[[Any, Rng], str | None]) -> None:
    @_fault(name)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        told: list[str | None] = []

        def change(messages: Messages) -> Messages:
            told.append(_edit_one(messages, topic, rng, lambda m: edit(m, rng)))
            return messages

        shop.edit_take(change)
        return told[0] and f"take: {told[0]}"


def _body_moved(m: Any, rng: Rng) -> str | None:
    if not m.changed:
        return None
    k = int(rng.integers(len(m.changed)))
    m.poses[7 * k + int(rng.integers(3))] += CENTIMETRE
    return "a body moved by a centimetre"


def _person_moved(m: Any, rng: Rng) -> str | None:
    m.characters[0].position[int(rng.integers(3))] += CENTIMETRE
    return "the character moved by a centimetre"


def _bone_moved(m: Any, rng: Rng) -> str | None:
    if not len(m.characters[0].bones):
        return None
    m.characters[0].bones[8 * int(rng.integers(len(m.characters[0].bones) // 8)) + int(rng.integers(3))] += CENTIMETRE
    return "a bone moved by a centimetre"


def _camera_moved(m: Any, rng: Rng) -> str | None:
    if not len(m.cameras):
        return None
    m.cameras[7 * int(rng.integers(len(m.cameras) // 7)) + int(rng.integers(3))] += CENTIMETRE
    return "a camera moved by a centimetre"


def _speed_changed(m: Any, rng: Rng) -> str | None:
    if not m.velocities:
        return None
    m.velocities[int(rng.integers(len(m.velocities)))] += CENTIMETRE
    return "a velocity changed by a centimetre a second"


def _row_key_in_take(m: Any, rng: Rng) -> str | None:
    k = int(rng.integers(len(KEYS)))
    m.issued[k] = 0.0 if m.issued[k] > 0 else 1.0
    return f"the frame's key {KEYS[k]} turned"


_take("take_body_moved", "/sample", _body_moved)
_take("take_character_moved", "/sample", _person_moved)
_take("take_bone_moved", "/sample", _bone_moved)
_take("take_camera_moved", "/sample", _camera_moved)
_take("take_velocity_changed", "/sample", _speed_changed)
_take("take_frame_camera_moved", "/frame", _camera_moved)
_take("take_frame_key", "/frame", _row_key_in_take)


@_fault("take_key_edited")
def _key_edited(shop: Workshop, rng: Rng) -> str | None:
    """A movement key is turned for a whole frame in the take's inputs, and the take's rows and the shot's rows are made to fit."""
    with Take.open(shop.folder / "take.mcap") as take:
        header, controls = take.header, list(take.controls())
        flags = take.derive_frames(header.frame_ticks).flags
    if header.frame_ticks != shop.info.frame_ticks:
        return None
    key = KEYS[int(rng.integers(4))]
    free = [k for k in range(shop.info.first_frame, shop.info.first_frame + shop.n) if not flags[k] & 1]
    if not free:
        return None
    frame = int(rng.choice(free))
    first = frame * header.frame_ticks
    for tick in range(first, first + header.frame_ticks):
        controls[tick] = replace(controls[tick], keys=controls[tick].keys ^ KEY_BITS[key])
    changes: list[Change] = []
    inputs: list[tuple[str, int, bytes]] = []
    before = 0
    for tick, c in enumerate(controls):
        if c.keys != before or c.mouse_dx or c.mouse_dy:
            pressed, released = c.keys & ~before, before & ~c.keys
            message = pb.Input(
                tick=tick,
                t_ns=header.t_ns(tick),
                keys=c.keys,
                pressed=pressed,
                released=released,
                mouse_dx=c.mouse_dx,
                mouse_dy=c.mouse_dy,
            )
            inputs.append(("/input", tick, message.SerializeToString()))
            changes.append(Change(tick, c.keys, c.mouse_dx, c.mouse_dy))
            before = c.keys
    held = [0, *(c.keys for c in controls)]
    rows = shop.rows()
    action = rows.action.copy()

    def issued(k: int) -> list[float]:
        start = k * header.frame_ticks
        inside = [c for c in changes if start <= c.tick < start + header.frame_ticks]
        return issued_row(start, header.frame_ticks, held[start], inside)

    def change(messages: Messages) -> Messages:
        out: Messages = []
        waiting = list(inputs)
        for topic, time, data in messages:
            if topic == "/input":
                continue
            if topic == "/sample":
                tick = pb.Sample.FromString(data).tick
                while waiting and waiting[0][1] < tick:
                    name, at, content = waiting.pop(0)
                    out.append((name, header.t_ns(at), content))
            if topic == "/frame":
                row = pb.Frame.FromString(data)
                del row.issued[:]
                row.issued.extend(issued(row.frame))
                data = row.SerializeToString()  # noqa: PLW2901
            out.append((topic, time, data))
        return out

    shop.edit_take(change)
    for i in range(shop.n):
        action[i] = issued(shop.info.first_frame + i)
    if np.array_equal(action, rows.action):
        return None
    shop.write_rows(replace(rows, action=action))
    return f"take and rows: key {key} turned in frame {frame}"


# --- damage, not sealed ----------------------------------------------------------------------------------------------------------


def _some_file(shop: Workshop, rng: Rng) -> Any:
    files = [p for p in shop.shards() if p.stat().st_size]
    return files[int(rng.integers(len(files)))]


@_fault("truncated", sealed=False)
def _truncated(shop: Workshop, rng: Rng) -> str | None:
    path = _some_file(shop, rng)
    data = path.read_bytes()
    length = int(rng.integers(len(data)))
    path.unlink()
    path.write_bytes(data[:length])
    return f"{path.name} cut to {length} of {len(data)} bytes"


@_fault("bit_flipped", sealed=False)
def _bit(shop: Workshop, rng: Rng) -> str | None:
    path = _some_file(shop, rng)
    data = bytearray(path.read_bytes())
    at, bit = int(rng.integers(len(data))), int(rng.integers(8))
    data[at] ^= 1 << bit
    path.unlink()
    path.write_bytes(bytes(data))
    return f"{path.name}: bit {bit} of byte {at} flipped"


@_fault("file_missing", sealed=False)
def _missing(shop: Workshop, rng: Rng) -> str | None:
    path = _some_file(shop, rng)
    path.unlink()
    return f"{path.name} removed"


@_fault("shard_missing")
def _shard_missing(shop: Workshop, rng: Rng) -> str | None:
    names = sorted(shop.info.passes)
    if not names:
        return None
    name = names[int(rng.integers(len(names)))]
    if not shop.read(name).any():
        return None
    for path in (shop.folder / "passes.zarr" / name / "c").rglob("*"):
        if path.is_file():
            path.unlink()
    return f"{name}: its shards removed, and sealed: it reads as zeros"
