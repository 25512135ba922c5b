// Energy and forces of positions, in double, by the formulas that a step uses.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/element_formula.h"
#include "physics/soft/model.h"

#include <math.h>
#include <string.h>

static real3 point(const double *position, int32_t v)
{
    const double *p = position + (size_t)v * 3;
    return make_real3(p[0], p[1], p[2]);
}

// Positions of the other corners of a tet or triangle relative to `corner`.
static soft_columns tet_columns(const orr_soft_model *m, const double *position, int t, int corner,
                                const double r[9])
{
    const int32_t *v = m->tet + (size_t)t * 4;
    const int *order = orr_soft_tet_order[corner];
    real3 own = point(position, v[corner]);
    return soft_gradient3(sub3(point(position, v[order[1]]), own), sub3(point(position, v[order[2]]), own),
                          sub3(point(position, v[order[3]]), own), make_real3(r[0], r[1], r[2]),
                          make_real3(r[3], r[4], r[5]), make_real3(r[6], r[7], r[8]));
}

static void membrane_columns(const orr_soft_model *m, const double *position, int t, int corner,
                             const double r[4], real3 *a, real3 *b)
{
    const int32_t *v = m->triangle + (size_t)t * 3;
    real3 own = point(position, v[corner]);
    real3 d1 = sub3(point(position, v[(corner + 1) % 3]), own);
    real3 d2 = sub3(point(position, v[(corner + 2) % 3]), own);
    *a = add_scaled3(scale3(d1, r[0]), d2, r[2]);
    *b = add_scaled3(scale3(d1, r[1]), d2, r[3]);
}

static soft_hinge hinge_of(const orr_soft_model *m, const double *position, int i, double *off)
{
    const int32_t *v = m->hinge + (size_t)i * 4;
    soft_hinge h = hinge_angle(point(position, v[0]), point(position, v[1]), point(position, v[2]),
                               point(position, v[3]));
    *off = remainder(atan2(h.sine, h.cosine) - m->hinge_angle[i], 6.283185307179586);
    return h;
}

double orr_soft_energy(const orr_soft_model *m, const double *position, const double gravity[3])
{
    double energy = 0.0;
    for (int t = 0; t < m->tets; t++) {
        double rows[9];
        orr_soft_tet_rows(m, t, 0, rows);
        energy += m->tet_volume[t] *
                  tet_energy(tet_columns(m, position, t, 0, rows), m->solid.mu, m->solid.l, m->solid.alpha);
    }
    for (int t = 0; t < m->triangles; t++) {
        double rows[4];
        real3 a, b;
        orr_soft_triangle_rows(m, t, 0, rows);
        membrane_columns(m, position, t, 0, rows, &a, &b);
        energy += m->triangle_area[t] * membrane_energy(a, b, m->cloth.mu, m->cloth.l, m->cloth.alpha);
    }
    for (int i = 0; i < m->hinges; i++) {
        double off;
        hinge_of(m, position, i, &off);
        energy += 0.5 * m->hinge_stiffness[i] * off * off;
    }
    for (int i = 0; i < m->bends; i++) {
        real3 d = sub3(point(position, m->bend[2 * i + 1]), point(position, m->bend[2 * i]));
        energy += 0.5 * m->bend_stiffness[i] * dot3(d, d);
    }
    for (int i = 0; i < m->edges; i++) {
        real3 d = sub3(point(position, m->edge[2 * i + 1]), point(position, m->edge[2 * i]));
        double stretch = sqrt(dot3(d, d)) - m->edge_length[i];
        energy += 0.5 * m->edge_stiffness[i] * stretch * stretch;
    }
    if (m->filled) {
        const double volume = orr_soft_volume(m, position),
                     gas = (m->gas.pressure + m->gas.ambient) * m->gas.volume;
        energy += m->gas.ambient > 0.0 ? m->gas.ambient * volume - gas * log(volume / m->gas.volume)
                                       : -m->gas.pressure * volume;
    }
    for (int i = 0; i < m->vertices * 3; i++) {
        energy -= m->mass[i / 3] * gravity[i % 3] * position[i];
    }
    return energy;
}

static void add_force(double *force, int32_t v, real3 f)
{
    force[(size_t)v * 3] += f.x;
    force[(size_t)v * 3 + 1] += f.y;
    force[(size_t)v * 3 + 2] += f.z;
}

void orr_soft_forces(const orr_soft_model *m, const double *position, const double gravity[3], double *force)
{
    const soft_system zero = {0};
    const double pressure = m->filled ? orr_soft_pressure(m, orr_soft_volume(m, position)) : 0.0;
    for (int i = 0; i < m->vertices * 3; i++) {
        force[i] = m->mass[i / 3] * gravity[i % 3];
    }
    for (int i = 0; i < m->tets * 4; i++) {
        double r[9];
        orr_soft_tet_rows(m, i / 4, i % 4, r);
        real3 own = make_real3(-r[0] - r[3] - r[6], -r[1] - r[4] - r[7], -r[2] - r[5] - r[8]);
        soft_columns f = tet_columns(m, position, i / 4, i % 4, r);
        add_force(
            force, m->tet[i],
            tet_system(zero, f, own, m->tet_volume[i / 4], m->solid.mu, m->solid.l, m->solid.alpha).force);
    }
    for (int i = 0; i < m->triangles * 3; i++) {
        double r[4];
        real3 a, b;
        orr_soft_triangle_rows(m, i / 3, i % 3, r);
        membrane_columns(m, position, i / 3, i % 3, r, &a, &b);
        soft_system s = membrane_system(zero, a, b, -r[0] - r[2], -r[1] - r[3], m->triangle_area[i / 3],
                                        m->cloth.mu, m->cloth.l, m->cloth.alpha);
        add_force(force, m->triangle[i], s.force);
        if (m->filled) {
            const int32_t *v = m->triangle + (ptrdiff_t)(i / 3) * 3;
            const real3 own = point(position, v[i % 3]);
            add_force(force, m->triangle[i],
                      scale3(triangle_swell(sub3(point(position, v[(i + 1) % 3]), own),
                                            sub3(point(position, v[(i + 2) % 3]), own)),
                             pressure));
        }
    }
    for (int i = 0; i < m->hinges; i++) {
        double off;
        soft_hinge h = hinge_of(m, position, i, &off);
        const real3 gradient[4] = {h.g0, h.g1, h.g2, h.g3};
        for (int k = 0; k < 4; k++) {
            add_force(force, m->hinge[i * 4 + k], scale3(gradient[k], -m->hinge_stiffness[i] * off));
        }
    }
    for (int i = 0; i < m->bends * 2; i++) {
        real3 d = sub3(point(position, m->bend[i ^ 1]), point(position, m->bend[i]));
        add_force(force, m->bend[i], bend_system(zero, d, m->bend_stiffness[i / 2]).force);
    }
    for (int i = 0; i < m->edges * 2; i++) {
        real3 d = sub3(point(position, m->edge[i ^ 1]), point(position, m->edge[i]));
        add_force(force, m->edge[i],
                  edge_system(zero, d, m->edge_stiffness[i / 2], m->edge_length[i / 2]).force);
    }
}
