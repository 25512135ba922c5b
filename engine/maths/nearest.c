#define ORR_SCALAR
#include "engine/maths/nearest.h"

#include "engine/maths/nearest_triangle.h"
#include "engine/maths/vector.h"

static void minus(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] - b[k];
    }
}

double orr_nearest_in_triangle(const double p[3], const double a[3], const double b[3], const double c[3],
                               double w[3])
{
    double corner[9], square = 0.0;
    minus(a, p, corner);
    minus(b, p, corner + 3);
    minus(c, p, corner + 6);
    nearest_in_triangle(corner, w);
    for (int k = 0; k < 3; k++) {
        const double d = w[0] * corner[k] + w[1] * corner[3 + k] + w[2] * corner[6 + k];
        square += d * d;
    }
    return square;
}

int orr_nearest_of_lines(const double a0[3], const double a1[3], const double b0[3], const double b1[3],
                         double *s, double *t)
{
    double a[3], b[3], r[3];
    minus(a1, a0, a);
    minus(b1, b0, b);
    minus(a0, b0, r);
    const double aa = vec3_dot(a, a), bb = vec3_dot(b, b), ab = vec3_dot(a, b);
    const double ar = vec3_dot(a, r), br = vec3_dot(b, r), determinant = aa * bb - ab * ab;
    if (!(determinant > 1e-2 * aa * bb)) { // 6 degrees
        return 0;
    }
    *s = (ab * br - ar * bb) / determinant;
    *t = (aa * br - ab * ar) / determinant;
    return 1;
}
