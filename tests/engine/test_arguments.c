// What a caller can hand in that is wrong: every function of engine/orrery.h says ORR_ERROR_ARGUMENT, in
// every build, and nothing crashes. Functions that return no result return zero.
#include "engine/core/folder.h"
#include "engine/image/image.h"
#include "tests/support/engine.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 32, HEIGHT = 24 };

// One object of each kind.
typedef struct objects {
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_splats *splats;
    orr_output *output;
    orr_collider *collider;
    orr_env *env;
    orr_eyes *eyes;
    orr_policy_trainer *trainer;
    orr_trainer *learner;
    orr_material_trainer *material;
    orr_reference *reference;
    orr_registration *registration;
    orr_layer robot, cloud;
} objects;

static orr_collider *make_collider(void)
{
    static const float corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const uint32_t sides[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const orr_mesh_desc mesh = {.vertex_count = 4, .index_count = 12, .positions = corners, .indices = sides};
    orr_scene *scene;
    orr_layer layer;
    orr_collider *collider;
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_mesh(scene, NULL, &mesh, NULL, &layer, &error));
    assert_ok(orr_scene_make_collider(scene, layer, &(orr_collider_desc){.cell = 0.1}, &collider, &error));
    orr_scene_destroy(scene);
    return collider;
}

// Of a COLMAP model, which needs no COLMAP.
static orr_registration *make_registration(void)
{
    static const uint8_t pixels[4 * 4 * 4];
    char from[256], to[256];
    orr_registration *registration;
    assert_ok(orr_folder_make(scratch_path("model"), &error));
    assert_ok(orr_folder_make(scratch_path("model/images"), &error));
    written("model/cameras.txt", "1 PINHOLE 4 4 5 5 2 2\n");
    written("model/images.txt", "1 1 0 0 0 0 0 4 1 a.png\n\n2 1 0 0 0 1 0 4 1 b.png\n\n"
                                "3 1 0 0 0 0 1 4 1 c.png\n\n");
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "model/images/%c.png", 'a' + i);
        assert_ok(orr_png_save(scratch_path(from), pixels, 4, 4, &error));
    }
    snprintf(from, sizeof from, "%s", scratch_path("model"));
    snprintf(to, sizeof to, "%s", scratch_path("registered"));
    const orr_registration_desc desc = {.source = from, .output = to};
    orr_folder_remove(to); // of objects that were made before
    assert_ok(orr_registration_create(engine, &desc, &registration, &error));
    return registration;
}

// Of a picture of one colour.
static orr_trainer *make_learner(void)
{
    static const float grey[4 * 4 * 4] = {[0] = 0.5f};
    orr_output *output;
    orr_trainer *trainer;
    char path[300];
    snprintf(path, sizeof path, "%s", scratch_path("grey.png"));
    assert_ok(orr_output_create(&(orr_output_desc){.path = path, .count = 1}, &output, &error));
    assert_ok(orr_output_put(output, 0, grey, 4, 4, &error));
    assert_ok(orr_output_finish(output, &error));
    orr_output_destroy(output);
    const orr_train_desc desc = {.kind = ORR_TRAINER_IMAGE, .data = path, .batch = 64};
    assert_ok(orr_trainer_create(engine, &desc, &trainer, &error));
    return trainer;
}

// Of a triangle's.
static orr_material_trainer *make_material(void)
{
    const char *mesh =
        written("triangle.gltf",
                "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
                "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":0}]}],"
                "\"materials\":[{}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,"
                "\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{"
                "\"byteLength\":36,\"uri\":\"data:application/octet-stream;base64,"
                "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}");
    orr_material_trainer *trainer;
    assert_ok(
        orr_material_trainer_create(engine, &(orr_material_train_desc){.mesh = mesh}, &trainer, &error));
    return trainer;
}

static orr_view view_of(const objects *m)
{
    return (orr_view){.camera = orr_scene_default_camera(m->scene, WIDTH, HEIGHT)};
}

