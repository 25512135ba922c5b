#include "tests/training/machine_pair.h"

#include "engine/core/file.h"
#include "engine/maths/rng.h"

#include <math.h>
#include <stdio.h>

void strew_points(strewn_points *s)
{
    orr_rng rng = {5, 0, 0};
    for (int i = 0; i < 3 * STREWN; i++) {
        s->position[i] = orr_rng_range(&rng, -0.9f, 0.9f);
        s->colour[i] = orr_rng_range(&rng, 0.1f, 0.9f);
    }
    for (int i = 0; i < PHOTOS_MAX * STREWN; i++) {
        s->seen[i] = (uint32_t)(i % STREWN);
    }
    for (int i = 0; i <= PHOTOS_MAX; i++) {
        s->first[i] = (int64_t)i * STREWN;
    }
    s->points = (orr_splat_points){STREWN, s->position, s->colour, s->first, s->seen};
}

orr_splat_trainer *make_trainer(const orr_splat_trainer_desc *desc)
{
    orr_splat_trainer *trainer;
    assert_ok(orr_splat_trainer_create(desc, &trainer, &error));
    return trainer;
}

double take_step(orr_splat_trainer *trainer, double progress)
{
    orr_splat_step_report report;
    assert_ok(orr_splat_trainer_step(trainer, progress, &report, &error));
    assert_true(report.evaluated > 0);
    return report.loss;
}

void take_state(orr_splat_trainer *trainer, orr_splat_state *s)
{
    const char *path = scratch_path("a.training");
    orr_bytes bytes;
    assert_ok(orr_splat_trainer_save(trainer, path, &error));
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_ok(orr_splat_state_read(path, bytes, s, &error));
    orr_free(bytes.data);
    remove(path);
}

// Of one member of `members`, over all splats: how far arrays a and b are apart, over the length of b less
// `keeps` times `before`.
static double params_distance(const float *a, const float *b, const float *before, double keeps,
                              int64_t splats, int members, int member)
{
    double apart = 0.0, length = 0.0;
    for (int64_t i = 0; i < splats; i++) {
        const int64_t at = orr_param_index(i, members, member);
        const double difference = (double)a[at] - (double)b[at],
                     new = (double)b[at] - keeps *(double)before[at];
        apart += difference * difference;
        length += new *new;
    }
    return sqrt(apart / fmax(length, 1e-30));
}

static void assert_near_params(float *const a[3], float *const b[3], float *const before[3], int64_t splats,
                               int members, double apart, const char *what)
{
    for (int k = 0; k < members; k++) {
        const double moved = params_distance(a[0], b[0], before[0], 1.0, splats, members, k);
        const double gradient = params_distance(a[1], b[1], before[1], 0.9, splats, members, k);
        if (!(gradient < 2e-5 && moved < apart)) {
            fail_msg("%s %d: its step is off by %g, its gradient by %g: expected less than %g and 2e-5", what,
                     k, moved, gradient, apart);
        }
    }
}

// Of all numbers together: how far arrays a and b are apart, over the length of b less `keeps` times
// `before`.
static double numbers_distance(const float *a, const float *b, const float *before, double keeps, int count)
{
    double apart = 0.0, length = 0.0;
    for (int i = 0; i < count; i++) {
        const double difference = (double)a[i] - (double)b[i], new = (double)b[i] - keeps *(double)before[i];
        apart += difference * difference;
        length += new *new;
    }
    return sqrt(apart / fmax(length, 1e-30));
}

// Of the photo of the step its grid's moments and numbers; grids of other photos have not moved.
static void assert_near_grid(const orr_photo_grid *a, const orr_photo_grid *b, const orr_photo_grid *before,
                             bool of_the_step, double apart)
{
    if (!of_the_step) {
        assert_memory_equal(a, before, sizeof *a);
        assert_memory_equal(b, before, sizeof *b);
        return;
    }
    const double moved = numbers_distance(a->value, b->value, before->value, 1.0, ORR_GRID);
    const double gradient = numbers_distance(a->moments[0], b->moments[0], before->moments[0], 0.9, ORR_GRID);
    const double square = numbers_distance(a->moments[1], b->moments[1], before->moments[1], 0.999, ORR_GRID);
    print_message("grid: its step is off by %.2g, its gradient by %.2g, its square by %.2g\n", moved,
                  gradient, square);
    assert_true(gradient < 2e-5 && square < 4e-5 && moved < apart);
}

