// Tests of render/splat/splat_crop.c: a cloud is divided by a box, and the parts together are the cloud.
#include "assets/clouds.h"
#include "engine/orrery.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4000, SIDE = 96 };

static const orr_region box = {
    .centre = {0.2f, -0.1f, 0.1f}, .size = {0.9f, 0.7f, 1.1f}, .rotation = {0.9f, 0.3f, -0.2f, 0.4f}};

static orr_splats *part(const orr_region *region, bool outside)
{
    orr_splats *splats = make_cloud(CLOUD_BALL, COUNT, 1, 7);
    orr_region own = *region;
    own.outside = outside;
    assert_ok(orr_splats_crop(splats, &own, &error));
    return splats;
}

static double opacity_of(float logit)
{
    return 1.0 / (1.0 + exp(-(double)logit));
}

// Is the point in the box, by less than `margin` inside or outside?
static double distance_of(const float p[3])
{
    const double w = 0.9, x = 0.3, y = -0.2, z = 0.4, n = w * w + x * x + y * y + z * z;
    const double m[3][3] = {
        {1.0 - 2.0 * (y * y + z * z) / n, 2.0 * (x * y - w * z) / n, 2.0 * (x * z + w * y) / n},
        {2.0 * (x * y + w * z) / n, 1.0 - 2.0 * (x * x + z * z) / n, 2.0 * (y * z - w * x) / n},
        {2.0 * (x * z - w * y) / n, 2.0 * (y * z + w * x) / n, 1.0 - 2.0 * (x * x + y * y) / n}};
    double deepest = -1e9;
    for (int k = 0; k < 3; k++) { // the columns are the box's axes
        double along = 0.0;
        for (int c = 0; c < 3; c++) {
            along += m[c][k] * ((double)p[c] - (double)box.centre[c]);
        }
        deepest = fmax(deepest, fabs(along) - 0.5 * (double)box.size[k]);
    }
    return deepest;
}

static void each_splat_is_in_one_part(void **state)
{
    (void)state;
    orr_splats *whole = make_cloud(CLOUD_BALL, COUNT, 1, 7), *in = part(&box, false), *out = part(&box, true);
    const orr_splats_view w = orr_splats_data(whole), a = orr_splats_data(in), b = orr_splats_data(out);
    assert_true(a.count > 200 && b.count > 200);
    assert_int_equal(a.count + b.count, w.count);
    int64_t i = 0, j = 0;
    for (int64_t k = 0; k < w.count; k++) { // in the order of the file, with all that belongs to each
        const bool inside = distance_of(w.position + 3 * k) < 0.0;
        const orr_splats_view *of = inside ? &a : &b;
        const int64_t at = inside ? i++ : j++;
        assert_memory_equal(of->position + 3 * at, w.position + 3 * k, 3 * sizeof(float));
        assert_memory_equal(of->rotation + 4 * at, w.rotation + 4 * k, 4 * sizeof(float));
        assert_memory_equal(of->harmonics + 9 * at, w.harmonics + 9 * k, 9 * sizeof(float));
        assert_true(of->opacity[at] == w.opacity[k]);
    }
    orr_splats_destroy(whole);
    orr_splats_destroy(in);
    orr_splats_destroy(out);
}

static void shares_in_the_border_hide_as_much_as_the_splat(void **state)
{
    (void)state;
    orr_region soft = box;
    soft.falloff = 0.3f;
    orr_splats *whole = make_cloud(CLOUD_BALL, COUNT, 1, 7), *in = part(&soft, false),
               *out = part(&soft, true);
    const orr_splats_view w = orr_splats_data(whole), a = orr_splats_data(in), b = orr_splats_data(out);
    int64_t i = 0, j = 0, shared = 0;
    for (int64_t k = 0; k < w.count; k++) {
        const float *p = w.position + 3 * k;
        const bool in_a = i < a.count && memcmp(a.position + 3 * i, p, 3 * sizeof(float)) == 0;
        const bool in_b = j < b.count && memcmp(b.position + 3 * j, p, 3 * sizeof(float)) == 0;
        const double x = in_a ? opacity_of(a.opacity[i++]) : 0.0, y = in_b ? opacity_of(b.opacity[j++]) : 0.0;
        assert_true(fabs((1.0 - x) * (1.0 - y) - (1.0 - opacity_of(w.opacity[k]))) < 1e-6);
        const double d = distance_of(p);
        if (in_a && in_b) {
            shared++;
            assert_true(fabs(d) < 0.3);
            if (d < 0.0) { // the share of transmittance, in the box by -d: 0.5 - d / falloff
                const double share = log1p(-x) / log1p(-opacity_of(w.opacity[k]));
                assert_true(fabs(share - (0.5 - d / 0.3)) < 1e-3);
            }
        }
    }
    assert_true(i == a.count && j == b.count && shared > 200);
    orr_splats_destroy(whole);
    orr_splats_destroy(in);
    orr_splats_destroy(out);
}

