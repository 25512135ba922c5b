// Solids that yield: multiplicative plasticity, F = Fe Fp with det Fp = 1, by von Mises' stress (after
// Bargteil et al. 2007, "A finite element method for animating large viscoplastic flow"). A tet's plastic
// strain becomes a part of its rest shape, which each world therefore has for itself.
#include "engine/core/memory.h"
#include "engine/maths/diagonalise.h"
#include "engine/maths/vector.h"
#include "physics/soft/simulation.h"

#include <math.h>
#include <string.h>

static void product(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 9; i++) {
        const double *row = a + i / 3 * 3;
        out[i] = row[0] * b[i % 3] + row[1] * b[3 + i % 3] + row[2] * b[6 + i % 3];
    }
}

// The inverse of a matrix with the determinant 1.
static void inverse_of(const double a[9], double out[9])
{
    double row[3][3];
    vec3_cross(a + 3, a + 6, row[0]);
    vec3_cross(a + 6, a, row[1]);
    vec3_cross(a, a + 3, row[2]);
    for (int i = 0; i < 9; i++) {
        out[i] = row[i % 3][i / 3];
    }
}

static void write_tet(const orr_soft *soft, const orr_soft_group *g, int tet)
{
    double inverse[9];
    inverse_of(g->plastic + (ptrdiff_t)tet * 9, inverse);
    for (int corner = 0; corner < 4; corner++) {
        const ptrdiff_t at = soft->tables.tet_at[(ptrdiff_t)tet * 4 + corner];
        double rows[9], now[9];
        orr_soft_tet_rows(soft->model, tet, corner, rows);
        product(rows, inverse, now);
        for (int k = 0; k < 9 && at >= 0; k++) {
            orr_soft_set_number(soft, g->tables->number, at + (ptrdiff_t)k * soft->program->lanes, now[k]);
        }
    }
}

void orr_soft_plastic_clear(const orr_soft *soft, const orr_soft_group *g)
{
    for (int tet = 0; tet < soft->model->tets && g->plastic; tet++) {
        for (int k = 0; k < 9; k++) {
            g->plastic[(ptrdiff_t)tet * 9 + k] = k % 4 == 0;
        }
        write_tet(soft, g, tet);
    }
}

orr_result orr_soft_plastic_create(const orr_soft *soft, orr_soft_group *g, orr_error *error)
{
    const size_t size = soft->tables.number_count * orr_soft_number_size(soft);
    ORR_ALLOC(g->plastic, (size_t)soft->model->tets * 9, "a solid that yields", error);
    ORR_ALLOC(g->own, 1, "a solid that yields", error);
    *g->own = soft->tables;
    g->tables = g->own;
    g->own->number = orr_alloc(size, 1);
    if (!g->own->number) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a solid that yields");
    }
    memcpy(g->own->number, soft->tables.number, size);
    orr_soft_plastic_clear(soft, g);
    return ORR_OK;
}

void orr_soft_plastic_destroy(orr_soft_group *g)
{
    if (g->plastic) {
        orr_free(g->own ? g->own->number : NULL);
        orr_free(g->own);
        orr_free(g->plastic);
    }
}

// The elastic deformation of a tet: its positions by its rest shape with the plastic strain.
static void elastic_part(const orr_soft *soft, const orr_soft_group *g, int tet, const double inverse[9],
                         double fe[9])
{
    const int32_t *v = soft->model->tet + (ptrdiff_t)tet * 4;
    const double *rows = soft->model->tet_inverse + (ptrdiff_t)tet * 9;
    double f[9] = {0.0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 9; i++) {
            const double d = orr_soft_number(soft, g->position, (ptrdiff_t)v[k + 1] * 3 + i / 3) -
                             orr_soft_number(soft, g->position, (ptrdiff_t)v[0] * 3 + i / 3);
            f[i] += d * rows[3 * k + i % 3];
        }
    }
    product(f, inverse, fe);
}

// von Mises' Cauchy stress of principal stretches (their squares) with the volume ratio j: only the shear
// modulus enters.
static double stress_of(double mu, const double square[3], double j)
{
    const double mean = (square[0] + square[1] + square[2]) / 3.0;
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += (square[k] - mean) * (square[k] - mean);
    }
    return mu * sqrt(1.5 * sum) / j;
}

// Principal stretches whose logarithms, the volume apart, are smaller by the factor `left`.
static void relaxed(const double square[3], double j, double left, double out[3])
{
    const double volume = pow(j, 2.0 / 3.0);
    for (int k = 0; k < 3; k++) {
        out[k] = volume * pow(square[k] / volume, left);
    }
}

static bool yields(const orr_soft *soft, const orr_soft_group *g, int tet, double fe[9], double *j)
{
    const orr_soft_model *m = soft->model;
    double inverse[9], n[3], square = 0.0, trace = 0.0;
    inverse_of(g->plastic + (ptrdiff_t)tet * 9, inverse);
    elastic_part(soft, g, tet, inverse, fe);
    vec3_cross(fe + 3, fe + 6, n);
    *j = vec3_dot(fe, n);
    if (!(*j > 0.01 && *j < 100.0)) { // inverted, or squeezed flat: elastic forces open it first
        return false;
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            const double c = fe[a] * fe[b] + fe[3 + a] * fe[3 + b] + fe[6 + a] * fe[6 + b];
            square += c * c;
            trace += a == b ? c : 0.0;
        }
    }
    return m->solid.mu * sqrt(1.5 * fmax(square - trace * trace / 3.0, 0.0)) / *j > m->yield_stress;
}

// Takes the elastic stretch down to where the stress is allowed; Fp takes up what it loses.
static void flow(const orr_soft *soft, const orr_soft_group *g, int tet, const double fe[9], double j)
{
    const orr_soft_model *m = soft->model;
    double c[3][3], v[3][3], square[3], now[3], low = 0.0, high = 1.0;
    for (int i = 0; i < 9; i++) {
        c[i / 3][i % 3] =
            fe[i / 3] * fe[i % 3] + fe[3 + i / 3] * fe[3 + i % 3] + fe[6 + i / 3] * fe[6 + i % 3];
    }
    mat_diagonalise(c, v);
    for (int k = 0; k < 3; k++) {
        square[k] = fmax(c[k][k], 1e-12);
    }
    const double stress = stress_of(m->solid.mu, square, j), h = soft->constants.time_step;
    const double kept = m->flow > 0.0 ? exp(-m->flow * h) : 0.0;
    const double allowed = m->yield_stress + (stress - m->yield_stress) * kept;
    for (int i = 0; i < 40; i++) { // the stress grows with what is left of the stretch
        const double left = 0.5 * (low + high);
        relaxed(square, j, left, now);
        *(stress_of(m->solid.mu, now, j) > allowed ? &high : &low) = left;
    }
    relaxed(square, j, low, now);
    double change[9] = {0.0}, before[9];
    double *plastic = g->plastic + (ptrdiff_t)tet * 9;
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 3; k++) {
            change[i] += v[i / 3][k] * sqrt(square[k] / now[k]) * v[i % 3][k];
        }
    }
    memcpy(before, plastic, sizeof before);
    product(change, before, plastic);
    write_tet(soft, g, tet);
}

void orr_soft_plastic_flow(const orr_soft *soft, const orr_soft_group *g)
{
    for (int tet = 0; tet < soft->model->tets && g->plastic; tet++) {
        double fe[9], j;
        if (yields(soft, g, tet, fe, &j)) {
            flow(soft, g, tet, fe, j);
        }
    }
}
