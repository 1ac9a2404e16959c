#version 450 core
// One triangle that covers the picture: at infinity (reversed depth 0), or a hair before it, where the depth test then picks surfaces.
#ifdef SURFACES
const float z = 1e-12;
#else
const float z = 0.0;
#endif
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, z, 1.0); }
