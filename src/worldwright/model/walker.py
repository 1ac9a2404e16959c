"""Where the camera goes when a key is pressed and no engine says so: learned from a dataset by least squares, in numpy alone.

Motion is first order along the body's axes: what was done in this frame is a share of what was done in the last one, plus what the keys
ask for. Walls are known from the depth of the capture: a grid of places with something between knee and head, made wider by the body. So
a wall is hard in a model's world too, where the capture has seen it.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from worldwright.controls import ACTION_NAMES, MOUSE_RADIANS, Flag
from worldwright.errors import WorldwrightError
from worldwright.transforms import camera_look

if TYPE_CHECKING:
    from worldwright.dataset.reader import Dataset

F64 = NDArray[np.float64]
Rows = Mapping[str, NDArray[Any]]

HINDERED = int(Flag.BLOCKED | Flag.SLIDING | Flag.AIRBORNE | Flag.PUSHING | Flag.STEPPING | Flag.HELD)
"""Frames that do not show what keys alone do."""
FEWEST = 24
"""Frames without hindrance from which walking is learned, at least."""
RIDE_ERROR, LOOK_ERROR = 0.25, 0.03
"""Metres and radians by which half of the frames may miss the camera at most: more, and it does not ride with the character."""
CELL, FLOOR_CELL = 0.1, 0.5
"""Metres of a place in the map of walls, and in that of the ground."""
MOST_CELLS, MOST_FLOOR = 1 << 20, 6000
KNEE, HEAD = 0.45, 1.5
"""Metres above the ground between which a thing is in the way: what is lower is stepped on, what is higher is walked under."""
BODY = 0.25
"""Metres around the middle that the body needs; a cell is kept for the grid's coarseness."""
MAP_FRAMES, MAP_COLUMNS = 600, 80
"""Frames of a dataset, and pixels across each, that the map is made from."""
FURTHEST = 25.0
"""Metres: further points fall too coarsely."""
SEEN_TWICE = 2
STEP = 0.6
"""Metres by which the ground may rise or fall in a step."""

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)]
Share = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Stand:
    """Where somebody stands and what he is doing: feet (m), look (rad), ``going`` metres a frame in world axes, ``rising`` metres a frame
    in the air (None: on the ground), ``low`` 0 upright to 1 crouched, ``flags`` of the last step (``controls.Flag``)."""

    position: tuple[float, float, float]
    yaw: float
    pitch: float
    going: tuple[float, float] = (0.0, 0.0)
    rising: float | None = None
    low: float = 0.0
    flags: int = 0


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Motion(_Strict):
    """What keys and mouse do in a frame, in metres and radians a frame.

    ``keep``: share of the last frame's motion. ``forward``, ``back``, ``side``: what is added by that key alone, more while running, and more
    while crouching. ``jump`` and ``gravity``: metres a frame at the start, and lost a frame (0: nobody jumped)."""

    turn: Finite
    pitch: Finite
    lowest: Finite
    highest: Finite
    keep: Share
    forward: tuple[Finite, Finite, Finite]
    back: tuple[Finite, Finite, Finite]
    side: tuple[Finite, Finite, Finite]
    jump: Finite = 0.0
    gravity: Finite = 0.0


class Ride(_Strict):
    """How the camera rides: its place from the feet, along the look's level axes (forward, left, up), is ``offset`` times (1, cos pitch,
    sin pitch), ``drop`` metres lower when crouched, which takes the share ``settle`` of the way a frame."""

    offset: tuple[tuple[Finite, Finite, Finite], tuple[Finite, Finite, Finite], tuple[Finite, Finite, Finite]]
    drop: Finite
    settle: Share


class Ground(_Strict):
    """What is in the way and how high the ground is. ``walls``: rows of cells of ``cell`` metres from ``origin`` (x, y) on, ``shape`` (rows along
    y, columns along x), packed bits, compressed, base64. ``floor``: (column, row, height) in cells of ``floor_cell`` from the same origin."""

    cell: Annotated[float, Field(gt=0.01, le=100, allow_inf_nan=False)]
    origin: tuple[Finite, Finite]
    shape: tuple[Annotated[int, Field(ge=1, le=MOST_CELLS)], Annotated[int, Field(ge=1, le=MOST_CELLS)]]
    walls: Annotated[str, Field(max_length=400_000)]
    floor_cell: Annotated[float, Field(gt=0.01, le=100, allow_inf_nan=False)]
    floor: Annotated[list[tuple[int, int, Finite]], Field(max_length=MOST_FLOOR)]


