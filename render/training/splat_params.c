#include "render/training/splat_params.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

#define FAINTEST (-5.54126f) // logit of 1/256: never drawn

static int64_t blocks_of(int64_t splats)
{
    return (splats + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
}

static float *at(float *array, int64_t splat, int members, int member)
{
    return array + orr_param_index(splat, members, member);
}

// a lane behind the last splat: draws nothing, and stays
static void clear_splat(orr_splat_params *params, int64_t splat)
{
    const int harmonics = orr_harmonics_members(params->degree);
    for (int set = 0; set < 3; set++) {
        for (int k = 0; k < ORR_STORED; k++) {
            *at(params->stored[set], splat, ORR_STORED, k) = 0.0f;
        }
        for (int k = 0; k < harmonics; k++) {
            *at(params->harmonics[set], splat, harmonics, k) = 0.0f;
        }
    }
    *at(params->stored[0], splat, ORR_STORED, 9) = 1.0f;
    *at(params->stored[0], splat, ORR_STORED, 10) = -60.0f;
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        params->statistic[k][splat] = 0.0f;
    }
}

// A longer array with the same beginning.
static orr_result grow(float **array, int64_t before, int64_t after, orr_error *error)
{
    float *grown;
    ORR_ALLOC(grown, after, "splats", error);
    if (before > 0) {
        memcpy(grown, *array, (size_t)before * sizeof *grown);
    }
    orr_free(*array);
    *array = grown;
    return ORR_OK;
}

orr_result orr_splat_params_reserve(orr_splat_params *params, int64_t capacity, orr_error *error)
{
    const int64_t before = blocks_of(params->capacity) * ORR_PACK_BLOCK;
    const int64_t after = blocks_of(capacity) * ORR_PACK_BLOCK;
    const int harmonics = orr_harmonics_members(params->degree);
    if (after <= before) {
        return ORR_OK;
    }
    for (int set = 0; set < 3; set++) {
        ORR_TRY(grow(&params->stored[set], before * ORR_STORED, after * ORR_STORED, error));
        ORR_TRY(grow(&params->harmonics[set], before * harmonics, after * harmonics, error));
    }
    ORR_TRY(grow(&params->geometry, before * ORR_PACK_GEOMETRY, after * ORR_PACK_GEOMETRY, error));
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        ORR_TRY(grow(&params->statistic[k], before, after, error));
    }
    uint32_t *identity;
    ORR_ALLOC(identity, after, "splats", error);
    orr_free(params->identity);
    params->identity = identity;
    params->capacity = after;
    for (int64_t i = 0; i < after; i++) {
        identity[i] = (uint32_t)i;
    }
    for (int64_t i = before; i < after; i++) {
        clear_splat(params, i);
    }
    return ORR_OK;
}

orr_result orr_splat_params_create(int64_t capacity, bool statistic, orr_splat_params *params,
                                   orr_error *error)
{
    *params = (orr_splat_params){.has_statistic = statistic};
    return orr_splat_params_reserve(params, capacity, error);
}

void orr_splat_params_destroy(orr_splat_params *params)
{
    for (int set = 0; set < 3; set++) {
        orr_free(params->stored[set]);
        orr_free(params->harmonics[set]);
    }
    orr_free(params->statistic[0]);
    orr_free(params->statistic[1]);
    orr_free(params->geometry);
    orr_free(params->identity);
    orr_splat_params_untrack(params);
    *params = (orr_splat_params){0};
}

orr_result orr_splat_params_track(orr_splat_params *params, int64_t capacity, orr_error *error)
{
    ORR_TRY(orr_splat_params_reserve(params, capacity, error));
    ORR_ALLOC(params->origin, params->capacity, "splats", error);
    ORR_ALLOC(params->fresh, params->capacity, "splats", error);
    for (int64_t i = 0; i < params->capacity; i++) {
        params->origin[i] = (uint32_t)i;
        params->fresh[i] = 0;
    }
    return ORR_OK;
}

void orr_splat_params_untrack(orr_splat_params *params)
{
    orr_free(params->origin);
    orr_free(params->fresh);
    params->origin = NULL;
    params->fresh = NULL;
}

void orr_splat_params_add(orr_splat_params *params, const orr_splat_seed *seeds, int64_t count)
{
    const int harmonics = orr_harmonics_members(params->degree);
    for (int64_t n = 0; n < count; n++) {
        const int64_t i = params->count + n;
        clear_splat(params, i);
        for (int k = 0; k < 3; k++) {
            *at(params->stored[0], i, ORR_STORED, k) = seeds[n].position[k];
            *at(params->stored[0], i, ORR_STORED, 3 + k) = seeds[n].log_scale;
            *at(params->harmonics[0], i, harmonics, k) = (seeds[n].colour[k] - 0.5f) / 0.28209479f;
        }
        *at(params->stored[0], i, ORR_STORED, 10) = seeds[n].logit;
    }
    params->count += count;
}

orr_result orr_splat_params_raise(orr_splat_params *params, int degree, orr_error *error)
{
    const int64_t blocks = blocks_of(params->capacity);
    const int before = orr_harmonics_members(params->degree), after = orr_harmonics_members(degree);
    for (int set = 0; set < 3; set++) {
        float *grown;
        ORR_ALLOC(grown, blocks * after * ORR_PACK_BLOCK, "harmonics", error);
        memset(grown, 0, (size_t)(blocks * after) * ORR_PACK_BLOCK * sizeof *grown);
        for (int64_t block = 0; block < blocks; block++) {
            memcpy(grown + block * after * ORR_PACK_BLOCK,
                   params->harmonics[set] + block * before * ORR_PACK_BLOCK,
                   (size_t)before * ORR_PACK_BLOCK * sizeof *grown);
        }
        orr_free(params->harmonics[set]);
        params->harmonics[set] = grown;
    }
    params->degree = degree;
    return ORR_OK;
}

