// Radiance fields: marching, compositing, the occupancy grid, and training on photos of analytic spheres.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/fields/occupancy_cell.h"
#include "neural/nerf/evaluate.h"
#include "neural/training/nerf_batch.h"
#include "neural/training/nerf_cull.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/small_nerf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = SPHERE_PHOTO_SIZE, VIEWS = SPHERE_PHOTOS, LEARNED = SPHERE_PHOTOS_LEARNED };

// ---- the occupancy grid ----

static int64_t cell_at(int cascade, uint32_t x, uint32_t y, uint32_t z)
{
    return (int64_t)cascade * ORR_OCCUPANCY_CELLS + occupancy_morton(x, y, z);
}

static bool marched(const orr_occupancy *grid, int64_t cell)
{
    return grid->bits[cell / 32] >> (cell % 32) & 1;
}

static bool keep_upper_half(const void *context, const float low[3], float side)
{
    (void)context;
    return low[2] + 0.5f * side > 0.5f;
}

static void cells_know_where_they_are(void **state)
{
    (void)state;
    float low[3], side;
    orr_occupancy_cell_box(cell_at(0, 5, 64, 127), low, &side);
    assert_float_equal(side, 1.0f / 128.0f, 0.0);
    assert_float_equal(low[0], 5.0f / 128.0f, 1e-7);
    assert_float_equal(low[1], 0.5f, 1e-7);
    assert_float_equal(low[2], 127.0f / 128.0f, 1e-7);
    orr_occupancy_cell_box(cell_at(2, 0, 64, 96), low, &side);
    assert_float_equal(side, 4.0f / 128.0f, 0.0);
    assert_float_equal(low[0], -1.5f, 1e-7);
    assert_float_equal(low[1], 0.5f, 1e-7);
    assert_float_equal(low[2], 1.5f, 1e-7);
}

static void the_grid_is_updated_less_and_less_often(void **state)
{
    (void)state;
    for (int64_t step = 0; step < 1000; step++) { // in every step up to 31, every second up to 47 ...
        int64_t interval = step < 32 ? 1 : step < 256 ? step / 16 : 16;
        assert_int_equal(orr_occupancy_due(step), step % interval == 0);
    }
}

static void the_bounds_of_a_grid_hold_its_marched_cells(void **state)
{
    (void)state;
    float low[3], high[3];
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(2, &grid, &error)); // the bounds are of the first cascade
    assert_false(orr_occupancy_bounds(&grid, low, high));
    const int64_t cells[2] = {cell_at(0, 3, 90, 127), cell_at(0, 20, 64, 0)};
    for (int i = 0; i < 2; i++) {
        grid.bits[cells[i] / 32] |= 1u << cells[i] % 32;
    }
    assert_true(orr_occupancy_bounds(&grid, low, high));
    const float expected[2][3] = {{3, 64, 0}, {21, 91, 128}};
    for (int k = 0; k < 3; k++) {
        assert_float_equal(low[k], expected[0][k] / 128.0f, 1e-7);
        assert_float_equal(high[k], expected[1][k] / 128.0f, 1e-7);
    }
    orr_occupancy_destroy(&grid);
}

// Cells are marched above the mean, and in any case above 0.01; under either they are not.
static void cells_are_marched_from_the_mean_or_from_a_hundredth_on(void **state)
{
    (void)state;
    static const float means[] = {0.002f, 0.1f}, thresholds[] = {0.002f, 0.01f};
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(1, &grid, &error));
    for (int k = 0; k < 2; k++) {
        for (int64_t cell = 0; cell < ORR_OCCUPANCY_CELLS; cell++) {
            grid.thickness[cell] = means[k];
        }
        grid.thickness[1000] = 1.02f * thresholds[k];
        grid.thickness[2000] = 0.98f * thresholds[k];
        orr_occupancy_refresh(&grid, jobs);
        assert_float_equal(grid.mean, means[k], 1e-6);
        assert_true(marched(&grid, 1000));
        assert_false(marched(&grid, 2000));
    }
    orr_occupancy_destroy(&grid);
}

