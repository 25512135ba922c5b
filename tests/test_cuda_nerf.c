// Radiance fields trained on the CUDA device (a GPU, or the emulated one) against the CPU: the same rays, samples and
// occupancy grid, the same gradients to the rounding of halves, and states that move between the two.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "neural/cuda/nerf_training.h"
#include "neural/nerf_march.h"
#include "neural/nerf_seen.h"
#include "neural/nerf_train.h"
#include "orr_features.h"
#include "tests/machine.h"
#include "tests/sphere_photos.h"

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static photos pictures;

// changes: JSON over the trainer's own configuration
static orr_field *make_field(int aabb_scale, const char *changes)
{
    orr_field_desc desc = {
        .kind = ORR_FIELD_NERF, .aabb_scale = aabb_scale, .seed = 7, .desired_resolution = 128.0};
    assert_ok(orr_nerf_train_config(&desc.config, &error));
    assert_ok(orr_field_config_parse("{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 12}}", "test",
                                     &desc.config, &error));
    assert_ok(orr_field_config_parse(changes, "test", &desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    return field;
}

// ---- what is inside ----

typedef struct inside {
    orr_field *field;
    orr_nerf_camera cameras[PHOTOS_LEARNED];
    orr_occupancy grid;
    orr_cuda_nerf *training;
} inside;

static orr_cuda_nerf_desc describe(const inside *s, int target)
{
    return (orr_cuda_nerf_desc){.field = s->field,
                                .capture = &pictures.capture,
                                .images = pictures.indices,
                                .image_count = PHOTOS_LEARNED,
                                .cameras = s->cameras,
                                .grid = &s->grid,
                                .target_samples = target,
                                .seed = 3};
}

static void open_inside(inside *s, int aabb_scale)
{
    s->field = make_field(aabb_scale, "{}");
    for (int i = 0; i < PHOTOS_LEARNED; i++) {
        s->cameras[i] = orr_nerf_camera_of_image(&pictures.images[i], pictures.capture.to_unit);
    }
    assert_ok(orr_occupancy_create(aabb_scale, &s->grid, &error));
    assert_ok(orr_nerf_cull_unseen(&s->grid, jobs, &pictures.capture, pictures.indices, PHOTOS_LEARNED,
                                   s->cameras, &error));
}

static void close_inside(inside *s)
{
    orr_cuda_nerf_destroy(s->training);
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

// Two updates of a grid with two cascades: the second one looks at cells that the first one marked. Raw densities are taken
// from the device, and all that follows from the thickness must be the same bits.
static void the_grid_is_updated_as_on_the_cpu(void **state)
{
    (void)state;
    enum { TARGET = 1024 };
    inside s = {0};
    open_inside(&s, 2);
    const orr_cuda_nerf_desc desc = describe(&s, TARGET);
    assert_ok(orr_cuda_nerf_create(cuda, &desc, &s.training, &error));
    assert_same_grid(&s, 0.0f);
    uint32_t *cells = malloc(2 * TARGET * sizeof *cells);
    float(*places)[3] = malloc(2 * TARGET * sizeof *places), densities[2 * TARGET];
    assert_true(cells && places);
    for (uint32_t update = 0; update < 2; update++) {
        int count = orr_occupancy_pick(&s.grid, false, 3 ^ 0x9E3779B9u, 2 * update, TARGET, cells, places);
        count += orr_occupancy_pick(&s.grid, true, 3 ^ 0x9E3779B9u, 2 * update + 1, TARGET, cells + count,
                                    places + count);
        const orr_cuda_nerf_begin begin = {.updates = update + 1};
        orr_cuda_nerf_begin_launch(cuda->stream, &s.training->pass, &begin);
        assert_ok(orr_cuda_nerf_put_update(s.training, &error));
        assert_ok(orr_cuda_wait(cuda, &error));
        orr_cuda_nerf_now now = fetch_now(&s);
        assert_int_equal(now.place_count, count);
        uint32_t *found_cells = fetch(s.training->pass.grid.cells, (size_t)count * sizeof *found_cells);
        float *found_places = fetch(s.training->pass.grid.places, 2 * TARGET * 3 * sizeof(float));
        float *outputs = fetch(s.training->pass.outputs, 2 * TARGET * ORR_NERF_FEATURES * sizeof(float));
        assert_memory_equal(found_cells, cells, (size_t)count * sizeof *cells);
        for (int i = 0; i < count; i++) {
            int block = i / ORR_SAMPLES, lane = i % ORR_SAMPLES;
            for (int k = 0; k < 3; k++) {
                assert_true(found_places[(3 * block + k) * ORR_SAMPLES + lane] ==
                            (places[i][k] - 0.5f) * 0.5f + 0.5f);
            }
            densities[i] = nerf_density(outputs[block * ORR_NERF_FEATURES * ORR_SAMPLES + lane]);
        }
        orr_occupancy_update(&s.grid, jobs, cells, densities, count);
        assert_as_thick(&s);
        orr_occupancy_refresh(&s.grid, jobs);
        assert_same_grid(&s, now.mean);
        assert_int_equal(now.live_count, s.grid.live_count);
        assert_int_equal(now.sampled_count, s.grid.sampled_count);
        assert_in_range(s.grid.sampled_count, 1, s.grid.live_count - 1);
        free(found_cells);
        free(found_places);
        free(outputs);
    }
    free(cells);
    free(places);
    close_inside(&s);
}

// The CPU's ray of that number, marched to its end through the device's grid; -1: it takes no part.
static int march_on_cpu(const inside *s, const orr_nerf_space *space, int aabb_scale, int index,
                        orr_nerf_rays *rays, orr_nerf_wave *wave, nerf_target *target)
{
    nerf_draw draw = nerf_draw_ray(3, 0, index);
    int k = nerf_drawn_image(draw, PHOTOS_LEARNED);
    const orr_capture_image *image = &pictures.images[k];
    int64_t pixel = nerf_drawn_pixel(draw, (int64_t)image->width * image->height);
    orr_nerf_ray ray = orr_nerf_camera_ray(&s->cameras[k], (float)(pixel % image->width) + 0.5f,
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

// `updated`: after a first step, in the cells that it left; otherwise in all, of which there are more than there is room for.
// `places_off`: how far a place may be from the CPU's; `rays_off`: how many rays may have another number of samples.
static void compare_samples(int aabb_scale, bool updated, float places_off, int rays_off)
{
    inside s = {0};
    open_inside(&s, aabb_scale);
    const orr_cuda_nerf_desc desc = describe(&s, 2048);
    assert_ok(orr_cuda_nerf_create(cuda, &desc, &s.training, &error));
    const orr_cuda_nerf_pass *p = &s.training->pass;
    if (updated) {
        orr_cuda_nerf_report report;
        assert_ok(orr_cuda_nerf_step(s.training, 4.0, &report, &error));
        const orr_cuda_nerf_copy to = {.thickness = s.grid.thickness};
        assert_ok(orr_cuda_nerf_read(s.training, &to, &error));
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
            assert_float_equal(steps[n], wave.step[k], places_off);
            for (int axis = 0; axis < 3; axis++) {
                assert_float_equal(positions[(n / ORR_SAMPLES * 3 + axis) * ORR_SAMPLES + n % ORR_SAMPLES],
                                   wave.positions[k / ORR_SAMPLES][axis * ORR_SAMPLES + k % ORR_SAMPLES],
                                   places_off);
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

// In the unit cube strides are even, and nothing is left to a machine's exponentials: the same bits. Beyond, steps grow by
// exp2 and log2, whose last bits differ, and now and then a sample falls on the other side of a cell's wall.
static void rays_and_samples_are_those_of_the_cpu(void **state)
{
    (void)state;
    orr_capture_image *distorted = &pictures.images[2], *masked = &pictures.images[5];
    distorted->radial[0] = 0.1f;
    distorted->tangential[1] = 0.01f;
    masked->mask = orr_alloc_zero(PHOTO_SIZE * PHOTO_SIZE, 1);
    assert_non_null(masked->mask);
    memset(masked->mask, 1, PHOTO_SIZE * PHOTO_SIZE / 2);
    compare_samples(1, false, 0.0f, 0);
    compare_samples(1, true, 0.0f, 0);
    compare_samples(4, true, 1e-5f, 20);
    orr_free(masked->mask);
    masked->mask = NULL;
    distorted->radial[0] = distorted->tangential[1] = 0.0f;
}

// ---- training ----

typedef struct training {
    orr_field *field;
    orr_nerf_trainer *trainer;
} training;

static training begin(const char *changes, bool on_device, bool exposures)
{
    training t = {.field = make_field(1, changes)};
    const orr_nerf_train_desc desc = {.capture = &pictures.capture,
                                      .images = pictures.indices,
                                      .image_count = PHOTOS_LEARNED,
                                      .jobs = jobs,
                                      .target_samples = 1 << 10,
                                      .exposures = exposures,
                                      .seed = 3,
                                      .cuda = on_device ? cuda : NULL};
    assert_ok(orr_nerf_trainer_create(t.field, &desc, &t.trainer, &error));
    return t;
}

static void end(training *t)
{
    orr_nerf_trainer_destroy(t->trainer);
    orr_field_destroy(t->field);
}

// the mean loss of the last quarter of the steps
static double step(training *t, int count)
{
    double sum = 0.0;
    int first = count - (count + 3) / 4;
    for (int i = 0; i < count; i++) {
        orr_nerf_step report;
        assert_ok(orr_nerf_trainer_step(t->trainer, &report, &error));
        sum += i >= first ? report.loss : 0.0;
    }
    return sum / (count - first);
}

static void *save(training *t, size_t *size)
{
    *size = orr_nerf_trainer_state_size(t->trainer);
    void *state = malloc(*size);
    assert_non_null(state);
    assert_ok(orr_nerf_trainer_state_save(t->trainer, state, &error));
    return state;
}

// How two fields' parameters differ, in squares, to how much they changed.
static double difference(const float *start, const float *expected, const float *found, int64_t count)
{
    double off = 0.0, size = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)found[i] - (double)expected[i], change = (double)expected[i] - (double)start[i];
        off += d * d;
        size += change * change;
    }
    assert_true(size > 0.0);
    return off / size;
}

static float *copy(const float *from, int64_t count)
{
    float *to = malloc((size_t)count * sizeof *to);
    assert_non_null(to);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

typedef struct parameters {
    float *network, *rgb_network, *table, *exposures;
} parameters;

static parameters copy_parameters(const training *t)
{
    const orr_field_parts *p = orr_field_parts_of(t->field);
    return (parameters){copy(p->network_parameters, p->network.parameter_count),
                        copy(p->rgb_network_parameters, p->rgb_network.parameter_count),
                        copy(p->table, p->encoding.parameter_count),
                        copy(orr_nerf_trainer_exposures(t->trainer), 3 * PHOTOS_LEARNED)};
}

static void drop_parameters(parameters *p)
{
    free(p->network);
    free(p->rgb_network);
    free(p->table);
    free(p->exposures);
}

static void take_parameters(const training *to, const training *from)
{
    const orr_field_parts *a = orr_field_parts_of(to->field), *b = orr_field_parts_of(from->field);
    memcpy(a->network_parameters, b->network_parameters, (size_t)a->network.parameter_count * sizeof(float));
    memcpy(a->rgb_network_parameters, b->rgb_network_parameters,
           (size_t)a->rgb_network.parameter_count * sizeof(float));
    memcpy(a->table, b->table, (size_t)a->encoding.parameter_count * sizeof(float));
}

static void compare_gradients(const training *learnt, const char *loss)
{
    char changes[200];
    snprintf(changes, sizeof changes,
             "{\"loss\": {\"otype\": \"%s\"}, \"optimizer\": {\"otype\": \"SGD\", \"learning_rate\": 0.01}}",
             loss);
    training own = begin(changes, false, true), device = begin(changes, true, true);
    take_parameters(&own, learnt);
    step(&own, 33); // the grid is not updated before step 33
    parameters start = copy_parameters(&own);
    size_t size;
    void *state = save(&own, &size);
    assert_int_equal(orr_nerf_trainer_state_size(device.trainer), size);
    assert_ok(orr_nerf_trainer_state_load(device.trainer, state, size, &error));
    double expected_loss = step(&own, 1), found_loss = step(&device, 1);
    free(state);
    state = save(&device, &size); // and the field has what was learnt
    parameters expected = copy_parameters(&own), found = copy_parameters(&device);
    const orr_field_parts *p = orr_field_parts_of(own.field);
    double network = difference(start.network, expected.network, found.network, p->network.parameter_count);
    double rgb = difference(start.rgb_network, expected.rgb_network, found.rgb_network,
                            p->rgb_network.parameter_count);
    double table = difference(start.table, expected.table, found.table, p->encoding.parameter_count);
    double gains = difference(start.exposures, expected.exposures, found.exposures, 3 * PHOTOS_LEARNED);
    print_message("%-10s loss %.6f, on the device %.6f; NMSE of gradients: network %.1e, colours %.1e, table "
                  "%.1e, exposures %.1e\n",
                  loss, expected_loss, found_loss, network, rgb, table, gains);
    assert_true(fabs(found_loss - expected_loss) <= 1e-3 * expected_loss);
    assert_true(network <= 1e-3 && rgb <= 1e-3 && table <= 1e-3 && gains <= 1e-3);
    free(state);
    drop_parameters(&start);
    drop_parameters(&expected);
    drop_parameters(&found);
    end(&own);
    end(&device);
}

// Plain descent by one step from a field that the CPU has begun to learn, when the grid is not updated, so that what changes
// is the gradient. Halves round to 2^-12 of a size, densities among them, whose roundings add up along a ray; and a ReLU here
// and there is open on one machine and shut on the other: 1e-3 in squares is the bar.
static void a_step_has_the_gradients_of_the_cpu(void **state)
{
    (void)state;
    training learnt = begin("{}", false, true);
    step(&learnt, 40);
    compare_gradients(&learnt, "Huber");
    end(&learnt);
}

static void it_learns_as_the_cpu_does(void **state)
{
    (void)state;
    enum { STEPS = 48 };
    training own = begin("{}", false, false), device = begin("{}", true, false);
    double first = step(&device, 1), last = step(&device, STEPS - 1), expected = step(&own, STEPS);
    print_message("loss %.4f at first, %.4f after %d steps; the CPU's %.4f\n", first, last, STEPS, expected);
    assert_true(last <= first / 1.5);
    assert_true(last <= 1.4 * expected); // the same rays; updates of its grid look at 1/32 of the places
    assert_ok(orr_nerf_trainer_refresh(device.trainer, &error));
    assert_ptr_not_equal(orr_field_parts_of(device.field)->inference_table,
                         orr_field_parts_of(device.field)->table);
    const orr_occupancy *grid = orr_nerf_trainer_occupancy(device.trainer);
    assert_in_range(grid->sampled_count, 1, grid->live_count);
    end(&own);
    end(&device);
}

static void a_training_goes_on_on_another_machine(void **state)
{
    (void)state;
    training device = begin("{}", true, true), own = begin("{}", false, true),
             again = begin("{}", true, true);
    step(&device, 5);
    size_t size, loaded_size;
    void *saved = save(&device, &size);
    assert_ok(orr_nerf_trainer_state_load(own.trainer, saved, size, &error));
    assert_ok(orr_nerf_trainer_state_load(again.trainer, saved, size, &error));
    training *const others[] = {&own, &again};
    for (int i = 0; i < 2; i++) {
        void *loaded = save(others[i], &loaded_size);
        assert_int_equal(loaded_size, size);
        assert_memory_equal(loaded, saved, size);
        assert_int_equal(orr_nerf_trainer_steps(others[i]->trainer), 5);
        free(loaded);
    }
    double next = step(&device, 4), next_own = step(&own, 4), next_again = step(&again, 4);
    assert_true(fabs(next_again - next) <= 1e-3 * next); // the order of atomics is open on a GPU
    assert_true(fabs(next_own - next) <= 0.3 * next);    // updates of the grid look at other places
    orr_error why;
    assert_int_equal(orr_nerf_trainer_state_load(again.trainer, saved, size - 1, &why), ORR_ERROR_FORMAT);
    free(saved);
    end(&device);
    end(&own);
    end(&again);
}

static void proposals_are_for_the_cpu(void **state)
{
    (void)state;
    orr_field_desc desc = {.kind = ORR_FIELD_NERF, .unbounded = true};
    assert_ok(orr_nerf_train_config(&desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    const orr_nerf_train_desc train = {.capture = &pictures.capture,
                                       .images = pictures.indices,
                                       .image_count = PHOTOS_LEARNED,
                                       .jobs = jobs,
                                       .cuda = cuda};
    orr_nerf_trainer *trainer;
    orr_error why;
    assert_int_equal(orr_nerf_trainer_create(field, &train, &trainer, &why), ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "proposals"));
    orr_field_destroy(field);
}

#if ORR_CUDA_EMULATED
// A call that fails leaves nothing behind, whichever it is, and the field can go on on the CPU.
static void a_device_that_fails_leaves_the_field_to_the_cpu(void **state)
{
    (void)state;
    inside s = {0};
    open_inside(&s, 1);
    const orr_cuda_nerf_desc desc = describe(&s, 64);
    settings *device = current_settings();
    size_t allocations = live_allocations(), handles = live_handles();
    orr_error why;
    int failures = 0;
    for (int call = 1;; call++, failures++) {
        device->fail_call = call;
        device->fail_with = cudaErrorMemoryAllocation;
        orr_result result = orr_cuda_nerf_create(cuda, &desc, &s.training, &why);
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
    orr_cuda_nerf_report report;
    for (failures = 0;; failures++) {
        device->fail_call = failures + 1;
        device->fail_with = cudaErrorLaunchFailure;
        if (orr_cuda_nerf_step(s.training, 1.0, &report, &why) == ORR_OK) {
            break;
        }
        assert_non_null(strstr(why.message, "CUDA: "));
    }
    device->fail_call = 0;
    assert_true(failures > 3); // a step is a launch, two graphs, a copy and events
    assert_ok(orr_cuda_nerf_step(s.training, 1.0, &report, &error));
    orr_cuda_nerf_destroy(s.training);
    s.training = NULL;
    assert_int_equal(live_allocations(), allocations);
    assert_int_equal(live_handles(), handles);
    device->memory = 16 << 20;
    assert_int_equal(orr_cuda_nerf_create(cuda, &desc, &s.training, &why), ORR_ERROR_MEMORY);
    print_message("%s\n", why.message);
    assert_non_null(strstr(why.message, "MiB free"));
    device->memory = 0;
    close_inside(&s);
}
#endif

static int open_all(void **state)
{
    open_cuda_machine(state);
    take_photos(&pictures);
    return 0;
}

static int close_all(void **state)
{
    drop_photos(&pictures);
    return close_machine(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_is_updated_as_on_the_cpu),
        cmocka_unit_test(rays_and_samples_are_those_of_the_cpu),
        cmocka_unit_test(a_step_has_the_gradients_of_the_cpu),
        cmocka_unit_test(it_learns_as_the_cpu_does),
        cmocka_unit_test(a_training_goes_on_on_another_machine),
        cmocka_unit_test(proposals_are_for_the_cpu),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(a_device_that_fails_leaves_the_field_to_the_cpu),
#endif
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
