// Materials of a scene's meshes that are networks: pictures, path-traced pictures, scene files, mistakes.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/orrery.h"
#include "tests/support/refused.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 256, STEPS = 250 };

static orr_engine *engine;
static char mesh[256], material[256];

static int make_material(void **state)
{
    (void)state;
    const orr_engine_desc desc = {.device = ORR_DEVICE_CPU};
    orr_material_trainer *trainer;
    assert_ok(orr_engine_create(&desc, &engine, &error));
    snprintf(mesh, sizeof mesh, "%s", write_sphere(0.0f, 0.4f, 0.6f));
    snprintf(material, sizeof material, "%s", scratch_path("sphere.material"));
    const orr_material_train_desc training = {.mesh = mesh, .width = 16, .steps = STEPS, .seed = 1};
    assert_ok(orr_material_trainer_create(engine, &training, &trainer, &error));
    for (int i = 0; i < STEPS; i++) {
        assert_ok(orr_material_trainer_step(trainer, NULL, &error));
    }
    assert_ok(orr_material_trainer_save(trainer, material, &error));
    orr_material_trainer_destroy(trainer);
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    orr_engine_destroy(engine);
    return 0;
}

// Under a sun with ambient light, a rectangle, and a lamp.
static orr_scene *open_scene(orr_engine *on)
{
    orr_scene *scene;
    assert_ok(orr_scene_load(on, mesh, &scene, &error));
    const orr_sun_desc sun = {
        .direction = {0.5f, 0.7f, 0.6f}, .colour = {0.5f, 0.45f, 0.4f}, .ambient = {0.25f, 0.25f, 0.3f}};
    const orr_light_desc area = {.kind = ORR_LIGHT_KIND_AREA,
                                 .position = {-2, 1, 2},
                                 .direction = {2, -1, -2},
                                 .size = {1, 1},
                                 .intensity = 3.0f};
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
    assert_ok(orr_scene_add_light(scene, &area, &error));
    return scene;
}

static void spheres_look_like_their_material(void **state)
{
    (void)state;
    static float own[PIXELS * 4], network[PIXELS * 4], traced[PIXELS * 4], own_traced[PIXELS * 4],
        again[PIXELS * 4];
    const orr_view view = look();
    orr_scene *scene = open_scene(engine);
    draw(engine, scene, &view, own);
    trace(scene, &view, SAMPLES, own_traced);
    assert_ok(orr_scene_set_material(scene, orr_scene_layer(scene, 0), 0, material, &error));
    draw(engine, scene, &view, network);
    trace(scene, &view, SAMPLES, traced);
    const double drawn = middle_error(network, own), path = middle_error(traced, own_traced),
                 both = middle_error(network, traced), own_both = middle_error(own, own_traced);
    print_message("    drawn %.4f, traced %.4f from its own; drawn from traced %.4f, of its own %.4f\n",
                  drawn, path, both, own_both);
    assert_true(drawn > 1e-4 && drawn < 0.02);
    assert_true(path < 0.02);
    assert_true(both < 0.02);
    // its own again, to the bit
    assert_ok(orr_scene_set_material(scene, orr_scene_layer(scene, 0), 0, NULL, &error));
    draw(engine, scene, &view, again);
    assert_memory_equal(own, again, sizeof own);
    orr_scene_destroy(scene);
}

static void all_machines_draw_the_same(void **state)
{
    (void)state;
    static float cpu[PIXELS * 4], rgba[PIXELS * 4];
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    const orr_view view = look();
    for (int d = 0; d < 3; d++) {
        orr_engine *machine = open_engine_on(devices[d]);
        if (!machine) {
            continue;
        }
        orr_scene *scene = open_scene(machine);
        draw(machine, scene, &view, d == 0 ? cpu : rgba); // its own, so that the next is uploaded anew
        assert_ok(orr_scene_set_material(scene, orr_scene_layer(scene, 0), 0, material, &error));
        draw(machine, scene, &view, d == 0 ? cpu : rgba);
        if (d > 0) {
            const double quality = psnr(rgba, cpu, 4 * PIXELS);
            print_message("    %d: %.1f dB\n", d, quality);
            assert_true(quality > 70.0); // exponentials of sums whose last bits differ
        }
        orr_scene_destroy(scene);
        orr_engine_destroy(machine);
    }
}

