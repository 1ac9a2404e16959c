"""The world spec: an executable specification of a world, as a document.

Right-handed, Z up, metres, seconds, kilograms, radians (names in ``_deg`` are degrees, for people). Quaternions are (w, x, y, z).
Colours are linear RGB in [0, 1]. An entity's integer id is its place in ``entities`` plus one; characters follow; 0 is the sky.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)]
Positive = Annotated[float, Field(allow_inf_nan=False, gt=0, le=1e6)]
NotNegative = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e6)]
Unit = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1)]
Vec3 = tuple[Finite, Finite, Finite]
Size3 = tuple[Positive, Positive, Positive]
Colour = tuple[Unit, Unit, Unit]
WindSpeed = Annotated[float, Field(allow_inf_nan=False, ge=-60, le=60)]
GradeGain = Annotated[float, Field(allow_inf_nan=False, ge=0, le=8)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\- ]{0,63}$")]


def _unit_quaternion(q: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    n = math.sqrt(sum(x * x for x in q))
    if abs(n - 1) > 1e-3:
        raise ValueError(f"quaternion (w, x, y, z) of length {n:.4g} is not a unit quaternion")
    if abs(n - 1) < 1e-12:  # as it is: a document read back must be the same to the last bit
        return q
    w, x, y, z = (x / n for x in q)
    return (w, x, y, z)


Quat = Annotated[tuple[Finite, Finite, Finite, Finite], AfterValidator(_unit_quaternion)]
IDENTITY: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
ORIGIN: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Strict(BaseModel):
    """Frozen, and an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- materials --------------------------------------------------------------------------------------------------------------


class Texture(Strict):
    """A procedural PBR texture, made from its numbers alone. ``size_m`` metres of surface carry one repeat."""

    kind: Literal["brick", "tile", "wood", "concrete", "metal", "grass", "fabric", "plaster", "stone", "checker", "bark", "dirt"]
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    size_m: Positive = 1.0
    second: Colour = (0.5, 0.5, 0.5)
    """The second colour (mortar, joint, grain, weave); the first is the material's base colour."""


class Material(Strict):
    """Metallic-roughness PBR, as in glTF 2.0. A texture modulates the base colour, the roughness and the metalness."""

    base_colour: Colour = (0.8, 0.8, 0.8)
    metallic: Unit = 0.0
    roughness: Unit = 0.7
    emissive: tuple[NotNegative, NotNegative, NotNegative] = (0.0, 0.0, 0.0)
    texture: Texture | None = None


# --- geometry ---------------------------------------------------------------------------------------------------------------


class Box(Strict):
    """A box of full edge lengths ``size``, centred."""

    shape: Literal["box"]
    size: Size3


class Sphere(Strict):
    """A sphere, centred."""

    shape: Literal["sphere"]
    radius: Positive


class Cylinder(Strict):
    """A cylinder along Z, centred."""

    shape: Literal["cylinder"]
    radius: Positive
    height: Positive


class Cone(Strict):
    """A cone along Z, its apex up, centred on half its height."""

    shape: Literal["cone"]
    radius: Positive
    height: Positive


class Capsule(Strict):
    """A capsule along Z, centred; ``height`` is the whole height, caps included."""

    shape: Literal["capsule"]
    radius: Positive
    height: Positive


class Wedge(Strict):
    """A ramp in the box ``size``, centred: its top rises from the bottom at -X to the top at +X."""

    shape: Literal["wedge"]
    size: Size3


class Heightfield(Strict):
    """A surface over the rectangle ``size`` (x, y), centred; ``heights[row][column]`` in metres, rows along +Y, columns along +X."""

    shape: Literal["heightfield"]
    size: tuple[Positive, Positive]
    heights: Annotated[list[Annotated[list[Finite], Field(min_length=2, max_length=513)]], Field(min_length=2, max_length=513)]

    @model_validator(mode="after")
    def _rectangular(self) -> Heightfield:
        widths = {len(row) for row in self.heights}
        if len(widths) != 1:
            raise ValueError(f"heights: rows of different lengths {sorted(widths)}")
        return self


