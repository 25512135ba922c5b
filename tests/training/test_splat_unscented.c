// A splat through the lens of a photo (splat_unscented_formula.h), in double: the seven points' weights as
// they are written, a pinhole's projection, and the Gaussian itself, sampled densely. And the lens's
// derivatives.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "render/splat/splat_unscented_formula.h"
#include "tests/support/support.h"

#include <math.h>

enum { PERSPECTIVE, FISHEYE };

static const splat_photo_lens photos[2] = {[PERSPECTIVE] = {.lens = {.focal_x = 400.0,
                                                                     .focal_y = 380.0,
                                                                     .centre_x = 310.0,
                                                                     .centre_y = 250.0,
                                                                     .k1 = -0.35,
                                                                     .k2 = 0.2,
                                                                     .k3 = -0.05,
                                                                     .k4 = 0.01,
                                                                     .p1 = 0.01,
                                                                     .p2 = -0.02},
                                                            .reach = 3.0},
                                           [FISHEYE] = {.lens = {.focal_x = 400.0,
                                                                 .focal_y = 380.0,
                                                                 .centre_x = 310.0,
                                                                 .centre_y = 250.0,
                                                                 .k1 = -0.05,
                                                                 .k2 = 0.02,
                                                                 .k3 = -0.01,
                                                                 .k4 = 0.001,
                                                                 .fisheye_limit = 2.0}}};

static splat_lens camera_of(photo_lens lens)
{
    return (splat_lens){
        .view = {.xx = 0.96, .xz = 0.28, .xw = 0.1, .yy = 1.0, .zx = -0.28, .zz = 0.96, .zw = 2.0},
        .focal_x = lens.focal_x,
        .focal_y = lens.focal_y,
        .centre_x = lens.centre_x,
        .centre_y = lens.centre_y,
        .near_plane = 0.01,
        .far_plane = 100.0,
        .slope_x_low = -10.0,
        .slope_x_high = 10.0,
        .slope_y_low = -10.0,
        .slope_y_high = 10.0,
        .width = 640.0,
        .height = 480.0};
}

static const real3 mean = {0.7, -0.5, 0.2};

// size: of the longest axis, of a splat 2 units away
static splat_axes axes_of(double size)
{
    const double length = sqrt(0.2 * 0.2 + 0.4 * 0.4 + 0.1 * 0.1 + 0.8 * 0.8);
    return splat_make_axes(make_real4(0.2 / length, 0.4 / length, -0.1 / length, 0.8 / length),
                           make_real3(size, 0.5 * size, 0.25 * size));
}

typedef struct moments {
    double mean[2], xx, xy, yy;
} moments;

static moments unscented(splat_photo_lens photo, double size)
{
    splat_sigma s = splat_sigma_of(camera_of(photo.lens), photo, mean, axes_of(size));
    splat_covariance c = splat_sigma_spread(s);
    assert_true(s.inside);
    return (moments){{s.centre.x, s.centre.y}, c.xx - SPLAT_BLUR, c.xy, c.yy - SPLAT_BLUR};
}

static double largest(moments a, moments b)
{
    const double differences[] = {a.mean[0] - b.mean[0], a.mean[1] - b.mean[1], a.xx - b.xx, a.xy - b.xy,
                                  a.yy - b.yy};
    double most = 0.0;
    for (int i = 0; i < 5; i++) {
        most = fmax(most, fabs(differences[i]));
    }
    return most;
}

// Where the lens shows the splat's point `sides` standard deviations along its axes.
static real2 pixel_of(photo_lens lens, splat_axes axes, const double sides[3])
{
    real3 at =
        add_scaled3(add_scaled3(add_scaled3(mean, axes.a, sides[0]), axes.b, sides[1]), axes.c, sides[2]);
    return photo_pixel(lens, affine_point(camera_of(lens).view, at));
}

static void add(moments *m, real2 pixel, const double *about, double weight)
{
    m->mean[0] += about ? 0.0 : weight * pixel.x;
    m->mean[1] += about ? 0.0 : weight * pixel.y;
    if (about) {
        const double x = pixel.x - about[0], y = pixel.y - about[1];
        m->xx += weight * x * x;
        m->xy += weight * x * y;
        m->yy += weight * y * y;
    }
}

