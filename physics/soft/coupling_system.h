// Parts of a step of soft bodies with rigid ones; private to this folder, for files of scalar doubles.
#pragma once

#include "physics/soft/coupling.h"
#include "physics/soft/element_formula.h"

// ---- planes that vertices touch: coupling_planes.c ----

// Memory for them, without planes.
orr_result orr_soft_planes_clear(const orr_soft_coupling *c, orr_error *error);
// Writes them; rigid bodies begin where their velocities take them.
void orr_soft_planes_place(const orr_soft_coupling *c);
// How far rigid bodies have moved what soft ones touch, into planes, ties and pairs.
void orr_soft_shifts_write(const orr_soft_coupling *c);
// The force on the vertex of a touch, and minus its derivative; false where it is not deep.
bool orr_soft_touch_system(const orr_soft_coupling *c, int i, soft_system *s);

// ---- the common minimum: coupling_system.c ----
// Unknowns: n = 3 count + 6 bodies; a translation of each soft body, then a displacement of each rigid one.

// The system whose solution moves the soft bodies as wholes, and the rigid ones, to their common minimum: a,
// n x n, and b. wholes: soft ones are moved, too. What nothing moves has a unit row.
void orr_soft_system_fill(const orr_soft_coupling *c, bool wholes, int n, double *a, double *b);
// Solves a x = b for a symmetric positive definite matrix, n x n, by Cholesky's method, in place; x replaces
// b.
void orr_soft_system_solve(int n, double *a, double *b);
// The forces on rigid bodies by which they have moved, x the last move of the step. Those of the contacts
// where they are afterwards differ by rounding, and by contacts that end, times a stiffness that throws light
// bodies.
void orr_soft_system_forces(const orr_soft_coupling *c, const double *x);
// 1 / (how far a rigid body goes in a step for each m/s^2), 1/s^2: as the first of the soft bodies steps.
double orr_soft_rigid_rate(const orr_soft_coupling *c);

// Solves the system where bodies are linked (coupling_linked.c): x in place of b.
void orr_soft_system_solve_linked(const orr_soft_coupling *c, int n, const double *a, double *b);
