// Bilateral grids of photos on CUDA (a GPU, or the emulated device) beside the CPU: gradients of all numbers
// of a grid, on a picture that gives warps several loads of pixels and on one that leaves cells empty, Adam's
// step and the centring of several grids.
#include "render/training/cuda/splat_steps_state.h"
#include "tests/support/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 285, HEIGHT = 243, MARGINS = 2 * ORR_LOSS_MARGIN, GRIDS = 4 };

static float random_number(float low, float high)
{
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

static float *random_numbers(size_t count, float low, float high)
{
    float *values = orr_alloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        values[i] = random_number(low, high);
    }
    return values;
}

static void fill_grid(orr_photo_grid *grid)
{
    for (int i = 0; i < ORR_GRID; i++) {
        grid->value[i] = grid_identity(i) + random_number(-0.2f, 0.3f);
        grid->moments[0][i] = random_number(-1e-4f, 1e-4f);
        grid->moments[1][i] = random_number(0.0f, 1e-8f);
    }
}

static void *sent(const void *from, size_t bytes)
{
    void *memory;
    assert_ok(orr_cuda_alloc(cuda, bytes, 1, &memory, &error));
    assert_ok(orr_cuda_upload(cuda, memory, from, bytes, &error));
    return memory;
}

static double distance(const float *a, const float *b, int count)
{
    double apart = 0.0, length = 0.0;
    for (int i = 0; i < count; i++) {
        apart += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        length += (double)b[i] * (double)b[i];
    }
    return sqrt(apart / length);
}

// A picture as drawn, and the loss by what its grid makes of it.
typedef struct graded {
    int width, height, stride;
    float *rgba, *by; // height x width x 4; planes
} graded;

static graded grade(int width, int height)
{
    graded g = {width, height, width + MARGINS, NULL, NULL};
    g.rgba =
        random_numbers(4 * (size_t)width * (size_t)height, -0.1f, 1.1f); // black and white are passed, too
    g.by = random_numbers(3 * (size_t)g.stride * (size_t)height, -1e-3f, 1e-3f);
    return g;
}

static void differentiate_on_the_cpu(const graded *g, const orr_photo_grid *grid, float *by_grid)
{
    memset(by_grid, 0, ORR_GRID * sizeof *by_grid);
    for (int y = 0; y < g->height; y++) {
        for (int x = 0; x < g->width; x++) {
            const float *drawn = g->rgba + 4 * (y * g->width + x);
            const grid_place place = grid_find(grid_middle(x, g->width), grid_middle(y, g->height), drawn);
            float by[3], by_map[ORR_GRID_MAP], by_colour[3], by_alpha;
            for (int k = 0; k < 3; k++) {
                by[k] = g->by[(k * g->height + y) * g->stride + ORR_LOSS_MARGIN + x];
            }
            grid_backward(grid->value, &place, drawn, drawn[3], by, by_map, by_colour, &by_alpha);
            grid_spread(&place, by_map, by_grid);
        }
    }
}

// Gradient and step of a grid on the device, which leave the gradient in by_grid; returns the variation.
static double step_on_the_device(const graded *g, orr_photo_grid *grid, bool has_room, float *by_grid)
{
    float variations[ORR_GRID];
    double variation = 0.0;
    const int blocks = orr_cuda_grid_blocks();
    const orr_cuda_control control = {.pairs = 5, .needed = has_room ? 5 : 6};
    orr_cuda_compare c = {.width = g->width, .height = g->height};
    c.gradient = (orr_loss_planes){.width = g->width, .height = g->height, .stride = g->stride};
    c.rgba = sent(g->rgba, 4 * (size_t)g->width * (size_t)g->height * sizeof(float));
    c.gradient.values = sent(g->by, 3 * (size_t)g->stride * (size_t)g->height * sizeof(float));
    const uint32_t halted = 0;
    orr_cuda_step_now now = {.grid = sent(grid, sizeof *grid),
                             .grid_correction = orr_photo_grid_correction(7),
                             .grid_rate = 2e-3f};
    orr_cuda_grid_step step = {.now = sent(&now, sizeof now), .halted = sent(&halted, sizeof halted)};
    void *memory[3], *frame = sent(&control, sizeof control);
    const size_t sizes[3] = {orr_cuda_grid_cells() * ORR_GRID_CELL, ORR_GRID, (size_t)blocks};
    for (int i = 0; i < 3; i++) {
        assert_ok(orr_cuda_alloc(cuda, sizes[i], sizeof(float), &memory[i], &error));
    }
    step.control = frame;
    step.cells = memory[0];
    step.by_grid = memory[1];
    step.variations = memory[2];
    orr_cuda_grid_gradient_launch(cuda->stream, &step, &c);
    orr_cuda_grid_advance_launch(cuda->stream, &step);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_ok(orr_cuda_download(cuda, by_grid, step.by_grid, ORR_GRID * sizeof(float), &error));
    assert_ok(orr_cuda_download(cuda, grid, now.grid, sizeof *grid, &error));
    assert_ok(orr_cuda_download(cuda, variations, step.variations, (size_t)blocks * sizeof(float), &error));
    for (int i = 0; i < blocks; i++) {
        variation += (double)variations[i];
    }
    for (int i = 0; i < 3; i++) {
        orr_cuda_free(memory[i]);
    }
    orr_cuda_free(now.grid);
    orr_cuda_free((void *)step.now);
    orr_cuda_free((void *)step.halted);
    orr_cuda_free(frame);
    orr_cuda_free((void *)c.rgba);
    orr_cuda_free(c.gradient.values);
    return variation;
}

