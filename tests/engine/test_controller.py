"""A person on foot: what the keys do, and what becomes of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Flag
from worldwright.engine.panda import PandaEngine
from worldwright.errors import WorldwrightError

GO, BACK, LEFT, RIGHT = (KEY_BITS[k] for k in ("forward", "back", "left", "right"))
RUN, JUMP, CROUCH, USE = (KEY_BITS[k] for k in ("run", "jump", "crouch", "use"))


# --- on open ground ---


@pytest.mark.parametrize(
    ("keys", "speed", "degrees"),
    [
        (GO, 1.5, 0),
        (BACK, 1.5, 180),
        (LEFT, 1.5, 90),
        (RIGHT, 1.5, -90),
        (GO | RUN, 3.6, 0),
        (GO | LEFT, 1.5, 45),
        (BACK | RIGHT | RUN, 3.6, -135),
    ],
)
def test_a_key_goes_another_way_or_speed(kit: Any, keys: int, speed: float, degrees: float) -> None:
    """Seen from a body that looks along yaw 0.5; diagonals are no faster."""
    played = kit.play(kit.world(yaw=0.5), keys, 1.0)
    vx, vy, vz = played.last.velocity
    assert math.hypot(vx, vy) == pytest.approx(speed, rel=1e-3)
    assert math.remainder(math.atan2(vy, vx) - 0.5 - math.radians(degrees), 2 * math.pi) == pytest.approx(0, abs=1e-3)
    assert abs(vz) < 0.01
    assert played.last.flags == 0


def test_opposite_keys_move(kit: Any) -> None:
    assert kit.play(kit.world(), GO | BACK, 0.3).path[-1] == pytest.approx([0, 0, 0], abs=2e-3)


def test_mouse_counts_arrive_a_tick_late_or_turn_the_wrong_way(kit: Any) -> None:
    engine = PandaEngine()
    engine.load(kit.world(), {})
    from worldwright.controls import Control

    engine.tick(Control(0, 100, 40))
    state = engine.state().characters[0]
    assert state.yaw == pytest.approx(-100 * MOUSE_RADIANS)
    assert state.pitch == pytest.approx(-40 * MOUSE_RADIANS)
    for _ in range(30):
        engine.tick(Control(0, 0, -100))
    assert engine.state().characters[0].pitch == pytest.approx(1.4)


def test_the_feet_tremble_while_standing_or_walking(kit: Any) -> None:
    still = kit.play(kit.world(spawn=(0, 0, 0.01)), 0, 1.0)
    assert np.ptp(still.path[24:], axis=0) == pytest.approx([0, 0, 0], abs=1e-9)
    walk = kit.play(kit.world(), GO, 1.0)
    assert abs(walk.path[:, 2]).max() < 0.0015
    assert abs(np.diff(walk.path[:, 2])).max() < 4e-4


# --- up and down ---


@pytest.mark.parametrize(("angle", "climbs"), [(15, True), (30, True), (44, True), (60, False), (80, False)])
def test_a_slope_is_climbed_that_is_too_steep_or_refused_that_is_not(kit: Any, angle: float, climbs: bool) -> None:
    played = kit.play(kit.world(kit.ramp(angle)), GO, 2.6 if climbs else 1.5)
    x, _, z = played.path[-1]
    if climbs:
        assert z == pytest.approx((x - 1) * math.tan(math.radians(angle)), abs=0.02)
        assert x > 3.5
        assert not any(f & (Flag.AIRBORNE | Flag.BLOCKED) for f in played.flags())
    else:
        assert z < 0.1
        assert x < 1.1
        assert played.flags(300)[0] & Flag.BLOCKED


def test_a_person_stands_on_a_slope_too_steep_or_is_airborne_while_sliding(kit: Any) -> None:
    ramp = kit.ramp(60, run=6)
    played = kit.play(kit.world(ramp, spawn=(5, 0, 8)), 0, 3.0)
    sliding = [bool(f & Flag.SLIDING) for f in played.flags()]
    assert sum(sliding) > 100
    assert not any(f & Flag.SLIDING and f & Flag.AIRBORNE for f in played.flags())
    assert played.path[-1][0] < 1
    assert played.path[-1][2] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("height", [0.1, 0.2, 0.34])
def test_stairs_stop_a_person(kit: Any, height: float) -> None:
    played = kit.play(kit.world(kit.stairs(height)), GO, 3.0)
    assert played.path[-1][2] == pytest.approx(4 * height, abs=0.01)
    assert played.path[-1][0] > 3.5, "stairs cost no time"
    assert not any(f & Flag.AIRBORNE for f in played.flags())
    # Seen from the feet it is a slope, not jumps.
    assert np.abs(np.diff(played.path[:, 2])).max() < 0.03
    if height > 0.3:
        assert any(f & Flag.STEPPING for f in played.flags())


def test_a_high_step_is_climbed(kit: Any) -> None:
    played = kit.play(kit.world(kit.stairs(0.6)), GO, 2.0)
    assert played.path[-1][2] == pytest.approx(0, abs=0.01)
    assert played.last.flags == Flag.BLOCKED


def test_going_down_stairs_is_a_fall(kit: Any) -> None:
    played = kit.play(kit.world(kit.stairs(0.2), spawn=(3, 0, 0.8), yaw=math.pi), GO, 3.0)
    assert played.path[-1][2] == pytest.approx(0, abs=0.01)
    assert not any(f & Flag.AIRBORNE for f in played.flags())
    assert "fall" not in played.kinds()


def test_a_jump_has_another_apex_or_lands_unheard(kit: Any) -> None:
    played = kit.play(kit.world(), lambda t: JUMP if t < 400 else 0, 1.5)
    assert played.path[:, 2].max() == pytest.approx(4.2**2 / (2 * 9.81), abs=0.01)
    assert [e.kind for e in played.events] == ["jump", "land"]
    land = played.events[1]
    assert land.value == pytest.approx(4.2, abs=0.1)
    assert land.tick == pytest.approx(2 * 4.2 / 9.81 * 240, abs=3)
    in_air = [bool(f & Flag.AIRBORNE) for f in played.flags()]
    assert in_air[0]
    assert sum(in_air) == pytest.approx(land.tick, abs=3)
    assert {s.characters[0].clip for s in played.states[:150]} == {"jump", "fall"}


def test_a_held_key_jumps_again_and_again(kit: Any) -> None:
    assert kit.play(kit.world(), JUMP, 2.0).kinds().count("jump") == 1


def test_walking_off_an_edge_is_no_fall(kit: Any) -> None:
    played = kit.play(kit.world(kit.box("top", (4, 4, 3), (0, 0, 1.5)), spawn=(1, 0, 3)), GO, 2.0)
    assert played.kinds() == ["fall", "land"]
    # It falls from a bit below the edge, which the round capsule rolls over.
    assert played.events[1].value == pytest.approx(math.sqrt(2 * 9.81 * 2.9), abs=0.3)


def test_a_low_ceiling_lets_one_through_or_a_head_into_it(kit: Any) -> None:
    beam = kit.box("beam", (3, 4, 0.3), (3, 0, 1.45))
    upright = kit.play(kit.world(beam), GO, 2.0)
    assert upright.path[-1][0] < 1.3
    assert upright.last.flags & Flag.BLOCKED
    under = kit.play(kit.world(beam), lambda t: (GO if t < 800 else 0) | (CROUCH if t < 700 else 0), 4.0)
    assert under.path[-1][0] > 2
    assert under.last.flags & Flag.CROUCHED, "no room to stand up"
    assert under.last.clip == "crouch"
    assert max(s.cameras["first"][2, 3] for s in under.states[-100:]) < 1.3


def test_the_view_jumps_on_the_way_down_stairs_in_crouching_or_in_landing(kit: Any) -> None:
    """The capsule goes a step in a tick; eye and feet take some ticks for it."""
    down = kit.play(kit.world(kit.stairs(0.3), spawn=(3, 0, 1.2), yaw=math.pi), GO | RUN, 1.0)
    assert down.path[-1][2] == pytest.approx(0, abs=0.03)
    assert np.abs(np.diff(eye_heights(down))).max() < 0.025
    crouch = kit.play(kit.world(), lambda t: CROUCH if t > 10 else 0, 0.4)
    assert np.abs(np.diff(eye_heights(crouch))).max() < 0.0126
    landed = kit.play(kit.world(spawn=(0, 0, 0.4)), 0, 0.5)
    assert landed.kinds() == ["land"]
    assert np.diff(landed.path[:, 2]).max() < 0.002


def eye_heights(played: Any) -> Any:
    return np.array([s.cameras["first"][2, 3] for s in played.states])


def test_a_jump_goes_through_a_ceiling(kit: Any) -> None:
    played = kit.play(kit.world(kit.box("roof", (4, 4, 0.2), (0, 0, 2.2))), JUMP, 1.0)
    assert played.path[:, 2].max() < 2.1 - 1.75 + 0.01


# --- walls ---


def test_a_wall_lets_one_through_or_is_not_told(kit: Any) -> None:
    played = kit.play(kit.world(kit.box("wall", (0.2, 10, 3), (2, 0, 1.5))), GO, 2.0)
    assert played.path[:, 0].max() < 1.6
    assert played.path[-1][0] == pytest.approx(1.6, abs=0.01)
    assert all(f == Flag.BLOCKED for f in played.flags(400))
    assert not any(f & Flag.BLOCKED for f in played.flags()[:200])
    assert [1, 3] in played.states[-1].contacts.tolist() and [2, 3] in played.states[-1].contacts.tolist()


@pytest.mark.parametrize("yaw", [0.4, 0.7, 1.0])
def test_a_wall_holds_one_that_goes_along_it(kit: Any, yaw: float) -> None:
    played = kit.play(kit.world(kit.box("wall", (0.2, 40, 3), (1, 0, 1.5)), yaw=yaw), GO, 2.0)
    assert played.path[:, 0].max() < 0.61
    vy = (played.path[-1][1] - played.path[-240][1]) / (239 / 240)
    assert vy == pytest.approx(1.5 * math.sin(yaw), rel=0.05)
    tail = played.flags(240)
    assert sum(bool(f & Flag.SLIDING) for f in tail) > 0.8 * len(tail)
    assert not any(f & Flag.BLOCKED for f in tail)


def test_a_corner_is_left_through_its_gap(kit: Any) -> None:
    walls = [kit.box("a", (0.2, 10, 3), (2, 0, 1.5)), kit.box("b", (10, 0.2, 3), (0, 2, 1.5))]
    played = kit.play(kit.world(*walls, yaw=0.8), GO | RUN, 2.0)
    assert played.path[:, :2].max() < 1.605
    assert played.last.flags & Flag.BLOCKED
    assert np.ptp(played.path[-120:], axis=0) == pytest.approx([0, 0, 0], abs=5e-3)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_somebody_leaves_a_closed_room(kit: Any, seed: int) -> None:
    """Random keys in a room with a pillar, a ramp and steps: never out, never below the floor, and always finite."""
    rng = np.random.default_rng(seed)
    room = [
        kit.box(f"w{k}", s, p)
        for k, (s, p) in enumerate(
            [((0.2, 8, 4), (4, 0, 2)), ((0.2, 8, 4), (-4, 0, 2)), ((8, 0.2, 4), (0, 4, 2)), ((8, 0.2, 4), (0, -4, 2))]
        )
    ]
    pillar = kit.thing("pillar", {"shape": "cylinder", "radius": 0.3, "height": 4}, (2, 1, 2))
    wedge = kit.thing("wedge", {"shape": "wedge", "size": (2, 2, 1)}, (-2, 2, 0.5))
    rock = kit.thing("rock", {"shape": "cone", "radius": 0.8, "height": 0.9}, (-2, -2, 0.45))
    crate = kit.box("crate", (0.5, 0.5, 0.5), (1.5, -2, 0.25), body="dynamic", mass=12)
    keys = [int(k) for k in rng.integers(0, 128, 40)]
    turns = [int(k) for k in rng.integers(-40, 41, 40)]
    played = kit.play(
        kit.world(*room, pillar, wedge, rock, crate), lambda t: keys[t // 30], 4.0, mouse=lambda t: (turns[t // 30], 0)
    )
    assert np.isfinite(played.path).all()
    assert np.abs(played.path[:, :2]).max() < 3.65
    assert played.path[:, 2].min() > -0.03
    assert played.body().min() > -4 and played.body()[:, 2].min() > 0.2


# --- others ---


def test_a_light_crate_stays_or_a_heavy_one_goes(kit: Any) -> None:
    light = kit.play(kit.world(kit.box("crate", (0.8, 0.8, 0.8), (1.5, 0, 0.4), body="dynamic", mass=25)), GO, 3.0)
    assert light.body()[-1][0] > 3.5
    assert light.last.flags == Flag.PUSHING
    assert light.last.clip == "push"
    assert [(e.kind, e.other) for e in light.events] == [("push", 2)]
    heavy = kit.play(kit.world(kit.box("crate", (0.8, 0.8, 0.8), (1.5, 0, 0.4), body="dynamic", mass=250)), GO, 1.5)
    assert heavy.body()[-1][0] == pytest.approx(1.5, abs=0.005)
    assert heavy.last.flags == Flag.PUSHING | Flag.BLOCKED


def test_use_adds_no_strength(kit: Any) -> None:
    """80 kg on a friction of 0.6 need 471 N: more than a push of 350 N, less than one with both hands."""
    far = {}
    for keys in (GO, GO | USE):
        played = kit.play(kit.world(kit.box("crate", (0.8, 0.8, 0.8), (1.2, 0, 0.4), body="dynamic", mass=80)), keys, 2.0)
        far[keys] = played.body()[-1][0]
    assert far[GO] < 1.22
    assert far[GO | USE] > 1.4


def test_crouching_hurls_away_what_one_stands_on_or_a_step_what_stands_beside_it(kit: Any) -> None:
    """The body's middle goes down by 0.35 m in a tick, or up by a step: that is no speed that others feel."""
    lying = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    log = kit.thing(
        "log",
        {"shape": "cylinder", "radius": 0.35, "height": 1.6},
        (0, 0, 0.35),
        rotation=lying,
        body="dynamic",
        mass=30,
        friction=0.9,
    )
    on = kit.play(kit.world(log, spawn=(0.1, 0, 0.72)), lambda t: CROUCH if t > 40 else 0, 0.4)
    assert fastest(on) < 3.5
    crate = kit.box("crate", (1.0, 0.6, 0.6), (1.3, 0.6, 0.3), body="dynamic", mass=10)
    steps = [kit.box("low", (4, 0.5, 0.3), (2.8, 0, 0.15)), kit.box("high", (3, 0.5, 0.6), (2.8, 0, 0.3))]
    beside = kit.play(kit.world(crate, steps, spawn=(0, 0.12, 0)), GO, 1.3)
    assert beside.path[-1][2] == pytest.approx(0.6, abs=0.05)
    assert fastest(beside) < 1