// ---- weights ----

// Points and weights of the transform as Julier and Uhlmann have them, of three dimensions: a = 1, kappa = 0,
// beta = 2.
static moments weighted(photo_lens lens, double size)
{
    const splat_axes axes = axes_of(size);
    moments m = {0};
    for (int pass = 0; pass < 2; pass++) {
        const double *about = pass ? m.mean : NULL;
        const double middle[3] = {0.0, 0.0, 0.0};
        add(&m, pixel_of(lens, axes, middle), about, pass ? 2.0 : 0.0);
        for (int k = 0; k < 6; k++) {
            double sides[3] = {0.0, 0.0, 0.0};
            sides[k / 2] = k % 2 ? -sqrt(3.0) : sqrt(3.0);
            add(&m, pixel_of(lens, axes, sides), about, 1.0 / 6.0);
        }
    }
    return m;
}

// The formula sums the same up in another order: only the rounding of doubles differs.
static void test_weights(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const moments found = unscented(photos[i], 0.3), expected = weighted(photos[i].lens, 0.3);
        assert_true(expected.xx > 100.0 && expected.yy > 100.0);
        if (!(largest(found, expected) < 1e-9 * expected.xx)) {
            fail_msg(
                "lens %d: mean %.12g %.12g, covariance %.12g %.12g %.12g: expected %.12g %.12g, %.12g %.12g "
                "%.12g",
                i, found.mean[0], found.mean[1], found.xx, found.xy, found.yy, expected.mean[0],
                expected.mean[1], expected.xx, expected.xy, expected.yy);
        }
    }
}

// The determinant before the blur is a sum of squares; xx yy - xy^2 has the same value.
static void test_determinant(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const moments m = unscented(photos[i], 0.4);
        splat_sigma s = splat_sigma_of(camera_of(photos[i].lens), photos[i], mean, axes_of(0.4));
        const double expected = m.xx * m.yy - m.xy * m.xy, found = splat_sigma_spread(s).sharp;
        if (!(fabs(found - expected) < 1e-9 * expected)) {
            fail_msg("lens %d: determinant %.12g: expected %.12g", i, found, expected);
        }
    }
}

// ---- a pinhole ----

static moments pinhole(double size)
{
    const splat_lens camera = camera_of(photos[PERSPECTIVE].lens);
    splat_screen s = splat_project(camera, mean, axes_of(size), 1.0);
    splat_flat f = splat_flatten(camera, mean, axes_of(size));
    splat_covariance c = splat_spread(f.u, f.v);
    return (moments){{s.centre.x, s.centre.y}, c.xx - SPLAT_BLUR, c.xy, c.yy - SPLAT_BLUR};
}

// Without distortion the transform is the classic projection but for terms of second order in the splat's
// size over its distance: half the size leaves a quarter of the difference of the means. Of the covariance,
// itself of second order, the differences are of fourth: a sixteenth.
static void test_no_distortion(void **state)
{
    (void)state;
    splat_photo_lens plain = {.lens = photos[PERSPECTIVE].lens, .reach = 10.0};
    plain.lens.k1 = plain.lens.k2 = plain.lens.k3 = plain.lens.k4 = plain.lens.p1 = plain.lens.p2 = 0.0;
    double means[3], spreads[3];
    for (int i = 0; i < 3; i++) {
        const double size = 0.04 / (1 << i);
        const moments a = unscented(plain, size), b = pinhole(size);
        means[i] = hypot(a.mean[0] - b.mean[0], a.mean[1] - b.mean[1]);
        spreads[i] = hypot(a.xx - b.xx, a.yy - b.yy);
    }
    for (int i = 0; i < 2; i++) {
        const double by_mean = means[i] / means[i + 1], by_spread = spreads[i] / spreads[i + 1];
        if (!(fabs(by_mean - 4.0) < 0.05 && fabs(by_spread - 16.0) < 0.3)) {
            fail_msg("half the size: differences of means %g, of covariances %g: expected a 4th and a 16th",
                     by_mean, by_spread);
        }
    }
    // 2 units away, of 0.01 units and 400 px per unit at distance 1: 2 px wide
    const moments a = unscented(plain, 0.01), b = pinhole(0.01);
    assert_true(b.xx > 1.5 && means[2] < 0.01 && fabs(a.xx - b.xx) < 1e-3 * b.xx);
}

