// Tests of the path tracer against closed forms; also test_path_tracer_bsdf.c and test_path_tracer_raster.c.
#define ORR_SCALAR
#include "engine/maths/colour_formula.h"
#include "tests/render/scenes/path_stage.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

// ---- light ----

// A white sphere in light of radiance 1 from everywhere cannot be seen.
static void a_white_sphere_vanishes_in_a_furnace(void **state)
{
    (void)state;
    stage *s = open_stage(45.0f, 1);
    add_sphere(s, (float[3]){0, 0, 4}, 1.5f, true);
    set_ambient(s, 1.0f);
    trace(s, 16, 1);
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_float_equal(s->rgba[4 * i], 1.0, 1e-4);
    }
    assert_int_equal(s->statistics.left_out, 2 * 48);
    close_stage(s);
}

// In a deep white box that is open towards the camera light is scattered many times, and none is lost.
static void light_is_neither_lost_nor_made_between_surfaces(void **state)
{
    (void)state;
    stage *s = open_stage(24.0f, 1);
    add_wall(s, 1.0f, 6.0f);
    for (int side = -1; side <= 1; side += 2) {
        float a = (float)side;
        add_quad(s, (float[4][3]){{a, -1, 2}, {a, 1, 2}, {a, 1, 6}, {a, -1, 6}});
        add_quad(s, (float[4][3]){{-1, a, 2}, {1, a, 2}, {1, a, 6}, {-1, a, 6}});
    }
    add_sphere(s, (float[3]){0.2f, 0, 5}, 0.5f, true);
    set_ambient(s, 0.5f);
    trace(s, 64, 1);
    assert_close(mean_of(s, 0, 4), 0.5, 5e-3);
    close_stage(s);
}

// Base colour times the cosine, under a lamp far away; and no light from behind.
static void a_plane_under_a_far_lamp_has_lamberts_cosine(void **state)
{
    (void)state;
    stage *s = open_stage(40.0f, 1);
    orr_mesh_material *grey = add_wall(s, 4.0f, 3.0f);
    grey->base_colour[0] = 0.5f;
    s->list.lights[0] = (orr_draw_light){
        .directional = true, .direction = {0.6f, 0, 0.8f}, .cutoff = 180.0f, .diffuse = {2.0f, 1.0f, 0.0f}};
    s->list.light_count = 1;
    trace(s, 4, 1);
    assert_close(mean_of(s, 0, 0), 0.5 * 2.0 * 0.8, 1e-5);
    assert_close(mean_of(s, 1, 0), 0.8, 1e-5);
    s->list.lights[0].direction[2] = -0.8f;
    trace(s, 4, 1);
    assert_close(mean_of(s, 0, 0), 0.0, 0.0);
    close_stage(s);
}

// The sun's disc instead: the same light, and a shadow's edge as wide as its angle.
static void the_sun_lights_as_a_disc(void **state)
{
    (void)state;
    stage *s = open_stage(40.0f, 1);
    add_wall(s, 4.0f, 3.0f);
    s->list.sun = (orr_draw_sun){.direction = {0.6f, 0, -0.8f}, .colour = {2, 1, 0.5f}};
    trace(s, 64, 1);
    assert_close(mean_of(s, 0, 0), 2.0 * 0.8, 2e-3);
    assert_close(mean_of(s, 2, 0), 0.5 * 0.8, 1e-3);
    // above the wall and beside the view: half of it is in the shadow
    float roof[4][3] = {{1.5f, -9, 1}, {1.5f, 9, 1}, {20, 9, 1}, {20, -9, 1}};
    orr_mesh_material *black = add_quad(s, roof);
    black->base_colour[0] = black->base_colour[1] = black->base_colour[2] = 0.0f;
    trace(s, 256, 1);
    double lit = mean_of(s, 0, 0) / 1.6;
    // the edge at x = 1.5 is seen on the wall at 1.5 - 2 x 0.6 / 0.8 = 0
    assert_close(lit, 0.5, 0.01);
    close_stage(s);
}

