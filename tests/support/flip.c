#include "tests/support/flip.h"
#include "tests/support/srgb.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define PIXELS_PER_DEGREE 67.0

enum { REACH_MAX = 16 }; // of a filter [px]

static const double pi = 3.14159265358979323846;
static const double white[3] = {0.950428545, 1.0, 1.088900371}; // D65, as XYZ

typedef struct plane_set {
    double *planes[3];
    int width, height;
} plane_set;

static plane_set planes_make(int width, int height)
{
    plane_set p = {.width = width, .height = height};
    for (int k = 0; k < 3; k++) {
        p.planes[k] = calloc((size_t)width * (size_t)height, sizeof *p.planes[k]);
    }
    return p;
}

static void planes_free(plane_set *p)
{
    for (int k = 0; k < 3; k++) {
        free(p->planes[k]);
    }
}

// ---- colour ----

static void xyz_of_linear(const double c[3], double xyz[3])
{
    static const double m[3][3] = {{0.4123908, 0.35758434, 0.18048079},
                                   {0.21263901, 0.71516868, 0.07219232},
                                   {0.01933082, 0.11919478, 0.95053215}};
    for (int i = 0; i < 3; i++) {
        xyz[i] = m[i][0] * c[0] + m[i][1] * c[1] + m[i][2] * c[2];
    }
}

static void linear_of_xyz(const double xyz[3], double c[3])
{
    static const double m[3][3] = {{3.24096994, -1.53738318, -0.49861076},
                                   {-0.96924364, 1.8759675, 0.04155506},
                                   {0.05563008, -0.20397696, 1.05697151}};
    for (int i = 0; i < 3; i++) {
        c[i] = fmin(fmax(m[i][0] * xyz[0] + m[i][1] * xyz[1] + m[i][2] * xyz[2], 0.0), 1.0);
    }
}

static double linear(double display)
{
    return srgb_decode(fmin(fmax(display, 0.0), 1.0));
}

// Luminance and two opponent colours, linear in XYZ.
static void opponents_of_xyz(const double xyz[3], double c[3])
{
    const double x = xyz[0] / white[0], y = xyz[1] / white[1], z = xyz[2] / white[2];
    c[0] = 116.0 * y - 16.0;
    c[1] = 500.0 * (x - y);
    c[2] = 200.0 * (y - z);
}

static void xyz_of_opponents(const double c[3], double xyz[3])
{
    const double y = (c[0] + 16.0) / 116.0;
    xyz[0] = (y + c[1] / 500.0) * white[0];
    xyz[1] = y * white[1];
    xyz[2] = (y - c[2] / 200.0) * white[2];
}

static double lab_curve(double t)
{
    const double edge = 6.0 / 29.0;
    return t > edge * edge * edge ? cbrt(t) : t / (3.0 * edge * edge) + 4.0 / 29.0;
}

// CIELAB, whose colours are weaker where it is dark (Hunt's effect).
static void hunt_of_linear(const double c[3], double lab[3])
{
    double xyz[3], f[3];
    xyz_of_linear(c, xyz);
    for (int i = 0; i < 3; i++) {
        f[i] = lab_curve(xyz[i] / white[i]);
    }
    lab[0] = 116.0 * f[1] - 16.0;
    lab[1] = 0.01 * lab[0] * 500.0 * (f[0] - f[1]);
    lab[2] = 0.01 * lab[0] * 200.0 * (f[1] - f[2]);
}

static double hyab(const double a[3], const double b[3])
{
    return fabs(a[0] - b[0]) + hypot(a[1] - b[1], a[2] - b[2]);
}

// ---- filters ----

typedef struct filter {
    int reach;
    double weights[2 * REACH_MAX + 1][2 * REACH_MAX + 1]; // by row, then by column
} filter;

// What the eye sees of frequencies of one of the opponent colours.
static filter contrast_filter(int channel)
{
    static const double sums[3][4] = {
        {1.0, 0.0047, 0.0, 1e-5}, {1.0, 0.0053, 0.0, 1e-5}, {34.1, 0.04, 13.5, 0.025}};
    const double *s = sums[channel];
    filter f = {.reach = (int)ceil(3.0 * sqrt(0.04 / (2.0 * pi * pi)) * PIXELS_PER_DEGREE)};
    double total = 0.0;
    for (int y = -f.reach; y <= f.reach; y++) {
        for (int x = -f.reach; x <= f.reach; x++) {
            const double z = (double)(x * x + y * y) / (PIXELS_PER_DEGREE * PIXELS_PER_DEGREE);
            const double w = s[0] * sqrt(pi / s[1]) * exp(-pi * pi * z / s[1]) +
                             s[2] * sqrt(pi / s[3]) * exp(-pi * pi * z / s[3]);
            f.weights[y + f.reach][x + f.reach] = w;
            total += w;
        }
    }
    for (int y = 0; y <= 2 * f.reach; y++) {
        for (int x = 0; x <= 2 * f.reach; x++) {
            f.weights[y][x] /= total;
        }
    }
    return f;
}