static objects make_objects(void)
{
    objects m;
    assert_ok(orr_splats_create(4, 1, &m.splats, &error));
    assert_ok(orr_scene_create(engine, &m.scene, &error));
    assert_ok(orr_scene_add_file(m.scene, own_robot("quadruped"), NULL, &m.robot, &error));
    assert_ok(orr_scene_add_splats(m.scene, NULL, m.splats, NULL, &m.cloud, &error));
    assert_ok(orr_world_create(m.scene, 2, &m.world, &error));
    assert_ok(orr_frame_create(engine, &(orr_frame_desc){.device = ORR_DEVICE_CPU}, &m.frame, &error));
    assert_ok(orr_output_create(&(orr_output_desc){.path = "%d.npy"}, &m.output, &error));
    m.collider = make_collider();
    const orr_env_desc env = {.task = "Ant-v5", .model = own_robot("quadruped"), .count = 1};
    assert_ok(orr_env_create(engine, &env, &m.env, &error));
    const orr_camera camera =
        orr_camera_look_at((float[]){0, 0, 5}, (float[]){0, 0, 0}, (float[]){0, 1, 0}, 0.8f, 8, 8);
    assert_ok(orr_eyes_create(m.world,
                              &(orr_eyes_desc){.views = &camera, .view_count = 1, .width = 8, .height = 8},
                              &m.eyes, &error));
    const orr_policy_train_desc train = {.task = "Ant-v5", .model = own_robot("quadruped"), .count = 64};
    assert_ok(orr_policy_trainer_create(engine, &train, &m.trainer, &error));
    m.learner = make_learner();
    m.material = make_material();
    const orr_view view = view_of(&m);
    assert_ok(orr_reference_create(m.scene, m.world, &view, 0, &m.reference, &error));
    m.registration = make_registration();
    return m;
}

static void destroy_objects(const objects *m)
{
    orr_eyes_destroy(m->eyes);
    orr_policy_trainer_destroy(m->trainer);
    orr_trainer_destroy(m->learner);
    orr_material_trainer_destroy(m->material);
    orr_reference_destroy(m->reference);
    orr_registration_destroy(m->registration);
    orr_env_destroy(m->env);
    orr_collider_destroy(m->collider);
    orr_output_destroy(m->output);
    orr_frame_destroy(m->frame);
    orr_world_destroy(m->world);
    orr_scene_destroy(m->scene);
    orr_splats_destroy(m->splats);
}

static objects made;

static int open_objects(void **state)
{
    if (open_engine(state) != 0) {
        return -1;
    }
    made = make_objects();
    return 0;
}

static int close_objects(void **state)
{
    destroy_objects(&made);
    return close_engine(state);
}

// Fails with the argument's code, and a line that contains `words`.
#define assert_refused(call, words)                                                                          \
    do {                                                                                                     \
        orr_error why = {0};                                                                                 \
        orr_result refused_result = (call);                                                                  \
        if (refused_result != ORR_ERROR_ARGUMENT || !strstr(why.message, words)) {                           \
            fail_msg("%s: %s: %s, expected an argument error with \"%s\"", #call,                            \
                     orr_result_name(refused_result), why.message, words);                                   \
        }                                                                                                    \
    } while (0)

// ---- NULL ----

typedef struct null_call {
    const char *function, *parameter;
    orr_result (*call)(orr_error *where);
    bool fails; // the function returns orr_result
} null_call;

#include "null_calls.h" // null_pointers.py: null_calls

static void a_null_pointer_is_refused_by_every_function(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof null_calls / sizeof null_calls[0]; i++) {
        const null_call *c = &null_calls[i];
        orr_error why = {0};
        orr_result result = c->call(&why);
        if (result != ORR_ERROR_ARGUMENT || c->call(NULL) != result || (c->fails && !why.message[0])) {
            fail_msg("%s, %s NULL: %s: %s", c->function, c->parameter, orr_result_name(result), why.message);
        }
    }
}

