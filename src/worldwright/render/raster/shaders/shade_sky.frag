#version 450 core
#include "frame.glsl"
#include "light.glsl"
#include "field.glsl"
#include "air.glsl"
#include "stars.glsl"
out vec4 out_colour;
void main() {
    vec3 direction = normalize(to_world_direction(view_ray(gl_FragCoord.xy)));
    vec3 radiance = sky_radiance(direction);
#ifdef POINTS
    radiance += sky_points(direction);
#endif
#ifdef AIR
    radiance = sky_through_air(radiance, direction);
#endif
#ifdef PARTICLES
    radiance = behind_particles(radiance, ivec2(gl_FragCoord.xy));
#endif
#ifdef LINEAR
    out_colour = vec4(radiance, 1.0);
#else
    out_colour = vec4(graded(radiance), 0.0);
#endif
}
