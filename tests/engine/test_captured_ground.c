// A robot walks for a minute over ground that is a splat cloud, on distance grids of 1, 2 and 5 cm.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// Captured ground, 10 m by 2.4 m: waves of 6 cm, one splat every 3 cm.
static orr_splats *ground_cloud(void)
{
    enum { LONG = 334, WIDE = 80 };
    orr_splats *splats;
    assert_ok(orr_splats_create(LONG * WIDE, 0, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < LONG * WIDE; i++) {
        const float x = 0.03f * (float)(i % LONG) - 1.0f, y = 0.03f * (float)(i / LONG - WIDE / 2);
        const float slope = 0.03f * 6.0f * cosf(6.0f * x), turn = -atanf(slope);
        const float p[3] = {x, y, 0.03f * sinf(6.0f * x)};
        memcpy(view.position + 3 * (ptrdiff_t)i, p, sizeof p);
        view.log_scale[3 * i] = view.log_scale[3 * i + 1] = logf(0.022f);
        view.log_scale[3 * i + 2] = logf(0.003f);
        view.rotation[4 * i] = cosf(0.5f * turn);
        view.rotation[4 * i + 2] = sinf(0.5f * turn);
        view.opacity[i] = 3.0f;
    }
    return splats;
}

// The walker without its own floor.
static orr_layer add_walker(orr_scene *scene)
{
    static const char plane[] =
        "<geom name=\"ground\" type=\"plane\" size=\"0 0 0.1\" material=\"ground\" contype=\"1\"/>";
    orr_bytes file;
    orr_layer walker;
    assert_ok(orr_file_read(source_path("assets/walker.xml"), &file, &error));
    char *found = strstr((char *)file.data, plane);
    assert_non_null(found);
    memset(found, ' ', sizeof plane - 1);
    assert_ok(orr_scene_add_file(scene, written("walker.xml", (char *)file.data), NULL, &walker, &error));
    orr_free(file.data);
    return walker;
}

// Its sines (assets/walker.xml) for a minute: it must not fall through, stumble or get stuck.
static void a_walker_crosses_captured_ground(void **state)
{
    (void)state;
    static const double cells[] = {0.01, 0.02, 0.05};
    orr_splats *cloud = ground_cloud();
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        orr_scene *scene;
        orr_world *world;
        orr_layer ground;
        assert_ok(orr_scene_create(engine, &scene, &error));
        const orr_layer walker = add_walker(scene);
        assert_ok(orr_scene_add_splats(scene, "ground", cloud, NULL, &ground, &error));
        assert_ok(orr_scene_set_physics(scene, ground, &(orr_body_desc){.cell = cells[i]}, &error));
        assert_ok(orr_world_create(scene, 1, &world, &error));
        const double *sine = scene->layers[0].robot->model->numeric_data;
        double lowest = INFINITY, tilt = 0.0, far = 0.0;
        for (int tick = 0; tick < 6000; tick++) {
            double control[12];
            for (int a = 0; a < 12; a++) {
                const double *own = sine + 1 + 3 * a;
                const double stride = a % 2 ? 1.0 : 0.5; // of the swing: half the speed
                control[a] =
                    own[0] + stride * own[1] * sin(2.0 * pi * sine[0] * 0.01 * tick + own[2] * pi / 180.0);
            }
            assert_ok(orr_world_set_robot(world, 0, walker, ORR_ROBOT_CTRL, control, &error));
            assert_ok(orr_world_advance(world, 0.01, &error));
            orr_transform at;
            assert_ok(orr_world_body_transform(world, 0, walker, 1, &at, &error));
            const double height = (double)at.position[2] - 0.03 * sin(6.0 * (double)at.position[0]);
            lowest = fmin(lowest, height);
            const double up =
                1.0 - 2.0 * (double)(at.rotation[1] * at.rotation[1] + at.rotation[2] * at.rotation[2]);
            tilt = fmax(tilt, acos(up) * 180.0 / pi);
            far = (double)at.position[0];
        }
        print_message("cells of %g m: %.1f m in a minute, trunk at least %.3f m above ground, tilted by up "
                      "to %.0f degrees\n",
                      cells[i], far, lowest, tilt);
        assert_true(far > 7.0 && lowest > 0.14 && tilt < 20.0); // slopes are up to 10 degrees
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
    orr_splats_destroy(cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walker_crosses_captured_ground),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
