// Tests of formula.h, lanes.h, colour_, triangle_, blend_ and splat_formula.h: each machine compared with
// libm and with the same text in double.
#include "engine/core/isa.h"
#include "engine/maths/rng.h"
#include "tests/core/formula_machines.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

enum { COUNT = 10000 };
static const double ulp = 0x1p-24; // the relative error of one rounding to float
static const double half_log2e = 0.72134752044448170;
static const double pi = 3.14159265358979323846;

// rotated by 0.6 rad about (1, 2, 3), and moved
const formula_test_lens formula_lens = {.view =
                                            {
                                                0.837812f,
                                                -0.427769f,
                                                0.339242f,
                                                0.500000f,
                                                0.477673f,
                                                0.875240f,
                                                -0.076051f,
                                                -0.250000f,
                                                -0.264386f,
                                                0.225763f,
                                                0.937620f,
                                                1.000000f,
                                            },
                                        .focal = 900.0f,
                                        .width = 1280.0f,
                                        .height = 720.0f,
                                        .near_plane = 0.2f,
                                        .far_plane = 50.0f,
                                        .slope_x = 0.92f,
                                        .slope_y = 0.52f};

static formula_machine *machine; // the one under test
static double inputs[FORMULA_INPUTS_MAX][COUNT];
static double got[FORMULA_OUTPUTS_MAX][COUNT];
static double expected[FORMULA_OUTPUTS_MAX][COUNT];
static orr_rng rng;

static double uniform(double low, double high)
{
    return (double)(float)(low + (high - low) * (double)orr_rng_uniform(&rng));
}

static void fill(int input, double low, double high)
{
    for (int i = 0; i < COUNT; i++) {
        inputs[input][i] = uniform(low, high);
    }
}

static void run(formula_name name)
{
    machine(name, COUNT, inputs[0], got[0]);
}

static void run_both(formula_name name)
{
    run(name);
    formula_machine_reference(name, COUNT, inputs[0], expected[0]);
}

// fails with the element when |got - expected| passes the bound; NaN passes no bound
static void check(const char *what, int i, double value, double reference, double bound)
{
    if (!(fabs(value - reference) <= bound)) {
        fail_msg("%s, element %d: %.9g, expected %.9g within %.3g", what, i, value, reference, bound);
    }
}

static void exp2_is_right_to_two_roundings(void **state)
{
    (void)state;
    fill(0, -126.0, 127.0);
    inputs[0][0] = -126.0, inputs[0][1] = 127.0, inputs[0][2] = 0.0, inputs[0][3] = 0.5, inputs[0][4] = -0.5;
    run(FORMULA_EXP2);
    for (int i = 0; i < COUNT; i++) {
        double reference = exp2(inputs[0][i]);
        check("exp2_", i, got[0][i], reference, 2.0 * ulp * reference);
    }
    assert_true(got[0][2] == 1.0); // opacity times 2^0 is the opacity
    // below the normal numbers it may flush, but never grow or turn negative
    fill(0, -1e6, -126.0);
    run(FORMULA_EXP2);
    for (int i = 0; i < COUNT; i++) {
        assert_true(got[0][i] >= 0.0 && got[0][i] <= 0x1p-125);
    }
}

static void log2_is_right_to_2e_7(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        inputs[0][i] = (double)(float)exp2(uniform(-125.0, 127.0));
    }
    for (int i = 0; i < COUNT / 2; i++) { // where opacities are
        inputs[0][i] = uniform(1.0 / 255.0, 2.0);
    }
    inputs[0][0] = 1.0, inputs[0][1] = 0x1p-126;
    run(FORMULA_LOG2);
    for (int i = 0; i < COUNT; i++) {
        double reference = log2(inputs[0][i]);
        // the result's own rounding comes on top
        check("log2_", i, got[0][i], reference, 2e-7 + ulp * fabs(reference));
    }
    assert_true(got[0][0] == 0.0);
}

static void exponents_and_whole_powers_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        inputs[0][i] = (double)(float)exp2(uniform(-126.0, 127.0));
    }
    inputs[0][0] = 1.0, inputs[0][1] = 0x1p-126, inputs[0][2] = 2.0;
    inputs[0][3] = (double)nextafterf(2.0f, 0.0f); // whose log2, rounded, is 1
    run(FORMULA_EXPONENT);
    for (int i = 0; i < COUNT; i++) {
        check("exponent_", i, got[0][i], logb(inputs[0][i]), 0.0);
        inputs[0][i] = i % 254 - 126;
    }
    run(FORMULA_EXP2_WHOLE);
    for (int i = 0; i < COUNT; i++) {
        check("exp2_whole_", i, got[0][i], ldexp(1.0, i % 254 - 126), 0.0);
    }
}

