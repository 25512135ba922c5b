#include "render/training/splat_relocate.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"

#include <math.h>

enum { COPIES_MAX = 51 };

static float *stored(orr_splat_params *params, int64_t splat, int member)
{
    return params->stored[0] + orr_param_index(splat, ORR_STORED, member);
}

static double opacity_of(orr_splat_params *params, int64_t splat)
{
    return 1.0 / (1.0 + exp(-(double)*stored(params, splat, 10)));
}

// Opacity and factor of the scales of each of n splats in one place that look like one of this opacity.
static void divide_splat(int n, double opacity, double *each, double *factor)
{
    const double o = 1.0 - pow(1.0 - opacity, 1.0 / n);
    double sum = 0.0, binomial;
    for (int i = 1; i <= n; i++) {
        binomial = 1.0;
        double power = o;
        for (int k = 0; k < i; k++) {
            sum += (k % 2 ? -1.0 : 1.0) * binomial * power / sqrt(k + 1.0);
            binomial *= (double)(i - 1 - k) / (k + 1);
            power *= o;
        }
    }
    *each = fmin(fmax(o, ORR_DEAD_OPACITY), 1.0 - 1e-6);
    *factor = opacity / sum;
}

typedef struct relocation {
    orr_splat_params *params;
    double *sums;     // of the opacities of all that may be copied, up to and with each
    uint8_t *copies;  // to be made of each
    uint32_t *dead;   // and behind them the places of new ones
    uint32_t *source; // of each of these
} relocation;

static int64_t find_source(const relocation *r, int64_t count, double at)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (r->sums[middle] > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static void copy_all(relocation *r, int64_t count, int64_t places, uint32_t seed, uint32_t step)
{
    orr_rng rng = {seed, step, 0};
    const double all = r->sums[count - 1];
    for (int64_t i = 0; i < places; i++) {
        uint64_t bits = (uint64_t)orr_rng_next(&rng) << 32;
        bits |= orr_rng_next(&rng);
        int64_t source = find_source(r, count, (double)(bits >> 11) * 0x1p-53 * all);
        r->source[i] = (uint32_t)source;
        r->copies[source] =
            (uint8_t)(r->copies[source] < COPIES_MAX - 1 ? r->copies[source] + 1 : COPIES_MAX - 1);
    }
    for (int64_t i = 0; i < count; i++) {
        if (r->copies[i] == 0) {
            continue;
        }
        double opacity, factor;
        divide_splat(r->copies[i] + 1, opacity_of(r->params, i), &opacity, &factor);
        *stored(r->params, i, 10) = (float)log(opacity / (1.0 - opacity));
        for (int k = 3; k < 6; k++) {
            *stored(r->params, i, k) += (float)log(factor);
        }
        orr_splat_params_copy(r->params, i, i); // its moments are of another splat
    }
    for (int64_t i = 0; i < places; i++) {
        orr_splat_params_copy(r->params, r->source[i], r->dead[i]);
    }
}

static void relocate(relocation *r, int64_t target, uint32_t seed, uint32_t step)
{
    const int64_t count = r->params->count;
    int64_t places = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        bool dead = orr_splat_params_dead(r->params, i);
        sum += dead ? 0.0 : opacity_of(r->params, i);
        r->sums[i] = sum;
        r->copies[i] = 0;
        if (dead) {
            r->dead[places++] = (uint32_t)i;
        }
    }
    for (int64_t i = count; i < target; i++) {
        r->dead[places++] = (uint32_t)i;
    }
    if (sum > 0.0 && places > 0) {
        copy_all(r, count, places, seed, step);
        r->params->count = target > count ? target : count;
    }
}

orr_result orr_splat_relocate(orr_splat_params *params, int64_t target, uint32_t seed, uint32_t step,
                              orr_error *error)
{
    const size_t room = (size_t)(target > params->count ? target : params->count);
    ORR_TRY(orr_splat_params_reserve(params, target, error));
    relocation r = {.params = params,
                    .sums = orr_alloc(room, sizeof *r.sums),
                    .copies = orr_alloc(room, sizeof *r.copies),
                    .dead = orr_alloc(room, sizeof *r.dead),
                    .source = orr_alloc(room, sizeof *r.source)};
    orr_result result = ORR_OK;
    if (r.sums && r.copies && r.dead && r.source) {
        relocate(&r, target, seed, step);
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu splats", room);
    }
    orr_free(r.sums);
    orr_free(r.copies);
    orr_free(r.dead);
    orr_free(r.source);
    return result;
}
