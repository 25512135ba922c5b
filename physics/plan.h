// The plan of a model: what follows from it and is the same for all worlds and all times, worked out once.
// Which geoms can meet and with which contact parameters, which dofs move which bodies apart, and how much
// memory a step can need.
#pragma once

#include "physics/model.h"

// The dofs that move two bodies against each other, descending.
typedef struct orr_chain {
    int32_t first, count; // in plan->chain_dof and plan->chain_part
} orr_chain;

enum { ORR_CHAIN_FIRST = 1, ORR_CHAIN_SECOND = 2 }; // bits of chain_part: which of the bodies the dof moves

// Two geoms that can touch; parameters mixed as MuJoCo mixes them.
typedef struct orr_pair {
    int32_t geom1, geom2; // type of 1 <= type of 2
    int32_t condim;
    int32_t slots; // most contacts it can have
    int32_t chain;
    double margin, includemargin; // a contact exists below margin, and pushes below includemargin
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
    orr_chain *chain; // of pairs, then of equalities, then of tendons
    int32_t chain_count, equality_chain, tendon_chain;
    int32_t *chain_dof;
    uint8_t *chain_part;
    double *chain_coef;      // tendons: d length / d dof
    int32_t *dof_descending; // nv - 1 ... 0
    int32_t chain_dof_count;
    // what no step can exceed, or where that would be too much, what there is room for
    int32_t contact_capacity, row_capacity, jacobian_capacity;
    // many pairs are not tried one by one: geoms are swept (lane_sweep.h). sweep_count is 0 otherwise
    int32_t sweep_count;
    int32_t *sweep_geom;   // geoms that take part
    int32_t *pair_first;   // ngeom + 1: the pairs whose lower geom this is, by the higher one
    uint32_t *always_near; // one bit per pair: planes' and declared ones
    orr_hull *hull;        // nmesh; without faces where the mesh does not collide
    double *hull_normal;
    int32_t *hull_first, *hull_vertex; // memory of the hulls
    int32_t rk4_copies;
} orr_plan;

// contact_capacity: most contacts of a step; 0: as many as the model can have, but not above 2048 or 16 per geom.
// Fails with ORR_CODE_FEATURE_ABSENT when the model needs what the dynamics do not have, and names it.
orr_result orr_plan_create(const orr_model *model, int contact_capacity, orr_plan **plan, orr_error *error);
// Finds the faces of the hulls that collide.
orr_result orr_plan_hulls(orr_plan *plan, orr_error *error);
void orr_plan_destroy(orr_plan *plan);
