// Tests of rays through frosted glass on the CPU, against path-traced pictures.
#define ORR_SCALAR
#include "engine/core/result.h"
#include "engine/maths/colour_formula.h"
#include "render/cpu/rays/frost_filter.h"
#include "tests/glass/glass_scene.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float rgba[4 * PIXELS], other[4 * PIXELS], alone[4 * PIXELS];

static orr_view look_along(float field)
{
    const float eye[3] = {0, 0.2f, 4.0f}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, field, SIDE, SIDE)};
}

static void add(orr_scene *scene, const char *path)
{
    assert_ok(orr_scene_add_file(scene, path, NULL, NULL, &error));
}

static void draw_rays(orr_engine *engine, orr_scene *scene, const orr_view *view, float *picture)
{
    assert_ok(orr_scene_set_rays(scene, true, &error));
    draw(engine, scene, view, picture);
}

// A picture whose pixels are the means of 5 x 5, in which the grain of single pixels is small.
static void blur(const float *from, float *to)
{
    for (int y = 2; y < SIDE - 2; y++) {
        for (int x = 2; x < SIDE - 2; x++) {
            for (int k = 0; k < 4; k++) {
                float sum = 0.0f;
                for (int i = 0; i < 25; i++) {
                    sum += from[4 * ((y + i / 5 - 2) * SIDE + x + i % 5 - 2) + k];
                }
                to[4 * (y * SIDE + x) + k] = sum / 25.0f;
            }
        }
    }
}

typedef struct frost {
    glass_shape shape;
    const char *name, *material;
    double off;  // by how much pixels may differ
    double mean; // and means of 5 x 5 of them
    double more; // how many times as much the environment alone differs at least
} frost;

static void frosted_glass_looks_as_path_traced(void **state)
{
    (void)state;
    // Half as much again as is seen, of the means twice as much.
    // At a roughness of 0.6 rays keep the light that paths lose where it is
    // scattered more than once.
    static const frost all[] = {
        {GLASS_SPHERE, "a ball of roughness 0.25", GLASS("0.25", "1.5", CLOSED), 0.07, 0.05, 5.0},
        {GLASS_SLAB, "a pane of roughness 0.35", GLASS("0.35", "1.5", CLOSED), 0.07, 0.05, 3.0},
        {GLASS_SLAB, "a pane of roughness 0.6", GLASS("0.6", "1.5", CLOSED), 0.14, 0.13, 1.2},
        {GLASS_SLAB, "thin walls of roughness 0.35", "\"doubleSided\":true," GLASS("0.35", "1.5", ""), 0.07,
         0.04, 1.5},
    };
    static float blurred[4 * PIXELS], traced[4 * PIXELS];
    const orr_view view = look_along(0.5f);
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    for (size_t i = 0; i < 2 * sizeof all / sizeof all[0]; i++) {
        const frost *f = &all[i / 2];
        orr_scene *scene = dark_scene(engine, 0.5f);
        add(scene, write_glass("frosted", f->shape, f->material));
        draw_rays(engine, scene, &view, alone);
        i % 2 ? add_cloud(scene, -1.6f, 3.0f) : add_checker(scene, -1.6f, 3.0f);
        trace(scene, &view, 64, other);
        draw_rays(engine, scene, &view, rgba);
        blur(rgba, blurred);
        blur(other, traced);
        const double off = middle_error(rgba, other), off_mean = middle_error(blurred, traced),
                     off_alone = middle_error(alone, other);
        print_message("%s before a %s: off by %.4f, means of 5 x 5 pixels by %.4f; the environment alone by "
                      "%.4f\n",
                      f->name, i % 2 ? "cloud" : "checker", off, off_mean, off_alone);
        // pixels: a third to a half of it is the grain of the 64 paths
        assert_true(off < f->off && off_mean < f->mean && off_alone > f->more * off_mean);
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
}

// Pixels of two surfaces, and others between them: each frosted one becomes the mean light of those of its
// surface in the square around it, of the rows that show it straight above or below; others stay.
static void the_filter_averages_a_surface(void **state)
{
    (void)state;
    enum { WIDE = 23, HIGH = 37, COUNT = WIDE * HIGH };
    static int32_t met[COUNT];
    static float rgb[3 * COUNT], before[3 * COUNT];
    float *frosted;
    orr_jobs *jobs;
    orr_arena arena = {0};
    srand(3);
    for (int i = 0; i < COUNT; i++) {
        const int kind = rand() % 4;
        met[i] = kind < 2 ? orr_frost_key(kind) : kind == 2 ? 0 : 7;
        for (int k = 0; k < 3; k++) {
            before[k * COUNT + i] = rgb[k * COUNT + i] = (float)rand() / (float)RAND_MAX;
        }
    }
    assert_ok(orr_jobs_create(3, NULL, NULL, &jobs, &error));
    assert_ok(orr_frost_filter(jobs, &arena, WIDE, HIGH, met, rgb, &frosted, &error));
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 3; k++) {
            double sum = 0.0, count = 0.0;
            for (int y = i / WIDE - 2; y <= i / WIDE + 2; y++) {
                for (int x = i % WIDE - 2; x <= i % WIDE + 2; x++) {
                    const int at = y * WIDE + x;
                    const bool inside = x >= 0 && x < WIDE && y >= 0 && y < HIGH;
                    if (inside && met[at] == met[i] && met[y * WIDE + i % WIDE] == met[i]) {
                        sum += (double)srgb_to_linear(before[k * COUNT + at]);
                        count += 1.0;
                    }
                }
            }
            const float expected =
                orr_frost_is_key(met[i]) ? linear_to_srgb((float)(sum / count)) : before[k * COUNT + i];
            assert_true(fabsf(rgb[k * COUNT + i] - expected) < 1e-5f);
            assert_true(!orr_frost_is_key(met[i]) || frosted[k * COUNT + i] == rgb[k * COUNT + i]);
        }
    }
    orr_arena_destroy(&arena);
    orr_jobs_destroy(jobs);
}

