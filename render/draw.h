// What a frame draws: the door between the loop, which knows scenes, and the drawing machines, which do not.
//
// A machine draws meshes first (their depth bounds the rest), then splats over them, then composes both over
// the background.
#pragma once

#include "engine/core/camera.h"
#include "engine/core/profile.h"
#include "render/field_layer.h"
#include "render/mesh.h"
#include "render/splat_cloud.h"

typedef struct orr_draw_splats {
    const orr_splat_pack *pack;
    uint64_t key;    // the same for the same pack contents: machines keep uploaded copies under it
    float model[12]; // layer to world, a similarity
    bool antialias;
} orr_draw_splats;

typedef struct orr_draw_mesh {
    const orr_mesh *mesh;
    uint64_t key;
    float model[12]; // layer to world, a similarity
} orr_draw_mesh;

typedef struct orr_draw_field {
    const orr_field_layer *layer;
    uint64_t key;    // as of clouds; a field that is trained keeps its own
    float model[12]; // layer to world, a similarity
} orr_draw_field;

typedef struct orr_draw_sun {
    float direction[3]; // towards the sun, unit, world
    float colour[3];    // linear radiance of a white surface that faces it
    float ambient[3];   // linear, from everywhere
} orr_draw_sun;

// Display colours behind everything, by the height of the view; all three alike: one colour.
typedef struct orr_draw_sky {
    float up[3]; // unit, world
    float high[3], level[3], low[3];
} orr_draw_sky;

// The same against a camera: sky_view of sky_formula.h as plain floats, for files without lanes.
typedef struct orr_sky_values {
    float up[3], inverse_focal[2], centre[2];
    float high[3], level[3], low[3];
} orr_sky_values;

typedef struct orr_draw_list {
    orr_lens lens;
    const orr_draw_splats *splats; // splat_count
    const orr_draw_mesh *meshes;   // mesh_count
    const orr_draw_field *fields;  // field_count
    int splat_count;
    int mesh_count;
    int field_count; // the CPU marches these (render/field_pass.h), but for those that CUDA draws
    orr_draw_sun sun;
    bool opaque; // false: transparent behind everything, sky ignored
    orr_draw_sky sky;
} orr_draw_list;

static inline orr_draw_sky orr_sky_of_one_colour(const float rgb[3])
{
    return (orr_draw_sky){.up = {0.0f, 0.0f, 1.0f},
                          .high = {rgb[0], rgb[1], rgb[2]},
                          .level = {rgb[0], rgb[1], rgb[2]},
                          .low = {rgb[0], rgb[1], rgb[2]}};
}

static inline orr_sky_values orr_sky_as_seen(const orr_draw_sky *sky, const orr_lens *lens)
{
    orr_sky_values seen = {.centre = {lens->centre[0], lens->centre[1]}};
    for (int i = 0; i < 3; i++) {
        const float *row = lens->view + 4 * i;
        seen.up[i] = row[0] * sky->up[0] + row[1] * sky->up[1] + row[2] * sky->up[2];
        seen.high[i] = sky->high[i];
        seen.level[i] = sky->level[i];
        seen.low[i] = sky->low[i];
        if (i < 2) {
            seen.inverse_focal[i] = lens->orthographic ? 0.0f : 1.0f / lens->focal[i];
        }
    }
    return seen;
}
