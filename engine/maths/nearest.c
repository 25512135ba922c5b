#include "engine/maths/nearest.h"

#include "engine/maths/vector.h"

static void minus(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] - b[k];
    }
}

static double weigh(const double p[3], const double *const corner[3], const double weight[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = p[k];
        for (int i = 0; i < 3; i++) {
            d -= weight[i] * corner[i][k];
        }
        square += d * d;
    }
    return square;
}

double orr_nearest_in_triangle(const double p[3], const double a[3], const double b[3], const double c[3],
                               double w[3])
{
    const double *const corner[3] = {a, b, c};
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    minus(b, a, ab);
    minus(c, a, ac);
    minus(p, a, ap);
    minus(p, b, bp);
    minus(p, c, cp);
    const double d1 = vec3_dot(ab, ap), d2 = vec3_dot(ac, ap), d3 = vec3_dot(ab, bp), d4 = vec3_dot(ac, bp);
    const double d5 = vec3_dot(ab, cp), d6 = vec3_dot(ac, cp);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    w[0] = w[1] = w[2] = 0.0;
    if (d1 <= 0.0 && d2 <= 0.0) {
        w[0] = 1.0;
    } else if (d3 >= 0.0 && d4 <= d3) {
        w[1] = 1.0;
    } else if (d6 >= 0.0 && d5 <= d6) {
        w[2] = 1.0;
    } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        w[1] = d1 / (d1 - d3);
        w[0] = 1.0 - w[1];
    } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        w[2] = d2 / (d2 - d6);
        w[0] = 1.0 - w[2];
    } else if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        w[1] = 1.0 - w[2];
    } else {
        w[1] = vb / (va + vb + vc), w[2] = vc / (va + vb + vc);
        w[0] = 1.0 - w[1] - w[2];
    }
    return weigh(p, corner, w);
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
