// The derivatives of splat_backward_formula.h in double against central differences of the drawing formulas:
// every parameter of splats that overlap, that the lens's bounds hold, that cover fully, that are dark; and
// the same through the lens of a photo (splat_unscented_backward_formula.h).
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "render/splat/splat_unscented_backward_formula.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 20, HEIGHT = 14, SPLATS = 4, HARMONICS = 48, MEMBERS = 11 + HARMONICS };

typedef struct stored {
    double members[MEMBERS]; // mean, log scale, rotation x y z w, logit, harmonics
} stored;

static const double background[3] = {0.3, 0.8, 0.1};

static const splat_photo_lens *photo; // that all is seen through; NULL: a pinhole

static splat_lens make_lens(bool orthographic, bool antialias)
{
    // a rotation about (1, 1, 0) and a shift
    const double c = cos(0.2), s = sin(0.2) * sqrt(0.5), h = 0.5 * (1.0 - cos(0.2));
    splat_lens lens = {.view = {c + h, h, s, 0.1, h, c + h, -s, -0.05, -s, s, c, 3.0},
                       .focal_x = orthographic ? 7.0 : 20.0,
                       .focal_y = orthographic ? 6.0 : 19.0,
                       .centre_x = 9.3,
                       .centre_y = 7.2,
                       .near_plane = 0.1,
                       .far_plane = 100.0,
                       .slope_x_low = -0.3,
                       .slope_x_high = 0.25,
                       .slope_y_low = -0.4,
                       .slope_y_high = 0.35,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .orthographic = orthographic,
                       .antialias = antialias};
    // the eye: minus the transposed rotation times the shift
    affine v = lens.view;
    lens.eye_x = -(v.xx * v.xw + v.yx * v.yw + v.zx * v.zw);
    lens.eye_y = -(v.xy * v.xw + v.yy * v.yw + v.zy * v.zw);
    lens.eye_z = -(v.xz * v.xw + v.yz * v.yw + v.zz * v.zw);
    return lens;
}

static double noise(unsigned i) // in -1 .. 1, the same in every run
{
    i = i * 2654435761u + 12345u;
    i = (i ^ (i >> 15)) * 2246822519u;
    i = (i ^ (i >> 13)) * 3266489917u;
    return (double)(i ^ (i >> 16)) / 2147483648.0 - 1.0;
}

// front to back; the third is outside the lens's bounds, the first covers more than may be, the last is red
// alone
static void make_splats(stored splats[SPLATS])
{
    static const double at[SPLATS][3] = {
        {-0.05, 0.1, -0.6}, {0.2, -0.1, -0.2}, {1.15, 0.75, 0.1}, {-0.3, -0.2, 0.6}};
    for (unsigned i = 0; i < SPLATS; i++) {
        double *m = splats[i].members;
        for (unsigned k = 0; k < 3; k++) {
            m[k] = at[i][k];
            m[3 + k] = -1.6 + 0.5 * noise(100 * i + k);
        }
        for (unsigned k = 0; k < 4; k++) {
            m[6 + k] = noise(100 * i + 10 + k);
        }
        m[10] = i == 0 ? 8.0 : 0.4 + noise(100 * i + 20);
        for (unsigned k = 0; k < HARMONICS; k++) {
            m[11 + k] = 0.3 * noise(100 * i + 30 + k);
        }
        m[12] = i == 3 ? -6.0 : m[12];
    }
}

typedef struct drawn {
    splat_shape shape;
    double opacity;
    splat_screen screen;
    real3 raw, colour, direction;
} drawn;

static real3 coefficient(const double *members, int k)
{
    return make_real3(members[11 + 3 * k], members[12 + 3 * k], members[13 + 3 * k]);
}
#define C(k) coefficient(m, k)

