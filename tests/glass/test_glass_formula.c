// Tests of the formulas of surfaces that light goes through, in doubles: Fresnel's and Snell's laws against
// their textbook forms, rough surfaces against Walter's and by sums over all directions.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "render/cpu/rays/rays_formula.h"
#include "render/glass/glass_formula.h"
#include "render/glass/glass_sky_formula.h"
#include "tests/support/support.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const real3 up = {0.0, 0.0, 1.0};

// A direction by its angle to z, and around it.
static real3 direction(double angle, double around)
{
    return make_real3(sin(angle) * cos(around), sin(angle) * sin(around), cos(angle));
}

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g, expected %.9g", value, expected);
    }
}

// The mean of both polarisations, by the angles on both sides.
static double textbook_fresnel(double angle, double eta)
{
    const double beyond = asin(sin(angle) / eta), across = sin(angle - beyond) / sin(angle + beyond),
                 along = tan(angle - beyond) / tan(angle + beyond);
    return 0.5 * (across * across + along * along);
}

static void surfaces_reflect_by_fresnels_law(void **state)
{
    (void)state;
    static const double etas[4] = {1.5, 1.0 / 1.5, 1.33, 2.4};
    for (int i = 0; i < 4; i++) {
        const double eta = etas[i], most = eta < 1.0 ? asin(eta) : 0.5 * pi;
        assert_close(glass_fresnel(1.0, eta), (eta - 1.0) * (eta - 1.0) / ((eta + 1.0) * (eta + 1.0)), 1e-12);
        for (int k = 1; k < 40; k++) {
            const double angle = most * k / 40.0, beyond = asin(sin(angle) / eta);
            assert_close(glass_fresnel(cos(angle), eta), textbook_fresnel(angle, eta), 1e-9);
            // as much from the other side, along the same path
            assert_close(glass_fresnel(cos(angle), eta), glass_fresnel(cos(beyond), 1.0 / eta), 1e-9);
        }
        if (eta < 1.0) { // all of it beyond the critical angle
            assert_true(glass_fresnel(cos(most + 1e-3), eta) == 1.0);
            assert_true(glass_fresnel(cos(most - 1e-3), eta) < 0.95);
        }
    }
    assert_true(glass_fresnel(0.5, 1.0) == 0.0); // nothing where both sides are alike
}

static void light_is_refracted_by_snells_law(void **state)
{
    (void)state;
    static const double etas[3] = {1.5, 1.0 / 1.5, 2.4};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 20; k++) {
            const double angle = (etas[i] < 1.0 ? asin(etas[i]) : 0.5 * pi) * k / 20.0, around = 0.3 * k;
            const real3 eye = direction(angle, around), beyond = glass_refract(up, eye, etas[i]);
            const real3 expected = direction(pi - asin(sin(angle) / etas[i]), around + pi);
            assert_close(beyond.x, expected.x, 1e-9);
            assert_close(beyond.y, expected.y, 1e-9);
            assert_close(beyond.z, expected.z, 1e-9);
        }
    }
    const real3 left = glass_leave(direction(1.8, 0.0), up); // along the surface, on its other side
    assert_true(left.z > 0.0 && left.z < 2e-3 && left.x > 0.99);
}

static void bodies_absorb_by_beers_law(void **state)
{
    (void)state;
    const real3 left = glass_absorb(make_real3(0.0, 0.5, 2.0), 3.0);
    assert_close(left.x, 1.0, 0.0);
    assert_close(left.y, exp(-1.5), 1e-8); // the formula's log2(e) is a float
    assert_close(left.z, exp(-6.0), 1e-8);
}

static void the_sky_is_the_same_through_glass(void **state)
{
    (void)state;
    const sky_view sky = {.up_x = 0.36f,
                          .up_y = -0.8f,
                          .up_z = 0.48f,
                          .inverse_focal_x = 0.01f,
                          .inverse_focal_y = 0.02f,
                          .centre_x = 30.0f,
                          .centre_y = 20.0f,
                          .high_red = 0.9f,
                          .level_red = 0.5f,
                          .low_red = 0.1f,
                          .high_green = 0.25f,
                          .low_blue = 1.0f};
    for (int i = 0; i < 60; i++) {
        const double x = 3.0 * i, y = 170.0 - 5.0 * i;
        const real3 seen = sky_colour(sky, x, y), through = glass_sky(sky, unit3(sky_direction(sky, x, y)));
        // by floats, of which the view is made
        assert_close(through.x, seen.x, 1e-6);
        assert_close(through.y, seen.y, 1e-6);
        assert_close(through.z, seen.z, 1e-6);
    }
    const real3 high = glass_sky(sky, make_real3(0.36, -0.8, 0.48)), // behind the camera, too
        low = glass_sky(sky, make_real3(-0.36, 0.8, -0.48));
    assert_close(high.x, 0.9, 1e-4);
    assert_close(low.x, 0.1, 1e-4);
    assert_close(low.z, 1.0, 1e-4);
}

