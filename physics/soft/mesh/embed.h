// Points that follow a cage: each is in one tetrahedron and moves as affinely as that.
#pragma once

#include "engine/core/jobs.h"
#include "engine/maths/affine_piece.h"
#include "physics/soft/mesh/cage.h"

// Points in the cage's rest state.
typedef struct orr_soft_points {
    int64_t count;
    // point i, m
    void (*at)(const void *context, int64_t i, double point[3]);
    const void *context;
} orr_soft_points;

// The tetrahedron of each point; of a point outside, one that is near.
orr_result orr_soft_embed(const orr_soft_cage *cage, const orr_soft_points *points, orr_jobs *jobs,
                          int32_t *tet, orr_error *error);

// How many pieces a cage has: tetrahedra, or triangles, or edges.
static inline int orr_soft_pieces(const orr_soft_cage *cage)
{
    return cage->tets > 0 ? cage->tets : cage->triangles > 0 ? cage->triangles : cage->edges;
}

// How all pieces have moved, edges without turning about themselves; position: vertices x 3, m. scale: what
// multiplies points before they are in the cage's metres; the matrix includes it, the rotation does not.
void orr_soft_affines(const orr_soft_cage *cage, const double *position, double scale, orr_jobs *jobs,
                      orr_affine_piece *pieces);
