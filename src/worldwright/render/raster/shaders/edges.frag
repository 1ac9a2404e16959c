#version 450 core
// Copies the picture and marks, by the depth it writes, where surfaces meet: alpha is a key of the surface. A driver without branches
// (llvmpipe) can skip work by the depth test alone.
layout(binding = 0) uniform sampler2D picture;
out vec4 out_colour;

float luma(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy), last = textureSize(picture, 0) - 1;
    vec4 m = texelFetch(picture, p, 0);
    vec4 n = texelFetch(picture, ivec2(p.x, max(p.y - 1, 0)), 0), s = texelFetch(picture, ivec2(p.x, min(p.y + 1, last.y)), 0);
    vec4 w = texelFetch(picture, ivec2(max(p.x - 1, 0), p.y), 0), e = texelFetch(picture, ivec2(min(p.x + 1, last.x), p.y), 0);
    float most = max(max(abs(luma(n.rgb - m.rgb)), abs(luma(s.rgb - m.rgb))), max(abs(luma(w.rgb - m.rgb)), abs(luma(e.rgb - m.rgb))));
    bool edge = (m.a != n.a || m.a != s.a || m.a != w.a || m.a != e.a) && most > 0.02;
    out_colour = vec4(m.rgb, 1.0);
    gl_FragDepth = edge ? 1.0 : 0.0;
}