static drawn draw(splat_lens lens, const stored *splat)
{
    const double *m = splat->members;
    drawn d;
    real3 mean = make_real3(m[0], m[1], m[2]);
    d.shape = splat_make_shape(make_real3(m[3], m[4], m[5]), make_real4(m[6], m[7], m[8], m[9]));
    d.opacity = splat_opacity(m[10]);
    d.screen = photo ? splat_project_unscented(lens, *photo, mean, d.shape.axes, d.opacity)
                     : splat_project(lens, mean, d.shape.axes, d.opacity);
    d.direction = splat_direction(lens, mean);
    real3 sum = sh_sum1(sh_sum0(C(0)), d.direction, C(1), C(2), C(3));
    sum = sh_sum2(sum, d.direction, C(4), C(5), C(6), C(7), C(8));
    d.raw = sh_sum3(sum, d.direction, C(9), C(10), C(11), C(12), C(13), C(14), C(15));
    d.colour = sh_clamped(d.raw);
    return d;
}

static real2 offset_of(const drawn *d, int pixel)
{
    return make_real2(pixel % WIDTH + 0.5 - d->screen.centre.x, pixel / WIDTH + 0.5 - d->screen.centre.y);
}

static blend_pixel draw_pixel(const drawn *splats, int pixel)
{
    blend_pixel p = blend_begin(true);
    for (int i = 0; i < SPLATS; i++) {
        const drawn *d = &splats[i];
        double alpha = splat_alpha(d->screen.log2_opacity, offset_of(d, pixel), d->screen.shape);
        p = blend_splat(p, alpha, d->colour, d->screen.depth);
    }
    return p;
}

static real3 loss_gradient(int pixel) // the loss: a random weight for each channel of each pixel
{
    return make_real3(noise(7000 + 3 * (unsigned)pixel), noise(7001 + 3 * (unsigned)pixel),
                      noise(7002 + 3 * (unsigned)pixel));
}

static double depth_gradient(int pixel) // and for the sum of weights times depths
{
    return 0.2 * noise(9000 + (unsigned)pixel);
}

static double loss(splat_lens lens, const stored splats[SPLATS])
{
    drawn all[SPLATS];
    double sum = 0.0;
    for (int i = 0; i < SPLATS; i++) {
        all[i] = draw(lens, &splats[i]);
        assert_true(all[i].screen.visible);
    }
    for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++) {
        blend_pixel p = draw_pixel(all, pixel);
        real3 b = make_real3(background[0], background[1], background[2]);
        sum += dot3(loss_gradient(pixel), blend_add(p.colour, fabs(p.transmittance), b));
        sum += depth_gradient(pixel) * p.depth;
    }
    return sum;
}

// ---- backward ----

static void add_moments(splat_moments *m, double slope, real2 d)
{
    m->one += slope;
    m->x += slope * d.x;
    m->y += slope * d.y;
    m->xx += slope * d.x * d.x;
    m->xy += slope * d.x * d.y;
    m->yy += slope * d.y * d.y;
}

