// The plan of a model: what follows from it and is the same for all worlds and all times, worked out once.
// Which geoms can meet and with which contact parameters, which dofs move which bodies apart, and how much
// memory a step can need.
#pragma once

#include "physics/model/vary.h"

// The dofs that move two bodies against each other, or a tendon or an actuator; descending.
typedef struct orr_chain {
    int32_t first, count; // in plan->chain_dof and plan->chain_part
} orr_chain;

enum { ORR_CHAIN_FIRST = 1, ORR_CHAIN_SECOND = 2 }; // bits of chain_part: which of the bodies the dof moves

// What rows of a contact need of friction and of the bodies' inverse weights.
enum {
    ORR_PAIR_FRICTION = 0, // 5
    ORR_PAIR_MU = 5,       // elliptic cones: regularised friction of the cone,
    ORR_PAIR_CONE = 6,     // 1 / (mu^2 (1 + mu^2))
    ORR_PAIR_WEIGHT = 7,   // 6: inverse weight of the rows; of a pyramid all edges have the first
    ORR_PAIR_NUMBERS = 13
};

// Two geoms that can touch; parameters mixed as MuJoCo mixes them.
typedef struct orr_pair {
    int32_t geom1, geom2; // type of 1 <= type of 2
    int32_t condim;
    int32_t slots; // most contacts it can have
    int32_t chain;
    double margin, includemargin; // a contact exists below margin, and pushes below includemargin
    int32_t declared;             // the model's pair, or -1
    double numbers[ORR_PAIR_NUMBERS];
    double friction[5];
    double solref[ORR_NREF], solreffriction[ORR_NREF], solimp[ORR_NIMP];
} orr_pair;

enum { ORR_PAIR_CONTACTS = 50 }; // most contacts of a pair in one world

// The flat faces of a mesh's convex hull.
typedef struct orr_hull {
    int32_t face_count;
    const double *normal;  // face_count x 3, outward
    const int32_t *first;  // face_count + 1: its first corner in `vertex`
    const int32_t *vertex; // vertices of the hull, counter-clockwise from outside
} orr_hull;

typedef struct orr_plan {
    const orr_model *model;
    orr_pair *pair;
    int32_t pair_count;
    orr_chain *chain; // of pairs, then of equalities, tendons and actuators
    int32_t chain_count, equality_chain, tendon_chain, actuator_chain;
    int32_t *chain_dof;
    uint8_t *chain_part;
    int32_t tendon_entry, tendon_entries;     // of their chains in chain_dof: the first, how many
    int32_t actuator_entry, actuator_entries; // likewise
    int32_t chain_dof_count;
    int32_t *dof_descending; // nv - 1 ... 0
    int32_t *last_dof; // nbody: the last dof that moves the body, -1: none; dof_parentid leads to the others
    int32_t *dof_end;  // nv: one past the last of the dofs that the dof moves, which are contiguous
    int32_t *level_body, *level_first; // bodies but the world by their depth in the tree; level_count + 1
    int32_t level_count;
    // what no step can exceed, or where that would be too much, what there is room for
    int32_t contact_capacity, row_capacity, jacobian_capacity;
    // many pairs are not tried one by one: geoms are swept (lanes/collision/sweep.h). sweep_count is 0 otherwise
    int32_t sweep_count;
    int32_t *sweep_geom;   // geoms that take part
    int32_t *pair_first;   // ngeom + 1: the pairs whose lower geom this is, by the higher one
    uint32_t *always_near; // one bit per pair: planes' and declared ones
    orr_hull *hull;        // nmesh; without faces where the mesh does not collide
    double *hull_normal;
    int32_t *hull_first, *hull_vertex; // memory of the hulls
    int32_t rk4_copies;
    uint8_t *gyroscopic;   // nv: of a free body alone in its tree, which implicitfast treats as implicit does
    int32_t unsymmetric;   // 1: the integrator's matrix is not symmetric
    int32_t row_responses; // rows whose M^-1 J^T is kept
    int32_t fluid_slopes;  // 1: the integrator differentiates forces of the medium
    int32_t
        varied_at[ORR_VARY_COUNT]; // in the `varied` of a world; -1: the model's numbers hold in all worlds
    int32_t varied_count;
} orr_plan;

// contact_capacity: most contacts of a step; 0: as many as the model can have, but not above 2048 or 16 per geom.
// Fails with ORR_CODE_FEATURE_ABSENT when the model needs what the dynamics do not have, and names it.
orr_result orr_plan_create(const orr_model *model, int contact_capacity, orr_plan **plan, orr_error *error);
// Finds the faces of the hulls that collide.
orr_result orr_plan_hulls(orr_plan *plan, orr_error *error);
// Finds which dofs move what: the chains of pairs, which must be known, equalities, tendons and actuators, in that order.
orr_result orr_plan_chains(orr_plan *plan, orr_error *error);
// A plan for positions() alone: without pairs of geoms, rows and what the integrator needs.
orr_result orr_plan_create_positions(const orr_model *model, orr_plan **plan, orr_error *error);
void orr_plan_destroy(orr_plan *plan);
// The numbers of a pair in a model that differs from the plan's in friction or weights alone.
void orr_pair_numbers(const orr_model *model, const orr_pair *pair, double numbers[ORR_PAIR_NUMBERS]);
