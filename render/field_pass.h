// What the fields of a frame show together: marched on the CPU, in parts, for machines that do not do it themselves.
#pragma once

#include "render/draw.h"

typedef struct orr_field_pass {
    // Planes of the lens's size, in the arena. A pixel's fields are blended among its splats at one depth.
    float *depth;        // infinity: nothing there
    float *colour;       // 4 planes: premultiplied red, green, blue, and alpha
    double milliseconds; // spent so far; for measuring only

    const orr_draw_list *list;
    orr_jobs *jobs;
    orr_arena *arena;
    orr_field_planes planes; // of the layer being drawn
    orr_field_layer_drawing drawing;
    int layer, tile; // where to go on
} orr_field_pass;

// mesh_depth: height x width, infinity where no mesh stands, or NULL. List, planes and arena must live until the end.
orr_result orr_field_pass_begin(orr_field_pass *pass, orr_jobs *jobs, orr_arena *arena,
                                const orr_draw_list *list, const float *mesh_depth, orr_error *error);
// Draws for about so long, at least a little; INFINITY: to the end. The picture is the same however it is cut.
orr_result orr_field_pass_advance(orr_field_pass *pass, double milliseconds, bool *done, orr_error *error);