static void the_grid_marches_what_is_dense_and_forgets_what_is_not(void **state)
{
    (void)state;
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(1, &grid, &error));
    orr_occupancy_refresh(&grid, jobs);
    assert_true(marched(&grid, cell_at(0, 1, 2, 3))); // before the first update everything is
    assert_int_equal(grid.live_count, ORR_OCCUPANCY_CELLS);
    // thickness = density x sqrt(3) / 1024: 100 gives 0.169
    uint32_t cells[2] = {(uint32_t)cell_at(0, 10, 20, 30), (uint32_t)cell_at(0, 100, 20, 30)};
    float densities[2] = {100.0f, 1e-9f};
    orr_occupancy_update(&grid, jobs, cells, densities, 2);
    assert_float_equal(grid.thickness[cells[0]], 0.169145586f, 1e-6);
    assert_float_equal(grid.mean, 0.169145586 / ORR_OCCUPANCY_CELLS, 1e-12);
    assert_true(marched(&grid, cells[0]));
    assert_false(marched(&grid, cells[1])); // under the mean
    assert_int_equal(grid.sampled_count, 1);
    int64_t block = cells[0] / ORR_OCCUPANCY_BLOCK;
    assert_true(grid.blocks[block / 32] >> (block % 32) & 1);
    block = cells[1] / ORR_OCCUPANCY_BLOCK;
    assert_false(grid.blocks[block / 32] >> (block % 32) & 1);
    // each update leaves 0.95; and takes what is found when that is more
    densities[0] = 0.0f;
    orr_occupancy_update(&grid, jobs, cells, densities, 1);
    assert_float_equal(grid.thickness[cells[0]], 0.95f * 0.169145586f, 1e-6);
    densities[0] = 200.0f;
    orr_occupancy_update(&grid, jobs, cells, densities, 1);
    assert_float_equal(grid.thickness[cells[0]], 0.338291172f, 1e-6);
    orr_occupancy_destroy(&grid);
}

static void culled_cells_never_come_back(void **state)
{
    (void)state;
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(2, &grid, &error));
    orr_occupancy_cull(&grid, jobs, keep_upper_half, NULL);
    // the inner eighth of the outer cascade belongs to the finer one
    assert_int_equal(grid.live_count, ORR_OCCUPANCY_CELLS / 2 + ORR_OCCUPANCY_CELLS * 7 / 16);
    uint32_t cells[2] = {(uint32_t)cell_at(0, 3, 3, 10), (uint32_t)cell_at(0, 3, 3, 100)};
    float densities[2] = {1000.0f, 1000.0f};
    orr_occupancy_update(&grid, jobs, cells, densities, 2);
    assert_false(marched(&grid, cells[0]));
    assert_true(marched(&grid, cells[1]));
    // the outer cell around it is marched too, and is not sampled itself
    assert_true(marched(&grid, cell_at(1, 32 + 1, 32 + 1, 32 + 50)));
    assert_int_equal(grid.sampled_count, 1);
    orr_occupancy_destroy(&grid);
}

static void samples_of_the_grid_fall_into_their_cells(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    orr_occupancy grid;
    static uint32_t cells[COUNT];
    static float positions[COUNT][3];
    assert_ok(orr_occupancy_create(1, &grid, &error));
    orr_occupancy_cull(&grid, jobs, keep_upper_half, NULL);
    assert_int_equal(orr_occupancy_pick(&grid, false, 1, 2, COUNT, cells, positions), COUNT);
    for (int i = 0; i < COUNT; i++) {
        float low[3], side;
        orr_occupancy_cell_box(cells[i], low, &side);
        assert_true(low[2] >= 0.5f);
        assert_true(i == 0 || cells[i] > cells[i - 1]);
        for (int k = 0; k < 3; k++) {
            assert_true(positions[i][k] >= low[k] && positions[i][k] <= low[k] + side);
        }
    }
    uint32_t one = (uint32_t)cell_at(0, 9, 9, 99);
    orr_occupancy_update(&grid, jobs, &one, &(float){50.0f}, 1);
    assert_int_equal(orr_occupancy_pick(&grid, true, 1, 2, COUNT, cells, positions), 1);
    assert_int_equal(cells[0], one);
    orr_occupancy_destroy(&grid);
}