static void assert_near(const float *a, const float *b, int count, const char *what)
{
    for (int k = 0; k < count; k++) {
        if (!(fabs((double)a[k] - (double)b[k]) <= 1e-6)) {
            fail_msg("%s %d: %g: expected %g", what, k, (double)a[k], (double)b[k]);
        }
    }
}

void step_both(orr_splat_trainer_desc desc, int before, double progress, orr_splat_state *begun,
               orr_splat_state states[2], double losses[2])
{
    const char *path = scratch_path("begun.training");
    orr_splat_trainer *first = make_trainer(&desc);
    for (int i = 0; i < before; i++) {
        take_step(first, progress);
    }
    take_state(first, begun);
    assert_ok(orr_splat_trainer_save(first, path, &error));
    orr_splat_trainer_destroy(first);
    desc.resume = path;
    for (int i = 0; i < 2; i++) {
        desc.cuda = i == 0 ? cuda : NULL;
        orr_splat_trainer *trainer = make_trainer(&desc);
        losses[i] = take_step(trainer, progress);
        take_state(trainer, &states[i]);
        orr_splat_trainer_destroy(trainer);
    }
    remove(path);
}

static int place_of(const orr_splat_state *s, int image)
{
    int at = 0;
    while (s->images[at] != image) {
        at++;
    }
    return at;
}

void compare_a_step(orr_splat_trainer_desc desc, double apart)
{
    orr_splat_state begun, states[2];
    double losses[2];
    step_both(desc, 20, 0.5, &begun, states, losses); // cameras move
    const orr_splat_params *a = &states[0].params, *b = &states[1].params, *before = &begun.params;
    assert_true(fabs(losses[0] - losses[1]) < 1e-6 * losses[1]);
    assert_int_equal(a->count, b->count);
    assert_near_params(a->stored, b->stored, before->stored, a->count, ORR_STORED, apart, "stored member");
    assert_near_params(a->harmonics, b->harmonics, before->harmonics, a->count,
                       orr_harmonics_members(a->degree), apart, "harmonic");
    for (int k = 0; k < 2 && desc.strategy == ORR_SPLAT_ADC; k++) {
        assert_true(params_distance(a->statistic[k], b->statistic[k], before->statistic[k], 1.0, a->count, 1,
                                    0) < 2e-5);
    }
    for (int i = 0; i < states[0].image_count; i++) {
        const orr_splat_view *v = &states[0].views[i], *w = &states[1].views[i];
        assert_int_equal(states[0].images[i], states[1].images[i]);
        assert_near(v->exposure_moments[0], w->exposure_moments[0], ORR_EXPOSURE, "exposure");
        assert_near(v->motion_moments[0], w->motion_moments[0], ORR_MOTION, "motion");
        if (desc.bilateral_grid) {
            const int image = states[0].images[i], was = place_of(&begun, image);
            assert_near_grid(&states[0].grids[i], &states[1].grids[i], &begun.grids[was],
                             v->steps > begun.views[was].steps, apart);
        }
    }
    for (int i = 0; i < 2; i++) {
        orr_splat_state_destroy(&states[i]);
    }
    orr_splat_state_destroy(&begun);
}

double held_out(orr_splat_trainer *trainer, const photos *p)
{
    double sum = 0.0;
    for (int i = p->learned; i < p->capture.count; i++) {
        orr_arena arena = {0};
        orr_splat_comparison seen;
        double psnr, ssim;
        assert_ok(orr_splat_trainer_compare(trainer, p->indices[i], 1, &arena, &seen, &error));
        assert_ok(orr_splat_comparison_score(&seen, jobs, &psnr, &ssim, &error));
        sum += psnr / (p->capture.count - p->learned);
        orr_arena_destroy(&arena);
    }
    return sum;
}

void assert_same_params(const orr_splat_params *a, const orr_splat_params *b)
{
    const size_t lanes = (size_t)(a->count / ORR_PACK_BLOCK) * ORR_PACK_BLOCK; // whole blocks
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->degree, b->degree);
    for (int set = 0; set < 3; set++) {
        assert_memory_equal(a->stored[set], b->stored[set], lanes * ORR_STORED * sizeof(float));
        assert_memory_equal(a->harmonics[set], b->harmonics[set],
                            lanes * (size_t)orr_harmonics_members(a->degree) * sizeof(float));
    }
}
