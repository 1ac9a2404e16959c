#version 450 core
#include "frame.glsl"
#include "outputs.glsl"
in vec3 normal;
in vec2 uv;
#ifdef FLOW
in vec3 next_pixel;
#endif
flat in uvec4 words;
#ifdef PAGE
layout(binding = 0) uniform sampler2DArray pages;
layout(binding = 1) uniform sampler2DArray data_pages;  // the same, with the cheaper filter
#endif

vec3 bent(vec3 n, vec3 at, vec2 xy) {
    // The tangent frame from the screen's derivatives (Mikkelsen 2010 / Schueler 2013): no tangents are stored.
    vec3 px = dFdx(at), py = dFdy(at);
    vec2 tx = dFdx(uv), ty = dFdy(uv);
    vec3 a = cross(py, n), b = cross(n, px);
    vec3 t = a * tx.x + b * ty.x, v = a * tx.y + b * ty.y;
    float scale = inversesqrt(max(max(dot(t, t), dot(v, v)), 1e-30));
    // The picture's y points down, which turns both axes around; v grows downwards in the image and +Y of the map points up.
    return normalize(v * (xy.y * scale) - t * (xy.x * scale) + n * sqrt(max(1.0 - dot(xy, xy), 0.01)));
}

void main() {
    vec4 base;
    float roughness, metallic;
    uint glow = words.w;
    uint params = words.z;
#ifdef PAGE
    float layer = float(params & 0xffffu);
    base = texture(pages, vec3(uv, layer));
#else
    base = unpackUnorm4x8(words.y);
#endif
#ifdef HOLES
    if (base.a < 0.5) discard;
#endif
    float z = 1.0 / gl_FragCoord.w;
    vec3 n = normalize(normal);
    vec3 ray = view_ray(gl_FragCoord.xy);
#ifdef DOUBLE_SIDED
    if (!gl_FrontFacing) n = -n;
#endif
    vec3 shading = n;
#ifdef PAGE
    vec4 data = texture(data_pages, vec3(uv, layer + 1.0));
    roughness = data.z;
    metallic = data.w;
#ifdef NORMAL_MAPPED
    shading = bent(n, to_world_direction(ray * z), data.xy * (255.0 / 127.0) - (128.0 / 127.0));
#endif
#ifdef EMISSIVE_MAPPED
    {
        vec3 e = to_linear(texture(pages, vec3(uv, layer + 2.0)).rgb);
        vec3 most = vec3(uvec3(glow, glow >> 10, glow >> 20) & 1023u);
        uvec3 g = uvec3(most * sqrt(e) + 0.5);
        glow = g.x | g.y << 10 | g.z << 20;
    }
#endif
#else
    roughness = float((params >> 16) & 255u) * (1.0 / 255.0);
    metallic = float(params >> 24) * (1.0 / 255.0);
#endif
    ivec2 flow = ivec2(0);
#ifdef FLOW
    flow = flow_code(next_pixel, gl_FragCoord.xy);
#endif
    uvec2 code = uvec2((octahedral(shading) * 0.5 + 0.5) * 4095.0 + 0.5);
#if defined(MOVES) || defined(SKINNED)
    glow |= 1u << 31;
#endif
    out_surface = pack_surface(vec4(base.rgb, roughness), code, uint(metallic * 255.0 + 0.5), depth_code(z), words.x & 0xffffu, glow);
    out_aim = pack_aim(normal_code(mat3(to_view) * n), flow);
}
