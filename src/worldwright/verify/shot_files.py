"""A shot's files: hashes, counts, and what shot.json says about them."""

from __future__ import annotations

from typing import Any

import zarr

from worldwright.errors import WorldwrightError
from worldwright.outputs import check_manifest
from worldwright.render.cameras import camera_from
from worldwright.render.declared import DECLARED, DeclaredEntity, declared_entity, read_declared
from worldwright.render.info import Conventions, ShotInfo
from worldwright.render.passes import PASSES
from worldwright.render.planes import STORE
from worldwright.render.presets import Preset, parse_preset
from worldwright.render.run import request_id
from worldwright.render.shot import Shot
from worldwright.take.model import TakeHeader
from worldwright.verify.measure import failed, from_problems, passed
from worldwright.verify.verdict import Check
from worldwright.world.looks import put_on


def check_hashes(shot_path: Any) -> Check:
    """Every file is the one that was sealed. Says nothing about truth: whoever edits a file can seal it again."""
    return from_problems("manifest", check_manifest(shot_path, "shot"), "every file has the sealed size and hash")


def check_counts(shot: Shot) -> Check:
    """Rows, pictures of every pass and frames of the video are equally many, each video frame exactly at its time."""
    n = shot.info.n_frames
    if len(shot.frames) != n:
        return failed("counts", f"{len(shot.frames)} rows, shot.json says {n}", value=len(shot.frames), limit=n)
    if shot.info.rgb is not None:
        try:
            count = shot.rgb_count()
        except WorldwrightError as error:
            return failed("counts", error.line())
        if count != n:
            return failed("counts", f"the video has {count} frames, shot.json says {n}", value=count, limit=n)
    return passed("counts", f"{n} rows, {n} frames of each of {len(shot.info.all_passes)} passes, at exact times")


def check_description(shot: Shot, header: TakeHeader, take_hash: str) -> Check:
    """shot.json against the take and the conventions: everything in it that can be computed again is."""
    info = shot.info
    problems: list[str] = []

    def same(field: str, found: Any, expected: Any) -> None:
        if found != expected:
            problems.append(f"shot.json: {field} is {_short(found)}, expected {_short(expected)}")

    same("take_hash", info.take_hash, take_hash)
    same("world_hash", info.world_hash, header.world_hash)
    same("world_name", info.world_name, header.world.name)
    same("conventions", info.conventions, Conventions())
    same("flag_names", info.flag_names, ShotInfo.model_fields["flag_names"].default)
    same(
        "entities",
        [(e.id, e.name, e.label) for e in info.entities],
        [(k, n, label) for k, (n, label) in sorted(header.world.labels().items())],
    )
    shown = header.world if info.look is None else put_on(header.world, info.look)
    same("renderer.exposure", info.renderer.exposure, shown.light.exposure)
    for name, entry in info.passes.items():
        plain = {key: value for key, value in entry.attributes.items() if key != DECLARED}
        same(f"passes.{name}.attributes", plain, PASSES[name].attributes())
        try:
            declared = read_declared(name, entry.attributes)
        except WorldwrightError as error:
            problems.append(error.line())
            continue
        if isinstance(declared, DeclaredEntity):
            same(f"passes.{name}.{DECLARED}", declared, declared_entity(header.world))
    try:
        preset = parse_preset(info.preset)
        same("preset", (preset.width, preset.height), (info.width, info.height))
    except WorldwrightError as error:
        problems.append(error.line())
    try:
        camera = camera_from(info.camera, header.tick_rate, where="shot.json: camera")
        size = Preset(info.preset, info.width, info.height)
        again = request_id(
            take_hash, camera, size, info.first_frame, info.n_frames, info.frame_ticks, info.all_passes, info.motion_blur,
            info.renderer.name, info.renderer.version, info.renderer.samples, info.look,
        )  # fmt: skip
        same("id", info.id, again)
    except WorldwrightError as error:
        problems.append(error.line())
    return from_problems("description", problems, "shot.json follows from the take, the camera and the conventions")


def check_stored_attributes(shot: Shot) -> Check:
    """Units, scales and kinds written beside the arrays are those of the conventions, and what they declare is what shot.json says."""
    problems = []
    group: Any = zarr.open_group(store=shot.path / STORE, mode="r", zarr_format=3) if shot.info.passes else {}
    for name in shot.info.passes:
        stored = dict(group[name].attrs)
        problems += [
            f"passes.zarr/{name}: attribute {key} is {_short(stored.get(key))}, expected {_short(value)}"
            for key, value in shot.info.passes[name].attributes.items()
            if stored.get(key) != value
        ]
    return from_problems("attributes", problems, f"units and scales of {len(shot.info.passes)} arrays are the conventions'")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