class TriangleMesh(Strict):
    """Triangles written in the document; flat-shaded. Counter-clockwise from outside."""

    shape: Literal["mesh"]
    vertices: Annotated[list[Vec3], Field(min_length=3, max_length=200_000)]
    triangles: Annotated[list[tuple[int, int, int]], Field(min_length=1, max_length=400_000)]

    @model_validator(mode="after")
    def _indices(self) -> TriangleMesh:
        for k, triangle in enumerate(self.triangles):
            if min(triangle) < 0 or max(triangle) >= len(self.vertices):
                raise ValueError(f"triangles[{k}] = {triangle}: index out of range, there are {len(self.vertices)} vertices")
        return self


def _inside(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "~")) or ".." in parts or ":" in path or "\x00" in path or not path.strip():
        raise ValueError(f"path {path!r} leaves its folder")
    return path


InsidePath = Annotated[str, Field(max_length=512), AfterValidator(_inside)]


class GltfModel(Strict):
    """A glTF 2.0 file (.gltf or .glb) in a pack. glTF's Y up becomes our Z up: (x, y, z) -> (x, -z, y)."""

    shape: Literal["gltf"]
    pack: Name
    path: InsidePath
    scale: Positive = 1.0


Geometry = Annotated[
    Box | Sphere | Cylinder | Cone | Capsule | Wedge | Heightfield | TriangleMesh | GltfModel,
    Field(discriminator="shape"),
]


class Part(Strict):
    """One piece of an entity: a geometry at a pose in the entity's frame. ``material`` is needed for all but glTF models."""

    geometry: Geometry
    position: Vec3 = ORIGIN
    rotation: Quat = IDENTITY
    material: Name | None = None
    collide: bool = True
    """False: seen but not touched (leaves, a rug, a flame)."""


# --- bodies -----------------------------------------------------------------------------------------------------------------


class Hinge(Strict):
    """Holds a dynamic body to the world at ``anchor`` (body frame), turning about ``axis`` (body frame)."""

    kind: Literal["hinge"]
    anchor: Vec3
    axis: Vec3 = (0.0, 0.0, 1.0)
    lower: Finite = -math.pi
    upper: Finite = math.pi
    friction: NotNegative = 0.0
    """Torque against turning, in N m."""

    @model_validator(mode="after")
    def _order(self) -> Hinge:
        if self.lower > self.upper:
            raise ValueError(f"lower {self.lower} is above upper {self.upper}")
        if math.sqrt(sum(x * x for x in self.axis)) < 1e-6:
            raise ValueError("axis has no length")
        return self


class Shuttle(Strict):
    """Moves a kinematic body from its position to ``to`` and back, smoothly, once in ``period`` seconds."""

    kind: Literal["shuttle"]
    to: Vec3
    period: Positive


class Entity(Strict):
    """One thing in the world, with its semantic label."""

    name: Name
    label: Name
    body: Literal["static", "dynamic", "kinematic"] = "static"
    position: Vec3 = ORIGIN
    rotation: Quat = IDENTITY
    parts: Annotated[list[Part], Field(min_length=1, max_length=4096)]
    mass: Positive | None = None
    """Kilograms; needed for dynamic bodies, and for them alone."""
    friction: NotNegative = 0.6
    restitution: Unit = 0.1
    """Share of the speed that a bounce keeps. The built-in engine bounces a little higher: about 0.05 more at 0.7."""
    linear_damping: Unit = 0.02
    angular_damping: Unit = 0.05
    velocity: Vec3 = ORIGIN
    """Linear velocity at tick 0, m/s; dynamic bodies only."""
    joint: Hinge | None = None
    path: Shuttle | None = None
    pushable: bool = False
    stand_in: bool = False
    """Its shape stands for something else, such as a flat picture that an engine draws itself: it says where and how large it is."""

    @model_validator(mode="after")
    def _body(self) -> Entity:
        if (self.body == "dynamic") != (self.mass is not None):
            raise ValueError(f"mass is {self.mass} and body is {self.body}: dynamic bodies need a mass, others have none")
        if self.joint is not None and self.body != "dynamic":
            raise ValueError("only a dynamic body can have a joint")
        if self.path is not None and self.body != "kinematic":
            raise ValueError("only a kinematic body can have a path")
        return self


