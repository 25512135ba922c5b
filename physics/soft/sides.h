// The sides of a surface's triangles, so that those of one edge follow each other.
#pragma once

#include "physics/soft/model.h"

#include <stdbool.h>

typedef struct orr_soft_side { // of a triangle
    int32_t low, high, triangle;
} orr_soft_side;

// Fills sides, surfaces x 3, sorted by vertices and then by triangles.
void orr_soft_list_sides(const orr_soft_model *m, orr_soft_side *sides);
// The first one behind `i` that is of another edge.
static inline int orr_soft_next_edge(const orr_soft_side *sides, int count, int i)
{
    int next = i + 1;
    while (next < count && sides[next].low == sides[i].low && sides[next].high == sides[i].high) {
        next++;
    }
    return next;
}
