// The fields of a frame, marched on the CPU and merged by depth, in parts; for machines that do not march
// fields.
#pragma once

#include "render/draw.h"

typedef struct orr_field_pass {
    // Planes of the lens's size, in the arena. A pixel's fields are blended among its splats at one depth.
    float *depth;        // infinity: no field
    float *colour;       // 4 planes: premultiplied red, green, blue, and alpha
    double milliseconds; // spent so far; for measuring only

    const orr_draw_list *list;
    orr_jobs *jobs;
    orr_arena *arena;
    orr_field_planes planes; // of the layer being drawn
    orr_field_layer_drawing drawing;
    int layer, tile; // the next to draw
} orr_field_pass;

// mesh_depth: height x width, infinity where there is no mesh, or NULL. List, planes and arena must live
// until the end.
orr_result orr_field_pass_begin(orr_field_pass *pass, orr_jobs *jobs, orr_arena *arena,
                                const orr_draw_list *list, const float *mesh_depth, orr_error *error);
// Draws for about this long, at least one part; INFINITY: to the end. The picture does not depend on how it
// is divided.
orr_result orr_field_pass_advance(orr_field_pass *pass, double milliseconds, bool *done, orr_error *error);