// Irradiance by a polygon of radiance L at a point: L / 2 times the sum over its edges of the angle that an
// edge covers times the cosine to its plane's normal (Lambert 1760). Corners clockwise seen from the point.
static double polygon_light(const double corners[4][3], const double point[3], const double normal[3])
{
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        double a[3], b[3], across[3], lengths[2] = {0}, dot = 0.0, length = 0.0, facing = 0.0;
        for (int k = 0; k < 3; k++) {
            a[k] = corners[i][k] - point[k];
            b[k] = corners[(i + 1) % 4][k] - point[k];
            lengths[0] += a[k] * a[k];
            lengths[1] += b[k] * b[k];
            dot += a[k] * b[k];
        }
        for (int k = 0; k < 3; k++) {
            across[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            length += across[k] * across[k];
            facing += across[k] * normal[k];
        }
        sum += acos(dot / sqrt(lengths[0] * lengths[1])) * facing / sqrt(length);
    }
    return fabs(sum) / 2.0;
}

static void a_glowing_square_lights_in_closed_form(void **state)
{
    (void)state;
    stage *s = open_stage(4000.0f, 1); // all pixels are one point
    orr_mesh_material *wall = add_wall(s, 2.0f, 3.0f);
    wall->base_colour[0] = wall->base_colour[1] = wall->base_colour[2] = 0.7f;
    float lamp[4][3] = {{0.3f, -0.5f, 2.2f}, {1.2f, -0.5f, 2.0f}, {1.2f, 0.4f, 2.0f}, {0.3f, 0.4f, 2.2f}};
    orr_mesh_material *glow = add_quad(s, lamp);
    glow->emissive[0] = glow->emissive[1] = glow->emissive[2] = 5.0f;
    glow->base_colour[0] = glow->base_colour[1] = glow->base_colour[2] = 0.0f;
    double corners[4][3];
    for (int i = 0; i < 12; i++) {
        corners[i / 3][i % 3] = (double)lamp[i / 3][i % 3];
    }
    double irradiance =
        5.0 * polygon_light((const double(*)[3])corners, (double[3]){0, 0, 3}, (double[3]){0, 0, -1});
    trace(s, 200, 1);
    assert_close(mean_of(s, 0, 0), 0.7 * irradiance / 3.14159265358979,
                 0.01 * 0.7 * irradiance / 3.14159265358979);
    close_stage(s);
}

// Irradiance by a sphere of radiance 1 that covers the sine squared `sine` of a point's sky, whose middle is
// in a direction of a cosine to the normal: of the sphere above the horizon alone (Snyder 1996, "Area light
// sources for real-time graphics").
static double sphere_light(double cosine, double sine)
{
    const double pi = 3.14159265358979;
    if (cosine * cosine > sine) {
        return cosine > 0.0 ? pi * sine * cosine : 0.0;
    }
    const double across = sqrt(1.0 - cosine * cosine), x = sqrt(1.0 / sine - 1.0), y = -x * cosine / across,
                 z = across * sqrt(1.0 - y * y);
    return (cosine * acos(y) - x * z) * sine + atan(z / x);
}

