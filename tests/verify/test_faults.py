"""Every kind of fault is found by the check that is there for it, after all hashes were computed again."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from worldwright.verify.faults import FAULTS
from worldwright.verify.faults.registry import fault

Break = Callable[..., SimpleNamespace]

CASES = {
    "rgb_one_frame_late": {"rgb_time", "rgb_picture"},
    "rgb_half_pixel": {"rgb_place"},
    "rgb_channels": {"rgb_picture"},
    "rgb_all_late": {"rgb_time"},
    "depth_one_frame_late": {"again_depth", "rays"},
    "depth_along_the_ray": {"again_depth", "rays"},
    "depth_a_centimetre_off": {"again_depth", "rays"},
    "normals_in_world_space": {"again_normal", "normals"},
    "albedo_gamma_twice": {"again_albedo"},
    "entity_anti_aliased": {"again_entity", "validity"},
    "flow_backwards": {"again_flow", "flow"},
    "camera_half_a_degree_off_one_frame": {"rays", "again_depth", "rgb_place"},
    "camera_a_centimetre_off_one_frame": {"rays", "again_depth"},
    "frame_dropped": {"rays", "flow", "again_depth"},
    "take_key_edited": {"take_replay"},
    "take_body_moved": {"take_replay"},
}


@pytest.mark.parametrize("kind", sorted(CASES))
def test_a_fault_in_the_pictures_or_the_take_is_found_by_its_check(break_shot: Break, kind: str) -> None:
    result = break_shot(kind)
    assert CASES[kind] <= set(result.failed), (result.what, sorted(result.failed))
    assert "manifest" not in result.failed
    for name in CASES[kind]:
        check = result.failed[name]
        assert check.frame is not None and check.value is not None and check.limit is not None


def test_every_kind_of_fault_is_named_once() -> None:
    assert len(FAULTS) > 90 and all(name == fault.name for name, fault in FAULTS.items())


def test_a_fault_does_not_take_the_place_of_another_of_its_name() -> None:
    before = FAULTS["bit_flipped"]
    with pytest.raises(ValueError, match="bit_flipped"):
        fault("bit_flipped")(lambda shop, rng: None)
    assert FAULTS["bit_flipped"] is before
