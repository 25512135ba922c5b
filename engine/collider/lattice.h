// A dense lattice of points over a capture, on which its free space is found. 2 bytes for each point.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/progress.h"
#include "neural/fields/marching_cubes.h"

enum {
    ORR_LATTICE_MAX = 1 << 28, // points
    ORR_LATTICE_STEPS = 32     // of a value: a 32nd of a cell
};

// A point is open until surfaces and free space are marked; what stays open is solid.
typedef enum orr_lattice_label { ORR_POINT_OPEN = 0, ORR_POINT_SURFACE, ORR_POINT_FREE } orr_lattice_label;

typedef struct orr_lattice {
    double origin[3], cell; // in the layer's space
    int per_cell;           // of its cells along a cell of the grid
    int32_t points[3];
    uint8_t *label; // points[2] x points[1] x points[0], orr_lattice_label
    int8_t *value;  // the same: at most about 4 cells away from zero, negative in solids [1/32 cell]
    bool enclosed;  // beyond the lattice is solid
} orr_lattice;

static inline size_t orr_lattice_index(const orr_lattice *l, int x, int y, int z)
{
    return ((size_t)z * (size_t)l->points[1] + (size_t)y) * (size_t)l->points[0] + (size_t)x;
}

static inline size_t orr_lattice_size(const orr_lattice *l)
{
    return (size_t)l->points[0] * (size_t)l->points[1] * (size_t)l->points[2];
}

// The value of a distance [cells].
static inline int8_t orr_lattice_value(float cells)
{
    float steps = cells * (float)ORR_LATTICE_STEPS;
    return (int8_t)(steps > 127.0f ? 127.0f : steps > -127.0f ? steps : -127.0f); // not a number: -127
}

// The number of points of such a lattice, and along each side.
double orr_lattice_count(const double low[3], const double high[3], double cell, int margin,
                         double points[3]);
// From low to high, with `margin` cells around; all points open.
orr_result orr_lattice_create(orr_lattice *lattice, const double low[3], const double high[3], double cell,
                              int margin, const char *name, orr_error *error);
void orr_lattice_destroy(orr_lattice *lattice);

// The surface where values change their sign, as triangles in cells from the origin. It winds around what is
// solid, or in an enclosed lattice around what is free.
orr_result orr_lattice_surface(const orr_lattice *lattice, orr_jobs *jobs, orr_surface *surface,
                               orr_error *error);
