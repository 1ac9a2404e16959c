#version 450 core
#include "frame.glsl"
#include "light.glsl"
#include "voxels.glsl"
// The radiance that a voxel's face sends out: sun, lamps, what the probes gathered in the round before, and its own.
layout(binding = 1) uniform sampler2D positions;
layout(binding = 2) uniform sampler2D normals;
layout(binding = 3) uniform sampler2DShadow still_shadow;
layout(binding = 4) uniform sampler2D colours;
layout(binding = 5) uniform sampler2D emitted;
layout(binding = 6) uniform sampler3D probe_light;
layout(binding = 7) uniform sampler3D probe_side;
uniform vec4 probes;       // low corner of the probe grid, spacing
uniform ivec4 probe_count;  // x, y, z
struct Lamp { vec4 place; vec4 light; };
layout(std140, binding = 1) uniform Lamps { vec4 lamp_count; Lamp lamps[64]; };
out vec4 out_radiance;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec3 at = texelFetch(positions, texel, 0).xyz, n = texelFetch(normals, texel, 0).xyz;
    vec3 irradiance = vec3(0.0);
    float nl = dot(n, sun_direction.xyz);
    if (nl > 0.0 && sun_direction.w > 0.0) {
        vec3 s = (sun_still * vec4(at + n * (sun_texels.x * 2.0 + 0.01), 1.0)).xyz;
        irradiance += sun_radiance.rgb * (nl * textureLod(still_shadow, s, 0.0));
    }
    vec3 from = at + n * grid.w * 1.2;
    for (int k = 0; k < int(lamp_count.x); ++k) {
        vec3 d = lamps[k].place.xyz - from;
        float square = dot(d, d), x = square * lamps[k].place.w * lamps[k].place.w, far = sqrt(square);
        float lit = dot(n, d) / max(far, 1e-3);
        ivec3 cell;
        if (x < 1.0 && lit > 0.0 && way_is_free(from, d / max(far, 1e-3), far - grid.w, cell)) {
            irradiance += lamps[k].light.rgb * (lit * (1.0 - x * x) * (1.0 - x * x) / max(square, 0.05));
        }
    }
    vec3 place = ((at + n * probes.w * 1.5 - probes.xyz) / probes.w + 0.5) / vec3(probe_count.xyz);
    vec3 around = leaning(textureLod(probe_light, place, 0.0).rgb, textureLod(probe_side, place, 0.0), n);
    vec3 colour = min(texelFetch(colours, texel, 0).rgb, 0.9);
    out_radiance = vec4(colour * (irradiance * (1.0 / PI) + around) + texelFetch(emitted, texel, 0).rgb, 1.0);
}
