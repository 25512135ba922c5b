// What happens inside a training step on the CUDA device (a GPU, or the emulated one): the occupancy grid,
// the rays and their samples are those of the CPU, and a call that fails leaves nothing behind.
#define ORR_SCALAR
#include "neural/cuda/nerf_trainer_state.h"
#include "neural/fields/radiance_formula.h"
#include "neural/nerf/march.h"
#include "neural/training/nerf_cull.h"
#include "neural/training/nerf_trainer.h"
#include "orr_features.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/small_nerf.h"

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

static photos pictures;

typedef struct inside {
    orr_field *field;
    orr_ray_camera cameras[SPHERE_PHOTOS_LEARNED];
    orr_occupancy grid;
    orr_cuda_nerf_trainer *training;
} inside;

static orr_cuda_nerf_trainer_desc describe(const inside *s, int target)
{
    return (orr_cuda_nerf_trainer_desc){.field = s->field,
                                        .capture = &pictures.capture,
                                        .images = pictures.indices,
                                        .image_count = SPHERE_PHOTOS_LEARNED,
                                        .cameras = s->cameras,
                                        .grid = &s->grid,
                                        .target_samples = target,
                                        .seed = 3};
}

static void open_inside(inside *s, int aabb_scale)
{
    s->field = small_field(aabb_scale, false, "{}");
    for (int i = 0; i < SPHERE_PHOTOS_LEARNED; i++) {
        s->cameras[i] = orr_ray_camera_of_image(&pictures.images[i], pictures.capture.to_unit);
    }
    assert_ok(orr_occupancy_create(aabb_scale, &s->grid, &error));
    assert_ok(orr_nerf_cull_unseen(&s->grid, jobs, &pictures.capture, pictures.indices, SPHERE_PHOTOS_LEARNED,
                                   s->cameras, &error));
}

static void close_inside(inside *s)
{
    orr_cuda_nerf_trainer_destroy(s->training);
    orr_occupancy_destroy(&s->grid);
    orr_field_destroy(s->field);
}

static void *fetch(const void *from, size_t bytes)
{
    void *to = malloc(bytes);
    assert_non_null(to);
    assert_ok(orr_cuda_download(cuda, to, from, bytes, &error));
    return to;
}

static orr_cuda_nerf_now fetch_now(const inside *s)
{
    orr_cuda_nerf_now now;
    assert_ok(orr_cuda_download(cuda, &now, s->training->pass.now, sizeof now, &error));
    return now;
}

// Exponentials of the device may end in other bits: from here on the host has the device's thickness.
static void assert_as_thick(const inside *s)
{
    float *found = fetch(s->training->pass.grid.thickness, (size_t)s->grid.cells * sizeof *found);
    for (int64_t i = 0; i < s->grid.cells; i++) {
        float expected = s->grid.thickness[i];
        if (!(fabsf(found[i] - expected) <= 1e-5f * fabsf(expected))) {
            fail_msg("cell %lld: thickness %g, expected %g", (long long)i, (double)found[i],
                     (double)expected);
        }
    }
    memcpy(s->grid.thickness, found, (size_t)s->grid.cells * sizeof *found);
    free(found);
}

static void assert_same_grid(const inside *s, float mean)
{
    const orr_cuda_nerf_grid *g = &s->training->pass.grid;
    size_t cells = (size_t)s->grid.cells;
    const struct {
        const void *device, *host;
        size_t bytes;
    } pieces[] = {{g->thickness, s->grid.thickness, cells * sizeof(float)},
                  {g->live, s->grid.live, cells / 8},
                  {g->bits, s->grid.bits, cells / 8},
                  {g->blocks, s->grid.blocks, cells / 8 / ORR_OCCUPANCY_BLOCK}};
    assert_float_equal(mean, s->grid.mean, 1e-6f * mean); // sums of doubles in another order
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        void *found = fetch(pieces[i].device, pieces[i].bytes);
        assert_memory_equal(found, pieces[i].host, pieces[i].bytes);
        free(found);
    }
}

