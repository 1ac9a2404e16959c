#version 450 core
flat in vec4 ends;
flat in vec4 veil;
flat in float radius;
out vec4 out_veil;
void main() {
    vec2 way = ends.zw - ends.xy, from = gl_FragCoord.xy - ends.xy;
    float along = clamp(dot(from, way) / max(dot(way, way), 1e-6), 0.0, 1.0);
    float off = length(from - way * along);
    out_veil = veil * (1.0 - smoothstep(min(radius - 0.6, radius * 0.3), radius + 0.6, off));
}
