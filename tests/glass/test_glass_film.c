// Tests of glass that is drawn without rays, on every machine, and of its shadows: closed forms, and pictures
// against path-traced ones.
#include "engine/core/result.h"
#include "tests/glass/glass_scene.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float rgba[4 * PIXELS], other[4 * PIXELS];

static const orr_device_kind machines[3] = {ORR_DEVICE_CPU, ORR_DEVICE_CUDA, ORR_DEVICE_VULKAN};
static const char *const machine_names[3] = {"CPU", "CUDA", "Vulkan"};

static orr_view look_along(float field)
{
    const float eye[3] = {0, 0.2f, 4.0f}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, field, SIDE, SIDE), .hard_edges = true};
}

static void add(orr_scene *scene, const char *path, const orr_transform *at)
{
    assert_ok(orr_scene_add_file(scene, path, at, NULL, &error));
}

// Clear glass as a body that dims blue, as thick as the sphere is wide.
#define GREENISH                                                                                             \
    ",\"KHR_materials_volume\":{\"thicknessFactor\":2,\"attenuationDistance\":2,\"attenuationColor\":[0.9,"  \
    "1,"                                                                                                     \
    "0.5]}"

// Where all light is the same, what is reflected and what goes through add up to it, however many surfaces
// there are.
static void clear_films_in_even_light_vanish(void **state)
{
    (void)state;
    static const char *const materials[5] = {GLASS("0", "1.5", ""),
                                             "\"doubleSided\":true," GLASS("0", "1.5", ""),
                                             "\"doubleSided\":true," GLASS("0", "1.5", CLOSED),
                                             GLASS("0", "1.8", CLOSED), GLASS("0.5", "1.5", "")};
    orr_view view = look_along(0.5f);
    view.has_background = true;
    for (int m = 0; m < 3; m++) {
        orr_engine *engine = open_engine_on(machines[m]);
        // a software driver of Vulkan compiles seconds for each picture
        for (int i = m == 2 ? 2 : 0; i < (m == 2 ? 3 : 5) && engine; i++) {
            const float light = i == 2 ? 1.0f : 0.5f, shown = i == 2 ? 1.0f : 0.73535698f;
            memcpy(view.background, (float[3]){shown, shown, shown}, sizeof view.background);
            orr_scene *scene = dark_scene(engine, light);
            add(scene, write_glass("ball", GLASS_SPHERE, materials[i]), NULL);
            draw(engine, scene, &view, rgba);
            double most = 0.0;
            for (int p = 0; p < 4 * PIXELS; p++) {
                most = fmax(most, p % 4 < 3 ? fabs(srgb_decode((double)rgba[p]) - (double)light) : 0.0);
            }
            print_message("%s, material %d in light of %.1f: off by at most %.5f\n", machine_names[m], i,
                          (double)light, most);
            // by roundings of display colours alone, as a layer is right over this background
            assert_true(most < 1e-3);
            orr_scene_destroy(scene);
        }
        orr_engine_destroy(engine);
    }
}

// A body that reflects nothing: its front stands for both faces and what is between them.
static void bodies_dim_once_for_both_faces(void **state)
{
    (void)state;
    static const char grey[] =
        "\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0,"
        "\"baseColorFactor\":[0.7,0.7,0.7,1]},\"extensions\":{\"KHR_materials_transmission\":"
        "{\"transmissionFactor\":1},\"KHR_materials_ior\":{\"ior\":1},\"KHR_materials_volume\":"
        "{\"thicknessFactor\":2,\"attenuationDistance\":2,\"attenuationColor\":[0.5,0.5,0.5]}}";
    orr_view view = look_along(0.3f);
    view.has_background = true;
    memcpy(view.background, (float[3]){0.73535698f, 0.73535698f, 0.73535698f}, sizeof view.background);
    for (int m = 0; m < 2; m++) {
        orr_engine *engine = open_engine_on(machines[m]);
        if (!engine) {
            continue;
        }
        orr_scene *scene = dark_scene(engine, 0.5f);
        add(scene, write_glass("grey", GLASS_SPHERE, grey), NULL);
        draw(engine, scene, &view, rgba);
        const double seen = srgb_decode((double)rgba[4 * (SIDE / 2 * SIDE + SIDE / 2)]);
        print_message("%s: a grey ball before 0.5: %.5f\n", machine_names[m], seen);
        assert_true(fabs(seen - 0.5 * 0.7 * 0.7 * 0.5) < 1e-3); // roundings of display colours
        orr_scene_destroy(scene);
        orr_engine_destroy(engine);
    }
}

