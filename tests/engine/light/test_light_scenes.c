// Real time against the reference: six scenes in which light passes between meshes and captured worlds, by
// the mean difference of display colours and by FLIP. `compare_light` makes pictures of them.
#include "tests/engine/light/light_scenes.h"
#include "tests/support/engine.h"
#include "tests/support/flip.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 96, HEIGHT = 72, PIXELS = WIDTH * HEIGHT, SAMPLES = 16 };

static float frame[4 * PIXELS], traced[4 * PIXELS];

// The pictures, and the numbers, of tests/golden/flip.py.
static void flip_is_that_of_its_authors(void **state)
{
    (void)state;
    static const double golden[3] = {0.269475, 0.383696, 0.344467};
    for (int n = 0; n < 3; n++) {
        for (int i = 0; i < 4 * PIXELS; i++) {
            const int x = i / 4 % WIDTH, y = i / 4 / WIDTH, k = i % 4;
            const int a = (x * 7 + y * 13 + k * 5 + x * y / 16) % 64,
                      b = (x * 7 + y * 13 + k * 5 + x * y / 16 + (x * x + 3 * y) % 9) % 64;
            traced[i] = (float)a / 63.0f;
            frame[i] = n == 0 ? (float)b / 63.0f : n == 1 ? 0.5f * traced[i] + 0.2f : 1.0f - traced[i];
        }
        const double mean = flip(traced, frame, WIDTH, HEIGHT, NULL);
        print_message("FLIP %.6f, of its authors %.6f\n", mean, golden[n]);
        assert_true(fabs(mean - golden[n]) < 2e-4); // their colours have matrices of fewer digits
    }
    assert_true(flip(traced, traced, WIDTH, HEIGHT, NULL) < 1e-9);
}

// These only go down.
static void real_time_is_near_the_reference(void **state)
{
    (void)state;
    static const double most[LIGHT_SCENES][2] = {{0.0172, 0.088},  {0.0222, 0.118}, {0.0221, 0.095},
                                                 {0.0179, 0.0775}, {0.0284, 0.138}, {0.02, 0.094}};
    for (int i = 0; i < LIGHT_SCENES; i++) {
        light_scene s = light_scene_make(engine, i, WIDTH, HEIGHT);
        light_scene_draw(engine, &s, frame);
        light_scene_trace(&s, SAMPLES, traced);
        double mean = 0.0;
        for (int k = 0; k < 4 * PIXELS; k++) {
            const double off = fabs(fmin((double)frame[k], 1.0) - fmin((double)traced[k], 1.0));
            mean += k % 4 == 3 ? 0.0 : off / (3.0 * PIXELS);
        }
        const double perceived = flip(traced, frame, WIDTH, HEIGHT, NULL);
        print_message("%s: mean %.4f, FLIP %.4f\n", light_scene_names[i], mean, perceived);
        assert_true(mean <= most[i][0] && perceived <= most[i][1]);
        light_scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(flip_is_that_of_its_authors),
                                       cmocka_unit_test(real_time_is_near_the_reference)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
