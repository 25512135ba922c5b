// Colliders: sparse signed distance grids (physics/grid/distance_grid.h) of splat clouds, fields and meshes.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/progress.h"
#include "physics/grid/distance_grid.h"
#include "render/field_layer.h"
#include "render/mesh.h"
#include "render/splat/splat_cloud.h"

// Settings are orr_collider_desc of engine/orrery.h.
enum { ORR_COLLIDER_VERSION = 3 }; // counts up when other distances come from the same source

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

// `desc` (engine/orrery.h) is nullable. ORR_CODE_ARGUMENT: a number out of its range, or a source without a
// surface. ORR_CODE_CAPACITY: the cells are too small for the size. Same bits for any number of threads.
// `progress` and `report` are nullable; what is reported has the source's name for a path.
orr_result orr_collider_make(const orr_collider_source *source, const orr_collider_desc *desc, orr_jobs *jobs,
                             const orr_progress *progress, orr_distance_grid **grid,
                             orr_collider_report *report, orr_error *error);
// What orr_distance_grid.source will be, without making the grid: of the source and of all settings.
orr_result orr_collider_hash(const orr_collider_source *source, const orr_collider_desc *desc, uint64_t *hash,
                             orr_error *error);