// ---- marching ----

static bool occupied_at(const orr_occupancy *grid, const march_stepping *k, const orr_camera_ray *ray,
                        float at, bool *near_wall)
{
    float t = march_distance(*k, at), step = march_distance(*k, at + 1.0f) - t;
    real3 p =
        make_real3(fmaf(ray->direction[0], t, ray->origin[0]), fmaf(ray->direction[1], t, ray->origin[1]),
                   fmaf(ray->direction[2], t, ray->origin[2]));
    float cascade = occupancy_cascade(p, step, (float)(grid->cascades - 1)), size = exp2f(cascade) / 128.0f;
    float position[3] = {p.x, p.y, p.z};
    *near_wall = false;
    for (int i = 0; i < 3; i++) {
        float cells = (position[i] - 0.5f) / size;
        *near_wall |= fabsf(cells - roundf(cells)) < 1e-3f;
    }
    real3 cell = occupancy_cell(p, exp2f(-cascade));
    return marched(grid, cell_at((int)cascade, (uint32_t)cell.x, (uint32_t)cell.y, (uint32_t)cell.z));
}

// Every step of a ray, one by one, is the reference: samples are taken exactly where a step falls into a
// marched cell. Steps within a thousandth of a cell of a wall may round to either side.
static void check_march(int aabb_scale)
{
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(aabb_scale, &grid, &error));
    orr_rng rng = {.seed = 5};
    for (int i = 0; i < 3000 * grid.cascades; i++) { // clumps, so that whole blocks are empty
        uint32_t cell = orr_rng_next(&rng) % (uint32_t)grid.cells;
        for (uint32_t k = 0; k < 16 && (int64_t)cell + k < grid.cells; k++) {
            grid.thickness[cell + k] = 1.0f;
        }
    }
    orr_occupancy_refresh(&grid, jobs);
    orr_nerf_space space = {.stepping = orr_nerf_stepping(aabb_scale, 1.0),
                            .bits = grid.bits,
                            .blocks = grid.blocks,
                            .last_cascade = (float)(grid.cascades - 1),
                            .per_aabb_scale = 1.0f / (float)aabb_scale};
    static orr_nerf_rays rays;
    static orr_nerf_wave wave;
    rays.count = 0;
    orr_camera_ray all[64];
    float ends[64], begins[64];
    while (rays.count < 64) {
        orr_camera_ray ray;
        float squared = 0.0f, end, from;
        for (int k = 0; k < 3; k++) {
            ray.origin[k] = orr_rng_range(&rng, -1.0f, 2.0f);
            ray.direction[k] = orr_rng_range(&rng, -1.0f, 1.0f);
            squared += ray.direction[k] * ray.direction[k];
        }
        for (int k = 0; k < 3; k++) {
            ray.direction[k] /= sqrtf(squared);
        }
        if (orr_nerf_ray_range(&ray, aabb_scale, &from, &end)) {
            all[rays.count] = ray;
            ends[rays.count] = end;
            orr_nerf_ray_begin(&rays, &space.stepping, &ray, from, end, 0.3f);
            begins[rays.count - 1] = rays.at[rays.count - 1];
        }
    }
    int64_t taken = 0, differ = 0;
    for (int32_t r = 0; r < 64; r++) {
        int32_t live[32] = {r};
        float at = begins[r];
        while (rays.end[r] >= 0.0f) {
            wave.count = 0;
            orr_nerf_kernels_of(isa)->march(&space, &rays, live, 1, ORR_NERF_EACH, &wave);
            for (int i = 0; i < wave.count; i++, taken++) {
                float sample = march_steps(space.stepping, wave.distance[i]);
                bool wall;
                for (; at < sample - 0.5f; at += 1.0f) {
                    differ += occupied_at(&grid, &space.stepping, &all[r], at, &wall) && !wall;
                }
                differ += !occupied_at(&grid, &space.stepping, &all[r], at, &wall) && !wall;
                at += 1.0f;
            }
        }
        for (; march_distance(space.stepping, at) < ends[r] && rays.taken[r] < MARCH_SAMPLES_MAX;
             at += 1.0f) {
            bool wall;
            differ += occupied_at(&grid, &space.stepping, &all[r], at, &wall) && !wall;
        }
    }
    assert_true(taken > 500);
    assert_int_equal(differ, 0);
    orr_occupancy_destroy(&grid);
}