static void copy_array(float *array, int members, int64_t from, int64_t to)
{
    for (int k = 0; k < members; k++) {
        *at(array, to, members, k) = *at(array, from, members, k);
    }
}

static void copy_all(orr_splat_params *params, int64_t from, int64_t to)
{
    const int harmonics = orr_harmonics_members(params->degree);
    copy_array(params->stored[0], ORR_STORED, from, to);
    if (params->origin) {
        params->origin[to] = params->origin[from];
        params->fresh[to] = params->fresh[from];
        return;
    }
    for (int set = 0; set < 3; set++) {
        copy_array(params->stored[set], ORR_STORED, from, to);
        copy_array(params->harmonics[set], harmonics, from, to);
    }
}

static void clear_moments(orr_splat_params *params, int64_t splat)
{
    const int harmonics = orr_harmonics_members(params->degree);
    if (params->origin) {
        params->fresh[splat] = 1;
        return;
    }
    for (int set = 1; set < 3; set++) {
        for (int k = 0; k < ORR_STORED; k++) {
            *at(params->stored[set], splat, ORR_STORED, k) = 0.0f;
        }
        for (int k = 0; k < harmonics; k++) {
            *at(params->harmonics[set], splat, harmonics, k) = 0.0f;
        }
    }
}

void orr_splat_params_copy(orr_splat_params *params, int64_t from, int64_t to)
{
    copy_all(params, from, to);
    clear_moments(params, to);
}

void orr_splat_params_move(orr_splat_params *params, int64_t from, int64_t to)
{
    if (from == to) {
        return;
    }
    copy_all(params, from, to);
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        params->statistic[k][to] = params->statistic[k][from];
    }
}

void orr_splat_params_cut(orr_splat_params *params, int64_t count)
{
    for (int64_t i = count; i < params->count; i++) {
        clear_splat(params, i);
    }
    params->count = count;
}

void orr_splat_params_forget(orr_splat_params *params)
{
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        memset(params->statistic[k], 0, (size_t)params->count * sizeof(float));
    }
}

bool orr_splat_params_dead(const orr_splat_params *params, int64_t splat)
{
    const double opacity = 1.0 / (1.0 + exp(-(double)*at(params->stored[0], splat, ORR_STORED, 10)));
    float length = 0.0f, sum = 0.0f;
    for (int k = 0; k < ORR_STORED; k++) {
        float value = *at(params->stored[0], splat, ORR_STORED, k);
        sum += value;
        length += k >= 6 && k < 10 ? value * value : 0.0f;
    }
    return !(opacity > ORR_DEAD_OPACITY) || !(length > 1e-8f) || !isfinite(sum);
}

orr_splat_pack orr_splat_params_pack(const orr_splat_params *params, bool antialiased)
{
    return (orr_splat_pack){.count = params->count,
                            .blocks = blocks_of(params->count),
                            .sh_degree = params->degree,
                            .antialiased = antialiased,
                            .geometry = params->geometry,
                            .harmonics = params->harmonics[0],
                            .original = params->identity};
}

// ---- the cloud ----

static bool is_worth_saving(const orr_splat_params *params, int64_t i)
{
    const int harmonics = orr_harmonics_members(params->degree);
    float length = 0.0f;
    bool finite = true;
    for (int k = 0; k < ORR_STORED; k++) {
        float value = *at(params->stored[0], i, ORR_STORED, k);
        finite = finite && isfinite(value);
        length += k >= 6 && k < 10 ? value * value : 0.0f;
    }
    for (int k = 0; k < harmonics; k++) {
        finite = finite && isfinite(*at(params->harmonics[0], i, harmonics, k));
    }
    return finite && isfinite(length) && length > 1e-12f &&
           *at(params->stored[0], i, ORR_STORED, 10) > FAINTEST;
}

static void write_splat(const orr_splat_params *params, int64_t i, const orr_splats_view *to, int64_t n)
{
    const int members = orr_harmonics_members(params->degree), rest = 3 * orr_sh_rest(to->sh_degree);
    float stored[ORR_STORED], length = 0.0f;
    for (int k = 0; k < ORR_STORED; k++) {
        stored[k] = *at(params->stored[0], i, ORR_STORED, k);
        length += k >= 6 && k < 10 ? stored[k] * stored[k] : 0.0f;
    }
    length = sqrtf(length);
    for (int k = 0; k < 3; k++) {
        to->position[3 * n + k] = stored[k];
        to->log_scale[3 * n + k] = stored[3 + k];
        to->rotation[4 * n + 1 + k] = stored[6 + k] / length;
        to->colour[3 * n + k] = *at(params->harmonics[0], i, members, k);
    }
    to->rotation[4 * n] = stored[9] / length;
    to->opacity[n] = stored[10];
    for (int k = 0; k < rest && 3 + k < members; k++) {
        to->harmonics[rest * n + k] = *at(params->harmonics[0], i, members, 3 + k);
    }
}

orr_result orr_splat_params_cloud(const orr_splat_params *params, int degree, bool antialiased,
                                  orr_splats **splats, orr_error *error)
{
    int64_t count = 0;
    for (int64_t i = 0; i < params->count; i++) {
        count += is_worth_saving(params, i);
    }
    ORR_TRY(orr_splats_create(count, degree, splats, error));
    (*splats)->data.antialiased = antialiased;
    const orr_splats_view view = (*splats)->data;
    int64_t n = 0;
    for (int64_t i = 0; i < params->count; i++) {
        if (is_worth_saving(params, i)) {
            write_splat(params, i, &view, n++);
        }
    }
    return ORR_OK;
}
