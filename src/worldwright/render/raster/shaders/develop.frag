#version 450 core
#include "frame.glsl"
#include "light.glsl"
// The mean of linear sub-frames becomes a picture.
layout(binding = 0) uniform sampler2D total;
out vec4 out_colour;
void main() {
    vec4 sum = texelFetch(total, ivec2(gl_FragCoord.xy), 0);
    out_colour = vec4(graded(sum.rgb / sum.a), 1.0);
}