static void scene_files_name_and_keep_it(void **state)
{
    (void)state;
    static float set[PIXELS * 4], loaded[PIXELS * 4], saved[PIXELS * 4];
    const orr_view view = look();
    orr_scene *scene, *from_file, *from_saved;
    orr_world *world;
    assert_ok(orr_scene_load(engine, mesh, &scene, &error));
    assert_ok(orr_scene_set_material(scene, orr_scene_layer(scene, 0), 0, material, &error));
    draw(engine, scene, &view, set);
    const char *path =
        written("neural.json",
                "{\"orrery\":1,\"layers\":[{\"file\":\"sphere.gltf\",\"materials\":[\"sphere.material\"]}]}");
    assert_ok(orr_scene_load(engine, path, &from_file, &error));
    draw(engine, from_file, &view, loaded);
    assert_memory_equal(set, loaded, sizeof set);
    char copy[256];
    snprintf(copy, sizeof copy, "%s", scratch_path("saved.json"));
    assert_ok(orr_world_create(from_file, 1, &world, &error));
    assert_ok(orr_world_save(world, 0, NULL, copy, &error));
    orr_world_destroy(world);
    assert_ok(orr_scene_load(engine, copy, &from_saved, &error));
    draw(engine, from_saved, &view, saved);
    assert_memory_equal(set, saved, sizeof set);
    orr_scene_destroy(scene);
    orr_scene_destroy(from_file);
    orr_scene_destroy(from_saved);
}

static const char *written_bytes(const char *bytes, size_t size)
{
    const char *path = scratch_path("cut.material");
    assert_ok(orr_file_write(path, bytes, size, &error));
    return path;
}

static void mistakes_are_named(void **state)
{
    (void)state;
    orr_scene *scene = open_scene(engine), *none;
    const orr_layer layer = orr_scene_layer(scene, 0);
    assert_argument_refused(orr_scene_set_material(scene, layer, 1, material, &why),
                            "material 1: expected 0 .. 0");
    assert_call_refused(orr_scene_set_material(scene, layer, 0, mesh, &why), ORR_ERROR_FORMAT,
                        "expected a neural material");
    assert_call_refused(orr_scene_set_material(scene, layer, 0, "no.material", &why), ORR_ERROR_FILE,
                        "no.material");
    const char *path =
        written("bad.json", "{\"orrery\":1,\"layers\":[{\"file\":\"sphere.gltf\",\"materials\":[7]}]}");
    assert_call_refused(orr_scene_load(engine, path, &none, &why), ORR_ERROR_FORMAT,
                        "layers[0].materials: expected an array of paths, objects of glass and nulls");
    path = written("bad.json", "{\"orrery\":1,\"layers\":[{\"file\":\"sphere.gltf\",\"materials\":[null,"
                               "\"sphere.material\"]}]}");
    assert_argument_refused(orr_scene_load(engine, path, &none, &why), "layers[0].materials[1]: ");
    // files that are cut, or whose header lies
    orr_bytes bytes;
    assert_ok(orr_file_read(material, &bytes, &error));
    char *cut = malloc(bytes.size);
    const float infinite = INFINITY;
    memcpy(cut, bytes.data, bytes.size);
    assert_call_refused(orr_scene_set_material(scene, layer, 0, written_bytes(cut, bytes.size - 1), &why),
                        ORR_ERROR_FORMAT, "not as many as its header says");
    cut[8] = 17;
    assert_call_refused(orr_scene_set_material(scene, layer, 0, written_bytes(cut, bytes.size), &why),
                        ORR_ERROR_FORMAT, "width 17: expected 16 or 32");
    memcpy(cut, bytes.data, bytes.size);
    memcpy(cut + 24, &infinite, sizeof infinite);
    assert_call_refused(orr_scene_set_material(scene, layer, 0, written_bytes(cut, bytes.size), &why),
                        ORR_ERROR_FORMAT, "expected finite numbers");
    free(cut);
    orr_free(bytes.data);
    orr_material_trainer *trainer;
    orr_material_train_desc desc = {.mesh = mesh, .material = 3};
    assert_argument_refused(orr_material_trainer_create(engine, &desc, &trainer, &why),
                            "material 3: expected 0 .. 0");
    desc = (orr_material_train_desc){.mesh = mesh, .width = 20};
    assert_argument_refused(orr_material_trainer_create(engine, &desc, &trainer, &why),
                            "width 20: expected 16 or 32");
    desc = (orr_material_train_desc){.mesh = mesh, .size = 5000};
    assert_argument_refused(orr_material_trainer_create(engine, &desc, &trainer, &why),
                            "size 5000: expected 1 .. 4096");
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_look_like_their_material),
        cmocka_unit_test(all_machines_draw_the_same),
        cmocka_unit_test(scene_files_name_and_keep_it),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, make_material, close_engine);
}