// Two updates of a grid with two cascades: the second one samples cells that the first one marked. Raw
// densities are taken from the device, and all that follows from the thickness must be the same bits.
static void the_grid_is_updated_as_on_the_cpu(void **state)
{
    (void)state;
    enum { TARGET = 1024 };
    inside s = {0};
    open_inside(&s, 2);
    const orr_cuda_nerf_trainer_desc desc = describe(&s, TARGET);
    assert_ok(orr_cuda_nerf_trainer_create(cuda, &desc, &s.training, &error));
    assert_same_grid(&s, 0.0f);
    uint32_t *cells = malloc(2 * TARGET * sizeof *cells);
    float(*positions)[3] = malloc(2 * TARGET * sizeof *positions), densities[2 * TARGET];
    assert_true(cells && positions);
    for (uint32_t update = 0; update < 2; update++) {
        int count = orr_occupancy_pick(&s.grid, false, 3, update, TARGET, cells, positions);
        count += orr_occupancy_pick(&s.grid, true, 3, update, TARGET, cells + count, positions + count);
        const orr_cuda_nerf_begin begin = {.updates = update + 1};
        orr_cuda_nerf_begin_launch(cuda->stream, &s.training->pass, &begin);
        assert_ok(orr_cuda_nerf_trainer_put_update(s.training, &error));
        assert_ok(orr_cuda_wait(cuda, &error));
        orr_cuda_nerf_now now = fetch_now(&s);
        assert_int_equal(now.position_count, count);
        uint32_t *found_cells = fetch(s.training->pass.grid.cells, (size_t)count * sizeof *found_cells);
        float *found_positions = fetch(s.training->pass.grid.positions, 2 * TARGET * 3 * sizeof(float));
        float *outputs = fetch(s.training->pass.outputs, 2 * TARGET * ORR_NERF_FEATURES * sizeof(float));
        assert_memory_equal(found_cells, cells, (size_t)count * sizeof *cells);
        for (int i = 0; i < count; i++) {
            int block = i / ORR_SAMPLES, lane = i % ORR_SAMPLES;
            for (int k = 0; k < 3; k++) {
                assert_true(found_positions[(3 * block + k) * ORR_SAMPLES + lane] ==
                            (positions[i][k] - 0.5f) * 0.5f + 0.5f);
            }
            densities[i] = radiance_density(outputs[block * ORR_NERF_FEATURES * ORR_SAMPLES + lane]);
        }
        orr_occupancy_update(&s.grid, jobs, cells, densities, count);
        assert_as_thick(&s);
        orr_occupancy_refresh(&s.grid, jobs);
        assert_same_grid(&s, now.mean);
        assert_int_equal(now.live_count, s.grid.live_count);
        assert_int_equal(now.sampled_count, s.grid.sampled_count);
        assert_in_range(s.grid.sampled_count, 1, s.grid.live_count - 1);
        free(found_cells);
        free(found_positions);
        free(outputs);
    }
    free(cells);
    free(positions);
    close_inside(&s);
}

// The CPU's ray of that number, marched to its end through the device's grid; -1: it takes no part.
static int march_on_cpu(const inside *s, const orr_nerf_space *space, int aabb_scale, int index,
                        orr_nerf_rays *rays, orr_nerf_wave *wave, nerf_target *target)
{
    nerf_draw draw = nerf_draw_ray(3, 0, index);
    int k = nerf_drawn_image(draw, SPHERE_PHOTOS_LEARNED);
    const orr_capture_image *image = &pictures.images[k];
    int64_t pixel = nerf_drawn_pixel(draw, (int64_t)image->width * image->height);
    orr_camera_ray ray = orr_ray_camera_ray(&s->cameras[k], (float)(pixel % image->width) + 0.5f,
                                            (float)(pixel / image->width) + 0.5f);
    float start, end;
    if ((image->mask && image->mask[pixel] == 0) || !orr_nerf_ray_range(&ray, aabb_scale, &start, &end)) {
        return -1;
    }
    *target = nerf_target_of(draw, image->pixels + pixel * image->channels, image->channels, k);
    rays->count = 0;
    orr_nerf_ray_begin(rays, &space->stepping, &ray, start, end, nerf_drawn_jitter(draw));
    const int32_t live[ORR_NERF_EACH + 16] = {0};
    wave->count = 0;
    while (rays->end[0] >= 0.0f && wave->count + ORR_NERF_EACH <= ORR_NERF_WAVE) {
        orr_nerf_kernels_baseline.march(space, rays, live, 1, ORR_NERF_EACH, wave);
    }
    return wave->count;
}