static void without_an_object_functions_return_zero(void **state)
{
    (void)state;
    const float axis[3] = {0, 1, 0};
    assert_int_equal(orr_engine_threads(NULL), 0);
    assert_int_equal(orr_engine_device(NULL), ORR_DEVICE_AUTO);
    assert_string_equal(orr_engine_describe(NULL), "");
    assert_int_equal(orr_camera_look_at(NULL, axis, axis, 1.0f, WIDTH, HEIGHT).width, 0);
    assert_null(orr_splats_data(NULL).position);
    assert_int_equal(orr_scene_layer_count(NULL), 0);
    assert_int_equal(orr_scene_layer(NULL, 0).slot, 0);
    assert_int_equal(orr_scene_camera_count(NULL), 0);
    assert_null(orr_scene_camera(NULL, 0));
    assert_int_equal(orr_scene_default_camera(NULL, WIDTH, HEIGHT).width, 0);
    assert_int_equal(orr_trainer_stages(NULL, NULL, 4), 0);
    orr_trainer_cancel(NULL);
    orr_trainer_destroy(NULL);
    assert_null(orr_scene_robot_body(NULL, made.robot, 0));
    assert_null(orr_scene_robot_geom(NULL, made.robot, 0));
    assert_int_equal(orr_world_device(NULL), ORR_DEVICE_CPU);
    assert_int_equal(orr_world_camera_count(NULL), 0);
    assert_null(orr_world_camera_name(NULL, 0));
    assert_int_equal(orr_frame_device(NULL), ORR_DEVICE_AUTO);
    assert_int_equal(orr_frame_stages(NULL, NULL, 4), 0);
}

// ---- numbers out of their ranges ----

// submits a view of which one member is wrong; also to be picked in
#define assert_view_refused(member, value, words)                                                            \
    do {                                                                                                     \
        orr_view wrong = view_of(&made);                                                                     \
        wrong.has_background = true;                                                                         \
        wrong.member = (value);                                                                              \
        orr_hit hit;                                                                                         \
        assert_refused(orr_frame_submit(made.frame, made.scene, made.world, &wrong, &why), words);           \
        assert_refused(orr_world_pick(made.world, &wrong, 1, 1, &hit, &why), "");                            \
        assert_int_equal(hit.layer.slot, 0);                                                                 \
    } while (0)

static void views_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_view_refused(background[0], NAN, "background");
    assert_view_refused(background[1], INFINITY, "background");
    assert_view_refused(background[2], -NAN, "background");
    assert_view_refused(exposure, NAN, "exposure");
    assert_view_refused(exposure, -20.5f, "exposure -20.5");
    assert_view_refused(tone, (orr_tone)4, "tone 4");
    assert_view_refused(world, -1, "world -1");
    assert_view_refused(world, 2, "world 2");
    assert_view_refused(camera.model, (orr_camera_model)7, "model 7");
    assert_view_refused(camera.width, 0, "size 0");
    assert_view_refused(camera.height, -5, "-5");
    assert_view_refused(camera.width, INT32_MAX, "size");
    assert_view_refused(camera.focal[0], NAN, "focal");
    assert_view_refused(camera.focal[1], 0.0f, "focal");
    assert_view_refused(camera.focal[1], -1.0f, "focal");
    assert_view_refused(camera.pose[0], NAN, "pose");
    assert_view_refused(camera.pose[3], INFINITY, "pose");
    assert_view_refused(camera.centre[1], NAN, "centre");
    assert_view_refused(camera.near_plane, NAN, "planes");
    assert_view_refused(camera.near_plane, -1.0f, "planes");
    assert_view_refused(camera.far_plane, 1e-9f, "planes");
    assert_view_refused(camera.radial[3], NAN, "distortion");
    assert_refused(orr_frame_submit(made.frame, made.scene, made.world, NULL, &why), "camera");
    const orr_view view = view_of(&made);
    orr_hit hit;
    assert_refused(orr_world_pick(made.world, &view, NAN, 1, &hit, &why), "point");
    assert_refused(orr_world_pick(made.world, &view, 1, -1, &hit, &why), "point");
    assert_refused(orr_frame_finish(made.frame, NULL, &why), "no frame");
    bool ready;
    orr_reference *reference;
    assert_refused(orr_reference_create(made.scene, made.world, NULL, 0, &reference, &why), "camera");
    assert_refused(orr_reference_advance(made.reference, 0, &why), "0 samples");
    assert_refused(orr_frame_advance(made.frame, NAN, &ready, &why), "expected a number");
}

