"""The path tracer: one kernel of Dr.Jit for a picture, in which each pixel's thread goes from path to path until its samples are done.

Light is that of ``shaders/light.glsl``: Cook-Torrance with GGX over Lambert, as in glTF 2.0, appendix B. At each hit the sun and one of the
lamps (drawn by the light that it would bring unhindered) are looked at; sky and glowing surfaces are found by the bounces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import drjit as dr
import mitsuba as mi
import numpy as np

from worldwright.render.pathtraced.light import SUN_RADIUS, Light
from worldwright.render.pathtraced.paint import BENT, DOUBLE_SIDED, FLAG_BITS, GLOW_PAGE, HOLES, WORDS
from worldwright.render.pathtraced.scene import TracedScene
from worldwright.render.pathtraced.weathered import ABOVE, caustics, cover
from worldwright.render.protocol import View
from worldwright.render.weathering import changes_surfaces
from worldwright.world.spec import Weather

MOST_BOUNCES = 5
SURE_BOUNCES = 1
"""Bounces after which a path lives on by chance."""
MOST_STEPS = 24
"""Surfaces along one path, those that it goes through included."""
SMOOTHEST = 0.06
"""Least roughness, as in the raster renderer."""
SOFTER = 8.0
"""A bounce sees textures this much blurrier: nobody sees their detail there, and it is noise."""
STEP = 1e-4
"""Metres by which a ray leaves a surface, at least."""
PEAK = 64.0
"""Bound on a highlight of sun and lamps, as in the raster renderer."""
FAR = 1e8
WORD = 0xFFFFFFFF
GOLDEN = (0.7548776662466927, 0.5698402909980532)
"""Steps of the R2 sequence (Roberts 2018): its points lie evenly for every number of samples."""


@dataclass(frozen=True)
class Tables:
    """The light on the device."""

    sun: Any
    lamps: Any
    lamp_count: Any
    sky: Any
    sky_size: tuple[int, int]
    most: Any
    has_sun: bool
    has_lamps: bool


def upload(light: Light) -> Tables:
    """The light's tables on the device."""
    return Tables(
        sun=mi.Float(light.sun),
        lamps=mi.Float(light.lamps.ravel() if len(light.lamps) else np.zeros(8, np.float32)),
        lamp_count=dr.opaque(mi.UInt32, len(light.lamps)),
        sky=mi.Float(light.sky.ravel()),
        sky_size=(light.sky.shape[0], light.sky.shape[1]),
        most=dr.opaque(mi.Float, light.most),
        has_sun=bool(light.sun[6]),
        has_lamps=bool(len(light.lamps)),
    )


@dataclass(frozen=True)
class _Hit:
    """What a ray found. Normals point to where the ray came from; ``away`` is true of the back of what has one side."""

    p: Any
    flat: Any
    n: Any
    base: Any
    rough: Any
    metallic: Any
    glow: Any
    hole: Any
    away: Any


@dataclass(frozen=True)
class _Matter:
    """A point for the formulas of light: ``origin`` lies off the surface by what rounding needs; ``v`` leads to where the ray came from."""

    origin: Any
    flat: Any
    n: Any
    v: Any
    nv: Any
    diffuse: Any
    f0: Any
    a2: Any


def _matter(hit: _Hit, pi: Any, d: Any) -> _Matter:
    a = hit.rough * hit.rough
    return _Matter(
        origin=hit.p + hit.flat * (STEP + 2e-6 * dr.max(dr.abs(hit.p)) + 1e-5 * pi.t),
        flat=hit.flat,
        n=hit.n,
        v=-d,
        nv=dr.maximum(-dr.dot(hit.n, d), 1e-3),
        diffuse=hit.base * (1 - hit.metallic),
        f0=dr.lerp(mi.Vector3f(0.04), hit.base, hit.metallic),
        a2=a * a,
    )


