"""The sky as a picture, and the sun as it arrives: what every renderer takes its daylight from.

The physical model is light scattered by air, haze and ozone around a round planet: single scattering integrated along each ray (Nishita et
al. 1993), with the coefficients of Bruneton and Neyret (2008) and the ozone layer of Bruneton (2017), and all further scattering as the
geometric series of an isotropic second order (Hillaire 2020). Wavelengths 680, 550 and 440 nm stand for red, green and blue.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.world.spec import Light, World

Array = NDArray[Any]

GROUND, TOP = 6360e3, 6460e3
"""Radii of the planet and of the end of its air, metres."""
EYE = 200.0
"""Height from which the sky is seen, metres: above the thickest of the haze's steps."""
_RAYLEIGH, _RAYLEIGH_HEIGHT = np.array([5.8e-6, 13.5e-6, 33.1e-6]), 8000.0
_MIE, _MIE_EXTINCTION, _MIE_HEIGHT, _MIE_LEAN = 4.0e-6, 4.44e-6, 1200.0, 0.76
"""A turbidity of 2 has this much haze."""
_OZONE = np.array([0.650e-6, 1.881e-6, 0.085e-6])
_VIEW_STEPS, _SUN_STEPS, _AROUND = 24, 12, 64
_GLOW = ((8, 0.05), (32, 0.12))
"""Powers and strengths of the glow around the sun of a gradient sky; times a quarter of its irradiance."""
OVERCAST = 0.35
"""Share of the daylight above them that comes through closed clouds."""


def sun_direction(world: World) -> Array:
    """Unit vector towards the sun [3]; up where there is none."""
    sun = world.light.sun
    if sun is None:
        return np.array([0.0, 0.0, 1.0])
    azimuth, elevation = math.radians(sun.azimuth_deg), math.radians(sun.elevation_deg)
    return np.array([math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)])


def has_sun(light: Light) -> bool:
    """Whether parallel light arrives."""
    return light.sun is not None and light.sun.elevation_deg > 0 and light.sun.intensity > 0


def sun_irradiance(world: World) -> Array:
    """Linear irradiance of the sun [3] as it arrives, through air (of a physical sky) and clouds; zeros where there is none."""
    light = world.light
    if light.sun is None or not has_sun(light):
        return np.zeros(3)
    through = 1 - 0.92 * world.weather.cloud_cover
    arriving = np.array(light.sun.colour) * (light.sun.intensity * through)
    return arriving * _atmosphere(light).sun if light.sky.model == "physical" else arriving


def sky_colours(world: World) -> tuple[Array, Array, Array]:
    """Zenith, horizon and ground [3] of a gradient sky, radiance: clouds grey it."""
    sky, cover = world.light.sky, world.weather.cloud_cover
    zenith, horizon, ground = (np.array(c) * sky.intensity for c in (sky.zenith, sky.horizon, sky.ground))
    grey = np.full(3, float(horizon.mean()) * 0.8)
    return zenith * (1 - cover) + grey * cover, horizon * (1 - cover) + grey * cover, ground


def sky_radiance(world: World, directions: Array, *, glow: bool = True) -> Array:
    """Radiance [..., 3] from unit ``directions`` [..., 3]. ``glow``: with the gradient sky's glow around the sun, which is seen and
    reflected but does not light things (the sun does). No stars, no disc of the sun or moon."""
    if world.light.sky.model == "physical":
        return _physical(world, directions)
    zenith, horizon, ground = sky_colours(world)
    z = directions[..., 2:]
    above = horizon + (zenith - horizon) * (1 - np.exp2(-4 * np.maximum(z, 0)))
    dome = above + (ground - above) * np.clip(-z * 6, 0, 1)
    if not glow:
        return np.asarray(dome)
    towards = np.maximum(directions @ sun_direction(world), 0)[..., None]
    lobes = sum(strength * towards**power for power, strength in _GLOW)
    return np.asarray(dome + sun_irradiance(world) * 0.25 * lobes)


