#version 450 core
#ifdef HOLES
// Holes let light through.
in vec2 uv;
flat in uvec4 words;
#ifdef PAGE
layout(binding = 0) uniform sampler2DArray pages;
#endif
void main() {
#ifdef PAGE
    float alpha = texture(pages, vec3(uv, float(words.z & 0xffffu))).a;
#else
    float alpha = unpackUnorm4x8(words.y).a;
#endif
    if (alpha < 0.5) discard;
}
#else
void main() {}
#endif
