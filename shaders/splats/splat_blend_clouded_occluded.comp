// Blends a tile of a frame with ambient occlusion in which clouds cast shadows.
#version 460
#define CLOUDED
#define OCCLUDED
#include "shaders/splats/splat_blend.glsl"
