// Soft bodies that step together, the rigid bodies that they push, and the contacts between all of them;
// private to this folder.
#pragma once

#include "physics/soft/pairs.h"
#include "physics/soft/simulation.h"

// A touch in the step that runs.
typedef struct orr_soft_placed {
    int32_t slot;  // of its vertex; -1: left out
    double arm[3]; // from the body's centre to where the vertex is expected to be, m
} orr_soft_placed;

struct orr_soft_coupling {
    // of the step that runs, borrowed
    orr_soft *const *soft; // count
    int count;
    const orr_soft_contacts *contacts;
    orr_soft_pairs pairs;
    // memory that steps use again
    orr_soft_placed *placed; // of touches
    double *arm;             // (ties + pairs) x 3: from a rigid body's centre to where it holds or touches, m
    double *moved;           // bodies x 6: displacement in the step, m and rad
    double *system;          // n + n x n, n = 3 count + 6 bodies
    // the same where some bodies are linked: their rows are the freedoms of their linkages
    double *reduced;      // m + m x m
    int *first;           // bodies, then linkages: their first rows
    double *turned;       // displacements of the freedoms in the step, of all linkages one after the other
    bool *held;           // count: some vertex is pinned
    bool *converged;      // count: in this step, and is not relaxed any more
    int iterations;       // of the last step: of the body that took most
    double *mass, *omega; // count: kg; Chebyshev's factors
    int arm_capacity, placed_capacity, moved_capacity, system_capacity, held_capacity, mass_capacity,
        omega_capacity, reduced_capacity, first_capacity, turned_capacity, converged_capacity;
};
