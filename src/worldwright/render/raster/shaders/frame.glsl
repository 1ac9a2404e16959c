// What every shader knows of the picture being made. Written by frame.py; std140.
layout(std140, binding = 0) uniform Frame {
    mat4 to_clip;        // world to clip space, row 0 of the picture at y = -1 (so memory's first row is the picture's top)
    mat4 to_view;        // world to camera (OpenCV)
    mat4 to_next;        // world to the next frame's pixels, homogeneous: (u w, v w, w, 1)
    vec4 rays;           // view ray of a pixel: x = u * rays.x + rays.y, y = v * rays.z + rays.w, z = 1 (no skew)
    vec4 eye;            // camera position, world; w = skew term: x -= y * eye.w
    vec4 near_size;      // near plane m, width, height, 0
    vec4 sun_direction;  // towards the sun, world; w = 1 when there is one
    vec4 sun_radiance;   // irradiance of the sun, linear; w = angular glow strength
    vec4 sky_zenith;     // radiance; w = cloud cover
    vec4 sky_horizon;    // w = radiance of the brightest stars
    vec4 sky_ground;
    vec4 air;            // extinction a metre; w = height of such air above the ground, m
    vec4 air_colour;     // its radiance in the open
    vec4 air_light;      // mean radiance of the light in the open
    vec4 grade;          // exposure, contrast, 0, 0
    mat4 sun_still;      // world to the standing geometry's shadow map, [0, 1]^3
    mat4 sun_moving;     // world to the moving geometry's shadow map, [0, 1]^3
    vec4 sun_texels;     // world size of a texel: still, moving; 1 when anything moves; 0
    vec4 covers;         // wetness, lying snow, caustics, rain
    vec4 clock;          // seconds since the take began, 0, 0, 0
    vec4 grade_rows[3];  // white balance, gain and saturation
    mat4 roof;           // world to the map of what stands above, [0, 1]^3
};

vec3 view_ray(vec2 pixel) {
    float y = pixel.y * rays.z + rays.w;
    return vec3(pixel.x * rays.x + rays.y - y * eye.w, y, 1.0);
}

vec3 to_world_direction(vec3 camera) { return camera * mat3(to_view); }

vec2 octahedral(vec3 n) {
    vec2 p = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
    vec2 s = vec2(p.x >= 0.0 ? 1.0 : -1.0, p.y >= 0.0 ? 1.0 : -1.0);
    return n.z < 0.0 ? (1.0 - abs(p.yx)) * s : p;
}

vec3 from_octahedral(vec2 p) {
    vec3 n = vec3(p, 1.0 - abs(p.x) - abs(p.y));
    float t = max(-n.z, 0.0);
    n.x += n.x >= 0.0 ? -t : t;
    n.y += n.y >= 0.0 ? -t : t;
    return normalize(n);
}

vec3 to_linear(vec3 c) { return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878); }
