// Pictures of a gel (orr_tactile_pictures): against the same recipe in double, written anew, and against
// closed forms of planes; every picture as if it were alone.
#include "tests/support/engine.h"
#include "tests/support/refused.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 17, COLUMNS = 23, TAXELS = ROWS * COLUMNS, BINS = 12, COUNT = 9 };

static const double pixel = 5e-5; // m
static const double pi = 3.14159265358979323846;

static double random_number(void)
{
    return (double)rand() / RAND_MAX;
}

// ---- the recipe in double ----

static double height(const float *heights, int y, int x)
{
    y = y < 0 ? -y : y >= ROWS ? 2 * (ROWS - 1) - y : y;
    x = x < 0 ? -x : x >= COLUMNS ? 2 * (COLUMNS - 1) - x : x;
    return (double)heights[y * COLUMNS + x];
}

static double blurred(const float *heights, int y, int x)
{
    static const double weight[5] = {1.0, 4.0, 6.0, 4.0, 1.0};
    double sum = 0.0;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            sum += weight[i] * weight[j] / 256.0 * height(heights, y + i - 2, x + j - 2);
        }
    }
    return sum;
}

static void slope_of(const float *heights, int y, int x, double *down, double *across)
{
    y = y < 1 ? 1 : y > ROWS - 2 ? ROWS - 2 : y;
    x = x < 1 ? 1 : x > COLUMNS - 2 ? COLUMNS - 2 : x;
    *down = (blurred(heights, y + 1, x) - blurred(heights, y - 1, x)) / (2.0 * pixel);
    *across = (blurred(heights, y, x + 1) - blurred(heights, y, x - 1)) / (2.0 * pixel);
}

// Where red, green and blue come from, in columns, rows and out of the pad.
static double lit(double down, double across, int channel)
{
    const double angle = channel * 2.0 * pi / 3.0;
    const double lamp[3] = {cos(angle) * sqrt(0.5), sin(angle) * sqrt(0.5), sqrt(0.5)};
    const double normal[3] = {-across, -down, 1.0}, length = sqrt(across * across + down * down + 1.0);
    const double facing = (normal[0] * lamp[0] + normal[1] * lamp[1] + normal[2] * lamp[2]) / length;
    return 128.0 * fmax(facing, 0.0) / lamp[2];
}

static double clipped(double level)
{
    return fmin(fmax(level, 0.0), 255.0);
}

// ---- tests ----

static void the_lamps_shine_on_slopes(void **state)
{
    (void)state;
    static float heights[COUNT * TAXELS];
    static uint8_t rgb[COUNT * TAXELS * 3];
    const orr_tactile_colours colours = {.rows = ROWS, .columns = COLUMNS, .pixel = pixel};
    srand(1);
    for (int i = 0; i < COUNT * TAXELS; i++) {
        heights[i] = (float)(random_number() * (1 + i / TAXELS) * pixel); // slopes to 4
    }
    assert_ok(orr_tactile_pictures(engine, &colours, COUNT, heights, rgb, &error));
    int dark = 0;
    for (int i = 0; i < COUNT * TAXELS; i++) {
        const float *own = heights + i / TAXELS * TAXELS;
        double down, across;
        slope_of(own, i % TAXELS / COLUMNS, i % COLUMNS, &down, &across);
        for (int k = 0; k < 3; k++) {
            const double level = clipped(lit(down, across, k));
            assert_true(fabs((double)rgb[3 * i + k] - level) < 0.502); // rounding to a level, and of f32
            dark += level == 0.0;
        }
    }
    assert_true(dark > 10); // lamps behind the slope add nothing
}

// A plane of the slope s along the columns: red, which shines from the last one, sees 1 - s, in closed form.
static void a_slope_that_falls_to_the_lamp_is_brighter(void **state)
{
    (void)state;
    float heights[TAXELS];
    uint8_t rgb[TAXELS * 3];
    const orr_tactile_colours colours = {.rows = ROWS, .columns = COLUMNS, .pixel = pixel};
    for (int i = 0; i < TAXELS; i++) {
        heights[i] = (float)(0.25 * pixel * (COLUMNS - i % COLUMNS));
    }
    assert_ok(orr_tactile_pictures(engine, &colours, 1, heights, rgb, &error));
    const uint8_t *middle = rgb + (ptrdiff_t)(ROWS / 2 * COLUMNS + COLUMNS / 2) * 3;
    assert_int_equal(middle[0], lrint(128.0 * 1.25 / sqrt(1.0625)));
    assert_int_equal(middle[1], lrint(128.0 * 0.875 / sqrt(1.0625)));
    assert_int_equal(middle[2], middle[1]);
}