def picture_directions(height: int) -> Array:
    """Unit directions [height, 2 * height, 3] of the texels of ``sky_picture``."""
    v, u = np.meshgrid((np.arange(height) + 0.5) / height, (np.arange(2 * height) + 0.5) / (2 * height), indexing="ij")
    theta, phi = v * np.pi, u * 2 * np.pi
    return np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1)


def sky_picture(world: World, height: int = 128) -> NDArray[np.float32]:
    """The dome as a latitude-longitude picture [height, 2 * height, 3], linear radiance: an environment map.

    Row 0 is the zenith, the last row straight down; column u is the azimuth, from +X counter-clockwise seen from above (texel centres:
    ``picture_directions``). The sun itself is not in it, nor are the stars and the moon's disc: those are for the stage that develops
    pictures, where they are points.
    """
    return sky_radiance(world, picture_directions(height)).astype(np.float32)


def mean_radiance(world: World) -> Array:
    """Mean radiance [3] over all directions in the open, sunlit ground included: what lights the air."""
    directions = picture_directions(24)
    weight = np.sqrt(1 - directions[..., 2:] ** 2)
    sky = sky_radiance(world, directions, glow=False)
    mean = (sky * weight).sum(axis=(0, 1)) / weight.sum()
    # A gradient's ground is what the sky alone lights; the physical one's has the sun's part in it.
    lit = (
        0.0
        if world.light.sky.model == "physical"
        else np.array(world.light.sky.ground) * max(sun_direction(world)[2], 0) / (2 * np.pi)
    )
    return np.asarray(mean + sun_irradiance(world) * lit)


# --- the physical sky -------------------------------------------------------------------------------------------------------


