// A model from a file: MJCF or URDF, as its root element says (mjcf/, urdf/), compiled (model/), with the
// constants that follow from its rest pose (pose/) and the lengths that its muscles can have
// (load/length_range.h).
#pragma once

#include "physics/grid/distance_grid.h"
#include "physics/model/model.h"

// Reads an MJCF or URDF file and the files that it names. Errors are "file:line: <element> 'name': what was
// expected", with ORR_CODE_MODEL_FILE or the code of the file that cannot be read. Free the model with
// orr_model_destroy.
orr_result orr_model_load(const char *path, orr_model **model, orr_error *error);
// The same from `size` bytes of memory. `path` is for messages, and the files that the text names are beside
// it.
orr_result orr_model_parse(const char *text, size_t size, const char *path, orr_model **model,
                           orr_error *error);

enum { ORR_BODY_PARTS_MAX = 64 };

// A body that is made of shapes of a program: convex hulls of points, boxes, or a distance grid.
typedef struct orr_body_source {
    const char *name;          // of the model, for messages
    const float *points;       // point_count x 3 numbers, `stride` floats apart: one hull; or
    const int32_t *part_start; // `parts` hulls: part i has the points part_start[i] .. part_start[i + 1] - 1
    int parts;                 // 1 .. ORR_BODY_PARTS_MAX; 0: all points are one hull
    bool boxes;                // a part is a box between two points; or
    const orr_distance_grid *grid; // in units of the points
    int64_t point_count;
    int stride;
    double scale;    // m per unit
    double mass;     // kg, and the body moves freely; 0: it is fixed, part of the world
    double friction; // sliding, 0 or more
} orr_body_source;

// A model of that body alone, named "body", in the frame of the points; copies what it needs.
// ORR_CODE_MODEL_FILE: points without a volume.
orr_result orr_model_of_body(const orr_body_source *source, orr_model **model, orr_error *error);