static float *picture_of(orr_scene *scene)
{
    orr_world *world;
    orr_frame *frame;
    float *rgba = malloc(sizeof *rgba * 4 * SIDE * SIDE);
    const orr_view view = {.camera = orr_camera_look_at((float[]){0, 0, -4}, (float[]){0, 0, 0},
                                                        (float[]){0, -1, 0}, 0.7f, SIDE, SIDE)};
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    return rgba;
}

// The picture of one scene less that of both parts of its cloud, at most; and its root of the mean square.
static double parts_differ_by(double falloff, double *mean)
{
    char text[900];
    orr_scene *whole, *parts;
    const char *region =
        "{\"centre\": [0.2, -0.1, 0.1], \"size\": [0.9, 0.7, 1.1], \"rotation\": [0.9, 0.3, -0.2, "
        "0.4]";
    snprintf(
        text, sizeof text,
        "{\"orrery\": 1, \"layers\": [{\"file\": \"ball.ply\", \"region\": %s, \"falloff\": %g}}, {\"file\": "
        "\"ball.ply\", \"region\": %s, \"falloff\": %g, \"keep\": \"outside\"}}]}",
        region, falloff, region, falloff);
    assert_ok(orr_scene_load(engine, scratch_path("ball.ply"), &whole, &error));
    assert_ok(orr_scene_load(engine, written("parts.json", text), &parts, &error));
    float *a = picture_of(whole), *b = picture_of(parts);
    orr_layer_info info;
    assert_ok(orr_scene_layer_info(parts, orr_scene_layer(parts, 0), &info, &error));
    assert_true(info.count > 100 && info.count < COUNT);
    const double off = largest_difference(a, b, 4 * SIDE * SIDE);
    double square = 0.0;
    for (int i = 0; i < 4 * SIDE * SIDE; i++) {
        square += (double)(a[i] - b[i]) * (double)(a[i] - b[i]);
    }
    *mean = sqrt(square / (4.0 * SIDE * SIDE));
    free(a);
    free(b);
    orr_scene_destroy(whole);
    orr_scene_destroy(parts);
    return off;
}

static void two_parts_in_place_look_as_the_cloud(void **state)
{
    (void)state;
    orr_splats *cloud = make_cloud(CLOUD_BALL, COUNT, 1, 7);
    assert_ok(orr_splats_save(cloud, scratch_path("ball.ply"), &error));
    orr_splats_destroy(cloud);
    double none, mean;
    const double sharp = parts_differ_by(0.0, &none), soft = parts_differ_by(0.2, &mean);
    // equal depths apart, the same sums in the same order; with a border, two splats for one hide more where
    // they are thin than where they are densest
    if (!(sharp < 1e-6 && soft > 1e-4 && soft < 0.03 && mean < 1e-3)) {
        fail_msg("the parts look different by %g, with a border by %g, in the mean square by %g", sharp, soft,
                 mean);
    }
}

enum { FLOOR = 120, FLOOR_COUNT = FLOOR * FLOOR, BALL = 3000 };

// A sloping floor whose colour runs from side to side, without what a ball hides of it if there is one, and
// the ball. Up is z.
static orr_splats *make_room(bool with_ball)
{
    orr_splats *room;
    int64_t count = 0;
    assert_ok(orr_splats_create(FLOOR_COUNT + BALL, 1, &room, &error));
    const orr_splats_view s = orr_splats_data(room);
    for (int i = 0; i < FLOOR_COUNT + (with_ball ? BALL : 0); i++) {
        float *p = s.position + 3 * count;
        const bool floor = i < FLOOR_COUNT;
        if (floor) {
            p[0] = (float)(i % FLOOR) / FLOOR * 2.0f - 1.0f;
            p[1] = (float)(i / FLOOR) / FLOOR * 2.0f - 1.0f;
            p[2] = 0.1f * p[0];
            if (with_ball && p[0] * p[0] + p[1] * p[1] < 0.09f) { // never seen
                continue;
            }
        } else {
            const float z = (float)(i - FLOOR_COUNT) / BALL * 2.0f - 1.0f, r = sqrtf(1.0f - z * z);
            p[0] = 0.3f * r * cosf(2.4f * (float)i);
            p[1] = 0.3f * r * sinf(2.4f * (float)i);
            p[2] = 0.34f + 0.3f * z;
        }
        for (int k = 0; k < 3; k++) {
            s.colour[3 * count + k] = floor ? (float)(k - 1) * p[k % 2] : 1.5f;
            s.log_scale[3 * count + k] = logf(0.015f);
        }
        s.opacity[count++] = 4.0f;
    }
    const orr_region all = {.size = {8.0f, 8.0f, 8.0f}, .centre = {0.0f, 0.0f, 3.0f}};
    for (; count < FLOOR_COUNT + BALL; count++) { // what is left of the memory is far away
        s.position[3 * count] = 100.0f;
    }
    assert_ok(orr_splats_crop(room, &all, &error));
    return room;
}

