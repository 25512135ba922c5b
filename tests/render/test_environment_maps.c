// Tests of environments as they are made: harmonics and maps against closed forms, drawing by light, probes,
// what is refused.
#define ORR_SCALAR
#include "engine/core/jobs.h"
#include "engine/image/image.h"
#include "engine/maths/rng.h"
#include "orr_features.h"
#include "render/bsdf_table.h"
#include "render/environment/environment.h"
#include "render/environment/maps.h"
#include "render/environment/probe.h"
#include "render/formula_inputs.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 128, HEIGHT = 64 };
static const double pi = 3.14159265358979323846;

static orr_jobs *jobs;
static float picture[HEIGHT * WIDTH * 3];

typedef double radiance(const double d[3]);

static void paint(radiance *of)
{
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        double up = pi * (0.5 - (i / WIDTH + 0.5) / HEIGHT),
               around = 2.0 * pi * ((i % WIDTH + 0.5) / WIDTH - 0.5);
        const double d[3] = {cos(up) * sin(around), sin(up), -cos(up) * cos(around)};
        for (int k = 0; k < 3; k++) {
            picture[3 * i + k] = (float)((k + 1) * of(d));
        }
    }
}

static orr_environment *make(radiance *of)
{
    orr_environment *e;
    paint(of);
    assert_ok(orr_environment_create(jobs, picture, WIDTH, HEIGHT, "picture", NULL, &e, &error));
    return e;
}

static environment_view view_of(const orr_environment *e)
{
    orr_environment_values v = {.to_map = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                .strength = e->scale,
                                .sharp = (float)e->sharp,
                                .rough = (float)e->rough,
                                .diffuse_strength = 1.0f};
    memcpy(v.harmonics, e->harmonics, sizeof v.harmonics);
    return environment_of(&v);
}

static float texel_red(const orr_environment *e, environment_square s)
{
    float sum = 0.0f;
    for (int i = 0; i < 4; i++) {
        uint32_t t = e->texels[(int)s.first + i % 2 + i / 2 * (int)s.stride];
        float weight = (i % 2 ? s.right : 1.0f - s.right) * (i / 2 ? s.down : 1.0f - s.down);
        sum += weight * environment_decode((float)(t & 511u), 0.0f, 0.0f, (float)(t >> 27)).x;
    }
    return sum * e->scale;
}

static float red_of(const orr_environment *e, real3 d, float roughness)
{
    environment_place p = environment_find_levels(view_of(e), d, roughness);
    return texel_red(e, p.fine) + p.part * (texel_red(e, p.coarse) - texel_red(e, p.fine));
}

static real3 direction(int i)
{
    double y = 1.0 - 2.0 * (i + 0.5) / 40.0, ring = sqrt(1.0 - y * y), turn = 2.4 * i;
    return make_real3((float)(ring * cos(turn)), (float)y, (float)(ring * sin(turn)));
}

static double one(const double d[3])
{
    (void)d;
    return 1.0;
}

static double slope(const double d[3])
{
    return 1.0 + 0.5 * d[0] - 0.25 * d[1] + 0.125 * d[2];
}

static double squares(const double d[3])
{
    return 1.0 + d[0] * d[1] + 0.5 * d[1] * d[2] + 0.25 * d[0] * d[2] + 0.3 * d[2] * d[2] + 0.2 * d[0] * d[0];
}

static void harmonics_are_those_of_closed_forms(void **state)
{
    (void)state;
    radiance *const skies[] = {one, slope, squares};
    for (int s = 0; s < 3; s++) {
        orr_environment *e = make(skies[s]);
        for (int i = 0; i < 40; i++) {
            real3 n = direction(i), seen = environment_diffuse(view_of(e), n);
            const double d[3] = {(double)n.x, (double)n.y, (double)n.z};
            // of a matte surface: the bands of degree 0, 1 and 2 times 1, 2/3 and 1/4
            double expected = s == 0   ? 1.0
                              : s == 1 ? 1.0 + 2.0 / 3.0 * (slope(d) - 1.0)
                                       : 1.0 + 0.5 / 3.0 + 0.25 * (squares(d) - 1.0 - 0.5 / 3.0);
            // one colour: only the rounding of floats. Otherwise pixels are 1/20 rad, and the values of their
            // middles are off by a few 1e-4 of what varies
            double most = s == 0 ? 1e-5 / pi : 1e-3;
            assert_true(fabs((double)seen.x - expected) < most);
            assert_true(fabs((double)seen.z - 3.0 * expected) < 3.0 * most);
        }
        orr_environment_destroy(e);
    }
}