def _float3(buffer: Any, first: int) -> Any:
    return mi.Vector3f(*(dr.gather(mi.Float, buffer, first + k) for k in range(3)))


def _texel(at: TracedScene, start: Any, level: Any, mip: Any, uv: Any, active: Any) -> Any:
    """Four channels in [0, 1], bilinear, repeated, of level ``mip`` of the page of side ``1 << level`` that begins at ``start``."""
    shift = level - mip
    side = mi.UInt32(1) << shift
    begin = start + ((mi.UInt32(4) << (2 * level)) - (mi.UInt32(4) << (2 * shift))) // 3
    place = uv * mi.Float(side) - 0.5
    low = dr.floor(place)
    part = place - low
    x, y = mi.UInt32(mi.Int32(low.x)), mi.UInt32(mi.Int32(low.y))
    mask = side - 1
    total = mi.Vector4f(0)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        word = dr.gather(mi.UInt32, at.texels, begin + ((y + dy) & mask) * side + ((x + dx) & mask), active)
        weight = (part.x if dx else 1 - part.x) * (part.y if dy else 1 - part.y)
        total += mi.Vector4f(*(mi.Float((word >> (8 * k)) & 255) for k in range(4))) * weight
    return total * (1 / 255)


def _to_linear(c: Any) -> Any:
    return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878)


