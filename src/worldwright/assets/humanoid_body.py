"""The shapes of the humanoid's body and clothes, as patches. Numbers are shares of the height unless said otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worldwright.assets.humanoid_mesh import Patch, Ring, Weights, blob, grid_patch, sweep
from worldwright.assets.humanoid_rig import BALL, HEEL, TOE, Rig

F64 = NDArray[np.float64]
X, Y, Z = np.eye(3)

TRUNK = (
    # share of the way from hip to neck, half width, half depth, shift ahead
    (-0.135, 0.044, 0.040, -0.004),
    (-0.085, 0.074, 0.060, -0.008),
    (-0.01, 0.093, 0.071, -0.009),
    (0.08, 0.096, 0.070, -0.009),
    (0.18, 0.090, 0.063, -0.004),
    (0.28, 0.082, 0.057, 0.000),
    (0.38, 0.081, 0.056, 0.003),
    (0.50, 0.087, 0.060, 0.004),
    (0.62, 0.094, 0.065, 0.004),
    (0.74, 0.097, 0.066, 0.002),
    (0.82, 0.097, 0.061, -0.001),
    (0.88, 0.092, 0.054, -0.004),
    (0.93, 0.080, 0.047, -0.006),
    (0.97, 0.062, 0.041, -0.007),
    (1.00, 0.044, 0.037, -0.008),
    (1.05, 0.036, 0.035, -0.007),
)
HEAD = (
    # share of the way from chin to crown, half width, half depth, shift ahead (shares of the head's height)
    (0.00, 0.100, 0.090, 0.230),
    (0.05, 0.170, 0.180, 0.175),
    (0.13, 0.235, 0.270, 0.110),
    (0.23, 0.283, 0.330, 0.062),
    (0.34, 0.312, 0.368, 0.035),
    (0.46, 0.330, 0.398, 0.010),
    (0.58, 0.340, 0.418, -0.012),
    (0.70, 0.334, 0.415, -0.022),
    (0.81, 0.300, 0.372, -0.026),
    (0.90, 0.233, 0.290, -0.030),
    (0.96, 0.150, 0.185, -0.032),
    (0.99, 0.070, 0.085, -0.033),
)


def mix(a: str, b: str, t: float) -> Weights:
    """Weights that go from ``a`` (t = 0) to ``b`` (t = 1), smoothly."""
    t = min(max(t, 0.0), 1.0)
    t = t * t * (3 - 2 * t)
    return {name: share for name, share in ((a, 1 - t), (b, t)) if share > 0}


def chain_weights(at: float, joints: Sequence[str], places: Sequence[float], width: float) -> Weights:
    """Weights along a chain: ``joints[k]`` from ``places[k]`` on, each handing over within ``width`` on both sides of the place."""
    k = max((i for i, place in enumerate(places) if at >= place - width), default=0)
    if k == 0:
        return {joints[0]: 1.0}
    return mix(joints[k - 1], joints[k], (at - places[k] + width) / (2 * width))


class Body:
    """Makes patches for a rig. Everything is in metres once it leaves here."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.h = rig.height
        self.p = rig.proportions
        self.neck = float(rig.place["neck"][2]) / self.h
        self.chin = 1.0 - self.p.head
        self.skull_centre = np.array([rig.place["head"][0] / self.h + 0.012, 0.0, 0.0])

    # --- trunk ----------------------------------------------------------------------------------------------------------

    def _trunk_row(self, t: float) -> tuple[float, float, float]:
        table = np.array(TRUNK)
        width, depth, shift = (float(np.interp(t, table[:, 0], table[:, k])) for k in (1, 2, 3))
        child = 0.012 * max(0.0, 1 - abs(t - 0.3) / 0.4) if self.p.head > 0.16 else 0.0
        girth, deep = self.p.girth, self.p.depth
        if t > 0.93:
            ease = (t - 0.93) / 0.07
            girth, deep = girth + (self.p.limb - girth) * ease, deep + (self.p.limb - deep) * ease
        return width * girth, (depth + child) * deep, shift + 0.5 * child

    def trunk_z(self, t: float) -> float:
        """Height in metres of a share of the way from hip to neck."""
        return (self.p.hip + t * (self.neck - self.p.hip)) * self.h

    def trunk_weights(self, t: float) -> Weights:
        """Of a point on the trunk's axis."""
        return chain_weights(t, ("hips", "spine", "chest", "neck"), (-1.0, 0.20, 0.48, 1.0), 0.12)

    def trunk(
        self, start: float, end: float, grow: float = 0.0, *, sides: int = 16, hem: float = 0.0, power: float = 2.25
    ) -> Patch:
        """The trunk between two shares of its length, ``grow`` thicker (in shares of the height); ``hem`` flares its lower edge."""
        inner = [row[0] for row in TRUNK if start < row[0] < end]
        rings = []
        for t in (start, *inner, end):
            width, depth, shift = self._trunk_row(t)
            flare = hem * max(0.0, 1 - (t - start) / 0.15)
            centre = np.array([shift * self.h, 0.0, self.trunk_z(t)])
            rings.append(
                Ring(
                    centre, -X * (depth + grow + flare) * self.h, -Y * (width + grow + flare) * self.h, self.trunk_weights(t), power
                )
            )
        patch = sweep(rings, sides)
        return Patch(
            patch.positions,
            patch.uvs,
            patch.triangles,
            [self._shoulders(p, w) for p, w in zip(patch.positions, patch.weights, strict=True)],
        )

    def _shoulders(self, point: F64, weights: Weights) -> Weights:
        """The upper corners of the chest follow the clavicles, and a little the arms."""
        t = (point[2] / self.h - self.p.hip) / (self.neck - self.p.hip)
        high = min(max((t - 0.62) / 0.25, 0.0), 1.0)
        out = min(max((abs(point[1]) / self.h - 0.030) / 0.05, 0.0), 1.0)
        share = 0.75 * high * out
        if share <= 0:
            return weights
        side = "l" if point[1] > 0 else "r"
        arm = 0.35 * max(0.0, out * high - 0.5) * 2
        moved = {joint: w * (1 - share) for joint, w in weights.items()}
        return moved | {f"clavicle.{side}": share * (1 - arm), f"upperarm.{side}": share * arm}

    def front(self, t_rows: Sequence[float], half_widths: Sequence[float], out: float, columns: int = 5) -> Patch:
        """A strip on the front of the chest, ``out`` (shares of the height) before the body: a shirt front, a tie, a number."""
        grid, weights = [], []
        for t, half in zip(t_rows, half_widths, strict=True):
            width, depth, shift = self._trunk_row(t)
            row = []
            for y in np.linspace(-half, half, columns):
                curve = max(0.0, 1 - (abs(y) / width) ** 2.25) ** (1 / 2.25)
                row.append([(shift + depth * curve + out) * self.h, y * self.h, self.trunk_z(t)])
            grid.append(row)
            weights.append([self._shoulders(np.array(point), self.trunk_weights(t)) for point in row])
        return grid_patch(np.array(grid), weights)

    def band(self, start: float, end: float, grow: float) -> Patch:
        """A band around the trunk: a belt, a reflective stripe."""
        return self.trunk(start, end, grow, sides=16)

    # --- limbs ----------------------------------------------------------------------------------------------------------

    def leg(self, side: str, start: float, end: float, grow: float = 0.0, *, flare: float = 0.0, sides: int = 12) -> Patch:
        """A leg from share ``start`` (0 is the hip, 1 the ankle) to ``end``, ``grow`` thicker; ``flare`` widens the end."""
        thigh, shin, foot = (self.rig.place[f"{name}.{side}"] for name in ("thigh", "shin", "foot"))
        knee = 0.505
        table = np.array(
            [
                # share, half depth, half width, shift ahead
                (-0.10, 0.040, 0.034, -0.010),
                (-0.04, 0.050, 0.043, -0.009),
                (0.02, 0.055, 0.048, -0.008),
                (0.12, 0.054, 0.049, -0.004),
                (0.25, 0.048, 0.044, 0.002),
                (0.38, 0.041, 0.038, 0.003),
                (0.46, 0.036, 0.034, 0.001),
                (0.505, 0.035, 0.033, 0.001),
                (0.55, 0.033, 0.031, -0.001),
                (0.65, 0.035, 0.032, -0.007),
                (0.75, 0.032, 0.029, -0.007),
                (0.87, 0.024, 0.022, -0.003),
                (0.97, 0.021, 0.019, 0.000),
                (1.05, 0.022, 0.019, 0.000),
            ]
        )
        rings = []
        for t in (start, *[row for row in table[:, 0] if start < row < end], end):
            depth, width, shift = (float(np.interp(t, table[:, 0], table[:, k])) for k in (1, 2, 3))
            centre = thigh + (shin - thigh) * (t / knee) if t < knee else shin + (foot - shin) * ((t - knee) / (1 - knee))
            inward = (0.004 * (1 if side == "l" else -1)) * max(0.0, 1 - t / 0.3) * self.h
            wide = flare * max(0.0, (t - start) / (end - start)) if flare else 0.0
            grown = grow + wide
            weights = chain_weights(t, (f"thigh.{side}", f"shin.{side}", f"foot.{side}"), (-1.0, knee, 1.0), 0.07)
            if t < 0.10:
                hip = 0.65 * (1 - max(t + 0.10, 0.0) / 0.20)
                weights = {joint: w * (1 - hip) for joint, w in weights.items()} | {"hips": hip}
            rings.append(
                Ring(
                    centre + np.array([shift * self.h, inward, 0.0]),
                    X * (depth * self.p.limb + grown) * self.h,
                    -Y * (width * self.p.limb + grown) * self.h,
                    weights,
                    2.1,
                )
            )
        return sweep(rings, sides)

    def arm(self, side: str, start: float, end: float, grow: float = 0.0, *, flare: float = 0.0, sides: int = 10) -> Patch:
        """An arm from share ``start`` (0 is the shoulder joint, 1 the wrist; below 0 lies inside the chest) to ``end``."""
        shoulder, elbow, wrist = (self.rig.place[f"{name}.{side}"] for name in ("upperarm", "forearm", "hand"))
        sign = 1.0 if side == "l" else -1.0
        along = (elbow - shoulder) / np.linalg.norm(elbow - shoulder)
        bend = 0.535
        table = np.array(
            [
                # share, half depth (X), half width, shift outward
                (-0.16, 0.026, 0.024, 0.000),
                (-0.12, 0.029, 0.028, 0.000),
                (-0.08, 0.032, 0.031, 0.000),
                (-0.04, 0.0335, 0.031, 0.000),
                (0.00, 0.034, 0.0300, 0.000),
                (0.06, 0.0335, 0.0300, 0.001),
                (0.12, 0.0325, 0.0300, 0.002),
                (0.22, 0.029, 0.027, 0.000),
                (0.36, 0.028, 0.026, 0.000),
                (0.48, 0.024, 0.023, 0.000),
                (0.535, 0.0235, 0.0225, 0.000),
                (0.60, 0.025, 0.023, 0.000),
                (0.70, 0.0245, 0.022, 0.000),
                (0.85, 0.0195, 0.0165, 0.000),
                (0.97, 0.0165, 0.0130, 0.000),
                (1.04, 0.0165, 0.0125, 0.000),
            ]
        )
        out = np.array([0.0, sign * -along[2], sign * along[1]])
        rings = []
        for t in (start, *[row for row in table[:, 0] if start < row < end], end):
            depth, width, shift = (float(np.interp(t, table[:, 0], table[:, k])) for k in (1, 2, 3))
            across = np.cross(along, X)
            if t < 0:
                # The cap of the shoulder: rings tip over from level to upright while they go into the chest.
                tip = min(-t / 0.12, 1.0) * 1.45
                centre = shoulder + (np.array([0.0, -sign, 0.0]) * (1 - np.cos(tip)) + Z * 0.15 * np.sin(tip)) * (0.030 * self.h)
                centre = centre - np.array([0.0, sign, 0.0]) * max(-t - 0.12, 0.0) * 0.4 * self.h
                across = across * np.cos(tip) + sign * along * np.sin(tip)
            else:
                centre = (
                    shoulder + (elbow - shoulder) * (t / bend) if t < bend else elbow + (wrist - elbow) * ((t - bend) / (1 - bend))
                )
            weights = chain_weights(t, (f"upperarm.{side}", f"forearm.{side}", f"hand.{side}"), (-1.0, bend, 1.0), 0.065)
            if t < 0.10:
                share = min(max((0.10 - t) / 0.26, 0.0), 1.0)
                weights = {joint: w * (1 - 0.8 * share) for joint, w in weights.items()} | {f"clavicle.{side}": 0.8 * share}
            grown = grow + (flare * (t - start) / (end - start) if flare else 0.0)
            rings.append(
                Ring(
                    centre + out * sign * shift * self.h,
                    X * (depth * self.p.limb + grown) * self.h,
                    across * (width * self.p.limb + grown) * self.h,
                    weights,
                )
            )
        return sweep(rings, sides)

    def hand(self, side: str) -> list[Patch]:
        """Palm, four fingers and a thumb."""
        wrist, knuckles = self.rig.place[f"hand.{side}"], self.rig.place[f"fingers.{side}"]
        sign = 1.0 if side == "l" else -1.0
        along = (knuckles - wrist) / np.linalg.norm(knuckles - wrist)
        thick = np.cross(along, X)
        size = self.h * self.p.limb * self.p.arm
        hand, fingers = f"hand.{side}", f"fingers.{side}"
        palm_rows = (
            (-0.012, 0.0135, 0.0105),
            (0.006, 0.0165, 0.0105),
            (0.022, 0.0215, 0.0105),
            (0.042, 0.0235, 0.0098),
            (0.054, 0.0215, 0.0080),
        )
        palm = sweep(
            [
                Ring(wrist + along * s * size, X * wide * size, thick * deep * size, mix(hand, fingers, (s - 0.046) / 0.012), 2.6)
                for s, wide, deep in palm_rows
            ],
            10,
        )
        parts = [palm]
        for k, (offset, length) in enumerate(((0.0165, 0.036), (0.0055, 0.041), (-0.0055, 0.038), (-0.0160, 0.030))):
            root = wrist + along * (0.047 - 0.002 * (k == 3)) * size + X * offset * size
            tips = [
                Ring(root + along * s * length * size, X * r * size, thick * r * size * 0.95, {fingers: 1.0})
                for s, r in ((0.0, 0.0056), (0.45, 0.0054), (0.85, 0.0046), (1.0, 0.0028))
            ]
            parts.append(sweep(tips, 6))
        inward = np.cross(X, along) * sign
        direction = along * 0.72 + X * 0.62 - inward * 0.22
        direction /= np.linalg.norm(direction)
        side_axis = np.cross(direction, thick)
        side_axis /= np.linalg.norm(side_axis)
        root = wrist + along * 0.012 * size + X * 0.012 * size
        thumb = [
            Ring(root + direction * s * size, -side_axis * r * size, np.cross(direction, -side_axis) * r * size, {hand: 1.0})
            for s, r in ((0.0, 0.0095), (0.016, 0.0080), (0.030, 0.0068), (0.038, 0.0056), (0.042, 0.0030))
        ]
        parts.append(sweep(thumb, 6))
        return parts

    def shoe(self, side: str, *, grow: float = 0.0, shaft: float = 0.0) -> tuple[list[Patch], list[Patch]]:
        """The upper and the sole of a shoe. ``shaft`` makes a boot: how far it goes up the leg."""
        ankle = self.rig.place[f"foot.{side}"]
        sign = 1.0 if side == "l" else -1.0
        foot, toes = f"foot.{side}", f"toes.{side}"
        width = 0.5 + 0.5 * self.p.limb

        def rows(table: Sequence[tuple[float, float, float, float]], grow: float = 0.0) -> list[Ring]:
            """Rings across X: (x from the ankle, half width, bottom, top)."""
            rings = []
            for x, half, low, high in table:
                bulge = sign * 0.004 * min(max(x / BALL, 0.0), 1.2)
                centre = np.array([ankle[0] + x * self.h, ankle[1] - bulge * self.h, (low + high) / 2 * self.h])
                weights = mix(foot, toes, (x - BALL + 0.014) / 0.028)
                rings.append(Ring(centre, Y * (half * width + grow) * self.h, Z * ((high - low) / 2 + grow) * self.h, weights, 2.8))
            return rings

        upper = sweep(
            rows(
                (
                    (HEEL - 0.002, 0.012, 0.012, 0.034),
                    (HEEL + 0.008, 0.0195, 0.009, 0.047),
                    (-0.012, 0.0215, 0.008, 0.055),
                    (0.008, 0.0215, 0.008, 0.055),
                    (0.030, 0.0225, 0.008, 0.044),
                    (0.052, 0.0250, 0.008, 0.035),
                    (BALL, 0.0270, 0.008, 0.029),
                    (0.094, 0.0245, 0.008, 0.025),
                    (0.107, 0.0175, 0.009, 0.021),
                    (TOE, 0.0090, 0.010, 0.016),
                ),
                grow,
            ),
            12,
        )
        sole = sweep(
            rows(
                (
                    (HEEL - 0.005, 0.011, 0.0, 0.011),
                    (HEEL + 0.004, 0.0200, 0.0, 0.012),
                    (-0.010, 0.0225, 0.0, 0.012),
                    (0.030, 0.0235, 0.0, 0.011),
                    (BALL, 0.0285, 0.0, 0.011),
                    (0.096, 0.0258, 0.0, 0.011),
                    (0.110, 0.0180, 0.0, 0.011),
                    (TOE + 0.003, 0.0085, 0.001, 0.010),
                )
            ),
            10,
        )
        uppers = [upper]
        if shaft > 0:
            uppers.append(self.leg(side, 1.0 - shaft, 1.02, grow=0.008))
        return uppers, [sole]

    # --- head -----------------------------------------------------------------------------------------------------------

    def head_ring(self, t: float) -> tuple[F64, float, float]:
        """Centre in metres, half width and half depth in metres, at a share of the way from chin to crown."""
        table = np.array(HEAD)
        width, depth, shift = (float(np.interp(t, table[:, 0], table[:, k])) for k in (1, 2, 3))
        size = self.p.head
        round_child = 1.06 if size > 0.16 else 1.0
        z = self.chin + t * size
        return (
            (self.skull_centre + np.array([shift * size, 0.0, z])) * self.h,
            width * size * self.h * round_child,
            depth * size * self.h,
        )

    def on_face(self, t: float, y: float) -> F64:
        """The point on the face's surface at a share of the height and ``y`` in shares of the head's half width."""
        centre, width, depth = self.head_ring(t)
        return centre + np.array([depth * np.sqrt(max(1 - y * y, 0.0)), y * width, 0.0])

    def head(self) -> list[Patch]:
        """Skull, ears and nose."""
        rings = [Ring(c, -X * d, -Y * w, {"head": 1.0}, 2.15) for c, w, d in (self.head_ring(row[0]) for row in HEAD)]
        size = self.p.head * self.h
        skull = sweep(rings, 18)
        parts = [skull]
        for sign in (1.0, -1.0):
            centre, width, _ = self.head_ring(0.42)
            at = centre + np.array([-0.05 * size, sign * width * 0.99, 0.0])
            tilt = np.array([[0.96, 0.28 * sign, 0.0], [-0.28 * sign, 0.96, 0.0], [0.0, 0.0, 1.0]]).T
            parts.append(blob(at, (0.085 * size, 0.030 * size, 0.13 * size), {"head": 1.0}, sides=8, rows=5, axes=tilt))
        bridge, tip = self.on_face(0.52, 0.0), self.on_face(0.335, 0.0)
        parts.append(
            sweep(
                [
                    Ring(bridge + X * -0.03 * size, X * 0.035 * size, Y * 0.040 * size, {"head": 1.0}),
                    Ring(bridge * 0.6 + tip * 0.4 + X * 0.020 * size, X * 0.060 * size, Y * 0.046 * size, {"head": 1.0}),
                    Ring(tip + X * 0.045 * size + Z * 0.03 * size, X * 0.075 * size, Y * 0.070 * size, {"head": 1.0}),
                    Ring(tip + X * 0.030 * size - Z * 0.01 * size, X * 0.060 * size, Y * 0.074 * size, {"head": 1.0}),
                    Ring(tip - X * 0.01 * size - Z * 0.035 * size, X * 0.030 * size, Y * 0.040 * size, {"head": 1.0}),
                ][::-1],
                8,
            )
        )
        return parts

    def neck_patch(self) -> Patch:
        """From inside the chest to inside the skull."""
        skull = float(self.rig.place["head"][2]) / self.h
        x = float(self.rig.place["neck"][0]) / self.h
        r = 0.0335 * (0.6 + 0.4 * self.p.limb) * (0.9 if self.p.head > 0.16 else 1.0)
        rows = (
            (self.neck - 0.03, 1.25, 0.0),
            (self.neck, 1.08, 0.0),
            (self.neck + 0.5 * self.p.neck, 1.0, 0.002),
            (skull, 1.0, 0.006),
            (skull + 0.022, 0.98, 0.008),
        )
        rings = []
        for z, grow, ahead in rows:
            share = (z - self.neck) / (skull - self.neck)
            weights = mix("chest", "neck", (share + 0.9) / 0.9) if share < 0 else mix("neck", "head", (share - 0.35) / 0.65)
            rings.append(
                Ring(np.array([x + ahead, 0.0, z]) * self.h, -X * r * grow * self.h, -Y * r * grow * 1.02 * self.h, weights)
            )
        return sweep(rings, 12)

    def eyes(self) -> tuple[list[Patch], list[Patch]]:
        """Whites, and irises with pupils."""
        size = self.p.head * self.h
        big = 1.12 if self.p.head > 0.16 else 1.0
        whites, irises = [], []
        for sign in (1.0, -1.0):
            at = self.on_face(0.475, sign * 0.40) - X * 0.040 * size
            whites.append(blob(at, (0.062 * size * big, 0.078 * size * big, 0.050 * size * big), {"head": 1.0}, sides=10, rows=5))
            irises.append(
                blob(
                    at + X * 0.043 * size * big,
                    (0.024 * size, 0.034 * size * big, 0.034 * size * big),
                    {"head": 1.0},
                    sides=8,
                    rows=3,
                )
            )
        return whites, irises

    def brows(self) -> list[Patch]:
        """Eyebrows: thin bows above the eyes."""
        size = self.p.head * self.h
        parts = []
        for sign in (1.0, -1.0):
            rings = []
            for y, lift, thick in ((0.16, 0.000, 0.016), (0.34, 0.018, 0.020), (0.52, 0.016, 0.017), (0.66, -0.006, 0.009)):
                at = self.on_face(0.575 + lift, sign * y) + X * 0.004 * size
                rings.append(Ring(at, X * 0.016 * size, Z * thick * size * (-sign), {"head": 1.0}))
            parts.append(sweep(rings, 6))
        return parts

    def mouth(self) -> list[Patch]:
        """Two lips."""
        size = self.p.head * self.h
        at = self.on_face(0.215, 0.0)
        return [
            blob(
                at + np.array([-0.012 * size, 0.0, dz * size]),
                (0.030 * size, 0.115 * size, thick * size),
                {"head": 1.0},
                sides=10,
                rows=3,
            )
            for dz, thick in ((0.012, 0.016), (-0.014, 0.019))
        ]

    def hair(self, style: str) -> list[Patch]:
        """A cap of hair from the hairline to the crown, by style: short, full, long or bun."""
        size = self.p.head * self.h
        thick = {"short": 0.045, "full": 0.085, "long": 0.075, "bun": 0.050}[style]
        nape = {"short": 0.22, "full": 0.16, "long": 0.05, "bun": 0.20}[style]
        sides_low = {"short": 0.50, "full": 0.44, "long": 0.22, "bun": 0.50}[style]
        columns, rows = 20, 8
        grid = np.empty((rows, columns, 3))
        for c in range(columns):
            angle = 2 * np.pi * c / columns
            facing = np.cos(angle)
            front, back = max(facing, 0.0) ** 0.55, max(-facing, 0.0) ** 0.6
            line = sides_low + (0.80 - sides_low) * front + (nape - sides_low) * back
            for r in range(rows):
                u = r / (rows - 1)
                t = line + (0.995 - line) * np.sin(u * np.pi / 2) ** 0.9
                centre, width, depth = self.head_ring(t)
                puff = (
                    -0.03
                    if r == 0
                    else thick * (0.75 + 0.25 * np.sin(3 * angle + 2.0 * u)) * (1.15 if facing > 0.3 and style != "short" else 1.0)
                )
                grid[r, c] = centre + np.array(
                    [np.cos(angle) * (depth + puff * size), np.sin(angle) * (width + puff * size), puff * size * 0.9 * u * u]
                )
        cap = grid_patch(grid, [[{"head": 1.0}] * columns] * rows, wrap=True)
        top = grid[-1].mean(axis=0) + Z * thick * size * 0.1
        lid = len(cap.positions)
        last = (rows - 1) * columns + np.arange(columns)
        fan = np.stack([last, (rows - 1) * columns + (np.arange(columns) + 1) % columns, np.full(columns, lid)], axis=-1)
        parts = [
            Patch(
                np.vstack([cap.positions, top]),
                np.vstack([cap.uvs, cap.uvs[-1:]]),
                np.concatenate([cap.triangles, fan]),
                [*cap.weights, {"head": 1.0}],
            )
        ]
        if style == "bun":
            centre, _, depth = self.head_ring(0.74)
            parts.append(
                blob(centre - X * (depth + 0.10 * size), (0.16 * size, 0.18 * size, 0.17 * size), {"head": 1.0}, sides=10, rows=6)
            )
        if style == "long":
            rings = []
            for s in np.linspace(0, 1, 6):
                centre, width, depth = self.head_ring(0.55 * (1 - s))
                at = np.array(
                    [
                        centre[0] * 0.25 - depth * (0.62 + 0.10 * s) + self.skull_centre[0] * self.h * 0.5,
                        0.0,
                        centre[2] - s * 0.36 * size,
                    ]
                )
                weights = mix("head", "neck", (s - 0.45) / 0.75)
                rings.append(Ring(at, X * (0.20 - 0.07 * s) * size, -Y * (0.31 - 0.03 * s) * size, weights, 2.3))
            parts.append(sweep(rings, 12))
        return parts

    def helmet(self) -> list[Patch]:
        """A hard hat: dome, brim with a peak, crest."""
        size = self.p.head * self.h
        base, half_width, half_depth = self.head_ring(0.64)
        half_width, half_depth = half_width + 0.085 * size, half_depth + 0.085 * size
        rise = 0.50 * size
        columns = 20
        around = np.linspace(0.0, 2 * np.pi, columns, endpoint=False)
        flat = np.stack([np.cos(around) * half_depth, np.sin(around) * half_width, np.zeros(columns)], axis=1)
        peak = (np.clip(np.cos(around), 0.0, 1.0) ** 2)[:, None]
        steps = np.radians([0, 18, 36, 52, 66, 78, 86])
        dome = np.stack([base + flat * np.cos(a) ** 0.8 + Z * rise * np.sin(a) for a in steps])
        brim = np.stack(
            [
                base + flat * 0.93 - Z * 0.020 * size,
                base + flat * (1.09 + 0.24 * peak) - Z * (0.030 + 0.06 * peak) * size,
                base + flat * (1.09 + 0.24 * peak) - Z * (0.006 + 0.06 * peak) * size,
                base + flat * 0.99 + Z * 0.035 * size,
            ]
        )
        lid = np.concatenate([dome, np.broadcast_to(base + Z * rise, (1, columns, 3))])
        crest = [
            Ring(
                base + X * half_depth * np.cos(a) ** 0.8 * side + Z * rise * np.sin(a),
                Y * 0.07 * size,
                across * 0.028 * size,
                {"head": 1.0},
            )
            for a, side, across in (
                (0.55, -1.0, -X * 0.9 + Z * 0.5),
                (0.95, -1.0, -X * 0.5 + Z * 0.9),
                (1.30, -1.0, -X * 0.2 + Z),
                (1.5707, 1.0, Z),
                (1.30, 1.0, X * 0.2 + Z),
                (0.95, 1.0, X * 0.5 + Z * 0.9),
                (0.55, 1.0, X * 0.9 + Z * 0.5),
            )
        ]
        head = [[{"head": 1.0}] * columns]
        return [grid_patch(lid, head * len(lid), wrap=True), grid_patch(brim, head * len(brim), wrap=True), sweep(crest, 8)]