static void roots_floors_and_magnitudes_are_exact(void **state)
{
    (void)state;
    fill(0, 0.0, 1e4);
    run(FORMULA_SQRT);
    for (int i = 0; i < COUNT; i++) {
        check("sqrt_", i, got[0][i], (double)sqrtf((float)inputs[0][i]), 0.0);
    }
    fill(0, -1e5, 1e5);
    inputs[0][0] = 0.0, inputs[0][1] = -1.0, inputs[0][2] = -0x1p-20, inputs[0][3] = 2147483520.0;
    inputs[0][4] = -2147483648.0, inputs[0][5] = 0.99999994;
    inputs[0][5] = (double)(float)inputs[0][5];
    run(FORMULA_FLOOR);
    for (int i = 0; i < COUNT; i++) {
        check("floor_", i, got[0][i], floor(inputs[0][i]), 0.0);
    }
    run(FORMULA_ABS);
    for (int i = 0; i < COUNT; i++) {
        check("abs_", i, got[0][i], fabs(inputs[0][i]), 0.0);
    }
}

static void choices_follow_the_rule_for_nan(void **state)
{
    (void)state;
    fill(0, -1.0, 1.0);
    fill(1, -1.0, 1.0);
    inputs[0][0] = NAN;
    inputs[1][1] = NAN;
    inputs[0][2] = INFINITY;
    run(FORMULA_MIN);
    for (int i = 2; i < COUNT; i++) {
        check("min_", i, got[0][i], fmin(inputs[0][i], inputs[1][i]), 0.0);
    }
    check("min_(NaN, b)", 0, got[0][0], inputs[1][0], 0.0);
    assert_true(isnan(got[0][1]));
    run(FORMULA_MAX);
    for (int i = 3; i < COUNT; i++) {
        check("max_", i, got[0][i], fmax(inputs[0][i], inputs[1][i]), 0.0);
    }
    check("max_(NaN, b)", 0, got[0][0], inputs[1][0], 0.0);
    assert_true(isnan(got[0][1]) && isinf(got[0][2]));
    run(FORMULA_SEL);
    for (int i = 2; i < COUNT; i++) {
        double a = inputs[0][i], b = inputs[1][i];
        check("sel", i, got[0][i], a < b ? a : -b, 0.0);
    }
    check("sel of NaN", 0, got[0][0], -inputs[1][0], 0.0); // NaN < b is false
}

static void multiply_add_rounds_at_most_twice(void **state)
{
    (void)state;
    fill(0, -10.0, 10.0);
    fill(1, -10.0, 10.0);
    fill(2, -10.0, 10.0);
    run(FORMULA_FMA);
    for (int i = 0; i < COUNT; i++) {
        double product = inputs[0][i] * inputs[1][i], reference = product + inputs[2][i];
        check("fma_", i, got[0][i], reference, ulp * (fabs(product) + fabs(reference)));
    }
}

// fills inputs 0 .. 6 of FORMULA_AXES: rotations of all directions, scales 0.001 to 0.14 (needles included)
static void fill_ellipsoids(void)
{
    for (int i = 0; i < COUNT; i++) {
        double q[4], length = 0.0;
        do {
            length = 0.0;
            for (int k = 0; k < 4; k++) {
                q[k] = uniform(-1.0, 1.0);
                length += q[k] * q[k];
            }
        } while (length < 0.01 || length > 1.0);
        for (int k = 0; k < 4; k++) {
            inputs[k][i] = (double)(float)(q[k] / sqrt(length));
        }
        for (int k = 4; k < 7; k++) {
            inputs[k][i] = (double)(float)exp(uniform(-7.0, -2.0));
        }
    }
}

static void axes_are_right_to_a_few_roundings(void **state)
{
    (void)state;
    fill_ellipsoids();
    run_both(FORMULA_AXES);
    for (int i = 0; i < COUNT; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double length = 0.0, scale = inputs[4 + axis][i];
            for (int k = 3 * axis; k < 3 * axis + 3; k++) {
                // two products, their sum, its difference from one, the scale
                check("splat_make_axes", i, got[k][i], expected[k][i], 5.0 * ulp * scale);
                length += expected[k][i] * expected[k][i];
            }
            check("length of an axis", i, sqrt(length), scale,
                  4.0 * ulp * scale); // the quaternion's roundings
        }
    }
}

