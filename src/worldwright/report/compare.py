"""The same frames by several renderers or in several looks, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from worldwright.ids import canonical_json
from worldwright.render.info import ShotInfo
from worldwright.render.shot import Shot
from worldwright.report.pictures import contact_sheet

FRAMES, WIDTH = 3, 420


def way_of(info: ShotInfo) -> str:
    """By whom and in which look a shot was made, in words."""
    samples = f", {info.renderer.samples} samples a pixel" if info.renderer.samples else ""
    blur = ", motion blur" if info.motion_blur else ""
    return f"{info.renderer.name}{samples}{blur}, {f'look {info.look.name}' if info.look else 'the light of the world'}"


def same_frames(shots: Sequence[Shot]) -> list[list[Shot]]:
    """The shots with rgb in groups that show the same instants through the same camera; only groups of several."""
    groups: dict[tuple[object, ...], list[Shot]] = {}
    for shot in shots:
        info = shot.info
        if info.rgb is not None:
            key = (
                info.take_hash,
                canonical_json(info.camera),
                info.first_frame,
                info.n_frames,
                info.frame_ticks,
                info.width / info.height,
            )
            groups.setdefault(key, []).append(shot)
    # The renderers of a look one below the other: that is what one compares.
    return [sorted(group, key=_order) for group in groups.values() if len(group) > 1]


def _order(shot: Shot) -> tuple[str, bool, str]:
    name = shot.info.renderer.name
    return (shot.info.look.name if shot.info.look else "", name != "raster", name)


def side_by_side(shots: Sequence[Shot]) -> Iterator[tuple[str, Image.Image]]:
    """For each camera of which there are several shots: its name, and a picture with a row for each."""
    for group in same_frames(shots):
        info = group[0].info
        chosen = sorted({int(k) for k in np.linspace(0, info.n_frames - 1, min(FRAMES, info.n_frames))})
        rows = [(way_of(shot.info), [shot.rgb(k) for k in chosen]) for shot in group]
        yield str(info.camera.get("rig") or info.camera.get("kind")), contact_sheet(rows, width=WIDTH)