class _Document(_Strict):
    format: Literal["worldwright.walker/1"] = "worldwright.walker/1"
    fps: Annotated[int, Field(ge=1, le=1000)]
    motion: Motion
    ride: Ride
    ground: Ground | None


class Walker:
    """Moves a ``Stand`` by actions. It keeps nothing between calls."""

    def __init__(self, fps: int, motion: Motion, ride: Ride, ground: Ground | None = None) -> None:
        self.fps, self.motion, self.ride, self.ground = fps, motion, ride, ground
        self._walls = None if ground is None else _unpack(ground)
        self._floor: dict[tuple[int, int], list[float]] = {}
        for column, row, height in ground.floor if ground is not None else ():
            self._floor.setdefault((column, row), []).append(height)
        self._offset = np.array(ride.offset)

    # --- as a document ---

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return _Document(fps=self.fps, motion=self.motion, ride=self.ride, ground=self.ground).model_dump(mode="json")

    @classmethod
    def from_document(cls, data: Any, where: str = "walker") -> Walker:
        """From plain values of an untrusted file. Raises WorldwrightError, naming the field."""
        try:
            document = _Document.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise WorldwrightError(first["msg"], where=f"{where}: {field}" if field else where, fix="train again") from error
        try:
            return cls(document.fps, document.motion, document.ride, document.ground)
        except (ValueError, zlib.error, binascii.Error) as error:
            raise WorldwrightError(f"its map of walls is damaged ({error})", where=where, fix="train again") from error

    # --- walking ---

    @staticmethod
    def start(state: ArrayLike) -> Stand:
        """At rest where a row of ``observation.state`` [8] says."""
        x, y, z, yaw, pitch = np.asarray(state, dtype=np.float64)[:5].tolist()
        return Stand((x, y, z), yaw, pitch)

    def step(self, stand: Stand, action: ArrayLike) -> Stand:
        """A frame later, after ``action`` [10] (``controls.ACTION_NAMES``)."""
        m = self.motion
        held = np.asarray(action, dtype=np.float64)
        if held.shape != (len(ACTION_NAMES),) or not np.isfinite(held).all():
            raise WorldwrightError(f"an action of {list(held.shape)}", fix=f"{len(ACTION_NAMES)} finite numbers")
        dx, dy = held[8:].tolist()
        yaw, pitch = stand.yaw + m.turn * dx, min(max(stand.pitch + m.pitch * dy, m.lowest), m.highest)
        cos, sin = math.cos(stand.yaw), math.sin(stand.yaw)
        gx, gy = stand.going
        forward, right = gx * cos + gy * sin, gx * sin - gy * cos
        if stand.rising is None:
            asked = np.array([*_asked(held[None])[0]])
            forward = m.keep * forward + float(asked[:6] @ (*m.forward, *m.back))
            right = m.keep * right + float(asked[6:] @ m.side)
        wanted = (forward * cos + right * sin, forward * sin - right * cos)
        x, y, flags = self._go(stand.position, wanted)
        z, rising = self._height(stand, (x, y), bool(held[5] > 0.5))
        low = stand.low + self.ride.settle * (min(held[6], 1.0) - stand.low)
        flags |= int(Flag.AIRBORNE if rising is not None else 0) | int(Flag.CROUCHED if low > 0.5 else 0)
        return Stand((x, y, z), yaw, pitch, (x - stand.position[0], y - stand.position[1]), rising, low, flags)

    def c2w(self, stand: Stand) -> F64:
        """The camera [4, 4] (OpenCV) of somebody who stands there."""
        forward, left, up = (self._offset @ (1.0, math.cos(stand.pitch), math.sin(stand.pitch))).tolist()
        up -= self.ride.drop * stand.low
        cos, sin = math.cos(stand.yaw), math.sin(stand.yaw)
        x, y, z = stand.position
        share = 1.0
        if math.hypot(forward, left) > 0.5:  # on a boom: no further back than there is room
            while share > 0.2 and self._hard(x + share * (forward * cos - left * sin), y + share * (forward * sin + left * cos)):
                share -= 0.1
        forward, left = share * forward, share * left
        return camera_look((x + forward * cos - left * sin, y + forward * sin + left * cos, z + up), stand.yaw, stand.pitch)

    def _hard(self, x: float, y: float) -> bool:
        """Whether a body has no room there. Beyond the map nothing was captured: there it ends."""
        if self._walls is None or self.ground is None:
            return False
        column, row = _cell(x, y, self.ground.origin, self.ground.cell)
        rows, columns = self._walls.shape
        return not (0 <= row < rows and 0 <= column < columns) or bool(self._walls[row, column])

    def _go(self, position: tuple[float, float, float], way: tuple[float, float]) -> tuple[float, float, int]:
        """As far along ``way`` as there is room, along walls where not straight on."""
        x, y, _ = position
        length = math.hypot(*way)
        if self._walls is None or self.ground is None or length < 1e-9 or self._hard(x, y):
            return x + way[0], y + way[1], 0
        parts = max(1, math.ceil(length / (0.5 * self.ground.cell)))
        dx, dy, flags = way[0] / parts, way[1] / parts, 0
        for _ in range(parts):
            if not self._hard(x + dx, y + dy):
                x, y = x + dx, y + dy
            elif abs(dx) > 1e-9 and not self._hard(x + dx, y):
                x, flags = x + dx, flags | Flag.SLIDING
            elif abs(dy) > 1e-9 and not self._hard(x, y + dy):
                y, flags = y + dy, flags | Flag.SLIDING
            else:
                return x, y, int(flags | Flag.BLOCKED)
        return x, y, int(flags)

    def _height(self, stand: Stand, to: tuple[float, float], jump: bool) -> tuple[float, float | None]:
        """Height of the feet and, in the air, how fast they rise."""
        z = stand.position[2]
        floor = self._floor_below(*to, z)
        rising = stand.rising
        if rising is None:
            if jump and self.motion.jump > 0:
                return z + self.motion.jump, self.motion.jump - self.motion.gravity
            return z + max(-0.1, min(0.1, floor - z)), None
        z += rising
        if rising < 0 and z <= floor:
            return floor, None
        return z, rising - self.motion.gravity

    def _floor_below(self, x: float, y: float, z: float) -> float:
        """The height where somebody walked near there, within a step of ``z``; else ``z`` on the ground as it is."""
        if self.ground is None or not self._floor:
            return z
        column, row = _cell(x, y, self.ground.origin, self.ground.floor_cell)
        best, nearest = z, STEP if self.motion.jump == 0 else STEP + self.motion.jump**2 / max(2 * self.motion.gravity, 1e-6)
        for height in self._floor.get((column, row), ()):
            if abs(height - z) <= nearest:
                best, nearest = height, abs(height - z)
        return best