static void one_colour_stays_itself_however_blurred(void **state)
{
    (void)state;
    orr_environment *e = make(one);
    for (int i = 0; i < 40; i++) {
        for (int r = 0; r <= 8; r++) {
            assert_float_equal(red_of(e, direction(i), (float)r / 8.0f), 1.0f, 1e-6f);
        }
    }
    orr_environment_destroy(e);
}

// The integral that a blurred map holds: radiance of mirror directions, drawn by the microfacets' density and
// weighted by the cosine, by brute force.
static double blurred(radiance *of, real3 n, double roughness)
{
    enum { STEPS = 200 };
    double alpha = roughness * roughness, sum = 0.0, weights = 0.0;
    real3 side = normalise3(cross3(n, fabsf(n.x) < 0.5f ? make_real3(1, 0, 0) : make_real3(0, 1, 0)));
    real3 other = cross3(n, side);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < STEPS; k++) {
            double u = (i + 0.5) / STEPS, turn = 2.0 * pi * (k + 0.5) / STEPS;
            double squared = (1.0 - u) / (1.0 + (alpha * alpha - 1.0) * u);
            double z = 2.0 * squared - 1.0, ring = 2.0 * sqrt(squared * (1.0 - squared));
            if (z <= 0.0) {
                continue;
            }
            real3 l = add_scaled3(add_scaled3(scale3(n, (float)z), side, (float)(ring * cos(turn))), other,
                                  (float)(ring * sin(turn)));
            const double d[3] = {(double)l.x, (double)l.y, (double)l.z};
            sum += z * of(d);
            weights += z;
        }
    }
    return sum / weights;
}

static void maps_are_blurred_as_rough_surfaces_mirror(void **state)
{
    (void)state;
    orr_environment *e = make(squares);
    double worst = 0.0;
    for (int level = 0; level <= 6; level++) {
        for (int i = 0; i < 40; i++) {
            real3 n = direction(i);
            double r = level / 6.0, expected = blurred(squares, n, level == 0 ? 1e-4 : r);
            worst = fmax(worst, fabs((double)red_of(e, n, (float)r) - expected));
        }
    }
    print_message("blurred maps: off by %.4f at most, of 0.5 to 1.8\n", worst);
    // 128 directions with mips of the size of their share, texels of 9 bits
    assert_true(worst < 0.02);
    orr_environment_destroy(e);
}

static double spot(const double d[3])
{
    return d[1] > 0.95 && d[0] > 0.0 ? 1000.0 : 0.01;
}

static void pixels_are_drawn_by_their_light(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    orr_environment *e = make(spot);
    orr_rng random = {7, 0, 0};
    double mean = 0.0, bright = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        float d[3], rgb[3], again[3], pdf, pdf_again;
        double choice = (double)orr_rng_uniform(&random);
        float u = orr_rng_uniform(&random), v = orr_rng_uniform(&random);
        orr_panorama_draw(&e->panorama, choice, u, v, d, rgb, &pdf);
        orr_panorama_look(&e->panorama, d, again, &pdf_again);
        assert_float_equal(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], 1.0f, 1e-5f);
        mean += 1.0 / (double)pdf / DRAWS;
        bright += rgb[0] > 1.0f;
        // at the rim of a pixel rounding may find its neighbour
        assert_true(pdf == pdf_again || fabsf(rgb[0] - again[0]) > 0.0f);
    }
    assert_true(bright > 0.99 * DRAWS);
    // 1/pdf sums up to the whole sphere only when dim pixels are drawn too: its variance is large
    assert_true(mean > 0.05);
    orr_environment_destroy(e);
}

static double many(const double d[3])
{
    return 2.0 + d[0] + d[1] * d[2];
}

static void the_density_of_draws_sums_up_to_one(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    orr_environment *e = make(many);
    orr_rng random = {3, 0, 0};
    double sphere = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        float d[3], rgb[3], pdf;
        double choice = (double)orr_rng_uniform(&random);
        float u = orr_rng_uniform(&random), v = orr_rng_uniform(&random);
        orr_panorama_draw(&e->panorama, choice, u, v, d, rgb, &pdf);
        sphere += 1.0 / (double)pdf / DRAWS;
    }
    // radiance is 0.8 to 3.3, so that one draw is off by about 6: 3 standard errors are 0.13
    assert_true(fabs(sphere - 4.0 * pi) < 0.15);
    orr_environment_destroy(e);
}

