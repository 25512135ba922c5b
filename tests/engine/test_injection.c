// Typical work of which one call of the C library fails: the first, the second, and so on until none is
// left. Each time there is either a result and one line that says why, or what the work gives undisturbed;
// no crash, no leak (under AddressSanitizer), and of what is written, no half
// and no temporary file.
#include "engine/collider/collider.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "neural/ingp/ingp.h"
#include "orr_features.h"
#include "physics/grid/collider_file.h"
#include "tests/support/failing_calls.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 16, HEIGHT = 12, SPLATS = 24 };

// ---- what the work reads and writes ----

static char folder[512]; // in which it writes
static char cloud_path[600], robot_path[600], mesh_path[600], field_path[600];

static const char *in_folder(const char *name)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    assert_ok(orr_file_write(path, text, strlen(text), &error));
}

static void write_cloud(void)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(SPLATS, 1, &splats, &error));
    const orr_splats_view d = orr_splats_data(splats);
    for (int i = 0; i < 3 * SPLATS; i++) {
        d.position[i] = (float)(i * 7 % 11) / 11.0f;
        d.log_scale[i] = -2.0f;
    }
    assert_ok(orr_splats_save(splats, cloud_path, &error));
    orr_splats_destroy(splats);
}

static void write_field(void)
{
    orr_field_desc desc = {.kind = ORR_FIELD_IMAGE, .desired_resolution = 16.0, .seed = 1, .aabb_scale = 1};
    orr_field_model model = {.size = 1.0, .width = WIDTH, .height = HEIGHT};
    assert_ok(orr_isa_choose(&desc.isa, &error));
    assert_ok(orr_field_config_base(desc.kind, &desc.config, &error));
    assert_ok(orr_field_config_parse("{\"encoding\": {\"n_levels\": 2, \"log2_hashmap_size\": 6}}", "test",
                                     &desc.config, &error));
    assert_ok(orr_field_create(&desc, &model.field, &error));
    orr_field_config_free(&desc.config);
    orr_field_refresh(model.field, NULL, NULL, NULL);
    assert_ok(orr_field_model_save(&model, field_path, &error));
    orr_field_model_free(&model);
}

