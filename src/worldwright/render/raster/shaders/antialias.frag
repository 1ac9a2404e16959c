#version 450 core
// Anti-aliasing after shading, along the edges of luma (after Lottes' FXAA 3.11, 2011, with a full-quality search).
layout(binding = 0) uniform sampler2D picture;  // graded colour, luma in alpha; linear filter
uniform vec2 texel;
out vec4 out_colour;

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    vec2 uv = gl_FragCoord.xy * texel;
    vec4 here = texelFetch(picture, p, 0);
    ivec2 last = textureSize(picture, 0) - 1;
    float m = here.a;
    float n = texelFetch(picture, ivec2(p.x, max(p.y - 1, 0)), 0).a;
    float s = texelFetch(picture, ivec2(p.x, min(p.y + 1, last.y)), 0).a;
    float w = texelFetch(picture, ivec2(max(p.x - 1, 0), p.y), 0).a;
    float e = texelFetch(picture, ivec2(min(p.x + 1, last.x), p.y), 0).a;
    float high = max(m, max(max(n, s), max(w, e))), low = min(m, min(min(n, s), min(w, e)));
    float range = high - low;
    if (range < max(0.04, high * 0.11)) {
        out_colour = vec4(here.rgb, 1.0);
        return;
    }
    float nw = texture(picture, uv + vec2(-1.0, -1.0) * texel).a, ne = texture(picture, uv + vec2(1.0, -1.0) * texel).a;
    float sw = texture(picture, uv + vec2(-1.0, 1.0) * texel).a, se = texture(picture, uv + vec2(1.0, 1.0) * texel).a;
    float level = abs(nw + sw - 2.0 * w) + 2.0 * abs(n + s - 2.0 * m) + abs(ne + se - 2.0 * e);
    float upright = abs(nw + ne - 2.0 * n) + 2.0 * abs(w + e - 2.0 * m) + abs(sw + se - 2.0 * s);
    bool flat_edge = level >= upright;  // the edge runs left to right
    float before = flat_edge ? n : w, after = flat_edge ? s : e;
    float down = abs(before - m), up = abs(after - m);
    vec2 across = flat_edge ? vec2(0.0, texel.y) : vec2(texel.x, 0.0);
    vec2 along = flat_edge ? vec2(texel.x, 0.0) : vec2(0.0, texel.y);
    if (down >= up) across = -across;
    float middle = 0.5 * (m + (down >= up ? before : after));
    float gradient = max(down, up) * 0.25;
    vec2 on_edge = uv + across * 0.5;
    const float steps[10] = float[10](1.0, 1.5, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0, 4.0, 8.0);
    vec2 a = on_edge, b = on_edge;
    float da = 0.0, db = 0.0;
    bool done_a = false, done_b = false;
    for (int k = 0; k < 10 && !(done_a && done_b); ++k) {
        if (!done_a) { a -= along * steps[k]; da = texture(picture, a).a - middle; done_a = abs(da) >= gradient; }
        if (!done_b) { b += along * steps[k]; db = texture(picture, b).a - middle; done_b = abs(db) >= gradient; }
    }
    float la = flat_edge ? uv.x - a.x : uv.y - a.y, lb = flat_edge ? b.x - uv.x : b.y - uv.y;
    bool nearer_a = la < lb;
    float share = -min(la, lb) / (la + lb) + 0.5;
    bool good = (m - middle < 0.0) != ((nearer_a ? da : db) < 0.0);
    float shift = good ? share : 0.0;
    float blur = clamp(abs((2.0 * (n + s + w + e) + nw + ne + sw + se) * (1.0 / 12.0) - m) / range, 0.0, 1.0);
    blur = blur * blur * (3.0 - 2.0 * blur);
    shift = max(shift, blur * blur * 0.6);
    out_colour = vec4(texture(picture, uv + across * shift).rgb, 1.0);
}
