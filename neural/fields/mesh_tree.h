// The bounding volume hierarchy of a triangle mesh (private to mesh_*.c).
#pragma once

#include "engine/core/isa.h"
#include "engine/maths/vector.h"
#include "neural/fields/mesh_distance.h"
#include "neural/fields/nearest_cpu.h"
#include "neural/fields/winding_cpu.h"

#include <math.h>
#include <stdint.h>

enum { ORR_TREE_LEAF = 4, ORR_TREE_STACK = 64 };

// Children of an inner node are at `first` and `first` + 1; a leaf's triangles from `first` on.
typedef struct orr_tree_node {
    float low[3], high[3];
    float centre[3];      // mean of the triangles' centroids, weighted by area
    float radius;         // of the smallest ball around the centre that contains them
    float cubes;          // sum of area x distance^3 from the centre, which bounds what the moments leave out
    float rim;            // length of the triangles' sides at the rim
    int32_t first, count; // count 0: an inner node
} orr_tree_node;

// What a node adds to winding numbers far away: a winding_moments (winding_formula.h).
typedef float orr_tree_moments[ORR_WINDING_MOMENTS];

struct orr_mesh_distance {
    float (*corners)[9];
    orr_tree_node *nodes;
    orr_tree_moments *moments; // of the nodes
    int64_t triangle_count;
    int32_t node_count;
    bool closed; // winding numbers are whole, and change where a triangle is crossed only
    bool sheet;  // it has two sides and no inside: points behind it count as inside
    orr_winding_fn add_winding;
    orr_nearest_tree nearest;
    orr_nearest_fn find_nearest;
};

// Positive inside, for a winding number.
static inline double orr_tree_depth(const orr_mesh_distance *mesh, double winding)
{
    return mesh->sheet ? winding : fabs(winding) - 0.5;
}

// ---- mesh_nearest.c ----

// Makes the tree for distances of that of the mesh.
orr_result orr_tree_find_nearest(orr_mesh_distance *mesh, const char *name, orr_error *error);

// ---- mesh_winding.c ----

// The winding number, and a bound on how far it is off; `tolerance`: of one cluster.
double orr_tree_winding(const orr_mesh_distance *mesh, const float point[3], double tolerance, double *bound);
// Which of the points are inside: the winding number of all triangles is above a half or below minus one
// half. At most ORR_WINDING_GROUP points, which are reordered.
enum { ORR_WINDING_GROUP = 1024 };
void orr_tree_inside(const orr_mesh_distance *mesh, float (*points)[3], int count, bool *inside);
// The middle of the points' box, and the radius of a ball around it that contains them.
float orr_tree_ball(const float (*points)[3], int count, float middle[3]);

// ---- mesh_rim.c ----

// Added up over all triangles of a closed mesh it is zero; otherwise it is, once in 2^64.
uint64_t orr_tree_sum_sides(const float t[9]);
// Sets `rim` of all nodes.
orr_result orr_tree_find_rim(orr_mesh_distance *mesh, const char *name, orr_error *error);
// A bound on how far winding numbers in a ball are from that of its centre, but for the triangles between
// them.
double orr_tree_variation(const orr_mesh_distance *mesh, const float centre[3], float reach);

// ---- mesh_sign.c ----

// Makes the distances of points[k x count + i] negative that are inside.
void orr_tree_signs(const orr_mesh_distance *mesh, const float *points, int count, float *distances);

// ---- numbers ----

static inline float orr_tree_step(const float from[3], const float to[3])
{
    float d[3];
    vec3f_subtract(to, from, d);
    return sqrtf(vec3f_dot(d, d));
}

// fminf and fmaxf would be calls: they heed what is not a number
static inline float orr_smaller(float a, float b)
{
    return a < b ? a : b;
}

static inline float orr_larger(float a, float b)
{
    return a > b ? a : b;
}

// Half the cross product of two sides.
static inline void orr_area_vector(const float t[9], float area[3])
{
    float u[3], v[3];
    vec3f_subtract(t + 3, t, u);
    vec3f_subtract(t + 6, t, v);
    vec3f_cross(u, v, area);
    for (int k = 0; k < 3; k++) {
        area[k] *= 0.5f;
    }
}
