"""shot.json: everything about a shot but its rows and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES, Flag
from worldwright.errors import WorldwrightError
from worldwright.render.passes import PASSES, PassInfo
from worldwright.render.planes import STORE, plane_shape
from worldwright.world.spec import Look

INFO_FILE, ROWS_FILE, TAKE_FILE, RGB_FILE = "shot.json", "frames.parquet", "take.mcap", "rgb.mp4"
MAX_INFO_BYTES = 64 << 20

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Text = Annotated[str, Field(max_length=4000)]
Count = Annotated[int, Field(ge=1, le=100_000_000)]
Side = Annotated[int, Field(ge=2, le=16384)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RendererInfo(_Strict):
    """Who made the pictures, on what, with how many samples a pixel (None: it does not sample), and how light became colour."""

    name: Text
    version: Text
    device: Text
    samples: Count | None = None
    exposure: Annotated[float, Field(allow_inf_nan=False, gt=0)] = 1.0
    tone_curve: Text = "as the renderer's documentation says"


class MotionBlur(_Strict):
    """rgb is the mean in linear light of ``subframes`` instants in the middles of equal slices of the time that the shutter is open:
    from the frame's instant on, for ``shutter`` of a frame's duration. The other passes are never blurred."""

    subframes: Annotated[int, Field(ge=2, le=256)]
    shutter: Annotated[float, Field(gt=0, le=1)]


class Conventions(_Strict):
    """What the numbers mean."""

    axes: Text = "right-handed, Z up"
    units: Text = "metres, seconds, kilograms, radians"
    quaternion: Text = "w, x, y, z"
    camera: Text = (
        "OpenCV: x right, y down, z forward; c2w is 4x4 camera-to-world; K is 3x3 in pixels, square pixels, no distortion"
    )
    pixel_centre: Text = "the centre of pixel (column u, row v) is (u + 0.5, v + 0.5); row 0 is the top"
    action: Text = "action[i] is what was held from frame i to frame i + 1; frame i + 1 shows its effect"
    time: Text = "t_ns = tick * 1000000000 // tick_rate; tick = (first_frame + frame) * frame_ticks"
    passes: Text = "sampled at pixel centres at the frame's instant, not filtered, not blurred; rgb is anti-aliased"


class PassEntry(_Strict):
    """One array of the Zarr group."""

    file: Annotated[str, Field(max_length=64)]
    dtype: Annotated[str, Field(max_length=16)]
    shape: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=3, max_length=4)]
    attributes: dict[str, Any]


class VideoInfo(_Strict):
    """The rgb video. Values are sRGB-coded; frame i stands at exactly i / frame_rate seconds."""

    file: Literal["rgb.mp4"] = "rgb.mp4"
    codec: Text = "h264"
    pixel_format: Text = "yuv420p"
    colour_range: Text = "limited"
    matrix: Text = "bt709"
    primaries: Text = "bt709"
    transfer: Text = "bt709"
    group: Count = 24
    settings: dict[str, Any] = {}


class EntityName(_Strict):
    """An id of the entity pass."""

    id: Annotated[int, Field(ge=0, le=65535)]
    name: Text
    label: Text


class ShotInfo(_Strict):
    """The whole of shot.json. ``id`` is the content id of the request: the same take, camera, preset, rate, passes and renderer."""

    format: Literal["worldwright.shot/1"] = "worldwright.shot/1"
    id: Hash
    take_hash: Hash
    take_file: Literal["take.mcap"] = "take.mcap"
    take_partial: bool = False
    """The take was cut off, and only its whole beginning was used."""
    world_hash: Annotated[str, Field(max_length=128)]
    world_name: Text
    renderer: RendererInfo
    camera: dict[str, Any]
    """As ``cameras.camera_from`` takes it: enough to compute every pose again from the take."""
    preset: Annotated[str, Field(max_length=32)]
    width: Side
    height: Side
    frame_rate: tuple[Count, Count]
    """Frames a second as a fraction [numerator, denominator]."""
    tick_rate: Count
    frame_ticks: Count
    n_frames: Count
    first_frame: Annotated[int, Field(ge=0, le=100_000_000)] = 0
    """Row 0 is this frame of the take, counted at this shot's rate."""
    motion_blur: MotionBlur | None = None
    look: Look | None = None
    """The light and weather put on the take's world; None: its own."""
    conventions: Conventions = Conventions()
    action_names: tuple[str, ...] = ACTION_NAMES
    effect_names: tuple[str, ...] = EFFECT_NAMES
    flag_names: dict[str, int] = {flag.name or str(flag.value): flag.value for flag in Flag}
    passes: dict[str, PassEntry]
    absent: list[Annotated[str, Field(max_length=64)]] = []
    """Passes that were not asked for or that the renderer cannot give."""
    rgb: VideoInfo | None
    entities: Annotated[list[EntityName], Field(max_length=65536)]
    versions: dict[str, Annotated[str, Field(max_length=64)]] = {}

    @property
    def rate(self) -> Fraction:
        """Frames a second, exactly."""
        return Fraction(*self.frame_rate)

    @property
    def pass_infos(self) -> list[PassInfo]:
        """The stored passes but rgb, in our order."""
        return [info for name, info in PASSES.items() if name in self.passes]

    @property
    def all_passes(self) -> tuple[str, ...]:
        """The names of the passes that the shot has, rgb first."""
        return (*(("rgb",) if self.rgb is not None else ()), *(info.name for info in self.pass_infos))

    @model_validator(mode="after")
    def _consistent(self) -> ShotInfo:
        if unknown := sorted(set(self.passes) - set(PASSES)):
            raise ValueError(f"passes: {unknown} are no passes, there are {sorted(PASSES)}")
        for name, entry in self.passes.items():
            info = PASSES[name]
            shape = [self.n_frames, *plane_shape(info, self.height, self.width)]
            if (entry.file, entry.dtype, entry.shape) != (f"{STORE}/{name}", info.dtype, shape):
                raise ValueError(
                    f"passes.{name}: {entry.file} {entry.dtype} {entry.shape}, expected {STORE}/{name} {info.dtype} {shape}"
                )
        if not self.passes and self.rgb is None:
            raise ValueError("no pass at all")
        if self.rate != Fraction(self.tick_rate, self.frame_ticks):
            raise ValueError(f"frame_rate {self.frame_rate} is not tick_rate / frame_ticks = {self.tick_rate} / {self.frame_ticks}")
        if self.action_names != ACTION_NAMES or self.effect_names != EFFECT_NAMES:
            raise ValueError("action_names or effect_names are not those of this version")
        if len({entity.id for entity in self.entities}) != len(self.entities):
            raise ValueError("entities: an id is there twice")
        return self


