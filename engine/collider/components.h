// Connected components of the points of a lattice, over their six neighbours, as runs along x.
#pragma once

#include "engine/collider/lattice.h"

typedef struct orr_run {
    int32_t first, end; // x of its points
    uint32_t component; // a run of the same component, itself for one of them
} orr_run;

typedef struct orr_components {
    orr_run *runs;  // row by row
    uint32_t *rows; // points[1] x points[2] + 1: the first run of each row (y, z)
    int64_t *sizes; // points of the component, at the run that names it; 0 at others
    uint32_t run_count;
} orr_components;

// Of the points whose `mask` is zero.
orr_result orr_components_find(const orr_lattice *lattice, const uint8_t *mask, orr_components *components,
                               orr_error *error);
void orr_components_free(orr_components *components);
// The component of a point; UINT32_MAX: the point is masked.
uint32_t orr_components_at(const orr_components *components, const orr_lattice *lattice, const int point[3]);