# --- light and weather ------------------------------------------------------------------------------------------------------


class Sun(Strict):
    """Parallel light: the sun, or at night the moon. Azimuth is where it stands, counter-clockwise from +X. ``intensity`` is irradiance
    (1 = a white wall lit head-on reads about 1 / pi): of what arrives, or under a physical sky above the air, which then takes its part."""

    azimuth_deg: Finite = 40.0
    elevation_deg: Annotated[float, Field(allow_inf_nan=False, ge=-90, le=90)] = 45.0
    colour: Colour = (1.0, 0.95, 0.87)
    intensity: NotNegative = 3.2


class Sky(Strict):
    """Light from the dome. Radiance.

    ``gradient``: from zenith to horizon, and the ground's reflection from below. ``physical``: computed from where the sun stands and how
    hazy the air is (``render/sky.py``); it reddens the sun, too, and takes ``ground`` as the albedo of the land around. ``intensity`` is
    a factor on the dome alone.
    """

    model: Literal["gradient", "physical"] = "gradient"
    zenith: Colour = (0.20, 0.38, 0.75)
    horizon: Colour = (0.70, 0.80, 0.92)
    ground: Colour = (0.22, 0.20, 0.18)
    intensity: NotNegative = 1.0
    turbidity: Annotated[float, Field(allow_inf_nan=False, ge=1, le=10)] = 2.5
    """Haze of a physical sky: 1 is air without any, 2 to 3 a clear day, 6 a hazy one."""
    stars: NotNegative = 0.0
    """Radiance of the brightest stars; above 0 the moon shows its disc where the sun's direction is."""


class Lamp(Strict):
    """A point light. ``intensity`` is radiant intensity; light falls with the square of the distance and ends smoothly at ``reach``."""

    name: Name
    position: Vec3
    colour: Colour = (1.0, 0.82, 0.6)
    intensity: NotNegative = 3.0
    reach: Positive = 10.0
    shadow: bool = False


class Water(Strict):
    """All that there is lies under water. The share ``exp(-absorption * metres)`` of each colour comes through; the rest has the colour of
    ``scatter`` (radiance). ``caustics`` is how strongly waves above gather the sun's light on what looks up."""

    absorption: tuple[NotNegative, NotNegative, NotNegative] = (0.22, 0.075, 0.06)
    scatter: Colour = (0.012, 0.10, 0.20)
    caustics: Unit = 0.8


class Weather(Strict):
    """What is between things, and what it leaves on them. Fog is exponential: the share ``exp(-fog_density * metres)`` comes through.

    ``rain``, ``snow`` and ``dust`` are how much of it is in the air, 1 being a downpour, a thick fall, a dust storm; falling snow lies on
    what looks up, too. ``wetness`` is of surfaces. Neither falls, lies nor wets under what stands in its way above. ``wind`` is m/s.
    """

    fog_density: NotNegative = 0.0
    fog_colour: Colour = (0.7, 0.75, 0.8)
    rain: Unit = 0.0
    snow: Unit = 0.0
    dust: Unit = 0.0
    wetness: Unit = 0.0
    cloud_cover: Unit = 0.0
    wind: tuple[WindSpeed, WindSpeed, WindSpeed] = ORIGIN
    water: Water | None = None


class Light(Strict):
    """All light of a world. ``exposure`` is a factor on radiance before tone mapping."""

    sun: Sun | None = Sun()
    sky: Sky = Sky()
    lamps: Annotated[list[Lamp], Field(max_length=64)] = []
    exposure: Positive = 1.0


class Grade(Strict):
    """What is done to the exposed picture in linear light before the tone curve, in this order: white balance, gain, saturation, contrast
    about mid-grey. The defaults change nothing."""

    temperature: Annotated[float, Field(allow_inf_nan=False, ge=2000, le=25_000)] = 6504.0
    """Kelvin of the light that is to look white, as on a camera: below 6504 the picture turns bluer, above it warmer."""
    tint: Annotated[float, Field(allow_inf_nan=False, ge=-1, le=1)] = 0.0
    """Towards magenta (positive) or green."""
    gain: tuple[GradeGain, GradeGain, GradeGain] = (1.0, 1.0, 1.0)
    saturation: Annotated[float, Field(allow_inf_nan=False, ge=0, le=4)] = 1.0
    contrast: Annotated[float, Field(allow_inf_nan=False, ge=0.25, le=4)] = 1.0
    """Power about 0.18: above 1 dark becomes darker and bright brighter."""


