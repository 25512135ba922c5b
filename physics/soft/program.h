// The parts of a step that work on vertices, compiled once per instruction set and for doubles; private to
// this folder.
#pragma once

#include "physics/soft/tables.h"

enum { SOFT_CUDA_LANES = 32 }; // threads of a warp

typedef struct orr_soft_constants {
    double time_step, gravity[3];
    int stands_for;           // orr_soft_set_conditions; at least 1
    double contact_stiffness; // 0: relative to the mass
    orr_soft_elastic solid, cloth;
    double bending_damping; // s
    bool edges_damped, edges_held;
    orr_soft_hold hold;
    double yield_stress, flow; // Pa, 0: it does not yield; 1/s
    orr_soft_gas gas;
    int obstacles;
    orr_soft_obstacle obstacle[ORR_SOFT_OBSTACLES_MAX];
} orr_soft_constants;

// How much of the way in a step is by the velocity at its end; the rest is by that at its start.
static inline double orr_soft_end_share(const orr_soft_constants *k)
{
    return 0.5 + 0.5 / k->stands_for;
}

// The state of the worlds of a group, in floats or doubles: number ((vertex x 3 + axis) x worlds + world).
typedef struct orr_soft_group {
    const orr_soft_tables *tables;
    void *number; // that of the tables; of models that yield one with this world's plastic strain
    const orr_soft_constants *constants;
    const uint8_t *pinned;
    int vertices, worlds; // worlds: 1, or the number of lanes
    void *position, *velocity;
    void *change;                     // of the velocity in the last step
    void *start, *target;             // positions at the step's start, and where inertia takes them
    void *previous, *before_previous; // iterates, for Chebyshev acceleration; NULL without it
    // plane_slots x 3 x vertices x 3 x worlds: normals of planes that vertices touch in this step; how far
    // they move; distance at the step's start, friction, and 1, or 0 where there is none. NULL: no slots
    void *planes;
    int plane_slots;
    // 5 x vertices x 3, of one world: forces on the vertices of the next colour, and minus their derivatives
    // (xx, xy, xz; yy, yz, zz); of a contact that they do not touch yet its normal times how much a move of
    // the vertex is of one of its side; how far it is, its stiffness, 0: there is none, and that share
    void *pushed;
    bool is_pushed;
    // Of models that enclose a gas: its pressure in each world, Pa; and by how much the volume would grow, if
    // it were 1 Pa more, as each vertex moves alone: vertices x worlds, m^3/Pa. NULL: no gas
    void *pressure, *swell;
    // Of models that yield, whose groups have one world: the plastic strain, tets x 9, row-major. NULL: it
    // does not yield
    double *plastic;
    void *touch; // vertices x worlds: above 0 where an obstacle is touched; NULL without it
} orr_soft_group;

typedef struct orr_soft_program {
    int lanes;
    bool in_double;
    // Of vertices first .. end - 1, as the next two: a step's first guess, Chebyshev's factor of this
    // iteration, and what velocities become.
    void (*begin)(const orr_soft_group *group, int first, int end);
    void (*accelerate)(const orr_soft_group *group, double omega, int first, int end);
    void (*finish)(const orr_soft_group *group, int first, int end);
    // An iteration over blocks first .. end - 1, which are of one colour.
    void (*relax)(const orr_soft_group *group, int first, int end);
    // Of one world that is accelerated, before it is: along any axis, the largest move of a vertex in this
    // iteration, without those as a whole, and the largest way of one in this step.
    void (*progress)(const orr_soft_group *group, double *moved, double *way);
    // Of one world: the sum of mass x (target - position), and every position moved by the same.
    void (*pull)(const orr_soft_group *group, const double *mass, double sum[3]);
    void (*translate)(const orr_soft_group *group, const double by[3]);
} orr_soft_program;

const orr_soft_program *orr_soft_program_baseline(void);
const orr_soft_program *orr_soft_program_avx2(void);
const orr_soft_program *orr_soft_program_avx512(void);
const orr_soft_program *orr_soft_program_double(void);
