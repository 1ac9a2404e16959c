"""Skeletons in motion: clips to bones in model space, a player of clips with cross-fades, and skinning on the CPU.

Bones are [J, 8] float32: position xyz, quaternion wxyz, uniform scale, in the character's model space (looks along +X, feet at z = 0).
A skin matrix is ``pose_matrix(bone) @ inverse_bind``. Clips are baked into bones once, so that a tick costs one interpolation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import CLIP_RATE, Clip, Mesh, Model, Skeleton
from worldwright.errors import WorldwrightError
from worldwright.transforms import matrix_to_quat, pose_matrix

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

FADE_SECONDS = 0.15
"""How long one clip takes to give way to another."""

CYCLES = frozenset({"walk", "run", "strafe_left", "strafe_right", "back", "push", "crouch_walk"})
"""Clips of one gait each: going from one to another keeps the share of the cycle that has passed, so that the feet stay in step."""


def sample_clip(clip: Clip, seconds: float) -> tuple[F64, F64, F64]:
    """The clip's local pose at a time: translations [J, 3], rotations [J, 4] wxyz, scales [J, 3]. Loops wrap, others hold their ends."""
    a, b, t = _frames_around(len(clip.translations), clip.loop, seconds * CLIP_RATE)
    qa, qb = clip.rotations[a].astype(np.float64), clip.rotations[b].astype(np.float64)
    qb = np.where(np.sum(qa * qb, axis=-1, keepdims=True) < 0, -qb, qb)
    rotations = qa + (qb - qa) * t
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    return _mix(clip.translations[a], clip.translations[b], t), rotations, _mix(clip.scales[a], clip.scales[b], t)


def pose_matrices(
    skeleton: Skeleton, translations: NDArray[np.floating], rotations: NDArray[np.floating], scales: NDArray[np.floating]
) -> F64:
    """Joint-to-model matrices [..., J, 4, 4] of local poses: translations [..., J, 3], rotations [..., J, 4], scales [..., J, 3]."""
    local = pose_matrix(translations, rotations, scales)
    out = np.empty_like(local)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        out[..., joint, :, :] = local[..., joint, :, :] if parent < 0 else out[..., parent, :, :] @ local[..., joint, :, :]
    return out


def matrices_to_bones(matrices: NDArray[np.floating]) -> F32:
    """Bones [..., J, 8] of joint-to-model matrices [..., J, 4, 4].

    A bone has one scale: the cube root of the determinant, negative for a mirrored joint. Shear and stretch along one axis are lost.
    """
    linear = np.asarray(matrices, dtype=np.float64)[..., :3, :3]
    scale = np.cbrt(np.linalg.det(linear))
    safe = np.where(np.abs(scale) < 1e-12, 1.0, scale)
    rotation = linear / safe[..., None, None]
    x = rotation[..., :, 0]
    x = x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    y = rotation[..., :, 1] - x * np.sum(x * rotation[..., :, 1], axis=-1, keepdims=True)
    y = y / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-12)
    orthonormal = np.stack([x, y, np.cross(x, y)], axis=-1)
    orthonormal = np.where(np.abs(scale)[..., None, None] < 1e-12, np.eye(3), orthonormal)
    return np.concatenate([matrices[..., :3, 3], matrix_to_quat(orthonormal), scale[..., None]], axis=-1).astype(np.float32)


def pose_to_bones(
    skeleton: Skeleton, translations: NDArray[np.floating], rotations: NDArray[np.floating], scales: NDArray[np.floating]
) -> F32:
    """Bones [..., J, 8] in model space of local poses, as in ``pose_matrices``."""
    return matrices_to_bones(pose_matrices(skeleton, translations, rotations, scales))


def bind_bones(model: Model) -> F32:
    """Bones [J, 8] of the bind pose: skinned with them, a mesh is as it is stored."""
    return matrices_to_bones(np.linalg.inv(skeleton_of(model).inverse_bind.astype(np.float64)))


def skeleton_of(model: Model) -> Skeleton:
    """The model's skeleton, or an error that names the model."""
    if model.skeleton is None:
        raise WorldwrightError("has no skeleton", where=model.name, fix="give a rigged model")
    return model.skeleton


def bake_clip(skeleton: Skeleton, clip: Clip) -> F32:
    """Bones [F + 1, J, 8] of a clip's frames and of the one that follows the last (a loop's first, else the last again).

    Quaternions of successive frames lie on the same side, so that they can be interpolated without a test.
    """
    bones = pose_to_bones(skeleton, clip.translations, clip.rotations, clip.scales)
    bones = np.concatenate([bones, bones[:1] if clip.loop else bones[-1:]])
    turns = np.sum(bones[1:, :, 3:7] * bones[:-1, :, 3:7], axis=-1) < 0
    sign = np.where(np.cumsum(turns, axis=0) % 2 == 1, -1.0, 1.0).astype(np.float32)
    bones[1:, :, 3:7] *= sign[..., None]
    return bones