class Look(Strict):
    """Another light, weather and grade over the same world: what is named here takes the place of the world's own. Shapes, surfaces,
    lamps and bodies stay as they are, so one take can be shown in many looks."""

    name: Name
    description: Annotated[str, Field(max_length=400)] = ""
    hour: Annotated[float, Field(allow_inf_nan=False, ge=0, lt=24)] | None = None
    """Local solar time on the day of an equinox, 12 at noon: where the sun stands then takes the place of the sun's own azimuth and
    elevation. +X is east, +Y north."""
    latitude_deg: Annotated[float, Field(allow_inf_nan=False, ge=-89, le=89)] = 45.0
    """Of ``hour``: at 45 the sun stands 45 degrees high at noon."""
    sun: Sun | None = None
    sky: Sky | None = None
    weather: Weather | None = None
    grade: Grade | None = None
    exposure: Positive | None = None


# --- who is there -----------------------------------------------------------------------------------------------------------


class Humanoid(Strict):
    """The built-in skinned humanoid."""

    model: Literal["humanoid"]
    build: Literal["slim", "average", "broad", "child"] = "average"
    outfit: Literal["casual", "worker", "sport", "formal"] = "casual"
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Colours of skin, hair and clothes."""


class GltfCharacter(Strict):
    """A rigged glTF character in a pack. ``clips`` names the model's clip for ours where the automatic mapping by name is not wanted."""

    model: Literal["gltf"]
    pack: Name
    path: InsidePath
    height: Positive | None = None
    """Metres, to which it is scaled; None keeps the model's own."""
    clips: dict[str, str] = {}
    hide: Annotated[list[str], Field(max_length=64)] = []
    """Names of mesh nodes not to show (KayKit characters carry every weapon at once)."""


class Character(Strict):
    """Somebody who can be played. The first character is the one that policies play."""

    name: Name = "player"
    label: Name = "person"
    look: Annotated[Humanoid | GltfCharacter, Field(discriminator="model")] = Humanoid(model="humanoid")
    spawn: Name = "start"
    radius: Annotated[float, Field(ge=0.1, le=2)] = 0.3
    height: Annotated[float, Field(ge=0.5, le=4)] = 1.75
    mass: Positive = 70.0
    walk_speed: Positive = 1.5
    run_speed: Positive = 3.6
    crouch_speed: Positive = 0.8
    jump_speed: NotNegative = 4.2
    step_height: NotNegative = 0.35
    max_slope_deg: Annotated[float, Field(ge=0, le=89)] = 46.0


class Spawn(Strict):
    """A place to start: where the feet stand, and where the body looks (0 is +X, counter-clockwise)."""

    name: Name = "start"
    position: Vec3
    yaw: Finite = 0.0


class Goal(Strict):
    """A place to reach."""

    name: Name
    position: Vec3
    radius: Positive = 0.6


class Bounds(Strict):
    """The box that holds everything; leaving it is an event."""

    min: Vec3
    max: Vec3

    @model_validator(mode="after")
    def _order(self) -> Bounds:
        if any(a >= b for a, b in zip(self.min, self.max, strict=True)):
            raise ValueError(f"min {self.min} is not below max {self.max}")
        return self


class Camera(Strict):
    """The rigs: eye height as a share of the body's height, and the boom of the third-person camera."""

    fov_y_deg: Annotated[float, Field(ge=10, le=150)] = 62.0
    eye: Annotated[float, Field(gt=0, le=1)] = 0.92
    boom: Positive = 3.2
    boom_height: Finite = 0.35
    """Metres above the eye of the point that the boom starts from."""
    shear: bool = False
    """The rigs look up and down by shifting the picture, as games of before 1996 do."""


class Generator(Strict):
    """Who wrote this world: family, seed and parameters."""

    family: Name
    seed: int
    params: dict[str, Any] = {}