static void bad_pictures_are_refused_in_one_line(void **state)
{
    (void)state;
    orr_environment *e;
    orr_error why = {0};
    int64_t clamped;
    paint(one);
    picture[30] = INFINITY;
    picture[31] = INFINITY;
    assert_ok(orr_environment_create(jobs, picture, WIDTH, HEIGHT, "sun.exr", &clamped, &e, &error));
    assert_int_equal(clamped, 2);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 9; i++) {
            assert_true(isfinite(e->harmonics[k][i]));
        }
    }
    assert_float_equal(e->panorama.rgb[30], 65504.0f, 0.0f);
    orr_environment_destroy(e);
    picture[3 * WIDTH + 3] = NAN;
    assert_int_equal(orr_environment_create(jobs, picture, WIDTH, HEIGHT, "sun.exr", NULL, &e, &why),
                     ORR_ERROR_FORMAT);
    assert_string_equal(why.message, "sun.exr: pixel (1, 1): nan: expected 0 or more");
    assert_null(e);
    picture[3 * WIDTH + 3] = -1.0f;
    assert_int_equal(orr_environment_create(jobs, picture, WIDTH, HEIGHT, "sun.exr", NULL, &e, &why),
                     ORR_ERROR_FORMAT);
    assert_int_equal(orr_environment_create(jobs, picture, WIDTH, WIDTH, "sun.exr", NULL, &e, &why),
                     ORR_ERROR_FORMAT);
    assert_string_equal(why.message,
                        "sun.exr: 128 x 128 pixels: expected a latitude-longitude picture, twice as wide as "
                        "high, at most 16384 wide");
    memset(picture, 0, sizeof picture); // black light is no trouble
    assert_ok(orr_environment_create(jobs, picture, WIDTH, HEIGHT, "night.exr", NULL, &e, &error));
    float d[3], rgb[3], pdf;
    orr_panorama_draw(&e->panorama, 0.5, 0.5f, 0.5f, d, rgb, &pdf);
    assert_float_equal(pdf, 0.0f, 0.0f);
    orr_environment_destroy(e);
}

// Lossy compression and resampling leave them in pictures that are nowhere dark.
static void negative_values_of_files_are_black(void **state)
{
    (void)state;
#if ORR_HAVE_EXR
    static float rgba[4 * WIDTH * HEIGHT];
    for (int i = 0; i < 4 * WIDTH * HEIGHT; i++) {
        rgba[i] = 1.0f;
    }
    rgba[5] = -0.25f;
    orr_environment *e;
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch_path("sky.exr"));
    assert_ok(orr_exr_save(path, rgba, WIDTH, HEIGHT, 4, &error));
    assert_ok(orr_environment_load(jobs, path, NULL, &e, &error));
    assert_float_equal(e->panorama.rgb[3], 1.0f, 0.0f);
    assert_float_equal(e->panorama.rgb[4], 0.0f, 0.0f);
    orr_environment_destroy(e);
#endif
}

static double blazing(const double d[3])
{
    return d[1] > 0.9 ? 3e6 : 1.0;
}

static void light_beyond_the_texels_range_is_scaled(void **state)
{
    (void)state;
    orr_environment *e = make(blazing);
    assert_true(e->scale > 100.0f);
    assert_float_equal(red_of(e, make_real3(0.0f, 1.0f, 0.0f), 0.0f) / 3e6f, 1.0f, 0.003f); // 9 bits
    orr_environment_destroy(e);
}

// Directional albedos of correlated GGX with a Fresnel term of 1 and of the split sum, from two independent
// samplers.
static void albedos_are_the_golden_ones(void **state)
{
    (void)state;
    static const float expected[3][3] = {{.946f, .988f, .996f}, {.848f, .857f, .916f}, {.642f, .451f, .307f}};
    static const float roughness[3] = {0.25f, 0.5f, 1.0f}, cosine[3] = {0.2f, 0.5f, 1.0f};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            bsdf_integrals s = bsdf_integrals_at(&orr_bsdf_integrals, roughness[i], cosine[k]);
            // the table is interpolated between roughnesses and cosines of 1/23
            assert_float_equal(s.highlight, expected[i][k], 0.004f);
        }
    }
    static const float split[3][2] = {{.140f, .1f}, {.022f, .5f}, {.000f, 1.0f}};
    for (int i = 0; i < 3; i++) {
        bsdf_integrals s = bsdf_integrals_at(&orr_bsdf_integrals, 0.5f, split[i][1]);
        assert_float_equal(s.grazing, split[i][0], 0.004f);
    }
}

