// Symmetric matrices, on the host and in kernels.
#pragma once

#include "engine/maths/inline.h"

#include <math.h>

ORR_INLINE double mat_off_diagonal(double m[3][3])
{
    return m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2];
}

// Eigenvectors of a symmetric 3 x 3 matrix by Jacobi's rotations: columns of v, values on the diagonal of m.
ORR_INLINE void mat_diagonalise(double m[3][3], double v[3][3])
{
    for (int i = 0; i < 9; i++) {
        v[i / 3][i % 3] = i % 4 == 0;
    }
    double size = 0.0;
    for (int i = 0; i < 9; i++) {
        size += m[i / 3][i % 3] * m[i / 3][i % 3];
    }
    // it doubles its digits with each sweep; 24 are more than enough
    for (int sweep = 0; sweep < 24 && mat_off_diagonal(m) > 1e-34 * size; sweep++) {
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                double angle = 0.5 * atan2(2.0 * m[p][q], m[q][q] - m[p][p]);
                double c = cos(angle), s = sin(angle);
                for (int k = 0; k < 3; k++) {
                    double x = m[k][p], y = m[k][q];
                    m[k][p] = c * x - s * y;
                    m[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = m[p][k], y = m[q][k];
                    m[p][k] = c * x - s * y;
                    m[q][k] = s * x + c * y;
                    x = v[k][p];
                    y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
        }
    }
}
