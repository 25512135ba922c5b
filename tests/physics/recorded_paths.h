// Paths of a model that were recorded, and how far physics are from them.
#pragma once

#include "tests/physics/golden_numbers.h"
#include "tests/physics/machine_physics.h"

enum { NUMBERS_MAX = 256 };

typedef struct recorded {
    golden_numbers file;
    int nq, nv, nsensordata, states, parts, steps;
} recorded;

// Of the last world, which begins anew.
static inline void set_state(orr_physics *physics, const double *qpos, const double *qvel)
{
    const int last = orr_physics_worlds(physics) - 1;
    orr_physics_reset(physics, last);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, last, qpos);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, last, qvel);
}

// From the recorded state on; worst: the largest difference of qpos after any part of the steps, of each.
static inline void compare_paths(recorded *g, orr_physics *const both[2], double worst[2])
{
    double got[NUMBERS_MAX];
    const double *qpos = golden_numbers_take(&g->file, g->nq), *qvel = golden_numbers_take(&g->file, g->nv);
    assert_true(g->nq <= NUMBERS_MAX);
    set_state(both[0], qpos, qvel);
    set_state(both[1], qpos, qvel);
    for (int part = 0; part < g->parts; part++) {
        const double *expected = golden_numbers_take(&g->file, g->nq);
        for (int k = 0; k < 2; k++) {
            orr_physics_step(both[k], g->steps / g->parts);
            orr_physics_get(both[k], ORR_PHYSICS_QPOS, orr_physics_worlds(both[k]) - 1, got);
            worst[k] = fmax(worst[k], largest(got, expected, g->nq));
        }
    }
}