// A sphere, whole and partly below the horizon, and half of one in a shadow: as much as its closed form, at a
// strength that is that of a lamp without extent where it is whole.
static void a_sphere_lights_in_closed_form(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    const float places[4][3] = {{0, 0, 1.6f}, {0.9f, 0, 2.0f}, {0.6f, 0, 2.9f}, {0.5f, 0, 3.1f}};
    const float radius = 0.4f;
    stage *s = open_stage(4000.0f, 1); // all pixels are one point
    add_wall(s, 0.3f, 3.0f);           // so small that it does not cut what is behind its plane
    for (int i = 0; i < 4; i++) {
        const double *at = (double[3]){(double)places[i][0], 0.0, (double)places[i][2] - 3.0};
        const double square = at[0] * at[0] + at[2] * at[2], cosine = -at[2] / sqrt(square);
        s->list.lights[0] = (orr_draw_light){
            .cutoff = 180.0f, .attenuation = {0, 0, 1}, .diffuse = {2.0f, 1.0f, 0.5f}, .radius = radius};
        memcpy(s->list.lights[0].position, places[i], sizeof places[i]);
        s->list.light_count = 1;
        trace(s, 200, 1);
        const double sine = (double)(radius * radius) / square,
                     expected = sphere_light(cosine, sine) / pi * 2.0 / (double)(radius * radius);
        print_message("    %.4f, expected %.4f\n", mean_of(s, 0, 0), expected);
        assert_close(mean_of(s, 0, 0), expected, 0.01 * expected + 1e-4);
        if (i < 2) { // whole: as of a point
            assert_close(mean_of(s, 0, 0), 2.0 * cosine / square, 0.01 * 2.0 * cosine / square);
        }
    }
    // a screen, which the camera looks past, whose edge passes before the middle
    memcpy(s->list.lights[0].position, (float[3]){0.056f, 0, 1.6f}, 3 * sizeof(float));
    float screen[4][3] = {{0.5f, -9, 2.5f}, {0.5f, 9, 2.5f}, {0.02f, 9, 2.5f}, {0.02f, -9, 2.5f}};
    orr_mesh_material *black = add_quad(s, screen);
    black->base_colour[0] = black->base_colour[1] = black->base_colour[2] = 0.0f;
    trace(s, 200, 1);
    assert_close(mean_of(s, 0, 0), 2.0 / 1.96 / 2.0, 0.03);
    close_stage(s);
}

// Polished metal shows the sphere, and a disc in the sky, as bright as they are: what scattered rays meet and
// what is drawn from the lamp adds up, at any share of both.
static void metal_shows_a_sphere_as_bright_as_it_is(void **state)
{
    (void)state;
    const float radius = 0.5f;
    stage *s = open_stage(4000.0f, 1);
    orr_mesh_material *wall = add_wall(s, 2.0f, 3.0f);
    wall->metallic_roughness = true;
    wall->metallic = 1.0f;
    s->list.light_count = 1;
    for (int disc = 0; disc < 2; disc++) {
        // right behind the camera, or in its direction; a white surface that faces it is 0.1 bright
        s->list.lights[0] = (orr_draw_light){.directional = disc == 1,
                                             .position = {0, 0, -2},
                                             .direction = {0, 0, 1},
                                             .cutoff = 180.0f,
                                             .attenuation = {0, 0, 1},
                                             .diffuse = {2.5f, 2.5f, 2.5f},
                                             .radius = disc ? asinf(0.1f) : radius};
        const double bright = disc ? 2.5 / 0.01 : 2.5 / (double)(radius * radius);
        for (int i = 0; i < 3; i++) {
            wall->roughness = 0.05f + 0.05f * (float)i; // the lobe is inside, as large, and beyond
            trace(s, 200, 1);
            const double rough = (double)wall->roughness, alpha = rough * rough;
            // the part of the lobe of microfacets, in directions twice as far from the normal, that is in it
            const double angle = 0.5 * asin(0.1), tangent = tan(angle) * tan(angle),
                         part = tangent / (alpha * alpha + tangent);
            print_message("    disc %d, roughness %.2f: %.3f of %.3f\n", disc, rough, mean_of(s, 0, 0),
                          part * bright);
            assert_close(mean_of(s, 0, 0), part * bright, 0.02 * bright);
        }
    }
    close_stage(s);
}

// ---- the picture ----