// 10 k splats in and around the picture, at depths from 0.1 (too near) to 20
static void fill_splats(void)
{
    fill_ellipsoids();
    formula_machine_reference(FORMULA_AXES, COUNT, inputs[0], expected[0]);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 9; k++) {
            inputs[3 + k][i] = (double)(float)expected[k][i];
        }
        double z = 0.1 * exp(uniform(0.0, 5.3));
        const double p[3] = {z * uniform(-0.8, 0.8) - (double)formula_lens.view[3],
                             z * uniform(-0.5, 0.5) - (double)formula_lens.view[7],
                             z - (double)formula_lens.view[11]};
        for (int k = 0; k < 3; k++) {
            double sum = 0.0;
            for (int j = 0; j < 3; j++) {
                sum += (double)formula_lens.view[4 * j + k] * p[j];
            }
            inputs[k][i] = (double)(float)sum;
        }
        inputs[12][i] = uniform(0.0, 1.0);
    }
}

// The inverse of the 2D covariance of element i by the textbook: J W Sigma W' J' + 0.3, times log2(e)/2. J:
// at the slope x, y and depth z of its mean.
static void textbook_ellipse(int i, double x, double y, double z, double conic[3])
{
    const double bounded_x = fmin(fmax(x, -(double)formula_lens.slope_x), (double)formula_lens.slope_x);
    const double bounded_y = fmin(fmax(y, -(double)formula_lens.slope_y), (double)formula_lens.slope_y);
    const double jacobian[2][3] = {{900.0 / z, 0.0, -900.0 / z * bounded_x},
                                   {0.0, 900.0 / z, -900.0 / z * bounded_y}};
    double covariance[2][2] = {{0.3, 0.0}, {0.0, 0.3}};
    for (int axis = 0; axis < 3; axis++) {
        double screen[2] = {0.0, 0.0};
        for (int row = 0; row < 3; row++) {
            for (int k = 0; k < 3; k++) {
                double turned = (double)formula_lens.view[4 * row + k] * inputs[3 + 3 * axis + k][i];
                screen[0] += jacobian[0][row] * turned;
                screen[1] += jacobian[1][row] * turned;
            }
        }
        for (int k = 0; k < 4; k++) {
            covariance[k / 2][k % 2] += screen[k / 2] * screen[k % 2];
        }
    }
    double determinant = covariance[0][0] * covariance[1][1] - covariance[0][1] * covariance[1][0];
    conic[0] = half_log2e * covariance[1][1] / determinant;
    conic[1] = half_log2e * -covariance[0][1] / determinant;
    conic[2] = half_log2e * covariance[0][0] / determinant;
}