static void finish(splat_lens lens, const stored *splat, const drawn *d, splat_moments moments, real3 colour,
                   double depth, double *out, double motion[6])
{
    const double *m = splat->members;
    real3 mean = make_real3(m[0], m[1], m[2]);
    splat_gradient g = photo ? splat_unscented_backward(lens, *photo, mean, d->shape, d->opacity, moments)
                             : splat_project_backward(lens, mean, d->shape, d->opacity, moments);
    g.mean = add3(g.mean, photo ? splat_unscented_depth_backward(lens, *photo, mean, depth)
                                : splat_depth_backward(lens, depth));
    colour.x = d->raw.x > 0.0 ? colour.x : 0.0;
    colour.y = d->raw.y > 0.0 ? colour.y : 0.0;
    colour.z = d->raw.z > 0.0 ? colour.z : 0.0;
    sh_band1 one = sh_degree1(d->direction);
    sh_band2 two = sh_degree2(d->direction);
    sh_band3 three = sh_degree3(d->direction);
    const double basis[16] = {SH_0,  one.a,   one.b,   one.c,   two.a,   two.b,   two.c,   two.d,
                              two.e, three.a, three.b, three.c, three.d, three.e, three.f, three.g};
    double by[16];
    for (int k = 0; k < 16; k++) {
        by[k] = dot3(C(k), colour);
        out[11 + 3 * k] = basis[k] * colour.x;
        out[12 + 3 * k] = basis[k] * colour.y;
        out[13 + 3 * k] = basis[k] * colour.z;
    }
    real3 turn = sh_degree1_backward((sh_band1){by[1], by[2], by[3]});
    turn = add3(turn, sh_degree2_backward(d->direction, (sh_band2){by[4], by[5], by[6], by[7], by[8]}));
    turn = add3(turn, sh_degree3_backward(d->direction,
                                          (sh_band3){by[9], by[10], by[11], by[12], by[13], by[14], by[15]}));
    real3 by_direction = splat_direction_backward(lens, mean, d->direction, turn);
    splat_camera_gradient c = splat_camera_backward(lens, mean, d->shape, g, by_direction);
    const double moves[6] = {c.shift.x, c.shift.y, c.shift.z, c.turn.x, c.turn.y, c.turn.z};
    for (int k = 0; k < 6; k++) {
        motion[k] += moves[k];
    }
    g.mean = add3(g.mean, by_direction);
    const double geometry[11] = {g.mean.x,      g.mean.y,      g.mean.z,     g.log_scale.x,
                                 g.log_scale.y, g.log_scale.z, g.rotation.x, g.rotation.y,
                                 g.rotation.z,  g.rotation.w,  g.logit};
    memcpy(out, geometry, sizeof geometry);
}

static void backward(splat_lens lens, const stored splats[SPLATS], double gradients[SPLATS][MEMBERS],
                     double motion[6])
{
    drawn all[SPLATS];
    splat_moments moments[SPLATS] = {0};
    real3 colours[SPLATS] = {0};
    double depths[SPLATS] = {0};
    for (int i = 0; i < SPLATS; i++) {
        all[i] = draw(lens, &splats[i]);
    }
    for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++) {
        blend_pixel p = draw_pixel(all, pixel);
        real3 g = loss_gradient(pixel);
        real3 b = make_real3(background[0], background[1], background[2]);
        const double by_depth = depth_gradient(pixel);
        splat_replay replay = {1.0,
                               dot3(g, blend_add(p.colour, fabs(p.transmittance), b)) + by_depth * p.depth};
        for (int i = 0; i < SPLATS; i++) {
            real2 d = offset_of(&all[i], pixel);
            splat_replayed r = splat_replay_one(replay, all[i].screen.log2_opacity, d, all[i].screen.shape,
                                                dot3(g, all[i].colour) + by_depth * all[i].screen.depth);
            add_moments(&moments[i], r.slope, d);
            colours[i] = blend_add(colours[i], r.weight, g);
            depths[i] += r.weight * by_depth;
            replay = r.next;
        }
    }
    for (int i = 0; i < SPLATS; i++) {
        finish(lens, &splats[i], &all[i], moments[i], colours[i], depths[i], gradients[i], motion);
    }
}

// ---- the camera ----

// The lens after its eye moved by h along a motion's axis, or turned by h about it.
static splat_lens moved(splat_lens lens, int motion, double h)
{
    affine *v = &lens.view;
    real3 rows[3] = {make_real3(v->xx, v->xy, v->xz), make_real3(v->yx, v->yy, v->yz),
                     make_real3(v->zx, v->zy, v->zz)};
    double *eye[3] = {&lens.eye_x, &lens.eye_y, &lens.eye_z};
    if (motion < 3) {
        *eye[motion] += h;
    } else { // the axes of the camera turn
        const double w[3] = {motion == 3, motion == 4, motion == 5};
        for (int i = 0; i < 3; i++) {
            real3 axis = make_real3(w[0], w[1], w[2]);
            real3 along = scale3(axis, dot3(axis, rows[i]));
            rows[i] = add3(along,
                           add3(scale3(sub3(rows[i], along), cos(h)), scale3(cross3(axis, rows[i]), sin(h))));
        }
    }
    real3 at = make_real3(lens.eye_x, lens.eye_y, lens.eye_z);
    *v =
        (affine){rows[0].x, rows[0].y,          rows[0].z, -dot3(rows[0], at), rows[1].x, rows[1].y,
                 rows[1].z, -dot3(rows[1], at), rows[2].x, rows[2].y,          rows[2].z, -dot3(rows[2], at)};
    return lens;
}

