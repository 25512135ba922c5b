// Colliders: sparse signed distance grids (physics/grid/distance_grid.h) of splat clouds, fields and meshes.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/progress.h"
#include "physics/grid/distance_grid.h"
#include "render/field_layer.h"
#include "render/mesh.h"
#include "render/splat_cloud.h"

enum { ORR_COLLIDER_VERSION = 2 }; // counts up when other distances come from the same source

// Which side of the surfaces of a cloud or a radiance field is free space. Everything that is not free is
// solid.
typedef enum orr_collider_side {
    ORR_COLLIDER_AUTO = 0, // inside, if a space is enclosed that takes most of the bounds
    ORR_COLLIDER_OUTSIDE,  // what surrounds the capture: an object, or a place without walls
    ORR_COLLIDER_INSIDE    // the largest space that surfaces enclose: a room
} orr_collider_side;

// Zero: the defaults. Lengths are in units of the layer.
typedef struct orr_collider_desc {
    double cell;    // edge of a cell; 0: a 256th of the longest side of the bounds
    double opacity; // clouds, radiance fields: where a cell of this opacity is solid, 0 .. 1; 0: 0.3, 0.5
    double gap;     // clouds, radiance fields: gaps in surfaces up to this width are closed; 0: 4 cells
    double island;  // pieces smaller than this share of the largest are left out, 0 .. 1; 0: 0.005
    orr_collider_side side; // clouds, radiance fields
    float up[3];            // clouds: free space is above surfaces with free space on both sides; zero: -y
    const float *eyes;      // clouds, radiance fields: eye_count x 3, positions in free space, which decide
    int eye_count;          // about AUTO; a position that is not in empty space is not used
} orr_collider_desc;

// What it is made of: one of the three.
typedef struct orr_collider_source {
    const char *name; // for messages
    const orr_splat_pack *splats;
    const orr_field_layer *field;
    const orr_mesh *mesh;
} orr_collider_source;

// What it took, to tell the user.
typedef struct orr_collider_report {
    int64_t haze;    // splats too large to be a surface, which were left out
    int64_t islands; // pieces that were left out
    orr_collider_side side;
} orr_collider_report;

// ORR_CODE_ARGUMENT: a number out of its range, or a source without a surface. ORR_CODE_CAPACITY: the cells
// are too small for the size. Same bits for any number of threads. `progress` and `report` are nullable.
orr_result orr_collider_make(const orr_collider_source *source, const orr_collider_desc *desc, orr_jobs *jobs,
                             const orr_progress *progress, orr_distance_grid **grid,
                             orr_collider_report *report, orr_error *error);
// What orr_distance_grid.source will be, without making the grid: of the source and of all settings.
orr_result orr_collider_hash(const orr_collider_source *source, const orr_collider_desc *desc, uint64_t *hash,
                             orr_error *error);
