#include "physics/model/flex/flex_modes.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { SWEEPS_MAX = 30, RIGID = 6 }; // Jacobi's method doubles its digits with each sweep

static const double least_eigenvalue = 1e-10; // of the largest; what rounding leaves of rigid motions is less
static const double least_rest = 1e-30;       // off the diagonal, squared, of the whole

static double rest_of(const double *m, int size, double *whole)
{
    double off = 0.0;
    *whole = 0.0;
    for (int i = 0; i < size * size; i++) {
        *whole += m[i] * m[i];
        off += i / size == i % size ? 0.0 : m[i] * m[i];
    }
    return off;
}

// Turns rows p and q of a matrix.
static void turn_rows(double *m, int size, int p, int q, double c, double s)
{
    double *x = m + (ptrdiff_t)p * size, *y = m + (ptrdiff_t)q * size;
    for (int k = 0; k < size; k++) {
        const double a = x[k], b = y[k];
        x[k] = c * a - s * b;
        y[k] = s * a + c * b;
    }
}

// Makes entry (p, q) of the symmetric m zero. v: rows are turned alike
static void rotate_away(double *m, double *v, int size, int p, int q)
{
    const double off = m[p * size + q];
    if (off == 0.0) {
        return;
    }
    const double angle = 0.5 * atan2(2.0 * off, m[q * size + q] - m[p * size + p]);
    const double c = cos(angle), s = sin(angle);
    turn_rows(m, size, p, q, c, s);
    for (int k = 0; k < size; k++) {
        double *row = m + (ptrdiff_t)k * size;
        const double a = row[p], b = row[q];
        row[p] = c * a - s * b;
        row[q] = s * a + c * b;
    }
    turn_rows(v, size, p, q, c, s);
}

// m becomes diagonal; the rows of v are its eigenvectors.
static void diagonalise(double *m, double *v, int size)
{
    double whole;
    memset(v, 0, (size_t)size * (size_t)size * sizeof *v);
    for (int i = 0; i < size; i++) {
        v[i * size + i] = 1.0;
    }
    for (int sweep = 0; sweep < SWEEPS_MAX && rest_of(m, size, &whole) > least_rest * whole; sweep++) {
        for (int p = 0; p < size - 1; p++) {
            for (int q = p + 1; q < size; q++) {
                rotate_away(m, v, size, p, q);
            }
        }
    }
}

orr_result flex_find_modes(const double *stiffness, int size, double *mode, int *count, orr_error *error)
{
    const ptrdiff_t numbers = (ptrdiff_t)size * size;
    double *m, *v, most = 0.0;
    ORR_ALLOC(m, 2 * (size_t)numbers, "modes of a soft body", error);
    v = m + numbers;
    for (ptrdiff_t i = 0; i < numbers; i++) {
        m[i] = -0.5 * (stiffness[i] + stiffness[i % size * size + i / size]);
    }
    diagonalise(m, v, size);
    for (int i = 0; i < size; i++) {
        most = fmax(most, m[i * size + i]);
    }
    *count = 0;
    for (int i = 0; i < size && *count < size - RIGID; i++) {
        const double value = m[i * size + i];
        for (int k = 0; k < size && value > least_eigenvalue * most; k++) {
            mode[(ptrdiff_t)*count * size + k] = sqrt(value) * v[(ptrdiff_t)i * size + k];
        }
        *count += value > least_eigenvalue * most;
    }
    orr_free(m);
    return ORR_OK;
}
