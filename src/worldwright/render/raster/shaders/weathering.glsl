// What weather leaves on surfaces. The same in numpy: render/weathering.py.
#include "hash.glsl"
#ifdef COVERED
#include "roof.glsl"

float patches(vec2 p) {
    vec2 cell = floor(p), f = p - cell;
    f = f * f * (3.0 - 2.0 * f);
    uvec2 c = uvec2(ivec2(cell));
    float a = chance(uvec3(c, 3u)).x, b = chance(uvec3(c + uvec2(1u, 0u), 3u)).x;
    float d = chance(uvec3(c + uvec2(0u, 1u), 3u)).x, e = chance(uvec3(c + uvec2(1u, 1u), 3u)).x;
    return mix(mix(a, b, f.x), mix(d, e, f.x), f.y);
}

// Rings that drops make in puddles: a slope of the surface. One drop a cell, a time of its own.
vec2 ripples(vec2 p, float seconds) {
    vec2 slope = vec2(0.0);
    for (int k = 0; k < 2; ++k) {
        vec2 q = p * 4.5 + float(k) * vec2(3.7, 8.3), cell = floor(q);
        vec3 c = chance(uvec3(uvec2(ivec2(cell)), 11u + uint(k)));
        float age = fract(seconds * 1.1 + c.z), r = length(q - cell - 0.35 - 0.3 * c.xy);
        float ring = (r - age * 0.32) * 26.0;
        slope += (q - cell - 0.5) * (sin(ring) * exp2(-ring * ring * 0.18) * (1.0 - age) * (1.0 - smoothstep(0.3, 0.5, r)));
    }
    return slope;
}

void cover(vec3 at, bool moves, inout vec3 n, inout vec3 base, inout float metallic, inout float rough) {
    float open = 0.0, coarse = moves ? 0.5 : patches(at.xy * 0.7), fine = moves ? 0.5 : patches(at.xy * 3.1 + 17.0);
    vec3 from = at + n * 0.08 + vec3(0.0, 0.0, 0.03);
    float reach = 0.05 + 0.25 * fine;  // uneven edges under roofs
    for (int k = 0; k < 4; ++k) open += 0.25 * open_above(from + vec3(k < 2 ? reach : -reach, (k & 1) == 0 ? reach : -reach, 0.0));
#ifdef WET
    {
        float wet = covers.x * open;
        // Water in the pores of rough things that are no metals darkens them (Lagarde 2013).
        float porous = clamp((rough - 0.25) * 1.7, 0.0, 1.0) * (1.0 - metallic);
        base *= mix(1.0, 1.0 - 0.62 * porous, wet);
        rough = mix(rough, min(rough, 0.28), wet * 0.8);
        float puddle = moves ? 0.0 : smoothstep(0.60, 0.70, 0.75 * coarse + 0.25 * fine + 0.12 * covers.x) * smoothstep(0.965, 0.99, n.z) * wet;
        rough = mix(rough, 0.05, puddle);
        base *= 1.0 - 0.35 * puddle;
        metallic *= 1.0 - puddle;
        n = normalize(mix(n, vec3(ripples(at.xy, clock.x) * (0.35 * covers.w), 1.0), puddle));
    }
#endif
#ifdef LYING
    {
        float thick = covers.y * (moves ? 0.55 : 1.0);
        float share = open * smoothstep(0.0, 0.30, n.z - mix(0.98, 0.42, thick) + (0.65 * coarse + 0.35 * fine - 0.5) * 0.5);
        base = mix(base, vec3(0.82, 0.85, 0.90), share);
        rough = mix(rough, 0.8, share);
        metallic *= 1.0 - share;
    }
#endif
}
#endif

#ifdef CAUSTICS
// Light that waves have gathered, 1 on the mean: along the sun's rays, so that it lies the same on steps and walls.
float caustics(vec3 at) {
    vec2 p = (at.xy - sun_direction.xy * (at.z / max(sun_direction.z, 0.2))) * 3.4;
    float t = clock.x * 1.1;
    for (int k = 0; k < 3; ++k) {
        float f = float(k);
        p += 0.62 * vec2(sin(p.y * 1.3 + t * (0.7 + 0.2 * f) + f * 1.9), cos(p.x * 1.1 - t * (0.6 + 0.15 * f) + f * 2.7));
        p = mat2(0.8, -0.6, 0.6, 0.8) * p;
    }
    vec2 w = 1.0 - abs(sin(p));
    w *= w; w *= w;
    return 1.0 + covers.z * (2.4 * (w.x * w.x + w.y * w.y) - 0.343);  // the mean of w^8 over a wave is 0.0714
}
#endif
