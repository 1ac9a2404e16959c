"""Small true shots: a plane and a ball looked at by a moving camera, with a real take, all passes and a video that says its frame."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES, Control
from worldwright.dataset.pack import pack
from worldwright.engine.protocol import CharacterState, State
from worldwright.ids import content_id, hash_file
from worldwright.render.info import EntityName, RendererInfo, ShotInfo, VideoInfo, pass_entries
from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR, PASSES, encode_depth, encode_flow, encode_normal
from worldwright.render.rows import FrameRow
from worldwright.render.shot import write_shot
from worldwright.take.model import TakeHeader
from worldwright.take.writer import TakeWriter
from worldwright.transforms import camera_look, intrinsics, pixel_rays, project
from worldwright.world.files import world_hash
from worldwright.world.spec import World

WIDTH, HEIGHT, FPS = 64, 36, 24
BITS = 8
K = intrinsics(WIDTH, HEIGHT, 1.0)
BALL, RADIUS = np.array([3.0, 0.3, 1.0]), 0.8


def camera(i: int) -> NDArray[np.float64]:
    return camera_look((0.05 * i - 0.5, 0.02 * i, 1.5), 0.01 * i, -0.1)


def number_blocks(i: int) -> NDArray[np.uint8]:
    out = np.full((HEIGHT, WIDTH, 3), 70, np.uint8)
    for bit in range(BITS):
        if i >> bit & 1:
            out[:12, bit * 8 : (bit + 1) * 8] = 220
    return out


def number_in(rgb: NDArray[np.uint8]) -> int:
    return sum(int(rgb[:12, bit * 8 : (bit + 1) * 8].mean() > 145) << bit for bit in range(BITS))


def scene(i: int, c2w: NDArray[np.float64], next_c2w: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Floor (1), ball (2) and sky (0), by rays through pixel centres."""
    u, v = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    rays = pixel_rays(np.stack([u, v], axis=-1), K) @ c2w[:3, :3].T
    eye = c2w[:3, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        floor = -eye[2] / rays[..., 2]
        a, b, c = (rays**2).sum(-1), rays @ (eye - BALL), (eye - BALL) @ (eye - BALL) - RADIUS**2
        ball = (-b - np.sqrt(b * b - a * c)) / a
    floor = np.where((floor > 0) & (floor < 400), floor, np.inf)
    ball = np.where(np.isfinite(ball) & (ball > 0), ball, np.inf)
    z = np.minimum(floor, ball)
    seen = np.isfinite(z)
    points = eye + rays * np.where(seen, z, 0)[..., None]
    normal = np.where((ball < floor)[..., None], (points - BALL) / RADIUS, np.array([0.0, 0.0, 1.0]))
    moved, _ = project(points.reshape(-1, 3), next_c2w, K)
    flow = moved.reshape(HEIGHT, WIDTH, 2) - np.stack([u, v], axis=-1)
    entity = np.where(seen, np.where(ball < floor, 2, 1), 0).astype(np.uint16)
    albedo = np.stack([entity * 60, (u * 3) % 256, (v * 5) % 256], axis=-1).astype(np.uint8)
    gone = ~seen[..., None]
    return {
        "rgb": number_blocks(i),
        "depth": encode_depth(z),
        "normal": encode_normal(np.where(gone, 0, normal @ c2w[:3, :3])),
        "albedo": albedo,
        "metallic": (entity * 100).astype(np.uint8),
        "roughness": ((u + v + i) % 256).astype(np.uint8),
        "entity": entity,
        "flow": encode_flow(np.where(gone, np.nan, flow)),
    }


def write_take(path: Path, policy: str, ticks: int) -> None:
    part = {"geometry": {"shape": "box", "size": [1, 1, 1]}, "material": "grey"}
    world = World.model_validate(
        {
            "name": "yard",
            "bounds": {"min": [-50, -50, -5], "max": [50, 50, 20]},
            "packs": {"things": {"root": "things", "licence": "CC0-1.0"}},
            "materials": {"grey": {}},
            "entities": [{"name": "floor", "label": "ground", "parts": [part]}],
            "spawns": [{"position": [0, 0, 0]}],
        }
    )
    header = TakeHeader(
        world=world,
        world_hash=world_hash(world),
        assets={},
        engine="made-up",
        engine_version="1",
        settings={},
        policy=policy,
        policy_params={},
        seed=7,
        tick_rate=240,
        sample_ticks=2,
        frame_ticks=10,
        body_ids=(),
        character_ids=(2,),
        joint_counts=(1,),
        rigs=("third",),
    )

    def state(tick: int) -> State:
        bones = np.zeros((1, 8), dtype=np.float32)
        bones[:, 3] = bones[:, 7] = 1
        character = CharacterState(2, (tick / 240, 0.0, 0.0), 0.0, 0.0, (1.0, 0.0, 0.0), 0, "walk", 0.0, 1, bones)
        none3, none4 = np.zeros((0, 3), np.float32), np.zeros((0, 4), np.float32)
        return State(
            tick,
            none3,
            none4,
            none3,
            none3,
            (character,),
            np.zeros((0, 2), np.int32),
            (),
            {"third": camera_look([0, 0, 1.6], 0, 0)},
        )

    with TakeWriter(path, header) as writer:
        writer.sample(state(0))
        for tick in range(ticks):
            if tick % 10 == 0:
                writer.frame("walk")
            writer.input(tick, Control(1))
            if (tick + 1) % 2 == 0:
                writer.sample(state(tick + 1))


def make_shot(
    path: Path,
    *,
    frames: int = 30,
    first: int = 0,
    policy: str = "explore",
    passes: tuple[str, ...] = tuple(PASSES),
    rgb: bool = True,
    fps: int = FPS,
    far: bool = False,
) -> Path:
    """``far`` makes the flow wilder than 12 bits and the ids greater."""
    take = path.with_name(f"{path.name}.mcap")
    write_take(take, policy, 40)
    info = ShotInfo(
        id=content_id({"name": path.name, "frames": frames, "first": first}),
        take_hash=hash_file(take),
        world_hash=content_id("yard"),
        world_name="yard",
        renderer=RendererInfo(name="synthetic", version="1", device="none"),
        camera={"kind": "rig", "rig": "third"},
        preset=f"{WIDTH}x{HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
        frame_rate=(fps, 1),
        tick_rate=240,
        frame_ticks=240 // fps,
        n_frames=frames,
        first_frame=first,
        passes=pass_entries(list(passes), frames, HEIGHT, WIDTH),
        absent=[name for name in PASSES if name not in passes],
        rgb=VideoInfo(group=fps) if rgb else None,
        entities=[EntityName(id=0, name="sky", label="sky"), EntityName(id=1, name="floor", label="ground")],
    )
    rng = np.random.default_rng(first)
    with write_shot(path, info, take) as writer:
        for i in range(writer.start, frames):
            tick = (first + i) * info.frame_ticks
            pictures = scene(first + i, camera(first + i), camera(first + i + 1))
            if far:
                pictures["flow"][-1, :, 0] = 32767
                pictures["entity"][-1, :4] = 60000
            action = np.zeros(len(ACTION_NAMES), np.float32)
            action[:2], action[8] = (1, i % 2), i
            writer.add(
                FrameRow(
                    frame=i,
                    tick=tick,
                    t_ns=tick * 1_000_000_000 // 240,
                    c2w=camera(first + i),
                    K=K,
                    next_c2w=camera(first + i + 1),
                    next_K=K,
                    near=DEPTH_NEAR,
                    far=DEPTH_FAR,
                    action=action,
                    effective=rng.normal(size=len(EFFECT_NAMES)).astype(np.float32) * np.float32(0.1),
                    flags=i % 4,
                    character_position=np.array([0.1 * i, 0, 0]),
                    character_yaw=0.01 * i,
                    character_pitch=0.0,
                    character_velocity=np.array([2.4, 0, 0]),
                    clip="walk",
                    ground=1,
                ),
                {name: pictures[name] for name in info.all_passes},
            )
    return path


def verdict_of(shot: Path, *, passed: bool = True) -> dict[str, Any]:
    check = {
        "name": "rays",
        "passed": passed,
        "score": 1.0,
        "message": "depth of frame 3 is 0.2 off" if not passed else "all agree",
        "frame": None,
        "value": None,
        "limit": None,
        "evidence": {"rays": 640, "frames": 30, "share": 0.5},
        "skipped": False,
    }
    info = json.loads((shot / "shot.json").read_text())
    return {
        "kind": "shot",
        "subject": str(shot),
        "id": info["id"],
        "manifest": hash_file(shot / "_DONE"),
        "passed": passed,
        "checks": [check],
    }


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """What test modules need of this file; they cannot import it."""
    return SimpleNamespace(
        shot=make_shot, verdict=verdict_of, number=number_in, scene=scene, camera=camera, width=WIDTH, height=HEIGHT, fps=FPS
    )


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """Three shots: 30, 26 and 5 frames; frame numbers drawn begin at 0, 40 and 100; two policies."""
    folder = tmp_path_factory.mktemp("shots")
    yield [
        make_shot(folder / "a", frames=30),
        make_shot(folder / "b", frames=26, first=40, policy="loop"),
        make_shot(folder / "c", frames=5, first=100),
    ]


@pytest.fixture(scope="session")
def verdicts(shots: list[Path]) -> dict[Path, dict[str, Any]]:
    return {shot: verdict_of(shot) for shot in shots}


@pytest.fixture(scope="session")
def master(shots: list[Path], verdicts: dict[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("master") / "dataset"
    pack(shots, out, verdicts=verdicts)
    return out


@pytest.fixture(scope="session")
def compact(shots: list[Path], verdicts: dict[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compact") / "dataset"
    pack(shots, out, tier="compact", verdicts=verdicts)
    return out
