"""Cameras of a shot: a rig that was recorded, an orbit, a fixed place, or a path from a file. Many from one take.

A camera is a description (what shot.json keeps, enough to compute every pose again from the take) and a function of the instant.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from worldwright.documents import parse_document, read_text
from worldwright.errors import WorldwrightError
from worldwright.render.protocol import View
from worldwright.take.model import Instant, TakeHeader
from worldwright.transforms import camera_look, camera_look_at, intrinsics, matrix_to_quat, quat_normalise

MAX_FILE_BYTES, MAX_KEYS = 32 << 20, 100_000

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)]
Point = tuple[Finite, Finite, Finite]
Fov = Annotated[float, Field(allow_inf_nan=False, ge=1, le=170)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rig(_Strict):
    """A camera that was recorded with the take. ``hidden`` are the entities that it does not see: the first-person rig's own body.

    ``shear``: it looks up and down as old games do: the camera stays level and the picture is shifted, so that what was recorded in the
    middle is in the middle, and upright lines stay upright.
    """

    kind: Literal["rig"] = "rig"
    rig: Annotated[str, Field(max_length=64)]
    fov_y_deg: Fov
    hidden: Annotated[tuple[Annotated[int, Field(ge=1, le=65535)], ...], Field(max_length=16)] = ()
    shear: Literal[True] | None = None


class Orbit(_Strict):
    """Circles around the played character, counter-clockwise from above, and looks at it. It does not know the walls: where there is
    no room for the radius, the camera goes through geometry (``verify`` says so); take a smaller radius there.

    Position: character + (radius cos a, radius sin a, height) with a = phase + 2 pi seconds / period; it looks at the point
    ``aim`` metres above the character's feet.
    """

    kind: Literal["orbit"] = "orbit"
    radius: Annotated[float, Field(allow_inf_nan=False, gt=0.1, le=1000)] = 4.0
    height: Finite = 1.6
    period: Annotated[float, Field(allow_inf_nan=False, gt=0.1, le=1e6)] = 12.0
    phase_deg: Finite = 0.0
    aim: Finite = 1.0
    fov_y_deg: Fov = 60.0


class Fixed(_Strict):
    """Stands still and looks at a point."""

    kind: Literal["fixed"] = "fixed"
    position: Point
    look_at: Point
    fov_y_deg: Fov = 60.0

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if math.dist(self.position, self.look_at) < 1e-6:
            raise ValueError("position and look_at are the same point")
        return self


class KeyedPath(_Strict):
    """Keys in time: ``ticks`` ascending, ``positions``, and either ``rotations`` (w, x, y, z of c2w) or ``look_at``, and ``fov_y_deg``.

    ``spline``: natural cubic splines through the positions (and what is looked at and the field of view), and through the rotations a
    spline with continuous acceleration; ``linear``: straight lines and constant turning. Before the first key and after the last the
    camera stands still.
    """

    kind: Literal["path"] = "path"
    interpolation: Literal["spline", "linear"] = "spline"
    ticks: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False, ge=-1e12, le=1e12)]], Field(min_length=1, max_length=MAX_KEYS)
    ]
    positions: list[Point]
    rotations: list[tuple[Finite, Finite, Finite, Finite]] | None = None
    look_at: list[Point] | None = None
    fov_y_deg: list[Fov]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.rotations is None) == (self.look_at is None):
            raise ValueError("either rotations or look_at")
        turns: Sequence[Sequence[float]] = self.rotations or self.look_at or []
        if not len(self.ticks) == len(self.positions) == len(turns) == len(self.fov_y_deg):
            raise ValueError("lists of different lengths")
        for k, (a, b) in enumerate(zip(self.ticks, self.ticks[1:], strict=False)):
            if not a < b:
                raise ValueError(f"key {k + 1}: time {b:g} is not after {a:g}")
        for k, turn in enumerate(turns):
            if self.rotations is not None and abs(math.hypot(*turn) - 1) > 1e-3:
                raise ValueError(f"key {k}: rotation {turn} is not a unit quaternion (w, x, y, z)")
            if self.look_at is not None and math.dist(self.positions[k], turn) < 1e-6:
                raise ValueError(f"key {k}: position and look_at are the same point")
        return self


Description = Annotated[Rig | Orbit | Fixed | KeyedPath, Field(discriminator="kind")]
_DESCRIPTION: TypeAdapter[Rig | Orbit | Fixed | KeyedPath] = TypeAdapter(Description)


class CameraTrack:
    """A camera over the time of a take. ``describe()`` is JSON from which ``camera_from`` makes the same camera again."""

    def __init__(self, description: Rig | Orbit | Fixed | KeyedPath, tick_rate: int) -> None:
        self.description, self.tick_rate = description, tick_rate

    def describe(self) -> dict[str, Any]:
        """The whole camera as plain JSON values."""
        return self.description.model_dump(mode="json", exclude_none=True)

    def view(self, instant: Instant, width: int, height: int) -> View:
        """The camera at an instant (any tick, whole or not) for a picture of this size."""
        hidden: tuple[int, ...] = ()
        match self.description:
            case Rig(rig=rig, fov_y_deg=fov, hidden=hidden, shear=shear):
                c2w = np.asarray(instant.cameras[rig], dtype=np.float64)
                if shear:
                    return _sheared(c2w, intrinsics(width, height, math.radians(fov)), hidden)
            case Orbit() as orbit:
                c2w, fov = _orbit_pose(orbit, instant, self.tick_rate), orbit.fov_y_deg
            case Fixed(position=position, look_at=look_at, fov_y_deg=fov):
                c2w = camera_look_at(position, look_at)
            case KeyedPath():
                c2w, fov = self._curve.at(instant.tick)
        return View(c2w, intrinsics(width, height, math.radians(fov)), hidden)

    @cached_property
    def _curve(self) -> _Curve:
        assert isinstance(self.description, KeyedPath)
        return _Curve(self.description)


def _sheared(c2w: NDArray[np.float64], K: NDArray[np.float64], hidden: tuple[int, ...]) -> View:
    """The level camera whose picture is shifted until its middle shows what lies along ``c2w``'s axis."""
    x, y, z = c2w[:3, 2].tolist()
    K[1, 2] += K[1, 1] * z / math.hypot(x, y)
    return View(camera_look(c2w[:3, 3], math.atan2(y, x), 0.0), K, hidden)