# --- learning it --------------------------------------------------------------------------------------------------------------


def fit(dataset: Dataset) -> Walker:
    """The walker of a dataset that was recorded in one world with a camera that rides (``first``, ``third``).

    Where the dataset has no depth, or several worlds, nothing is known of walls. Raises WorldwrightError where it has too few frames, or a
    camera that does not ride with the character."""
    from worldwright.dataset.index import episode_rows  # who only walks needs no reader of datasets, which takes long to import

    root = str(dataset.index.root)
    rows = [episode_rows(dataset.index.root, episode) for episode in dataset.episodes]
    motion, ride = fit_motion(rows, root), fit_ride(rows, root)
    worlds = {episode.world_hash for episode in dataset.episodes}
    ground = fit_ground(dataset, rows) if "depth" in dataset.index.passes and len(worlds) == 1 else None
    return Walker(int(dataset.index.info.fps), motion, ride, ground)


def fit_motion(episodes: Sequence[Rows], where: str = "dataset") -> Motion:
    """What keys and mouse do, from the columns ``action``, ``effective_action``, ``flags`` and ``observation.state`` of episodes."""
    action = np.concatenate([e["action"] for e in episodes]).astype(np.float64)
    effect = np.concatenate([e["effective_action"] for e in episodes]).astype(np.float64)
    state = np.concatenate([e["observation.state"] for e in episodes]).astype(np.float64)
    before = np.concatenate([np.concatenate([e["effective_action"][:1] * 0, e["effective_action"][:-1]]) for e in episodes]).astype(
        np.float64
    )
    flags = np.concatenate([np.asarray(e["flags"]).reshape(-1) for e in episodes]).astype(np.int64)
    earlier = np.concatenate([np.concatenate([[HINDERED], np.asarray(e["flags"]).reshape(-1)[:-1]]) for e in episodes]).astype(
        np.int64
    )
    clear = (flags & HINDERED == 0) & (earlier & HINDERED == 0)
    if int(clear.sum()) < FEWEST:
        raise WorldwrightError(
            f"{int(clear.sum())} frames show walking without hindrance", where=where, fix=f"record longer: {FEWEST} at least"
        )
    # The last motion, along the axes of now: forward at angle a is cos(a) forward - sin(a) right.
    cos, sin = np.cos(before[:, 3]), np.sin(before[:, 3])
    last_forward, last_right = before[:, 0] * cos - before[:, 1] * sin, before[:, 0] * sin + before[:, 1] * cos
    asked = _asked(action)[clear]
    n = len(asked)
    along = np.concatenate([last_forward[clear, None], asked[:, :6], np.zeros((n, 3))], axis=1)
    across = np.concatenate([last_right[clear, None], np.zeros((n, 6)), asked[:, 6:]], axis=1)
    design, goal = np.concatenate([along, across]), np.concatenate([effect[clear, 0], effect[clear, 1]])
    # A little ridge: keys that nobody pressed do nothing.
    weights = np.linalg.solve(design.T @ design + 1e-4 * np.eye(10), design.T @ goal)
    keep = float(np.clip(weights[0], 0.0, 0.98))
    w = weights[1:].tolist()
    for k in (3, 6):  # who was never seen to run or crouch backwards or sideways does so as much faster or slower as forwards
        for how in (1, 2):
            if not (asked[:, k + how] != 0).sum() >= FEWEST and w[0] > 0:
                w[k + how] = w[k] * w[how] / w[0]
    low, high = float(state[:, 4].min()), float(state[:, 4].max())
    inside = (state[:, 4] > low + 0.02) & (state[:, 4] < high - 0.02)
    jump, gravity = _fit_jump(effect[:, 2], flags)
    return Motion(
        turn=_slope(action[:, 8], effect[:, 3]),
        pitch=_slope(action[inside, 9], effect[inside, 4]),
        lowest=min(low, -0.2),
        highest=max(high, 0.2),
        keep=keep,
        forward=(w[0], w[1], w[2]),
        back=(w[3], w[4], w[5]),
        side=(w[6], w[7], w[8]),
        jump=jump,
        gravity=gravity,
    )