static void marching_finds_what_single_steps_find(void **state)
{
    (void)state;
    check_march(1);
    check_march(8);
}

static void constant_density_composites_to_the_analytic_result(void **state)
{
    (void)state;
    orr_field *field = small_field(1, false, "{}");
    const orr_field_parts *parts = orr_field_parts_of(field);
    memset(parts->network_parameters, 0, (size_t)parts->network.parameter_count * sizeof(float));
    memset(parts->rgb_network_parameters, 0, (size_t)parts->rgb_network.parameter_count * sizeof(float));
    orr_field_refresh(field, NULL, NULL, NULL); // now density is exp(0) and every colour 1/2
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(1, &grid, &error));
    orr_occupancy_refresh(&grid, jobs);
    photos p;
    take_photos(&sphere_photos, &p);
    static float rgba[SIZE * SIZE * 4], depth[SIZE * SIZE];
    orr_nerf_draw_desc desc = {
        .camera = orr_ray_camera_of_image(&p.images[5], p.capture.to_unit), .rgba = rgba, .depth = depth};
    orr_nerf_drawer *drawer;
    assert_ok(orr_nerf_drawer_create(field, jobs, &drawer, &error));
    orr_nerf_draw(drawer, &grid, &desc);
    for (int i = 0; i < SIZE * SIZE; i++) {
        orr_camera_ray ray =
            orr_ray_camera_ray(&desc.camera, (float)(i % SIZE) + 0.5f, (float)(i / SIZE) + 0.5f);
        float from, to, length = 0.0f;
        if (orr_nerf_ray_range(&ray, 1, &from, &to)) {
            length = to - from;
        }
        float alpha = 1.0f - expf(-length);
        // a ray's samples cover its length up to one step of 0.0017
        assert_float_equal(rgba[4 * i + 3], alpha, 0.002);
        assert_float_equal(rgba[4 * i], 0.5f * rgba[4 * i + 3], 1e-5);
        if (length > 0.01f) {
            // the mean of t exp(-t) over the length, from where the ray enters
            float mean = from + 1.0f - length * expf(-length) / alpha;
            assert_float_equal(depth[i], mean * ray.depth, 0.01);
        }
    }
    // a mesh halfway in hides the rest
    static float bound[SIZE * SIZE];
    for (int i = 0; i < SIZE * SIZE; i++) {
        bound[i] = 3.0f; // to the cube's centre
    }
    desc.far_depth = bound;
    float middle = rgba[4 * (SIZE * SIZE / 2 + SIZE / 2) + 3];
    orr_nerf_draw(drawer, &grid, &desc);
    float half = rgba[4 * (SIZE * SIZE / 2 + SIZE / 2) + 3];
    assert_float_equal(half, 1.0f - sqrtf(1.0f - middle), 0.01);
    orr_nerf_drawer_destroy(drawer);
    orr_occupancy_destroy(&grid);
    orr_field_destroy(field);
    drop_photos(&p);
}

// ---- gradients ----

typedef struct gradient_setup {
    photos photos;
    orr_ray_camera cameras[LEARNED];
    float exposures[3 * LEARNED];
    orr_field *field;
    orr_occupancy grid;
    orr_nerf_model model;
    orr_nerf_batch batch;
    orr_nerf_worker worker;
    orr_nerf_group group;
} gradient_setup;

