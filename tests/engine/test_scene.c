// Tests of engine/scene and engine/loop: the scene, what files become in it, the default camera, and the
// world.
#include "assets/clouds.h"
#include "engine/core/file.h"
#include "engine/maths/camera.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Eight splats at the corners of a box from -half to half.
static orr_splats *corners(float half)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(8, 0, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            view.position[3 * i + k] = (i >> k & 1) ? half : -half;
            view.log_scale[3 * i + k] = -5.0f;
        }
    }
    return splats;
}

static orr_scene *empty_scene(void)
{
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    return scene;
}

static orr_layer add_corners(orr_scene *scene, const char *name, float half, const orr_transform *transform)
{
    orr_splats *splats = corners(half);
    orr_layer layer;
    assert_ok(orr_scene_add_splats(scene, name, splats, transform, &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

static const char *written_cloud(const char *name)
{
    const char *path = scratch_path(name);
    orr_splats *splats = corners(1.0f);
    assert_ok(orr_splats_save(splats, path, &error));
    orr_splats_destroy(splats);
    return path;
}

static void assert_says(const orr_error *error, const char *words)
{
    if (!strstr(error->message, words)) {
        fail_msg("\"%s\"\ndoes not say: %s", error->message, words);
    }
}

static void layers_keep_their_order_and_ids(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_layer a = add_corners(scene, "a", 1.0f, NULL);
    orr_layer b =
        add_corners(scene, "b", 2.0f, &(orr_transform){.position = {1, 2, 3}, .rotation = {0, 0, 3, 0}});
    orr_layer c = add_corners(scene, "c", 3.0f, NULL);
    assert_int_equal(orr_scene_layer_count(scene), 3);
    assert_int_equal(orr_scene_layer(scene, 1).slot, b.slot);
    assert_int_equal(orr_scene_layer(scene, 3).slot, 0);
    assert_int_equal(orr_scene_layer(scene, -1).slot, 0);

    orr_layer_info info;
    assert_ok(orr_scene_layer_info(scene, b, &info, &error));
    assert_int_equal(info.kind, ORR_LAYER_SPLATS);
    assert_string_equal(info.name, "b");
    assert_int_equal(info.count, 8);
    assert_true(info.bytes > 0);
    assert_float_equal(info.low[2], -2.0f, 0.0);
    assert_float_equal(info.high[2], 2.0f, 0.0);
    assert_float_equal(info.transform.scale, 1.0f, 0.0);
    assert_float_equal(info.transform.rotation[2], 1.0f, 0.0);

    orr_error why;
    assert_ok(orr_scene_remove(scene, b, &error));
    assert_int_equal(orr_scene_remove(scene, b, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(why.code, ORR_CODE_STALE_ID);
    assert_int_equal(orr_scene_layer_info(scene, b, &info, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_scene_layer_count(scene), 2);
    assert_int_equal(orr_scene_layer(scene, 0).slot, a.slot);
    assert_int_equal(orr_scene_layer(scene, 1).slot, c.slot);
    orr_layer d = add_corners(scene, NULL, 1.0f, NULL); // takes b's slot, and is not b
    assert_int_equal(d.slot, b.slot);
    assert_int_equal(orr_scene_layer_info(scene, b, &info, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_scene_layer(scene, 2).generation, d.generation);
    for (int i = 0; i < 12; i++) { // beyond the first capacity
        add_corners(scene, "more", 1.0f, NULL);
    }
    assert_int_equal(orr_scene_layer_count(scene), 15);
    for (int i = 0; i < 15; i++) { // uploaded copies are told apart by their keys
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(scene->layers[i].key, scene->layers[j].key);
        }
    }
    orr_scene_destroy(scene);
}

// That shadows are drawn is test_cloud_shadows' subject, that scene files keep this test_world_save's.
static void a_program_says_when_a_cloud_casts_shadows(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    const orr_layer cloud = add_corners(scene, "cloud", 1.0f, NULL);
    assert_false(orr_layer_casts_shadow(&scene->layers[0])); // it does not move
    assert_ok(orr_scene_set_shadow_casting(scene, cloud, ORR_SHADOW_CASTING_ALWAYS, &error));
    assert_true(orr_layer_casts_shadow(&scene->layers[0]));
    assert_ok(orr_scene_set_shadow_casting(scene, cloud, ORR_SHADOW_CASTING_MOVING, &error));
    assert_false(orr_layer_casts_shadow(&scene->layers[0]));
    assert_ok(orr_scene_set_shadow_casting(scene, cloud, ORR_SHADOW_CASTING_NEVER, &error));
    assert_false(orr_layer_casts_shadow(&scene->layers[0]));
    orr_error why;
    for (int i = 0; i < 2; i++) {
        const orr_shadow_casting bad = (orr_shadow_casting)(i ? 3 : -1);
        assert_int_equal(orr_scene_set_shadow_casting(scene, cloud, bad, &why), ORR_ERROR_ARGUMENT);
        assert_non_null(strstr(why.message, "expected 0 .. 2"));
    }
    assert_int_equal(orr_scene_set_shadow_casting(scene, (orr_layer){0}, ORR_SHADOW_CASTING_NEVER, &why),
                     ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected a layer of the scene"));
    orr_layer cube;
    assert_ok(orr_scene_add_file(scene, written("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), NULL,
                                 &cube, &error));
    assert_int_equal(orr_scene_set_shadow_casting(scene, cube, ORR_SHADOW_CASTING_NEVER, &why),
                     ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected a cloud"));
    orr_scene_destroy(scene);
}

static void a_transform_that_is_none_is_refused(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_splats *splats = corners(1.0f);
    const orr_transform bad[] = {{.scale = -1.0f}, {.position = {NAN}}, {.rotation = {INFINITY}}};
    for (int i = 0; i < 3; i++) {
        orr_error why;
        assert_int_equal(orr_scene_add_splats(scene, "x", splats, &bad[i], NULL, &why), ORR_ERROR_ARGUMENT);
        assert_int_equal(orr_scene_layer_count(scene), 0);
    }
    orr_splats_destroy(splats);
    orr_scene_destroy(scene);
}

static void a_cloud_file_becomes_a_scene_of_one_layer(void **state)
{
    (void)state;
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, written_cloud("one.ply"), &scene, &error));
    assert_int_equal(orr_scene_layer_count(scene), 1);
    orr_layer_info info;
    assert_ok(orr_scene_layer_info(scene, orr_scene_layer(scene, 0), &info, &error));
    assert_string_equal(info.name, "one.ply");
    assert_int_equal(info.count, 8);
    assert_int_equal(orr_scene_camera_count(scene), 0);
    assert_null(orr_scene_camera(scene, 0));
    assert_false(scene->has_background);
    orr_scene_destroy(scene);
}

static void a_scene_file_brings_layers_cameras_and_light(void **state)
{
    (void)state;
    written_cloud("cloud.ply");
    written("path.json", "{\"camera_angle_x\": 1, \"frames\": [{\"file_path\": \"a.png\", "
                         "\"transform_matrix\": [[1,0,0,5],[0,1,0,6],[0,0,1,7]]}]}");
    const char *path =
        written("scene.json",
                "{\"orrery\": 1, \"background\": [0.25, 0, 1], \"cameras_file\": \"path.json\","
                "\"sun\": {\"direction\": [0, 0, 5]},"
                "\"cameras\": [{\"name\": \"front\", \"eye\": [0, 0, -3], \"target\": [0, 0, 0]}],"
                "\"layers\": [{\"file\": \"cloud.ply\", \"name\": \"near\", \"antialias\": true},"
                "{\"file\": \"cloud.ply\", \"position\": [1, 0, 0], \"scale\": 2, \"visible\": false}]}");
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    assert_int_equal(orr_scene_layer_count(scene), 2);
    assert_string_equal(scene->layers[0].name, "near");
    assert_string_equal(scene->layers[1].name, "cloud.ply");
    assert_true(scene->layers[0].antialias);
    assert_false(scene->layers[1].antialias);
    assert_true(scene->layers[0].visible);
    assert_false(scene->layers[1].visible);
    assert_int_equal(orr_scene_camera_count(scene), 2);
    assert_float_equal(orr_scene_camera(scene, 0)->pose[11], -3.0f, 0.0);
    assert_float_equal(orr_scene_camera(scene, 1)->pose[11], 7.0f, 0.0);
    assert_int_equal(orr_scene_camera(scene, 1)->width, 1280);
    assert_null(orr_scene_camera(scene, 2));
    orr_world *world;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_string_equal(orr_world_camera_name(world, 0), "front");
    assert_string_equal(orr_world_camera_name(world, 1), "a.png");
    assert_null(orr_world_camera_name(world, 2));
    orr_world_destroy(world);
    assert_true(scene->has_background);
    assert_float_equal(scene->background[0], 0.25f, 0.0);
    assert_float_equal(scene->sun.direction[2], 1.0f, 0.0);

    // added to a scene, under a transform: its layers only, moved as a whole
    const float half = 0.70710678f; // a quarter turn about z: x goes to y
    orr_transform outer = {.position = {0, 0, 10}, .rotation = {half, 0, 0, half}, .scale = 3};
    orr_layer first;
    orr_scene *other = empty_scene();
    add_corners(other, "before", 1.0f, NULL);
    assert_ok(orr_scene_add_file(other, path, &outer, &first, &error));
    assert_int_equal(orr_scene_layer_count(other), 3);
    assert_int_equal(orr_scene_camera_count(other), 0);
    assert_false(other->has_background);
    assert_int_equal(first.slot, orr_scene_layer(other, 1).slot);
    orr_layer_info info;
    assert_ok(orr_scene_layer_info(other, orr_scene_layer(other, 2), &info, &error));
    const float place[3] = {0.0f, 3.0f, 10.0f};
    for (int i = 0; i < 3; i++) {
        assert_float_equal(info.transform.position[i], place[i], 1e-5); // the rounding of half
    }
    assert_float_equal(info.transform.scale, 6.0f, 0.0);
    assert_float_equal(info.transform.rotation[3], half, 1e-6);
    orr_scene_destroy(other);
    orr_scene_destroy(scene);
}

typedef struct told {
    int count, stop_at; // calls; -1: none of them stops the work
    double share;
    bool reading, ordering;
} told;

static bool take_progress(void *user, const char *path, const char *stage, double share)
{
    told *t = user;
    assert_true(strstr(path, "told.ply") != NULL);
    assert_true(share >= t->share && share <= 1.0); // never back
    t->share = share;
    t->reading |= strcmp(stage, "reading") == 0;
    t->ordering |= strcmp(stage, "ordering") == 0;
    return t->count++ != t->stop_at;
}

static void a_program_is_told_how_far_a_file_is_and_may_stop_it(void **state)
{
    (void)state;
    const char *path = written_cloud("told.ply");
    told t = {.stop_at = -1};
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CPU, .progress = take_progress, .progress_user = &t};
    orr_engine *own;
    orr_scene *scene;
    assert_ok(orr_engine_create(&desc, &own, &error));
    assert_ok(orr_scene_load(own, path, &scene, &error));
    assert_true(t.reading && t.ordering && t.count >= 3);
    int calls = t.count;
    for (int i = 0; i < calls; i++) { // wherever it is stopped, the scene stays as it was
        t = (told){.stop_at = i};
        orr_error why = {0};
        assert_int_equal(orr_scene_add_file(scene, path, NULL, NULL, &why), ORR_ERROR_INTERRUPTED);
        assert_int_equal(why.code, ORR_CODE_INTERRUPTED);
        assert_int_equal(t.count, i + 1);
        assert_int_equal(orr_scene_layer_count(scene), 1);
    }
    orr_scene_destroy(scene);
    orr_engine_destroy(own);
}

static void transforms_apply_the_inner_one_first(void **state)
{
    (void)state;
    written_cloud("inner.ply");
    const char *path =
        written("inner.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"inner.ply\", \"position\": "
                              "[1, -2, 0.5], \"rotation\": [0.5, 0.1, -0.7, 0.3], \"scale\": 0.7}]}");
    orr_transform outer = {.position = {-3, 0.2f, 4}, .rotation = {0.2f, 0.9f, 0.1f, -0.4f}, .scale = 1.7f};
    orr_scene *alone, *moved = empty_scene();
    assert_ok(orr_scene_load(engine, path, &alone, &error));
    assert_ok(orr_scene_add_file(moved, path, &outer, NULL, &error));
    float a[12], b[12], product[12], direct[12];
    assert_ok(orr_affine_from_transform(&outer, a, &error));
    assert_ok(orr_affine_from_transform(&alone->layers[0].transform, b, &error));
    orr_affine_multiply(a, b, product);
    assert_ok(orr_affine_from_transform(&moved->layers[0].transform, direct, &error));
    assert_true(largest_difference(product, direct, 12) < 2e-6); // a few float steps at 4
    orr_scene_destroy(alone);
    orr_scene_destroy(moved);
}

static void a_failure_leaves_the_scene_as_it_was(void **state)
{
    (void)state;
    written_cloud("good.ply");
    const char *half = written("half.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"good.ply\"},"
                                            "{\"file\": \"missing.ply\"}]}");
    orr_scene *scene = empty_scene();
    orr_layer kept = add_corners(scene, "kept", 1.0f, NULL);
    orr_layer layer = {77, 77};
    orr_error why;
    assert_int_equal(orr_scene_add_file(scene, half, NULL, &layer, &why), ORR_ERROR_FILE);
    assert_says(&why, "half.json: layers[1]: ");
    assert_says(&why, "missing.ply: cannot open");
    assert_int_equal(orr_scene_layer_count(scene), 1);
    assert_int_equal(orr_scene_find(scene, kept), 0);
    assert_int_equal(layer.slot, 77);
    orr_scene *none = scene;
    assert_int_equal(orr_scene_load(engine, half, &none, &why), ORR_ERROR_FILE);
    assert_null(none);

    const char *lost = written("lost.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"good.ply\"}],"
                                            "\"cameras_file\": \"nowhere.json\"}");
    assert_int_equal(orr_scene_load(engine, lost, &none, &why), ORR_ERROR_FILE);
    assert_says(&why, "lost.json: cameras_file: ");
    orr_scene_destroy(scene);
}

static void files_that_are_no_scene_are_told_what_is(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_error why;
    assert_int_equal(orr_scene_load(engine, written("notes.txt", "hello"), &scene, &why), ORR_ERROR_FORMAT);
    assert_int_equal(why.code, ORR_CODE_FILE_TYPE);
    assert_says(&why, "notes.txt: unknown kind of file: expected a splat cloud");
    assert_says(&why, ".json");
    const char *capture = written("transforms.json", "{\"camera_angle_x\": 1, \"frames\": []}");
    assert_int_equal(orr_scene_load(engine, capture, &scene, &why), ORR_ERROR_FORMAT);
    assert_says(&why, "expected a scene");
    const char *loop = written("loop.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"loop.json\"}]}");
    assert_int_equal(orr_scene_load(engine, loop, &scene, &why), ORR_ERROR_FORMAT);
    assert_says(&why, "a scene file cannot hold another");
    assert_int_equal(orr_scene_load(engine, "/nonexistent/a.spz", &scene, &why), ORR_ERROR_FILE);
}

// Where the camera sees a point of the world [px]; false: behind it.
static bool seen(const orr_camera *camera, const double point[3], double pixel[2])
{
    orr_lens lens;
    assert_ok(orr_camera_resolve(camera, &lens, &error));
    double p[3];
    for (int i = 0; i < 3; i++) {
        p[i] = (double)lens.view[4 * i + 3];
        for (int k = 0; k < 3; k++) {
            p[i] += (double)lens.view[4 * i + k] * point[k];
        }
    }
    for (int i = 0; i < 2; i++) {
        pixel[i] = (double)lens.focal[i] * p[i] / p[2] + (double)lens.centre[i];
    }
    return p[2] > (double)lens.near_plane;
}

static void the_default_camera_sees_every_layer(void **state)
{
    (void)state;
    const int sizes[3][2] = {{1280, 720}, {500, 1000}, {64, 64}};
    for (int s = 0; s < 3; s++) {
        orr_scene *scene = empty_scene();
        // two boxes side by side and one above the other, the second half as large
        add_corners(scene, "a", 1.0f, NULL);
        add_corners(scene, "b", 1.0f, &(orr_transform){.position = {5, 3, 40}, .scale = 0.5f});
        int width = sizes[s][0], height = sizes[s][1];
        orr_camera camera = orr_scene_default_camera(scene, width, height);
        double nearest = 1e9, pixel[2];
        for (int i = 0; i < 16; i++) {
            double scale = i < 8 ? 1.0 : 0.5, point[3];
            const double place[3] = {i < 8 ? 0.0 : 5.0, i < 8 ? 0.0 : 3.0, i < 8 ? 0.0 : 40.0};
            for (int k = 0; k < 3; k++) {
                point[k] = place[k] + scale * ((i >> k & 1) ? 1.0 : -1.0);
            }
            assert_true(seen(&camera, point, pixel));
            assert_true(pixel[0] > 0.0 && pixel[0] < width && pixel[1] > 0.0 && pixel[1] < height);
            nearest = fmin(nearest, fmin(fmin(pixel[0], width - pixel[0]) / width,
                                         fmin(pixel[1], height - pixel[1]) / height));
        }
        // and they fill the picture: what comes closest to an edge leaves 5 % of half the picture's side
        assert_true(nearest < 0.03);
        assert_float_equal(camera.focal[1], 0.5f * (float)height / tanf(0.43633231f), 1e-2);
        orr_scene_destroy(scene);
    }
}

// More splats than the default camera samples (4096), which are in Morton order: the sample is an even one.
static void the_default_camera_sees_all_of_a_large_cloud(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_splats *splats = make_cloud(CLOUD_BALL, 20000, 0, 3);
    orr_layer layer;
    assert_ok(orr_scene_add_splats(scene, "ball", splats, NULL, &layer, &error));
    orr_camera camera = orr_scene_default_camera(scene, 400, 300);
    orr_splats_view view = orr_splats_data(splats);
    int inside = 0;
    for (int64_t i = 0; i < view.count; i++) {
        const float *p = view.position + 3 * i;
        double pixel[2];
        bool before = seen(&camera, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, pixel);
        inside += before && pixel[0] > 0.0 && pixel[0] < 400.0 && pixel[1] > 0.0 && pixel[1] < 300.0;
    }
    assert_int_equal(inside, view.count);
    orr_splats_destroy(splats);
    orr_scene_destroy(scene);
}

static void up_is_minus_y_for_clouds_and_scenes_may_be_tiny_or_empty(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_camera camera = orr_scene_default_camera(scene, 640, 480);
    double middle[2], above[2];
    assert_true(seen(&camera, (double[3]){0, 0, 0}, middle));
    assert_float_equal(middle[0], 320.0, 1e-3);
    assert_float_equal(middle[1], 240.0, 1e-3);
    add_corners(scene, "tiny", 1e-4f, &(orr_transform){.position = {0, 7, 0}});
    camera = orr_scene_default_camera(scene, 640, 480);
    assert_true(seen(&camera, (double[3]){0, 7, 0}, middle));
    assert_true(seen(&camera, (double[3]){0, 7 - 5e-5, 0}, above));
    assert_true(above[1] < middle[1]);
    assert_true(camera.pose[7] < 7.0f);          // from above
    assert_true(scene->sun.direction[1] < 0.0f); // and so is the light
    orr_scene_destroy(scene);
}

// A model that is an endless plane is as large as it is drawn where there is nothing else.
static void a_floor_does_not_make_the_rest_small(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_layer mesh;
    const char *floor =
        written("floor.xml", "<mujoco><worldbody><geom type='plane' size='0 0 .1'/></worldbody></mujoco>");
    assert_ok(orr_scene_load(engine, floor, &scene, &error));
    float centre[3];
    orr_camera camera = orr_scene_default_camera(scene, 640, 480);
    assert_true(camera.pose[11] > 100.0f);
    const char *roof = written("roof.obj", "v -1 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n");
    const orr_transform at = {.position = {5.0f, 0.0f, 0.0f}, .scale = 1.0f};
    assert_ok(orr_scene_add_file(scene, roof, &at, &mesh, &error));
    camera = orr_scene_default_camera(scene, 640, 480);
    assert_true(camera.pose[11] > 0.0f && camera.pose[11] < 5.0f);
    orr_scene_centre(scene, centre);
    assert_float_equal(centre[0], 5.0f, 1e-6);
    assert_true(orr_scene_looks_at(scene, &scene->layers[1]));
    assert_false(orr_scene_looks_at(scene, &scene->layers[0]));
    orr_scene_destroy(scene);
}

static void meshes_alone_have_y_up(void **state)
{
    (void)state;
    const char *path = written("roof.obj", "v -1 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n");
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    orr_layer_info info;
    assert_ok(orr_scene_layer_info(scene, orr_scene_layer(scene, 0), &info, &error));
    assert_int_equal(info.kind, ORR_LAYER_MESH);
    assert_int_equal(info.count, 1);
    assert_float_equal(info.high[1], 2.0f, 0.0);
    orr_camera camera = orr_scene_default_camera(scene, 640, 480);
    double tip[2], foot[2];
    assert_true(seen(&camera, (double[3]){0, 2, 0}, tip));
    assert_true(seen(&camera, (double[3]){0, 0, 0}, foot));
    assert_true(tip[1] < foot[1]);
    assert_true(camera.pose[11] > 0.0f); // in front, where glTF's +z is
    assert_true(scene->sun.direction[1] > 0.0f);
    orr_layer cloud = add_corners(scene, "cloud", 1.0f, NULL); // a cloud turns the scene over
    assert_true(scene->sun.direction[1] < 0.0f);
    assert_ok(orr_scene_remove(scene, cloud, &error));
    assert_true(scene->sun.direction[1] > 0.0f);
    orr_scene_destroy(scene);
}

static void worlds_start_as_the_scene_was_built_and_change_alone(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_layer a = add_corners(scene, "a", 1.0f, &(orr_transform){.position = {1, 0, 0}});
    orr_world *world;
    orr_error why;
    assert_int_equal(orr_world_create(scene, 0, &world, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_create(scene, ORR_WORLD_MAX + 1, &world, &why), ORR_ERROR_ARGUMENT);
    assert_ok(orr_world_create(scene, 3, &world, &error));
    orr_transform t;
    bool visible;
    assert_ok(orr_world_get(world, 2, a, &t, &visible, &error));
    assert_float_equal(t.position[0], 1.0f, 0.0);
    assert_true(visible);

    assert_ok(
        orr_world_set_transform(world, 1, a, &(orr_transform){.position = {9, 0, 0}, .scale = 4}, &error));
    assert_ok(orr_world_set_visible(world, 2, a, false, &error));
    const float place[3] = {1, 9, 1};
    for (int i = 0; i < 3; i++) {
        assert_ok(orr_world_get(world, i, a, &t, &visible, &error));
        assert_float_equal(t.position[0], place[i], 0.0);
        assert_float_equal(t.rotation[0], 1.0f, 0.0);
        assert_int_equal(visible, i != 2);
    }
    assert_int_equal(orr_world_set_visible(world, 3, a, false, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_set_visible(world, -1, a, false, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_set_transform(world, 0, a, &(orr_transform){.scale = -1}, &why),
                     ORR_ERROR_ARGUMENT);

    // layers added later are in every copy, and room for them keeps what was set
    orr_layer last = a;
    for (int i = 0; i < 20; i++) {
        last = add_corners(scene, "later", 1.0f, &(orr_transform){.position = {0, 5, 0}});
    }
    assert_ok(orr_world_get(world, 1, last, &t, &visible, &error));
    assert_float_equal(t.position[1], 5.0f, 0.0);
    assert_ok(orr_world_set_visible(world, 0, last, false, &error));
    assert_ok(orr_world_get(world, 1, a, &t, NULL, &error));
    assert_float_equal(t.position[0], 9.0f, 0.0);
    assert_ok(orr_world_get(world, 1, last, NULL, &visible, &error));
    assert_true(visible);

    // a layer in a removed layer's slot does not inherit its state
    assert_ok(orr_scene_remove(scene, a, &error));
    assert_int_equal(orr_world_get(world, 1, a, &t, &visible, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(why.code, ORR_CODE_STALE_ID);
    assert_int_equal(orr_world_set_visible(world, 1, a, true, &why), ORR_ERROR_ARGUMENT);
    orr_layer again = add_corners(scene, "again", 1.0f, NULL);
    assert_int_equal(again.slot, a.slot);
    assert_ok(orr_world_get(world, 1, again, &t, &visible, &error));
    assert_float_equal(t.position[0], 0.0f, 0.0);
    assert_ok(orr_world_get(world, 2, again, &t, &visible, &error));
    assert_true(visible);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// With three frames in flight, submitted and finished in turn; each has a background of its own.
static void frames_come_out_in_the_order_they_went_in(void **state)
{
    (void)state;
    orr_scene *scene = empty_scene();
    orr_world *world;
    orr_frame *frame;
    const orr_frame_desc desc = {.frames_in_flight = 3};
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, &desc, &frame, &error));
    orr_view view = {.camera = orr_scene_default_camera(scene, 4, 3), .has_background = true};
    int submitted = 0;
    for (int finished = 0; finished < 8; finished++) {
        for (; submitted < finished + 3; submitted++) {
            view.background[0] = 0.125f * (float)(submitted % 8);
            assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
        }
        float rgba[4 * 12];
        assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
        assert_float_equal(rgba[0], 0.125f * (float)finished, 1e-6);
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// Whoever wants only a part of a picture, or only its times, leaves the rest out.
static void planes_of_a_picture_may_be_left_out(void **state)
{
    (void)state;
    enum { WIDTH = 40, HEIGHT = 30, PIXELS = WIDTH * HEIGHT };
    static float rgba[2][4 * PIXELS], depth[2][PIXELS];
    orr_scene *scene = empty_scene();
    add_corners(scene, "corners", 1.0f, NULL);
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    const orr_view view = {.camera = orr_scene_default_camera(scene, WIDTH, HEIGHT)};
    const orr_picture pictures[] = {
        {rgba[0], depth[0]}, {.rgba = rgba[1]}, {.depth = depth[1]}, {.rgba = NULL}};
    for (int i = 0; i < 5; i++) {
        assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
        assert_ok(orr_frame_finish(frame, i < 4 ? &pictures[i] : NULL, &error));
        assert_true(orr_frame_stages(frame, NULL, 0) > 0);
    }
    assert_memory_equal(rgba[0], rgba[1], sizeof rgba[0]);
    assert_memory_equal(depth[0], depth[1], sizeof depth[0]);
    float deepest = 0.0f;
    for (int i = 0; i < PIXELS; i++) {
        deepest = depth[0][i] > deepest ? depth[0][i] : deepest;
    }
    assert_true(deepest > 0.0f); // there is something to be seen
    orr_frame_destroy(frame);
    const orr_frame_desc unknown = {.device = (orr_device_kind)77};
    orr_error why = {0};
    assert_int_equal(orr_frame_create(engine, &unknown, &frame, &why), ORR_ERROR_ARGUMENT);
    assert_says(&why, "device 77");
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_keep_their_order_and_ids),
        cmocka_unit_test(a_program_says_when_a_cloud_casts_shadows),
        cmocka_unit_test(a_transform_that_is_none_is_refused),
        cmocka_unit_test(a_cloud_file_becomes_a_scene_of_one_layer),
        cmocka_unit_test(a_scene_file_brings_layers_cameras_and_light),
        cmocka_unit_test(a_program_is_told_how_far_a_file_is_and_may_stop_it),
        cmocka_unit_test(transforms_apply_the_inner_one_first),
        cmocka_unit_test(a_failure_leaves_the_scene_as_it_was),
        cmocka_unit_test(files_that_are_no_scene_are_told_what_is),
        cmocka_unit_test(the_default_camera_sees_every_layer),
        cmocka_unit_test(a_floor_does_not_make_the_rest_small),
        cmocka_unit_test(the_default_camera_sees_all_of_a_large_cloud),
        cmocka_unit_test(up_is_minus_y_for_clouds_and_scenes_may_be_tiny_or_empty),
        cmocka_unit_test(meshes_alone_have_y_up),
        cmocka_unit_test(worlds_start_as_the_scene_was_built_and_change_alone),
        cmocka_unit_test(frames_come_out_in_the_order_they_went_in),
        cmocka_unit_test(planes_of_a_picture_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