// Planes in the middle of each bin; the outer taxels, which the blur bends, are left out.
static void a_table_chooses_its_polynomial_by_the_slope(void **state)
{
    (void)state;
    float heights[TAXELS], background[TAXELS * 3];
    uint8_t rgb[TAXELS * 3];
    static float table[BINS * BINS * 3 * 6];
    srand(2);
    for (int i = 0; i < BINS * BINS * 3; i++) {
        for (int k = 0; k < 6; k++) {
            const double most[6] = {0.1, 0.1, 0.1, 2.0, 2.0, 60.0};
            table[6 * i + k] = (float)(most[k] * (2.0 * random_number() - 1.0));
        }
    }
    for (int i = 0; i < TAXELS * 3; i++) {
        background[i] = (float)(80.0 + 80.0 * random_number());
    }
    const orr_tactile_colours colours = {.rows = ROWS,
                                         .columns = COLUMNS,
                                         .pixel = pixel,
                                         .bins = BINS,
                                         .table = table,
                                         .background = background};
    for (int bin = 0; bin < (BINS - 1) * (BINS - 1); bin++) {
        const int steep = bin / (BINS - 1), turn = bin % (BINS - 1);
        const double slope = tan((steep + 0.5) * 0.5 * pi / (BINS - 1));
        const double direction = (turn + 0.5) * 2.0 * pi / (BINS - 1) - pi;
        for (int i = 0; i < TAXELS; i++) {
            const double down = (i / COLUMNS) * sin(direction), across = (i % COLUMNS) * cos(direction);
            heights[i] = (float)(slope * pixel * (down + across));
        }
        assert_ok(orr_tactile_pictures(engine, &colours, 1, heights, rgb, &error));
        for (int y = 3; y < ROWS - 3; y++) {
            for (int x = 3; x < COLUMNS - 3; x++) {
                for (int k = 0; k < 3; k++) {
                    const float *f = table + ((ptrdiff_t)(steep * BINS + turn) * 3 + k) * 6;
                    const double terms[6] = {x * x, y * y, x * y, x, y, 1.0};
                    double level = (double)background[(y * COLUMNS + x) * 3 + k];
                    for (int term = 0; term < 6; term++) {
                        level += (double)f[term] * terms[term];
                    }
                    assert_true(fabs(rgb[(y * COLUMNS + x) * 3 + k] - clipped(level)) < 0.502);
                }
            }
        }
    }
}

static void a_picture_is_as_it_is_alone(void **state)
{
    (void)state;
    static float heights[COUNT * TAXELS];
    static uint8_t all[COUNT * TAXELS * 3], alone[TAXELS * 3];
    const orr_tactile_colours colours = {.rows = ROWS, .columns = COLUMNS, .pixel = pixel};
    srand(3);
    for (int i = 0; i < COUNT * TAXELS; i++) {
        heights[i] = (float)(random_number() * pixel);
    }
    assert_ok(orr_tactile_pictures(engine, &colours, COUNT, heights, all, &error));
    for (int i = 0; i < COUNT; i++) {
        assert_ok(orr_tactile_pictures(engine, &colours, 1, heights + (ptrdiff_t)i * TAXELS, alone, &error));
        assert_memory_equal(alone, all + (ptrdiff_t)i * TAXELS * 3, sizeof alone);
    }
}

static void what_is_refused(void **state)
{
    (void)state;
    float heights[TAXELS] = {0}, table[2 * 2 * 3 * 6] = {0};
    uint8_t rgb[TAXELS * 3];
    const orr_tactile_colours good = {.rows = ROWS, .columns = COLUMNS, .pixel = pixel};
    orr_tactile_colours c = good;
    c.rows = 2;
    assert_argument_refused(orr_tactile_pictures(engine, &c, 1, heights, rgb, &why),
                            "1 tactile pictures of 2 x 23 taxels");
    assert_argument_refused(orr_tactile_pictures(engine, &good, 0, heights, rgb, &why), "0 tactile pictures");
    c = good;
    c.pixel = 0.0;
    assert_argument_refused(orr_tactile_pictures(engine, &c, 1, heights, rgb, &why), "a pixel of 0 m");
    c = good;
    c.bins = 2;
    assert_argument_refused(orr_tactile_pictures(engine, &c, 1, heights, rgb, &why), "no table of 2 bins");
    c.table = table;
    table[7] = NAN;
    assert_argument_refused(orr_tactile_pictures(engine, &c, 1, heights, rgb, &why),
                            "table: number 7 is nan");
    heights[5] = INFINITY;
    assert_argument_refused(orr_tactile_pictures(engine, &good, 1, heights, rgb, &why),
                            "heights: number 5 is inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lamps_shine_on_slopes),
        cmocka_unit_test(a_slope_that_falls_to_the_lamp_is_brighter),
        cmocka_unit_test(a_table_chooses_its_polynomial_by_the_slope),
        cmocka_unit_test(a_picture_is_as_it_is_alone),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
