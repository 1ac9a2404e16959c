#version 450 core
#include "frame.glsl"
#include "light.glsl"
#include "field.glsl"
#include "air.glsl"
#include "stars.glsl"
// Another renderer's linear radiance seen through the air of a moment: what shade.frag and shade_sky.frag do to their own.
layout(binding = 0) uniform usampler2D surface_map;
layout(binding = 1) uniform sampler2D radiance_map;
out vec4 out_colour;
void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 ray = view_ray(gl_FragCoord.xy), direction = to_world_direction(ray);
    vec3 radiance = texelFetch(radiance_map, pixel, 0).rgb;
    uint code = texelFetch(surface_map, pixel, 0).z & 0xffffu;
    bool sky = code == 0u;
    float z = near_size.x * exp2(float(int(code) - 1) * (14.287712379549449 / 65534.0));
#ifdef POINTS
    if (sky) radiance += sky_points(normalize(direction));
#endif
#ifdef AIR
    radiance = sky ? sky_through_air(radiance, normalize(direction)) : through_air(radiance, direction, z, length(ray));
#endif
#ifdef PARTICLES
    radiance = behind_particles(radiance, pixel);
#endif
    out_colour = vec4(radiance, 1.0);
}
