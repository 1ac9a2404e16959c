"""The player: which buttons our controls are, how the look follows the mouse, and what hinders a step.

Doom's player is pushed by the keys and slowed by friction (``PlayerPawn`` in ViZDoom's definitions; P_MovePlayer and P_XYMovement in
ZDoom): on the ground he goes by his speed plus the push in a tic, if nothing is in the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vizdoom import GameVariable

from worldwright.controls import KEY_BITS, MOUSE_RADIANS, Control, Flag
from worldwright.engine.vizdoom.game import STEPS, TURN_SLACK

_FORWARD, _BACK, _LEFT, _RIGHT = (KEY_BITS[k] for k in ("forward", "back", "left", "right"))
_RUN, _JUMP, _CROUCH, _USE = (KEY_BITS[k] for k in ("run", "jump", "crouch", "use"))
_BUTTONS = (_FORWARD, _BACK, _LEFT, _RIGHT, _RUN, _JUMP, _CROUCH, _USE, _USE)
"""The key of each button but the two deltas: ``use`` opens, pushes and fires."""

DEGREES = 360 / STEPS
LOOK_UP, LOOK_DOWN = math.radians(32), math.radians(56)
"""How far Doom's software renderer lets one look."""
STEP = math.tau / STEPS
"""Radians of the smallest turn."""

_V = GameVariable
VARIABLES = {
    "x": _V.POSITION_X, "y": _V.POSITION_Y, "z": _V.POSITION_Z, "u": _V.VELOCITY_X, "v": _V.VELOCITY_Y, "w": _V.VELOCITY_Z,
    "angle": _V.ANGLE, "pitch": _V.PITCH, "on_ground": _V.ON_GROUND, "health": _V.HEALTH, "armour": _V.ARMOR,
    "weapon": _V.SELECTED_WEAPON, "ammo": _V.SELECTED_WEAPON_AMMO, "kill": _V.KILLCOUNT, "item": _V.ITEMCOUNT, "secret": _V.SECRETCOUNT,
    "hurt": _V.DAMAGE_TAKEN, "hit": _V.DAMAGECOUNT,
}  # fmt: skip

PUSH = {False: (0.78125, 0.75), True: (1.5625, 1.25)}
"""Map units a tic that the keys add forward and sideways, walking and running."""
LEAST = 0.5
"""Map units a tic below which nobody wants to go anywhere."""
HELD_TURN = 2
"""Steps by which the look may miss where it was turned."""


@dataclass(slots=True)
class Look:
    """Where the mouse has turned the look to, in Doom's steps, exactly: it sends whole ones and keeps the rest."""

    yaw: float
    pitch: float

    def turn(self, control: Control, angle: float, pitch: float) -> tuple[float, float]:
        """The two deltas in degrees (right, up) that bring the look (degrees as the game has it) to where the mouse wants it."""
        self.yaw -= control.mouse_dx * MOUSE_RADIANS / STEP
        self.pitch -= control.mouse_dy * MOUSE_RADIANS / STEP
        self.pitch = max(-LOOK_DOWN / STEP, min(LOOK_UP / STEP, self.pitch))
        right = round(_short(angle / DEGREES - self.yaw))
        up = round(self.pitch + pitch / DEGREES)
        return _delta(right), _delta(up)

    def follow(self, angle: float, pitch: float) -> bool:
        """Whether the look went where it was turned. Where the game had it otherwise, the mouse goes on from there."""
        off = abs(_short(angle / DEGREES - self.yaw)), abs(self.pitch + pitch / DEGREES)
        if max(off) <= HELD_TURN:
            return True
        self.yaw, self.pitch = angle / DEGREES, -pitch / DEGREES
        return False


def _short(steps: float) -> float:
    return math.remainder(steps, STEPS)


def _delta(steps: int) -> float:
    return (steps + TURN_SLACK) * DEGREES if steps else 0.0


def action(control: Control, right: float, up: float) -> list[float]:
    """The buttons of a tic."""
    return [float(bool(control.keys & key)) for key in _BUTTONS] + [right, up]


def hindrance(before: dict[str, float], after: dict[str, float], control: Control) -> int:
    """The flags that tell why a tic had less effect than its keys: from where one was and how fast, and where one is."""
    keys = control.keys
    flags = Flag(0)
    if keys & _CROUCH:
        flags |= Flag.CROUCHED
    if not after["on_ground"]:
        return int(flags | Flag.AIRBORNE)
    if before["on_ground"] and abs(after["z"] - before["z"]) > LEAST:
        flags |= Flag.STEPPING
    forward = bool(keys & _FORWARD) - bool(keys & _BACK)
    side = bool(keys & _RIGHT) - bool(keys & _LEFT)
    if before["on_ground"] and (forward or side) and not keys & _CROUCH:
        along, across = PUSH[bool(keys & _RUN)]
        yaw = math.radians(after["angle"])
        c, s = math.cos(yaw), math.sin(yaw)
        wx = before["u"] + forward * along * c + side * across * s
        wy = before["v"] + forward * along * s - side * across * c
        dx, dy = after["x"] - before["x"], after["y"] - before["y"]
        wanted, gone = math.hypot(wx, wy), math.hypot(dx, dy)
        if math.hypot(dx - wx, dy - wy) > max(LEAST, 0.1 * wanted) and wanted > LEAST:
            flags |= Flag.BLOCKED if gone < 0.2 * wanted else Flag.SLIDING
    return int(flags)