def fastest(played: Any) -> float:
    return max(float(np.abs(s.linear).max()) for s in played.states)


def door(kit: Any, **joint: Any) -> Any:
    hinge = {"kind": "hinge", "anchor": (-0.45, 0, 0), "lower": -1.9, "upper": 1.9, "friction": 1.0} | joint
    return kit.box("door", (0.9, 0.05, 2), (1.5, 0, 1.02), body="dynamic", mass=20, rotation=kit.about_z(math.pi / 2), joint=hinge)


def test_a_door_stays_shut_when_walked_against(kit: Any) -> None:
    played = kit.play(kit.world(door(kit)), GO, 3.0)
    assert played.path[-1][0] > 2.5
    assert "door" in played.kinds()


@pytest.mark.parametrize("limits", [{"lower": -1.9, "upper": 0.0}, {"lower": 0.0, "upper": 1.9}])
def test_use_opens_no_door_or_only_one_way(kit: Any, limits: dict[str, float]) -> None:
    """Away from oneself where the hinge lets it, else towards."""
    played = kit.play(kit.world(door(kit, **limits), spawn=(0.3, 0, 0)), USE, 2.0)
    opened = [e for e in played.events if e.kind == "door"]
    assert len(opened) == 1
    assert opened[0].entity == 2
    assert opened[0].value > math.radians(20)