class PackRef(Strict):
    """A pack that the world uses. ``root`` is a folder below the world file's; without it the user says where (``--pack name=folder``)."""

    root: InsidePath | None = None
    licence: str = "unknown"


class LevelRef(Strict):
    """The level of another game that this world was read from, and that its engine plays: a file of that engine's (by name and content
    hash), the level's name in it, the licence of the file, and how it is played."""

    engine: Name
    file: InsidePath
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    name: Name
    licence: str = "unknown"
    options: dict[Name, int | bool | str] = {}


class World(Strict):
    """The whole document."""

    format: Literal["worldwright.world/1"] = "worldwright.world/1"
    name: Name
    description: Annotated[str, Field(max_length=4000)] = ""
    generator: Generator | None = None
    level: LevelRef | None = None
    """None: the document is all there is."""
    bounds: Bounds
    gravity: Vec3 = (0.0, 0.0, -9.81)
    packs: dict[Name, PackRef] = {}
    materials: Annotated[dict[Name, Material], Field(max_length=1024)] = {}
    entities: Annotated[list[Entity], Field(min_length=1, max_length=20_000)]
    light: Light = Light()
    weather: Weather = Weather()
    grade: Grade = Grade()
    looks: Annotated[list[Look], Field(max_length=64)] = []
    """Looks of this world's own, beside the built-in ones; one of the same name takes the built-in one's place."""
    characters: Annotated[list[Character], Field(min_length=1, max_length=16)] = [Character()]
    spawns: Annotated[list[Spawn], Field(min_length=1, max_length=256)]
    goals: Annotated[list[Goal], Field(max_length=256)] = []
    camera: Camera = Camera()

    @field_validator("looks")
    @classmethod
    def _own_names(cls, looks: list[Look]) -> list[Look]:
        names = [look.name for look in looks]
        if twice := next((name for k, name in enumerate(names) if name in names[:k]), None):
            raise ValueError(f"look {twice!r} is there twice")
        return looks

    @field_validator("entities")
    @classmethod
    def _unique(cls, entities: list[Entity]) -> list[Entity]:
        seen: set[str] = set()
        for k, entity in enumerate(entities):
            if entity.name in seen:
                raise ValueError(f"entities[{k}].name {entity.name!r} is used twice")
            seen.add(entity.name)
        return entities

    @model_validator(mode="after")
    def _references(self) -> World:
        for k, entity in enumerate(self.entities):
            for j, part in enumerate(entity.parts):
                where = f"entities[{k}].parts[{j}]"
                if isinstance(part.geometry, GltfModel):
                    if part.geometry.pack not in self.packs:
                        raise ValueError(f"{where}.geometry.pack {part.geometry.pack!r} is not in packs")
                elif part.material is None:
                    raise ValueError(f"{where}.material is missing")
                if part.material is not None and part.material not in self.materials:
                    raise ValueError(f"{where}.material {part.material!r} is not in materials")
        spawns = {spawn.name for spawn in self.spawns}
        names = {entity.name for entity in self.entities}
        for k, character in enumerate(self.characters):
            if character.spawn not in spawns:
                raise ValueError(f"characters[{k}].spawn {character.spawn!r} is not in spawns")
            if character.name in names:
                raise ValueError(f"characters[{k}].name {character.name!r} is used twice")
            names.add(character.name)
            if isinstance(character.look, GltfCharacter) and character.look.pack not in self.packs:
                raise ValueError(f"characters[{k}].look.pack {character.look.pack!r} is not in packs")
        return self

    def entity_id(self, index: int) -> int:
        """The integer id of ``entities[index]``."""
        return index + 1

    def character_id(self, index: int) -> int:
        """The integer id of ``characters[index]``."""
        return len(self.entities) + index + 1

    def labels(self) -> dict[int, tuple[str, str]]:
        """Id to (name, label), for everything that can be in an entity pass; 0 is the sky."""
        table = {0: ("sky", "sky")}
        table |= {self.entity_id(k): (e.name, e.label) for k, e in enumerate(self.entities)}
        return table | {self.character_id(k): (c.name, c.label) for k, c in enumerate(self.characters)}