def _asked(action: F64) -> F64:
    """Actions [N, 10] to what they ask for [N, 9]: forward, forward running, forward crouching; the same backwards; the same to the right.
    Two directions at once are no faster than one."""
    a = np.clip(action, 0.0, 1.0)
    forward, right, run, crouch = a[:, 0] - a[:, 1], a[:, 3] - a[:, 2], a[:, 4], a[:, 6]
    length = np.maximum(np.hypot(forward, right), 1.0)
    forward, right = forward / length, right / length
    ahead, behind = np.maximum(forward, 0.0), np.minimum(forward, 0.0)
    run = run * (1.0 - crouch)
    return np.stack([way * how for way in (ahead, behind, right) for how in (np.ones_like(run), run, crouch)], axis=1)


def _slope(x: F64, y: F64) -> float:
    """Radians a count by least squares; the mouse's own where it was not moved."""
    power = float(x @ x)
    return float(x @ y) / power if power > 0 else -MOUSE_RADIANS


def _fit_jump(up: F64, flags: NDArray[np.int64]) -> tuple[float, float]:
    """Metres a frame at the start of a jump and lost a frame in the air; zeros where there are too few jumps to tell."""
    air = flags & int(Flag.AIRBORNE) != 0
    starts = np.flatnonzero(air[1:] & ~air[:-1] & (up[1:] > 0.01)) + 1
    falling = np.flatnonzero(air[1:-1] & air[:-2] & air[2:]) + 1
    if len(starts) < 3 or len(falling) < 8:
        return 0.0, 0.0
    gravity = float(np.median(up[falling] - up[falling + 1]))
    # The frame in which it leaves the ground is in the air for a part only: the next one says how fast it was.
    first = float(np.median(up[np.minimum(starts + 1, len(up) - 1)])) + gravity
    return (first, gravity) if gravity > 1e-4 and first > 0 else (0.0, 0.0)