static void projections_agree_with_double(void **state)
{
    (void)state;
    fill_splats();
    run_both(FORMULA_PROJECT);
    static const char *const names[SCREEN_OUTPUTS] = {"centre.x",    "centre.y",     "sharp_x", "lean",
                                                      "sharp_y",     "log2_opacity", "depth",   "reach",
                                                      "half_size.x", "half_size.y",  "visible"};
    int visible = 0, undecided = 0;
    for (int i = 0; i < COUNT; i++) {
#define WANT(member) expected[SCREEN_##member][i]
        double z = WANT(DEPTH);
        double x = (WANT(CENTRE_X) - 640.0) / 900.0, y = (WANT(CENTRE_Y) - 360.0) / 900.0;
        // the mean in camera space is a sum of terms this large, each rounded
        double reach = fabs(inputs[0][i]) + fabs(inputs[1][i]) + fabs(inputs[2][i]) + 1.0;
        double place_error = ulp * (900.0 / z * reach * (1.0 + fabs(x) + fabs(y)) + 1280.0);
        if (WANT(VISIBLE) != got[SCREEN_VISIBLE][i]) {
            undecided++;
            double left = WANT(CENTRE_X) + WANT(HALF_WIDTH) - 0.5,
                   right = 1279.5 - WANT(CENTRE_X) + WANT(HALF_WIDTH);
            double top = WANT(CENTRE_Y) + WANT(HALF_HEIGHT) - 0.5,
                   low = 719.5 - WANT(CENTRE_Y) + WANT(HALF_HEIGHT);
            double margin = fmin(fmin(fabs(left), fabs(right)), fmin(fabs(top), fabs(low)));
            assert_true(margin < 0.01 || fabs(z - 0.2) < 1e-5); // on the very edge rounding decides
            continue;
        }
        if (WANT(VISIBLE) == 0.0) {
            continue;
        }
        visible++;
        double conic[3];
        textbook_ellipse(i, x, y, z, conic);
        // 1e-9: what inverting a needle costs the textbook in double
        double size_of_conic = 1e-9 * (conic[0] + conic[2]);
        check("xx of the conic", i, WANT(SHARP_X), conic[0], size_of_conic);
        check("xy of the conic", i, WANT(SHARP_X) * WANT(LEAN), conic[1], size_of_conic);
        check("yy of the conic", i, WANT(SHARP_X) * WANT(LEAN) * WANT(LEAN) + WANT(SHARP_Y), conic[2],
              size_of_conic);

        double size2 = 0.0; // of the splat [units^2]
        for (int k = 3; k < 12; k++) {
            size2 += inputs[k][i] * inputs[k][i];
        }
        double size = 900.0 / z * sqrt((1.0 + x * x + y * y) * size2); // bounds its axes on the screen [px]
        double error = size * (ulp + place_error / 900.0);             // of each of them [px]
        double xx = half_log2e * WANT(HALF_WIDTH) * WANT(HALF_WIDTH) / WANT(REACH);
        double yy = half_log2e / WANT(SHARP_Y);
        double determinant = half_log2e * yy / WANT(SHARP_X);
        double x_error = 2.0 * error / sqrt(xx) + ulp; // relative error of xx
        double y_error = 2.0 * error / sqrt(yy) + ulp;
        double log_error = 2e-7 + 8.0 * ulp;
        const double bound[SCREEN_OUTPUTS] = {
            [SCREEN_CENTRE_X] = place_error,
            [SCREEN_CENTRE_Y] = place_error,
            [SCREEN_SHARP_X] = WANT(SHARP_X) * (y_error + 2.0 * error * size / sqrt(determinant)),
            [SCREEN_LEAN] = fabs(WANT(LEAN)) * y_error + error * (sqrt(xx) + sqrt(yy)) / yy,
            [SCREEN_SHARP_Y] = WANT(SHARP_Y) * y_error,
            [SCREEN_LOG2_OPACITY] = log_error,
            [SCREEN_DEPTH] = ulp * reach,
            [SCREEN_REACH] = log_error,
            [SCREEN_HALF_WIDTH] = WANT(HALF_WIDTH) * (0.5 * log_error / WANT(REACH) + x_error),
            [SCREEN_HALF_HEIGHT] = WANT(HALF_HEIGHT) * (0.5 * log_error / WANT(REACH) + y_error)};
        for (int k = 0; k < SCREEN_VISIBLE; k++) {
            // the bounds are of first order and count one rounding per step; 1.9 times them was the worst
            // seen
            check(names[k], i, got[k][i], expected[k][i], 3.0 * bound[k]);
        }
#undef WANT
    }
    assert_true(visible > COUNT / 2);
    assert_true(undecided < COUNT / 1000);
}

// fills three inputs with ellipses of standard deviations from 0.55 to 30 px
static void fill_ellipses(int first)
{
    for (int i = 0; i < COUNT; i++) {
        double angle = uniform(0.0, pi), c = cos(angle), s = sin(angle);
        double a = exp(uniform(-1.2, 6.8)), b = exp(uniform(-1.2, 6.8)); // variances
        double xy = (a - b) * c * s, yy = a * s * s + b * c * c;
        inputs[first][i] = (double)(float)(half_log2e * yy / (a * b));
        inputs[first + 1][i] = (double)(float)(-xy / yy);
        inputs[first + 2][i] = (double)(float)(half_log2e / yy);
    }
}

