// Drawing images, signed distances and volumes: tiles of rays over jobs, the same bits for any number of
// threads. (Radiance fields have their own march: nerf/draw.h.)
//
//   image    the quad 0 .. 1 x 0 .. 1 of the plane z = 0, row 0 of the picture at y = 0
//   sdf      sphere tracing (Hart 1996); normals by the network's gradient, lit by a sun and a sky
//   volume   ray marching; density is extinction per side of the unit cube (Max 1995)
#pragma once

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "neural/capture/ray_camera.h"
#include "neural/fields/field.h"
#include "neural/fields/field_ray.h"

typedef struct orr_field_draw_desc {
    const orr_lens *lens;
    float to_world[12]; // from the unit cube, row-major 3x4
    float to_sun[3];    // sdf: unit direction in the world
    const float
        *far_depth; // height x width, along the camera's axis: nothing behind it is drawn; NULL: no bound
    const float *near_depth; // likewise: nothing before it is drawn; NULL: no bound
    float *rgba;             // height x width x 4, premultiplied display colours
    float
        *depth; // height x width, alpha-weighted mean along the camera's axis, 0: nothing; NULL: not written
} orr_field_draw_desc;

// Scratch comes from the arena. ORR_ERROR_ARGUMENT: to_world is singular.
orr_result orr_field_draw(const orr_field *field, orr_jobs *jobs, orr_arena *arena,
                          const orr_field_draw_desc *desc, orr_error *error);

// The same in parts: tiles in any order, as many at a time as there is time for; the picture is the same.
typedef struct orr_field_drawing {
    const orr_field *field;
    orr_field_draw_desc desc; // its lens and planes are borrowed
    orr_ray_camera camera;    // the lens in the unit cube's space
    float to_unit[12];
    float *scratch; // per worker; the arena's
    size_t scratch_floats;
} orr_field_drawing;

orr_result orr_field_draw_begin(const orr_field *field, orr_jobs *jobs, orr_arena *arena,
                                const orr_field_draw_desc *desc, orr_field_drawing *drawing,
                                orr_error *error);
// `count` of the picture's orr_field_tile_count tiles, from `first` on.
void orr_field_draw_tiles(const orr_field_drawing *drawing, orr_jobs *jobs, int first, int count);

// For rays that are no picture's: a drawing without a lens and planes. Scratch comes from the arena.
// ORR_ERROR_ARGUMENT: to_world is singular.
orr_result orr_field_follow_begin(const orr_field *field, orr_jobs *jobs, orr_arena *arena,
                                  const float to_world[12], const float to_sun[3], orr_field_drawing *drawing,
                                  orr_error *error);
// What `count` (up to ORR_FIELD_TILE^2) rays show, by the calling thread alone. worker: of the jobs; no one
// else may use its scratch meanwhile.
void orr_field_follow(const orr_field_drawing *drawing, int worker, const orr_field_ray *rays, int count,
                      orr_field_seen *seen);

// The centres of the pixels of a picture, one block of them from number `first` on, row by row, as positions
// of an image field (2 x ORR_SAMPLES). Beyond the last pixel it is repeated.
void orr_field_pixel_centres(int width, int height, int64_t first, float *positions);
// The whole of an image field at any size: height x width x 4, opaque, values at the middles of pixels.
orr_result orr_field_picture(const orr_field *field, orr_jobs *jobs, orr_arena *arena, int width, int height,
                             float *rgba, orr_error *error);