def fit_ride(episodes: Sequence[Rows], where: str = "dataset") -> Ride:
    """How the camera rides, from ``camera.c2w`` and ``observation.state``; robust against booms that walls cut short."""
    state = np.concatenate([e["observation.state"] for e in episodes]).astype(np.float64)
    c2w = np.concatenate([np.asarray(e["camera.c2w"]).reshape(-1, 4, 4) for e in episodes])
    yaw, pitch = state[:, 3], state[:, 4]
    look = np.stack([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)], axis=1)
    off = float(np.median(np.arccos(np.clip((look * c2w[:, :3, 2]).sum(1), -1, 1))))
    d = c2w[:, :3, 3] - state[:, :3]
    cos, sin = np.cos(yaw), np.sin(yaw)
    local = np.stack([d[:, 0] * cos + d[:, 1] * sin, -d[:, 0] * sin + d[:, 1] * cos, d[:, 2]], axis=1)
    base = np.stack([np.ones_like(pitch), np.cos(pitch), np.sin(pitch)], axis=1)
    upright = _lows([e["action"][:, 6] for e in episodes], 0.1) < 0.02
    if int(upright.sum()) < FEWEST:
        upright = np.ones(len(base), dtype=bool)
    kept = upright
    weights = np.zeros((3, 3))
    for _ in range(4):
        weights = np.linalg.lstsq(base[kept], local[kept], rcond=1e-6)[0]
        miss = np.linalg.norm(base @ weights - local, axis=1)
        kept = upright & (miss <= np.quantile(miss[upright], 0.7))
    error = float(np.median(miss))
    drop, settle = _fit_crouch((base @ weights - local)[:, 2], [e["action"][:, 6] for e in episodes])
    if error > RIDE_ERROR or off > LOOK_ERROR:
        raise WorldwrightError(
            f"the camera does not ride with the character (half of the frames miss it by {error:.2f} m, {off:.3f} rad)",
            where=where,
            fix="render the takes from the camera first or third",
        )
    a, b, c = weights.T.tolist()
    return Ride(offset=(tuple(a), tuple(b), tuple(c)), drop=drop, settle=settle)