// The bits of a frame are those of the next one and of any number of threads.
static void frost_does_not_flicker(void **state)
{
    (void)state;
    const orr_view view = look_along(0.5f);
    for (int i = 0; i < 2; i++) {
        orr_engine *engine;
        const orr_engine_desc desc = {.device = ORR_DEVICE_CPU, .threads = i ? 5 : 1};
        assert_ok(orr_engine_create(&desc, &engine, &error));
        orr_scene *scene = dark_scene(engine, 0.3f);
        add(scene, write_glass("ball", GLASS_SPHERE, GLASS("0.4", "1.5", CLOSED)));
        add_checker(scene, -2.0f, 3.0f);
        draw_rays(engine, scene, &view, i ? other : rgba);
        if (!i) {
            draw_rays(engine, scene, &view, alone);
            assert_memory_equal(rgba, alone, sizeof rgba);
        }
        orr_scene_destroy(scene);
        orr_engine_destroy(engine);
    }
    assert_memory_equal(rgba, other, sizeof rgba);
}

// Of a glass whose transmission is 0.4; by `factor`, or by a texture of one texel (102 0 0).
#define THROUGH(factor, more)                                                                                \
    "\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0,\"baseColorFactor\":[0.5,0.7,0.9," \
    "1]},"                                                                                                   \
    "\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":" factor more                    \
    "},\"KHR_materials_volume\":{\"thicknessFactor\":1}}"
#define TEXTURE                                                                                              \
    "}],\"images\":[{\"uri\":\"data:image/"                                                                  \
    "png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4"                                    \
    "2mNIY2AAAAE2AGdEzl5XAAAAAElFTkSuQmCC\"}],\"textures\":[{\"source\":0"

static void textures_say_where_light_goes_through(void **state)
{
    (void)state;
    static const char *const materials[2] = {THROUGH("0.4", ""),
                                             THROUGH("1", ",\"transmissionTexture\":{\"index\":0}") TEXTURE};
    static float drawn[2][4 * PIXELS], traced[2][4 * PIXELS];
    const orr_view view = look_along(0.5f);
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    for (int i = 0; i < 2; i++) {
        orr_scene *scene = dark_scene(engine, 0.5f);
        add(scene, write_glass("part", GLASS_SLAB, materials[i]));
        add_checker(scene, -1.6f, 3.0f);
        draw_rays(engine, scene, &view, drawn[i]);
        trace(scene, &view, 32, traced[i]);
        orr_scene_destroy(scene);
    }
    const double off = middle_error(drawn[0], traced[0]);
    print_message("a pane of a transmission of 0.4: off by %.4f\n", off);
    assert_true(off < 0.1);
    for (int i = 0; i < 4 * PIXELS; i++) { // 102 / 255 and 0.4 are one number but for a rounding
        assert_true(fabsf(drawn[1][i] - drawn[0][i]) < 1e-5f && fabsf(traced[1][i] - traced[0][i]) < 1e-5f);
    }
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frosted_glass_looks_as_path_traced),
        cmocka_unit_test(the_filter_averages_a_surface),
        cmocka_unit_test(frost_does_not_flicker),
        cmocka_unit_test(textures_say_where_light_goes_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