def _surface(at: TracedScene, pi: Any, d: Any, width: Any, chance: Any, active: Any) -> _Hit:
    """Place, normals and material at an intersection. ``width``: of the ray there, metres; ``chance`` decides between texture levels."""
    number = dr.reinterpret_array(mi.UInt32, pi.shape)
    corner = dr.gather(mi.Vector4u, at.corners, dr.gather(mi.UInt32, at.first, number, active) + pi.prim_index, active)
    places = [dr.gather(mi.Vector4f, at.places, corner[k], active) for k in range(3)]
    sides = [dr.gather(mi.Vector4f, at.sides, corner[k], active) for k in range(3)]
    u, v = pi.prim_uv.x, pi.prim_uv.y
    w = 1 - u - v
    place = places[0] * w + places[1] * u + places[2] * v
    side = sides[0] * w + sides[1] * u + sides[2] * v
    uv = mi.Vector2f(place.w, side.w)
    p = mi.Vector3f(place.xyz)
    one, two = mi.Vector3f((places[1] - places[0]).xyz), mi.Vector3f((places[2] - places[0]).xyz)
    cross = dr.cross(one, two)
    area = dr.norm(cross)
    flat = cross / dr.maximum(area, 1e-20)
    n = dr.normalize(mi.Vector3f(side.xyz))
    back = dr.dot(flat, d) > 0

    row = [dr.gather(mi.Vector4u, at.rows, corner.w * (WORDS // 4) + k, active) for k in range(2)]
    flags = row[0].z & ((1 << FLAG_BITS) - 1)
    code = row[0].z >> FLAG_BITS
    paged = active & (code > 0)
    level = dr.select(paged, code - 1, 0)
    du = mi.Vector2f(places[1].w - places[0].w, sides[1].w - sides[0].w)
    dv = mi.Vector2f(places[2].w - places[0].w, sides[2].w - sides[0].w)
    density = dr.sqrt(dr.abs(du.x * dv.y - du.y * dv.x) / dr.maximum(area, 1e-20)) * mi.Float(mi.UInt32(1) << level)
    mip = mi.UInt32(dr.clip(dr.log2(dr.maximum(density * width, 1e-6)) + chance, 0, mi.Float(level)))
    word = row[0].x
    plain = mi.Vector4f(*(mi.Float((word >> (8 * k)) & 255) for k in range(4))) * (1 / 255)
    base = dr.select(paged, _texel(at, row[0].w, level, mip, uv, paged), plain)
    data = _texel(at, row[0].w + row[1].x, level, mip, uv, paged)
    rough = dr.select(paged, data.z, mi.Float((row[0].y >> 16) & 255) * (1 / 255))
    metallic = dr.select(paged, data.w, mi.Float(row[0].y >> 24) * (1 / 255))
    glow = mi.Vector3f(*(dr.reinterpret_array(mi.Float, row[1][k]) for k in (1, 2, 3)))
    if at.glow_pages:
        mapped = paged & ((flags & GLOW_PAGE) != 0)
        glow *= dr.select(mapped, _to_linear(_texel(at, row[0].w + 2 * row[1].x, level, mip, uv, mapped)).xyz, 1)

    # As in shaders/geometry.frag: slopes of u and v over the surface; v grows downwards in the image, +Y of the map points up.
    a, b = dr.cross(two, n), dr.cross(n, one)
    t, s = a * du.x + b * dv.x, a * du.y + b * dv.y
    scale = dr.rsqrt(dr.maximum(dr.maximum(dr.squared_norm(t), dr.squared_norm(s)), 1e-30))
    turn = dr.select(dr.dot(flat, n) < 0, -scale, scale)
    x, y = data.x * (255 / 127) - 128 / 127, data.y * (255 / 127) - 128 / 127
    bent = dr.normalize(t * (x * turn) - s * (y * turn) + n * dr.sqrt(dr.maximum(1 - x * x - y * y, 0.01)))
    n = dr.select(paged & ((flags & BENT) != 0), bent, n)

    away = back & ((flags & DOUBLE_SIDED) == 0)
    return _Hit(
        p=p,
        flat=dr.select(back, -flat, flat),
        n=dr.select(back, -n, n),
        base=mi.Vector3f(_to_linear(base.xyz)),
        rough=dr.maximum(rough, SMOOTHEST),
        metallic=metallic,
        glow=dr.select(away, 0, glow),
        hole=((flags & HOLES) != 0) & (base.w < 0.5),
        away=away,
    )


def _weathered(at: TracedScene, weather: Weather, hit: _Hit, pi: Any, active: Any) -> _Hit:
    """The surface as the weather leaves it. What stands above keeps it off, not who walks by; nothing lies on what looks down."""
    asked = active & (hit.n.z > 0) & ~hit.hole
    start = hit.p + mi.Vector3f(0, 0, ABOVE)
    above = at.scene.ray_intersect_preliminary(mi.Ray3f(start, mi.Vector3f(0, 0, 1)), coherent=False, active=asked)
    free = asked & (~above.is_valid() | _moves(at, above, asked & above.is_valid()))
    moves = _moves(at, pi, active)
    covered = cover(weather, dr.select(free, mi.Float(1), 0), hit.p, hit.n, hit.base, hit.metallic, hit.rough, moves)
    return replace(hit, n=covered.n, base=covered.base, metallic=covered.metallic, rough=dr.maximum(covered.rough, SMOOTHEST))


def _moves(at: TracedScene, pi: Any, active: Any) -> Any:
    """Whether an intersection is with a body or a character."""
    return dr.gather(mi.UInt32, at.entities, dr.reinterpret_array(mi.UInt32, pi.shape), active) != 0


def _sky(light: Tables, d: Any, active: Any) -> Any:
    """Radiance of the sky, bilinear."""
    rows, columns = light.sky_size
    y = dr.clip(dr.safe_acos(d.z) * (rows / dr.pi) - 0.5, 0, rows - 1.001)
    x = dr.atan2(d.y, d.x) * (columns / (2 * dr.pi)) - 0.5
    x += dr.select(x < 0, columns, 0)
    j, i = mi.UInt32(y), dr.minimum(mi.UInt32(x), columns - 1)
    fy, fx = y - mi.Float(j), x - mi.Float(i)
    k = dr.select(i + 1 < columns, i + 1, 0)

    def texel(row: Any, column: Any) -> Any:
        return mi.Vector3f(dr.gather(mi.Vector4f, light.sky, row * columns + column, active).xyz)

    top = texel(j, i) * (1 - fx) + texel(j, k) * fx
    return top * (1 - fy) + (texel(j + 1, i) * (1 - fx) + texel(j + 1, k) * fx) * fy


def _brdf(m: _Matter, ray: Any, nl: Any, most: float) -> Any:
    """``brdf_times_cosine`` of shaders/light.glsl; ``most`` bounds the peak of the highlight."""
    h = dr.normalize(m.v + ray)
    nh, vh = dr.clip(dr.dot(m.n, h), 0, 1), dr.clip(dr.dot(m.v, h), 0, 1)
    x = nh * nh * (m.a2 - 1) + 1
    ggx = m.a2 / (dr.pi * x * x)
    smith = 0.5 / (nl * dr.sqrt(m.nv * m.nv * (1 - m.a2) + m.a2) + m.nv * dr.sqrt(nl * nl * (1 - m.a2) + m.a2) + 1e-5)
    fresnel = m.f0 + (1 - m.f0) * (1 - vh) ** 5
    return ((1 - fresnel) * m.diffuse * (1 / dr.pi) + fresnel * dr.minimum(ggx * smith, most)) * nl


def _luma(c: Any) -> Any:
    return c.x * 0.2126 + c.y * 0.7152 + c.z * 0.0722


def _seen(at: TracedScene, o: Any, d: Any, far: Any, active: Any) -> Any:
    """Whether nothing stands on the way. Holes let light through."""
    if not at.holes:
        return active & ~at.scene.ray_test(mi.Ray3f(o, d, far, 0.0, []), coherent=False, active=active)

    def go_on(o: Any, far: Any, todo: Any, free: Any, steps: Any) -> tuple[Any, ...]:
        pi = at.scene.ray_intersect_preliminary(mi.Ray3f(o, d, far, 0.0, []), coherent=False, active=todo)
        met = todo & pi.is_valid()
        hole = met & _surface(at, pi, d, mi.Float(0), mi.Float(0), met).hole
        free &= ~met | hole
        step = dr.select(hole, pi.t + STEP, 0)
        return o + d * step, far - step, hole & (steps < MOST_STEPS), free, steps + 1

    return dr.while_loop(
        (mi.Vector3f(o), mi.Float(far), mi.Bool(active), mi.Bool(active), mi.UInt32(0)),
        lambda o, far, todo, free, steps: todo,
        go_on,
    )[3]


def _choose_lamp(light: Tables, p: Any, n: Any, chance: Any) -> tuple[Any, Any]:
    """One lamp, drawn by the light that it would bring unhindered, and 1 over its probability (0: none reaches). Weighted reservoir
    sampling (Chao 1982) with one number: what is left of it after each draw is even again."""

    def next_one(k: Any, chosen: Any, own: Any, total: Any, chance: Any) -> tuple[Any, ...]:
        place = dr.gather(mi.Vector4f, light.lamps, 2 * k)
        way = mi.Vector3f(place.xyz) - p
        square = dr.squared_norm(way)
        facing = dr.maximum(dr.dot(n, way) * dr.rsqrt(dr.maximum(square, 1e-8)), 0)
        weight = _luma(dr.gather(mi.Vector4f, light.lamps, 2 * k + 1)) * _fall(square, place.w) * facing
        total += weight
        share = dr.select(total > 0, weight / total, 0)
        take = chance < share
        chance = dr.select(take, chance / dr.maximum(share, 1e-12), (chance - share) / dr.maximum(1 - share, 1e-12))
        return k + 1, dr.select(take, k, chosen), dr.select(take, weight, own), total, chance

    state = (mi.UInt32(0), mi.UInt32(0), mi.Float(0), mi.Float(0), mi.Float(chance))
    _, chosen, own, total, _ = dr.while_loop(state, lambda k, *_: k < light.lamp_count, next_one)
    return chosen, dr.select(own > 0, total / dr.maximum(own, 1e-12), 0)


def _fall(square: Any, inverse_reach: Any) -> Any:
    """What is left of a lamp's light at a squared distance: it ends smoothly at its reach, as in shaders/shade.frag."""
    x = square * inverse_reach * inverse_reach
    window = dr.maximum(1 - x * x, 0)
    return window * window / dr.maximum(square, 1e-4)


@dataclass(frozen=True)
class _Offer:
    """Light that would come along ``ray`` from ``far`` metres away if nothing stood between, and whether any would."""

    ray: Any
    far: Any
    light: Any
    there: Any


def _sun_offer(light: Tables, m: _Matter, draw: Any) -> _Offer:
    """``draw``: two even numbers, for the place on the sun's disc."""
    disc = mi.warp.square_to_uniform_disk_concentric(draw)
    towards = _float3(light.sun, 0)
    s, t = mi.coordinate_system(towards)
    ray = dr.normalize(towards + (s * disc.x + t * disc.y) * SUN_RADIUS)
    nl = dr.dot(m.n, ray)
    got = _float3(light.sun, 3) * _brdf(m, ray, dr.maximum(nl, 1e-4), PEAK)
    return _Offer(ray, mi.Float(FAR), got, (nl > 0) & (dr.dot(m.flat, ray) > 0))


def _lamp_offer(light: Tables, m: _Matter, chance: Any) -> _Offer:
    """One lamp's light for all of theirs. Within its own bulb nothing shades: ``far`` ends there."""
    chosen, inverse = _choose_lamp(light, m.origin, m.n, chance)
    place = dr.gather(mi.Vector4f, light.lamps, 2 * chosen)
    strength = dr.gather(mi.Vector4f, light.lamps, 2 * chosen + 1)
    way = mi.Vector3f(place.xyz) - m.origin
    square = dr.squared_norm(way)
    reach = dr.sqrt(square)
    ray = way / dr.maximum(reach, 1e-6)
    nl = dr.dot(m.n, ray)
    got = mi.Vector3f(strength.xyz) * (_fall(square, place.w) * inverse) * _brdf(m, ray, dr.maximum(nl, 1e-4), PEAK)
    return _Offer(ray, dr.maximum(reach - strength.w, 0), got, (inverse > 0) & (nl > 0) & (dr.dot(m.flat, ray) > 0))


def _lit(at: TracedScene, light: Tables, m: _Matter, primary: Any, active: Any, disc: Any, rng: Any, gathered: Any) -> Any:
    """Light of sun and lamps that a point sends to where the ray came from: both where the camera looks, one of them at a bounce.
    ``gathered``: a factor on the sun's, 1 but under water."""
    offers = []
    if light.has_sun:
        sun = _sun_offer(light, m, disc)
        offers.append(replace(sun, light=sun.light * gathered))
    if light.has_lamps:
        offers.append(_lamp_offer(light, m, rng.next_float32()))
    total = mi.Vector3f(0)
    first = rng.next_float32() < 0.5
    for k, offer in enumerate(offers):
        asked, share = offer.there, mi.Float(1)
        if len(offers) == 2:
            either = ~primary & offers[1 - k].there
            asked, share = asked & (~either | (first if k else ~first)), dr.select(either, 2, share)
        free = _seen(at, m.origin, offer.ray, offer.far, active & asked)
        total += dr.select(free, offer.light * share, 0)
    return total


def _bounce(m: _Matter, draw: Any, chance: Any) -> tuple[Any, Any, Any]:
    """Where the path goes on: by the visible normals of GGX (Dupuy and Benyoub 2023) or by the cosine, drawn by ``chance``. Direction, the
    factor on its weight, and whether it goes on at all."""
    s, t = mi.coordinate_system(m.n)
    v = mi.Vector3f(dr.dot(s, m.v), dr.dot(t, m.v), m.nv)
    a = dr.sqrt(m.a2)
    shine = (1 - m.nv) ** 5
    gloss, matt = _luma(m.f0 + (1 - m.f0) * shine), _luma(m.diffuse) * (1 - shine)
    share = gloss / dr.maximum(gloss + matt, 1e-6)
    std = dr.normalize(mi.Vector3f(v.x * a, v.y * a, v.z))
    z = (1 - draw.y) * (1 + std.z) - std.z
    sin, cos = dr.sincos(2 * dr.pi * draw.x)
    half = mi.Vector3f(dr.safe_sqrt(1 - z * z) * cos, dr.safe_sqrt(1 - z * z) * sin, z) + std
    half = dr.normalize(mi.Vector3f(half.x * a, half.y * a, dr.maximum(half.z, 0)))
    mirrored = half * (2 * dr.dot(v, half)) - v
    out = dr.select(chance < share, mirrored, mi.warp.square_to_cosine_hemisphere(draw))
    ray = s * out.x + t * out.y + m.n * out.z
    h = dr.normalize(v + out)
    x = h.z * h.z * (m.a2 - 1) + 1
    visible = m.a2 / (dr.pi * x * x) * 0.5 / (m.nv + dr.sqrt(m.nv * m.nv * (1 - m.a2) + m.a2))
    pdf = share * visible + (1 - share) * dr.maximum(out.z, 0) * (1 / dr.pi)
    good = (out.z > 1e-4) & (dr.dot(m.flat, ray) > 0) & (pdf > 1e-9)
    return ray, _brdf(m, ray, dr.maximum(out.z, 1e-4), math.inf) / dr.maximum(pdf, 1e-9), good


def trace(
    at: TracedScene,
    light: Tables,
    view: View,
    size: tuple[int, int],
    samples: int,
    first: int,
    seed: int,
    hidden: tuple[int, ...],
    weather: Weather | None = None,
    seconds: float = 0.0,
) -> tuple[Any, Any, Any]:
    """Sums over ``samples`` paths a pixel, number ``first`` of the picture and those after it: linear radiance, base colour and world
    normal of what is seen first, each a ``mi.Vector3f`` of width * height. The same arguments give the same sums. ``weather`` is given where
    it changes surfaces or light, at a time."""
    width, height = size
    lane = dr.arange(mi.UInt32, width * height)
    wide = dr.opaque(mi.UInt32, width)
    row = lane // wide
    pixel = mi.Vector2f(mi.Float(lane - row * wide), mi.Float(row))
    c = [dr.opaque(mi.Float, float(x)) for x in view.c2w[:3].ravel()]
    fx, skew, cx, _, fy, cy = (dr.opaque(mi.Float, float(x)) for x in view.K[:2].ravel())
    eye = mi.Vector3f(c[3], c[7], c[11])
    count, start = dr.opaque(mi.UInt32, samples), dr.opaque(mi.UInt32, first)
    clock = dr.opaque(mi.Float, seconds)
    hide = [dr.opaque(mi.UInt32, entity) for entity in hidden]
    turns = [_shifts(lane, seed, k) for k in range(3)]
    key, other = mi.sample_tea_32(lane, dr.opaque(mi.UInt32, seed & WORD))
    rng = mi.PCG32(initstate=mi.UInt64(key), initseq=mi.UInt64(other) + mi.UInt64(start))

    def even(k: int, sample: Any) -> Any:
        x = turns[k] + mi.Vector2f(*GOLDEN) * mi.Float(start + sample)
        return x - dr.floor(x)

    def aim(sample: Any) -> Any:
        place = pixel + even(0, sample)
        y = (place.y - cy) / fy
        x = (place.x - cx - skew * y) / fx
        return dr.normalize(mi.Vector3f(*(c[k] * x + c[k + 1] * y + c[k + 2] for k in (0, 4, 8))))

    def step(
        rng: Any, sample: Any, bounce: Any, steps: Any, o: Any, d: Any, far: Any, weight: Any, total: Any, albedo: Any, normal: Any
    ) -> tuple[Any, ...]:
        primary = bounce == 0

        def pair(k: int) -> Any:
            free = mi.Vector2f(rng.next_float32(), rng.next_float32())
            return dr.select(primary, even(k, sample), free)

        def bring(light_here: Any) -> Any:
            arriving = light_here * weight
            return dr.select(primary, arriving, dr.minimum(arriving, light.most))

        pi = at.scene.ray_intersect_preliminary(mi.Ray3f(o, d), coherent=False)
        met = pi.is_valid()
        sky = _sky(light, d, ~met)
        far = far + dr.select(met, pi.t, 0)
        hit = _surface(at, pi, d, far / fy, rng.next_float32(), met)
        if weather is not None and changes_surfaces(weather):
            hit = _weathered(at, weather, hit, pi, met)
        # The camera looks through backs of what has one side, and through what is hidden from it; every ray through holes.
        through = hit.hole | (primary & hit.away)
        entity = dr.gather(mi.UInt32, at.entities, dr.reinterpret_array(mi.UInt32, pi.shape), met)
        for one in hide:
            through |= primary & (entity == one)
        through &= met
        solid = met & ~through
        total += bring(dr.select(met, dr.select(solid, hit.glow, 0), sky))
        seen = primary & ~through
        albedo += dr.select(seen, dr.select(met, hit.base, dr.minimum(sky, 1)), 0)
        normal += dr.select(seen & met, hit.n, 0)

        m = _matter(hit, pi, d)
        gathered = mi.Float(1)
        if weather is not None and weather.water is not None and weather.water.caustics > 0 and light.has_sun:
            gathered = caustics(weather.water.caustics, _float3(light.sun, 0), hit.p, clock)
        total += bring(_lit(at, light, m, primary, solid, pair(1), rng, gathered))
        ray, factor, good = _bounce(m, pair(2), rng.next_float32())
        follow = weight * factor
        live = dr.select(bounce >= SURE_BOUNCES, dr.minimum(dr.max(follow), 0.95), 1)
        good &= solid & (rng.next_float32() < live) & (bounce + 1 < MOST_BOUNCES)

        steps += 1
        over = ~(good | through) | (steps >= MOST_STEPS)
        weight = dr.select(good, follow / dr.maximum(live, 1e-6), weight)
        far = dr.select(good & primary, far * SOFTER, far)
        o = dr.select(good, m.origin, o + d * (pi.t + STEP))
        d = dr.select(good, ray, d)
        bounce += dr.select(good, 1, 0)
        # The thread goes on with the pixel's next path: it need not wait for the longest one of its neighbours.
        sample += dr.select(over, 1, 0)
        o, d = dr.select(over, eye, o), dr.select(over, aim(sample), d)
        weight, far = dr.select(over, 1, weight), dr.select(over, 0, far)
        bounce, steps = dr.select(over, 0, bounce), dr.select(over, 0, steps)
        return rng, sample, bounce, steps, o, d, far, weight, total, albedo, normal

    zero = mi.UInt32(0)
    begin = (rng, zero, zero, zero, eye, aim(zero), mi.Float(0), mi.Vector3f(1), mi.Vector3f(0), mi.Vector3f(0), mi.Vector3f(0))
    return dr.while_loop(begin, lambda rng, sample, *_: sample < count, step)[8:]


def _shifts(lane: Any, seed: int, k: int) -> Any:
    """Two numbers in [0, 1) a pixel: where its even sequence ``k`` begins."""
    a, b = mi.sample_tea_32(lane, dr.opaque(mi.UInt32, (seed ^ (k + 1) * 0x9E3779B9) & WORD))
    return mi.Vector2f(mi.Float(a >> 8), mi.Float(b >> 8)) * (1 / (1 << 24))
