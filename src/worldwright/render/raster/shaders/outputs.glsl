// The stored forms of render/passes.py, computed where the pixel is, packed into two targets: every target more costs time on llvmpipe.
layout(location = 0) out uvec4 out_surface;  // see pack_surface
layout(location = 1) out uvec2 out_aim;      // normal codes 2 x 16 bits | flow codes 2 x 16 bits

const float FLOW_SCALE = 32.0;
const int FLOW_INVALID = -32768;

// log2 to 2e-7: the driver's own may be coarser than a depth code's half step.
float exact_log2(float x) {
    int bits = floatBitsToInt(x);
    int e = ((bits >> 23) & 255) - 127;
    float m = intBitsToFloat((bits & 0x7fffff) | 0x3f800000);
    if (m > 1.41421356) { m *= 0.5; e += 1; }
    float t = (m - 1.0) / (m + 1.0), t2 = t * t;
    return float(e) + t * (2.88539008 + t2 * (0.961796694 + t2 * (0.577078016 + t2 * 0.412198583)));
}

uint depth_code(float z) {
    const float steps = 65534.0, near = 0.05, octaves = 14.287712379549449;  // log2(1000 / 0.05)
    return uint(clamp(roundEven(exact_log2(z / near) * (steps / octaves)), 0.0, steps)) + 1u;
}

uvec2 normal_code(vec3 n) { return uvec2(roundEven((octahedral(n) * 0.5 + 0.5) * 4095.0)); }

ivec2 flow_code(vec3 q, vec2 pixel) {
    if (q.z <= 1e-6) return ivec2(FLOW_INVALID);
    vec2 f = (q.xy / q.z - pixel) * FLOW_SCALE;
    return max(abs(f.x), abs(f.y)) <= 32767.0 ? ivec2(roundEven(f)) : ivec2(FLOW_INVALID);
}

// x: sRGB-coded base colour, roughness; 8 bits each. y: shading normal 2 x 12 bits octahedral (world), metallic 8 bits. z: depth code
// and entity, 16 bits each. w: square root of the emitted light, 3 x 10 bits; the highest bit says that the surface moves.
uvec4 pack_surface(vec4 base, uvec2 shading, uint metallic, uint depth, uint entity, uint glow) {
    return uvec4(packUnorm4x8(base), shading.x | shading.y << 12 | metallic << 24, depth | entity << 16, glow);
}

uvec2 pack_aim(uvec2 normal, ivec2 flow) {
    return uvec2(normal.x | normal.y << 16, uint(flow.x & 0xffff) | uint(flow.y) << 16);
}
