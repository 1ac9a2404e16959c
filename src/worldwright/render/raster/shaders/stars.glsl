#include "hash.glsl"
// What is a point in the sky: the sun's or the moon's disc, and stars. Not in the table of the sky, which is too coarse for it.
vec3 sky_points(vec3 d) {
    vec3 light = vec3(0.0);
    float open = 1.0 - sky_zenith.w, blur = rays.x;  // of a pixel, radians
    if (sun_direction.w > 0.0) {
        float off = length(cross(d, sun_direction.xyz)), radius = sky_horizon.w > 0.0 ? 0.011 : 0.0047;
        float disc = dot(d, sun_direction.xyz) > 0.0 ? 1.0 - smoothstep(radius - blur, radius + blur, off) : 0.0;
        float brightest = max(sun_radiance.r, max(sun_radiance.g, sun_radiance.b));
        light += sun_radiance.rgb * (disc * open * (sky_horizon.w > 0.0 ? 6.0 * sky_horizon.w / max(brightest, 1e-6) : 12.0));
    }
    if (sky_horizon.w > 0.0 && d.z > 0.0) {
        const float cells = 90.0;
        vec2 place = (octahedral(d) * 0.5 + 0.5) * cells;
        vec3 c = chance(uvec3(uvec2(place), 7u));
        vec3 star = from_octahedral((floor(place) + 0.2 + 0.6 * c.xy) / cells * 2.0 - 1.0);
        float size = max(blur, 0.0007), off = length(d - star) / size;  // a star has no size: a pixel's, and dimmer the larger pixels are
        float bright = c.z * c.z; bright *= bright; bright *= bright; bright *= bright;  // few bright ones
        light += mix(vec3(1.0, 0.86, 0.7), vec3(0.75, 0.86, 1.0), c.x) * (sky_horizon.w * (0.02 + bright) * min(0.0016 / size, 1.0) * exp2(-2.6 * off * off) * smoothstep(0.0, 0.25, d.z));
    }
    return light;
}
