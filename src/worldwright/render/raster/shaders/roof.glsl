// Whether anything stands above a point: no rain falls there, and no snow lies.
layout(binding = 13) uniform sampler2DShadow roof_map;

float open_above(vec3 at) {
    vec3 p = (roof * vec4(at, 1.0)).xyz;
    return any(greaterThan(abs(p.xy - 0.5), vec2(0.4999))) ? 1.0 : textureLod(roof_map, vec3(p.xy, max(p.z, 0.0)), 0.0);
}