static void descs_out_of_range_are_refused(void **state)
{
    (void)state;
    orr_engine *e;
    orr_frame *f;
    assert_refused(orr_engine_create(&(orr_engine_desc){.device = (orr_device_kind)77}, &e, &why), "77");
    assert_null(e);
    assert_refused(orr_engine_create(&(orr_engine_desc){.device = (orr_device_kind)-1}, &e, &why), "-1");
    assert_refused(orr_engine_create(&(orr_engine_desc){.threads = -1}, &e, &why), "threads -1");
    assert_refused(orr_engine_create(&(orr_engine_desc){.threads = INT32_MAX}, &e, &why), "threads");
    assert_refused(orr_frame_create(engine, &(orr_frame_desc){.device = (orr_device_kind)77}, &f, &why),
                   "77");
    assert_null(f);
    assert_refused(orr_frame_create(engine, &(orr_frame_desc){.frames_in_flight = -1}, &f, &why), "-1");
    assert_refused(orr_frame_create(engine, &(orr_frame_desc){.frames_in_flight = 9}, &f, &why), "9");

    orr_output *o;
    assert_refused(orr_output_create(&(orr_output_desc){.path = "a.mp4", .frames_per_second = NAN}, &o, &why),
                   "frames per second");
    assert_refused(orr_output_create(&(orr_output_desc){.path = "a.png", .count = -1}, &o, &why), "-1");
    assert_refused(
        orr_output_create(&(orr_output_desc){.path = "a.png", .count = 1, .channels = 5}, &o, &why),
        "5 channels");
    const float pixel[4] = {0};
    assert_refused(orr_output_put(made.output, 0, pixel, -1, 1, &why), "-1 x 1");
    assert_refused(orr_output_put(made.output, -1, pixel, 1, 1, &why), "picture -1");

    orr_splats *s;
    assert_refused(orr_splats_create(-1, 0, &s, &why), "-1 splats");
    assert_refused(orr_splats_create(1, 4, &s, &why), "degree 4");
    orr_world *w;
    assert_refused(orr_world_create(made.scene, 0, &w, &why), "0 worlds");
    assert_refused(orr_world_create(made.scene, -3, &w, &why), "-3 worlds");
    assert_null(w);
    assert_string_equal(orr_result_name((orr_result)-5), "unknown");
}

static void meshes_out_of_range_are_refused(void **state)
{
    (void)state;
    const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const float broken[9] = {0, 0, 0, 1, NAN, 0, 0, 1, 0};
    const float broken_colours[12] = {1, 1, 1, 1, NAN};
    const uint32_t indices[3] = {0, 1, 2}, outside[3] = {0, 1, 3};
    const orr_mesh_desc good = {
        .vertex_count = 3, .index_count = 3, .positions = positions, .indices = indices};
#define assert_mesh_refused(member, value, words)                                                            \
    do {                                                                                                     \
        orr_mesh_desc desc = good;                                                                           \
        desc.member = (value);                                                                               \
        assert_refused(orr_scene_add_mesh(made.scene, "m", &desc, NULL, NULL, &why), words);                 \
    } while (0)
    assert_mesh_refused(vertex_count, -1, "vertex_count");
    assert_mesh_refused(index_count, -3, "index_count");
    assert_mesh_refused(positions, NULL, "positions");
    assert_mesh_refused(positions, broken, "finite");
    assert_mesh_refused(normals, broken, "finite");
    assert_mesh_refused(colours, broken_colours, "finite");
    assert_mesh_refused(indices, outside, "indices");
    assert_mesh_refused(base_colour[2], NAN, "base_colour");
    assert_mesh_refused(base_colour[2], 1.5f, "base_colour");
    assert_mesh_refused(alpha_cutoff, NAN, "alpha_cutoff");
#undef assert_mesh_refused
    assert_refused(orr_scene_add_mesh(made.scene, "m", NULL, NULL, NULL, &why), "vertex_count");
    assert_int_equal(orr_scene_layer_count(made.scene), 2);
}

static void clouds_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    orr_splats *splats;
    assert_ok(orr_splats_create(3, 2, &splats, &error));
    const orr_splats_view d = orr_splats_data(splats);
    struct {
        float *value;
        const char *words;
    } wrong[] = {{&d.position[4], "splat 1: position"}, {&d.log_scale[8], "splat 2: scale"},
                 {&d.rotation[3], "splat 0: rotation"}, {&d.opacity[2], "splat 2: opacity"},
                 {&d.colour[3], "splat 1: colour"},     {&d.harmonics[70], "splat 2: harmonics"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const float before = *wrong[i].value;
        *wrong[i].value = i % 2 ? INFINITY : NAN;
        assert_refused(orr_scene_add_splats(made.scene, "c", splats, NULL, NULL, &why), wrong[i].words);
        assert_refused(orr_splats_save(splats, scratch_path("c.ply"), &why), wrong[i].words);
        *wrong[i].value = before;
    }
    d.rotation[4] = 0.0f;
    assert_refused(orr_scene_add_splats(made.scene, "c", splats, NULL, NULL, &why), "splat 1: rotation");
    orr_splats_destroy(splats);
    assert_int_equal(orr_scene_layer_count(made.scene), 2);
}

