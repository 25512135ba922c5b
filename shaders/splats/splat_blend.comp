// Blends a tile of a frame in which no cloud casts a shadow.
#version 460
#include "shaders/splats/splat_blend.glsl"