def test_a_platform_leaves_its_rider_behind(kit: Any) -> None:
    lift = kit.box("lift", (2, 2, 0.3), (0, 0, -0.14), body="kinematic", path={"kind": "shuttle", "to": (4, 1, 1.5), "period": 4})
    played = kit.play(kit.world(lift, spawn=(0.2, 0, 0.02)), 0, 2.0)
    assert played.path[-1] == pytest.approx([4.2, 1, 1.65], abs=0.01)
    assert played.last.ground == 2
    assert not any(played.flags())


def test_a_moving_wall_goes_through_a_person(kit: Any) -> None:
    wall = kit.box("wall", (1, 2, 2), (-3, 0, 1.2), body="kinematic", path={"kind": "shuttle", "to": (1, 0, 1.2), "period": 4})
    played = kit.play(kit.world(wall), 0, 2.5)
    assert played.path[-1][0] == pytest.approx(1.8, abs=0.03)
    assert (played.path[:, 0] - played.body()[:, 0] > 0.5 + 0.28).all()


def test_a_boulder_stops_dead_at_a_person(kit: Any) -> None:
    """300 kg at about 3 m/s take 70 kg along."""
    rock = {"shape": "sphere", "radius": 0.6}
    played = kit.play(kit.world(kit.thing("rock", rock, (-2.5, 0, 0.6), body="dynamic", mass=300, velocity=(4, 0, 0))), 0, 2.0)
    assert played.path[-1][0] > 0.5
    assert (played.path[:, 0] - played.body()[:, 0] > 0.8).all()


