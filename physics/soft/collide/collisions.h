// The memory of a search for contacts between soft bodies, and what its parts share; private to this folder.
#pragma once

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/collide/box_pairs.h"
#include "physics/soft/collide/collide.h"
#include "physics/soft/model.h"

#include <math.h>

enum { SOFT_PATCHES_OF_JOB = 8 };

static const double soft_ahead = 1.5; // steps of motion that are looked at
static const char soft_collisions_what[] = "contacts of soft bodies";

// The nearest triangle of one body to a vertex.
typedef struct orr_soft_nearest_side {
    int32_t body, triangle; // body: -1: none
    double square, along;   // distance^2; its part along the normal
    double weight[3];
} orr_soft_nearest_side;

// A patch or a rim of a body.
typedef struct orr_soft_part {
    int32_t body, number;
} orr_soft_part;

// Parts of one kind, with their boxes.
typedef struct orr_soft_part_list {
    orr_soft_part *part; // count
    orr_box *box;        // count
    int count, part_capacity, box_capacity;
} orr_soft_part_list;

// Boxes of triangles, axis by axis, so that several are tried together.
typedef struct orr_soft_box_rows {
    float low[3][SOFT_PATCH_TRIANGLES], high[3][SOFT_PATCH_TRIANGLES];
} orr_soft_box_rows;

// A patch in a search: the cone of its normals, the box of its own vertices, and those of its triangles.
typedef struct orr_soft_listed {
    double axis[3], cosine, sine; // of half the cone's angle; cosine -1: they do not agree
    orr_box own;
    orr_soft_box_rows triangle;
} orr_soft_listed;

// Where the numbers of a body begin.
typedef struct orr_soft_body_place {
    int32_t way, normal, patch; // among those of all bodies
} orr_soft_body_place;

struct orr_soft_collisions {
    orr_soft_pair *pair; // pairs
    int pairs, pair_capacity;
    // of the search that runs
    const orr_soft_collider *body; // count, borrowed
    int count;
    double time_step, drift[3]; // drift: m/s, mean velocity
    orr_soft_body_place *place; // count, and the end
    orr_box *box;               // count
    orr_box *way;               // of all vertices, body by body
    orr_box *patch_box;         // of all patches, body by body
    double *normal;             // x 3: of all triangles of listed patches, body by body
    int place_capacity, box_capacity, way_capacity, patch_box_capacity, normal_capacity;
    orr_soft_part_list patches, rims;
    orr_soft_listed *listed; // patches
    orr_box_pairs near_patches;
    orr_box_grid grid;           // of rims
    int32_t *first;              // patches + 1: where in `near` the own vertices of each begin
    uint8_t *met;                // patches: whether its part of `near` is of this search
    orr_soft_nearest_side *near; // own vertices x bodies of each
    int listed_capacity, first_capacity, met_capacity, near_capacity;
};

static inline const double *soft_position_of(const orr_soft_collider *b, int32_t vertex)
{
    return b->position + (ptrdiff_t)vertex * 3;
}

static inline bool soft_is_wall(const orr_soft_collider *b, int triangle)
{
    return triangle < b->model->walls;
}

// How near two bodies, or parts of one, are of interest that stand still: their margins, and a tenth of the
// spacing of their vertices.
static inline double soft_skin_of(const orr_soft_collider *a, const orr_soft_collider *b)
{
    return fabs(a->margin) + fabs(b->margin) + 0.1 * fmin(a->model->spacing, b->model->spacing);
}

// (m/s)^2, of vertices against each other.
static inline double soft_square_speed(const orr_soft_collider *a, int32_t vertex, const orr_soft_collider *b,
                                       int32_t other)
{
    const double *v = a->velocity + (ptrdiff_t)vertex * 3, *w = b->velocity + (ptrdiff_t)other * 3;
    const double d[3] = {v[0] - w[0], v[1] - w[1], v[2] - w[2]};
    return vec3_dot(d, d);
}

static inline void soft_include(orr_box *box, const orr_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->low[k] = other->low[k] < box->low[k] ? other->low[k] : box->low[k];
        box->high[k] = other->high[k] > box->high[k] ? other->high[k] : box->high[k];
    }
}

static inline orr_box soft_empty_box(void)
{
    return (orr_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

// Runs `work` for all blocks, which do not depend on the number of threads.
static inline void soft_share(orr_jobs *jobs, int blocks, orr_job_fn work, orr_soft_collisions *c)
{
    if (jobs && blocks > 1) {
        orr_jobs_for(jobs, blocks, work, c);
        return;
    }
    for (int i = 0; i < blocks; i++) {
        work(c, i, 0);
    }
}

// A box around the ways of vertices of a body.
orr_box orr_soft_box_of(const orr_soft_collisions *c, int body, const int32_t *vertex, int vertices);
orr_result orr_soft_add_pair(orr_soft_collisions *c, const orr_soft_pair *pair, orr_error *error);
// Vertices against the triangles of all patches that are listed; edges that stick out.
orr_result orr_soft_meet_vertices(orr_soft_collisions *c, orr_jobs *jobs, orr_error *error);
orr_result orr_soft_meet_edges(orr_soft_collisions *c, orr_error *error);