// `updated`: after a first step, in the cells that it left; otherwise in all, which are more than the
// capacity. `positions_off`: how far a position may be from the CPU's; `rays_off`: how many rays may have
// another number of samples.
static void compare_samples(int aabb_scale, bool updated, float positions_off, int rays_off)
{
    inside s = {0};
    open_inside(&s, aabb_scale);
    const orr_cuda_nerf_trainer_desc desc = describe(&s, 2048);
    assert_ok(orr_cuda_nerf_trainer_create(cuda, &desc, &s.training, &error));
    const orr_cuda_nerf_pass *p = &s.training->pass;
    if (updated) {
        orr_cuda_nerf_step_report report;
        assert_ok(orr_cuda_nerf_trainer_step(s.training, 4.0, &report, &error));
        const orr_cuda_nerf_copy to = {.thickness = s.grid.thickness};
        assert_ok(orr_cuda_nerf_trainer_read(s.training, &to, &error));
        orr_occupancy_refresh(&s.grid, jobs);
        assert_int_equal(report.rays, ORR_NERF_RAYS_FIRST);
        assert_true(report.samples > 0 && report.samples <= report.evaluated);
    } else {
        const orr_cuda_nerf_begin begin = {.stepping = orr_nerf_stepping(aabb_scale, 4.0)};
        orr_cuda_nerf_begin_launch(cuda->stream, p, &begin);
        orr_cuda_nerf_draw_launch(cuda->stream, p, s.training->ray_blocks);
        assert_ok(orr_cuda_running_sum(cuda, &s.training->sums, p->marched_counts, p->marched_first,
                                       &p->now->marched_total, &p->now->ray_count, ORR_NERF_RAYS_MAX,
                                       &error));
        orr_cuda_nerf_march_launch(cuda->stream, p, s.training->ray_blocks);
    }
    uint32_t *counts = fetch(p->marched_counts, ORR_NERF_RAYS_FIRST * sizeof *counts);
    uint32_t *first = fetch(p->marched_first, ORR_NERF_RAYS_FIRST * sizeof *first);
    orr_cuda_nerf_ray *rays = fetch(p->rays, ORR_NERF_RAYS_FIRST * sizeof *rays);
    float *positions = fetch(p->positions, p->marched_capacity * 3 * sizeof *positions);
    float *steps = fetch(p->steps, p->marched_capacity * sizeof *steps);
    const orr_nerf_space space = {.stepping = orr_nerf_stepping(aabb_scale, 4.0),
                                  .bits = s.grid.bits,
                                  .blocks = s.grid.blocks,
                                  .last_cascade = (float)(s.grid.cascades - 1),
                                  .per_aabb_scale = 1.0f / (float)aabb_scale};
    static orr_nerf_rays cpu;
    static orr_nerf_wave wave;
    int compared = 0, other = 0, absent = 0;
    uint32_t sum = 0;
    bool full = false;
    for (int i = 0; i < ORR_NERF_RAYS_FIRST; i++) {
        nerf_target target;
        int count = march_on_cpu(&s, &space, aabb_scale, i, &cpu, &wave, &target);
        full = full || (count > 0 && first[i] + (uint32_t)count > p->marched_capacity);
        if (count < 0 || full) {
            assert_int_equal(counts[i], 0);
            assert_int_equal(rays[i].target.image, -1);
            absent += count < 0;
            continue;
        }
        assert_int_equal(first[i], sum);
        sum += counts[i];
        assert_memory_equal(&rays[i].target, &target, sizeof target);
        if ((int)counts[i] != count) {
            other++;
            continue;
        }
        for (int k = 0; k < count; k++, compared++) {
            int n = (int)first[i] + k;
            assert_float_equal(steps[n], wave.step[k], positions_off);
            for (int axis = 0; axis < 3; axis++) {
                assert_float_equal(positions[(n / ORR_SAMPLES * 3 + axis) * ORR_SAMPLES + n % ORR_SAMPLES],
                                   wave.positions[k / ORR_SAMPLES][axis * ORR_SAMPLES + k % ORR_SAMPLES],
                                   positions_off);
            }
        }
    }
    print_message("aabb_scale %d: %d samples compared, %d rays with another number of them, %d absent\n",
                  aabb_scale, compared, other, absent);
    assert_true(compared > 200);
    assert_true(other <= rays_off);
    assert_true(absent < ORR_NERF_RAYS_FIRST / 4);
    assert_true(full == !updated);
    assert_int_equal(fetch_now(&s).marched, sum);
    free(counts);
    free(first);
    free(rays);
    free(positions);
    free(steps);
    close_inside(&s);
}

