// Three linear equations, on the host.
#pragma once

#include "engine/maths/inline.h"

// Solves a x = b, where the last column of `a` is b and the others are symmetric and positive definite, which
// needs no pivots. `a` is overwritten.
ORR_INLINE void solve3_positive(double a[3][4], double x[3])
{
    for (int i = 0; i < 3; i++) {
        for (int r = 0; r < 3; r++) {
            double factor = r == i ? 0.0 : a[r][i] / a[i][i];
            for (int c = 0; c < 4; c++) {
                a[r][c] -= factor * a[i][c];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        x[i] = a[i][3] / a[i][i];
    }
}
