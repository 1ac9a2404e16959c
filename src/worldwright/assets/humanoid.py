"""The built-in humanoid: a skinned person made by code, so that nothing third-party is needed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from worldwright.assets.humanoid_body import Body
from worldwright.assets.humanoid_clips import humanoid_clips
from worldwright.assets.humanoid_mesh import build_mesh
from worldwright.assets.humanoid_outfits import dress
from worldwright.assets.humanoid_rig import make_rig
from worldwright.assets.model import Model
from worldwright.errors import WorldwrightError
from worldwright.ids import content_id
from worldwright.world.spec import Humanoid

VERSION = 1
"""Of the shapes and motions: part of the content hash, raised when they change."""


@lru_cache(maxsize=32)
def humanoid(look: Humanoid, height: float) -> Model:
    """A person ``height`` metres tall, hat and hair included, standing at z = 0 and looking along +X, with all clips of CLIP_NAMES.

    Same look and height, same model. About 4,000 to 6,000 triangles, 23 joints.

    Raises:
        WorldwrightError: the height is not a length of a person (0.3 to 4 m).
    """
    if not 0.3 <= height <= 4.0:
        raise WorldwrightError(f"height {height:g} m", where="humanoid", fix="give 0.3 to 4 m")

    def made(scale: float) -> Model:
        rig = make_rig(look.build, height * scale)
        meshes = tuple(
            build_mesh(piece.name, piece.surface, piece.patches, rig.index) for piece in dress(Body(rig), look.outfit, look.seed)
        )
        return Model(
            name=f"humanoid-{look.build}-{look.outfit}-{look.seed}", meshes=meshes, skeleton=rig.skeleton, clips=humanoid_clips(rig)
        )

    first = made(1.0)
    top = max(float(mesh.positions[:, 2].max()) for mesh in first.meshes)
    model = made(height / top)
    return replace(
        model,
        clip_sources=dict.fromkeys(model.clips, "built in"),
        licence="Apache-2.0",
        content_hash=content_id({"humanoid": VERSION, "look": look.model_dump(), "height": float(np.float64(height))}),
    )
