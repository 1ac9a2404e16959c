"""The built-in humanoid's motions: every clip of ``CLIP_NAMES``, made from a few designed curves.

Speeds and lengths grow with the leg (Froude scaling is close to that at equal cadence), so that every build walks naturally.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.humanoid_gait import Gait, foot_path
from worldwright.assets.humanoid_pose import Angles, Arm, Foot, Motion, mirrored, solve
from worldwright.assets.humanoid_rig import ANKLE, SIDES, Rig
from worldwright.assets.model import CLIP_RATE, Clip

F64 = NDArray[np.float64]
TAU = math.tau
ADULT_LEG = 0.515 * 1.75
"""Metres from hip to sole of the figure that the speeds below are for."""


def humanoid_clips(rig: Rig) -> dict[str, Clip]:
    """All clips of the built-in humanoid."""
    return {
        "idle": _idle(rig),
        "walk": _walk(rig),
        "run": _run(rig),
        "strafe_left": _strafe(rig, left=True),
        "strafe_right": _strafe(rig, left=False),
        "back": _back(rig),
        "jump": _jump(rig),
        "fall": _fall(rig),
        "push": _push(rig),
        "crouch": _crouch(rig),
        "crouch_walk": _crouch_walk(rig),
    }


def _scale(rig: Rig) -> float:
    return float(rig.place["thigh.l"][2]) / ADULT_LEG


def _phases(seconds: float) -> F64:
    count = round(seconds * CLIP_RATE)
    return np.arange(count) / count


def _clip(rig: Rig, name: str, motion: Motion, *, loop: bool, speed: float = 0.0) -> Clip:
    translations, rotations = solve(rig, motion)
    return Clip(
        name=name,
        translations=translations.astype(np.float32),
        rotations=rotations.astype(np.float32),
        scales=np.ones_like(translations, dtype=np.float32),
        loop=loop,
        speed=speed,
    )


def _wave(phase: F64, shift: float = 0.0, times: int = 1) -> F64:
    """Cosine of a phase in cycles: 1 at ``shift``."""
    return np.cos(TAU * times * (phase - shift))


def _limit_hips(rig: Rig, hips: F64, feet: dict[str, Foot], straight: float) -> F64:
    """Lower the whole path of the hips so far that no leg is longer than the share ``straight`` of its length."""
    room = np.inf
    for side, foot in feet.items():
        thigh, shin, ankle = (rig.place[f"{part}.{side}"] for part in ("thigh", "shin", "foot"))
        length = straight * (np.linalg.norm(shin - thigh) + np.linalg.norm(ankle - shin))
        socket = hips + (thigh - rig.place["hips"])
        flat = np.sum((foot.ankle - socket)[:, :2] ** 2, axis=1)
        highest = foot.ankle[:, 2] + np.sqrt(np.maximum(length**2 - flat, (0.3 * length) ** 2))
        room = min(room, float(np.min(highest - socket[:, 2])))
    return hips + np.array([0.0, 0.0, min(room, 0.0)])


def _feet_of(rig: Rig, phase: F64, gait: Gait, *, narrow: float = 1.0, backwards: bool = False) -> dict[str, Foot]:
    """Both feet of a symmetric gait: left touches down at phase 0, right half a cycle later."""
    feet = {}
    for side, sign in SIDES:
        own = phase if sign > 0 else phase + 0.5
        path = foot_path(gait, -own + gait.duty if backwards else own, rig.height)
        y = np.full(len(phase), rig.place[f"foot.{side}"][1] * narrow)
        feet[side] = Foot(
            ankle=np.stack([path[:, 0], y, path[:, 1]], axis=1), pitch=path[:, 2], toes=path[:, 3], yaw=sign * 0.08, knee_out=0.06
        )
    return feet


def _hips(rig: Rig, phase: F64, *, x: F64 | float = 0.0, y: F64 | float = 0.0, z: F64 | float = 0.0) -> F64:
    """The path of the hips around their place at rest."""
    path = np.empty((len(phase), 3))
    path[:, 0], path[:, 1], path[:, 2] = x, y, rig.place["hips"][2] + z
    return path


def _standing_feet(rig: Rig, count: int, *, wide: float = 1.15, ahead: float = 0.0) -> dict[str, Foot]:
    feet = {}
    for side, sign in SIDES:
        at = rig.place[f"foot.{side}"] * np.array([1.0, wide, 1.0]) + np.array([sign * ahead, 0.0, 0.0])
        feet[side] = Foot(ankle=np.tile(at, (count, 1)), yaw=sign * 0.14, knee_out=0.10)
    return feet


def _idle(rig: Rig) -> Clip:
    """Breathing, weight shifting slowly from leg to leg, a look around."""
    phase = _phases(4.0)
    h = rig.height
    breath, sway = _wave(phase, 0.1, 2), _wave(phase, 0.25)
    feet = _standing_feet(rig, len(phase))
    hips = _limit_hips(rig, _hips(rig, phase, y=0.008 * h * sway, z=-0.004 * h), feet, 0.995)
    arms = {
        "l": Arm(spread=0.13 + 0.012 * breath, swing=0.02 * _wave(phase, 0.4), elbow=0.24 + 0.02 * breath, shrug=0.015 * breath),
        "r": Arm(
            spread=0.13 + 0.012 * breath, swing=0.03 + 0.02 * _wave(phase, 0.7), elbow=0.28 + 0.02 * breath, shrug=0.015 * breath
        ),
    }
    return _clip(
        rig,
        "idle",
        Motion(
            hips=hips,
            feet=feet,
            arms=arms,
            pelvis=Angles(roll=-0.015 * sway),
            spine=Angles(pitch=0.01, roll=0.02 * sway),
            chest=Angles(pitch=-0.015 - 0.012 * breath),
            neck=Angles(pitch=0.03),
            head=Angles(pitch=-0.02 + 0.008 * breath, yaw=0.10 * _wave(phase, 0.6)),
        ),
        loop=True,
    )


def _stride_arms(
    phase: F64, *, swing: float, ahead: float, elbow: float, flex: float, spread: float = 0.10, inward: float = 0.3
) -> dict[str, Arm]:
    """Arms of a gait: each goes forward with the other side's leg and bends more in front."""
    arms = {}
    for side, sign in SIDES:
        forward = -sign * _wave(phase, 0.02)
        arms[side] = Arm(swing=ahead + swing * forward, spread=spread, elbow=elbow + flex * forward, inward=inward, curl=0.45)
    return arms