def _orbit_pose(orbit: Orbit, instant: Instant, tick_rate: int) -> NDArray[np.float64]:
    angle = math.radians(orbit.phase_deg) + 2 * math.pi * instant.tick / tick_rate / orbit.period
    feet = np.asarray(instant.characters[0].position, dtype=np.float64)
    place = feet + np.array([orbit.radius * math.cos(angle), orbit.radius * math.sin(angle), orbit.height])
    return camera_look_at(place, feet + np.array([0.0, 0.0, orbit.aim]))


class _Curve:
    """A path's interpolants."""

    def __init__(self, path: KeyedPath) -> None:
        from scipy.spatial.transform import Rotation, RotationSpline, Slerp  # here: half of this module's time to import is SciPy's

        ticks = np.array(path.ticks)
        self._range = float(ticks[0]), float(ticks[-1])
        columns = [path.positions, path.look_at or [], np.array(path.fov_y_deg)[:, None]]
        flat = np.concatenate([np.array(c, dtype=np.float64).reshape(len(ticks), -1) for c in columns], axis=1)
        self._looks = path.look_at is not None
        self._flat: Any = _interpolant(ticks, flat, path.interpolation)
        self._turn: Any = None
        if path.rotations is not None:
            turns = Rotation.from_quat(quat_normalise(path.rotations), scalar_first=True)
            if len(ticks) == 1:
                self._turn = lambda _tick: turns[0]
            else:
                self._turn = (RotationSpline if path.interpolation == "spline" and len(ticks) > 2 else Slerp)(ticks, turns)

    def at(self, tick: float) -> tuple[NDArray[np.float64], float]:
        """c2w [4, 4] and the vertical field of view in degrees."""
        tick = min(max(tick, self._range[0]), self._range[1])
        values = self._flat(tick)
        if self._looks:
            return camera_look_at(values[:3], values[3:6]), float(np.clip(values[6], 1, 170))
        c2w = np.eye(4)
        c2w[:3, :3], c2w[:3, 3] = self._turn(tick).as_matrix(), values[:3]
        return c2w, float(np.clip(values[3], 1, 170))


def _interpolant(ticks: NDArray[np.float64], values: NDArray[np.float64], kind: str) -> Any:
    if len(ticks) == 1:
        return lambda _tick: values[0]
    if kind == "spline" and len(ticks) > 2:
        from scipy.interpolate import CubicSpline

        return CubicSpline(ticks, values, bc_type="natural")
    return lambda tick: np.array([np.interp(tick, ticks, column) for column in values.T])


# --- from what a user writes ----------------------------------------------------------------------------------------------------