static void draw_room(const orr_splats *room, float *rgba)
{
    const float eye[3] = {0.3f, -1.2f, 1.6f}, target[3] = {0.0f, 0.0f, 0.0f}, up[3] = {0.0f, 0.0f, 1.0f};
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE)};
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_splats(scene, "room", room, NULL, NULL, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// The floor goes on where the ball was: as the whole floor looks, whose hole nothing had seen.
static void the_hole_of_a_region_is_closed(void **state)
{
    (void)state;
    static float whole[SIDE * SIDE * 4], cut[SIDE * SIDE * 4];
    orr_region around = {.centre = {0.0f, 0.0f, 0.4f}, .size = {0.7f, 0.7f, 0.8f}, .outside = true};
    orr_splats *floor = make_room(false);
    draw_room(floor, whole);
    for (int filled = 0; filled < 2; filled++) {
        orr_splats *room = make_room(true);
        around.rim = filled ? 0.15f : 0.0f;
        assert_ok(orr_splats_crop(room, &around, &error));
        draw_room(room, cut);
        double least = 1.0, worst = 0.0;
        for (int i = 0; i < SIDE * SIDE * 4; i++) {
            worst = fmax(worst, fabs((double)cut[i] - (double)whole[i]));
            least = i % 4 == 3 && whole[i] > 0.99f ? fmin(least, (double)cut[i]) : least;
        }
        print_message("    %s: worst %.3f, least alpha %.3f, %lld splats\n", filled ? "closed" : "open",
                      worst, least, (long long)orr_splats_data(room).count);
        assert_true(filled ? worst < 0.06 && least > 0.97 : worst > 0.4 && least < 0.01);
        orr_splats_destroy(room);
    }
    // nothing around the region: nothing is closed
    orr_splats *room = make_room(true);
    around.centre[2] = 1.2f;
    around.size[2] = 1.9f;
    const int64_t before = orr_splats_data(room).count;
    assert_ok(orr_splats_crop(room, &around, &error));
    assert_true(orr_splats_data(room).count < before);
    around.rim = INFINITY;
    assert_int_equal(orr_splats_crop(room, &around, NULL), ORR_ERROR_ARGUMENT);
    orr_splats_destroy(room);
    orr_splats_destroy(floor);
}

static void what_is_no_region_is_refused(void **state)
{
    (void)state;
    const struct {
        orr_region region;
        const char *says;
    } wrong[] = {
        {{.size = {1, 0, 1}}, "expected finite numbers, a size above 0"},
        {{.size = {1, 1, NAN}}, "expected finite numbers"},
        {{.size = {1, 1, 1}, .centre = {INFINITY}}, "expected finite numbers"},
        {{.size = {1, 1, 1}, .falloff = -1}, "a falloff and a rim of at least 0"},
        {{.size = {1, 1, 1}, .rim = 0.1f}, "a rim of 0.1: expected the outer part"},
        {{.size = {1, 1, 1}, .centre = {9, 0, 0}}, "expected a box with a splat in it, not one of 1 x 1 x 1"},
        {{.size = {9, 9, 9}, .outside = true}, "expected a box with a splat outside it"},
    };
    orr_splats *splats = make_cloud(CLOUD_BALL, COUNT, 0, 7);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_error why = {0};
        assert_int_equal(orr_splats_crop(splats, &wrong[i].region, &why), ORR_ERROR_ARGUMENT);
        if (!strstr(why.message, wrong[i].says)) {
            fail_msg("%zu: %s", i, why.message);
        }
        assert_int_equal(orr_splats_data(splats).count, COUNT);
    }
    orr_splats_destroy(splats);
    orr_scene *scene;
    orr_error why = {0};
    assert_int_equal(
        orr_scene_load(engine,
                       written("mesh.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"a.obj\", "
                                            "\"region\": {\"centre\": [0, 0, 0], \"size\": [1, 1, 1]}}]}"),
                       &scene, &why),
        ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "mesh.json: layers[0]"));
    assert_non_null(strstr(why.message, "a.obj: region: expected a splat cloud"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_splat_is_in_one_part),
        cmocka_unit_test(shares_in_the_border_hide_as_much_as_the_splat),
        cmocka_unit_test(two_parts_in_place_look_as_the_cloud),
        cmocka_unit_test(the_hole_of_a_region_is_closed),
        cmocka_unit_test(what_is_no_region_is_refused),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