// Equation 21 of Walter et al. 2007 in its own terms, times the cosine to the light and by the squares of the
// indices, as this engine counts light: i is the eye's side, of index 1.
static double walter(double alpha, real3 i, real3 o, double eta)
{
    real3 h = make_real3(-(i.x + eta * o.x), -(i.y + eta * o.y), -(i.z + eta * o.z));
    const double length = sqrt(dot3(h, h)) * (h.z < 0.0 ? -1.0 : 1.0);
    h = scale3(h, 1.0 / length);
    const double ih = dot3(i, h), oh = dot3(o, h), tan_h = tan(acos(h.z)),
                 d = alpha * alpha / (pi * pow(h.z, 4.0) * pow(alpha * alpha + tan_h * tan_h, 2.0)),
                 tan_i = tan(acos(i.z)), tan_o = tan(acos(-o.z)),
                 gi = 2.0 / (1.0 + sqrt(1.0 + alpha * alpha * tan_i * tan_i)),
                 go = 2.0 / (1.0 + sqrt(1.0 + alpha * alpha * tan_o * tan_o));
    if (ih <= 0.0 || oh >= 0.0) {
        return 0.0;
    }
    const double sum = ih + eta * oh;
    return fabs(ih * oh) / (i.z * -o.z) * eta * eta * (1.0 - textbook_fresnel(acos(ih), eta)) * gi * go * d /
           (sum * sum) * -o.z;
}

static void rough_refraction_is_walters_and_reciprocal(void **state)
{
    (void)state;
    static const double etas[2] = {1.5, 1.0 / 1.5};
    int compared = 0;
    for (int n = 0; n < 2; n++) {
        for (int k = 0; k < 200; k++) {
            const double alpha = 0.1 + 0.004 * k;
            const real3 eye = direction(0.1 + 0.006 * k, 0.7 * k),
                        light = direction(pi - 0.15 - 0.005 * k, 0.7 * k + pi - 0.4);
            const glass_light there = glass_refracted(alpha, up, eye, light, etas[n]),
                              back = glass_refracted(alpha, scale3(up, -1.0), light, eye, 1.0 / etas[n]);
            const double expected = walter(alpha, eye, light, etas[n]);
            assert_close(there.weight, isfinite(expected) ? expected : 0.0, 1e-6 * (1.0 + there.weight));
            // f / index^2 is the same both ways; weight / cosine is f
            assert_close(there.weight / -light.z / (etas[n] * etas[n]), back.weight / eye.z,
                         1e-7 * (1.0 + back.weight));
            compared += expected > 1e-3;
        }
    }
    assert_true(compared > 150);
}

// Sums over all directions of what is drawn, and of what arrives at the eye of light of 1 from everywhere.
static void sum_up(double alpha, double angle, double eta, double *drawn, double *arrives)
{
    enum { ROWS = 600, COLUMNS = 600 };
    const real3 eye = direction(angle, 0.0);
    *drawn = *arrives = 0.0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const double height = 1.0 - 2.0 * (i / COLUMNS + 0.5) / ROWS;
        const real3 light = direction(acos(height), 2.0 * pi * (i % COLUMNS + 0.5) / COLUMNS);
        glass_light l;
        if (height > 0.0) {
            const real3 between = unit3(add3(eye, light));
            l = glass_reflected(bsdf_angles_of(alpha, up, eye, light),
                                glass_fresnel(dot3(eye, between), eta));
        } else {
            l = glass_refracted(alpha, up, eye, light, eta);
        }
        *drawn += l.pdf * 4.0 * pi / (ROWS * COLUMNS);
        *arrives += l.weight * 4.0 * pi / (ROWS * COLUMNS);
    }
}

