// Blends a tile of a frame in which clouds cast shadows.
#version 460
#define CLOUDED
#include "shaders/splat_blend.glsl"