// A ball of tinted glass, half of which is behind a thin pane, splats and a checker behind them, and a lamp
// that makes highlights and shadows.
static void machines_draw_the_same_films(void **state)
{
    (void)state;
    static float of_cpu[4 * PIXELS];
    orr_view view = look_along(0.7f);
    for (int m = 0; m < 3; m++) {
        orr_engine *engine = open_engine_on(machines[m]);
        if (!engine) {
            continue;
        }
        orr_scene *scene = dark_scene(engine, 0.4f);
        const orr_sun_desc sun = {
            .direction = {0.5f, 0.7f, 0.6f}, .colour = {2, 2, 1.5f}, .ambient = {0.4f, 0.4f, 0.5f}};
        assert_ok(orr_scene_set_sun(scene, &sun, &error));
        orr_transform beside = {.scale = 0.5f, .rotation = {1, 0, 0, 0}, .position = {1.0f, 0, 1.4f}};
        add(scene, write_glass("ball", GLASS_SPHERE, "\"doubleSided\":true," GLASS("0.05", "1.5", GREENISH)),
            NULL);
        add(scene, write_glass("pane", GLASS_SLAB, "\"doubleSided\":true," GLASS("0.3", "1.3", "")), &beside);
        add_checker(scene, -2.0f, 3.0f);
        add_cloud(scene, -1.6f, 0.8f);
        draw(engine, scene, &view, m ? rgba : of_cpu);
        if (m) {
            int off = 0;
            double most = 0.0;
            for (int p = 0; p < PIXELS; p++) {
                double here = 0.0;
                for (int k = 0; k < 4; k++) {
                    here = fmax(here, fabs((double)(rgba[4 * p + k] - of_cpu[4 * p + k])));
                }
                off += here > 2e-3;
                most = here > 2e-3 ? most : fmax(most, here);
            }
            print_message("%s: %d pixels differ from the CPU's, the others by at most %.6f\n",
                          machine_names[m], off, most);
            // of the others' rims: a triangle more or less; the rest by approximations of powers
            assert_true(off <= PIXELS / 50);
        }
        orr_scene_destroy(scene);
        orr_engine_destroy(engine);
    }
}

// Before a checker, or a panel whose light grows evenly from black to white.
static double traced_error(orr_engine *engine, const char *material, glass_shape shape, bool checker)
{
    orr_view view = look_along(0.6f);
    orr_scene *scene = dark_scene(engine, 0.5f);
    view.hard_edges = false;
    add(scene, write_glass("body", shape, material), NULL);
    (checker ? add_checker : add_shining_panel)(scene, -1.6f, 3.0f);
    trace(scene, &view, 64, other);
    draw(engine, scene, &view, rgba);
    orr_scene_destroy(scene);
    return middle_error(rgba, other);
}

static void films_look_as_path_traced(void **state)
{
    (void)state;
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    const double same = traced_error(engine, GLASS("0", "1", CLOSED), GLASS_SPHERE, false),
                 panes = traced_error(engine, GLASS("0", "1.5", ""), GLASS_SLAB, false),
                 ball = traced_error(engine, GLASS("0", "1.5", CLOSED), GLASS_SPHERE, true);
    print_message("an index of 1 is off by %.4f, a pane by %.4f; a ball before a checker by %.4f\n", same,
                  panes, ball);
    // nothing is refracted: noise of 64 paths; and what one alpha for display colours costs
    assert_true(same < 0.002 && panes < 0.02);
    assert_true(ball > 0.2); // what rays are for: the ball turns the checker upside down
    orr_engine_destroy(engine);
}