// In the unit cube strides are even, and nothing is left to a machine's exponentials: the same bits. Beyond,
// steps grow by exp2 and log2, whose last bits differ, and now and then a sample falls on the other side of a
// cell's wall.
static void rays_and_samples_are_those_of_the_cpu(void **state)
{
    (void)state;
    orr_capture_image *distorted = &pictures.images[2], *masked = &pictures.images[5],
                      *fisheye = &pictures.images[3];
    fisheye->fisheye = true;
    fisheye->radial[0] = -0.05f;
    distorted->radial[0] = 0.1f;
    distorted->tangential[1] = 0.01f;
    masked->mask = orr_alloc_zero(SPHERE_PHOTO_SIZE * SPHERE_PHOTO_SIZE, 1);
    assert_non_null(masked->mask);
    memset(masked->mask, 1, SPHERE_PHOTO_SIZE * SPHERE_PHOTO_SIZE / 2);
    compare_samples(1, false, 0.0f, 0);
    compare_samples(1, true, 0.0f, 0);
    compare_samples(4, true, 1e-5f, 20);
    orr_free(masked->mask);
    masked->mask = NULL;
    distorted->radial[0] = distorted->tangential[1] = fisheye->radial[0] = 0.0f;
    fisheye->fisheye = false;
}

#if ORR_CUDA_EMULATED
// A call that fails leaves nothing behind, whichever it is, and the field can go on on the CPU.
static void a_device_that_fails_leaves_the_field_to_the_cpu(void **state)
{
    (void)state;
    inside s = {0};
    open_inside(&s, 1);
    const orr_cuda_nerf_trainer_desc desc = describe(&s, 64);
    settings *device = current_settings();
    size_t allocations = live_allocations(), handles = live_handles();
    orr_error why;
    int failures = 0;
    for (int call = 1;; call++, failures++) {
        device->fail_call = call;
        device->fail_with = cudaErrorMemoryAllocation;
        orr_result result = orr_cuda_nerf_trainer_create(cuda, &desc, &s.training, &why);
        if (result == ORR_OK) {
            break;
        }
        assert_null(s.training);
        assert_non_null(strstr(why.message, "out of memory"));
        assert_int_equal(live_allocations(), allocations);
        assert_int_equal(live_handles(), handles);
    }
    device->fail_call = 0;
    assert_true(failures > 100);
    orr_cuda_nerf_step_report report;
    for (failures = 0;; failures++) {
        device->fail_call = failures + 1;
        device->fail_with = cudaErrorLaunchFailure;
        if (orr_cuda_nerf_trainer_step(s.training, 1.0, &report, &why) == ORR_OK) {
            break;
        }
        assert_non_null(strstr(why.message, "CUDA: "));
    }
    device->fail_call = 0;
    assert_true(failures > 3); // a step is a launch, two graphs, a copy and events
    assert_ok(orr_cuda_nerf_trainer_step(s.training, 1.0, &report, &error));
    orr_cuda_nerf_trainer_destroy(s.training);
    s.training = NULL;
    assert_int_equal(live_allocations(), allocations);
    assert_int_equal(live_handles(), handles);
    device->memory = 16 << 20;
    assert_int_equal(orr_cuda_nerf_trainer_create(cuda, &desc, &s.training, &why), ORR_ERROR_MEMORY);
    print_message("%s\n", why.message);
    assert_non_null(strstr(why.message, "MiB free"));
    device->memory = 0;
    close_inside(&s);
}
#endif

int main(void)
{
    take_photos(&sphere_photos, &pictures);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_is_updated_as_on_the_cpu),
        cmocka_unit_test(rays_and_samples_are_those_of_the_cpu),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(a_device_that_fails_leaves_the_field_to_the_cpu),
#endif
    };
    int failures = cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
    drop_photos(&pictures);
    return failures;
}
