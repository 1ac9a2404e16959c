#version 450 core
#include "frame.glsl"
#include "field.glsl"
#include "hash.glsl"
#include "roof.glsl"
// What falls and floats, a capsule each (particles.py). They fill a box around the eye, again and again in all directions, so each has its
// place in the world whoever looks: the box only says which are drawn.
uniform vec4 box;      // side m, radius m, opacity, flutter m
uniform vec4 came;     // how far all have come, within a box, m; w = which box
uniform vec4 sweep;    // their way while the shutter is open, m
uniform vec4 tint;     // of the light around them; w = 1 when roofs keep them off
flat out vec4 ends;    // pixels
flat out vec4 veil;    // radiance, hidden share
flat out float radius;  // pixels

vec2 pixel_of(vec3 p) {
    vec2 q = p.xy / p.z;
    return vec2((q.x + q.y * eye.w - rays.y) / rays.x, (q.y - rays.w) / rays.z);
}

void main() {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    uint id = uint(gl_VertexID) / 6u, corner = uint(gl_VertexID) % 6u;
    vec3 c = chance(uvec3(id, uint(came.w), 29u)), d = chance(uvec3(id, uint(came.w), 31u));
    vec3 from = mod(c * box.x + came.xyz - eye.xyz + 0.5 * box.x, box.x) - 0.5 * box.x;
    float edge = max(abs(from.x), max(abs(from.y), abs(from.z))) * 2.0 / box.x;
    vec3 p = eye.xyz + from;
    p.xy += box.w * sin(clock.x * (0.9 + 1.3 * d.xy) + d.yx * 6.2831853);
    vec3 a = (to_view * vec4(p, 1.0)).xyz, b = (to_view * vec4(p + sweep.xyz, 1.0)).xyz;
    float z = 0.5 * (a.z + b.z);
    ends = vec4(0.0);
    veil = vec4(0.0);
    radius = 0.0;
    if (min(a.z, b.z) < 0.25 || edge >= 1.0) return;
    float true_radius = box.y * (0.6 + 0.8 * d.z) / (z * rays.x), shown = max(true_radius, 0.65);
    ends = vec4(pixel_of(a), pixel_of(b));
    vec2 way = ends.zw - ends.xy;
    float far = length(way);
    // As much light as the disc hides, over as many pixels as it sweeps; it fades in and out at the ends of the box.
    float hidden = box.z * true_radius * true_radius * 3.14159265 / (2.0 * shown * far + 3.14159265 * shown * shown);
    hidden = min(hidden, 0.95) * (1.0 - smoothstep(0.7, 1.0, edge)) * smoothstep(0.25, 0.9, z);
    hidden *= exp2(-1.442695 * dot(air.rgb, vec3(0.3333)) * z);
    if (hidden < 0.004) return;
    if (tint.w > 0.5) hidden *= open_above(p);
    if (hidden < 0.004) return;
    veil = vec4(tint.rgb * textureLod(probe_light, field_place(p), 0.0).rgb, 1.0) * hidden;
    radius = shown;
    vec2 along = far > 1e-3 ? way / far : vec2(1.0, 0.0);
    vec2 side = vec2(corner == 0u || corner == 3u || corner == 5u ? -1.0 : 1.0, corner == 0u || corner == 1u || corner == 3u ? -1.0 : 1.0);
    vec2 pixel = (side.x < 0.0 ? ends.xy : ends.zw) + (along * side.x + vec2(-along.y, along.x) * side.y) * (shown + 1.0);
    gl_Position = vec4(pixel / near_size.yz * 2.0 - 1.0, near_size.x / z, 1.0);
}