// ---- the Gaussian itself ----

// Sums over a grid of points 0.25 standard deviations apart, up to 6: of a smooth function of a Gaussian they
// are exact to many digits.
static moments sampled(photo_lens lens, double size)
{
    enum { SIDE = 24 };
    const double step = 0.25;
    const splat_axes axes = axes_of(size);
    moments m = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = -SIDE; i <= SIDE; i++) {
            for (int j = -SIDE; j <= SIDE; j++) {
                for (int k = -SIDE; k <= SIDE; k++) {
                    const double sides[3] = {step * i, step * j, step * k};
                    const double squared = sides[0] * sides[0] + sides[1] * sides[1] + sides[2] * sides[2];
                    const double weight = pow(step / sqrt(8.0 * atan(1.0)), 3.0) * exp(-0.5 * squared);
                    add(&m, pixel_of(lens, axes, sides), pass ? m.mean : NULL, weight);
                }
            }
        }
    }
    return m;
}

// The transform has the mean to fourth order in the size, where the lens's derivative at the mean, the limit
// of small splats, has it to second. The covariance's relative error is of second order with both.
static void test_sampled(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double size = 0.1, small = 1e-4;
        const moments truth = sampled(photos[i].lens, size), found = unscented(photos[i], size);
        moments linear = unscented(photos[i], small);
        const double ratio = (size / small) * (size / small);
        const double off = hypot(found.mean[0] - truth.mean[0], found.mean[1] - truth.mean[1]);
        const double linear_off = hypot(linear.mean[0] - truth.mean[0], linear.mean[1] - truth.mean[1]);
        const double spread = sqrt(truth.xx);
        print_message(
            "lens %d: mean %.4f px off, of the derivative %.4f, standard deviation %.2f px; variances "
            "%.5f %.5f of the true ones, of the derivative %.5f %.5f\n",
            i, off, linear_off, spread, found.xx / truth.xx, found.yy / truth.yy,
            ratio * linear.xx / truth.xx, ratio * linear.yy / truth.yy);
        assert_true(off < 0.02 * linear_off);
        assert_true(fabs(found.xx - truth.xx) < 0.01 * truth.xx &&
                    fabs(found.yy - truth.yy) < 0.01 * truth.yy);
        assert_true(fabs(found.xy - truth.xy) < 0.01 * spread * sqrt(truth.yy));
    }
}

// ---- what is seen ----

static splat_screen seen(splat_photo_lens photo, real3 at, double size)
{
    splat_lens camera = camera_of(photo.lens);
    camera.view = (affine){.xx = 1.0, .yy = 1.0, .zz = 1.0};
    return splat_project_unscented(camera, photo, at, axes_of(size), 0.9);
}

// A perspective lens shows nothing of a splat whose points are all beyond its reach or behind it; a fisheye
// sees behind itself, and by the distance.
static void test_seen(void **state)
{
    (void)state;
    splat_photo_lens near_reach = photos[PERSPECTIVE];
    near_reach.reach = 0.5;
    assert_true(seen(near_reach, make_real3(0.0, 0.0, 2.0), 0.1).visible);
    assert_true(seen(photos[PERSPECTIVE], make_real3(1.2, 0.0, 2.0), 0.1).visible);
    assert_false(seen(near_reach, make_real3(1.2, 0.0, 2.0), 0.1).visible);
    assert_true(seen(near_reach, make_real3(1.2, 0.0, 2.0), 0.4).visible); // one of its points is within
    assert_false(seen(photos[PERSPECTIVE], make_real3(0.0, 0.0, -2.0), 0.1).visible);
    splat_photo_lens wide = photos[FISHEYE];
    wide.lens.focal_x = wide.lens.focal_y = 100.0;
    const splat_screen behind = seen(wide, make_real3(2.0, 0.0, -0.5), 0.1);
    assert_true(behind.visible && fabs(behind.depth - sqrt(4.25)) < 1e-12);
    assert_false(seen(wide, make_real3(0.1, 0.0, -2.0), 0.05).visible); // beyond its limit
}

