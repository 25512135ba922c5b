// Tests of glass that a program or a scene file gives to a mesh's material or to a robot's: the same pictures
// as of files that say so themselves, scene files that keep it, mistakes.
#include "engine/core/file.h"
#include "tests/glass/glass_scene.h"
#include "tests/support/refused.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static orr_engine *engine;
static float own[4 * PIXELS], given[4 * PIXELS], other[4 * PIXELS];

static int open_engine(void **state)
{
    (void)state;
    engine = open_engine_on(ORR_DEVICE_CPU);
    return engine ? 0 : -1;
}

static int close_engine(void **state)
{
    (void)state;
    orr_engine_destroy(engine);
    return 0;
}

static const char plain[] = "\"pbrMetallicRoughness\":{\"metallicFactor\":0.4,\"roughnessFactor\":0.7,"
                            "\"baseColorFactor\":[0.6,0.7,0.2,1]}";
// What the files of a ball say: a clear body that dims blue, and a thin tinted one that is rough.
static const char *const files[2] = {
    "\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.05},\"extensions\":{"
    "\"KHR_materials_transmission\":{\"transmissionFactor\":1},\"KHR_materials_ior\":{\"ior\":1.4},"
    "\"KHR_materials_volume\":{\"thicknessFactor\":2,\"attenuationDistance\":3,\"attenuationColor\":[0.875,1,"
    "0."
    "5]"
    "}}",
    "\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.3,\"baseColorFactor\":[0.6,0.7,0.2,"
    "1]"
    "},\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.75}}"};
static const orr_glass_desc glass[2] = {{.ior = 1.4f,
                                         .thickness = 2.0f,
                                         .roughness = 0.05f,
                                         .attenuation_distance = 3.0f,
                                         .attenuation_colour = {0.875f, 1.0f, 0.5f},
                                         .colour = {1, 1, 1}},
                                        {.transmission = 0.75f, .roughness = 0.3f}};
static const char *const in_scene_file[2] = {"{\"ior\":1.4,\"thickness\":2,\"roughness\":0.05,\"attenuation_"
                                             "distance\":3,\"attenuation_colour\":[0.875,1,"
                                             "0.5],\"colour\":[1,1,1]}",
                                             "{\"transmission\":0.75,\"roughness\":0.3}"};

// Before a checker, in light from everywhere.
static orr_scene *scene_with(const char *path, bool rays)
{
    orr_scene *scene = dark_scene(engine, 0.5f);
    add_checker(scene, -1.5f, 3.0f);
    assert_ok(orr_scene_add_file(scene, path, NULL, NULL, &error));
    assert_ok(orr_scene_set_rays(scene, rays, &error));
    return scene;
}

// One picture with rays, one without, one path-traced.
static void draw_as(int way, const orr_scene *scene, float *rgba)
{
    const orr_view view = look();
    if (way == 2) {
        trace(scene, &view, 4, rgba);
    } else {
        draw(engine, scene, &view, rgba);
    }
}

static void meshes_are_as_if_their_file_said_it(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (int way = 0; way < 3; way++) {
            orr_scene *scene = scene_with(write_glass("own", GLASS_SPHERE, files[i]), way == 1);
            draw_as(way, scene, own);
            orr_scene_destroy(scene);
            scene = scene_with(write_glass("given", GLASS_SPHERE, plain), way == 1);
            draw_as(way, scene, other);
            const orr_layer ball = orr_scene_layer(scene, 1);
            assert_ok(orr_scene_set_glass(scene, ball, 1, &glass[1 - i], &error)); // is forgotten
            assert_ok(orr_scene_set_glass(scene, ball, 1, &glass[i], &error));
            draw_as(way, scene, given);
            assert_memory_equal(given, own, sizeof own);
            assert_memory_not_equal(other, own, sizeof own);
            assert_ok(orr_scene_set_glass(scene, ball, 1, NULL, &error));
            draw_as(way, scene, given);
            assert_memory_equal(given, other, sizeof other);
            orr_scene_destroy(scene);
        }
    }
}

static void scene_files_give_it_and_keep_it(void **state)
{
    (void)state;
    const orr_view view = look();
    for (int i = 0; i < 2; i++) {
        orr_scene *scene = scene_with(write_glass("ball", GLASS_SPHERE, plain), false);
        assert_ok(orr_scene_set_glass(scene, orr_scene_layer(scene, 1), 1, &glass[i], &error));
        draw(engine, scene, &view, own);
        orr_scene_destroy(scene);
        char text[512], copy[256];
        snprintf(text, sizeof text,
                 "{\"orrery\":1,\"sun\":{\"direction\":[0,1,0],\"colour\":[0,0,0],\"ambient\":[0.5,0.5,0.5]},"
                 "\"layers\":[{\"file\":\"checker.gltf\"},{\"file\":\"ball.gltf\",\"materials\":[null,%s]}]}",
                 in_scene_file[i]);
        assert_ok(orr_scene_load(engine, written("glass.json", text), &scene, &error));
        draw(engine, scene, &view, given);
        assert_memory_equal(given, own, sizeof own);
        orr_world *world;
        snprintf(copy, sizeof copy, "%s", scratch_path("saved.json"));
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_world_save(world, 0, NULL, copy, &error));
        orr_world_destroy(world);
        orr_scene_destroy(scene);
        assert_ok(orr_scene_load(engine, copy, &scene, &error));
        draw(engine, scene, &view, given);
        assert_memory_equal(given, own, sizeof own);
        orr_scene_destroy(scene);
    }
}

