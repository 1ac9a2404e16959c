// Numbers by chance that are the same on every driver: integers alone (pcg3d, Jarzynski and Olano 2020).
uvec3 pcg3d(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    return v;
}

vec3 chance(uvec3 v) { return vec3(pcg3d(v) >> 8u) * (1.0 / 16777216.0); }
