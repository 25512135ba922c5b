#include "render/training/splat_densify.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of a divided splat: how far from its middle the two are, in its longest scale; their scales, in its own.
static const float APART = 0.5f, LENGTH = 0.6f, WIDTH = 0.9f;

static float *stored(orr_splat_params *params, int64_t splat, int member)
{
    return params->stored[0] + orr_param_index(splat, ORR_STORED, member);
}

// Removes splats that draw nothing, and sets how many are left.
static void prune(orr_splat_params *params)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < params->count; i++) {
        if (!orr_splat_params_dead(params, i)) {
            orr_splat_params_move(params, i, kept++);
        }
    }
    kept = kept > 0 ? kept : 1; // a training goes on
    orr_splat_params_cut(params, kept);
}

typedef struct candidate {
    float statistic;
    uint32_t splat;
} candidate;

static int by_statistic(const void *a, const void *b) // descending, then by number
{
    const candidate *x = a, *y = b;
    return x->statistic != y->statistic ? (x->statistic < y->statistic) - (x->statistic > y->statistic)
                                        : (x->splat > y->splat) - (x->splat < y->splat);
}

static int64_t find_candidates(const orr_splat_params *params, float threshold, candidate *found)
{
    int64_t count = 0;
    for (int64_t i = 0; i < params->count; i++) {
        const float visits = params->statistic[1][i];
        const float mean = visits > 0.0f ? params->statistic[0][i] / visits : 0.0f;
        if (mean >= threshold) {
            found[count++] = (candidate){mean, (uint32_t)i};
        }
    }
    qsort(found, (size_t)count, sizeof *found, by_statistic);
    return count;
}

// Of the splat's longest axis: its number, and in the world.
static int longest_axis(orr_splat_params *params, int64_t i, float axis[3])
{
    const float x = *stored(params, i, 6), y = *stored(params, i, 7), z = *stored(params, i, 8),
                w = *stored(params, i, 9), inverse = 2.0f / (x * x + y * y + z * z + w * w);
    const float axes[3][3] = {
        {1.0f - inverse * (y * y + z * z), inverse * (x * y + w * z), inverse * (x * z - w * y)},
        {inverse * (x * y - w * z), 1.0f - inverse * (x * x + z * z), inverse * (y * z + w * x)},
        {inverse * (x * z + w * y), inverse * (y * z - w * x), 1.0f - inverse * (x * x + y * y)}};
    int longest = 0;
    for (int k = 1; k < 3; k++) {
        longest = *stored(params, i, 3 + k) > *stored(params, i, 3 + longest) ? k : longest;
    }
    memcpy(axis, axes[longest], sizeof axes[longest]);
    return longest;
}

// The splat and a new one that together look much like it did: side by side along its longest axis, since two
// in one place would get the same gradients and never part; opacities by Rota Bulo et al. 2024.
static void divide(orr_splat_params *params, int64_t i, int64_t made)
{
    float axis[3];
    const int longest = longest_axis(params, i, axis);
    const float offset = APART * expf(*stored(params, i, 3 + longest));
    const double clear = sqrt(1.0 / (1.0 + exp((double)*stored(params, i, 10)))); // of each
    *stored(params, i, 10) = (float)log((1.0 - clear) / clear);
    for (int k = 0; k < 3; k++) {
        *stored(params, i, 3 + k) += logf(k == longest ? LENGTH : WIDTH);
    }
    orr_splat_params_copy(params, i, made);
    orr_splat_params_copy(params, i, i); // its moments are of another splat
    for (int k = 0; k < 3; k++) {
        *stored(params, i, k) -= offset * axis[k];
        *stored(params, made, k) += offset * axis[k];
    }
}

orr_result orr_splat_densify(orr_splat_params *params, const orr_densify_desc *desc, orr_error *error)
{
    candidate *found;
    prune(params);
    ORR_ALLOC(found, params->count, "splats", error);
    const int64_t room = desc->target > params->count ? desc->target - params->count : 0;
    int64_t count = find_candidates(params, desc->threshold, found);
    count = count < room ? count : room;
    orr_result result = orr_splat_params_reserve(params, params->count + count, error);
    for (int64_t n = 0; result == ORR_OK && n < count; n++) {
        divide(params, found[n].splat, params->count + n);
    }
    if (result == ORR_OK) {
        params->count += count;
        orr_splat_params_forget(params);
    }
    orr_free(found);
    return result;
}
