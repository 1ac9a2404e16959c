#version 450 core
#include "frame.glsl"
#include "light.glsl"
#include "voxels.glsl"
// What a probe sees in all directions: the mean radiance, its lean to a side (first-order spherical harmonics, Ramamoorthi and Hanrahan
// 2001: E / pi = mean + 2 mean(L d) . n), and how much sky there is. The lean is that of luminance; of colour, only what tells blue from
// above (the sky) and red from below (sunlit ground): by how much blue leans further up than red does.
layout(binding = 1) uniform sampler3D voxel_radiance;  // six faces, one above the other in z
uniform vec4 probes;
uniform ivec4 probe_count;
uniform int width;
layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_side;

const int DIRECTIONS = 48;
const float UNKNOWN = -9.0;  // spread.frag and lightfield.py know it too

// Radiance from a voxel, and 1 in ``back`` where only faces that look away are seen: then the probe is inside of something.
vec3 seen(ivec3 cell, vec3 d, out float back) {
    // The face that looks back at us; where that one is empty, the next best.
    uint faces = texelFetch(voxel_faces, cell, 0).x;
    ivec3 side = ivec3(d.x > 0.0 ? 1 : 0, d.y > 0.0 ? 3 : 2, d.z > 0.0 ? 5 : 4);
    vec3 weight = abs(d) * vec3(faces >> side.x & 1u, faces >> side.y & 1u, faces >> side.z & 1u);
    float most = max(weight.x, max(weight.y, weight.z));
    back = most <= 0.0 ? 1.0 : 0.0;
    if (most <= 0.0) return vec3(0.0);
    int face = weight.x == most ? side.x : weight.y == most ? side.y : side.z;
    int tall = textureSize(voxel_faces, 0).z;
    return texelFetch(voxel_radiance, ivec3(cell.xy, cell.z + face * tall), 0).rgb;
}

void main() {
    int number = int(gl_FragCoord.y) * width + int(gl_FragCoord.x);
    ivec3 p = ivec3(number % probe_count.x, number / probe_count.x % probe_count.y, number / (probe_count.x * probe_count.y));
    vec3 at = probes.xyz + vec3(p) * probes.w;
    vec3 mean = vec3(0.0), side = vec3(0.0), rise = vec3(0.0);
    float open_sky = 0.0, backs = 0.0;
    for (int k = 0; k < DIRECTIONS; ++k) {
        float z = 1.0 - (2.0 * float(k) + 1.0) / float(DIRECTIONS), turn = 2.399963 * float(k), r = sqrt(1.0 - z * z);
        vec3 d = vec3(r * cos(turn), r * sin(turn), z);
        ivec3 cell;
        bool free = way_is_free(at, d, 1e4, cell);
        float back = 0.0;
        vec3 radiance = free ? sky_dome(d) : seen(cell, d, back);
        backs += back;
        if (free && z > 0.0) open_sky += 2.0 / float(DIRECTIONS);
        mean += radiance;
        rise += d.z * radiance;
        side += d * dot(radiance, vec3(0.2126, 0.7152, 0.0722));
    }
    float bright = max(dot(mean, vec3(0.2126, 0.7152, 0.0722)), 1e-9);
    side *= 2.0 / bright;
    side *= min(1.0, 1.5 / max(length(side), 1e-6));
    ivec3 own = ivec3(floor((at - grid.xyz) / grid.w));
    bool inside = texelFetch(voxel_faces, clamp(own, ivec3(0), textureSize(voxel_faces, 0) - 1), 0).x != 0u;
    out_light = vec4(mean / float(DIRECTIONS), open_sky);
    vec3 up = 2.0 * rise / max(mean, 1e-9);
    float bluer = clamp((up.b - up.r) * 0.5, -1.0, 1.0);
    out_side = vec4(side, inside || backs > 0.2 * float(DIRECTIONS) ? UNKNOWN : bluer);
}