static void coverage_agrees_with_double(void **state)
{
    (void)state;
    fill(0, -7.9, 0.0);
    fill(1, -30.0, 30.0);
    fill(2, -30.0, 30.0);
    fill_ellipses(3);
    run_both(FORMULA_ALPHA);
    int covered = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = inputs[1][i], y = inputs[2][i];
        double across = x + inputs[4][i] * y;
        double power = inputs[3][i] * across * across + inputs[5][i] * y * y;
        // x and lean y may cancel: the error is that of the terms
        double terms = inputs[3][i] * fabs(across) * (fabs(x) + fabs(inputs[4][i] * y)) + power;
        double alpha = exp2(inputs[0][i] - power);
        // the exponent's error (five roundings of its terms, one of the sum) times ln 2, and exp2_'s own two
        double relative = 0.7 * ulp * (5.0 * terms + fabs(inputs[0][i] - power)) + 2.0 * ulp;
        check("splat_alpha's reference", i, expected[0][i], alpha < 1.0 / 255.0 ? 0.0 : fmin(alpha, 0.99),
              1e-13);
        if (fabs(alpha * 255.0 - 1.0) > relative) { // there rounding decides between 1/255 and nothing
            check("splat_alpha", i, got[0][i], expected[0][i], relative * alpha);
        }
        covered += got[0][i] > 0.0;
    }
    assert_true(covered > COUNT / 20); // the comparison is not of zeros with zeros
}

static void bands_reach_from_end_to_end_of_the_ellipse(void **state)
{
    (void)state;
    fill_ellipses(0);
    fill(3, 0.01, 8.0);
    for (int i = 0; i < COUNT; i++) {
        double sharp_x = inputs[0][i], lean = inputs[1][i], sharp_y = inputs[2][i], reach = inputs[3][i];
        inputs[4][i] = (double)(float)sqrt(reach * (1.0 / sharp_x + lean * lean / sharp_y));
        inputs[5][i] = (double)(float)sqrt(reach / sharp_y);
        inputs[6][i] = uniform(-1.2, 1.1) * inputs[5][i];
        inputs[6][i] = (double)(float)inputs[6][i];
        inputs[7][i] = (double)(float)(inputs[6][i] + 16.0);
    }
    run_both(FORMULA_BAND);
    int empty = 0;
    for (int i = 0; i < COUNT; i++) {
        double lean = inputs[1][i], sharp_y = inputs[2][i], half_width = inputs[4][i],
               half_height = inputs[5][i];
        double low = fmax(inputs[6][i], -half_height), high = fmin(inputs[7][i], half_height);
        if (low > high) {
            empty++;
            assert_true(got[0][i] > got[1][i]);
            continue;
        }
        // the ends by looking at 400 rows of the band
        double left = INFINITY, right = -INFINITY;
        for (int row = 0; row <= 400; row++) {
            double y = low + (high - low) * row / 400.0;
            double half = sqrt(fmax(0.0, inputs[3][i] - sharp_y * y * y) / inputs[0][i]);
            left = fmin(left, -lean * y - half);
            right = fmax(right, -lean * y + half);
        }
        // the rows miss an end by at most the bow of the ellipse between two rows next to its tip
        check("left end", i, expected[0][i], left, 0.01 * half_width);
        check("right end", i, expected[1][i], right, 0.01 * half_width);
        // near the ellipse's top and bottom the root magnifies a rounding of what is under it
        double magnified = sqrt(ulp * inputs[3][i] / inputs[0][i]) + 8.0 * ulp * half_width;
        check("left end", i, got[0][i], expected[0][i], 4.0 * magnified);
        check("right end", i, got[1][i], expected[1][i], 4.0 * magnified);
    }
    assert_true(empty > COUNT / 100 && empty < COUNT / 2);
}

// Real spherical harmonics by their definition, with the Condon-Shortley phase: l in 0 .. 3, m in -l .. l.
static double harmonic(int l, int m, double x, double y, double z)
{
    int order = abs(m);
    double side = sqrt(fmax(0.0, 1.0 - z * z)), angle = atan2(y, x);
    double below = 0.0, value = 1.0; // P(order, order), then upwards in l
    for (int k = 1; k <= order; k++) {
        value *= -(2.0 * k - 1.0) * side;
    }
    for (int k = order + 1; k <= l; k++) {
        double above = ((2.0 * k - 1.0) * z * value - (k + order - 1.0) * below) / (k - order);
        below = value;
        value = above;
    }
    double ratio = 1.0;
    for (int k = l - order + 1; k <= l + order; k++) {
        ratio *= k;
    }
    double scale = sqrt((2.0 * l + 1.0) / (4.0 * pi) / ratio) * (m ? sqrt(2.0) : 1.0);
    return scale * value * (m < 0 ? sin(order * angle) : cos(order * angle));
}

