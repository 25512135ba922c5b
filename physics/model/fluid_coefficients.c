// Coefficients of geoms that the medium treats as ellipsoids: the mass and inertia of the medium that moves
// with them (Lamb, Hydrodynamics, 1932, section 114; MuJoCo's documentation, "Fluid forces").
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/model/compile.h"
#include "physics/model/half_sizes.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846, small = 1e-15;

// The integral of a b c / sqrt((a^2 + l)^3 (b^2 + l) (c^2 + l)) over l from 0 on, by 15 points of Gauss and
// Kronrod after l = scale x^3 / (1 - x)^2. Eight digits of the points and weights: the integral is no better,
// and MuJoCo has the same.
static double added_mass(double a, double b, double c)
{
    static const double points[8] = {0.00427231, 0.02544604, 0.06756779, 0.12923441,
                                     0.20695638, 0.29707742, 0.39610752, 0.5};
    static const double weights[8] = {0.01146766, 0.03154605, 0.05239501, 0.07032663,
                                      0.08450236, 0.09517529, 0.10221647, 0.10474107};
    double scale = pow(a * a * a * b * c, 0.4), sum = 0.0;
    for (int i = 0; i < 15; i++) {
        double x = i < 8 ? points[i] : 1.0 - points[14 - i], weight = weights[i < 8 ? i : 14 - i];
        double rest = 1.0 - x, l = scale * x * x * x / (rest * rest);
        double slope = scale * x * x * (3.0 - x) / (rest * rest * rest);
        double over_a = 1.0 + l / (a * a), over_b = 1.0 + l / (b * b), over_c = 1.0 + l / (c * c);
        sum += weight * slope / (over_a * sqrt(over_a * over_b * over_c));
    }
    return sum / (a * a);
}

void fluid_coefficients(int type, const double size[3], const double coefficients[5],
                        double fluid[ORR_NFLUID])
{
    double s[3], kappa[3];
    primitive_half_sizes(type, size, s);
    double volume = 4.0 / 3.0 * pi * s[0] * s[1] * s[2];
    fluid[0] = 1.0;
    memcpy(fluid + 1, coefficients, 5 * sizeof *fluid);
    for (int k = 0; k < 3; k++) {
        kappa[k] = added_mass(s[k], s[(k + 1) % 3], s[(k + 2) % 3]);
        fluid[6 + k] = volume * kappa[k] / fmax(small, 2.0 - kappa[k]);
    }
    for (int k = 0; k < 3; k++) {
        double y = s[(k + 1) % 3] * s[(k + 1) % 3], z = s[(k + 2) % 3] * s[(k + 2) % 3];
        double ky = kappa[(k + 1) % 3], kz = kappa[(k + 2) % 3];
        double below = fabs(2.0 * (y - z) + (y + z) * (ky - kz));
        fluid[9 + k] = volume / 5.0 * (y - z) * (y - z) * fabs(kz - ky) / fmax(small, below);
    }
}