// ---- shadows ----

// Light straight down the axis that the camera looks along, through a slab behind it, on a floor across it.
// Returns the light of the floor's middle, of the three channels.
static void light_floor(orr_engine *engine, const char *material, bool traced, double light[3])
{
    const float eye[3] = {0, 0, 1.0f}, target[3] = {0, 0, -3.0f}, up[3] = {0, 1, 0};
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.4f, SIDE, SIDE),
                           .hard_edges = true};
    const orr_sun_desc sun = {.direction = {0, 0, 1}, .colour = {0.8f, 0.8f, 0.8f}};
    const orr_transform above = {.scale = 1.0f, .rotation = {1, 0, 0, 0}, .position = {0, 0, 3.0f}},
                        below = {.scale = 1.0f, .rotation = {1, 0, 0, 0}, .position = {0, 0, -3.0f}};
    orr_scene *scene = dark_scene(engine, 0.0f);
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
    add(scene, write_glass("floor", GLASS_SLAB, "\"pbrMetallicRoughness\":{\"metallicFactor\":0}"), &below);
    if (material) {
        add(scene, write_glass("above", GLASS_SLAB, material), &above);
    }
    traced ? trace(scene, &view, 16, rgba) : draw(engine, scene, &view, rgba);
    for (int k = 0; k < 3; k++) {
        light[k] = srgb_decode((double)rgba[4 * (SIDE / 2 * SIDE + SIDE / 2) + k]);
    }
    orr_scene_destroy(scene);
}

#define PART_GLASS                                                                                           \
    "\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0},"                                 \
    "\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.25}}"
#define DIMS                                                                                                 \
    ",\"KHR_materials_volume\":{\"thicknessFactor\":1,\"attenuationDistance\":2,\"attenuationColor\":[0.25," \
    "0.5,1]}"

static void clear_glass_casts_no_shadow(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) { // Vulkan decides by the same function
        orr_engine *engine = open_engine_on(machines[m]);
        double bare[3], clear[3], part[3];
        if (!engine) {
            continue;
        }
        light_floor(engine, NULL, false, bare);
        light_floor(engine, GLASS("0", "1.5", CLOSED), false, clear);
        light_floor(engine, PART_GLASS, false, part);
        print_message(
            "%s: a floor of %.4f under clear glass %.4f, under some that lets a quarter through %.4f\n",
            machine_names[m], bare[0], clear[0], part[0]);
        assert_true(bare[0] > 0.5 && fabs(clear[0] - bare[0]) < 1e-6 && part[0] < 1e-6);
        orr_engine_destroy(engine);
    }
}

static void paths_to_lamps_go_straight_through_smooth_glass(void **state)
{
    (void)state;
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    double bare[3], seen[3];
    light_floor(engine, NULL, true, bare);
    static const char *const materials[3] = {GLASS("0", "1.5", ""), GLASS("0", "1.5", CLOSED),
                                             GLASS("0", "1.5", DIMS)};
    for (int i = 0; i < 3; i++) {
        light_floor(engine, materials[i], true, seen);
        for (int k = 0; k < 3; k++) {
            // two faces that reflect 0.04 each, and by Beer's law half the distance of the colour's
            const double distances = i == 2 ? 0.5 : 0.0, colour[3] = {0.25, 0.5, 1.0},
                         expected = bare[k] * 0.96 * 0.96 * pow(colour[k], distances);
            print_message("material %d, channel %d: %.4f, expected %.4f\n", i, k, seen[k], expected);
            assert_true(fabs(seen[k] - expected) < 2e-3); // roundings of display colours
        }
    }
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clear_films_in_even_light_vanish),
        cmocka_unit_test(bodies_dim_once_for_both_faces),
        cmocka_unit_test(machines_draw_the_same_films),
        cmocka_unit_test(films_look_as_path_traced),
        cmocka_unit_test(clear_glass_casts_no_shadow),
        cmocka_unit_test(paths_to_lamps_go_straight_through_smooth_glass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
