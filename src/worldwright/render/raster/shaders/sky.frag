#version 450 core
#include "frame.glsl"
#include "outputs.glsl"
// Where nothing is: the codes for no surface. Only rotation moves the sky.
void main() {
    out_albedo = vec4(0.0);
    out_metallic = 0.0;
    out_shading = uvec2(0u);
    out_depth = 0u;
    out_normal = uvec2(65535u);
    out_entity = 0u;
#ifdef FLOW
    out_flow = flow_code(mat3(to_next) * to_world_direction(view_ray(gl_FragCoord.xy)), gl_FragCoord.xy);
#endif
}