static void compare_camera(splat_lens lens, const stored splats[SPLATS], const double motion[6])
{
    for (int k = 0; k < 6; k++) {
        const double h = 1e-6;
        double expected = (loss(moved(lens, k, h), splats) - loss(moved(lens, k, -h), splats)) / (2.0 * h);
        if (!(fabs(motion[k] - expected) <= 1e-6 * (1.0 + fabs(expected)))) {
            fail_msg("motion %d: gradient %.9g: expected %.9g", k, motion[k], expected);
        }
    }
}

static void compare_splats(splat_lens lens, stored splats[SPLATS])
{
    double gradients[SPLATS][MEMBERS], motion[6] = {0};
    backward(lens, splats, gradients, motion);
    compare_camera(lens, splats, motion);
    for (int i = 0; i < SPLATS; i++) {
        for (int k = 0; k < MEMBERS; k++) {
            const double h = 1e-6;
            double kept = splats[i].members[k];
            splats[i].members[k] = kept + h;
            double more = loss(lens, splats);
            splats[i].members[k] = kept - h;
            double less = loss(lens, splats);
            splats[i].members[k] = kept;
            double expected = (more - less) / (2.0 * h), found = gradients[i][k];
            if (!(fabs(found - expected) <= 1e-6 * (1.0 + fabs(expected)))) {
                fail_msg("splat %d, member %d: gradient %.9g: expected %.9g", i, k, found, expected);
            }
        }
    }
}

static void compare(bool orthographic, bool antialias)
{
    stored splats[SPLATS];
    make_splats(splats);
    compare_splats(make_lens(orthographic, antialias), splats);
}

// ---- the lens of a photo ----

// The tolerance is that of the pinhole: it is what central differences leave in double, since the derivative
// is that of the seven points themselves.
static void compare_photo(splat_photo_lens seen_through, stored splats[SPLATS])
{
    for (int antialias = 0; antialias < 2; antialias++) {
        splat_lens lens = make_lens(false, antialias);
        seen_through.lens.focal_x = lens.focal_x;
        seen_through.lens.focal_y = lens.focal_y;
        seen_through.lens.centre_x = lens.centre_x;
        seen_through.lens.centre_y = lens.centre_y;
        photo = &seen_through;
        compare_splats(lens, splats);
        photo = NULL;
    }
}

// Strong distortion; the slopes of this scene reach 0.6.
static const splat_photo_lens distorted = {
    .lens = {.k1 = -0.4, .k2 = 0.3, .k3 = -0.1, .k4 = 0.05, .p1 = 0.03, .p2 = -0.02}, .reach = 0.9};

static void test_distortion(void **state)
{
    (void)state;
    stored splats[SPLATS];
    make_splats(splats);
    compare_photo(distorted, splats);
}

// Points of the third splat, and of others, are beyond the reach.
static void test_reach(void **state)
{
    (void)state;
    stored splats[SPLATS];
    splat_photo_lens lens = distorted;
    lens.reach = 0.4;
    make_splats(splats);
    compare_photo(lens, splats);
}