def _walk(rig: Rig) -> Clip:
    k = _scale(rig)
    speed, duty, h = 1.5 * k, 0.60, rig.height
    phase = _phases(0.94)
    period = len(phase) / CLIP_RATE
    gait = Gait(duty, speed * duty * period, land=0.30, leave=0.95, flat=(0.16, 0.50), lift=0.030 * h, centre=-0.045 * h)
    feet = _feet_of(rig, phase, gait, narrow=0.85)
    hips = _hips(rig, phase, x=0.0, y=0.013 * h * _wave(phase, 0.3), z=0.011 * h * _wave(phase, 0.30, 2))
    return _clip(
        rig,
        "walk",
        Motion(
            hips=_limit_stance(rig, hips, feet, phase, duty),
            feet=feet,
            arms=_stride_arms(phase, swing=0.38, ahead=0.0, elbow=0.32, flex=0.17),
            pelvis=Angles(pitch=0.03, roll=-0.035 * _wave(phase, 0.2), yaw=-0.09 * _wave(phase)),
            spine=Angles(pitch=0.02, roll=0.03 * _wave(phase, 0.2), yaw=0.06 * _wave(phase)),
            chest=Angles(pitch=-0.02, roll=0.01 * _wave(phase, 0.2), yaw=0.13 * _wave(phase)),
            neck=Angles(yaw=-0.05 * _wave(phase), pitch=0.02),
            head=Angles(yaw=-0.05 * _wave(phase), pitch=-0.04 + 0.012 * _wave(phase, 0.1, 2)),
        ),
        loop=True,
        speed=speed,
    )


