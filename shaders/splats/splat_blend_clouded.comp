// Blends a tile of a frame in which clouds cast shadows.
#version 460
#define CLOUDED
#include "shaders/splats/splat_blend.glsl"