static void what_is_mirrored_and_what_is_matte_add_up_to_the_albedo(void **state)
{
    (void)state;
    const real3 base = make_real3(0.9f, 0.5f, 0.2f), white = make_real3(1.0f, 1.0f, 1.0f);
    for (int i = 0; i < 40; i++) {
        float metallic = (float)(i % 3) / 2.0f, roughness = (float)(i % 5) / 4.0f,
              cosine = (float)(i + 1) / 40.0f;
        bsdf_integrals s = bsdf_integrals_at(&orr_bsdf_integrals, roughness, cosine);
        bsdf_metal m = bsdf_metal_of(base, metallic, roughness, s.highlight);
        real3 both = bsdf_split(m, s, white, white), whole = bsdf_albedo(m, s);
        assert_float_equal(both.x, whole.x, 1e-6f);
        assert_float_equal(both.z, whole.z, 1e-6f);
        // a white metal reflects all of it, at every roughness
        bsdf_metal mirror = bsdf_metal_of(white, 1.0f, roughness, s.highlight);
        assert_float_equal(bsdf_split(mirror, s, make_real3(0, 0, 0), white).y, 1.0f, 1e-5f);
    }
}

// ---- probes ----

static void set_faces(orr_probe_face *faces, const orr_probe_behind *behind, float value, float alpha,
                      float depth)
{
    static float rgba[ORR_PROBE_FACE * ORR_PROBE_FACE * 4], depths[ORR_PROBE_FACE * ORR_PROBE_FACE];
    for (int i = 0; i < ORR_PROBE_FACE * ORR_PROBE_FACE; i++) {
        for (int k = 0; k < 4; k++) {
            rgba[4 * i + k] = k < 3 ? value * alpha : alpha;
        }
        depths[i] = depth;
    }
    for (int f = 0; f < 6; f++) {
        orr_probe_take(f, &(orr_picture){rgba, depths}, behind, &faces[f]);
    }
}

static void probes_hold_what_their_faces_show(void **state)
{
    (void)state;
    orr_probe_face *faces = calloc(6, sizeof *faces);
    const orr_probe_behind behind = {.ambient = {0.2f, 0.2f, 0.2f}};
    orr_environment *e;
    float low[3], high[3];
    assert_ok(orr_environment_allocate(ORR_PROBE_SHARP, ORR_PROBE_ROUGH, 0, &e, &error));
    // half covered by white: 0.5 and half of what is behind
    set_faces(faces, &behind, 1.0f, 0.5f, 2.0f);
    assert_ok(orr_probe_fill(jobs, faces, faces, e, low, high, &error));
    for (int i = 0; i < 40; i++) {
        // harmonics are sums over the middles of 64 x 64 texels
        assert_float_equal(environment_diffuse(view_of(e), direction(i)).x, 0.6f, 3e-4f);
        assert_float_equal(red_of(e, direction(i), (float)(i % 7) / 6.0f), 0.6f, 0.6f / 512.0f);
    }
    for (int k = 0; k < 3; k++) {
        assert_float_equal(high[k], 2.0f, 0.0f);
        assert_float_equal(low[k], -2.0f, 0.0f);
    }
    // one face red: it is seen in its direction alone
    for (int i = 0; i < ORR_PROBE_FACE * ORR_PROBE_FACE; i++) {
        faces[3].rgb[3 * i] = 5.0f;
    }
    assert_ok(orr_probe_fill(jobs, faces, faces, e, low, high, &error));
    assert_float_equal(red_of(e, make_real3(0.1f, -1.0f, 0.2f), 0.0f), 5.0f, 5.0f / 256.0f);
    assert_float_equal(red_of(e, make_real3(0.1f, 1.0f, 0.2f), 0.0f), 0.6f, 0.6f / 256.0f);
    // inside a wall: opaque, at no distance; what is not a number is dark
    set_faces(faces, &behind, NAN, 1.0f, 0.0f);
    assert_ok(orr_probe_fill(jobs, faces, faces, e, low, high, &error));
    for (int i = 0; i < 40; i++) {
        assert_true(red_of(e, direction(i), 0.3f) >= 0.0f);
        assert_true(environment_diffuse(view_of(e), direction(i)).x >= 0.0f);
    }
    orr_environment_destroy(e);
    free(faces);
}