def _run(rig: Rig) -> Clip:
    k = _scale(rig)
    speed, duty, h = 3.6 * k, 0.33, rig.height
    phase = _phases(0.68)
    period = len(phase) / CLIP_RATE
    gait = Gait(duty, speed * duty * period, land=0.06, leave=1.05, flat=(0.12, 0.40), lift=0.13 * h, centre=-0.065 * h)
    feet = _feet_of(rig, phase, gait, narrow=0.55)
    bounce = 0.022 * h * -_wave(phase, duty / 2, 2)
    hips = _hips(rig, phase, x=0.02 * h, y=0.006 * h * _wave(phase, 0.18), z=bounce - 0.015 * h)
    return _clip(
        rig,
        "run",
        Motion(
            hips=_limit_stance(rig, hips, feet, phase, duty),
            feet=feet,
            arms=_stride_arms(phase, swing=0.72, ahead=-0.05, elbow=1.45, flex=0.22, spread=0.20, inward=0.45),
            pelvis=Angles(pitch=0.12, roll=-0.03 * _wave(phase, 0.15), yaw=-0.16 * _wave(phase)),
            spine=Angles(pitch=0.06, yaw=0.10 * _wave(phase)),
            chest=Angles(pitch=0.03, yaw=0.24 * _wave(phase)),
            neck=Angles(pitch=-0.06, yaw=-0.09 * _wave(phase)),
            head=Angles(pitch=-0.10, yaw=-0.09 * _wave(phase)),
        ),
        loop=True,
        speed=speed,
    )


def _limit_stance(rig: Rig, hips: F64, feet: dict[str, Foot], phase: F64, duty: float) -> F64:
    """As ``_limit_hips``, for the frames in which a foot is on the ground; a leg that trails in the air is bent by the solver anyway."""
    room = 0.0
    for side, shift in (("l", 0.0), ("r", 0.5)):
        on = (phase + shift) % 1.0 <= duty
        held = {side: Foot(ankle=feet[side].ankle[on])}
        room = min(room, float((_limit_hips(rig, hips[on], held, 0.997) - hips[on])[0, 2]))
    return hips + np.array([0.0, 0.0, room])


def _back(rig: Rig) -> Clip:
    """Walking backwards: the foot reaches back, lands on its ball and rolls to the heel: a short walk seen in reverse."""
    k = _scale(rig)
    speed, duty, h = 1.15 * k, 0.62, rig.height
    phase = _phases(0.92)
    period = len(phase) / CLIP_RATE
    gait = Gait(duty, speed * duty * period, land=0.10, leave=0.60, flat=(0.2, 0.6), lift=0.032 * h, centre=-0.02 * h)
    feet = _feet_of(rig, phase, gait, narrow=1.0, backwards=True)
    hips = _hips(rig, phase, x=-0.008 * h, y=0.014 * h * _wave(phase, 0.3), z=-0.012 * h - 0.008 * h * _wave(phase, 0.1, 2))
    return _clip(
        rig,
        "back",
        Motion(
            hips=_limit_hips(rig, hips, feet, 0.99),
            feet=feet,
            arms=_stride_arms(phase, swing=0.20, ahead=0.06, elbow=0.45, flex=0.08, spread=0.16),
            pelvis=Angles(pitch=0.06, yaw=0.05 * _wave(phase, 0.1), roll=-0.03 * _wave(phase, 0.3)),
            spine=Angles(pitch=0.05, roll=0.03 * _wave(phase, 0.3)),
            chest=Angles(pitch=0.02, yaw=-0.10 * _wave(phase, 0.1)),
            head=Angles(pitch=-0.08, yaw=0.04 * _wave(phase, 0.1)),
        ),
        loop=True,
        speed=speed,
    )


