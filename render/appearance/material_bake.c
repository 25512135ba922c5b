// The material that a trainer has learnt: its weights, and latents of all texels as bytes.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "render/appearance/material_trainer_state.h"

#include <string.h>

// A matrix of a network as rows whose last column is the bias: the inputs beyond the network's are all 1.
static void copy_rows(const float *matrix, int rows, int padded, int inputs, float *to, int stride)
{
    for (int row = 0; row < rows; row++) {
        float bias = 0.0f;
        for (int k = 0; k < padded; k++) {
            const float value = matrix[row * padded + k];
            if (k < inputs) {
                to[row * stride + k] = value;
            } else {
                bias += value;
            }
        }
        if (padded > inputs) {
            to[row * stride + inputs] = bias;
        }
    }
}

static void copy_weights(const material_trainer *t, orr_neural_weights *w)
{
    const network *n = &t->networks[REFLECTED], *lobes = &t->networks[LOBES];
    const int width = n->mlp.config.width, padded = n->mlp.input_padded;
    const float *from = t->parameters + n->first;
    w->width = width;
    memcpy(w->frame, t->parameters + t->frame, sizeof w->frame);
    copy_rows(from, width, padded, NEURAL_INPUTS, w->first[0], 24);
    copy_rows(from + width * padded, width, width, width, w->second[0], ORR_NEURAL_WIDTH);
    copy_rows(from + width * (padded + width), NEURAL_VALUES, width, width, w->last[0], ORR_NEURAL_WIDTH);
    from = t->parameters + lobes->first;
    copy_rows(from, 16, 16, NEURAL_LOBE_INPUTS, w->lobes_first[0], 12);
    copy_rows(from + 256, 16, 16, 16, w->lobes_second[0], 16);
    copy_rows(from + 512, 12, 16, 16, w->lobes_last[0], 16);
}

typedef struct baking {
    material_trainer *trainer;
    orr_neural_material *material;
    int32_t count;
} baking;

static uint8_t encode(float value, bool colour)
{
    return (uint8_t)(255.0f * (colour ? linear_to_srgb(value) : value) + 0.5f);
}

static void bake_block(void *context, int block, int worker)
{
    const baking *b = context;
    unit_scratch *s = &b->trainer->scratch[worker];
    const int32_t first = block * ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const int32_t texel = first + i < b->count ? first + i : b->count - 1;
        material_put_texel(&b->trainer->texels.texels[texel], s->encoded, i);
    }
    orr_mlp_forward(b->trainer->networks[ENCODER].weights, s->encoded, s->latents, NULL);
    for (int i = 0; i < ORR_SAMPLES && first + i < b->count; i++) {
        for (int k = 0; k < NEURAL_LATENTS; k++) {
            b->material->latents[k / 4].rgba[4 * (size_t)(first + i) + (size_t)(k % 4)] =
                encode(s->latents[k * ORR_SAMPLES + i], k % 4 < 3);
        }
    }
}

orr_result material_trainer_material(material_trainer *t, orr_neural_material **material, orr_error *error)
{
    *material = NULL;
    orr_neural_material *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a material");
    }
    const size_t count = orr_neural_texels(t->texels.width, t->texels.height);
    for (int i = 0; i < 2; i++) {
        m->latents[i] = (orr_image8){t->texels.width, t->texels.height, orr_alloc(count, 4)};
        if (!m->latents[i].rgba) {
            orr_neural_material_destroy(m);
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu latents", count);
        }
    }
    copy_weights(t, &m->weights);
    orr_jobs_for(t->jobs, orr_blocks((int64_t)count, ORR_SAMPLES), bake_block,
                 &(baking){t, m, (int32_t)count});
    *material = m;
    return ORR_OK;
}
