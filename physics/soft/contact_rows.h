// Contacts of soft bodies that yield as MuJoCo's do (its documentation, "Computation", section "Constraint
// model"): a contact pulls the acceleration of its rows towards -b v - k r with the impedance d, as if by an
// inertia of d / (1 - d) of the bodies' own. In a step of backward Euler each row is a half-space with a
// stiffness, as the minimisation of the soft bodies has them.
#pragma once

#include "physics/model/model.h"
#include "physics/soft/soft.h"

// Of a pair of a soft body and what it touches.
typedef struct orr_soft_law {
    double solref[ORR_NREF], solimp[ORR_NIMP];
    double friction;  // Coulomb's coefficient of sliding, > 0
    double mu;        // the same, of the cone: / sqrt(impratio)
    double margin;    // m: nearer than this it acts
    double time_step; // s: time constants are at least two of these; 0: any are
    int condim;       // 1, 3, 4, 6
    bool elliptic;
} orr_soft_law;

// f = stiffness x depth along `direction`, depth = -(distance + direction . moved) where that is above 0.
typedef struct orr_soft_row {
    double direction[3]; // the normal, with a tangent where it is an edge of a pyramid
    double distance;     // m
    double stiffness;    // N/m
    double friction;     // Coulomb's coefficient, of an elliptic cone or a narrow pyramid; otherwise 0
} orr_soft_row;

// How edges keep their lengths by such an equality constraint. time_step: as of a law.
orr_soft_hold orr_soft_hold_of(double time_step, const double solref[ORR_NREF],
                               const double solimp[ORR_NIMP]);

enum { ORR_SOFT_ROWS_MAX = 5 };

// Rows of a contact in a step, as many as are returned: 0 where it is not reached. distance: at the step's
// start, m; normal: unit; velocity: of the soft side against the other, m/s; invweight: 1/kg, the sum of both
// sides'; stands_for: orr_soft_set_conditions.
int orr_soft_contact_rows(const orr_soft_law *law, double distance, const double normal[3],
                          const double velocity[3], double invweight, double step, int stands_for,
                          orr_soft_row row[ORR_SOFT_ROWS_MAX]);
