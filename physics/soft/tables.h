// A model's numbers in the order in which a step reads them, for a number of lanes; private to this folder.
// The vertices of a colour that are not pinned are cut into blocks of as many as there are lanes. A block has
// as many slots of each kind of element as its vertex with most of them; empty slots hold zeros and the
// vertex itself, and exert no force.
#pragma once

#include "physics/soft/model.h"

#include <stddef.h>

typedef struct orr_soft_block {
    int32_t vertices; // at most the number of lanes
    int32_t slots[SOFT_KINDS];
    size_t index;  // first of its indices: own [lanes], then for each slot [others][lanes]
    size_t number; // first of its numbers: mass [lanes], then for each slot [numbers][lanes]
} orr_soft_block;

// Of a slot. Tet: rows of the inverse, volume. Triangle: rows, area. Hinge: for each corner 1 where it is the
// own vertex, else 0; stiffness, angle. Bend: stiffness. Edge: stiffness, length, viscosity.
enum {
    SOFT_TET_OTHERS = 3,
    SOFT_TET_NUMBERS = 10,
    SOFT_TRIANGLE_OTHERS = 2,
    SOFT_TRIANGLE_NUMBERS = 5,
    SOFT_HINGE_OTHERS = 4, // all four corners, in the hinge's order
    SOFT_HINGE_NUMBERS = 6,
    SOFT_BEND_OTHERS = 1,
    SOFT_BEND_NUMBERS = 1,
    SOFT_EDGE_OTHERS = 1,
    SOFT_EDGE_NUMBERS = 3
};

typedef struct orr_soft_tables {
    int lanes, colours;
    int *colour_block; // colours + 1: first block of each
    orr_soft_block *block;
    int32_t *index;
    size_t index_count;
    void *number; // float, or double
    size_t number_count;
    // Of models that yield: tets x 4: the first number of a tet as its corner sees it, the others a number of
    // lanes apart; -1: the corner is pinned. Others: NULL
    ptrdiff_t *tet_at;
} orr_soft_tables;

orr_result orr_soft_tables_create(const orr_soft_model *model, int lanes, bool in_double,
                                  orr_soft_tables *tables, orr_error *error);
void orr_soft_tables_destroy(orr_soft_tables *tables);
