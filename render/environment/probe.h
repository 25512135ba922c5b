// Probes: six square pictures of what is around a point, which become an environment with a box.
#pragma once

#include "render/environment/environment.h"

enum {
    ORR_PROBE_FACE = 64,  // [px] a side of a picture
    ORR_PROBE_SHARP = 64, // texels a side of its maps
    ORR_PROBE_ROUGH = 32
};

// What is behind what the pictures show.
typedef struct orr_probe_behind {
    const orr_environment *map; // NULL: `ambient` everywhere
    float to_map[12];           // world to its space
    float strength;
    float ambient[3]; // radiance
} orr_probe_behind;

// Face f looks along axis f / 2, of the world, towards its lower values where f is odd.
typedef struct orr_probe_face {
    float rgb[ORR_PROBE_FACE * ORR_PROBE_FACE * 3]; // linear radiance
    float distance; // along the axis to what it shows: the median of its pixels; 0: it shows next to nothing
} orr_probe_face;

// The camera of a face, of a probe at a point of the world.
orr_camera orr_probe_camera(int face, const float position[3], float near_plane);
// Takes in its picture of clouds and fields alone: ORR_PROBE_FACE^2, display colours premultiplied, and
// depths.
void orr_probe_take(int face, const orr_picture *picture, const orr_probe_behind *behind,
                    orr_probe_face *out);
// Fills maps of ORR_PROBE_SHARP and ORR_PROBE_ROUGH, and the box around the probe; equal: it is open.
orr_result orr_probe_fill(orr_jobs *jobs, const orr_probe_face faces[6], orr_environment *environment,
                          float low[3], float high[3], orr_error *error);