static void harmonics_follow_their_definition(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        double z = uniform(-1.0, 1.0), angle = uniform(0.0, 2.0 * pi), side = sqrt(1.0 - z * z);
        inputs[0][i] = (double)(float)(side * cos(angle));
        inputs[1][i] = (double)(float)(side * sin(angle));
        inputs[2][i] = z;
    }
    run(FORMULA_HARMONICS);
    for (int i = 0; i < COUNT; i++) {
        int k = 0;
        for (int l = 0; l <= 3; l++) {
            for (int m = -l; m <= l; m++, k++) {
                // five roundings of terms of at most 3, and the direction's own, which the definition
                // normalises
                check("harmonic", i, got[k][i], harmonic(l, m, inputs[0][i], inputs[1][i], inputs[2][i]),
                      1e-6);
            }
        }
    }
}

static void harmonics_are_orthonormal(void **state)
{
    (void)state;
    // Gauss-Legendre in z (4 points: exact to degree 7) by 8 equal angles: exact for products of degree 3 x 3
    static const double node[4] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                   0.8611363115940526};
    static const double weight[4] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                                     0.3478548451374538};
    enum { POINTS = 32 };
    double direction[3][POINTS], value[16][POINTS];
    for (int i = 0; i < POINTS; i++) {
        double z = node[i / 8], angle = (i % 8 + 0.3) * pi / 4.0;
        direction[0][i] = sqrt(1.0 - z * z) * cos(angle);
        direction[1][i] = sqrt(1.0 - z * z) * sin(angle);
        direction[2][i] = z;
    }
    formula_machine_reference(FORMULA_HARMONICS, POINTS, direction[0], value[0]);
    for (int a = 0; a < 16; a++) {
        for (int b = 0; b <= a; b++) {
            double integral = 0.0;
            for (int i = 0; i < POINTS; i++) {
                integral += weight[i / 8] * (pi / 4.0) * value[a][i] * value[b][i];
            }
            check("integral", 16 * a + b, integral, a == b, 1e-13);
        }
    }
}

typedef struct lane_build {
    formula_machine *run;
    lanes_check *check;
} lane_build;

#define BUILD(isa)                                                                                           \
    {                                                                                                        \
        formula_machine_##isa, lanes_check_##isa                                                             \
    }
static const lane_build builds[ORR_ISA_COUNT] = ORR_ISA_TABLE(BUILD);
static orr_isa isa; // the level under test

static void transfer_functions_are_those_of_srgb(void **state)
{
    (void)state;
    fill(0, 0.0, 1.5);
    inputs[0][0] = 0.0, inputs[0][1] = 1.0, inputs[0][2] = -0.25, inputs[0][3] = 0.002, inputs[0][4] = 0.03;
    run(FORMULA_DECODE);
    for (int i = 0; i < COUNT; i++) {
        double x = inputs[0][i], linear = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
        check("srgb_to_linear", i, got[0][i], linear, 2e-6 * fabs(linear));
    }
    run(FORMULA_ENCODE);
    for (int i = 0; i < COUNT; i++) {
        double x = inputs[0][i], encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
        check("linear_to_srgb", i, got[0][i], encoded, 1e-6 * fmax(fabs(encoded), 0.1));
    }
}

// One splat over a pixel: the pixel stops before the splat that would leave a transmittance of 1e-4 or less,
// and keeps its own, negated.
static void a_pixel_stops_before_the_splat_that_closes_it(void **state)
{
    (void)state;
    fill(0, -1.0, 1.0);
    fill(1, 0.0, 0.99);
    fill(2, 0.0, 2.0);
    fill(3, 0.1, 100.0);
    for (int i = 0; i < 100; i++) { // around the threshold
        inputs[0][i] = (double)(float)(5e-4 + 1e-5 * i), inputs[1][i] = (double)0.9f;
    }
    run(FORMULA_BLEND);
    int stopped = 0;
    for (int i = 0; i < COUNT; i++) {
        double before = inputs[0][i], alpha = inputs[1][i], after = before * (1.0 - alpha);
        if (fabs(after - 1e-4) < 1e-9) {
            continue; // rounding decides
        }
        bool stops = after <= 1e-4;
        double weight = stops ? 0.0 : alpha * before;
        stopped += stops && before > 0.0;
        check("transmittance", i, got[0][i], stops ? -fabs(before) : after, 2.0 * ulp);
        check("colour", i, got[1][i], weight * inputs[2][i], 4.0 * ulp * weight * inputs[2][i]);
        check("depth", i, got[2][i], weight * inputs[3][i], 4.0 * ulp * weight * inputs[3][i]);
    }
    assert_true(stopped > 10 && stopped < COUNT / 2);
}

