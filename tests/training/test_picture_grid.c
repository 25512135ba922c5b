// Tests of the bilateral grids of photos: the formulas in double against central differences, and a grid that
// learns a map that it can represent.
#define grid_real double
#include "render/training/picture/picture_grid_map.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double grid[ORR_GRID], by_grid[ORR_GRID];

static double random_value(void)
{
    return (double)rand() / RAND_MAX;
}

static void fill_grid(void)
{
    srand(1);
    for (int i = 0; i < ORR_GRID; i++) {
        grid[i] = 2.0 * random_value() - 1.0;
    }
}

typedef struct drawn {
    double x, y, colour[3], alpha, weight[3];
} drawn;

// The weights' product with the pixel's result.
static double loss_of(const drawn *d)
{
    double out[3];
    const grid_place place = grid_find(d->x, d->y, d->colour);
    grid_apply(grid, &place, d->colour, d->alpha, out);
    return d->weight[0] * out[0] + d->weight[1] * out[1] + d->weight[2] * out[2];
}

static double slope(const drawn *d, double *value)
{
    const double h = 1e-6, kept = *value;
    *value = kept + h;
    const double more = loss_of(d);
    *value = kept - h;
    const double less = loss_of(d);
    *value = kept;
    return (more - less) / (2.0 * h);
}

static void assert_near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%s: %.12g: expected %.12g", what, found, expected);
    }
}

static drawn some_pixel(int i)
{
    drawn d = {.x = random_value(), .y = random_value(), .alpha = random_value()};
    for (int k = 0; k < 3; k++) {
        // a third of the colours are darker than black or brighter than white, where brightness is clamped
        d.colour[k] = i % 3 ? random_value() : 4.0 * random_value() - 1.5;
        d.weight[k] = 2.0 * random_value() - 1.0;
    }
    return d;
}

static void gradients_are_those_of_differences(void **state)
{
    (void)state;
    fill_grid();
    for (int i = 0; i < 300; i++) {
        drawn d = some_pixel(i);
        double by_map[ORR_GRID_MAP], by_colour[3], by_alpha;
        const grid_place place = grid_find(d.x, d.y, d.colour);
        memset(by_grid, 0, sizeof by_grid);
        grid_backward(grid, &place, d.colour, d.alpha, d.weight, by_map, by_colour, &by_alpha);
        grid_spread(&place, by_map, by_grid);
        for (int k = 0; k < 3; k++) {
            assert_near(by_colour[k], slope(&d, &d.colour[k]), 1e-7, "by colour"); // of slopes up to 20
        }
        assert_near(by_alpha, slope(&d, &d.alpha), 1e-8, "by alpha");
        double others = 0.0;
        for (int n = 0; n < ORR_GRID; n++) {
            others += by_grid[n] != 0.0;
        }
        assert_true(others <= 8 * ORR_GRID_MAP);
        for (int c = 0; c < 8; c++) {
            const int at = place.corner + (c & 1) * ORR_GRID_MAP + (c >> 1 & 1) * ORR_GRID_ROW +
                           (c >> 2) * ORR_GRID_PLANE;
            for (int n = 0; n < ORR_GRID_MAP; n++) {
                assert_near(by_grid[at + n], slope(&d, &grid[at + n]), 1e-8, "by the grid");
            }
        }
    }
}

// Corners of the picture, black and white are corners of the grid.
static void places_are_whole_at_the_ends(void **state)
{
    (void)state;
    const double black[3] = {-1.0, 0.0, -0.5}, white[3] = {1.0, 7.0, 1.0}, pixel[3] = {0.0, 0.0, 0.0};
    double out[3];
    fill_grid();
    grid_place p = grid_find(0.0, 0.0, black);
    assert_int_equal(p.corner, 0);
    assert_true(p.x == 0.0 && p.y == 0.0 && p.z == 0.0);
    grid_apply(grid, &p, pixel, 1.0, out);
    assert_near(out[1], grid[7], 1e-15, "shift of green");
    p = grid_find(1.0, 1.0, white);
    grid_apply(grid, &p, pixel, 1.0, out);
    assert_near(out[2], grid[ORR_GRID - 1], 1e-14, "shift of blue");
}

static void variation_is_that_of_its_definition(void **state)
{
    (void)state;
    fill_grid();
    memset(by_grid, 0, sizeof by_grid);
    const double whole = grid_variation(grid, 3.0, by_grid), h = 1e-4;
    for (int i = 0; i < 200; i++) {
        const int at = (int)(random_value() * (ORR_GRID - 1));
        const double kept = grid[at];
        grid[at] = kept + h;
        const double more = grid_variation(grid, 3.0, NULL);
        grid[at] = kept - h;
        const double less = grid_variation(grid, 3.0, NULL);
        grid[at] = kept;
        assert_near(by_grid[at], (more - less) / (2.0 * h), 1e-10, "by variation");
    }
    // the mean square of the difference of two uniform numbers of -1 .. 1 is 2/3, in each of three directions
    assert_near(whole, 3.0 * 3.0 * 2.0 / 3.0, 0.06, "variation");
    for (int i = 0; i < ORR_GRID; i++) { // a ramp along y
        grid[i] = i / ORR_GRID_ROW % ORR_GRID_Y;
    }
    assert_near(grid_variation(grid, 1.0, NULL), 1.0, 1e-12, "variation of a ramp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_differences),
        cmocka_unit_test(places_are_whole_at_the_ends),
        cmocka_unit_test(variation_is_that_of_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
