// Tests of engine/scene/scene_save.c and engine/loop/world_save.c: the scene file of what a world shows is
// read as the same scene, and draws the same picture.
#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT };

static void write_cloud(void)
{
    enum { SIDE = 21 };
    orr_splats *splats;
    assert_ok(orr_splats_create(SIDE * SIDE, 0, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < SIDE * SIDE; i++) {
        float *p = view.position + 3 * (size_t)i;
        p[0] = -1.0f + 0.1f * (float)(i % SIDE);
        p[1] = 0.0f;
        p[2] = -1.0f + 0.1f * (float)(i / SIDE);
        for (size_t k = 0; k < 3; k++) {
            view.log_scale[3 * (size_t)i + k] = logf(k == 1 ? 0.01f : 0.06f);
            view.colour[3 * (size_t)i + k] = 0.5f * (float)(i % 3) - 0.5f;
        }
        view.opacity[i] = 5.0f;
    }
    assert_ok(orr_splats_save(splats, scratch_path("floor.ply"), &error));
    orr_splats_destroy(splats);
}

static const char *write_scene(void)
{
    write_cloud();
    written("box.obj", "v -0.2 0 -0.2\nv 0.2 0 -0.2\nv 0.2 0 0.2\nv -0.2 0 0.2\n"
                       "v -0.2 0.4 -0.2\nv 0.2 0.4 -0.2\nv 0.2 0.4 0.2\nv -0.2 0.4 0.2\n"
                       "f 1 2 3\nf 1 3 4\nf 5 7 6\nf 5 8 7\nf 1 5 6\nf 1 6 2\nf 2 6 7\nf 2 7 3\n"
                       "f 3 7 8\nf 3 8 4\nf 4 8 5\nf 4 5 1\n");
    written("arm.xml", "<mujoco><worldbody><geom type='box' size='0.1 0.1 0.1'/>"
                       "<body name='hand' pos='0 0 0.3'><joint type='hinge' axis='0 1 0'/>"
                       "<geom type='box' size='0.05 0.05 0.2'/></body></worldbody></mujoco>");
    assert_ok(orr_camera_file_save(scratch_path("photos.json"),
                                   &(orr_camera){.pose = {1, 0, 0, 0, 0, 0, 1, -3, 0, -1, 0, 0.5f},
                                                 .focal = {60, 60},
                                                 .width = WIDTH,
                                                 .height = HEIGHT},
                                   NULL, 1, &error));
    return written(
        "scene.json",
        "{\"orrery\": 1, \"background\": [0.1, 0.2, 0.3], \"exposure\": 0.5, \"tone\": \"neutral\","
        " \"shadow\": 0.6, \"probes\": true, \"rays\": true,"
        " \"ambient_occlusion\": {\"radius\": 0.25, \"strength\": 0.5},"
        " \"sun\": {\"direction\": [0.3, -0.9, -0.2], \"colour\": [0.7, 0.6, 0.5], \"ambient\": [0.2, 0, "
        "0.3], \"radius\": 1.5},"
        " \"lights\": [{\"type\": \"spot\", \"position\": [0.5, -1, 0], \"direction\": [-0.4, 1, 0.1],"
        "   \"colour\": [0, 1, 0.5], \"intensity\": 2, \"range\": 4, \"inner\": 10, \"outer\": 50,"
        "   \"radius\": 0.1,"
        "   \"shadows\": false}, {\"type\": \"point\", \"position\": [-0.5, -1, 0], \"intensity\": 1},"
        "  {\"type\": \"directional\", \"direction\": [0, 1, 1], \"intensity\": 0.5, \"radius\": 2}],"
        " \"cameras\": [{\"name\": \"front\", \"eye\": [0, -1.2, -2], \"target\": [0, -0.1, 0],"
        "   \"field_of_view\": 40, \"width\": 96, \"height\": 64, \"near\": 0.05}],"
        " \"cameras_file\": \"photos.json\","
        " \"layers\": [{\"file\": \"floor.ply\", \"name\": \"room\", \"physics\": {\"static\": true,"
        "   \"cell\": 0.05}, \"antialias\": true, \"casts_shadow\": true, \"region\": {\"centre\": [0, 0, "
        "0], \"size\": [3, 1, 1.5],"
        "   \"rotation\": [1, 0, 0.1, 0], \"falloff\": 0.1}},"
        "  {\"file\": \"arm.xml\", \"name\": \"arm\", \"position\": [0.5, 0, 0],"
        "   \"rotation\": [0.70710678, 0.70710678, 0, 0]},"
        "  {\"file\": \"box.obj\", \"name\": \"held\", \"bind\": {\"robot\": \"arm\", \"body\": \"hand\"},"
        "   \"position\": [0, 0, 0.25], \"scale\": 0.3},"
        "  {\"file\": \"box.obj\", \"physics\": {\"mass\": 2, \"friction\": 0.7},"
        "   \"rotation\": [0, 1, 0, 0], \"position\": [-0.5, -0.01, 0.1]},"
        "  {\"file\": \"box.obj\", \"name\": \"jelly\", \"visible\": false, \"physics\": {\"soft\":"
        "   {\"young\": 1e5, \"friction\": 0, \"resolution\": 3, \"pin\": [[0, 0, 0, 0.1]]}}}]}");
}

static void draw(const orr_scene *scene, orr_world *world, float *rgba)
{
    const orr_view view = {.camera = *orr_scene_camera(scene, 0)};
    orr_frame *frame;
    assert_ok(orr_frame_create(engine, &(orr_frame_desc){.device = ORR_DEVICE_CPU}, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_frame_destroy(frame);
}

static void assert_same_layer(const orr_layer_data *a, const orr_layer_data *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->antialias, b->antialias);
    assert_int_equal(a->shadow_casting, b->shadow_casting);
    assert_int_equal(orr_layer_casts_shadow(a), orr_layer_casts_shadow(b));
    assert_int_equal(a->has_region, b->has_region);
    assert_memory_equal(&a->region, &b->region, sizeof a->region);
    assert_int_equal(a->has_body, b->has_body);
    assert_memory_equal(&a->body_desc, &b->body_desc, sizeof a->body_desc);
    assert_int_equal(a->bound_body, b->bound_body);
    assert_int_equal(a->bound_to.slot != 0, b->bound_to.slot != 0);
}

// Directions become unit vectors again, which rounds.
static void assert_same_light(const orr_draw_light *a, const orr_draw_light *b)
{
    assert_int_equal(a->directional, b->directional);
    assert_int_equal(a->fades, b->fades);
    assert_int_equal(a->casts_shadows, b->casts_shadows);
    assert_true(a->range == b->range && a->inner == b->inner && a->cutoff == b->cutoff);
    assert_true(fabsf(a->radius - b->radius) < 1e-7f);
    assert_true(largest_difference(a->position, b->position, 3) == 0.0);
    assert_true(largest_difference(a->direction, b->direction, 3) < 1e-6);
    assert_true(largest_difference(a->diffuse, b->diffuse, 3) < 1e-6);
}

static void a_saved_world_is_read_as_the_same_scene_and_draws_the_same_picture(void **state)
{
    (void)state;
    orr_scene *scene, *again;
    orr_world *world, *second;
    static float before[4 * PIXELS], after[4 * PIXELS], unmoved[4 * PIXELS];
    assert_ok(orr_scene_load(engine, write_scene(), &scene, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    draw(scene, world, unmoved);
    // one layer is moved, and physics moves another: the box that falls
    const orr_transform moved = {
        .position = {0.3f, 0.1f, 0.2f}, .rotation = {0.7f, 0.7f, 0.1f}, .scale = 1.0f};
    assert_ok(orr_world_set_transform(world, 0, orr_scene_layer(scene, 1), &moved, &error));
    assert_ok(orr_world_step(world, 20, &error));
    draw(scene, world, before);
    assert_true(psnr(unmoved, before, 4 * PIXELS) < 40.0);
    assert_ok(orr_folder_make(scratch_path("deep"), &error));
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("deep/saved.json"));
    assert_ok(orr_world_save(world, 0, NULL, path, &error));
    assert_ok(orr_scene_load(engine, path, &again, &error));
    assert_int_equal(again->layer_count, scene->layer_count);
    for (int i = 0; i < scene->layer_count; i++) {
        assert_same_layer(&scene->layers[i], &again->layers[i]);
    }
    assert_int_equal(again->layers[4].visible, false);
    assert_int_equal(again->cameras.count, 2); // one of them in photos.json
    assert_string_equal(again->cameras.names[0], "front");
    assert_memory_equal(again->background, scene->background, sizeof scene->background);
    assert_true(largest_difference(again->sun.direction, scene->sun.direction, 3) < 1e-6);
    assert_memory_equal(again->sun.colour, scene->sun.colour, sizeof scene->sun.colour);
    assert_memory_equal(again->sun.ambient, scene->sun.ambient, sizeof scene->sun.ambient);
    assert_true(scene->sun.radius > 0.0f && fabsf(again->sun.radius - scene->sun.radius) < 1e-7f);
    assert_int_equal(again->light_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_same_light(&scene->lights[i], &again->lights[i]);
    }
    assert_true(again->occlusion_radius == 0.25f && again->occlusion_strength == 0.5f);
    assert_true(again->umbra == 0.6f && again->exposure == 0.5f && again->tone == ORR_TONE_NEUTRAL);
    assert_int_equal(again->probes, ORR_SCENE_PROBES_ON);
    assert_true(again->rays);
    assert_ok(orr_world_create(again, 1, &second, &error));
    // the arm's hand, of which the box is held, has fallen too: poses of robots are not saved
    double qpos[8];
    assert_ok(orr_world_get_robot(world, 0, orr_scene_layer(scene, 1), ORR_ROBOT_QPOS, qpos, &error));
    assert_ok(orr_world_set_robot(second, 0, orr_scene_layer(again, 1), ORR_ROBOT_QPOS, qpos, &error));
    draw(again, second, after);
    // transforms are floats that are read to the bit; a rotation is made a unit quaternion again, and the
    // camera's axes come of its target: a few pixels at edges round to another colour
    assert_true(psnr(before, after, 4 * PIXELS) > 50.0);
    orr_world_destroy(second);
    orr_scene_destroy(again);
    assert_ok(orr_scene_set_probes(scene, false, &error));
    assert_ok(orr_world_save(world, 0, NULL, path, &error));
    assert_ok(orr_scene_load(engine, path, &again, &error));
    assert_int_equal(again->probes, ORR_SCENE_PROBES_OFF);
    orr_scene_destroy(again);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static void what_no_file_holds_is_left_out_and_a_camera_can_be_added(void **state)
{
    (void)state;
    orr_scene *scene, *again;
    orr_world *world;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("partly.json"));
    write_cloud();
    const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const uint32_t indices[3] = {0, 1, 2};
    const orr_mesh_desc mesh = {
        .vertex_count = 3, .index_count = 3, .positions = positions, .indices = indices};
    const float eye[3] = {0, -1, -4}, target[3] = {0, 0, 0}, up[3] = {0, -1, 0};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.7f, 64, 48);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_mesh(scene, "made", &mesh, NULL, NULL, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    orr_error error = {0};
    assert_int_equal(orr_world_save(world, 0, NULL, path, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no layer is from a file"));
    assert_ok(orr_scene_add_file(scene, scratch_path("floor.ply"), NULL, NULL, &error));
    const orr_sun_desc sun = {.direction = {0, -2, 0}, .colour = {1, 1, 0.5f}, .umbra = 0.3f, .radius = 2.0f};
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
    assert_ok(orr_world_save(world, 0, &camera, path, &error));
    assert_ok(orr_scene_load(engine, path, &again, &error));
    assert_int_equal(orr_scene_layer_count(again), 1);
    assert_true(again->has_sun && again->sun.direction[1] == -1.0f && again->sun.colour[2] == 0.5f);
    assert_true(again->umbra == 0.3f && fabsf(again->sun.radius - 0.03490659f) < 1e-7f);
    const orr_camera *read = orr_scene_camera(again, 0);
    assert_non_null(read);
    assert_true(largest_difference(read->pose, camera.pose, 12) < 1e-6);
    assert_true(fabsf(read->focal[1] - camera.focal[1]) < 1e-3f);
    camera.centre[0] = 3.0f;
    assert_int_equal(orr_world_save(world, 0, &camera, path, &error), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_save(world, 1, NULL, path, &error), ORR_ERROR_ARGUMENT);
    const orr_sun_desc wrong = {.colour = {1, 1, 1}};
    assert_int_equal(orr_scene_set_sun(scene, &wrong, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "sun: direction"));
    orr_scene_destroy(again);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_world_is_read_as_the_same_scene_and_draws_the_same_picture),
        cmocka_unit_test(what_no_file_holds_is_left_out_and_a_camera_can_be_added),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
