#version 450 core
#include "frame.glsl"
#include "outputs.glsl"
// Where nothing is: the codes for no surface. Only rotation moves the sky.
void main() {
    ivec2 flow = ivec2(0);
#ifdef FLOW
    flow = flow_code(mat3(to_next) * to_world_direction(view_ray(gl_FragCoord.xy)), gl_FragCoord.xy);
#endif
    out_surface = uvec4(0u);
    out_aim = pack_aim(uvec2(65535u), flow);
}
