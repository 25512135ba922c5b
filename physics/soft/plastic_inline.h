// How a tet yields: multiplicative plasticity, F = Fe Fp with det Fp = 1, by von Mises' stress (after
// Bargteil et al. 2007, "A finite element method for animating large viscoplastic flow"). The text that the
// host and CUDA share, in double. Private to this folder.
#pragma once

#include "engine/maths/diagonalise.h"
#include "engine/maths/vector.h"
#include "physics/soft/program.h"

typedef struct plastic_law {
    double mu, yield_stress; // Pa
    double kept;             // of the stress beyond, after a step
} plastic_law;

ORR_INLINE plastic_law plastic_law_of(const orr_soft_constants *k)
{
    const double kept = k->flow > 0.0 ? exp(-k->flow * k->time_step) : 0.0;
    const plastic_law law = {k->solid.mu, k->yield_stress, kept};
    return law;
}

ORR_INLINE void plastic_product(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 9; i++) {
        const double *row = a + i / 3 * 3;
        out[i] = row[0] * b[i % 3] + row[1] * b[3 + i % 3] + row[2] * b[6 + i % 3];
    }
}

// The inverse of a matrix with the determinant 1.
ORR_INLINE void plastic_inverse(const double a[9], double out[9])
{
    double row[3][3];
    vec3_cross(a + 3, a + 6, row[0]);
    vec3_cross(a + 6, a, row[1]);
    vec3_cross(a, a + 3, row[2]);
    for (int i = 0; i < 9; i++) {
        out[i] = row[i % 3][i / 3];
    }
}

// What a corner sees of the rest shape with the plastic strain; rows: without it.
ORR_INLINE void plastic_rows(const double rows[9], const double plastic[9], double out[9])
{
    double inverse[9];
    plastic_inverse(plastic, inverse);
    plastic_product(rows, inverse, out);
}

// The elastic deformation. side: positions of corners 1 to 3 relative to corner 0; rows: of corner 0.
ORR_INLINE void plastic_elastic(const double side[9], const double rows[9], const double plastic[9],
                                double fe[9])
{
    double inverse[9], f[9];
    for (int i = 0; i < 9; i++) {
        f[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            f[i] += side[3 * k + i / 3] * rows[3 * k + i % 3];
        }
    }
    plastic_inverse(plastic, inverse);
    plastic_product(f, inverse, fe);
}

// von Mises' Cauchy stress of principal stretches (their squares) with the volume ratio j: only the shear
// modulus enters.
ORR_INLINE double plastic_stress(double mu, const double square[3], double j)
{
    const double mean = (square[0] + square[1] + square[2]) / 3.0;
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += (square[k] - mean) * (square[k] - mean);
    }
    return mu * sqrt(1.5 * sum) / j;
}

// Principal stretches whose logarithms, the volume apart, are smaller by the factor `left`.
ORR_INLINE void plastic_relaxed(const double square[3], double j, double left, double out[3])
{
    const double volume = pow(j, 2.0 / 3.0);
    for (int k = 0; k < 3; k++) {
        out[k] = volume * pow(square[k] / volume, left);
    }
}

// j: the elastic volume ratio.
ORR_INLINE bool plastic_yields(const plastic_law *law, const double fe[9], double *j)
{
    double n[3], square = 0.0, trace = 0.0;
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
    return law->mu * sqrt(1.5 * fmax(square - trace * trace / 3.0, 0.0)) / *j > law->yield_stress;
}

// Takes the elastic stretch down to where the stress is allowed; `plastic` takes up what it loses.
ORR_INLINE void plastic_flow(const plastic_law *law, const double fe[9], double j, double plastic[9])
{
    double c[3][3], v[3][3], square[3], now[3], low = 0.0, high = 1.0;
    for (int i = 0; i < 9; i++) {
        c[i / 3][i % 3] =
            fe[i / 3] * fe[i % 3] + fe[3 + i / 3] * fe[3 + i % 3] + fe[6 + i / 3] * fe[6 + i % 3];
    }
    mat_diagonalise(c, v);
    for (int k = 0; k < 3; k++) {
        square[k] = fmax(c[k][k], 1e-12);
    }
    const double stress = plastic_stress(law->mu, square, j);
    const double allowed = law->yield_stress + (stress - law->yield_stress) * law->kept;
    for (int i = 0; i < 40; i++) { // the stress grows with what is left of the stretch
        const double left = 0.5 * (low + high);
        plastic_relaxed(square, j, left, now);
        if (plastic_stress(law->mu, now, j) > allowed) {
            high = left;
        } else {
            low = left;
        }
    }
    plastic_relaxed(square, j, low, now);
    double change[9], before[9];
    for (int i = 0; i < 9; i++) {
        change[i] = 0.0, before[i] = plastic[i];
        for (int k = 0; k < 3; k++) {
            change[i] += v[i / 3][k] * sqrt(square[k] / now[k]) * v[i % 3][k];
        }
    }
    plastic_product(change, before, plastic);
}