class Animator:
    """Plays a character's clips: one ``update`` a tick, ``bones`` when somebody looks. Same calls, same bytes.

    Clips change by a cross-fade of ``FADE_SECONDS`` on bones in model space, from the old clip as it plays on; a change in the middle of
    a fade starts from the pose shown.
    """

    def __init__(self, model: Model) -> None:
        skeleton = skeleton_of(model)
        missing = [name for name in ("idle",) if name not in model.clips]
        if missing:
            raise WorldwrightError(f"has no clip {missing[0]!r}", where=model.name, fix="load it by load_character")
        self.clips = dict(model.clips)
        self._baked = {name: bake_clip(skeleton, clip) for name, clip in sorted(model.clips.items())}
        self.reset()

    def reset(self) -> None:
        """Back to the first instant of ``idle``."""
        self.clip = "idle"
        self.time = 0.0
        """Seconds into the clip; wrapped in a loop, held at the end otherwise."""
        self._from: str | F32 | None = None
        self._from_time = 0.0
        self._fade = 0.0
        self._shown: F32 | None = None

    def update(self, dt: float, clip_name: str, speed_scale: float = 1.0) -> None:
        """Go on by ``dt`` seconds, in ``clip_name``, played ``speed_scale`` times as fast as it was made.

        Raises:
            WorldwrightError: the character has no such clip.
        """
        if clip_name != self.clip:
            self._change(clip_name)
        self.time = self._advance(self.clip, self.time, dt * speed_scale)
        if self._from is not None:
            self._fade += dt
            if self._fade >= FADE_SECONDS:
                self._from = None
            elif isinstance(self._from, str):
                self._from_time = self._advance(self._from, self._from_time, dt * speed_scale)
        self._shown = None

    def bones(self) -> F32:
        """Bones [J, 8] float32 now. The array is the caller's to keep, not to change."""
        if self._shown is None:
            pose = self._pose(self.clip, self.time)
            if self._from is not None:
                start = self._pose(self._from, self._from_time) if isinstance(self._from, str) else self._from
                t = self._fade / FADE_SECONDS
                pose = _blend(start, pose, t * t * (3.0 - 2.0 * t))
            self._shown = pose
        return self._shown

    def _change(self, name: str) -> None:
        if name not in self.clips:
            raise WorldwrightError(f"no clip {name!r}", where="animator", fix=f"one of {', '.join(sorted(self.clips))}")
        self._from, self._from_time = (self.bones(), 0.0) if self._from is not None else (self.clip, self.time)
        self._fade = 0.0
        in_step = self.clip in CYCLES and name in CYCLES
        self.time = self.time / self.clips[self.clip].duration * self.clips[name].duration if in_step else 0.0
        self.clip = name

    def _advance(self, name: str, time: float, dt: float) -> float:
        clip = self.clips[name]
        time += dt
        if clip.loop:
            return time % clip.duration
        return min(max(time, 0.0), (len(clip.translations) - 1) / CLIP_RATE)

    def _pose(self, name: str, time: float) -> F32:
        baked = self._baked[name]
        at = time * CLIP_RATE
        frame = min(int(at), len(baked) - 2)
        a = baked[frame]
        out = a + (baked[frame + 1] - a) * np.float32(at - frame)
        return _unit(out)


def _unit(bones: F32) -> F32:
    q = bones[:, 3:7]
    q /= np.sqrt(np.einsum("ij,ij->i", q, q))[:, None]
    return bones


def _blend(a: F32, b: F32, t: float) -> F32:
    """From bones ``a`` to ``b``; quaternions on the shorter arc."""
    flip = np.einsum("ij,ij->i", a[:, 3:7], b[:, 3:7]) < 0
    b = b.copy()
    b[flip, 3:7] *= -1
    return _unit(a + (b - a) * np.float32(t))


def _frames_around(count: int, loop: bool, at: float) -> tuple[int, int, float]:
    if loop:
        at %= count
        a = min(int(at), count - 1)
        return a, (a + 1) % count, at - a
    at = min(max(at, 0.0), count - 1.0)
    a = min(int(at), max(count - 2, 0))
    return a, min(a + 1, count - 1), at - a


def _mix(a: F32, b: F32, t: float) -> F64:
    return a.astype(np.float64) * (1.0 - t) + b.astype(np.float64) * t


def skin_matrices(model: Model, bones: NDArray[np.floating]) -> F64:
    """Skin matrices [J, 4, 4]: from the bind pose to model space, for bones [J, 8]."""
    pose = pose_matrix(bones[..., :3], bones[..., 3:7], bones[..., 7:8])
    return pose @ skeleton_of(model).inverse_bind.astype(np.float64)


def skin(mesh: Mesh, model: Model, bones: NDArray[np.floating], matrices: F64 | None = None) -> tuple[F64, F64]:
    """Linear-blend skinning on the CPU: positions [N, 3] and unit normals [N, 3] in model space, float64. ``matrices`` are
    ``skin_matrices(model, bones)``, where several meshes share them.

    Normals go through the blended matrix itself, which is exact for the turns and uniform scales that bones have.
    A mesh without joints is returned as it is.
    """
    positions, normals = mesh.positions.astype(np.float64), mesh.normals.astype(np.float64)
    if mesh.joints is None or mesh.weights is None:
        return positions, normals
    if matrices is None:
        matrices = skin_matrices(model, bones)
    blended = np.einsum("nk,nkij->nij", mesh.weights.astype(np.float64), matrices[mesh.joints.astype(np.intp)])
    positions = np.einsum("nij,nj->ni", blended[:, :3, :3], positions) + blended[:, :3, 3]
    normals = np.einsum("nij,nj->ni", blended[:, :3, :3], normals)
    return positions, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