// Half of white splats at 2: a mesh before them hides them, one behind them is half seen, and none is where
// its depth is infinite.
static void meshes_are_among_what_faces_show(void **state)
{
    (void)state;
    orr_probe_face *faces = calloc(6, sizeof *faces), *out = calloc(1, sizeof *out);
    orr_probe_meshes *meshes = calloc(1, sizeof *meshes);
    static float rgba[4 * ORR_PROBE_FACE * ORR_PROBE_FACE], depth[ORR_PROBE_FACE * ORR_PROBE_FACE];
    const orr_probe_behind behind = {.ambient = {0.2f, 0.2f, 0.2f}};
    for (int i = 0; i < ORR_PROBE_FACE * ORR_PROBE_FACE; i++) {
        for (int k = 0; k < 4; k++) {
            rgba[4 * i + k] = 0.5f; // premultiplied
        }
        depth[i] = 2.0f;
    }
    for (int i = 0; i < ORR_PROBE_MESHES * ORR_PROBE_MESHES; i++) {
        const int row = i / ORR_PROBE_MESHES;
        meshes->depth[i] = row < 8 ? 1.0f : row < 24 ? 3.0f : INFINITY;
        meshes->rgb[i][0] = 0.4f;
    }
    const orr_picture shown = {rgba, depth};
    orr_probe_take(0, &shown, &behind, &faces[0]);
    orr_probe_put_meshes(&shown, meshes, &faces[0], out);
    const int row = 3 * ORR_PROBE_FACE;
    assert_float_equal(out->rgb[5 * row], 0.4f, 1e-6f);
    assert_float_equal(out->rgb[5 * row + 1], 0.0f, 1e-6f);
    assert_float_equal(out->rgb[30 * row], 0.7f, 1e-6f);
    assert_float_equal(out->rgb[30 * row + 1], 0.5f, 1e-6f);
    assert_float_equal(out->rgb[60 * row], 0.6f, 1e-6f);
    assert_float_equal(out->distance, 2.0f, 0.0f);
    free(meshes);
    free(out);
    free(faces);
}

static void faces_look_along_the_axes(void **state)
{
    (void)state;
    for (int f = 0; f < 6; f++) {
        const float at[3] = {1, 2, 3};
        orr_camera camera = orr_probe_camera(f, at, 0.01f);
        orr_lens lens;
        assert_ok(orr_camera_resolve(&camera, &lens, &error));
        for (int k = 0; k < 3; k++) {
            float expected = k == f / 2 ? (f % 2 ? -1.0f : 1.0f) : 0.0f;
            assert_float_equal(lens.view[8 + k], expected, 0.0f);
            assert_float_equal(lens.position[k], at[k], 0.0f);
        }
    }
}

static void mirror_images_of_a_box_are_where_its_walls_are(void **state)
{
    (void)state;
    orr_environment_values v = {
        .to_map = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, .low = {-2, -2, -2}, .high = {2, 2, 4}};
    const environment_view box = environment_of(&v);
    // from (1, 0, 0) along +z the wall is met at (1, 0, 4)
    real3 d = environment_towards(box, make_real3(1.0f, 0.0f, 0.0f), make_real3(0.0f, 0.0f, 1.0f));
    assert_float_equal(d.x, 1.0f, 1e-5f);
    assert_float_equal(d.z, 4.0f, 1e-5f);
    // from outside, and in a box without a size, it stays finite
    d = environment_towards(box, make_real3(90.0f, 0.0f, 0.0f), make_real3(1.0f, 0.0f, 0.0f));
    assert_true(isfinite(d.x) && isfinite(d.y) && isfinite(d.z));
    real2 flat = environment_flatten(make_real3(0.0f, 0.0f, 0.0f));
    assert_true(isfinite(flat.x) && isfinite(flat.y));
}

static int open_jobs(void **state)
{
    (void)state;
    return orr_jobs_create(2, NULL, NULL, &jobs, NULL) != ORR_OK;
}

static int close_jobs(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmonics_are_those_of_closed_forms),
        cmocka_unit_test(one_colour_stays_itself_however_blurred),
        cmocka_unit_test(maps_are_blurred_as_rough_surfaces_mirror),
        cmocka_unit_test(pixels_are_drawn_by_their_light),
        cmocka_unit_test(the_density_of_draws_sums_up_to_one),
        cmocka_unit_test(bad_pictures_are_refused_in_one_line),
        cmocka_unit_test(negative_values_of_files_are_black),
        cmocka_unit_test(light_beyond_the_texels_range_is_scaled),
        cmocka_unit_test(albedos_are_the_golden_ones),
        cmocka_unit_test(what_is_mirrored_and_what_is_matte_add_up_to_the_albedo),
        cmocka_unit_test(probes_hold_what_their_faces_show),
        cmocka_unit_test(meshes_are_among_what_faces_show),
        cmocka_unit_test(faces_look_along_the_axes),
        cmocka_unit_test(mirror_images_of_a_box_are_where_its_walls_are),
    };
    return cmocka_run_group_tests(tests, open_jobs, close_jobs);
}
