// Tetrahedra that fill a closed surface, given by its signed distances: isosurface stuffing (Labelle and
// Shewchuk 2007) on a body-centred cubic lattice.
#pragma once

#include "engine/core/result.h"

#include <stdint.h>

typedef struct orr_soft_cage {
    int vertices;
    double *vertex; // vertices x 3, m
    int tets;
    int32_t *tet;      // tets x 4; (p1 - p0) x (p2 - p0) . (p3 - p0) > 0
    int triangles;     // of cloth, which has no tetrahedra
    int32_t *triangle; // triangles x 3
    int edges;         // of ropes, which have neither
    int32_t *edge;     // edges x 2
    double angle;      // smallest dihedral angle, degrees
} orr_soft_cage;

enum { ORR_SOFT_CAGE_CELLS = 1 << 22 }; // of the lattice, at most

// The signed distance at a point, negative inside.
typedef double orr_soft_distance(const void *context, const double point[3]);

// Fills what is inside within the box. cell: edge of the lattice's cubes, m; walls thinner than about 1.5
// cells may have holes. ORR_CODE_ARGUMENT: a cell out of range, or nothing inside; ORR_CODE_CAPACITY: more
// than ORR_SOFT_CAGE_CELLS. `name` is for messages.
orr_result orr_soft_cage_create(orr_soft_distance *distance, const void *context, const double low[3],
                                const double high[3], double cell, const char *name, orr_soft_cage **cage,
                                orr_error *error);
void orr_soft_cage_destroy(orr_soft_cage *cage); // NULL is allowed
