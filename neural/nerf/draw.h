// Drawing radiance fields: tiles of rays over jobs, the same bits for any number of threads.
#pragma once

#include "neural/fields/field_ray.h"
#include "neural/nerf/march.h"

typedef struct orr_nerf_draw_desc {
    orr_ray_camera camera;   // its size is the picture's
    float transmittance_min; // a ray with less stops and counts as opaque; 0: 1e-4
    const float *
        far_depth; // height x width, along the camera's axis in the world's units: nothing behind it is drawn
                   // (a mesh is there); NULL: no bound
    const float *near_depth; // likewise: nothing before it is drawn; NULL: no bound
    float *rgba;             // height x width x 4, premultiplied
    float
        *depth; // height x width, alpha-weighted mean along the camera's axis; 0: nothing; NULL: not written
    int first_tile, tile_count; // draws so many of the orr_field_tile_count tiles; tile_count 0: all of them
} orr_nerf_draw_desc;

// Scratch: a bundle per worker of the jobs. It outlives its field's refreshes.
typedef struct orr_nerf_drawer orr_nerf_drawer;
orr_result orr_nerf_drawer_create(const orr_field *field, orr_jobs *jobs, orr_nerf_drawer **drawer,
                                  orr_error *error);
void orr_nerf_drawer_destroy(orr_nerf_drawer *drawer); // NULL is allowed

// Draws the field with its parameters for inference. Returns the number of densities evaluated.
int64_t orr_nerf_draw(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_nerf_draw_desc *desc);
// What `count` (up to ORR_NERF_RAYS) rays show of it, by the calling thread alone, for what is drawn in jobs.
// worker: of the drawer's jobs; no one else may draw with its bundle meanwhile.
void orr_nerf_follow(const orr_nerf_drawer *drawer, const orr_occupancy *grid, int worker,
                     const orr_field_ray *rays, int count, orr_field_seen *seen);
