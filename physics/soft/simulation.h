// What a simulation of soft bodies holds; private to this folder.
#pragma once

#include "physics/soft/program.h"

struct orr_soft {
    const orr_soft_model *model;
    orr_jobs *jobs;
    const orr_soft_program *program;
    orr_soft_tables tables;
    orr_soft_constants constants;
    int worlds, iterations, steps; // steps: of the call that runs
    double chebyshev, tolerance;
    int groups, group_worlds;
    orr_soft_group *group;
    void *state;
    size_t group_bytes;             // of `state`
    struct orr_soft_device *device; // NULL: the CPU; otherwise `state` is a copy, device.h
};

// The pressure of enclosed gas at the start of a step, and after an iteration; without gas nothing.
void orr_soft_begin_pressure(const orr_soft *soft, const orr_soft_group *group);
void orr_soft_update_pressure(const orr_soft *soft, const orr_soft_group *group);

// Of models that yield: memory of a group; its tets without plastic strain, or with one (tets x 9); and what
// they yield in a step.
orr_result orr_soft_plastic_create(const orr_soft *soft, orr_soft_group *group, orr_error *error);
void orr_soft_plastic_destroy(orr_soft_group *group);
void orr_soft_plastic_clear(const orr_soft *soft, const orr_soft_group *group);
void orr_soft_plastic_set(const orr_soft *soft, const orr_soft_group *group, const double *strain);
void orr_soft_plastic_flow(const orr_soft *soft, const orr_soft_group *group);

// An iteration over the vertices of one colour. shared: its blocks are divided among threads.
void orr_soft_relax_colour(const orr_soft *soft, const orr_soft_group *group, int colour, bool shared);
// The first guess of a step, Chebyshev's acceleration and the end of a step; shared: as above.
void orr_soft_begin_vertices(const orr_soft *soft, const orr_soft_group *group, bool shared);
void orr_soft_accelerate_vertices(const orr_soft *soft, const orr_soft_group *group, double omega,
                                  bool shared);
void orr_soft_finish_vertices(const orr_soft *soft, const orr_soft_group *group, bool shared);
// Chebyshev's factor of iteration n, the first is 1, from that of the iteration before.
double orr_soft_next_omega(const orr_soft *soft, int n, double omega);

static inline size_t orr_soft_number_size(const orr_soft *soft)
{
    return soft->program->in_double ? sizeof(double) : sizeof(float);
}

// A number of an array in floats or doubles.
static inline double orr_soft_number(const orr_soft *soft, const void *array, ptrdiff_t at)
{
    return soft->program->in_double ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static inline void orr_soft_set_number(const orr_soft *soft, void *array, ptrdiff_t at, double value)
{
    if (soft->program->in_double) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}
