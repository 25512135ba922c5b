#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/contact_rows.h"

#include "engine/maths/vector.h"
#include "physics/lanes/impedance.h"

// A pyramid of less friction is so narrow that the normals of its edges leave float no tangents.
static const double least_friction = 0.05;
static const double stiffest = 4e3; // most inertia of one row in its place, of the sides' own

// How much of the step the soft side is past the margin, if nothing holds it up.
static double part_of_step(double r, double speed, double step)
{
    const double end = r + step * speed;
    return r <= 0.0 ? 1.0 : end < 0.0 ? end / (step * speed) : 0.0;
}

// MuJoCo's choice of the first tangent.
static void tangents(const double normal[3], double tangent[2][3])
{
    const bool upright = fabs(normal[1]) >= 0.5;
    const double first[3] = {0.0, upright ? 0.0 : 1.0, upright ? 1.0 : 0.0};
    const double along = vec3_dot(first, normal);
    for (int k = 0; k < 3; k++) {
        tangent[0][k] = first[k] - along * normal[k];
    }
    vec3_normalise(tangent[0]);
    vec3_cross(normal, tangent[0], tangent[1]);
}

// What is the same for all rows of a contact.
typedef struct row_terms {
    double inertia, stiffness, damping; // kg, 1/s^2, 1/s
    double r, speed;                    // m, m/s: along the normal
    double step, end_share;
} row_terms;

// The row pushes with inertia (-b v' - k r' - a), v' and r' of the step's end, a the acceleration in it. The
// depth is along the normal alone, whose part of the way is not told apart from the tangent's: that goes on
// as it was.
static void set_row(const row_terms *t, const double velocity[3], orr_soft_row *row)
{
    const double h = t->step, share = t->end_share, v = vec3_dot(row->direction, velocity);
    const double all = 1.0 / (share * h * h) + t->damping / (share * h) + t->stiffness;
    const double start =
        t->stiffness * (t->r - h * (v - t->speed)) + t->damping * v * (1.0 - 1.0 / share) - v / (share * h);
    row->stiffness = t->inertia * all;
    row->distance = start / all;
}

int orr_soft_contact_rows(const orr_soft_law *law, double distance, const double normal[3],
                          const double velocity[3], double invweight, double step, int stands_for,
                          orr_soft_row row[ORR_SOFT_ROWS_MAX])
{
    const double r = distance - law->margin, speed = vec3_dot(normal, velocity);
    const double part = part_of_step(r, speed, step);
    if (!(part > 0.0)) {
        return 0;
    }
    const lane_impedance at = impedance_at(law->time_step, law->solref, law->solimp, fmin(r, 0.0));
    const double d = part * at.impedance;
    const bool edges = law->condim > 1 && !law->elliptic, pyramid = edges && law->friction >= least_friction;
    const double square = law->friction * law->friction;
    const double weight = edges ? 2.0 * law->mu * law->mu * (1.0 + square) * invweight : invweight;
    row_terms terms = {.inertia = d / ((1.0 - d) * weight),
                       .stiffness = at.stiffness * at.impedance,
                       .damping = at.damping,
                       .r = r,
                       .speed = speed,
                       .step = step,
                       .end_share = 0.5 + 0.5 / stands_for};
    double tangent[2][3];
    int count = 0;
    tangents(normal, tangent);
    for (int i = 0; i < 4 && pyramid; i++, count++) {
        row[i].friction = 0.0;
        for (int k = 0; k < 3; k++) {
            row[i].direction[k] = normal[k] + (i % 2 ? -law->friction : law->friction) * tangent[i / 2][k];
        }
        set_row(&terms, velocity, &row[i]);
    }
    // points do not turn: edges of torsion and of rolling push along the normal, two of each
    terms.inertia *= pyramid ? 2.0 * (law->condim - 3) : edges ? 2.0 * (law->condim - 1) : 1.0;
    terms.inertia = pyramid ? terms.inertia : fmin(terms.inertia, stiffest / invweight);
    if (terms.inertia > 0.0) {
        row[count].friction = pyramid || law->condim == 1 ? 0.0 : law->friction;
        for (int k = 0; k < 3; k++) {
            row[count].direction[k] = normal[k];
        }
        set_row(&terms, velocity, &row[count++]);
    }
    return count;
}

orr_soft_hold orr_soft_hold_of(double time_step, const double solref[ORR_NREF], const double solimp[ORR_NIMP])
{
    const lane_impedance far = impedance_at(time_step, solref, solimp, 1e9);
    return (orr_soft_hold){.stiffness = far.stiffness,
                           .damping = far.damping,
                           .low = impedance_at(time_step, solref, solimp, 0.0).impedance,
                           .high = far.impedance,
                           .width = solimp[2],
                           .middle = fmin(fmax(solimp[3], 1e-4), 0.9999)};
}
