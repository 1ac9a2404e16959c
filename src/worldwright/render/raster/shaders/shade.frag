#version 450 core
#include "frame.glsl"
#include "light.glsl"
#include "field.glsl"
#include "air.glsl"
#include "weathering.glsl"
layout(binding = 0) uniform usampler2D surface_map;  // see outputs.glsl
layout(binding = 1) uniform usampler2D aim_map;
layout(binding = 3) uniform sampler2DShadow still_shadow;
layout(binding = 4) uniform sampler2DShadow moving_shadow;

struct Lamp { vec4 place; vec4 light; };  // position, 1 / reach; radiant intensity, shadow index or -1
layout(std140, binding = 1) uniform Lamps { vec4 lamp_count; Lamp lamps[64]; };

out vec4 out_colour;

float sun_seen(vec3 at, vec3 n, float nl) {
    float slope = sqrt(max(1.0 - nl * nl, 0.0)) / max(nl, 0.05);
    vec3 s = (sun_still * vec4(at + n * (sun_texels.x * (0.7 + 0.6 * min(slope, 3.0))), 1.0)).xyz;
    float seen = texture(still_shadow, s);
    if (sun_texels.z > 0.0 && seen > 0.0) {
        s = (sun_moving * vec4(at + n * (sun_texels.y * (0.7 + 0.6 * min(slope, 3.0))), 1.0)).xyz;
        if (all(lessThan(abs(s.xy - 0.5), vec2(0.499)))) seen *= texture(moving_shadow, s);
    }
    return seen;
}

#ifdef LAMP_SHADOWS
layout(binding = 9) uniform sampler2DShadow lamp_still;
layout(binding = 10) uniform sampler2DShadow lamp_moving;

float lamp_seen(int k, vec3 at, vec3 n, float far) {
    float row = lamps[k].light.w;
    vec3 d = at + n * (far * 0.02) - lamps[k].place.xyz, a = abs(d);
    int axis = a.x >= a.y && a.x >= a.z ? 0 : a.y >= a.z ? 1 : 2;
    vec3 turned = axis == 0 ? d : axis == 1 ? d.yzx : d.zxy;  // forward, across, up
    float w = abs(turned.x), face = float(axis * 2) + (turned.x < 0.0 ? 1.0 : 0.0);
    float reach = max(1.0 / lamps[k].place.w, 0.1);
    float depth = reach / (reach - 0.05) * (1.0 - 0.05 / w);
    vec2 p = turned.yz / w;
    vec2 rows = vec2(textureSize(lamp_still, 0)) / 256.0;
    vec2 place = (vec2(face, row) + clamp(p, -0.996, 0.996) * 0.5 + 0.5) / rows;
    float seen = textureLod(lamp_still, vec3(place, depth), 0.0) * textureLod(lamp_moving, vec3(place, depth), 0.0);
    return row < 0.0 ? 1.0 : seen;
}
#endif

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 ray = view_ray(gl_FragCoord.xy);
    vec3 direction = to_world_direction(ray);
    uvec4 surface = texelFetch(surface_map, pixel, 0);
    float z = near_size.x * exp2(float(int(surface.z & 0xffffu) - 1) * (14.287712379549449 / 65534.0));
    vec3 at = eye.xyz + direction * z;
    vec4 albedo = unpackUnorm4x8(surface.x);
    vec3 n = from_octahedral(vec2(surface.y & 4095u, (surface.y >> 12) & 4095u) * (2.0 / 4095.0) - 1.0);
    uint facing = texelFetch(aim_map, pixel, 0).x;
    uint key = (surface.z >> 16) * 37u + ((facing >> 9) & 7u) * 29u + (facing >> 25) * 97u + uint(log2(z) * 4.0 + 64.0) * 13u;
    float metallic = float(surface.y >> 24) * (1.0 / 255.0);
    vec3 base = to_linear(albedo.rgb);
    vec3 v = -normalize(direction);
#ifdef COVERED
    cover(at, surface.w >> 31 != 0u, n, base, metallic, albedo.a);
#endif
    float nv = max(dot(n, v), 1e-3);
    vec3 diffuse = base * (1.0 - metallic);
    vec3 f0 = mix(vec3(0.04), base, metallic);
    float rough = max(albedo.a, 0.06), a = rough * rough, a2 = a * a;

    vec3 glow = vec3(uvec3(surface.w, surface.w >> 10, surface.w >> 20) & 1023u) * (1.0 / 1023.0);
    vec3 radiance = glow * glow * 64.0;

#ifdef SUN
    float nl = dot(n, sun_direction.xyz);
    if (nl > 0.0) {
        float seen = sun_seen(at, n, nl);
#ifdef CAUSTICS
        seen *= caustics(at);
#endif
        if (seen > 0.0) radiance += seen * sun_radiance.rgb * brdf_times_cosine(diffuse, f0, a2, n, v, sun_direction.xyz, nv, nl);
    }
#endif
#ifdef LAMPS
    // First which lamps reach the point and shine on its front, which is cheap; then those alone. llvmpipe runs a loop for eight pixels
    // at once, its body at least once, and nothing that an ``if`` leaves out is saved.
    uint reached = 0u;
    for (int k = 0; k < int(lamp_count.x); ++k) {
        vec3 d = lamps[k].place.xyz - at;
        if (dot(d, d) * lamps[k].place.w * lamps[k].place.w < 1.0 && dot(n, d) > 0.0) reached |= 1u << k;
    }
    do {
        int k = max(findLSB(reached), 0);
        vec3 d = lamps[k].place.xyz - at;
        float square = dot(d, d), x = square * lamps[k].place.w * lamps[k].place.w;
        vec3 l = d * inversesqrt(square);
        float window = reached == 0u ? 0.0 : 1.0 - x * x;
#ifdef LAMP_SHADOWS
        window *= sqrt(lamp_seen(k, at, n, sqrt(square)));
#endif
        float lit = max(dot(n, l), 0.0);
        radiance += lamps[k].light.rgb * (window * window / max(square, 1e-4)) * brdf_times_cosine(diffuse, f0, a2, n, v, l, nv, lit);
        reached &= reached - 1u;
    } while (reached != 0u);
#endif
    vec3 place = ((at + n * (probes.w * 1.5) - probes.xyz) / probes.w + 0.5) * probe_cells.xyz;
    vec4 around = textureLod(probe_light, place, 0.0);
    vec4 side = textureLod(probe_side, place, 0.0);
    radiance += diffuse * leaning(around.rgb, side, n);
    // Karis' approximation of the split sum (2014).
    vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a004 = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    vec2 ab = vec2(-1.04, 1.04) * a004 + r.zw;
    vec3 reflected = reflect(-v, n);
    radiance += (f0 * ab.x + ab.y) * mix(sky_radiance(reflected) * around.a, leaning(around.rgb, side, reflected), sqrt(rough));
#ifdef AIR
    radiance = through_air(radiance, direction, z, length(ray));
#endif
#ifdef PARTICLES
    radiance = behind_particles(radiance, pixel);
#endif
#ifdef LINEAR
    out_colour = vec4(radiance, 1.0);
#else
    out_colour = vec4(graded(radiance), float(key & 255u) * (1.0 / 255.0));
#endif
}