// The first derivative of a Gaussian along x finds edges, the second one points; each sign adds up to 1.
static filter feature_filter(bool points)
{
    const double sd = 0.5 * 0.082 * PIXELS_PER_DEGREE;
    filter f = {.reach = (int)ceil(3.0 * sd)};
    double sums[2] = {0.0, 0.0};
    for (int y = -f.reach; y <= f.reach; y++) {
        for (int x = -f.reach; x <= f.reach; x++) {
            const double gauss = exp(-(double)(x * x + y * y) / (2.0 * sd * sd));
            const double w = gauss * (points ? (double)(x * x) / (sd * sd) - 1.0 : -(double)x);
            f.weights[y + f.reach][x + f.reach] = w;
            sums[w > 0.0] += fabs(w);
        }
    }
    for (int y = 0; y <= 2 * f.reach; y++) {
        for (int x = 0; x <= 2 * f.reach; x++) {
            f.weights[y][x] /= sums[f.weights[y][x] > 0.0];
        }
    }
    return f;
}

static int within(int i, int size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

// At a pixel; turned: rows for columns. Beyond the border pixels repeat.
static double filtered(const filter *f, const plane_set *p, int plane, int x, int y, bool turned)
{
    double sum = 0.0;
    for (int j = -f->reach; j <= f->reach; j++) {
        const double *row = p->planes[plane] + (ptrdiff_t)within(y + j, p->height) * p->width;
        for (int i = -f->reach; i <= f->reach; i++) {
            const double w =
                turned ? f->weights[i + f->reach][j + f->reach] : f->weights[j + f->reach][i + f->reach];
            sum += w * row[within(x + i, p->width)];
        }
    }
    return sum;
}

// ---- the two errors of a pixel ----

static plane_set opponents_of(const float *rgba, int width, int height)
{
    plane_set p = planes_make(width, height);
    for (int i = 0; i < width * height; i++) {
        double c[3], xyz[3], opponents[3];
        for (int k = 0; k < 3; k++) {
            c[k] = linear((double)rgba[4 * i + k]);
        }
        xyz_of_linear(c, xyz);
        opponents_of_xyz(xyz, opponents);
        for (int k = 0; k < 3; k++) {
            p.planes[k][i] = opponents[k];
        }
    }
    return p;
}

static void seen_colour(const filter filters[3], const plane_set *p, int x, int y, double lab[3])
{
    double opponents[3], xyz[3], c[3];
    for (int k = 0; k < 3; k++) {
        opponents[k] = filtered(&filters[k], p, k, x, y, false);
    }
    xyz_of_opponents(opponents, xyz);
    linear_of_xyz(xyz, c);
    hunt_of_linear(c, lab);
}

static double feature(const filter *f, const plane_set *p, int x, int y)
{
    return hypot(filtered(f, p, 0, x, y, false), filtered(f, p, 0, x, y, true)) / 116.0;
}

// The largest difference of colours, green to blue, is 1; small ones count for more.
static double colour_error(double distance)
{
    static const double green[3] = {0.0, 1.0, 0.0}, blue[3] = {0.0, 0.0, 1.0};
    double a[3], b[3];
    hunt_of_linear(green, a);
    hunt_of_linear(blue, b);
    const double most = pow(hyab(a, b), 0.7), bend = 0.4 * most, d = pow(distance, 0.7);
    return d < bend ? 0.95 * d / bend : 0.95 + 0.05 * (d - bend) / (most - bend);
}

double flip(const float *reference, const float *other, int width, int height, float *errors)
{
    const filter contrast[3] = {contrast_filter(0), contrast_filter(1), contrast_filter(2)};
    const filter features[2] = {feature_filter(false), feature_filter(true)};
    plane_set a = opponents_of(reference, width, height), b = opponents_of(other, width, height);
    double sum = 0.0;
    for (int i = 0; i < width * height; i++) {
        const int x = i % width, y = i / width;
        double from[3], to[3], structure = 0.0;
        seen_colour(contrast, &a, x, y, from);
        seen_colour(contrast, &b, x, y, to);
        for (int k = 0; k < 2; k++) {
            structure =
                fmax(structure, fabs(feature(&features[k], &a, x, y) - feature(&features[k], &b, x, y)));
        }
        const double colour = colour_error(hyab(from, to));
        const double error = pow(colour, 1.0 - sqrt(fmin(structure / sqrt(2.0), 1.0)));
        sum += error;
        if (errors) {
            errors[i] = (float)error;
        }
    }
    planes_free(&a);
    planes_free(&b);
    return sum / ((double)width * height);
}