static double loss_of(gradient_setup *s)
{
    orr_field_refresh(s->field, NULL, NULL, NULL);
    orr_nerf_group_run(&s->batch, 0, &s->worker, 0, &s->group);
    return s->group.loss / (3.0 * s->batch.ray_count);
}

static void check_gradient(gradient_setup *s, float *parameter, double gradient, double scale)
{
    float kept = *parameter, h = 8e-3f;
    *parameter = kept + h;
    double above = loss_of(s);
    *parameter = kept - h;
    double below = loss_of(s);
    *parameter = kept;
    double expected = (above - below) / (2.0 * (double)h);
    // samples stay where they are; what remains is the rounding of a loss summed from floats, and ReLUs that
    // switch within h: four digits agree
    if (!(fabs(gradient - expected) <= 0.002 * fabs(expected) + 0.005 * scale)) {
        fail_msg("gradient %g, by differences %g", gradient, expected);
    }
}

static void check_gradients(gradient_setup *s, float *parameters, const float *gradients, int64_t count)
{
    double scale = 0.0;
    for (int64_t i = 0; i < count; i++) {
        scale = fmax(scale, fabs((double)gradients[i]));
    }
    assert_true(scale > 0.0);
    float *kept = orr_alloc((size_t)count, sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, gradients, (size_t)count * sizeof *kept);
    int checked = 0;
    for (int64_t i = 0; i < count && checked < 12; i++) { // those that matter
        if (fabs((double)kept[i]) > 0.3 * scale) {
            check_gradient(s, &parameters[i], (double)kept[i], scale);
            checked++;
        }
    }
    assert_true(checked > 0);
    orr_free(kept);
}

// The derivative along the gradient itself is its squared length. Single entries of a table weigh too little
// in the loss for differences of floats; all of them together do not.
static void check_along_gradient(gradient_setup *s, float *parameters, const float *gradient, int64_t count)
{
    double squared = 0.0;
    for (int64_t i = 0; i < count; i++) {
        squared += (double)gradient[i] * (double)gradient[i];
    }
    float h = (float)(0.02 / sqrt(squared)); // moves all entries together by 0.02
    float *kept = orr_alloc((size_t)count, sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, parameters, (size_t)count * sizeof *kept);
    double loss[2];
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < count; i++) {
            parameters[i] = kept[i] + (side == 0 ? h : -h) * gradient[i];
        }
        loss[side] = loss_of(s);
    }
    memcpy(parameters, kept, (size_t)count * sizeof *kept);
    orr_free(kept);
    double expected = (loss[0] - loss[1]) / (2.0 * (double)h);
    if (!(fabs(squared - expected) <= 0.01 * squared)) {
        fail_msg("squared gradient %g, by differences %g", squared, expected);
    }
}

