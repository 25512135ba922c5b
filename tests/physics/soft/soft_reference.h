// The reference for soft bodies in motion: backward Euler by Newton's method in double, its equations by
// conjugate gradients on differences of forces. It shares with the program only the elastic forces of
// physics/soft/energy.c. Without damping, gas and plastic strain.
#pragma once

#include "physics/soft/soft.h"

// A rigid ball that vertices touch, with the penalty and the friction that docs/soft-bodies.md states: of
// the ball's surface, not of planes. The orientation of a ball does not matter.
typedef struct soft_ball {
    double radius, mass, inertia, friction; // m, kg, kg m^2; mass 0: there is none
    double centre[3], velocity[3], spin[3]; // m, m/s, rad/s
} soft_ball;

typedef struct soft_reference soft_reference;

// Starts at rest, in the model's rest shape. Pinned vertices stay.
soft_reference *soft_reference_create(const orr_soft_model *model, int vertices, double time_step,
                                      const double gravity[3], const soft_ball *ball);
void soft_reference_destroy(soft_reference *r);
void soft_reference_step(soft_reference *r);
const double *soft_reference_positions(const soft_reference *r); // vertices x 3
const soft_ball *soft_reference_ball(const soft_reference *r);
