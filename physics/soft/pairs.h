// Forces of the contacts between soft bodies, and of ties, on vertices; private to this folder.
#pragma once

#include "physics/soft/simulation.h"

// A corner of a pair, or a tie, as its vertex feels it.
typedef struct orr_soft_corner {
    int32_t soft, colour, vertex;
    int32_t pair;  // from the number of pairs on: a tie
    int32_t rows;  // pairs from that one on which are one contact
    double weight; // of the force
    double square; // of the force's derivative
} orr_soft_corner;

enum { SOFT_PUSHED = 15 }; // numbers of a vertex in orr_soft_group.pushed

typedef struct orr_soft_pairs {
    const orr_soft_pair *pair; // count, borrowed
    int count;
    const orr_soft_tie *tie; // ties, borrowed
    int ties;
    double *shift;     // (ties + count) x 3: how far rigid bodies have moved them in the step, m
    double *stiffness; // count, then ties: N/m
    int *rows;         // count: pairs from each on which are one contact; 0 where an earlier one counts it
    double slip;       // plane_contact's, m
    struct orr_soft_device_pairs *device; // of bodies on CUDA; NULL before
    orr_soft_corner *corner;              // corners, those of weight 0 left out, by body, colour and vertex
    int corners;
    int *first;   // of each colour of each body, and the end
    int *colours; // softs + 1: the first colour of each body
    int shift_capacity, stiffness_capacity, rows_capacity, corner_capacity, first_capacity, colours_capacity;
} orr_soft_pairs;

// For a step of these bodies; pairs and ties are borrowed until the next.
orr_result orr_soft_pairs_begin(orr_soft_pairs *p, orr_soft *const *soft, int count,
                                const orr_soft_contacts *contacts, orr_error *error);
// Writes the forces on the vertices of one colour of a body, of which the next relaxation makes use.
void orr_soft_pairs_apply(const orr_soft_pairs *p, orr_soft *const *soft, int body, int colour);
void orr_soft_pairs_clear(orr_soft_pairs *p); // frees their memory