def pass_entries(
    names: list[str], frames: int, height: int, width: int, declared: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, PassEntry]:
    """The ``passes`` of a shot that stores these as we do. ``declared``: what they say beside the conventions (``declared.py``)."""
    return {
        name: PassEntry(
            file=f"{STORE}/{name}",
            dtype=PASSES[name].dtype,
            shape=[frames, *plane_shape(PASSES[name], height, width)],
            attributes=PASSES[name].attributes() | dict((declared or {}).get(name, {})),
        )
        for name in names
    }


def read_info(folder: Path) -> ShotInfo:
    """Read and check ``shot.json``."""
    path = folder / INFO_FILE
    try:
        if path.stat().st_size > MAX_INFO_BYTES:
            raise WorldwrightError(f"larger than {MAX_INFO_BYTES} bytes", where=str(path))
        return ShotInfo.model_validate_json(path.read_bytes())
    except OSError as error:
        raise WorldwrightError(f"unreadable ({error.strerror or error})", where=str(path), fix="render the shot again") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "document"
        got = repr(first["input"])
        shown = f" (got {got[:80]})" if len(got) < 400 else ""
        raise WorldwrightError(f"{first['msg']}{shown}", where=f"{path}: {field}", fix="render the shot again") from error


def write_info(folder: Path, info: ShotInfo) -> None:
    """Write ``shot.json``."""
    (folder / INFO_FILE).write_text(info.model_dump_json(indent=1) + "\n")
