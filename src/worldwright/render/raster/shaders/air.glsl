// Between a surface (or the sky) and the eye: air.py and particles.py.
#ifdef PARTICLES
layout(binding = 12) uniform sampler2D veil;  // what falls in front of each pixel: radiance, and the share that it hides

vec3 behind_particles(vec3 radiance, ivec2 pixel) {
    vec4 v = texelFetch(veil, pixel, 0);
    return radiance * (1.0 - v.a) + v.rgb;
}
#endif

#ifdef AIR
// How bright the air is on the way, as a share of its colour in the open: dark indoors, warm around lamps.
vec3 air_lit(vec3 direction, float far) {
#ifdef LOCAL_AIR
    vec3 sum = vec3(0.0);
    for (int k = 0; k < 4; ++k) {
        float share = (float(k) + 0.5) * 0.25;
        sum += min(textureLod(probe_light, field_place(eye.xyz + direction * (far * share * share)), 0.0).rgb / air_light.rgb, 2.5);
    }
    return sum * 0.25;
#else
    return vec3(1.0);
#endif
}

// ``direction`` has depth 1 and length ``stretch``.
vec3 through_air(vec3 radiance, vec3 direction, float z, float stretch) {
    return mix(air_colour.rgb * air_lit(direction, min(z, 30.0)), radiance, exp2(-1.442695 * air.rgb * z * stretch));
}

vec3 sky_through_air(vec3 radiance, vec3 direction) {
#ifdef LOCAL_AIR
    float far = min(air.w / max(direction.z, 0.02), 600.0);
    return mix(air_colour.rgb * air_lit(direction, 30.0), radiance, exp2(-min(1.442695 * air.rgb * far, 40.0)));
#else
    return mix(radiance, air_colour.rgb, 1.0 - exp2(-min(air.rgb * 400.0, 40.0)));
#endif
}
#endif
