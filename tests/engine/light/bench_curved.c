// By hand: what rays of smooth surfaces add to a frame on the CPU. A chrome sphere that covers a quarter of
// 1280 x 720 pixels, before a floor and walls of splats, or beside a large mesh and a ball that moves: frames
// with and without rays in turn, the least of several [ms of all threads, so that other programs do not
// count].
#include "engine/core/result.h"
#include "engine/orrery.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 1280, HEIGHT = 720, ROW = 128, SPLATS = 6 * ROW * ROW, ROUNDS = 8, HILLS = 224 };

// The sides of a box, 6 wide.
static void add_walls(orr_scene *scene)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(SPLATS, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    for (int i = 0; i < SPLATS; i++) {
        const int face = i / (ROW * ROW), a = face / 2;
        float *p = s.position + 3 * i;
        p[a] = face % 2 ? -3.0f : 3.0f;
        p[(a + 1) % 3] = 6.0f * ((float)(i % ROW) + 0.5f) / ROW - 3.0f;
        p[(a + 2) % 3] = 6.0f * ((float)(i / ROW % ROW) + 0.5f) / ROW - 3.0f;
        s.opacity[i] = 3.0f;
        for (int k = 0; k < 3; k++) {
            s.log_scale[3 * i + k] = logf(k == a ? 0.01f : 6.0f / ROW);
            s.colour[3 * i + k] = (float)((i / 16 + i / (16 * ROW) + k * face) % 2) - 0.5f;
        }
        s.rotation[4 * i] = 1.0f;
    }
    assert_ok(orr_scene_add_splats(scene, "walls", splats, NULL, NULL, &error));
    orr_splats_destroy(splats);
}

static void add_floor(orr_scene *scene)
{
    static const float corners[12] = {-2, -1, -2, -2, -1, 2, 2, -1, 2, 2, -1, -2};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const orr_mesh_desc desc = {
        .vertex_count = 4, .index_count = 6, .positions = corners, .indices = indices};
    assert_ok(orr_scene_add_mesh(scene, "floor", &desc, NULL, NULL, &error));
}

// Hills below the sphere: 2 x HILLS^2 triangles.
static void add_hills(orr_scene *scene)
{
    float *corners = calloc((HILLS + 1) * (HILLS + 1), 3 * sizeof *corners);
    uint32_t *indices = calloc((size_t)HILLS * HILLS, 6 * sizeof *indices);
    for (uint32_t i = 0; i < (HILLS + 1) * (HILLS + 1); i++) {
        const float x = 6.0f * (float)(i % (HILLS + 1)) / HILLS - 3.0f,
                    z = 6.0f * (float)(i / (HILLS + 1)) / HILLS - 3.0f;
        corners[3 * i] = x;
        corners[3 * i + 1] = 0.1f * sinf(9.0f * x) * cosf(7.0f * z) - 1.2f;
        corners[3 * i + 2] = z;
    }
    for (uint32_t i = 0; i < HILLS * HILLS; i++) {
        const uint32_t a = i / HILLS * (HILLS + 1) + i % HILLS, b = a + HILLS + 1;
        memcpy(indices + 6 * (size_t)i, (uint32_t[6]){a, b, a + 1, a + 1, b, b + 1}, 6 * sizeof *indices);
    }
    const orr_mesh_desc desc = {.vertex_count = (HILLS + 1) * (HILLS + 1),
                                .index_count = 6 * HILLS * HILLS,
                                .positions = corners,
                                .indices = indices};
    assert_ok(orr_scene_add_mesh(scene, "hills", &desc, NULL, NULL, &error));
    free(corners);
    free(indices);
}

static orr_view near_view(void)
{
    const float eye[3] = {0, 0.3f, 2.9f}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    // the sphere's outline is 0.57 of the height in radius: a quarter of the picture with this angle
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 1.13f, WIDTH, HEIGHT)};
}

// A frame with the ball at x [ms of all threads].
static double frame_with_ball(orr_frame *frame, orr_scene *scene, orr_world *world, orr_layer ball, float x,
                              float *rgba)
{
    const orr_view view = near_view();
    const orr_transform at = {.position = {x, 0.7f, 1.2f}, .rotation = {1}, .scale = 0.2f};
    const clock_t start = clock();
    assert_ok(orr_world_set_transform(world, 0, ball, &at, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    return (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
}

static void measure_motion(void **state)
{
    (void)state;
    static const char *const names[3] = {"without rays", "at rest", "moving"};
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_layer ball;
    float *rgba = calloc((size_t)WIDTH * HEIGHT, 4 * sizeof *rgba);
    double least[3] = {INFINITY, INFINITY, INFINITY}, first = 0.0;
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_file(scene, write_sphere(1.0f, 0.0f, 0.9f), NULL, NULL, &error));
    add_hills(scene);
    assert_ok(orr_scene_add_file(scene, write_sphere(0.0f, 0.8f, 0.5f), NULL, &ball, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 3; k++) {
            assert_ok(orr_scene_set_rays(scene, k > 0, &error));
            const float x = k < 2 ? 0.0f : 0.1f * (float)(i + 1);
            const double took = frame_with_ball(frame, scene, world, ball, x, rgba);
            first = i == 0 && k == 1 ? took : first;
            // the frame before the one at rest had the ball elsewhere
            const double again = k == 1 ? frame_with_ball(frame, scene, world, ball, x, rgba) : took;
            least[k] = fmin(least[k], again);
        }
    }
    print_message("a ball beside %d triangles, the first frame with rays: %.1f ms\n", 2 * HILLS * HILLS,
                  first);
    for (int k = 0; k < 3; k++) {
        print_message("    %s: %.1f ms\n", names[k], least[k]);
    }
    free(rgba);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

static void measure(void **state)
{
    (void)state;
    const orr_view view = near_view();
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    float *rgba = calloc((size_t)WIDTH * HEIGHT, 4 * sizeof *rgba);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_file(scene, write_sphere(1.0f, 0.0f, 0.9f), NULL, NULL, &error));
    double least[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (int cloud = 0; cloud < 2; cloud++) {
        cloud ? add_walls(scene) : add_floor(scene);
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_frame_create(engine, NULL, &frame, &error));
        for (int i = 0; i < 2 * ROUNDS; i++) {
            assert_ok(orr_scene_set_rays(scene, i % 2 == 1, &error));
            const clock_t start = clock();
            assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
            assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
            least[cloud][i % 2] = fmin(least[cloud][i % 2], (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC);
        }
        print_message("%s: %.1f ms without rays, %.1f ms with\n", cloud ? "floor and 98,304 splats" : "floor",
                      least[cloud][0], least[cloud][1]);
        orr_frame_destroy(frame);
        orr_world_destroy(world);
    }
    free(rgba);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measure), cmocka_unit_test(measure_motion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