class _Atmosphere:
    """A clear sky for one elevation of the sun, per unit of irradiance above the air. ``sun`` [3]: the share that arrives. ``table``
    [rows, columns, 3]: radiance by elevation (rows: from the horizon up, finer below) and azimuth from the sun (columns: 0 to pi)."""

    ROWS, COLUMNS = 48, 32

    def __init__(self, elevation: float, turbidity: float, albedo: tuple[float, float, float]) -> None:
        self._haze = max(turbidity - 1.0, 0.0)
        to_sun = np.array([math.cos(elevation), 0.0, math.sin(elevation)])
        eye = np.array([0.0, 0.0, GROUND + EYE])
        self.sun = self._transmittance(eye[None], to_sun[None])[0] * (elevation > 0)
        rows = (np.arange(self.ROWS) / (self.ROWS - 1)) ** 2 * (np.pi / 2)
        turn = np.arange(self.COLUMNS) / (self.COLUMNS - 1) * np.pi
        up, across = np.meshgrid(rows, turn, indexing="ij")
        directions = np.stack([np.cos(up) * np.cos(across), np.cos(up) * np.sin(across), np.sin(up)], axis=-1).reshape(-1, 3)
        self._heights = np.geomspace(50.0, TOP - GROUND - 1.0, 12)
        self._series = self._multiple(to_sun, np.array(albedo))
        self.table = self._seen(np.broadcast_to(eye, directions.shape), directions, to_sun)[0].reshape(self.ROWS, self.COLUMNS, 3)
        weight = np.cos(rows) * np.sin(rows) * np.gradient(rows)
        self.irradiance = 2 * np.pi * (self.table.mean(axis=1) * weight[:, None]).sum(axis=0)
        """Of the dome on level ground [3]."""

    def _extinction(self, height: Array) -> tuple[Array, Array, Array]:
        """Scattering by air [..., 3] and by haze [..., 1], and extinction [..., 3], a metre."""
        h = np.maximum(height, 0)[..., None]
        air = _RAYLEIGH * np.exp(-h / _RAYLEIGH_HEIGHT)
        haze = self._haze * np.exp(-h / _MIE_HEIGHT)
        ozone = _OZONE * np.maximum(0, 1 - np.abs(h - 25e3) / 15e3)
        return air, _MIE * haze, air + _MIE_EXTINCTION * haze + ozone

    def _transmittance(self, points: Array, directions: Array, steps: int = _SUN_STEPS) -> Array:
        """Share [N, 3] of light that comes from outside along ``directions`` to ``points`` [N, 3]; none through the planet."""
        far, blocked = _way_out(points, directions)
        edges = far[:, None] * (np.arange(steps + 1) / steps) ** 2
        middle, length = (edges[:, 1:] + edges[:, :-1]) / 2, np.diff(edges, axis=1)
        at = points[:, None] + directions[:, None] * middle[..., None]
        depth = (self._extinction(np.linalg.norm(at, axis=-1) - GROUND)[2] * length[..., None]).sum(axis=1)
        return np.asarray(np.exp(-depth) * ~blocked[:, None])

    def _seen(self, points: Array, directions: Array, to_sun: Array, *, isotropic: bool = False) -> tuple[Array, Array]:
        """Radiance [N, 3] seen from points along directions, and the share of it that scattering alone would send on [N, 3].
        ``isotropic``: of the second order, where direction is forgotten and nothing is added to."""
        far, _ = _way_out(points, directions, to_ground=True)
        edges = far[:, None] * (np.arange(_VIEW_STEPS + 1) / _VIEW_STEPS) ** 2
        middle, length = (edges[:, 1:] + edges[:, :-1]) / 2, np.diff(edges, axis=1)[..., None]
        at = points[:, None] + directions[:, None] * middle[..., None]
        height = np.linalg.norm(at, axis=-1) - GROUND
        air, haze, extinction = self._extinction(height)
        step = extinction * length
        before = np.exp(-(np.cumsum(step, axis=1) - step))
        gathered = before * (1 - np.exp(-step)) / np.maximum(extinction, 1e-12)  # exact for even air within a step
        lit = self._transmittance(at.reshape(-1, 3), np.broadcast_to(to_sun, (height.size, 3))).reshape(*height.shape, 3)
        if isotropic:
            sent = lit * (air + haze) / (4 * np.pi)
        else:
            towards = (directions @ to_sun)[:, None, None]
            rayleigh, g = 3 / (16 * np.pi) * (1 + towards**2), _MIE_LEAN
            # Cornette and Shanks (1992).
            mie = 3 / (8 * np.pi) * (1 - g * g) * (1 + towards**2) / ((2 + g * g) * (1 + g * g - 2 * g * towards) ** 1.5)
            again = np.stack([np.interp(height, self._heights, self._series[:, k]) for k in range(3)], axis=-1)
            sent = lit * (air * rayleigh + haze * mie) + again * (air + haze)
        return (gathered * sent).sum(axis=1), (gathered * (air + haze)).sum(axis=1)

    def _multiple(self, to_sun: Array, albedo: Array) -> Array:
        """Radiance [heights, 3] that light scattered twice and more has at each height, the same from everywhere (Hillaire 2020)."""
        k = np.arange(_AROUND)
        z = 1 - (2 * k + 1) / _AROUND
        around = np.stack([np.sqrt(1 - z * z) * np.cos(2.399963 * k), np.sqrt(1 - z * z) * np.sin(2.399963 * k), z], axis=1)
        points = np.zeros((len(self._heights), 3))
        points[:, 2] = GROUND + self._heights
        at = np.repeat(points, _AROUND, axis=0)
        way = np.tile(around, (len(points), 1))
        second, share = self._seen(at, way, to_sun, isotropic=True)
        far, hits = _way_out(at, way, to_ground=True)
        foot = at + way * far[:, None]
        foot *= (GROUND + 1.0) / np.linalg.norm(foot, axis=1, keepdims=True)
        lit = (
            self._transmittance(foot, np.broadcast_to(to_sun, foot.shape)) * np.maximum(foot @ to_sun / (GROUND + 1.0), 0)[:, None]
        )
        through = np.exp(-self._depth_between(at, way, far))
        second = second + hits[:, None] * through * lit * albedo / np.pi
        mean, on = (values.reshape(len(points), _AROUND, 3).mean(axis=1) for values in (second, share))
        return np.asarray(mean / (1 - np.minimum(on, 0.95)))

    def _depth_between(self, points: Array, directions: Array, far: Array) -> Array:
        edges = far[:, None] * np.linspace(0, 1, _SUN_STEPS + 1)
        middle, length = (edges[:, 1:] + edges[:, :-1]) / 2, np.diff(edges, axis=1)[..., None]
        at = points[:, None] + directions[:, None] * middle[..., None]
        return np.asarray((self._extinction(np.linalg.norm(at, axis=-1) - GROUND)[2] * length).sum(axis=1))

    def radiance(self, elevation: Array, turn: Array) -> Array:
        """The table at elevations >= 0 and azimuths from the sun 0 to pi, bilinear: [..., 3]."""
        y = np.sqrt(elevation / (np.pi / 2)) * (self.ROWS - 1)
        x = turn / np.pi * (self.COLUMNS - 1)
        j, i = np.minimum(y.astype(int), self.ROWS - 2), np.minimum(x.astype(int), self.COLUMNS - 2)
        fy, fx = (y - j)[..., None], (x - i)[..., None]
        t = self.table
        return np.asarray((t[j, i] * (1 - fx) + t[j, i + 1] * fx) * (1 - fy) + (t[j + 1, i] * (1 - fx) + t[j + 1, i + 1] * fx) * fy)


