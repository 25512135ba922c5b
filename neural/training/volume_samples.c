#include "neural/training/volume_samples.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"

#include <math.h>

enum { DIMS = 3, CHANNELS = 4, STREAM_TEST = 0x40000000 };

orr_result orr_volume_samples_of(const orr_density *density, uint32_t seed, const char *name,
                                 orr_volume_samples *samples, orr_error *error)
{
    float greatest = 0.0f;
    for (int64_t i = 0; i < (int64_t)density->size[0] * density->size[1] * density->size[2]; i++) {
        greatest = isfinite(density->values[i]) ? fmaxf(greatest, density->values[i]) : greatest;
    }
    if (!(greatest > 0.0f)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: expected densities above 0", name);
    }
    *samples =
        (orr_volume_samples){.density = density, .scale = ORR_VOLUME_GREATEST / greatest, .seed = seed};
    return ORR_OK;
}

static void draw(void *context, uint32_t batch, int first, int count, int total, float *positions)
{
    (void)total;
    const orr_volume_samples *s = context;
    orr_rng rng = {s->seed, batch, (uint64_t)first * DIMS};
    for (int i = 0; i < count * DIMS; i++) {
        positions[i] = orr_rng_uniform(&rng);
    }
}

static float density_of(const orr_volume_samples *s, const float *positions, int i)
{
    const float position[DIMS] = {positions[i], positions[ORR_SAMPLES + i], positions[2 * ORR_SAMPLES + i]};
    return s->scale * fmaxf(orr_density_at(s->density, position), 0.0f);
}

static void truth(void *context, const float *positions, float *targets)
{
    for (int i = 0; i < ORR_SAMPLES; i++) {
        targets[i] = density_of(context, positions, i);
        for (int k = 1; k < CHANNELS; k++) {
            targets[k * ORR_SAMPLES + i] = 1.0f;
        }
    }
}

orr_sample_source orr_volume_source(orr_volume_samples *samples)
{
    return (orr_sample_source){
        .context = samples, .draw = draw, .truth = truth, .batches_kept = 1, .steps_per_batch = 1};
}

orr_result orr_volume_training_config(orr_field_config *config, orr_error *error)
{
    ORR_TRY(orr_field_config_base(ORR_FIELD_VOLUME, config, error));
    // a ReLU at the output is dead for good where it begins below 0; drawing and meshing hold densities above
    // 0 themselves
    config->network.output_activation = ORR_ACTIVATION_NONE;
    config->encoding.levels = 8;
    config->encoding.features_per_level = 4;
    config->optimizer.learning_rate = 5e-3;
    config->optimizer.decay_start = 500;
    config->optimizer.decay_interval = 250;
    config->optimizer.decay_base = 0.7;
    return ORR_OK;
}

orr_result orr_volume_psnr(const orr_field *field, const orr_volume_samples *samples, int points,
                           double *psnr, orr_error *error)
{
    _Alignas(ORR_ALIGNMENT) float positions[DIMS * ORR_SAMPLES], values[CHANNELS * ORR_SAMPLES];
    float *scratch;
    ORR_ALLOC(scratch, orr_field_scratch_floats(field), "comparing a volume", error);
    double sum = 0.0, count = 0.0;
    orr_rng rng = {.seed = samples->seed, .stream = STREAM_TEST};
    for (int block = 0; block * ORR_SAMPLES < points; block++) {
        for (int i = 0; i < DIMS * ORR_SAMPLES; i++) {
            positions[i] = orr_rng_uniform(&rng);
        }
        orr_field_values(field, positions, scratch, values);
        for (int i = 0; i < ORR_SAMPLES; i++) {
            double wrong =
                (double)(fmaxf(values[i], 0.0f) - density_of(samples, positions, i)) / ORR_VOLUME_GREATEST;
            sum += wrong * wrong;
            count += 1.0;
        }
    }
    orr_free(scratch);
    *psnr = sum > 0.0 ? 10.0 * log10(count / sum) : 200.0;
    return ORR_OK;
}