// A splat so long that one of its points is behind the camera.
static void test_points_behind(void **state)
{
    (void)state;
    stored splats[SPLATS];
    make_splats(splats);
    splats[1].members[5] = 0.8; // sqrt(3) exp(0.8) is 3.9, its distance 2.8
    for (int k = 0; k < 4; k++) {
        splats[1].members[6 + k] = k == 3 ? 1.0 : 0.1 * k;
    }
    splats[1].members[3] = splats[1].members[4] = -3.0;
    compare_photo(distorted, splats);
}

static void test_fisheye(void **state)
{
    (void)state;
    stored splats[SPLATS];
    const splat_photo_lens lens = {.lens = {.k1 = -0.05,
                                            .k2 = 0.02,
                                            .k3 = -0.01,
                                            .k4 = 0.001,
                                            .fisheye_limit = 0.4}}, // some are beyond
        wide = {.lens = {.k1 = -0.05, .k2 = 0.02, .k3 = -0.01, .k4 = 0.001, .fisheye_limit = 2.0}};
    make_splats(splats);
    compare_photo(lens, splats);
    compare_photo(wide, splats);
    splats[1].members[5] = 0.8; // a point behind the camera, which a fisheye sees
    compare_photo(wide, splats);
}

static void test_perspective(void **state)
{
    (void)state;
    compare(false, false);
}

static void test_antialias(void **state)
{
    (void)state;
    compare(false, true);
}

static void test_orthographic(void **state)
{
    (void)state;
    compare(true, false);
    compare(true, true);
}

// A splat that is clamped covers the same wherever it is a little farther.
static void test_clamped_coverage(void **state)
{
    (void)state;
    splat_replay p = {1.0, 0.7};
    ellipse shape = {0.1, 0.0, 0.1};
    splat_replayed r = splat_replay_one(p, 0.0, make_real2(0.01, 0.01), shape, 0.4);
    assert_true(r.slope == 0.0);
    assert_true(r.weight == SPLAT_ALPHA_MAX);
    r = splat_replay_one(p, -9.0, make_real2(0.0, 0.0), shape, 0.4); // too faint to be drawn
    assert_true(r.slope == 0.0 && r.weight == 0.0 && r.next.rest == 0.7);
    p.transmittance = 1e-3; // it would stop the pixel, and is not drawn
    r = splat_replay_one(p, -0.05, make_real2(0.01, 0.01), shape, 0.4);
    assert_true(r.slope == 0.0 && r.weight == 0.0 && r.next.transmittance == -1e-3);
}

// A magnitude is that of the derivative by the splat's centre; two pixels that pull to opposite sides do not
// cancel.
static void test_magnitude(void **state)
{
    (void)state;
    const ellipse shape = {0.08, 0.6, 0.2};
    const double slope = -0.7, h = 1e-6; // of the loss by the logarithm of the coverage
    const real2 d = make_real2(1.3, -0.4);
    real2 found = splat_magnitude_add(make_real2(0.0, 0.0), shape, slope, d);
    found = splat_magnitude(splat_magnitude_add(found, shape, -slope, d), shape);
    const double at[2][2] = {{splat_coverage(-1.0, make_real2(d.x - h, d.y), shape),
                              splat_coverage(-1.0, make_real2(d.x + h, d.y), shape)},
                             {splat_coverage(-1.0, make_real2(d.x, d.y - h), shape),
                              splat_coverage(-1.0, make_real2(d.x, d.y + h), shape)}};
    assert_true(fabs(found.x - fabs(slope * log(at[0][0] / at[0][1]) / h)) < 1e-8);
    assert_true(fabs(found.y - fabs(slope * log(at[1][0] / at[1][1]) / h)) < 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perspective),  cmocka_unit_test(test_antialias),
        cmocka_unit_test(test_orthographic), cmocka_unit_test(test_clamped_coverage),
        cmocka_unit_test(test_magnitude),    cmocka_unit_test(test_distortion),
        cmocka_unit_test(test_reach),        cmocka_unit_test(test_points_behind),
        cmocka_unit_test(test_fisheye)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
