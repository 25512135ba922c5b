// By hand: what rays through glass add to a frame on the CPU. A glass sphere, clear and frosted, that covers
// a quarter of 1280 x 720 pixels, before a checker and before a wall of splats: frames with and without rays
// in turn, the least of several [ms of all threads, so that other programs do not count].
#include "engine/core/result.h"
#include "engine/orrery.h"
#include "tests/glass/glass_scene.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 1280, HEIGHT = 720, ROUNDS = 5 };

static void measure(void **state)
{
    (void)state;
    const float eye[3] = {0, 0.3f, 2.9f}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    // the sphere's outline is 0.57 of the height in radius, as in bench_curved
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 1.13f, WIDTH, HEIGHT)};
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    float *rgba = calloc((size_t)WIDTH * HEIGHT, 4 * sizeof *rgba);
    static const char *const materials[3] = {GLASS("0", "1.5", CLOSED), GLASS("0.25", "1.5", CLOSED),
                                             GLASS("0.35", "1.5", CLOSED)};
    static const char *const names[3] = {"clear", "of roughness 0.25", "of roughness 0.35"};
    for (int i = 0; i < 6; i++) {
        const bool cloud = i % 2;
        double least[2] = {INFINITY, INFINITY};
        orr_scene *scene = dark_scene(engine, 0.5f);
        orr_world *world;
        orr_frame *frame;
        const char *glass = write_glass("ball", GLASS_SPHERE, materials[i / 2]);
        assert_ok(orr_scene_add_file(scene, glass, NULL, NULL, &error));
        cloud ? add_cloud(scene, -2.0f, 4.0f) : add_checker(scene, -2.0f, 4.0f);
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_frame_create(engine, NULL, &frame, &error));
        for (int k = 0; k < 2 * ROUNDS; k++) {
            assert_ok(orr_scene_set_rays(scene, k % 2 == 1, &error));
            const clock_t start = clock();
            assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
            assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
            least[k % 2] = fmin(least[k % 2], (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC);
        }
        print_message("%s before %s: %.1f ms without rays, %.1f ms with\n", names[i / 2],
                      cloud ? "2,304 splats" : "a checker", least[0], least[1]);
        orr_frame_destroy(frame);
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
    free(rgba);
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
