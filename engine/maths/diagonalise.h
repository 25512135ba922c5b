// Symmetric matrices on the host.
#pragma once

// Eigenvectors of a symmetric 3 x 3 matrix by Jacobi's rotations: columns of v, values on the diagonal of m.
void mat_diagonalise(double m[3][3], double v[3][3]);