static void a_step_sends_back_the_derivative_of_its_loss(void **state)
{
    (void)state;
    static gradient_setup s;
    take_photos(&sphere_photos, &s.photos);
    s.field = small_field(1, false, "{}");
    const orr_field_parts *parts = orr_field_parts_of(s.field);
    // entries as large as after some training, so that density and colour depend on position
    orr_rng rng = {.seed = 11};
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] = orr_rng_range(&rng, -0.5f, 0.5f);
    }
    assert_ok(orr_occupancy_create(1, &s.grid, &error));
    orr_occupancy_refresh(&s.grid, jobs);
    s.model = orr_nerf_model_of(s.field, &s.grid);
    s.model.space.stepping = orr_nerf_stepping(1, 16.0);
    for (int i = 0; i < LEARNED; i++) {
        s.cameras[i] = orr_ray_camera_of_image(&s.photos.images[i], s.photos.capture.to_unit);
        s.exposures[3 * i] = 0.3f;
    }
    s.batch = (orr_nerf_batch){.model = &s.model,
                               .capture = &s.photos.capture,
                               .images = s.photos.indices,
                               .image_count = LEARNED,
                               .cameras = s.cameras,
                               .exposures = s.exposures,
                               .loss = ORR_LOSS_L2,
                               .seed = 9,
                               .ray_count = ORR_NERF_GROUPS * 48,
                               .bundle_rays = 32};
    assert_ok(orr_nerf_worker_create(s.field, &s.worker, &error));
    assert_ok(orr_nerf_group_create(s.field, 512, LEARNED, &s.group, &error));
    loss_of(&s);
    assert_true(s.group.samples > 1000);
    float *table_gradient = orr_alloc_zero((size_t)parts->encoding.parameter_count, sizeof(float));
    uint32_t *touched =
        orr_alloc_zero((size_t)orr_touched_words(parts->encoding.parameter_count), sizeof *touched);
    assert_non_null(table_gradient);
    assert_non_null(touched);
    for (int b = 0; b < s.group.block_count; b++) {
        for (int level = 0; level < parts->encoding.level_count; level++) {
            parts->kernels->scatter_level(&parts->encoding, level, s.group.positions + b * 3 * ORR_SAMPLES,
                                          s.group.feature_gradient +
                                              b * parts->encoding.output_dims * ORR_SAMPLES,
                                          s.group.counts[b], table_gradient, touched);
        }
    }
    check_gradients(&s, parts->network_parameters, s.group.network_gradient, parts->network.parameter_count);
    loss_of(&s);
    check_gradients(&s, parts->rgb_network_parameters, s.group.rgb_gradient,
                    parts->rgb_network.parameter_count);
    check_along_gradient(&s, parts->table, table_gradient, parts->encoding.parameter_count);
    loss_of(&s);
    check_gradients(&s, s.exposures, s.group.exposure_gradient, 3 * LEARNED);
    orr_free(table_gradient);
    orr_free(touched);
    orr_nerf_worker_destroy(&s.worker);
    orr_nerf_group_destroy(&s.group);
    orr_occupancy_destroy(&s.grid);
    orr_field_destroy(s.field);
    drop_photos(&s.photos);
}

// ---- training ----

static void training_gives_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    assert_threads_change_no_bit(&p, false, 24);
    drop_photos(&p);
}

static void a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    assert_resuming_changes_no_bit(&p, false, 20, 21);
    drop_photos(&p);
}

static bool stop_at_once(void *asked)
{
    ++*(int *)asked;
    return true;
}

// What a mask leaves out of a photo changes no figure; a stopped evaluation has none.
static void assert_masks_and_stops(orr_nerf_drawer *drawer, const orr_occupancy *grid, photos *p)
{
    static uint8_t kept[SIZE * SIZE];
    orr_nerf_score plain, masked[2];
    orr_capture_image *image = &p->images[LEARNED];
    assert_ok(orr_nerf_evaluate(drawer, grid, &p->capture, p->indices + LEARNED, 1, jobs, NULL, NULL, &plain,
                                &error));
    for (int i = 0; i < SIZE * SIZE; i++) {
        kept[i] = i / SIZE < SIZE / 2 ? 255 : 0;
    }
    image->mask = kept;
    for (int changed = 0; changed < 2; changed++) {
        // windows of SSIM reach 5 rows down
        for (int i = (SIZE / 2 + 5) * SIZE * 4; changed && i < SIZE * SIZE * 4; i++) {
            image->pixels[i] = (uint8_t)(i * 37);
        }
        assert_ok(orr_nerf_evaluate(drawer, grid, &p->capture, p->indices + LEARNED, 1, jobs, NULL, NULL,
                                    &masked[changed], &error));
    }
    image->mask = NULL;
    assert_true(masked[0].photos == 1 && masked[0].psnr != plain.psnr);
    assert_float_equal(masked[0].psnr, plain.psnr, 3.0); // half of the same photo
    assert_float_equal(masked[1].psnr, masked[0].psnr, 1e-9);
    assert_float_equal(masked[1].ssim, masked[0].ssim, 1e-9);
    int asked = 0;
    const orr_nerf_stop stop = {stop_at_once, &asked};
    assert_ok(orr_nerf_evaluate(drawer, grid, &p->capture, p->indices + LEARNED, 1, jobs, &stop, NULL, &plain,
                                &error));
    assert_true(plain.photos == 0 && asked == 1);
}

