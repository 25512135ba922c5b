// The gradients of a training step, by all of its stages on the CPU, against those of another trainer's
// formulas (tests/golden/record_splat_gradients.py), which are in double.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "render/training/splat_state.h"
#include "render/training/splat_trainer.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SPLATS = 24,
    PHOTOS = 3,
    HARMONICS = 48,
    NUMBERS = ORR_STORED + HARMONICS,
    STEP = 8 // the last photo's turn, and one of the higher harmonics
};

typedef struct recording {
    orr_capture_image image; // what it was learned from
    double loss, stored[SPLATS][NUMBERS], gradient[SPLATS][NUMBERS];
    uint8_t pixels[3 * 64 * 64];
} recording;

static double number_of(FILE *file)
{
    double value;
    assert_int_equal(fscanf(file, "%lf", &value), 1);
    return value;
}

// The recorded photo has these colours.
static void fill_photo(recording *r)
{
    const int width = r->image.width, height = r->image.height;
    for (int i = 0; i < 3 * width * height; i++) {
        const int c = i % 3, x = i / 3 % width, y = i / 3 / width;
        r->pixels[i] = (uint8_t)((5 * x + 3 * y + 40 * c) % 160 + 60 * ((x / 8 + y / 8) % 2));
    }
    r->image.pixels = r->pixels;
}

static void read_recording(const char *name, recording *r)
{
    static char file_name[] = "recorded";
    FILE *file = fopen(source_path("tests/golden/splat_gradients/%s.txt", name), "r");
    assert_non_null(file);
    *r = (recording){.image = {.path = file_name, .channels = 3, .sharpness = 1.0f}};
    r->image.width = (int)number_of(file);
    r->image.height = (int)number_of(file);
    assert_true(r->image.width <= 64 && r->image.height <= 64);
    for (int i = 0; i < 4; i++) {
        (i < 2 ? r->image.focal : r->image.centre)[i % 2] = (float)number_of(file);
    }
    for (int i = 0; i < 12; i++) {
        r->image.pose[i] = (float)number_of(file);
    }
    r->loss = number_of(file);
    for (int i = 0; i < SPLATS * NUMBERS; i++) {
        r->stored[i / NUMBERS][i % NUMBERS] = number_of(file);
        r->gradient[i / NUMBERS][i % NUMBERS] = number_of(file);
    }
    fclose(file);
    fill_photo(r);
}

static void take_state(orr_splat_trainer *trainer, const char *path, orr_splat_state *state)
{
    orr_bytes bytes;
    assert_ok(orr_splat_trainer_save(trainer, path, &error));
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_ok(orr_splat_state_read(path, bytes, state, &error));
    orr_free(bytes.data);
}

// The recorded splats, without moments.
static void put_splats(const recording *r, orr_splat_params *params)
{
    orr_splat_seed seeds[SPLATS] = {0};
    orr_splat_params_destroy(params);
    assert_ok(orr_splat_params_create(SPLATS, true, params, &error));
    orr_splat_params_add(params, seeds, SPLATS);
    assert_ok(orr_splat_params_raise(params, 3, &error));
    for (int i = 0; i < SPLATS; i++) {
        for (int k = 0; k < ORR_STORED; k++) {
            params->stored[0][orr_param_index(i, ORR_STORED, k)] = (float)r->stored[i][k];
        }
        for (int k = 0; k < HARMONICS; k++) {
            params->harmonics[0][orr_param_index(i, HARMONICS, k)] = (float)r->stored[i][ORR_STORED + k];
        }
    }
}

// Adam's first moments, which were 0 before the step, are a tenth of the gradients.
static double gradient_of(const orr_splat_params *params, int i, int k)
{
    const float moment = k < ORR_STORED ? params->stored[1][orr_param_index(i, ORR_STORED, k)]
                                        : params->harmonics[1][orr_param_index(i, HARMONICS, k - ORR_STORED)];
    return 10.0 * (double)moment;
}

// Of each number that is stored, over all splats: 3e-6 is what single precision leaves.
static void assert_gradients(const recording *r, const orr_splat_params *params)
{
    double worst = 0.0;
    for (int k = 0; k < NUMBERS; k++) {
        double apart = 0.0, length = 0.0;
        for (int i = 0; i < SPLATS; i++) {
            apart += pow(gradient_of(params, i, k) - r->gradient[i][k], 2.0);
            length += pow(r->gradient[i][k], 2.0);
        }
        const double off = sqrt(apart / length);
        worst = fmax(worst, off);
        if (!(off < 1e-5)) {
            fail_msg("number %d: its gradient is off by %g: expected less than 1e-5", k, off);
        }
    }
    print_message("gradients are off by %.2g\n", worst);
}

static void assert_as_recorded(const char *name, bool antialias)
{
    static recording r;
    read_recording(name, &r);
    orr_capture_image images[PHOTOS] = {r.image, r.image, r.image};
    const int indices[PHOTOS] = {0, 1, 2};
    for (int i = 0; i < 2; i++) {
        images[i].pose[3] += 1.0f + (float)i; // cameras are not all in one place
    }
    const orr_capture capture = {.images = images, .count = PHOTOS};
    orr_splat_trainer_desc desc = {.capture = &capture,
                                   .images = indices,
                                   .image_count = PHOTOS,
                                   .splats = SPLATS,
                                   .sh_degree = 3,
                                   .strategy = ORR_SPLAT_ADC,
                                   .antialias = antialias};
    const char *path = scratch_path("reference.training");
    orr_splat_trainer *trainer;
    orr_splat_state state;
    orr_splat_step_report report;
    assert_ok(orr_isa_choose(&desc.isa, &error));
    assert_ok(orr_jobs_create(2, NULL, NULL, &desc.jobs, &error));
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    take_state(trainer, path, &state);
    orr_splat_trainer_destroy(trainer);
    put_splats(&r, &state.params);
    state.step = STEP;
    memcpy(state.images, indices, sizeof indices);
    assert_ok(orr_splat_state_save(&state, path, &error));
    orr_splat_state_destroy(&state);
    desc.resume = path;
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    assert_ok(orr_splat_trainer_step(trainer, 0.95, &report, &error));
    take_state(trainer, path, &state);
    assert_gradients(&r, &state.params);
    if (!(fabs(report.loss - r.loss) < 1e-6)) {
        fail_msg("loss %.9g: expected %.9g", report.loss, r.loss);
    }
    orr_splat_state_destroy(&state);
    orr_splat_trainer_destroy(trainer);
    orr_jobs_destroy(desc.jobs);
    remove(path);
}

static void gradients_are_those_of_another_trainer(void **state)
{
    (void)state;
    assert_as_recorded("plain", false);
}

static void so_are_those_of_the_antialiasing(void **state)
{
    (void)state;
    assert_as_recorded("antialias", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_another_trainer),
        cmocka_unit_test(so_are_those_of_the_antialiasing),
    };
    return cmocka_run_group_tests_name("splat_reference", tests, NULL, NULL);
}
