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
    float depth[ORR_PROBE_FACE * ORR_PROBE_FACE];   // along the axis; infinity: no surface
    float distance; // along the axis to what it shows: the median of its pixels; 0: it shows next to nothing
} orr_probe_face;

// The camera of a face, of a probe at a point of the world.
orr_camera orr_probe_camera(int face, const float position[3], float near_plane);
// Takes in its picture of clouds and fields alone: ORR_PROBE_FACE^2, display colours premultiplied, and
// depths.
void orr_probe_take(int face, const orr_picture *picture, const orr_probe_behind *behind,
                    orr_probe_face *out);
// What meshes show in a face, at the middles of squares of 2 x 2 pixels.
enum { ORR_PROBE_MESHES = ORR_PROBE_FACE / 2 };
typedef struct orr_probe_meshes {
    float rgb[ORR_PROBE_MESHES * ORR_PROBE_MESHES][3]; // linear radiance
    float depth[ORR_PROBE_MESHES * ORR_PROBE_MESHES];  // along the axis; infinity: no mesh is there
} orr_probe_meshes;

// Direction of pixel (x, y), whose middle is at a half, along the axis as long as 1.
void orr_probe_direction(int face, float x, float y, float direction[3]);
// Puts meshes among what the picture of a face shows, which `face` was taken of, by depth.
void orr_probe_put_meshes(const orr_picture *picture, const orr_probe_meshes *meshes,
                          const orr_probe_face *face, orr_probe_face *out);
// The same blurred, by a box about as wide as 64 directions are apart.
void orr_probe_blur(const orr_probe_face faces[6], orr_probe_face out[6]);
// Radiance that a ray would see from another place, by the depths of what the probe sees; `from` is relative
// to the probe. False: that is behind something for the probe, which does not know.
bool orr_probe_look_from(const orr_probe_face faces[6], const orr_probe_behind *behind, const float from[3],
                         const float direction[3], float rgb[3]);
// Radiance in a direction.
void orr_probe_look(const orr_probe_face faces[6], const float direction[3], float rgb[3]);
// Fills maps of ORR_PROBE_SHARP and ORR_PROBE_ROUGH, and the box around the probe; equal: it is open.
// captured: the faces without meshes, of which the harmonics are, because a grid adds what meshes do
orr_result orr_probe_fill(orr_jobs *jobs, const orr_probe_face captured[6], const orr_probe_face faces[6],
                          orr_environment *environment, float low[3], float high[3], orr_error *error);
