// Tests of rays through frosted glass on the CPU, against path-traced pictures.
#include "engine/core/result.h"
#include "tests/glass/glass_scene.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
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
    double mean; // by how much means of 5 x 5 pixels may differ
    double more; // how many times as much the environment alone differs at least
} frost;

static void frosted_glass_looks_as_path_traced(void **state)
{
    (void)state;
    // Of the means twice what is seen. At a roughness of 0.6 rays keep the light that paths lose where it is
    // scattered more than once.
    static const frost all[] = {
        {GLASS_SPHERE, "a ball of roughness 0.25", GLASS("0.25", "1.5", CLOSED), 0.05, 5.0},
        {GLASS_SLAB, "a pane of roughness 0.35", GLASS("0.35", "1.5", CLOSED), 0.06, 3.0},
        {GLASS_SLAB, "a pane of roughness 0.6", GLASS("0.6", "1.5", CLOSED), 0.13, 1.2},
        {GLASS_SLAB, "thin walls of roughness 0.35", "\"doubleSided\":true," GLASS("0.35", "1.5", ""), 0.04,
         1.5},
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
        // pixels: the grain of 8 rays, where half of what is behind is white and half is dark. That is as
        // much as evenly grey glass is off by where the checker is blurred to grey; means are not.
        assert_true(off < 0.15 && off_mean < f->mean && off_alone > f->more * off_mean);
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
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
        cmocka_unit_test(frost_does_not_flicker),
        cmocka_unit_test(textures_say_where_light_goes_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