static int write_inputs(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", scratch_path("out"));
    snprintf(cloud_path, sizeof cloud_path, "%s", scratch_path("cloud.ply"));
    snprintf(robot_path, sizeof robot_path, "%s", scratch_path("robot.xml"));
    snprintf(mesh_path, sizeof mesh_path, "%s", scratch_path("mesh.obj"));
    snprintf(field_path, sizeof field_path, "%s", scratch_path("field.ingp"));
    if (mkdir(folder, 0777) != 0) {
        return -1;
    }
    write_cloud();
    write_field();
    write_text(mesh_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text(robot_path,
               "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'><freejoint/>"
               "<geom size='.1'/><body pos='.2 0 0'><joint name='j' axis='0 1 0'/><geom type='capsule' "
               "size='.02 .1'/></body></body></worldbody><actuator><motor joint='j'/></actuator></mujoco>");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

// ---- the work ----

typedef struct tools {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_splats *splats;
    orr_output *output;
    orr_field_model model;
    orr_distance_grid *grid;
} tools;

static void destroy_tools(tools *t)
{
    orr_output_destroy(t->output);
    orr_frame_destroy(t->frame);
    orr_world_destroy(t->world);
    orr_scene_destroy(t->scene);
    orr_splats_destroy(t->splats);
    orr_field_model_free(&t->model);
    orr_distance_grid_destroy(t->grid);
    orr_engine_destroy(t->engine);
}

static orr_result open_scene(tools *t, const char *path, orr_error *error)
{
    const orr_engine_desc desc = {.threads = 2, .device = ORR_DEVICE_CPU};
    ORR_TRY(orr_engine_create(&desc, &t->engine, error));
    ORR_TRY(orr_scene_load(t->engine, path, &t->scene, error));
    return orr_world_create(t->scene, 1, &t->world, error);
}

static orr_result draw(tools *t, const char *path, const char *name, orr_error *error)
{
    static float rgba[WIDTH * HEIGHT * 4];
    ORR_TRY(open_scene(t, path, error));
    ORR_TRY(orr_frame_create(t->engine, NULL, &t->frame, error));
    const orr_view view = {.camera = orr_scene_default_camera(t->scene, WIDTH, HEIGHT)};
    ORR_TRY(orr_frame_submit(t->frame, t->scene, t->world, &view, error));
    ORR_TRY(orr_frame_finish(t->frame, &(orr_picture){.rgba = rgba}, error));
    ORR_TRY(orr_output_create(&(orr_output_desc){.path = in_folder(name), .count = 1}, &t->output, error));
    ORR_TRY(orr_output_put(t->output, 0, rgba, WIDTH, HEIGHT, error));
    return orr_output_finish(t->output, error);
}

static orr_result draw_cloud(tools *t, const char *name, orr_error *error)
{
    return draw(t, cloud_path, name, error);
}

static orr_result draw_field(tools *t, const char *name, orr_error *error)
{
    return draw(t, field_path, name, error);
}

static orr_result convert_cloud(tools *t, const char *name, orr_error *error)
{
    ORR_TRY(orr_splats_load(cloud_path, &t->splats, error));
    return orr_splats_save(t->splats, in_folder(name), error);
}

static orr_result make_collider(tools *t, const char *name, orr_error *error)
{
    const orr_collider_desc desc = {.cell = 0.2};
    ORR_TRY(open_scene(t, cloud_path, error));
    const orr_layer_data *layer = &t->scene->layers[0];
    const orr_collider_source source = {.name = layer->name, .splats = layer->splats};
    ORR_TRY(orr_collider_make(&source, &desc, t->scene->context.jobs, NULL, &t->grid, NULL, error));
    ORR_TRY(orr_distance_grid_save(t->grid, in_folder(name), error));
    orr_distance_grid_destroy(t->grid);
    return orr_distance_grid_load(in_folder(name), &t->grid, error);
}

static orr_result step_robot(tools *t, const char *name, orr_error *error)
{
    (void)name;
    double qpos[8];
    ORR_TRY(open_scene(t, robot_path, error));
    ORR_TRY(orr_world_step(t->world, 3, error));
    return orr_world_get_robot(t->world, 0, orr_scene_layer(t->scene, 0), ORR_ROBOT_QPOS, qpos, error);
}

static orr_result save_field(tools *t, const char *name, orr_error *error)
{
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    ORR_TRY(orr_field_model_load(field_path, isa, ORR_MLP_FP32, &t->model, error));
    return orr_field_model_save(&t->model, in_folder(name), error);
}

static orr_result save_cameras(tools *t, const char *name, orr_error *error)
{
    (void)t;
    const float eye[3] = {0, 0, -3}, target[3] = {0}, up[3] = {0, -1, 0};
    const orr_camera cameras[2] = {orr_camera_look_at(eye, target, up, 1, WIDTH, HEIGHT),
                                   orr_camera_look_at(eye, target, up, 0.8f, HEIGHT, WIDTH)};
    orr_camera_list list;
    ORR_TRY(orr_camera_file_save(in_folder(name), cameras, NULL, 2, error));
    orr_result result = orr_camera_file_load(in_folder(name), 0, 0, &list, error);
    orr_camera_list_free(&list);
    return result;
}

// ---- failing one call after the other ----

typedef orr_result work(tools *t, const char *name, orr_error *error);

static const char old_text[] = "what was there before";

static orr_result run(work *what, const char *name, orr_error *error)
{
    tools t = {0};
    orr_result result = what(&t, name, error);
    destroy_tools(&t);
    return result;
}

static int count_files(void)
{
    DIR *listed = opendir(folder);
    int count = -2; // . and ..
    assert_non_null(listed);
    while (readdir(listed)) {
        count++;
    }
    closedir(listed);
    return count;
}

static bool holds(const orr_bytes *bytes, const void *expected, size_t size)
{
    return bytes->size == size && memcmp(bytes->data, expected, size) == 0;
}

// The n-th call fails; false: there are fewer.
static bool disturb(work *what, const char *name, failing_kind kind, int64_t n, bool later,
                    const orr_bytes *undisturbed)
{
    orr_error why = {0};
    if (name) {
        write_text(in_folder(name), old_text);
    }
    failing_begin(kind, n, later);
    orr_result result = run(what, name, &why);
    bool failed = failing_end();
    const char *place = name ? name : "";
    if (result == ORR_OK ? why.message[0] != 0 : !why.message[0] || strchr(why.message, '\n')) {
        fail_msg("%s: kind %d, call %lld: %s: not one line: \"%s\"", place, (int)kind, (long long)n,
                 orr_result_name(result), why.message);
    }
    if (kind == FAILING_ALLOCATIONS && result != ORR_OK && result != ORR_ERROR_MEMORY) {
        fail_msg("%s: allocation %lld: %s: %s: expected an error of memory", place, (long long)n,
                 orr_result_name(result), why.message);
    }
    if (name) {
        orr_bytes bytes;
        assert_ok(orr_file_read(in_folder(name), &bytes, &error));
        bool whole = holds(&bytes, undisturbed->data, undisturbed->size);
        bool old = result != ORR_OK && holds(&bytes, old_text, sizeof old_text - 1);
        orr_free(bytes.data);
        if (!(whole || old) || count_files() != 1) {
            fail_msg("%s: kind %d, call %lld: %s: %s: the file is %s, with %d files in the folder", place,
                     (int)kind, (long long)n, orr_result_name(result), why.message,
                     whole || old ? "whole" : "broken", count_files());
        }
    }
    return failed;
}

static void disturb_everywhere(work *what, const char *name)
{
    orr_bytes undisturbed = {0};
    assert_ok(run(what, name, &error));
    if (name) {
        assert_ok(orr_file_read(in_folder(name), &undisturbed, &error));
    }
    for (failing_kind kind = 0; kind < FAILING_KINDS; kind++) {
        for (int later = 0; later < 2; later++) {
            int64_t n = 1;
            while (disturb(what, name, kind, n, later, &undisturbed)) {
                n++;
            }
            print_message("%s: kind %d: %lld calls\n", name ? name : "", (int)kind, (long long)n - 1);
        }
    }
    orr_free(undisturbed.data);
    if (name) {
        assert_int_equal(remove(in_folder(name)), 0);
    }
}

static void a_cloud_is_drawn_and_its_picture_saved(void **state)
{
    (void)state;
    disturb_everywhere(draw_cloud, "picture.png");
    disturb_everywhere(draw_cloud, "picture.npy");
}

static void a_cloud_is_converted(void **state)
{
    (void)state;
    disturb_everywhere(convert_cloud, "cloud.spz");
    disturb_everywhere(convert_cloud, "cloud.compressed.ply");
    disturb_everywhere(convert_cloud, "cloud.splat");
}

static void a_collider_is_made_and_saved(void **state)
{
    (void)state;
    disturb_everywhere(make_collider, "cloud.collider");
}

static void a_robot_is_loaded_and_stepped(void **state)
{
    (void)state;
    disturb_everywhere(step_robot, NULL);
}

static void a_field_is_loaded_drawn_and_saved(void **state)
{
    (void)state;
    disturb_everywhere(save_field, "field.ingp");
    disturb_everywhere(draw_field, "field.npy");
}

static void cameras_are_saved_and_loaded(void **state)
{
    (void)state;
    disturb_everywhere(save_cameras, "cameras.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cloud_is_drawn_and_its_picture_saved),
        cmocka_unit_test(a_cloud_is_converted),
        cmocka_unit_test(a_collider_is_made_and_saved),
        cmocka_unit_test(a_robot_is_loaded_and_stepped),
        cmocka_unit_test(a_field_is_loaded_drawn_and_saved),
        cmocka_unit_test(cameras_are_saved_and_loaded),
    };
    return cmocka_run_group_tests(tests, write_inputs, remove_folder);
}
