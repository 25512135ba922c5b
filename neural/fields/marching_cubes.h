// Marching cubes (Lorensen and Cline 1987): the surface where a function of space is zero, as shared vertices
// and triangles. Ambiguous faces are always cut so that inside corners stay apart, which two neighbouring
// cells decide alike, and everything beyond the lattice counts as outside: the surface is closed, every edge
// has two triangles.
#pragma once

#include "engine/core/jobs.h"
#include "neural/network/block.h"

enum { ORR_MARCHING_RESOLUTION_MAX = 2048 };

// A surface: triangles wind counter-clockwise seen from outside.
typedef struct orr_surface {
    int64_t vertex_count, triangle_count;
    float *positions;  // vertex_count x 3
    float *normals;    // vertex_count x 3, unit length, outwards
    uint8_t *colours;  // vertex_count x 4, display RGBA; NULL: none
    uint32_t *indices; // triangle_count x 3
} orr_surface;

// The function: called by several threads at once, with the worker's number, for one block of points
// (3 x ORR_SAMPLES, 0 .. 1).
typedef struct orr_marching_function {
    void *context;
    // values (ORR_SAMPLES): negative inside. A value that is not a number counts as outside.
    void (*values)(void *context, int worker, const float *points, float *values);
    // gradient of the values (3 x ORR_SAMPLES); NULL: from the triangles
    void (*gradients)(void *context, int worker, const float *points, float *gradients);
    // colours (ORR_SAMPLES x 4); NULL: none. normals: 3 x ORR_SAMPLES
    void (*colours)(void *context, int worker, const float *points, const float *normals, uint8_t *colours);
} orr_marching_function;

// A box of equal cells, 2 .. ORR_MARCHING_RESOLUTION_MAX along each axis, from 0 to 1 along its longest.
// Memory grows with cells[0] x cells[1] and with the surface. Same result for any number of threads.
orr_result orr_marching_cubes(const orr_marching_function *function, orr_jobs *jobs, const int cells[3],
                              orr_surface *surface, orr_error *error);
void orr_surface_free(orr_surface *surface);
// Moves a surface by a similarity, row-major 3x4, that does not mirror.
void orr_surface_transform(orr_surface *surface, const float m[12]);