// What the part of the light does that meets one microfacet, which reflects and refracts as a smooth surface.
static void add_facet(double part, real3 facet, double alpha, real3 eye, double eta, double *drawn,
                      double *arrives)
{
    const double facing = dot3(facet, eye), reflected = glass_fresnel(facing, eta),
                 seen = glass_seen(eye.z, bsdf_root(alpha, eye.z));
    const real3 mirror = sub3(scale3(facet, 2.0 * facing), eye), beyond = glass_refract(facet, eye, eta);
    if (mirror.z > 0.0) {
        const double root = bsdf_root(alpha, mirror.z), eye_root = bsdf_root(alpha, eye.z);
        const double both = 2.0 * mirror.z * eye.z / (mirror.z * eye_root + eye.z * root);
        *drawn += part * reflected;
        *arrives += part * reflected * both / seen;
    }
    if (beyond.z < 0.0) {
        *drawn += part * (1.0 - reflected);
        *arrives += part * (1.0 - reflected) * glass_seen(-beyond.z, bsdf_root(alpha, -beyond.z));
    }
}

// The same by sums over the normals of the microfacets that the eye sees: without the densities of the
// directions to the light.
static void sum_up_facets(double alpha, double angle, double eta, double *drawn, double *arrives)
{
    enum { ROWS = 600, COLUMNS = 600 };
    const real3 eye = direction(angle, 0.0);
    const double seen = glass_seen(eye.z, bsdf_root(alpha, eye.z));
    *drawn = *arrives = 0.0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        // as many normals everywhere as there is area of microfacets, seen from above, but more at the edge
        const double left = 1.0 - (i / COLUMNS + 0.5) / ROWS, share = 1.0 - left * left,
                     spread = alpha * alpha * share / (1.0 - share);
        const real3 facet = direction(atan(sqrt(spread)), 2.0 * pi * (i % COLUMNS + 0.5) / COLUMNS);
        const double facing = dot3(facet, eye);
        if (facing > 0.0) {
            add_facet(2.0 * left * seen * facing / (eye.z * facet.z) / (ROWS * COLUMNS), facet, alpha, eye,
                      eta, drawn, arrives);
        }
    }
}

// The same by the normals that bsdf_facet draws, all of which count alike.
static void sum_up_drawn(double alpha, double angle, double eta, double *drawn, double *arrives)
{
    enum { ROWS = 300, COLUMNS = 300 };
    const real3 eye = direction(angle, 0.3);
    *drawn = *arrives = 0.0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const double around = 2.0 * pi * (i % COLUMNS + 0.5) / COLUMNS;
        const real3 facet =
            bsdf_facet(up, eye, alpha, make_real2(cos(around), sin(around)), (i / COLUMNS + 0.5) / ROWS);
        assert_close(dot3(facet, facet), 1.0, 1e-9);
        assert_true(facet.z > 0.0 && dot3(facet, eye) > 0.0);
        add_facet(1.0 / (ROWS * COLUMNS), facet, alpha, eye, eta, drawn, arrives);
    }
}

static void rough_surfaces_make_no_light(void **state)
{
    (void)state;
    static const double alphas[3] = {0.15, 0.36, 0.8}, etas[2] = {1.5, 1.0 / 1.5};
    for (int n = 0; n < 2; n++) {
        for (int k = 0; k < 6; k++) {
            double drawn, arrives, drawn_facets, arrives_facets, drawn_all, arrives_all;
            sum_up(alphas[k / 2], k % 2 ? 1.0 : 0.4, etas[n], &drawn, &arrives);
            sum_up_facets(alphas[k / 2], k % 2 ? 1.0 : 0.4, etas[n], &drawn_facets, &arrives_facets);
            sum_up_drawn(alphas[k / 2], k % 2 ? 1.0 : 0.4, etas[n], &drawn_all, &arrives_all);
            print_message("alpha %.2f, angle %.1f, eta %.3f: drawn %.4f, arrives %.4f; by facets %.4f %.4f, "
                          "drawn ones %.4f %.4f\n",
                          alphas[k / 2], k % 2 ? 1.0 : 0.4, etas[n], drawn, arrives, drawn_facets,
                          arrives_facets, drawn_all, arrives_all);
            // the edges of total reflection and of what enters the surface are sharp, and sums of 600 steps
            // see them where they are to a step
            assert_close(drawn, drawn_facets, 5e-4);
            assert_close(arrives, arrives_facets, 5e-4);
            assert_close(drawn_all, drawn_facets, 1e-3); // sums of 300 steps
            assert_close(arrives_all, arrives_facets, 1e-3);
            assert_true(drawn < 1.0 + 1e-3 && arrives < drawn); // what is scattered twice is lost
        }
    }
}

