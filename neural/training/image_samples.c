#define ORR_SCALAR
#include "neural/training/image_samples.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/fields/draw.h"
#include "neural/fields/field_formula.h"

#include <math.h>

enum { DIMS = 2, CHANNELS = 3 };

static void draw(void *context, uint32_t batch, int first, int count, int total, float *positions)
{
    const orr_image_samples *s = context;
    int side = (int)sqrt((double)total);
    int width = orr_picture_width(s->picture), height = orr_picture_height(s->picture);
    for (int i = 0; i < count; i++) {
        uint64_t bits = orr_random_bits(s->seed, batch, (uint32_t)(first + i));
        float x = (float)(uint32_t)(bits >> 40) * 0x1p-24f, y = (float)((uint32_t)bits >> 8) * 0x1p-24f;
        int cell = first + i;
        if (cell < side * side) {
            x = ((float)(cell % side) + x) / (float)side;
            y = ((float)(cell / side) + y) / (float)side;
        }
        positions[DIMS * i] = (floorf(x * (float)width) + 0.5f) / (float)width;
        positions[DIMS * i + 1] = (floorf(y * (float)height) + 0.5f) / (float)height;
    }
}

static void truth(void *context, const float *positions, float *targets)
{
    const orr_image_samples *s = context;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float colour[CHANNELS];
        orr_picture_sample(s->picture, positions[i], positions[ORR_SAMPLES + i], colour);
        for (int k = 0; k < CHANNELS; k++) {
            targets[k * ORR_SAMPLES + i] = colour[k];
        }
    }
}

orr_sample_source orr_image_source(orr_image_samples *samples)
{
    return (orr_sample_source){
        .context = samples, .draw = draw, .truth = truth, .batches_kept = 1, .steps_per_batch = 1};
}

orr_result orr_image_training_config(orr_field_config *config, orr_error *error)
{
    ORR_TRY(orr_field_config_base(ORR_FIELD_IMAGE, config, error));
    config->optimizer.decay_start = 400;
    config->optimizer.decay_interval = 200;
    config->optimizer.decay_base = 0.75;
    return ORR_OK;
}

// ---- how good ----

typedef struct comparison {
    const orr_field *field;
    const orr_picture_file *picture;
    int width, height, every;
    float *scratch; // per worker
    size_t scratch_floats;
    double *errors; // per block: the sum of squares, of `counts` values
    int *counts;
} comparison;

static void compare_block(void *context, int block, int worker)
{
    const comparison *c = context;
    _Alignas(ORR_ALIGNMENT) float positions[DIMS * ORR_SAMPLES], values[CHANNELS * ORR_SAMPLES];
    int64_t pixels = (int64_t)c->width * c->height, first = (int64_t)block * c->every * ORR_SAMPLES;
    orr_field_pixel_centres(c->width, c->height, first, positions);
    orr_field_values(c->field, positions, c->scratch + (size_t)worker * c->scratch_floats, values);
    c->errors[block] = 0.0;
    c->counts[block] = 0;
    for (int i = 0; i < ORR_SAMPLES && first + i < pixels; i++) {
        float colour[CHANNELS];
        orr_picture_sample(c->picture, positions[i], positions[ORR_SAMPLES + i], colour);
        for (int k = 0; k < CHANNELS; k++) {
            double difference =
                (double)field_clamp(values[k * ORR_SAMPLES + i]) - (double)field_clamp(colour[k]);
            c->errors[block] += isfinite(colour[k]) ? difference * difference : 0.0;
            c->counts[block] += isfinite(colour[k]);
        }
    }
}

orr_result orr_image_psnr(const orr_field *field, const orr_picture_file *picture, orr_jobs *jobs, int every,
                          double *psnr, orr_error *error)
{
    comparison c = {.field = field,
                    .picture = picture,
                    .width = orr_picture_width(picture),
                    .height = orr_picture_height(picture),
                    .every = every,
                    .scratch_floats = (orr_field_scratch_floats(field) + 15) / 16 * 16};
    int blocks = orr_blocks(orr_blocks((int64_t)c.width * c.height, ORR_SAMPLES), every);
    c.scratch = orr_alloc((size_t)orr_jobs_workers(jobs) * c.scratch_floats, sizeof *c.scratch);
    c.errors = orr_alloc((size_t)blocks, sizeof *c.errors);
    c.counts = orr_alloc((size_t)blocks, sizeof *c.counts);
    orr_result result = ORR_OK;
    if (c.scratch && c.errors && c.counts) {
        orr_jobs_for(jobs, blocks, compare_block, &c);
        double sum = 0.0, count = 0.0;
        for (int i = 0; i < blocks; i++) {
            sum += c.errors[i];
            count += c.counts[i];
        }
        *psnr = sum > 0.0 ? 10.0 * log10(count / sum) : 200.0;
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: comparing an image");
    }
    orr_free(c.scratch);
    orr_free(c.errors);
    orr_free(c.counts);
    return result;
}