// Single precision, in which 300 pixels of a cell are added in another order, leaves less than 1e-6 of a
// gradient.
static void compare_a_picture(int width, int height)
{
    static orr_photo_grid grid, device, again;
    static float expected[ORR_GRID], by_grid[ORR_GRID], repeated[ORR_GRID];
    srand(4);
    graded g = grade(width, height);
    fill_grid(&grid);
    device = again = grid;
    const double variation = step_on_the_device(&g, &device, true, by_grid);
    step_on_the_device(&g, &again, true, repeated);
    assert_memory_equal(by_grid, repeated, sizeof by_grid);
    assert_memory_equal(&device, &again, sizeof device);
    differentiate_on_the_cpu(&g, &grid, expected);
    const orr_photo_grid before = grid;
    const double expected_variation = orr_photo_grid_step(&grid, expected, 7, 2e-3f);
    print_message("%d x %d: gradient off by %.2g, variation by %.2g\n", width, height,
                  distance(by_grid, expected, ORR_GRID), variation / expected_variation - 1.0);
    assert_true(distance(by_grid, expected, ORR_GRID) < 2e-6);
    assert_true(fabs(variation / expected_variation - 1.0) < 1e-6);
    for (int i = 0; i < ORR_GRID; i++) {
        device.value[i] -= before.value[i];
        grid.value[i] -= before.value[i];
    }
    // a step is the difference of two numbers near 1, which are rounded to 6e-8, and is 2e-3 or less
    assert_true(distance(device.value, grid.value, ORR_GRID) < 1e-4);
    assert_true(distance(device.moments[0], grid.moments[0], ORR_GRID) < 2e-6);
    assert_true(distance(device.moments[1], grid.moments[1], ORR_GRID) < 4e-6);
    orr_free(g.rgba);
    orr_free(g.by);
}

static void gradients_are_those_of_the_cpu(void **state)
{
    (void)state;
    compare_a_picture(WIDTH,
                      HEIGHT); // 19 x 17 pixels for a cell, but for roundings: two loads for some warps
    compare_a_picture(9, 31);
}

static void a_frame_without_room_moves_nothing(void **state)
{
    (void)state;
    static orr_photo_grid grid, device;
    static float by_grid[ORR_GRID];
    srand(5);
    graded g = grade(9, 31);
    fill_grid(&grid);
    device = grid;
    step_on_the_device(&g, &device, false, by_grid);
    assert_memory_equal(&device, &grid, sizeof grid);
    step_on_the_device(&g, &device, true, by_grid);
    assert_true(memcmp(&device, &grid, sizeof grid) != 0);
    orr_free(g.rgba);
    orr_free(g.by);
}

// All but one of some grids.
static void grids_are_centred(void **state)
{
    (void)state;
    static orr_photo_grid grids[GRIDS], device[GRIDS];
    static const int images[GRIDS - 1] = {3, 0, 2};
    void *memory;
    srand(6);
    for (int i = 0; i < GRIDS; i++) {
        fill_grid(&grids[i]);
    }
    assert_ok(orr_cuda_alloc(cuda, (size_t)(GRIDS - 1) * ORR_GRID_MAP, sizeof(double), &memory, &error));
    orr_photo_grid *at = sent(grids, sizeof grids);
    int *of = sent(images, sizeof images);
    orr_cuda_grids_centre_launch(cuda->stream, at, of, GRIDS - 1, memory);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_ok(orr_cuda_download(cuda, device, at, sizeof device, &error));
    orr_photo_grids_centre(grids, images, GRIDS - 1);
    assert_memory_equal(&device[1], &grids[1], sizeof grids[1]);
    for (int i = 0; i < GRIDS; i++) {
        for (int n = 0; n < ORR_GRID; n++) { // the mean, in double, is rounded once: one unit of 1.5 apart
            assert_true(fabsf(device[i].value[n] - grids[i].value[n]) <= 1.2e-7f);
        }
        assert_memory_equal(device[i].moments, grids[i].moments, sizeof grids[i].moments);
    }
    orr_cuda_free(at);
    orr_cuda_free(of);
    orr_cuda_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_cpu),
        cmocka_unit_test(a_frame_without_room_moves_nothing),
        cmocka_unit_test(grids_are_centred),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
