#version 450 core
// Anti-aliasing after shading: a search along the luma edge (after Lottes' FXAA 3.11, 2011), but only where geometry has an edge: there
// edges.frag left a depth that lets this shader run. So textures stay crisp, and flat ground costs nothing.
layout(binding = 0) uniform sampler2D picture;
uniform vec2 texel;
out vec4 out_colour;

float luma(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }
float luma_at(vec2 uv) { return luma(textureLod(picture, uv, 0.0).rgb); }

void main() {
    vec2 uv = gl_FragCoord.xy * texel;
    vec3 here = textureLod(picture, uv, 0.0).rgb;
    float m = luma(here), n = luma_at(uv - vec2(0.0, texel.y)), s = luma_at(uv + vec2(0.0, texel.y));
    float w = luma_at(uv - vec2(texel.x, 0.0)), e = luma_at(uv + vec2(texel.x, 0.0));
    float high = max(m, max(max(n, s), max(w, e))), low = min(m, min(min(n, s), min(w, e)));
    float range = max(high - low, 1e-4);
    float nw = luma_at(uv - texel), ne = luma_at(uv + vec2(texel.x, -texel.y));
    float sw = luma_at(uv + vec2(-texel.x, texel.y)), se = luma_at(uv + texel);
    float level = abs(nw + sw - 2.0 * w) + 2.0 * abs(n + s - 2.0 * m) + abs(ne + se - 2.0 * e);
    float upright = abs(nw + ne - 2.0 * n) + 2.0 * abs(w + e - 2.0 * m) + abs(sw + se - 2.0 * s);
    bool flat_edge = level >= upright;  // the edge runs left to right
    float before = flat_edge ? n : w, after = flat_edge ? s : e;
    float rise_before = abs(before - m), rise_after = abs(after - m);
    vec2 across = flat_edge ? vec2(0.0, texel.y) : vec2(texel.x, 0.0);
    vec2 along = flat_edge ? vec2(texel.x, 0.0) : vec2(0.0, texel.y);
    if (rise_before >= rise_after) across = -across;
    float middle = 0.5 * (m + (rise_before >= rise_after ? before : after));
    float gradient = max(rise_before, rise_after) * 0.25;
    vec2 on_edge = uv + across * 0.5, a = on_edge, b = on_edge;
    float da = 0.0, db = 0.0, stride = 1.0;
    bool open_a = true, open_b = true;
    for (int k = 0; k < 10 && (open_a || open_b); ++k) {
        if (open_a) { a -= along * stride; da = luma_at(a) - middle; open_a = abs(da) < gradient; }
        if (open_b) { b += along * stride; db = luma_at(b) - middle; open_b = abs(db) < gradient; }
        stride = k == 0 ? 1.5 : k < 6 ? 2.0 : 4.0;
    }
    float la = flat_edge ? uv.x - a.x : uv.y - a.y, lb = flat_edge ? b.x - uv.x : b.y - uv.y;
    bool nearer_a = la < lb;
    bool good = (m < middle) != ((nearer_a ? da : db) < 0.0);
    float shift = good ? 0.5 - min(la, lb) / (la + lb) : 0.0;
    float blur = clamp(abs((2.0 * (n + s + w + e) + nw + ne + sw + se) * (1.0 / 12.0) - m) / range, 0.0, 1.0);
    blur = blur * blur * (3.0 - 2.0 * blur);
    out_colour = vec4(textureLod(picture, uv + across * max(shift, blur * blur * 0.5), 0.0).rgb, 1.0);
}