def make_camera(source: str | Path | Mapping[str, Any], header: TakeHeader) -> CameraTrack:
    """The camera that ``source`` means for this take.

    ``first`` or ``third`` (any recorded rig), ``orbit[:radius=4,height=1.6,period=12,fov=60,phase=0,aim=1]``,
    ``fixed:x,y,z,look_x,look_y,look_z[,fov]``, the path of a file (YAML, JSON, CSV, Parquet), or a description.
    """
    if isinstance(source, Mapping):
        return camera_from(source, header.tick_rate, where="camera")
    text = str(source)
    if text in header.rigs:
        hidden = header.character_ids[:1] if text == "first" else ()
        camera = header.world.camera
        shear = True if camera.shear else None
        return CameraTrack(Rig(rig=text, fov_y_deg=camera.fov_y_deg, hidden=hidden, shear=shear), header.tick_rate)
    if (track := free_camera(text, header.tick_rate)) is not None:
        return track
    raise no_camera(text, header.rigs)


def no_camera(text: str, rigs: Sequence[str]) -> WorldwrightError:
    """What to say of a camera that is neither of these rigs nor anything else."""
    files = ", ".join((*_DOCUMENTS, *_TABLES))
    fix = f"choose a recorded rig ({', '.join(rigs)}), orbit, fixed:x,y,z,look_x,look_y,look_z, or a file ({files})"
    return WorldwrightError(f"no camera {text!r}", where="camera", fix=fix)


def free_camera(text: str, tick_rate: int) -> CameraTrack | None:
    """The camera that ``text`` means for any take at this tick rate; None where it can only be the name of a rig."""
    kind, colon, rest = text.partition(":")
    if kind == "orbit":
        options = _orbit_options(rest) if colon else {}
        return camera_from({"kind": "orbit", **options}, tick_rate, where="camera orbit")
    if kind == "fixed":
        fix = "write fixed:x,y,z,look_x,look_y,look_z or one more for the fov"
        numbers = _numbers(rest, "camera fixed", fix)
        if len(numbers) not in {6, 7}:
            raise WorldwrightError(f"{len(numbers)} numbers", where=f"camera {text}", fix=fix)
        fov = {"fov_y_deg": numbers[6]} if len(numbers) == 7 else {}
        return camera_from(
            {"kind": "fixed", "position": numbers[:3], "look_at": numbers[3:6], **fov}, tick_rate, where="camera fixed"
        )
    return CameraTrack(read_path(Path(text), tick_rate), tick_rate) if is_camera_file(text) else None


def is_camera_file(text: str) -> bool:
    """Whether ``text`` names a file of poses, by its ending."""
    return not text.startswith(("orbit", "fixed:")) and Path(text).suffix.lower() in (*_DOCUMENTS, *_TABLES)


def camera_from(description: Mapping[str, Any], tick_rate: int, *, where: str) -> CameraTrack:
    """A camera from its description, checked."""
    try:
        return CameraTrack(_DESCRIPTION.validate_python(dict(description)), tick_rate)
    except ValidationError as error:
        raise WorldwrightError(_first(error), where=where) from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field}: {first['msg']} (got {str(first['input'])[:80]})"


def _numbers(text: str, where: str, fix: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise WorldwrightError(f"{text!r} are not numbers", where=where, fix=fix) from error


_ORBIT_OPTIONS = {
    "radius": "radius",
    "height": "height",
    "period": "period",
    "fov": "fov_y_deg",
    "phase": "phase_deg",
    "aim": "aim",
}
"""What a user writes after ``orbit:``, and the field that it is."""


def _orbit_options(text: str) -> dict[str, float]:
    where, fix = "camera orbit", "write orbit alone, or orbit:radius=4,height=1.6,period=12,fov=60,phase=0,aim=1 or some of these"
    if not text.strip():
        raise WorldwrightError("no option after the colon", where=where, fix=fix)
    out: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise WorldwrightError(f"{part!r} is not name=number", where=where, fix=fix)
        if name not in _ORBIT_OPTIONS:
            raise WorldwrightError(f"no option {name!r}", where=where, fix=f"there are: {', '.join(_ORBIT_OPTIONS)}")
        if _ORBIT_OPTIONS[name] in out:
            raise WorldwrightError(f"{name} is given twice", where=where, fix="leave one of them out")
        (out[_ORBIT_OPTIONS[name]],) = _numbers(value, f"{where}: {name}", fix)
    return out


# --- paths from files -----------------------------------------------------------------------------------------------------------


class _Key(_Strict):
    t: Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)] | None = None
    tick: Annotated[float, Field(allow_inf_nan=False, ge=-1e12, le=1e12)] | None = None
    position: Point
    yaw_deg: Finite | None = None
    pitch_deg: Finite = 0.0
    rotation: tuple[Finite, Finite, Finite, Finite] | None = None
    look_at: Point | None = None
    fov_y_deg: Fov | None = None

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.t is None) == (self.tick is None):
            raise ValueError("give t (seconds) or tick, one of them")
        if sum(x is not None for x in (self.yaw_deg, self.rotation, self.look_at)) != 1:
            raise ValueError("give yaw_deg (and pitch_deg), rotation or look_at, one of them")
        return self