// From the reach on the picture goes on in proportion: without a jump, and a polynomial that falls there does
// not fold it back.
static void test_beyond_reach(void **state)
{
    (void)state;
    splat_photo_lens folds = {.lens = {.focal_x = 1.0, .focal_y = 1.0, .k1 = -0.5}, .reach = 0.8};
    const double end = 0.8 * (1.0 - 0.5 * 0.64);
    const real2 before = splat_point_of(folds, make_real3(0.8 - 1e-9, 0.0, 1.0), 0.1).at;
    const real2 after = splat_point_of(folds, make_real3(0.8 + 1e-9, 0.0, 1.0), 0.1).at;
    const real2 far_out = splat_point_of(folds, make_real3(0.0, 8.0, 1.0), 0.1).at;
    assert_true(fabs(before.x - end) < 1e-8 && fabs(after.x - end) < 1e-8);
    assert_true(far_out.x == 0.0 && fabs(far_out.y - 10.0 * end) < 1e-12);
}

// ---- the lens ----

static void test_lens_derivatives(void **state)
{
    (void)state;
    const double h = 1e-6;
    const real2 p = make_real2(0.5, -0.3), by = make_real2(0.7, -1.1);
    lens_derivative d = lens_distort_slope(photos[PERSPECTIVE].lens, p);
    real2 more = lens_distort(photos[PERSPECTIVE].lens, make_real2(p.x + h, p.y));
    real2 less = lens_distort(photos[PERSPECTIVE].lens, make_real2(p.x - h, p.y));
    assert_true(fabs((more.x - less.x) / (2.0 * h) - d.xx) < 1e-9 &&
                fabs((more.y - less.y) / (2.0 * h) - d.xy) < 1e-9);
    more = lens_distort(photos[PERSPECTIVE].lens, make_real2(p.x, p.y + h));
    less = lens_distort(photos[PERSPECTIVE].lens, make_real2(p.x, p.y - h));
    assert_true(fabs((more.x - less.x) / (2.0 * h) - d.xy) < 1e-9 &&
                fabs((more.y - less.y) / (2.0 * h) - d.yy) < 1e-9);
    // ahead, on the axis, beside, behind, and beyond the limit
    const double directions[5][3] = {
        {0.5, -0.3, 1.2}, {0.0, 0.0, 2.0}, {1.5, 0.2, 0.0}, {0.8, 0.9, -0.3}, {0.1, 0.2, -1.0}};
    for (int i = 0; i < 5; i++) {
        const double *at = directions[i];
        real3 found = fisheye_point_backward(photos[FISHEYE].lens, make_real3(at[0], at[1], at[2]), by);
        const double members[3] = {found.x, found.y, found.z};
        for (int k = 0; k < 3; k++) {
            const double step[3] = {k == 0 ? h : 0.0, k == 1 ? h : 0.0, k == 2 ? h : 0.0};
            more = fisheye_point(photos[FISHEYE].lens,
                                 make_real3(at[0] + step[0], at[1] + step[1], at[2] + step[2]));
            less = fisheye_point(photos[FISHEYE].lens,
                                 make_real3(at[0] - step[0], at[1] - step[1], at[2] - step[2]));
            const double expected = (by.x * (more.x - less.x) + by.y * (more.y - less.y)) / (2.0 * h);
            if (!(fabs(members[k] - expected) < 1e-7)) {
                fail_msg("direction %d, member %d: %.9g: expected %.9g", i, k, members[k], expected);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_determinant),
                                       cmocka_unit_test(test_no_distortion),
                                       cmocka_unit_test(test_sampled),
                                       cmocka_unit_test(test_seen),
                                       cmocka_unit_test(test_beyond_reach),
                                       cmocka_unit_test(test_lens_derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