static void bits_depend_neither_on_threads_nor_on_calls(void **state)
{
    (void)state;
    float first[SIDE * SIDE * 4];
    for (int threads = 1; threads <= 3; threads += 2) {
        stage *s = open_stage(8.0f, threads);
        add_wall(s, 9.0f, 6.0f)->emissive[0] = 0.1f;
        add_sphere(s, (float[3]){1, 0, 4}, 1.2f, true)->blended = true;
        s->meshes[1].material.base_colour[3] = 0.5f;
        s->list.sun =
            (orr_draw_sun){.direction = {0, 0.6f, -0.8f}, .colour = {1, 1, 1}, .ambient = {1, 1, 1}};
        trace(s, 6, 5);
        if (threads == 1) {
            memcpy(first, s->rgba, sizeof first);
        } else {
            assert_memory_equal(first, s->rgba, sizeof first);
        }
        trace(s, 6, 6);
        assert_memory_not_equal(first, s->rgba, sizeof first);
        close_stage(s);
    }
}

// Half of the light behind shines through, on average; the alpha of a hole is that of the background.
static void transparent_surfaces_let_light_through_by_chance(void **state)
{
    (void)state;
    stage *s = open_stage(40.0f, 1);
    orr_mesh_material *pane = add_wall(s, 2.0f, 2.0f);
    pane->blended = pane->unlit = true;
    pane->base_colour[3] = 0.25f;
    trace(s, 400, 1);
    assert_close(mean_of(s, 3, 0), 0.25, 0.01);
    assert_close(mean_of(s, 0, 0), 0.25, 0.01);
    pane->blended = false;
    pane->alpha_cutoff = 0.5f;
    trace(s, 4, 1);
    assert_close(mean_of(s, 3, 0), 0.0, 0.0);
    close_stage(s);
}

// The error against many samples falls as one over the square root of their number, and so does the estimate.
static void the_error_falls_with_the_square_root_of_the_samples(void **state)
{
    (void)state;
    stage *s = open_stage(8.0f, 1);
    add_wall(s, 9.0f, 6.0f);
    add_sphere(s, (float[3]){1, 0, 4}, 1.2f, true);
    s->list.sun = (orr_draw_sun){.direction = {0, 0.6f, -0.8f}, .colour = {1, 1, 1}, .ambient = {1, 1, 1}};
    trace(s, 2048, 99);
    float truth[SIDE * SIDE * 4];
    memcpy(truth, s->rgba, sizeof truth);
    double errors[2], estimates[2];
    for (int i = 0; i < 2; i++) {
        double sum = 0.0;
        trace(s, i == 0 ? 8 : 128, 1);
        for (int k = 0; k < SIDE * SIDE; k++) {
            sum += pow((double)(s->rgba[4 * k] - truth[4 * k]), 2.0);
        }
        errors[i] = sqrt(sum / (SIDE * SIDE));
        estimates[i] = s->statistics.error;
        assert_true(isfinite(estimates[i]) && estimates[i] > 0.7 * errors[i] &&
                    estimates[i] < 1.4 * errors[i]);
    }
    double slope = log(errors[1] / errors[0]) / log(16.0);
    assert_close(slope, -0.5, 0.05);
    assert_close(log(estimates[1] / estimates[0]) / log(16.0), -0.5, 0.05);
    close_stage(s);
}

// Not a number in normals, corners and lamps: no pixel has one.
static void broken_input_gives_no_nan(void **state)
{
    (void)state;
    stage *s = open_stage(8.0f, 1);
    add_wall(s, 9.0f, 6.0f);
    add_sphere(s, (float[3]){0, 0, 4}, 1.2f, false)->metallic_roughness = true; // roughness 0
    orr_mesh_vertex *v = s->vertices;
    v[0].normal[1] = NAN;
    v[1].normal[0] = v[1].normal[1] = v[1].normal[2] = 0.0f;
    v[VERTICES + 600].position[0] = NAN;
    v[VERTICES + 700].uv[0] = INFINITY;
    s->list.sun = (orr_draw_sun){.direction = {0, 0.6f, -0.8f}, .colour = {1, 1, 1}, .ambient = {1, 1, 1}};
    s->list.lights[0] =
        (orr_draw_light){.position = {0, 0, 6}, .cutoff = 180.0f, .diffuse = {1, 1, 1}}; // on the wall
    s->list.light_count = 1;
    trace(s, 16, 1);
    for (int i = 0; i < SIDE * SIDE * 4; i++) {
        assert_true(isfinite(s->rgba[i]));
    }
    assert_true(s->statistics.left_out > 2 * 48);
    s->list.lights[0].diffuse[0] = NAN;
    trace(s, 16, 1);
    for (int i = 0; i < SIDE * SIDE * 4; i++) {
        assert_true(isfinite(s->rgba[i]));
    }
    close_stage(s);
}

