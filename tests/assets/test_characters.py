"""Rigged models of other people fit our conventions: size, facing, clips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldwright.assets.animation import Animator, bake_clip, bind_bones, skeleton_of, skin
from worldwright.assets.character_clips import choose_clips, choose_low_pose, plain_name
from worldwright.assets.characters import GLTF_FORWARD, facing, load_character
from worldwright.assets.feet import sole_paths, stance_speed
from worldwright.assets.model import CLIP_NAMES, CLIP_RATE, Model
from worldwright.errors import WorldwrightError
from worldwright.world.spec import Character, GltfCharacter

PEOPLE = ("Knight", "Barbarian", "Mage", "Rogue", "Rogue_Hooded")


def adventurer(packs: dict[str, Path], name: str, **look: Any) -> Model:
    chosen = GltfCharacter.model_validate({"model": "gltf", "pack": "adventurers", "path": f"characters/{name}.glb"} | look)
    return load_character(Character(look=chosen), packs)


@pytest.mark.parametrize("name", PEOPLE)
def test_an_adventurer_stands_on_the_ground_looks_ahead_and_has_all_clips(name: str, packs: dict[str, Path]) -> None:
    model = adventurer(packs, name, height=1.7)
    assert set(model.clips) == set(CLIP_NAMES)
    assert model.clip_sources["walk"] == "Walking_A"
    assert model.clip_sources["run"] == "Running_A"
    assert model.clip_sources["strafe_left"] == "Running_Strafe_Left"
    assert model.clip_sources["back"] == "Walking_Backwards"
    assert model.clip_sources["fall"] == "Jump_Idle"
    assert model.clip_sources["push"] == "Walking_A (stand-in)"
    assert model.licence == "CC0-1.0"
    assert model.skeleton is not None
    bones = bake_clip(model.skeleton, model.clips["idle"])[0]
    body = [m for m in model.meshes if m.name.startswith(name.split("_", maxsplit=1)[0])]
    points = np.concatenate([skin(m, model, bones)[0] for m in body])
    assert points[:, 2].min() == pytest.approx(0, abs=0.02)
    assert points[:, 2].max() == pytest.approx(1.7, abs=0.02)
    rest, names = bind_bones(model), model.skeleton.names
    assert rest[names.index("handslot.l"), 1] > 0.3 > -0.3 > rest[names.index("handslot.r"), 1]
    assert rest[names.index("toes.l"), 0] > rest[names.index("foot.l"), 0] + 0.05
    assert 2.5 < model.clips["run"].speed < 4.0
    assert 0.3 < model.clips["walk"].speed < 1.0
    assert model.clips["idle"].speed == 0
    for clip_name, clip in model.clips.items():
        assert clip.loop == (clip_name != "jump")
        Animator(model).update(0.1, clip_name)


@pytest.mark.parametrize("name", PEOPLE)
def test_an_adventurer_that_crouches_stands_upright_in_the_ceiling(name: str, packs: dict[str, Path]) -> None:
    model = adventurer(packs, name, height=1.7)
    assert model.skeleton is not None
    body = [m for m in model.meshes if m.name.startswith(name.split("_", maxsplit=1)[0])]

    def heights(clip: str) -> list[float]:
        bones = bake_clip(skeleton_of(model), model.clips[clip])[::8]
        return [max(float(skin(m, model, b)[0][:, 2].max()) for m in body) for b in bones]

    assert max(heights("crouch")) < 0.89 * min(heights("idle"))
    assert max(heights("crouch_walk")) < 0.93 * min(heights("walk"))
    for clip, of in (("crouch", "idle"), ("crouch_walk", "walk")):
        soles, before = (sole_paths(model, bake_clip(skeleton_of(model), model.clips[c]).astype(float)) for c in (clip, of))
        assert abs(soles[..., 2].min() - before[..., 2].min()) < 0.005  # neither in the ground nor above it
    assert 0.2 < model.clips["crouch_walk"].speed < 0.8
    assert model.clip_sources["crouch"] == "the lowest pose of Jump_Land (stand-in)"
    assert model.clip_sources["crouch_walk"] == "Walking_A lowered as Jump_Land (stand-in)"


def test_a_low_pose_is_taken_from_what_is_nearest_to_a_crouch() -> None:
    def low(*names: str) -> str | None:
        found = choose_low_pose(names, choose_clips(names, {}, "x"))
        return None if found is None else found.name

    assert low("Idle", "Crouch_Idle", "Crouch_Walk", "Jump_Land") is None  # nothing is missing
    assert low("Idle", "Crouch_Idle", "Jump_Land") == "Crouch_Idle"
    assert low("Idle", "Crouched Walking", "Jump_Land") == "Crouched Walking"
    assert low("Idle", "Jump_Start", "Jump_Idle", "Jump_Land") == "Jump_Land"
    assert low("Idle", "Jump_Idle", "Lie_Down", "Sit_Floor_Idle") is None
    assert low("Idle", "Landing_Roll", "Jumping") == "Jumping"


def test_hidden_nodes_are_gone_and_misspelt_ones_are_said(packs: dict[str, Path]) -> None:
    names = {m.name for m in adventurer(packs, "Knight", hide=["2H_Sword", "Spike_Shield"]).meshes}
    assert "2H_Sword" not in names
    assert "1H_Sword" in names
    with pytest.raises(WorldwrightError, match=r"hide: no mesh node '2H_Swrd'.*2H_Sword"):
        adventurer(packs, "Knight", hide=["2H_Swrd"])


def test_the_users_clips_win(packs: dict[str, Path]) -> None:
    model = adventurer(packs, "Knight", clips={"push": "Block", "idle": "Unarmed_Idle"})
    assert model.clip_sources["push"] == "Block"
    assert model.clip_sources["idle"] == "Unarmed_Idle"
    with pytest.raises(WorldwrightError, match=r"clips.push: no clip 'Blok'.*Block"):
        adventurer(packs, "Knight", clips={"push": "Blok"})
    with pytest.raises(WorldwrightError, match=r"'dance' is no clip of ours"):
        adventurer(packs, "Knight", clips={"dance": "Block"})


def test_a_character_of_moving_nodes_works_without_a_skin(packs: dict[str, Path]) -> None:
    path = next(p for p in sorted(packs["platformer"].rglob("*.glb")) if p.name == "character.glb").relative_to(packs["platformer"])
    look = GltfCharacter(model="gltf", pack="platformer", path=path.as_posix(), height=1.2)
    model = load_character(Character(look=look), packs)
    assert model.clip_sources["walk"] == "walk"
    assert model.clips["walk"].speed > 0.2
    assert all(m.joints is not None for m in model.meshes)


def test_what_has_no_rig_or_no_pack_is_said(packs: dict[str, Path]) -> None:
    stone = Character(look=GltfCharacter(model="gltf", pack="dungeon", path="models/wall.gltf.glb"))
    with pytest.raises(WorldwrightError, match=r"'player': models/wall.gltf.glb: has neither a skin nor animated nodes"):
        load_character(stone, packs)
    with pytest.raises(WorldwrightError, match=r"pack 'dungeon' has no folder; give it with --pack dungeon=FOLDER"):
        load_character(stone, {})


MIXAMO = [
    "mixamo.com|Breathing Idle",
    "Walking",
    "Running",
    "Left Strafe Walking",
    "Right Strafe Walking",
    "Walking Backwards",
    "Jumping",
    "Falling Idle",
    "Pushing",
    "Crouched Walking",
]
QUATERNIUS = [
    "CharacterArmature|Death",
    "CharacterArmature|Idle",
    "CharacterArmature|Idle_Gun",
    "CharacterArmature|Run",
    "CharacterArmature|Run_Back",
    "CharacterArmature|Run_Left",
    "CharacterArmature|Run_Right",
    "CharacterArmature|Run_Shoot",
    "CharacterArmature|Walk",
    "CharacterArmature|Roll",
]
UNREAL = [
    "MM_Idle",
    "MF_Walk_Fwd",
    "MF_Walk_Bwd",
    "MF_Walk_Left",
    "MF_Walk_Right",
    "MF_Run_Fwd",
    "MM_Jump",
    "MM_Fall_Loop",
    "MM_Land",
    "MM_Crouch_Idle",
    "MM_Crouch_Walk_Fwd",
]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (MIXAMO, {"idle": MIXAMO[0], "walk": "Walking", "run": "Running", "strafe_left": MIXAMO[3], "back": MIXAMO[5], "jump": "Jumping", "fall": "Falling Idle", "push": "Pushing", "crouch_walk": "Crouched Walking"}),
        (QUATERNIUS, {"idle": QUATERNIUS[1], "walk": QUATERNIUS[8], "run": QUATERNIUS[3], "back": QUATERNIUS[4], "strafe_left": QUATERNIUS[5], "strafe_right": QUATERNIUS[6]}),
        (UNREAL, {"idle": "MM_Idle", "walk": "MF_Walk_Fwd", "run": "MF_Run_Fwd", "back": "MF_Walk_Bwd", "strafe_left": "MF_Walk_Left", "strafe_right": "MF_Walk_Right", "jump": "MM_Jump", "fall": "MM_Fall_Loop", "crouch": "MM_Crouch_Idle", "crouch_walk": "MM_Crouch_Walk_Fwd"}),
    ],
)  # fmt: skip
def test_common_rigs_are_mapped_by_name(names: list[str], expected: dict[str, str]) -> None:
    chosen = choose_clips(names, {}, "x")
    assert {ours: chosen[ours].name for ours in expected} == expected
    assert not any(chosen[ours].stand_in for ours in expected)


def test_every_clip_has_something_even_with_nothing() -> None:
    assert {c.name for c in choose_clips([], {}, "x").values()} == {None}
    only = choose_clips(["Run"], {}, "x")
    assert {c.name for c in only.values()} == {"Run"}
    assert [ours for ours, c in only.items() if not c.stand_in] == ["run"]


def test_plain_names() -> None:
    assert plain_name("Armature|MM_Walk-Fwd") == "walk_fwd"
    assert plain_name("RunBack") == "run_back"


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["arm.l", "arm.r"], 0), (["mixamorig:LeftArm", "mixamorig:RightArm"], 0), (["arm_L", "arm_R"], 0), (["UpperArmL", "UpperArmR"], 0), (["a", "b"], GLTF_FORWARD)],
)  # fmt: skip
def test_a_rig_tells_where_it_looks(names: list[str], expected: float) -> None:
    bones = np.zeros((2, 8))
    bones[0, 1], bones[1, 1] = 0.5, -0.5
    assert facing(names, bones) == pytest.approx(expected)


def test_the_stance_tells_the_speed() -> None:
    phase = np.arange(CLIP_RATE) / CLIP_RATE
    feet = np.zeros((CLIP_RATE, 2, 3))
    for k in range(2):
        p = (phase + 0.5 * k) % 1
        feet[:, k, 0] = np.where(p < 0.6, 0.45 - 1.5 * p, -0.45 + 0.9 * (p - 0.6) / 0.4)
        feet[:, k, 2] = np.where(p < 0.6, 0, 0.1 * np.sin(np.pi * (p - 0.6) / 0.4))
    assert stance_speed(feet) == pytest.approx(1.5, rel=0.02)