static void angles_have_their_points_of_the_circle(void **state)
{
    (void)state;
    for (int i = -3000; i <= 3000; i++) {
        const real2 p = angle_point(i / 2000.0);
        assert_close(p.x, cos(2.0 * pi * i / 2000.0), 6.1e-7); // the error of the polynomial
        assert_close(p.y, sin(2.0 * pi * i / 2000.0), 6.1e-7);
    }
}

// Each of the rays of a pixel has a stripe of either number for itself, and so has its next microfacet; over
// 64 x 64 pixels the means are those of all numbers.
static void rays_share_their_chances(void **state)
{
    (void)state;
    assert_true(rays_count(0.05, 1.0) == 1.0 && rays_count(0.2, 1.0) == 4.0 && rays_count(0.5, 1.0) == 8.0);
    assert_true(rays_count(0.05, 0.0) == 1.0 && rays_count(0.2, 0.0) == 8.0);
    for (int count = 4; count <= RAYS_FACETS; count *= 2) {
        double mean[4] = {0};
        for (int i = 0; i < 64 * 64; i++) {
            const real2 shift = rays_shift(i % 64 + 0.5, i / 64 + 0.5);
            int stripes[4] = {0};
            for (int k = 0; k < count; k++) {
                const real2 first = rays_chance(shift, (float)k, count), next = rays_next_chance(first);
                const double all[4] = {first.x, first.y, next.x, next.y};
                for (int n = 0; n < 4; n++) {
                    assert_true(all[n] >= 0.0 && all[n] < 1.0);
                    stripes[n] |= 1 << (int)(count * all[n]);
                    mean[n] += all[n] / (64 * 64 * count);
                }
            }
            for (int n = 0; n < 4; n++) {
                assert_int_equal(stripes[n], (1 << count) - 1);
            }
        }
        for (int n = 0; n < 4; n++) {
            assert_close(mean[n], 0.5, 2e-3);
        }
    }
}

// Each square of pixels, wherever it is, has all points of a lattice; their means are those of all numbers.
static void squares_of_pixels_share_a_lattice(void **state)
{
    (void)state;
    enum { SQUARE = RAYS_TILE * RAYS_TILE };
    for (int at = 0; at < 40; at++) {
        int columns = 0;
        double mean[2] = {0};
        for (int i = 0; i < SQUARE; i++) {
            const real2 shift = rays_tile_shift(37 * at + i % RAYS_TILE + 0.5, 11 * at + i / RAYS_TILE + 0.5);
            assert_true(shift.x >= 0.0 && shift.x < 1.0 && shift.y >= 0.0 && shift.y < 1.0);
            columns |= 1 << (int)(SQUARE * shift.x);
            mean[0] += shift.x / SQUARE;
            mean[1] += shift.y / SQUARE;
        }
        assert_int_equal(columns, (1 << SQUARE) - 1);
        assert_close(mean[0], 0.5, 1e-6);
        assert_close(mean[1], 0.5, 0.02);
    }
}

// A ball of glass of index n has its focus n r / (2 (n - 1)) from its middle, a hollow mirror half its radius
// in front; cones of rays narrow up to there, and are as wide again behind.
static void cones_have_their_foci(void **state)
{
    (void)state;
    const double radius = 0.7, width = 0.01, n = 1.6;
    double spread = rays_spread_through(0.0, 1.0 / radius, width, n); // in
    const double within = width + 2.0 * radius * spread;
    spread = rays_spread_through(spread, -1.0 / radius, within, 1.0 / n); // out
    const double behind = n * radius / (2.0 * (n - 1.0)) - radius;
    assert_close(within + behind * spread, 0.0, 1e-12);
    assert_close(within + 2.0 * behind * spread, -within, 1e-12);
    const double mirrored = rays_spread(0.0, -1.0 / radius, width);
    assert_close(width + 0.5 * radius * mirrored, 0.0, 1e-12);
    assert_true(rays_spread(0.0, 1.0 / radius, width) > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_reflect_by_fresnels_law),
        cmocka_unit_test(light_is_refracted_by_snells_law),
        cmocka_unit_test(bodies_absorb_by_beers_law),
        cmocka_unit_test(the_sky_is_the_same_through_glass),
        cmocka_unit_test(rough_refraction_is_walters_and_reciprocal),
        cmocka_unit_test(rough_surfaces_make_no_light),
        cmocka_unit_test(angles_have_their_points_of_the_circle),
        cmocka_unit_test(rays_share_their_chances),
        cmocka_unit_test(squares_of_pixels_share_a_lattice),
        cmocka_unit_test(cones_have_their_foci),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