// Two round splats, one behind the other: what each covers of a ray follows from its distance to the ray.
static void splats_cover_rays_in_closed_form(void **state)
{
    (void)state;
    const float z[2] = {4.0f, 6.0f}, x[2] = {-0.3f, 0.4f}, deviation = 0.8f, opacity = 0.7f;
    const float colour[2][3] = {{0.9f, 0.2f, 0.1f}, {0.1f, 0.6f, 0.3f}};
    stage *s = open_stage(40.0f, 2);
    orr_splats *splats;
    orr_splat_pack *pack;
    assert_ok(orr_splats_create(2, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < 2; i++) {
        const int at = 1 - i; // the farther one first
        data.position[3 * at] = x[i];
        data.position[3 * at + 2] = z[i];
        data.opacity[at] = logf(opacity / (1.0f - opacity));
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * at + k] = logf(deviation);
            data.colour[3 * at + k] = (colour[i][k] - 0.5f) / 0.28209479f;
        }
    }
    assert_ok(orr_splat_pack_create(s->jobs, &data, NULL, &pack, &error));
    orr_draw_splats cloud = {.pack = pack, .key = 9};
    memcpy(cloud.model, identity, sizeof identity);
    s->list.splats = &cloud;
    s->list.splat_count = 1;
    trace(s, 1024, 1); // where in the pixel they are gives a mean an error of 5e-4
    for (int p = 0; p < SIDE * SIDE; p++) {
        const double dx = (p % SIDE + 0.5 - SIDE / 2.0) / 40.0, dy = (p / SIDE + 0.5 - SIDE / 2.0) / 40.0;
        double passes = 1.0, shown[3] = {0.0, 0.0, 0.0};
        for (int i = 0; i < 2; i++) {
            const double length = 1.0 + dx * dx + dy * dy,
                         along = (dx * (double)x[i] + (double)z[i]) / length,
                         apart = (double)(x[i] * x[i] + z[i] * z[i]) - along * along * length,
                         alpha = (double)opacity * exp(-0.5 * apart / (double)(deviation * deviation));
            for (int k = 0; k < 3; k++) {
                shown[k] += passes * alpha * (double)colour[i][k];
            }
            passes *= 1.0 - alpha;
        }
        assert_close((double)s->rgba[4 * p + 3], 1.0 - passes, 4e-3);
        for (int k = 0; k < 3; k++) {
            const double covers = 1.0 - passes, light = (double)srgb_to_linear((float)(shown[k] / covers));
            assert_close((double)s->rgba[4 * p + k], light * covers, 4e-3);
        }
    }
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(splats);
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_white_sphere_vanishes_in_a_furnace),
        cmocka_unit_test(light_is_neither_lost_nor_made_between_surfaces),
        cmocka_unit_test(a_plane_under_a_far_lamp_has_lamberts_cosine),
        cmocka_unit_test(the_sun_lights_as_a_disc),
        cmocka_unit_test(a_glowing_square_lights_in_closed_form),
        cmocka_unit_test(a_sphere_lights_in_closed_form),
        cmocka_unit_test(metal_shows_a_sphere_as_bright_as_it_is),
        cmocka_unit_test(transparent_surfaces_let_light_through_by_chance),
        cmocka_unit_test(the_error_falls_with_the_square_root_of_the_samples),
        cmocka_unit_test(bits_depend_neither_on_threads_nor_on_calls),
        cmocka_unit_test(splats_cover_rays_in_closed_form),
        cmocka_unit_test(broken_input_gives_no_nan),
    };
    return cmocka_run_group_tests_name("path_tracer", tests, NULL, NULL);
}