static void transforms_out_of_range_are_refused(void **state)
{
    (void)state;
    const orr_transform wrong[] = {{.scale = NAN},
                                   {.scale = -1.0f},
                                   {.scale = 1e30f},
                                   {.position = {NAN}},
                                   {.position = {0, -1e30f}},
                                   {.rotation = {0, NAN}},
                                   {.rotation = {INFINITY}},
                                   {.position = {0, 0, INFINITY}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_refused(orr_world_set_transform(made.world, 0, made.cloud, &wrong[i], &why), "transform");
        assert_refused(orr_scene_add_splats(made.scene, NULL, made.splats, &wrong[i], NULL, &why),
                       "transform");
    }
    // the largest ones, one inside the other, are drawn
    const orr_transform huge = {.position = {1e15f, -1e15f, 1e15f}, .scale = 1e15f};
    objects m = make_objects();
    assert_ok(orr_scene_bind(m.scene, m.cloud, m.robot, orr_scene_robot_body(m.scene, m.robot, 1), &error));
    assert_ok(orr_world_set_transform(m.world, 1, m.robot, &huge, &error));
    assert_ok(orr_world_set_transform(m.world, 1, m.cloud, &huge, &error));
    orr_view view = view_of(&m);
    view.world = 1;
    assert_ok(orr_frame_submit(m.frame, m.scene, m.world, &view, &error));
    assert_ok(orr_frame_finish(m.frame, NULL, &error));
    destroy_objects(&m);
}

static void robots_calls_out_of_range_are_refused(void **state)
{
    (void)state;
    double values[256] = {0};
    orr_transform transform;
    orr_camera camera;
    assert_refused(orr_world_get_robot(made.world, 0, made.robot, (orr_robot_quantity)99, values, &why),
                   "99");
    assert_refused(orr_world_set_robot(made.world, 0, made.robot, (orr_robot_quantity)-1, values, &why),
                   "-1");
    assert_refused(orr_world_get_robot(made.world, 2, made.robot, ORR_ROBOT_QPOS, values, &why), "world 2");
    assert_refused(orr_world_get_robot(made.world, 0, made.cloud, ORR_ROBOT_QPOS, values, &why), "robot");
    assert_refused(orr_world_set_device(made.world, (orr_device_kind)77, &why), "expected auto");
    assert_refused(orr_world_set_device(made.world, ORR_DEVICE_VULKAN, &why), "expected auto");
    assert_refused(orr_world_step(made.world, -1, &why), "-1 steps");
    assert_refused(orr_world_advance(made.world, NAN, &why), "seconds");
    assert_refused(orr_world_advance(made.world, -0.5, &why), "seconds");
    assert_refused(orr_world_reset_robot(made.world, 0, made.robot, -2, &why), "keyframe -2");
    assert_refused(orr_world_reset_robot(made.world, 0, made.robot, 1000, &why), "keyframe 1000");
    assert_refused(orr_world_body_transform(made.world, 0, made.robot, -1, &transform, &why), "body -1");
    assert_refused(orr_world_camera(made.world, 0, -1, 0, 0, &camera, &why), "camera -1");
    assert_refused(orr_world_camera(made.world, 5, 0, 0, 0, &camera, &why), "of world 5");
    assert_refused(orr_world_camera(made.world, 0, 0, -1, 5, &camera, &why), "-1 x 5");
    assert_refused(orr_world_camera(made.world, 0, 0, 5, 0, &camera, &why), "5 x 0");
    assert_refused(orr_scene_bind(made.scene, made.robot, made.robot, "torso", &why), "expected a cloud");
    assert_refused(orr_scene_bind(made.scene, made.cloud, made.robot, "no such", &why), "no such");
    assert_null(orr_scene_robot_body(made.scene, made.robot, -1));
    assert_null(orr_scene_robot_geom(made.scene, made.robot, INT32_MAX));
    assert_null(orr_world_camera_name(made.world, -1));
    assert_int_equal(orr_scene_layer(made.scene, -1).slot, 0);
    assert_null(orr_scene_camera(made.scene, -1));
}

// ---- what belongs to another scene or another engine ----

static void ids_of_another_scene_are_stale(void **state)
{
    (void)state;
    orr_engine *second;
    orr_scene *others[2];
    assert_ok(orr_engine_create(&(orr_engine_desc){.threads = 1, .device = ORR_DEVICE_CPU}, &second, &error));
    assert_ok(orr_scene_create(engine, &others[0], &error));
    assert_ok(orr_scene_create(second, &others[1], &error));
    for (int i = 0; i < 2; i++) {
        orr_layer layer, robot;
        orr_layer_info info;
        double time;
        // as in the scene of `made`
        assert_ok(orr_scene_add_file(others[i], own_robot("quadruped"), NULL, &robot, &error));
        assert_ok(orr_scene_add_splats(others[i], NULL, made.splats, NULL, &layer, &error));
        assert_int_equal(layer.slot, made.cloud.slot);
        assert_refused(orr_scene_layer_info(made.scene, layer, &info, &why), "expected a layer");
        assert_refused(orr_scene_remove(made.scene, layer, &why), "expected a layer");
        assert_refused(orr_scene_bind(made.scene, layer, made.robot, "torso", &why), "expected a layer");
        assert_refused(orr_world_set_transform(made.world, 0, layer, NULL, &why), "expected a layer");
        assert_refused(orr_world_set_visible(made.world, 0, layer, false, &why), "expected a layer");
        assert_refused(orr_world_get_robot(made.world, 0, robot, ORR_ROBOT_TIME, &time, &why),
                       "expected a layer");
        assert_null(orr_scene_robot_body(made.scene, robot, 0));
    }
    orr_scene_destroy(others[0]);
    orr_scene_destroy(others[1]);
    orr_engine_destroy(second);
}

static void worlds_of_another_scene_are_refused(void **state)
{
    (void)state;
    orr_engine *second;
    assert_ok(orr_engine_create(&(orr_engine_desc){.threads = 1, .device = ORR_DEVICE_CPU}, &second, &error));
    orr_frame *frame;
    assert_ok(orr_frame_create(second, NULL, &frame, &error));
    objects other = make_objects();
    const orr_view view = view_of(&made);
    assert_refused(orr_frame_submit(made.frame, made.scene, other.world, &view, &why), "another scene");
    assert_refused(orr_frame_submit(made.frame, other.scene, made.world, &view, &why), "another scene");
    assert_refused(orr_frame_submit(frame, made.scene, made.world, &view, &why), "another engine");
    orr_frame_destroy(frame);
    orr_engine_destroy(second);
    destroy_objects(&other);
}

static void remember_line(void *user, orr_log_level level, int code, const char *line)
{
    (void)code;
    if (level == ORR_LOG_ERROR) {
        *(bool *)user = strstr(line, "a frame of the engine is left") != NULL;
    }
}

static void an_engine_with_frames_is_not_destroyed(void **state)
{
    (void)state;
    orr_engine *second;
    orr_frame *frame;
    bool said = false;
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CPU, .log = remember_line, .log_user = &said};
    assert_ok(orr_engine_create(&desc, &second, &error));
    assert_ok(orr_frame_create(second, NULL, &frame, &error));
    orr_engine_destroy(second);
    assert_true(said);
    assert_int_equal(orr_engine_threads(second), 1);
    orr_frame_destroy(frame);
    orr_engine_destroy(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_pointer_is_refused_by_every_function),
        cmocka_unit_test(without_an_object_functions_return_zero),
        cmocka_unit_test(views_out_of_range_are_refused),
        cmocka_unit_test(descs_out_of_range_are_refused),
        cmocka_unit_test(meshes_out_of_range_are_refused),
        cmocka_unit_test(clouds_that_are_not_finite_are_refused),
        cmocka_unit_test(transforms_out_of_range_are_refused),
        cmocka_unit_test(robots_calls_out_of_range_are_refused),
        cmocka_unit_test(ids_of_another_scene_are_stale),
        cmocka_unit_test(worlds_of_another_scene_are_refused),
        cmocka_unit_test(an_engine_with_frames_is_not_destroyed),
    };
    return cmocka_run_group_tests(tests, open_objects, close_objects);
}
