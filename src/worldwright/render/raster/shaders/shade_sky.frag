#version 450 core
#include "frame.glsl"
#include "light.glsl"
out vec4 out_colour;
void main() {
    vec3 radiance = sky_radiance(normalize(to_world_direction(view_ray(gl_FragCoord.xy))));
    radiance = mix(radiance, fog.rgb, 1.0 - exp2(-min(fog.w * 400.0, 40.0)));
#ifdef LINEAR
    out_colour = vec4(radiance, 1.0);
#else
    out_colour = vec4(graded(radiance), 0.0);
#endif
}
