// Light in linear radiance. Cook-Torrance with GGX, height-correlated Smith and Schlick's Fresnel, as in glTF 2.0, appendix B.
const float PI = 3.14159265;

vec3 brdf_times_cosine(vec3 diffuse, vec3 f0, float a2, vec3 n, vec3 v, vec3 l, float nv, float nl) {
    vec3 h = normalize(v + l);
    float nh = clamp(dot(n, h), 0.0, 1.0), vh = clamp(dot(v, h), 0.0, 1.0);
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float ggx = a2 / (PI * d * d);
    float smith = 0.5 / (nl * sqrt(nv * nv * (1.0 - a2) + a2) + nv * sqrt(nl * nl * (1.0 - a2) + a2) + 1e-5);
    float s = 1.0 - vh, s2 = s * s;
    vec3 fresnel = f0 + (1.0 - f0) * (s2 * s2 * s);
    return ((1.0 - fresnel) * diffuse * (1.0 / PI) + fresnel * min(ggx * smith, 64.0)) * nl;
}

// What a probe of light and its leans (probes.frag) bring to a surface that looks along n, as mean radiance.
vec3 leaning(vec3 light, vec4 side, vec3 n) {
    return light * max(1.0 + dot(side.xyz, n) + side.w * n.z * vec3(-1.0, 0.0, 1.0), 0.08);
}

#ifdef SKY_TABLE
layout(binding = 11) uniform sampler2D sky_table;  // octahedral (skytable.py)

// What lights things: smoothed, so that few directions meet the bright rim around the sun.
vec3 sky_dome(vec3 d) { return textureLod(sky_table, octahedral(d) * 0.5 + 0.5, 3.0).rgb; }
vec3 sky_radiance(vec3 d) { return textureLod(sky_table, octahedral(d) * 0.5 + 0.5, 0.0).rgb; }
#else
// The dome without the glow around the sun: what lights things.
vec3 sky_dome(vec3 d) {
    vec3 above = mix(sky_horizon.rgb, sky_zenith.rgb, 1.0 - exp2(-4.0 * max(d.z, 0.0)));
    return mix(above, sky_ground.rgb, clamp(-d.z * 6.0, 0.0, 1.0));
}

vec3 sky_radiance(vec3 d) {
    vec3 sky = sky_dome(d);
    float towards = max(dot(d, sun_direction.xyz), 0.0);
    float t2 = towards * towards, t8 = t2 * t2 * t2 * t2, t32 = t8 * t8 * t8 * t8;
    return sky + sun_radiance.rgb * (sun_radiance.w * (0.05 * t8 + 0.12 * t32));
}
#endif

// The whole picture's look: exposure, then one curve from radiance to the sRGB code. It is a fit (within 0.006) of the sRGB curve after
// Narkowicz' ACES curve (2016) at 0.6 of the radiance; 0.18 becomes 0.413, 1 becomes 0.838. One root instead of three powers.
vec3 graded(vec3 radiance) {
    vec3 x = max(radiance * grade.x, 0.0);
#ifdef GRADE
    x = max(vec3(dot(grade_rows[0].xyz, x), dot(grade_rows[1].xyz, x), dot(grade_rows[2].xyz, x)), 1e-9);
    x = 0.18 * exp2(log2(x * (1.0 / 0.18)) * grade.y);
#endif
    vec3 s = sqrt(x);
    return min(x * (s + 0.33998) / (x * (s + 0.27709) + s * 0.20034 + 0.1221), 1.0);
}