class CameraPath(_Strict):
    """A camera file."""

    format: Literal["worldwright.camerapath/1"] = "worldwright.camerapath/1"
    interpolation: Literal["spline", "linear"] = "spline"
    fov_y_deg: Fov = 60.0
    keys: Annotated[list[_Key], Field(min_length=1, max_length=MAX_KEYS)]


def read_path(path: Path, tick_rate: int) -> KeyedPath:
    """A camera path from a file.

    YAML or JSON: ``{interpolation: spline, fov_y_deg: 60, keys: [{t: 0.0, position: [x, y, z], yaw_deg: 90, pitch_deg: 0}, ...]}``,
    where a key has ``t`` in seconds or ``tick``, and ``yaw_deg`` with ``pitch_deg``, ``rotation`` (w, x, y, z of camera-to-world,
    OpenCV axes) or ``look_at``. CSV or Parquet: the same as columns ``t | tick, x, y, z, yaw_deg, pitch_deg | qw, qx, qy, qz |
    look_x, look_y, look_z, fov_y_deg``.
    """
    if path.suffix.lower() in _DOCUMENTS:
        return _checked(lambda: _to_path(parse_document(read_text(path, "camera path"), str(path), CameraPath), tick_rate), path)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise WorldwrightError(f"{size} bytes", where=str(path), fix=f"a camera file has at most {MAX_FILE_BYTES}")
        keys = _TABLES[path.suffix.lower()](path)
    except OSError as error:
        raise WorldwrightError(f"cannot be read ({error.strerror or error})", where=str(path), fix="name a camera file") from error
    except (ValueError, csv.Error, pa.ArrowException) as error:
        raise WorldwrightError(f"unreadable ({error})", where=str(path)) from error
    return _checked(lambda: _to_path(CameraPath.model_validate({"keys": keys}), tick_rate), path)


def _checked(make: Callable[[], KeyedPath], path: Path) -> KeyedPath:
    try:
        return make()
    except ValidationError as error:
        raise WorldwrightError(_first(error), where=str(path)) from error


def _to_path(file: CameraPath, tick_rate: int) -> KeyedPath:
    looks = all(key.look_at is not None for key in file.keys)
    return KeyedPath(
        interpolation=file.interpolation,
        ticks=[key.tick if key.tick is not None else (key.t or 0.0) * tick_rate for key in file.keys],
        positions=[key.position for key in file.keys],
        rotations=None if looks else [_rotation(key) for key in file.keys],
        look_at=[key.look_at for key in file.keys if key.look_at is not None] if looks else None,
        fov_y_deg=[key.fov_y_deg or file.fov_y_deg for key in file.keys],
    )


def _rotation(key: _Key) -> tuple[float, float, float, float]:
    if key.rotation is not None:
        return key.rotation
    if key.look_at is not None:
        c2w = camera_look_at(key.position, key.look_at)
    else:
        c2w = camera_look(key.position, math.radians(key.yaw_deg or 0.0), math.radians(key.pitch_deg))
    w, x, y, z = (float(value) for value in matrix_to_quat(c2w[:3, :3]))
    return (w, x, y, z)


def _keys_from_columns(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a table to keys; columns that are not ours stay, and are refused by name."""
    groups = {"position": ("x", "y", "z"), "rotation": ("qw", "qx", "qy", "qz"), "look_at": ("look_x", "look_y", "look_z")}
    keys = []
    for row in rows:
        key = {name: value for name, value in row.items() if value not in (None, "")}
        for name, columns in groups.items():
            if any(column in key for column in columns):
                key[name] = [key.pop(column, None) for column in columns]
        keys.append(key)
    return keys


def _read_csv(path: Path) -> list[dict[str, Any]]:
    return _keys_from_columns(list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True)))


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    file = pq.ParquetFile(path)
    if file.metadata.num_rows > MAX_KEYS or file.metadata.num_columns > 64:
        raise ValueError(f"{file.metadata.num_rows} rows of {file.metadata.num_columns} columns")
    return _keys_from_columns(file.read().to_pylist())


_DOCUMENTS = (".yaml", ".yml", ".json")
_TABLES: dict[str, Callable[[Path], list[dict[str, Any]]]] = {".csv": _read_csv, ".parquet": _read_parquet}
