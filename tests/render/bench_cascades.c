// By hand: what cascades add to a frame on the CPU. Draws the scene of cascade_scene.h with 2000 more
// cubes on its floor, 1280 x 720, with one map of the sun and with cascades in turn; the least of several
// frames [ms of all threads, so that other programs do not count], of a hard sun and of a soft one.
#include "tests/render/scenes/cascade_scene.h"

#include "render/cpu/splats_cpu.h"
#include "render/shadow/shadow.h"
#include "tests/support/drawn.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CUBES = 2000, ROUNDS = 12 };

static orr_jobs *jobs;
static orr_arena arena;

static double frame_milliseconds(const orr_draw_list *list, drawn *picture)
{
    orr_isa isa;
    orr_profile profile;
    assert_ok(orr_isa_choose(&isa, &error));
    orr_arena_reset(&arena);
    const clock_t start = clock();
    assert_ok(orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){picture->rgba, picture->depth}, NULL,
                           &profile, &error));
    return (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
}

static void measure(void **state)
{
    (void)state;
    static cascade_scene s;
    static orr_draw_mesh items[7 + CUBES];
    cascade_scene_make(&s);
    memcpy(items, s.items, sizeof s.items);
    for (int i = 0; i < CUBES; i++) {
        orr_draw_mesh *cube = &items[7 + i];
        *cube = s.items[2];
        // a grid of 50 x 40 with gaps around the camera
        cube->model[3] = 0.9f * (float)(i % 50) - 22.0f;
        cube->model[7] = 1.1f * (float)(i / 50) - 22.0f;
        cube->model[0] = cube->model[5] = cube->model[10] = 0.3f;
        cube->model[11] = 0.15f;
    }
    s.list.meshes = items;
    s.list.mesh_count = 7 + CUBES;
    orr_lens *lens = &s.list.lens;
    lens->width = 1280;
    lens->height = 720;
    lens->focal[0] = lens->focal[1] = 900.0f;
    lens->centre[0] = 640.0f;
    lens->centre[1] = 360.0f;
    drawn picture = drawn_make(&s.list);
    for (int soft = 0; soft < 2; soft++) {
        double least[2] = {INFINITY, INFINITY};
        int maps[2] = {0};
        s.list.sun.radius = soft ? 0.00465f : 0.0f;
        for (int round = 0; round < ROUNDS; round++) {
            for (int cascades = 0; cascades < 2; cascades++) {
                static orr_shadow_plan plan;
                // a mirror's picture has none; no part has this number
                s.list.left_out_mesh = cascades ? 0 : 1;
                s.list.left_out_part = -1;
                orr_shadow_plan_make(&s.list, &plan);
                maps[cascades] = plan.map_count;
                least[cascades] = fmin(least[cascades], frame_milliseconds(&s.list, &picture));
            }
        }
        print_message("%s sun: %d map %.1f ms, %d maps %.1f ms\n", soft ? "soft" : "hard", maps[0], least[0],
                      maps[1], least[1]);
    }
    drawn_free(&picture);
}

int main(void)
{
    orr_error error = {0};
    if (orr_jobs_create(2, NULL, NULL, &jobs, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(measure)};
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    orr_arena_destroy(&arena);
    return failures;
}