def _fit_crouch(lower: F64, crouches: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """How much lower the camera is when crouched, and how fast it gets there, from how much lower it was than upright."""
    best = (math.inf, 0.0, 0.3)
    for settle in (0.1, 0.2, 0.3, 0.5, 0.8):
        low = _lows(crouches, settle)
        deep = low > 0.8
        if int(deep.sum()) >= 6:
            drop = float(np.median(lower[deep] / low[deep]))
            error = float(np.mean(np.abs(lower - drop * low)[low > 0.02]))
            best = min(best, (error, max(drop, 0.0), settle))
    return best[1], best[2]


def _lows(crouches: Sequence[NDArray[Any]], settle: float) -> F64:
    """How low one is at each frame, from the share for which crouch was held."""
    out = []
    for crouch in crouches:
        low = 0.0
        for held in np.clip(crouch, 0, 1).tolist():
            out.append(low)
            low += settle * (held - low)
    return np.array(out)


def fit_ground(dataset: Dataset, rows: Sequence[Rows]) -> Ground:
    """The map of a dataset of one world, from its depth."""
    states = np.concatenate([r["observation.state"] for r in rows]).astype(np.float64)
    step = max(1, len(states) // MAP_FRAMES)
    seen = [_points(dataset, k, r, step) for k, r in enumerate(rows)]
    corners = np.concatenate([states[:, :2], *(points[:, :2] for points, _ in seen)])
    low, high = corners.min(0), corners.max(0)
    low, high = np.maximum(low, states[:, :2].min(0) - FURTHEST) - 1.0, np.minimum(high, states[:, :2].max(0) + FURTHEST) + 1.0
    size = high - low
    cell = max(CELL, math.sqrt(float(size[0] * size[1]) / MOST_CELLS) * 1.001)
    columns, count = (math.ceil(s / cell) for s in size)
    origin = (float(low[0]), float(low[1]))
    hits = np.zeros((count, columns), dtype=np.int32)
    for points, frame in seen:
        x, y = ((points[:, :2] - low) / cell).astype(np.int64).T
        inside = (x >= 0) & (x < columns) & (y >= 0) & (y < count)
        once = np.unique(np.stack([frame[inside], y[inside], x[inside]], axis=1), axis=0)  # a frame counts once
        np.add.at(hits, (once[:, 1], once[:, 2]), 1)
    walls = _widen(hits >= SEEN_TWICE, max(1, round(BODY / cell)))
    for r in rows:  # where somebody walked there is room
        feet = np.asarray(r["observation.state"][:, :2], dtype=np.float64)
        between = np.concatenate([feet[:-1] + (feet[1:] - feet[:-1]) * t for t in (0.0, 0.25, 0.5, 0.75)] + [feet[-1:]])
        x, y = ((between - low) / cell).astype(np.int64).T
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                walls[np.clip(y + dy, 0, count - 1), np.clip(x + dx, 0, columns - 1)] = False
    bits = base64.b64encode(zlib.compress(np.packbits(walls).tobytes(), 9)).decode()
    floor_cell, floor = FLOOR_CELL, _floors(rows, low, FLOOR_CELL)
    while len(floor) > MOST_FLOOR:
        floor_cell *= 1.5
        floor = _floors(rows, low, floor_cell)
    return Ground(cell=cell, origin=origin, shape=(count, columns), walls=bits, floor_cell=floor_cell, floor=floor)


def _points(dataset: Dataset, number: int, rows: Rows, step: int) -> tuple[F64, NDArray[np.int64]]:
    """What stands in the way in some frames of an episode: points [N, 3], and the frame of each."""
    episode, chunk = dataset.episodes[number], 16 * step
    found: list[F64] = []
    frames: list[NDArray[np.int64]] = []
    for first in range(0, episode.length, chunk):
        wanted = range(first, min(first + chunk, episode.length), step)
        depth = dataset.pictures(episode, "depth", wanted)
        thin = max(1, depth.shape[2] // MAP_COLUMNS)
        depth = depth[:, thin // 2 :: thin, thin // 2 :: thin].astype(np.float64)
        v, u = np.meshgrid(
            np.arange(depth.shape[1]) * thin + thin // 2 + 0.5, np.arange(depth.shape[2]) * thin + thin // 2 + 0.5, indexing="ij"
        )
        for picture, k in zip(depth, wanted, strict=True):
            K, c2w = np.asarray(rows["camera.K"][k]).reshape(3, 3), np.asarray(rows["camera.c2w"][k]).reshape(4, 4)
            near = np.isfinite(picture) & (picture < FURTHEST)
            z = picture[near]
            local = np.stack([(u[near] - K[0, 2]) / K[0, 0] * z, (v[near] - K[1, 2]) / K[1, 1] * z, z], axis=1)
            points = local @ c2w[:3, :3].T + c2w[:3, 3]
            above = points[:, 2] - float(rows["observation.state"][k][2])
            points = points[(above > KNEE) & (above < HEAD)]
            found.append(points)
            frames.append(np.full(len(points), number * 10_000_000 + k, dtype=np.int64))
    return np.concatenate(found), np.concatenate(frames)


def _floors(rows: Sequence[Rows], low: F64, cell: float) -> list[tuple[int, int, float]]:
    """Heights of feet on the ground by cell and storey."""
    heights: dict[tuple[int, int, int], list[float]] = {}
    for r in rows:
        grounded = np.asarray(r["flags"]).reshape(-1) & int(Flag.AIRBORNE) == 0
        for x, y, z in np.asarray(r["observation.state"], dtype=np.float64)[grounded, :3].tolist():
            heights.setdefault((int((x - low[0]) // cell), int((y - low[1]) // cell), round(z)), []).append(z)
    return [(x, y, round(float(np.median(z)), 4)) for (x, y, _), z in sorted(heights.items())]


def _widen(walls: NDArray[np.bool_], cells: int) -> NDArray[np.bool_]:
    """Everything within so many cells of something."""
    out = walls.copy()
    rows, columns = walls.shape
    for dy in range(-cells, cells + 1):
        for dx in range(-cells, cells + 1):
            if dx * dx + dy * dy <= cells * cells:
                to_y, from_y = slice(max(dy, 0), rows + min(dy, 0)), slice(max(-dy, 0), rows + min(-dy, 0))
                to_x, from_x = slice(max(dx, 0), columns + min(dx, 0)), slice(max(-dx, 0), columns + min(-dx, 0))
                out[to_y, to_x] |= walls[from_y, from_x]
    return out


def _cell(x: float, y: float, origin: tuple[float, float], cell: float) -> tuple[int, int]:
    return math.floor((x - origin[0]) / cell), math.floor((y - origin[1]) / cell)


def _unpack(ground: Ground) -> NDArray[np.bool_]:
    rows, columns = ground.shape
    if rows * columns > 2 * MOST_CELLS:
        raise ValueError(f"{rows} by {columns} cells")
    size = -(-rows * columns // 8)
    plain = zlib.decompressobj().decompress(base64.b64decode(ground.walls, validate=True), size + 1)
    if len(plain) != size:
        raise ValueError(f"{len(plain)} bytes for {rows} by {columns} cells")
    return np.unpackbits(np.frombuffer(plain, np.uint8), count=rows * columns).reshape(rows, columns).astype(bool)
