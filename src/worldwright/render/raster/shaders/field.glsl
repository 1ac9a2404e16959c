// Light that has bounced (lightfield.py).
layout(binding = 7) uniform sampler3D probe_light;  // mean radiance, share of open sky
layout(binding = 8) uniform sampler3D probe_side;   // lean of the light, and of its colour (probes.frag)
uniform vec4 probes;       // low corner, spacing
uniform vec4 probe_cells;  // 1 / count

vec3 field_place(vec3 at) { return ((at - probes.xyz) / probes.w + 0.5) * probe_cells.xyz; }