static void spheres_are_learned_from_twelve_photos(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    photos p;
    take_photos(&sphere_photos, &p);
    orr_field *field = small_field(1, false, "{}");
    orr_nerf_trainer *trainer = small_trainer(field, &p, jobs);
    // the space around the spheres is known to be empty before any training
    const orr_occupancy *grid = orr_nerf_trainer_occupancy(trainer);
    assert_true(grid->live_count < ORR_OCCUPANCY_CELLS / 4);
    train(trainer, 600);
    orr_nerf_drawer *drawer;
    assert_ok(orr_nerf_drawer_create(field, jobs, &drawer, &error));
    orr_nerf_score scores[VIEWS - LEARNED], mean;
    assert_ok(orr_nerf_evaluate(drawer, grid, &p.capture, p.indices + LEARNED, VIEWS - LEARNED, jobs, NULL,
                                scores, &mean, &error));
    assert_true(mean.psnr > 25.0 && mean.ssim > 0.9);
    for (int i = LEARNED; i < VIEWS; i++) {
        static float rgba[SIZE * SIZE * 4], seen[SIZE * SIZE * 3], expected[SIZE * SIZE * 3];
        orr_nerf_draw_desc desc = {.camera = orr_ray_camera_of_image(&p.images[i], p.capture.to_unit),
                                   .rgba = rgba};
        orr_nerf_draw(drawer, grid, &desc);
        for (int k = 0; k < SIZE * SIZE; k++) {
            const uint8_t *pixel = p.images[i].pixels + 4 * k;
            for (int c = 0; c < 3; c++) { // both over white
                seen[3 * k + c] = rgba[4 * k + c] + 1.0f - rgba[4 * k + 3];
                float alpha = (float)pixel[3] / 255.0f;
                expected[3 * k + c] = alpha * (float)pixel[c] / 255.0f + 1.0f - alpha;
            }
        }
        double found = psnr(seen, expected, SIZE * SIZE * 3);
        if (!(found > 25.0)) {
            fail_msg("photo %d: PSNR %.2f", i, found);
        }
        // scores are of pictures in bytes, which changes little at this quality
        assert_float_equal(scores[i - LEARNED].psnr, found, 0.02);
    }
    assert_masks_and_stops(drawer, grid, &p);
    orr_nerf_drawer_destroy(drawer);
    orr_nerf_trainer_destroy(trainer);
    orr_field_destroy(field);
    drop_photos(&p);
}

// Photos of 128 degrees from edge to edge and over 180 from corner to corner, near the spheres; what was
// learned is compared with photos of pinholes, too, whose rays are other formulas'.
static void spheres_are_learned_from_fisheyes(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    photo_plan near_spheres = sphere_photos;
    near_spheres.fisheye = true;
    near_spheres.focal = 0.45f;
    near_spheres.distance = 1.8f;
    near_spheres.radial[0] = 0.03f;
    near_spheres.radial[1] = -0.006f;
    photos fisheyes, pinholes;
    take_photos(&near_spheres, &fisheyes);
    take_photos(&sphere_photos, &pinholes);
    orr_field *field = small_field(1, false, "{}");
    orr_nerf_trainer *trainer = small_trainer(field, &fisheyes, jobs);
    const orr_occupancy *grid = orr_nerf_trainer_occupancy(trainer);
    train(trainer, 600);
    orr_nerf_drawer *drawer;
    assert_ok(orr_nerf_drawer_create(field, jobs, &drawer, &error));
    const photos *const compared[2] = {&fisheyes, &pinholes};
    for (int i = 0; i < 2; i++) {
        orr_nerf_score mean;
        assert_ok(orr_nerf_evaluate(drawer, grid, &compared[i]->capture, compared[i]->indices + LEARNED,
                                    VIEWS - LEARNED, jobs, NULL, NULL, &mean, &error));
        print_message("    %s: %.1f dB\n", i ? "pinholes" : "fisheyes", mean.psnr);
        assert_true(mean.psnr > 22.0);
    }
    orr_nerf_drawer_destroy(drawer);
    orr_nerf_trainer_destroy(trainer);
    orr_field_destroy(field);
    drop_photos(&fisheyes);
    drop_photos(&pinholes);
}

