#version 450 core
#include "voxels.glsl"
// Light at a voxel, from those of the eight probes around it that it can see: so that light does not come through walls.
layout(binding = 1) uniform sampler2D coarse_light;
layout(binding = 2) uniform sampler2D coarse_side;
uniform vec4 probes;
uniform ivec4 probe_count;
uniform int width;
layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_side;

void main() {
    int number = int(gl_FragCoord.y) * width + int(gl_FragCoord.x);
    ivec3 size = textureSize(voxel_faces, 0);
    ivec3 v = ivec3(number % size.x, number / size.x % size.y, number / (size.x * size.y));
    vec3 at = grid.xyz + (vec3(v) + 0.5) * grid.w;
    vec3 p = (at - probes.xyz) / probes.w, base = floor(p), part = p - base;
    vec4 light = vec4(0.0), side = vec4(0.0);
    float total = 0.0;
    bool inside = v.z < size.z && texelFetch(voxel_faces, v, 0).x != 0u;
    for (int k = 0; k < 8; ++k) {
        ivec3 corner = ivec3(k & 1, k >> 1 & 1, k >> 2);
        ivec3 probe = clamp(ivec3(base) + corner, ivec3(0), probe_count.xyz - 1);
        vec3 share = mix(1.0 - part, part, vec3(corner));
        vec3 way = probes.xyz + vec3(probe) * probes.w - at;
        float far = length(way);
        ivec3 cell;
        bool free = far < 1e-4 || way_is_free(at, way / max(far, 1e-4), far, cell);
        int place = (probe.z * probe_count.y + probe.y) * probe_count.x + probe.x;
        ivec2 texel = ivec2(place % width, place / width);
        vec4 s = texelFetch(coarse_side, texel, 0);
        float weight = free && s.w > -5.0 ? share.x * share.y * share.z + 0.003 : 0.0;  // -9: the probe is inside of something
        light += weight * texelFetch(coarse_light, texel, 0);
        side += weight * s;
        total += weight;
    }
    bool good = !inside && total > 0.0;
    out_light = good ? light / total : vec4(0.0);
    out_side = good ? side / total : vec4(0.0, 0.0, 0.0, -9.0);
}
