// Where soft bodies come near each other, or themselves.
#pragma once

#include "physics/soft/soft.h"

// A soft body as others may touch it.
typedef struct orr_soft_collider {
    const orr_soft_model *model;
    const double *position; // vertices x 3, m
    const double *velocity; // vertices x 3, m/s
    double margin;          // m: its surface lies so far outside of what it stands for; negative: inside
    double friction;        // Coulomb's coefficient, >= 0; of two bodies the larger counts
    bool with_itself;       // its parts touch each other, too
    bool untouchable;       // it touches nothing
} orr_soft_collider;

// Memory of one search after another, for one thread at a time.
typedef struct orr_soft_collisions orr_soft_collisions;
orr_result orr_soft_collisions_create(orr_soft_collisions **collisions, orr_error *error);
void orr_soft_collisions_destroy(orr_soft_collisions *collisions); // NULL is allowed

// Finds what may meet within a step of `time_step` s: vertices and triangles, and sharp or free edges. Cloth
// is touched from the side where the other is; solids from outside, which reaches as deep into them as the
// search goes. Overlap is undone at 0.5 m/s, not in one step. *pairs is valid until the next search; it is
// the same for any number of threads. jobs: NULL: the calling thread searches alone.
orr_result orr_soft_collide(orr_soft_collisions *collisions, const orr_soft_collider *colliders, int count,
                            double time_step, orr_jobs *jobs, const orr_soft_pair **pairs, int *pair_count,
                            orr_error *error);
