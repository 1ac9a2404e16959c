// Marching through the voxels of what stands still (voxels.py).
layout(binding = 0) uniform usampler3D voxel_faces;
uniform vec4 grid;  // low corner, voxel size

// True when the way from ``from`` along ``d`` (unit) is free for ``far`` metres. Else ``cell`` is the voxel that stops it.
bool way_is_free(vec3 from, vec3 d, float far, out ivec3 cell) {
    ivec3 size = textureSize(voxel_faces, 0);
    vec3 p = (from - grid.xyz) / grid.w;
    float left = far / grid.w, stride = 0.8;
    cell = ivec3(floor(p));
    bool stopped = false;
    while (left > 0.0 && !stopped) {
        p += d * stride;
        left -= stride;
        cell = ivec3(floor(p));
        if (any(lessThan(cell, ivec3(0))) || any(greaterThanEqual(cell, size))) { left = 0.0; }
        else stopped = texelFetch(voxel_faces, cell, 0).x != 0u;
    }
    return !stopped;
}