// A fisheye keeps the cells that one of its rays passes, and drops those behind its widest one.
static void fisheyes_keep_the_cells_that_they_see(void **state)
{
    (void)state;
    photo_plan inside = sphere_photos;
    inside.fisheye = true;
    inside.focal = 0.4f;
    inside.distance = 0.2f; // in the middle of the cube
    photos p;
    take_photos(&inside, &p);
    orr_ray_camera camera = orr_ray_camera_of_image(&p.images[3], p.capture.to_unit);
    orr_occupancy grid;
    assert_ok(orr_occupancy_create(1, &grid, &error));
    assert_ok(orr_nerf_cull_unseen(&grid, jobs, &p.capture, (int[]){3}, 1, &camera, &error));
    // an equidistant lens: its corners are at 0.5 sqrt(2) / 0.4 rad; of cells a twentieth away and more, half
    // the diagonal is within 0.14 rad
    const double widest = 0.5 * sqrt(2.0) / 0.4;
    int beyond = 0;
    for (int64_t cell = 0; cell < ORR_OCCUPANCY_CELLS; cell++) {
        float low[3], side;
        double squared = 0.0, along = 0.0;
        orr_occupancy_cell_box(cell, low, &side);
        for (int k = 0; k < 3; k++) {
            const double to = (double)low[k] + 0.5 * (double)side - (double)camera.origin[k];
            squared += to * to;
            along += to * (double)camera.axes[2][k];
        }
        if (squared > 0.05 * 0.05 && acos(along / sqrt(squared)) > widest + 0.14) {
            beyond++;
            assert_true(grid.thickness[cell] < 0.0f);
        }
    }
    assert_true(beyond > ORR_OCCUPANCY_CELLS / 8);
    for (int i = 0; i < SIZE * SIZE; i++) {
        const orr_camera_ray ray =
            orr_ray_camera_ray(&camera, (float)(i % SIZE) + 0.5f, (float)(i / SIZE) + 0.5f);
        for (float t = 0.01f; t < 0.4f; t += 0.03f) {
            const float at[3] = {ray.origin[0] + t * ray.direction[0], ray.origin[1] + t * ray.direction[1],
                                 ray.origin[2] + t * ray.direction[2]};
            assert_true(grid.thickness[cell_at(0, (uint32_t)(128.0f * at[0]), (uint32_t)(128.0f * at[1]),
                                               (uint32_t)(128.0f * at[2]))] >= 0.0f);
        }
    }
    orr_occupancy_destroy(&grid);
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_know_where_they_are),
        cmocka_unit_test(the_grid_is_updated_less_and_less_often),
        cmocka_unit_test(the_bounds_of_a_grid_hold_its_marched_cells),
        cmocka_unit_test(cells_are_marched_from_the_mean_or_from_a_hundredth_on),
        cmocka_unit_test(the_grid_marches_what_is_dense_and_forgets_what_is_not),
        cmocka_unit_test(culled_cells_never_come_back),
        cmocka_unit_test(fisheyes_keep_the_cells_that_they_see),
        cmocka_unit_test(samples_of_the_grid_fall_into_their_cells),
        cmocka_unit_test(marching_finds_what_single_steps_find),
        cmocka_unit_test(constant_density_composites_to_the_analytic_result),
        cmocka_unit_test(a_step_sends_back_the_derivative_of_its_loss),
        cmocka_unit_test(training_gives_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one),
        cmocka_unit_test(spheres_are_learned_from_twelve_photos),
        cmocka_unit_test(spheres_are_learned_from_fisheyes),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