// Rays through a known point of a triangle's plane.
static void rays_meet_triangles_where_they_are_aimed(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        double u = uniform(-0.5, 1.5), v = uniform(-0.5, 1.5), distance = uniform(-3.0, 3.0), edge[2][3];
        for (int k = 0; k < 3; k++) {
            inputs[6 + k][i] = edge[0][k] = (double)(float)((k == 0) + 0.3 * uniform(-1.0, 1.0));
            inputs[9 + k][i] = edge[1][k] = (double)(float)((k == 1) + 0.3 * uniform(-1.0, 1.0));
            inputs[3 + k][i] = (double)(float)((k == 2) + 0.3 * uniform(-1.0, 1.0));
        }
        for (int k = 0; k < 3; k++) {
            double at = u * edge[0][k] + v * edge[1][k];
            inputs[k][i] = (double)(float)(at - distance * inputs[3 + k][i]);
        }
        expected[0][i] = distance, expected[1][i] = u, expected[2][i] = v;
    }
    run(FORMULA_TRIANGLE);
    int inside = 0;
    for (int i = 0; i < COUNT; i++) {
        double u = expected[1][i], v = expected[2][i], rim = fmin(fmin(fabs(u), fabs(v)), fabs(1.0 - u - v));
        check("distance", i, got[0][i], expected[0][i], 1e-5);
        check("u", i, got[1][i], u, 1e-5);
        check("v", i, got[2][i], v, 1e-5);
        if (rim > 1e-5) {
            assert_int_equal(got[3][i] != 0.0, u > 0.0 && v > 0.0 && u + v < 1.0);
        }
        inside += got[3][i] != 0.0;
    }
    assert_true(inside > COUNT / 20 && inside < COUNT / 2);
    for (int i = 0; i < COUNT; i++) { // along the plane: never
        for (int k = 0; k < 3; k++) {
            inputs[3 + k][i] = inputs[6 + k][i];
        }
    }
    run(FORMULA_TRIANGLE);
    for (int i = 0; i < COUNT; i++) {
        assert_true(got[3][i] == 0.0 ||
                    fabs(got[0][i]) > 1e3); // the determinant's rounding may exceed the bound
    }
}

static void lanes_load_gather_and_mask(void **state)
{
    (void)state;
    const char *wrong = builds[isa].check();
    if (wrong) {
        fail_msg("wrong: %s", wrong);
    }
}

static int random_numbers_start_anew(void **state)
{
    (void)state;
    rng = (orr_rng){.seed = 1};
    return 0;
}

int main(void)
{
#define FORMULA_TEST(f) cmocka_unit_test_setup(f, random_numbers_start_anew)
    const struct CMUnitTest tests[] = {
        FORMULA_TEST(exp2_is_right_to_two_roundings),
        FORMULA_TEST(log2_is_right_to_2e_7),
        FORMULA_TEST(exponents_and_whole_powers_are_exact),
        FORMULA_TEST(roots_floors_and_magnitudes_are_exact),
        FORMULA_TEST(choices_follow_the_rule_for_nan),
        FORMULA_TEST(multiply_add_rounds_at_most_twice),
        FORMULA_TEST(axes_are_right_to_a_few_roundings),
        FORMULA_TEST(projections_agree_with_double),
        FORMULA_TEST(coverage_agrees_with_double),
        FORMULA_TEST(bands_reach_from_end_to_end_of_the_ellipse),
        FORMULA_TEST(harmonics_follow_their_definition),
        FORMULA_TEST(transfer_functions_are_those_of_srgb),
        FORMULA_TEST(a_pixel_stops_before_the_splat_that_closes_it),
        FORMULA_TEST(rays_meet_triangles_where_they_are_aimed),
    };
    const struct CMUnitTest once[] = {
        FORMULA_TEST(harmonics_are_orthonormal),
        FORMULA_TEST(lanes_load_gather_and_mask),
    };
    orr_error error;
    if (orr_isa_choose(&isa, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 1;
    }
    machine = builds[isa].run;
    int failed = cmocka_run_group_tests_name("formulas in lanes", tests, NULL, NULL);
    machine = formula_machine_scalar; // what CUDA and GLSL compile
    failed += cmocka_run_group_tests_name("formulas in single floats", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("formulas and lanes", once, NULL, NULL);
    return failed;
}