def _strafe(rig: Rig, *, left: bool) -> Clip:
    """A side-step: the leading foot reaches out while the other carries, then the other closes up; the feet never cross."""
    k = _scale(rig)
    speed, duty, h = 1.4 * k, 0.54, rig.height
    phase = _phases(0.50)
    period = len(phase) / CLIP_RATE
    travel = speed * duty * period
    gait = Gait(duty, travel, land=0.0, leave=0.0, flat=(0.0, 0.9), lift=0.035 * h)
    apart = travel / 2 + 0.035 * h
    feet = {}
    for side, sign, shift in (("l", 1.0, 0.0), ("r", -1.0, 0.5)):
        path = foot_path(gait, phase + shift, rig.height)
        across = path[:, 0] + sign * apart
        airborne = (path[:, 1] - ANKLE * h) / gait.lift
        ankle = np.stack([np.full(len(phase), rig.place["foot.l"][0] + 0.01 * h * sign), across, path[:, 1]], axis=1)
        feet[side] = Foot(ankle=ankle, pitch=-0.25 * airborne, toes=0.0, yaw=sign * 0.10, knee_out=0.16)
    hips = _hips(rig, phase, y=0.010 * h * _wave(phase, 0.15), z=-0.035 * h + 0.012 * h * _wave(phase, 0.28, 2))
    arms = {
        side: Arm(swing=0.18, spread=0.30 + 0.10 * _wave(phase, 0.1), elbow=0.75 + 0.08 * _wave(phase, 0.2), inward=0.35, curl=0.5)
        for side, _ in SIDES
    }
    motion = Motion(
        hips=_limit_hips(rig, hips, feet, 0.99),
        feet=feet,
        arms=arms,
        pelvis=Angles(pitch=0.08, roll=-0.05 + 0.03 * _wave(phase, 0.1)),
        spine=Angles(pitch=0.06, roll=0.03 - 0.03 * _wave(phase, 0.1)),
        chest=Angles(pitch=0.02),
        head=Angles(pitch=-0.12),
    )
    return _clip(rig, "strafe_left" if left else "strafe_right", motion if left else mirrored(motion), loop=True, speed=speed)


def _airborne_feet(rig: Rig, tuck: F64, *, split: float) -> dict[str, Foot]:
    """Feet drawn up by ``tuck`` (a share of the height), one a little ahead of the other, toes hanging."""
    feet = {}
    for side, sign in SIDES:
        at = rig.place[f"foot.{side}"]
        ankle = np.stack(
            [at[0] + sign * split * rig.height - 0.4 * tuck * rig.height, np.full(len(tuck), at[1]), at[2] + tuck * rig.height],
            axis=1,
        )
        feet[side] = Foot(ankle=ankle, pitch=-0.45 - 1.2 * tuck, toes=-0.1, yaw=sign * 0.08, knee_out=0.12)
    return feet


def _jump(rig: Rig) -> Clip:
    """From the push-off to the top: the body stretches, the arms fly up, the legs are drawn in. Holds its last frame."""
    t = np.arange(round(0.6 * CLIP_RATE)) / CLIP_RATE
    rise = np.clip(t / 0.30, 0, 1)
    rise = rise * rise * (3 - 2 * rise)
    late = np.clip((t - 0.05) / 0.40, 0, 1)
    tuck = 0.005 + 0.105 * late * late * (3 - 2 * late)
    hips = _hips(rig, t, x=0.01 * rig.height, z=-0.02 * rig.height * (1 - rise))
    arms = {
        side: Arm(
            swing=-0.35 + (1.45 if sign > 0 else 1.25) * rise,
            spread=0.28 + 0.25 * rise,
            elbow=0.5 + 0.45 * rise,
            inward=0.2,
            curl=0.4,
        )
        for side, sign in SIDES
    }
    return _clip(
        rig,
        "jump",
        Motion(
            hips=hips,
            feet=_airborne_feet(rig, tuck, split=0.045),
            arms=arms,
            pelvis=Angles(pitch=0.16 - 0.06 * rise),
            spine=Angles(pitch=0.10 - 0.08 * rise),
            chest=Angles(pitch=0.04 - 0.08 * rise),
            head=Angles(pitch=-0.12),
        ),
        loop=False,
    )


def _fall(rig: Rig) -> Clip:
    """Legs reaching for the ground, arms out for balance, all of it swaying."""
    phase = _phases(0.9)
    tuck = 0.055 + 0.012 * _wave(phase, 0.2)
    arms = {
        side: Arm(
            swing=0.25 + 0.12 * _wave(phase, 0.3 if sign > 0 else 0.8),
            spread=0.95 + 0.10 * _wave(phase, 0.1 if sign > 0 else 0.6),
            elbow=0.75,
            inward=0.1,
            curl=0.2,
        )
        for side, sign in SIDES
    }
    return _clip(
        rig,
        "fall",
        Motion(
            hips=_hips(rig, phase),
            feet=_airborne_feet(rig, tuck, split=0.03),
            arms=arms,
            pelvis=Angles(pitch=0.12, roll=0.02 * _wave(phase)),
            spine=Angles(pitch=0.08),
            chest=Angles(pitch=0.03, roll=-0.02 * _wave(phase)),
            head=Angles(pitch=0.05),
        ),
        loop=True,
    )


