"""A take or a shot in Rerun: pictures, point cloud, camera, skeleton, bodies and keys on one time line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import SceneGeometry
from worldwright.assets.scene import build_scene
from worldwright.controls import EFFECT_NAMES, KEYS
from worldwright.errors import WorldwrightError
from worldwright.outputs import check_new_file
from worldwright.render.passes import PASSES, decode
from worldwright.render.shot import Shot
from worldwright.report.pictures import colourise
from worldwright.take.model import CharacterInstant
from worldwright.take.reader import Take
from worldwright.transforms import pixel_rays, quat_rotate, quat_yaw

Array = NDArray[Any]

CLOUD_STEP = 4
"""Every how many pixels a point of the cloud."""


def _rerun() -> Any:
    try:
        import rerun
    except ImportError:
        raise WorldwrightError(
            "the viewer Rerun is not installed", where="worldwright view", fix="in the checkout: .venv/bin/pip install -e '.[view]'"
        ) from None
    return rerun


def _log_scene(rr: Any, take: Take, geometry: SceneGeometry) -> None:
    rr.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    moving = set(take.header.body_ids)
    for index, entity in enumerate(take.header.world.entities):
        ident = take.header.world.entity_id(index)
        for k, mesh in enumerate(geometry.entities.get(ident, ())):
            colour = tuple(int(255 * min(1.0, c) ** (1 / 2.2)) for c in mesh.surface.base_colour[:3])
            shape = rr.Mesh3D(
                vertex_positions=mesh.positions,
                triangle_indices=mesh.indices,
                vertex_normals=mesh.normals,
                albedo_factor=(*colour, 255),
            )
            rr.log(f"world/entities/{entity.name}/{k}", shape, static=True)
        if ident not in moving:
            pose = rr.Transform3D(translation=entity.position, quaternion=rr.Quaternion(xyzw=np.roll(entity.rotation, -1)))
            rr.log(f"world/entities/{entity.name}", pose, static=True)


def _skeleton(character: CharacterInstant, parents: Array) -> Array:
    """Line segments [S, 2, 3] in the world from each joint to its parent."""
    joints = quat_rotate(quat_yaw(character.yaw), character.bones[:, :3]) + character.position
    has = np.flatnonzero(parents >= 0)
    return np.stack([joints[has], joints[parents[has]]], axis=1)


def _log_instant(rr: Any, take: Take, geometry: SceneGeometry, tick: int, last: dict[int, bytes]) -> None:
    rr.set_time("tick", sequence=tick)
    rr.set_time("time", duration=take.header.t_ns(tick) / 1e9)
    now = take.instant(tick)
    for k, ident in enumerate(take.header.body_ids):
        pose = now.positions[k].tobytes() + now.rotations[k].tobytes()
        if last.get(ident) != pose:
            last[ident] = pose
            name = take.header.world.entities[ident - 1].name
            turned = rr.Quaternion(xyzw=np.roll(now.rotations[k], -1))
            rr.log(f"world/entities/{name}", rr.Transform3D(translation=now.positions[k], quaternion=turned))
    for character in now.characters:
        skeleton = geometry.characters[character.id].skeleton
        if skeleton is not None:
            rr.log(
                f"world/characters/{character.id}/bones",
                rr.LineStrips3D(_skeleton(character, skeleton.parents), colors=(255, 190, 60), radii=0.012),
            )


def _log_row(rr: Any, issued: Array, effective: Array) -> None:
    for k, name in enumerate(KEYS):
        rr.log(f"keys/{name}", rr.Scalars(float(issued[k])))
    rr.log("mouse/dx", rr.Scalars(float(issued[len(KEYS)])))
    rr.log("mouse/dy", rr.Scalars(float(issued[len(KEYS) + 1])))
    for k, name in enumerate(EFFECT_NAMES):
        rr.log(f"effect/{name}", rr.Scalars(float(effective[k])))


def _log_picture(rr: Any, shot: Shot, row: int, rgb: Array | None) -> None:
    info, c2w, K = shot.info, shot.frames.c2w[row], shot.frames.K[row]
    rr.log("world/camera", rr.Transform3D(translation=c2w[:3, 3], mat3x3=c2w[:3, :3]))
    rr.log("world/camera", rr.Pinhole(image_from_camera=K, width=info.width, height=info.height, camera_xyz=rr.ViewCoordinates.RDF))
    if rgb is not None:
        rr.log("world/camera/rgb", rr.Image(rgb).compress(jpeg_quality=85))
    for name in PASSES:
        if name not in info.passes or name == "depth":
            continue
        code = shot.read(name, row)
        if name == "entity":
            rr.log("world/camera/entity", rr.SegmentationImage(code))
        else:
            rr.log(f"world/camera/{name}", rr.Image(colourise(name, code)).compress(jpeg_quality=85))
    if "depth" in info.passes:
        depth = decode("depth", shot.read("depth", row))
        rr.log("world/camera/depth", rr.DepthImage(np.nan_to_num(depth), meter=1.0))
        v, u = np.mgrid[0 : info.height : CLOUD_STEP, 0 : info.width : CLOUD_STEP]
        z = depth[v, u]
        seen = np.isfinite(z)
        local = pixel_rays(np.stack([u[seen] + 0.5, v[seen] + 0.5], axis=-1), K) * z[seen][:, None]
        colours = rgb[v[seen], u[seen]] if rgb is not None else None
        rr.log("world/cloud", rr.Points3D(local @ c2w[:3, :3].T + c2w[:3, 3], colors=colours, radii=0.01))


def view(path: Path, packs: Mapping[str, Path], *, save: Path | None = None) -> None:
    """Open a take (.mcap) or a shot folder in the Rerun viewer, or write a recording for it to ``save`` (.rrd)."""
    os.environ.setdefault("RUST_LOG", "off")  # Rerun's own lines would stand beside our one
    rr = _rerun()
    if save is not None:
        check_new_file(save, "Rerun recording", b"RRF2")
    shot = Shot.open(path) if path.is_dir() else None
    take = shot.take() if shot is not None else Take.open(path)
    geometry = build_scene(take.header.world, packs, images=False)
    rr.init("worldwright", recording_id=f"{path.name}-{take.state_hash[:8]}", spawn=False)
    if save is None:
        rr.spawn()
        _log_all(rr, take, shot, geometry)
        return
    part = save.with_name(f".{save.stem}.part.rrd")
    try:
        rr.save(str(part))
        _log_all(rr, take, shot, geometry)
        rr.disconnect()  # writes what is still waiting, and says nothing when it cannot
        if not _is_whole(part):
            raise WorldwrightError("could not be written to its end", where=str(save), fix="free some space and run it again")
        part.replace(save)
    finally:
        rr.disconnect()
        part.unlink(missing_ok=True)


def _is_whole(recording: Path) -> bool:
    """Whether a recording has the footer that Rerun writes last."""
    with recording.open("rb") as file:
        file.seek(max(0, recording.stat().st_size - 64))
        return b"RRF2FOOT" in file.read()


def _log_all(rr: Any, take: Take, shot: Shot | None, geometry: SceneGeometry) -> None:
    _log_scene(rr, take, geometry)
    labels = [(ident, name) for ident, (name, _) in take.header.world.labels().items()]
    rr.log("world/camera", rr.AnnotationContext(labels), static=True)
    last: dict[int, bytes] = {}
    if shot is not None:
        pictures = shot.rgb_frames() if shot.info.rgb is not None else iter([None] * shot.info.n_frames)
        for row, rgb in zip(range(shot.info.n_frames), pictures, strict=False):
            _log_instant(rr, take, geometry, int(shot.frames.tick[row]), last)
            _log_row(rr, shot.frames.action[row], shot.frames.effective[row])
            _log_picture(rr, shot, row, rgb)
        return
    table = take.frames()
    for row, tick in enumerate(table.tick):
        _log_instant(rr, take, geometry, int(tick), last)
        _log_row(rr, table.issued[row], table.effective[row])
        for rig, c2w in take.instant(int(tick)).cameras.items():
            rr.log(f"world/rigs/{rig}", rr.Transform3D(translation=c2w[:3, 3], mat3x3=c2w[:3, :3]))
            rr.log(
                f"world/rigs/{rig}",
                rr.Pinhole(
                    fov_y=np.radians(take.header.world.camera.fov_y_deg), aspect_ratio=16 / 9, camera_xyz=rr.ViewCoordinates.RDF
                ),
            )