// A ball of a robot refracts as one of a mesh, by its scene file too.
static void materials_of_robots_become_glass(void **state)
{
    (void)state;
    orr_scene *scene = scene_with(write_glass("own", GLASS_SPHERE, files[0]), true);
    const orr_view view = look();
    draw(engine, scene, &view, own);
    orr_scene_destroy(scene);
    const char *path = written(
        "lens.xml", "<mujoco><visual><headlight active='0'/></visual><asset><material name='steel'/>"
                    "<material name='lens' rgba='.9 .1 .1 .5' reflectance='.3'/></asset><worldbody>"
                    "<geom type='sphere' size='1' material='lens'/>"
                    "<geom type='sphere' size='.1' pos='0 5 0' material='steel'/></worldbody></mujoco>");
    scene = scene_with(path, true);
    draw(engine, scene, &view, other);
    const orr_layer robot = orr_scene_layer(scene, 1);
    const int lens = orr_scene_robot_find(scene, robot, ORR_ROBOT_OBJECT_MATERIAL, "lens");
    orr_robot_info info;
    assert_ok(orr_scene_robot_info(scene, robot, &info, &error));
    assert_int_equal(info.material_count, 2);
    assert_ok(orr_scene_set_glass(scene, robot, lens, &glass[0], &error));
    draw(engine, scene, &view, given);
    const double same = middle_error(given, own), before = middle_error(other, own);
    print_message("    a robot's ball: %.4f off a mesh's, %.4f before\n", same, before);
    assert_true(same < 0.06); // a 32-sided ball, whose facets a lens enlarges
    assert_true(before > 5.0 * same);
    assert_ok(orr_scene_set_glass(scene, robot, lens, NULL, &error));
    float back[4 * PIXELS];
    draw(engine, scene, &view, back);
    assert_memory_equal(back, other, sizeof back);
    orr_scene_destroy(scene);
    char text[512], copy[256];
    snprintf(
        text, sizeof text,
        "{\"orrery\":1,\"rays\":true,\"sun\":{\"direction\":[0,1,0],\"colour\":[0,0,0],\"ambient\":[0.5,0.5,"
        "0.5]},\"layers\":[{\"file\":\"checker.gltf\"},{\"file\":\"lens.xml\",\"materials\":{\"lens\":%s}}]}",
        in_scene_file[0]);
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_scene_load(engine, i == 0 ? written("lens.json", text) : copy, &scene, &error));
        draw(engine, scene, &view, back);
        assert_memory_equal(back, given, sizeof back);
        orr_world *world;
        snprintf(copy, sizeof copy, "%s", scratch_path("saved.json"));
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_world_save(world, 0, NULL, copy, &error));
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
}

static void refuse_file(const char *materials, const char *words)
{
    char text[256];
    orr_scene *none;
    snprintf(text, sizeof text, "{\"orrery\":1,\"layers\":[{\"file\":\"%s\",\"materials\":%s}]}",
             strstr(words, "robot") ? "lens.xml" : "ball.gltf", materials);
    assert_int_not_equal(orr_scene_load(engine, written("bad.json", text), &none, &why), ORR_OK);
    if (!strstr(why.message, words)) {
        fail_msg("\"%s\" does not contain \"%s\"", why.message, words);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    orr_scene *scene = scene_with(write_glass("ball", GLASS_SPHERE, plain), false);
    const orr_layer ball = orr_scene_layer(scene, 1);
    struct {
        orr_glass_desc desc;
        const char *words;
    } bad[] = {{{.transmission = 1.5f}, "glass: transmission 1.5: expected a number from 0 to 1"},
               {{.roughness = -1.0f}, "glass: roughness -1: expected a number from 0 to 1"},
               {{.thickness = NAN}, "glass: thickness nan: expected a number from 0"},
               {{.ior = 0.9f}, "glass: ior 0.9: expected a number from 1"},
               {{.colour = {0, 2, 0}}, "glass: expected colours from 0 to 1"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_argument_refused(orr_scene_set_glass(scene, ball, 1, &bad[i].desc, &why), bad[i].words);
    }
    assert_argument_refused(orr_scene_set_glass(scene, ball, 2, &glass[0], &why),
                            "material 2: expected 0 .. 1");
    assert_ok(orr_scene_set_glass(scene, ball, 1, &glass[0], &error));
    assert_argument_refused(orr_scene_set_material(scene, ball, 1, "no.material", &why),
                            "material 1: expected no glass where it is a network");
    orr_scene_destroy(scene);
    refuse_file("[{\"transmission\":0}]", "layers[0].materials[0].transmission: expected");
    refuse_file("[{\"glass\":1}]", "layers[0].materials[0].glass: expected one of the keys");
    refuse_file("[{\"ior\":0.5}]", "layers[0].materials[0]: ball.gltf: glass: ior 0.5: expected");
    refuse_file("{\"lens\":{}}", "layers[0].materials[lens]: expected an array");
    refuse_file("{\"glas\":{}}", "layers[0].materials[glas]: lens.xml has no such material in the robot");
    refuse_file("[{}]",
                "layers[0].materials[0]: expected {\"NAME\": {...}}: materials of a robot have names");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_are_as_if_their_file_said_it),
        cmocka_unit_test(scene_files_give_it_and_keep_it),
        cmocka_unit_test(materials_of_robots_become_glass),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