def test_a_person_on_a_seesaw_weighs_nothing(kit: Any) -> None:
    plank = kit.box(
        "plank",
        (4, 0.8, 0.1),
        (0, 0, 0.6),
        body="dynamic",
        mass=20,
        joint={"kind": "hinge", "anchor": (0, 0, 0), "axis": (0, 1, 0), "lower": -0.2, "upper": 0.2},
    )
    played = kit.play(kit.world(plank, spawn=(1.5, 0, 0.66)), 0, 2.0)
    q = played.states[-1].rotations[0]
    assert 2 * math.atan2(q[2], q[0]) == pytest.approx(0.2, abs=0.03), "his end goes down"
    assert played.last.ground == 2
    assert played.last.position[2] < 0.5


# --- places ---


def test_a_goal_is_reached_unheard_or_twice(kit: Any) -> None:
    world = kit.world(goals=[{"name": "far", "position": (30, 0, 0)}, {"name": "near", "position": (1, 0, 0), "radius": 0.4}])
    played = kit.play(world, lambda t: GO if t < 240 else BACK, 2.0)
    assert [(e.kind, e.value) for e in played.events] == [("goal", 1.0)]


def test_leaving_the_bounds_is_unheard_or_told_again_and_again(kit: Any) -> None:
    world = kit.world(bounds={"min": (-5, -5, -5), "max": (1, 5, 5)})
    assert kit.play(world, GO, 1.5).kinds() == ["out_of_bounds"]


@pytest.mark.parametrize(
    "entity",
    [
        {"shape": "box", "size": (1, 1, 1)},
        {"shape": "cylinder", "radius": 4, "height": 9},
        {"shape": "sphere", "radius": 3},
    ],
)
def test_a_spawn_inside_a_wall_is_accepted(kit: Any, entity: dict[str, Any]) -> None:
    """Also deep inside a closed mesh, none of whose triangles the body touches."""
    engine = PandaEngine()
    with pytest.raises(WorldwrightError) as caught:
        engine.load(kit.world(kit.thing("block", entity, (0.1, 0, 0.9)), spawn=(0, 0, 0.01)), {})
    assert "'block'" in caught.value.line()
    assert "spawn" in caught.value.line()


def test_a_spawn_high_in_the_air_is_refused(kit: Any) -> None:
    played = kit.play(kit.world(spawn=(0, 0, 3)), 0, 1.2)
    assert played.kinds() == ["land"]
    assert played.path[-1][2] == pytest.approx(0, abs=0.01)
