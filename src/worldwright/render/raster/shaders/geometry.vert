#version 450 core
#include "frame.glsl"
layout(std430, binding = 0) readonly buffer Objects { vec4 object_rows[]; };  // per object: 3 rows now, 3 rows next
layout(std430, binding = 1) readonly buffer Bones { vec4 bone_rows[]; };

in vec3 in_position;
in vec3 in_normal;
in vec2 in_uv;
in uvec4 in_words;  // entity | object << 16, base, params, emissive
#ifdef SKINNED
in uvec4 in_joints;
in vec4 in_weights;
#endif

#ifdef SHADOW
uniform mat4 to_light;
uniform bool through_glow;  // surfaces that emit light cast no shadow
#ifdef HOLES
out vec2 uv;
flat out uvec4 words;
#endif
#else
out vec3 normal;
out vec2 uv;
#ifdef FLOW
out vec3 next_pixel;
#endif
flat out uvec4 words;
#endif

void main() {
    vec4 p = vec4(in_position, 1.0);
#if defined(SKINNED)
    vec4 r0 = vec4(0.0), r1 = vec4(0.0), r2 = vec4(0.0);
    for (int k = 0; k < 4; ++k) {
        uint b = in_joints[k] * 6u;
        r0 += in_weights[k] * bone_rows[b];
        r1 += in_weights[k] * bone_rows[b + 1u];
        r2 += in_weights[k] * bone_rows[b + 2u];
    }
#elif defined(MOVES)
    uint o = (in_words.x >> 16) * 6u;
    vec4 r0 = object_rows[o], r1 = object_rows[o + 1u], r2 = object_rows[o + 2u];
#endif
#if defined(SKINNED) || defined(MOVES)
    vec4 world = vec4(dot(r0, p), dot(r1, p), dot(r2, p), 1.0);
#else
    vec4 world = p;
#endif

#ifdef SHADOW
    gl_Position = to_light * world;
    if (through_glow && in_words.w != 0u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#ifdef HOLES
    uv = in_uv;
    words = in_words;
#endif
#else
    gl_Position = to_clip * world;
#if defined(SKINNED) || defined(MOVES)
    normal = vec3(dot(r0.xyz, in_normal), dot(r1.xyz, in_normal), dot(r2.xyz, in_normal));
#else
    normal = in_normal;
#endif
    uv = in_uv;
    words = in_words;
#ifdef FLOW
#if defined(SKINNED)
    vec4 n0 = vec4(0.0), n1 = vec4(0.0), n2 = vec4(0.0);
    for (int k = 0; k < 4; ++k) {
        uint b = in_joints[k] * 6u + 3u;
        n0 += in_weights[k] * bone_rows[b];
        n1 += in_weights[k] * bone_rows[b + 1u];
        n2 += in_weights[k] * bone_rows[b + 2u];
    }
    vec4 next = vec4(dot(n0, p), dot(n1, p), dot(n2, p), 1.0);
#elif defined(MOVES)
    vec4 next = vec4(dot(object_rows[o + 3u], p), dot(object_rows[o + 4u], p), dot(object_rows[o + 5u], p), 1.0);
#else
    vec4 next = world;
#endif
    next_pixel = (to_next * next).xyz;
#endif
#endif
}