def _way_out(points: Array, directions: Array, *, to_ground: bool = False) -> tuple[Array, Array]:
    """Metres [N] to the end of the air, and whether the planet is in the way [N]; ``to_ground``: to the planet where it is."""
    along = (points * directions).sum(axis=1)
    square = (points * points).sum(axis=1)
    out = -along + np.sqrt(np.maximum(along * along - square + TOP * TOP, 0))
    inner = along * along - square + GROUND * GROUND
    hits = (inner > 0) & (along < 0)
    if to_ground:
        out = np.where(hits, np.maximum(-along - np.sqrt(np.maximum(inner, 0)), 0), out)
    return out, hits


@lru_cache(maxsize=16)
def _computed(elevation_deg: float, turbidity: float, albedo: tuple[float, float, float]) -> _Atmosphere:
    return _Atmosphere(math.radians(elevation_deg), turbidity, albedo)


def _atmosphere(light: Light) -> _Atmosphere:
    elevation = -90.0 if light.sun is None else light.sun.elevation_deg
    return _computed(elevation, light.sky.turbidity, light.sky.ground)


def _physical(world: World, directions: Array) -> Array:
    light, cover = world.light, world.weather.cloud_cover
    air, to_sun = _atmosphere(light), sun_direction(world)
    above = np.zeros(3) if light.sun is None else np.array(light.sun.colour) * light.sun.intensity
    elevation = np.arcsin(np.clip(directions[..., 2], -1, 1))
    turn = np.arctan2(directions[..., 1], directions[..., 0]) - math.atan2(to_sun[1], to_sun[0])
    turn = np.abs((turn + np.pi) % (2 * np.pi) - np.pi)
    clear = air.radiance(np.maximum(elevation, 0), turn) * above
    on_ground = above * (air.sun * max(to_sun[2], 0) + air.irradiance)
    grey = np.full(3, float(on_ground.mean()) * OVERCAST / np.pi)
    sky = (clear * (1 - cover) + grey * cover) * light.sky.intensity
    ground = np.array(light.sky.ground) / np.pi * (on_ground * (1 - cover) + grey * np.pi * cover)
    below = np.clip(-directions[..., 2:] * 6, 0, 1)
    return np.asarray(sky * (1 - below) + ground * below)
