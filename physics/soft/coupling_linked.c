// Rigid bodies that joints link: the system of displacements, reduced to the freedoms of the joints.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/coupling_system.h"

#include <string.h>

// Gives bodies and linkages their rows; returns how many rows there are.
static int list_rows(const orr_soft_coupling *c)
{
    int rows = 3 * c->count, *linkage = c->first + c->contacts->bodies;
    for (int i = 0; i < c->contacts->linkages; i++) {
        linkage[i] = rows;
        rows += c->contacts->linkage[i].freedoms;
    }
    for (int i = 0; i < c->contacts->bodies; i++) {
        const bool linked = c->contacts->body[i].linked;
        c->first[i] = linked ? linkage[c->contacts->body[i].linkage] : rows;
        rows += linked ? 0 : 6;
    }
    return rows;
}

// How many rows move a body, and its velocity and spin by the one of number `row`.
static int rows_of(const orr_soft_coupling *c, int body)
{
    const orr_soft_body *b = &c->contacts->body[body];
    return b->linked ? c->contacts->linkage[b->linkage].freedoms : 6;
}

static double motion_by(const orr_soft_coupling *c, int body, int number, int row)
{
    const orr_soft_body *b = &c->contacts->body[body];
    return b->linked ? c->contacts->joints[b->jacobian + number * rows_of(c, body) + row]
                     : (double)(number == row);
}

static void add_linkage(const orr_soft_coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_linkage *l = &c->contacts->linkage[i];
    const double h = c->soft[0]->constants.time_step, rate = orr_soft_rigid_rate(c);
    const int first = c->first[c->contacts->bodies + i];
    const double *turned = c->turned + first - 3 * c->count, *joints = c->contacts->joints;
    for (int r = 0; r < l->freedoms; r++) {
        b[first + r] -= joints[l->push + r];
        for (int k = 0; k < l->freedoms; k++) {
            const double inertia = rate * joints[l->inertia + r * l->freedoms + k];
            a[(first + r) * n + first + k] += inertia;
            b[first + r] += inertia * (h * joints[l->speed + k] - turned[k]);
        }
    }
}

// The system of all bodies' displacements becomes that of what moves them. No contact is between two rigid
// bodies, so that their rows meet those of soft bodies and their own alone.
static void reduce(const orr_soft_coupling *c, int n, const double *a, const double *b, int m, double *ra,
                   double *rb)
{
    const int soft = 3 * c->count;
    memset(ra, 0, (size_t)m * (size_t)m * sizeof *ra);
    memset(rb, 0, (size_t)m * sizeof *rb);
    for (int r = 0; r < soft; r++) {
        memcpy(ra + (ptrdiff_t)r * m, a + (ptrdiff_t)r * n, (size_t)soft * sizeof *ra);
        rb[r] = b[r];
    }
    for (int i = 0; i < c->contacts->bodies; i++) {
        const int from = soft + 6 * i, to = c->first[i], rows = rows_of(c, i);
        for (int p = 0; p < rows; p++) {
            double column[6] = {0.0}; // the body's block times the motion by row p
            for (int k = 0; k < 6; k++) {
                const double by = motion_by(c, i, k, p);
                rb[to + p] += by * b[from + k];
                for (int r = 0; r < 6; r++) {
                    column[r] += a[(from + r) * n + from + k] * by;
                }
                for (int r = 0; r < soft; r++) {
                    ra[r * m + to + p] += a[r * n + from + k] * by;
                    ra[(to + p) * m + r] += a[r * n + from + k] * by;
                }
            }
            for (int q = 0; q < rows; q++) {
                for (int r = 0; r < 6; r++) {
                    ra[(to + q) * m + to + p] += motion_by(c, i, r, q) * column[r];
                }
            }
        }
    }
    for (int i = 0; i < c->contacts->linkages; i++) {
        add_linkage(c, i, m, ra, rb);
    }
}

void orr_soft_system_solve_linked(const orr_soft_coupling *c, int n, const double *a, double *b)
{
    const int m = list_rows(c), soft = 3 * c->count;
    double *rb = c->reduced, *ra = rb + m;
    reduce(c, n, a, b, m, ra, rb);
    orr_soft_system_solve(m, ra, rb);
    memcpy(b, rb, (size_t)soft * sizeof *b);
    for (int i = 0; i < 6 * c->contacts->bodies; i++) {
        const int body = i / 6;
        b[soft + i] = 0.0;
        for (int row = 0; row < rows_of(c, body); row++) {
            b[soft + i] += motion_by(c, body, i % 6, row) * rb[c->first[body] + row];
        }
    }
    for (int i = 0; i < c->contacts->linkages; i++) {
        const int first = c->first[c->contacts->bodies + i];
        for (int k = first; k < first + c->contacts->linkage[i].freedoms; k++) {
            c->turned[k - soft] += rb[k];
        }
    }
}