def _push(rig: Rig) -> Clip:
    """Leaning in, arms straight ahead, short heavy steps."""
    k = _scale(rig)
    speed, duty, h = 0.9 * k, 0.64, rig.height
    phase = _phases(0.95)
    period = len(phase) / CLIP_RATE
    gait = Gait(duty, speed * duty * period, land=0.10, leave=0.95, flat=(0.14, 0.45), lift=0.03 * h, centre=-0.115 * h)
    feet = _feet_of(rig, phase, gait, narrow=1.05)
    hips = _hips(rig, phase, x=-0.045 * h, y=0.010 * h * _wave(phase, 0.3), z=-0.03 * h - 0.006 * h * _wave(phase, 0.06, 2))
    effort = 0.03 * _wave(phase, 0.2, 2)
    arms = {
        side: Arm(swing=1.55 + effort, spread=0.10, elbow=0.42 - effort, inward=0.35, wrist=-0.9, curl=0.1, shrug=0.12)
        for side, _ in SIDES
    }
    return _clip(
        rig,
        "push",
        Motion(
            hips=_limit_hips(rig, hips, feet, 0.99),
            feet=feet,
            arms=arms,
            pelvis=Angles(pitch=0.26, roll=-0.03 * _wave(phase, 0.2), yaw=-0.06 * _wave(phase)),
            spine=Angles(pitch=0.13, yaw=0.03 * _wave(phase)),
            chest=Angles(pitch=0.06, yaw=0.03 * _wave(phase)),
            neck=Angles(pitch=-0.15),
            head=Angles(pitch=-0.25),
        ),
        loop=True,
        speed=speed,
    )


def _crouched(phase: F64, hips: F64, feet: dict[str, Foot], arms: dict[str, Arm], sway: float) -> Motion:
    return Motion(
        hips=hips,
        feet=feet,
        arms=arms,
        pelvis=Angles(pitch=0.50, yaw=-sway * _wave(phase)),
        spine=Angles(pitch=0.22, yaw=0.5 * sway * _wave(phase)),
        chest=Angles(pitch=0.12, yaw=0.8 * sway * _wave(phase)),
        neck=Angles(pitch=-0.28),
        head=Angles(pitch=-0.42, yaw=-0.3 * sway * _wave(phase)),
    )


def _crouch(rig: Rig) -> Clip:
    phase = _phases(3.0)
    h = rig.height
    feet = _standing_feet(rig, len(phase), wide=1.45, ahead=0.045 * h)
    for foot in feet.values():
        foot.knee_out = 0.30
    breath = _wave(phase, 0.1, 2)
    hips = _hips(rig, phase, x=-0.085 * h, y=0.003 * h * _wave(phase), z=-0.225 * h + 0.002 * h * breath)
    arms = {
        side: Arm(swing=0.85, spread=0.30 + 0.01 * breath, elbow=1.15 + 0.02 * breath, inward=0.45, curl=0.6) for side, _ in SIDES
    }
    return _clip(rig, "crouch", _crouched(phase, hips, feet, arms, 0.0), loop=True)


def _crouch_walk(rig: Rig) -> Clip:
    k = _scale(rig)
    speed, duty, h = 0.8 * k, 0.62, rig.height
    phase = _phases(0.98)
    period = len(phase) / CLIP_RATE
    gait = Gait(duty, speed * duty * period, land=0.12, leave=0.60, flat=(0.16, 0.5), lift=0.035 * h, centre=0.0)
    feet = _feet_of(rig, phase, gait, narrow=1.2)
    for foot in feet.values():
        foot.knee_out = 0.22
    hips = _hips(rig, phase, x=-0.075 * h, y=0.012 * h * _wave(phase, 0.3), z=-0.215 * h - 0.005 * h * _wave(phase, 0.06, 2))
    arms = _stride_arms(phase, swing=0.16, ahead=0.75, elbow=1.15, flex=0.08, spread=0.26, inward=0.45)
    return _clip(rig, "crouch_walk", _crouched(phase, hips, feet, arms, 0.08), loop=True, speed=speed)
