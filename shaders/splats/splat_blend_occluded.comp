// Blends a tile of a frame with ambient occlusion in which no cloud casts a shadow.
#version 460
#define OCCLUDED
#include "shaders/splats/splat_blend.glsl"
