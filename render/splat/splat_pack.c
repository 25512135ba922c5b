#include "render/splat/splat_cloud.h"

#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/morton.h"
#include "engine/maths/radix_sort.h"
#include "render/formats/splat_bytes.h"
#include "render/splat/splat_formula.h"

#include <stdlib.h>
#include <string.h>

enum {
    PACK_JOB = 64,         // blocks of 16 per job
    PACK_SLICES = 32,      // jobs between two reports of progress are one of so many parts
    MORTON_BITS = 10,      // per axis
    SAMPLES_MAX = 1 << 16, // positions sampled for the trimmed bounds
    FOUR = sizeof(float),  // bytes of a number
    TRIM = 200             // 1 / 200 = 0.5 % off each side
};

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// bounds that a few stray splats cannot stretch: the 0.5 % quantiles of an even sample
static orr_result trimmed_bounds(const orr_splats_view *splats, float low[3], float high[3], orr_error *error)
{
    int64_t stride = splats->count / SAMPLES_MAX + 1;
    int64_t count = (splats->count + stride - 1) / stride;
    float *sample;
    ORR_ALLOC(sample, count + 1, "bounds of a cloud", error);
    for (int axis = 0; axis < 3; axis++) {
        for (int64_t i = 0; i < count; i++) {
            sample[i] = splats->position[3 * i * stride + axis];
        }
        qsort(sample, (size_t)count, sizeof *sample, compare_floats);
        low[axis] = count ? sample[count / TRIM] : 0.0f;
        high[axis] = count ? sample[count - 1 - count / TRIM] : 0.0f;
    }
    orr_free(sample);
    return ORR_OK;
}

typedef struct pack_job {
    const orr_splats_view *splats;
    orr_splat_pack *pack;
    uint32_t *keys;
    uint32_t *order; // of each splat of the pack: its index in the file
    int first;       // job of the slice
} pack_job;

static uint32_t quantise(float value, float low, float high)
{
    float steps = (float)(1 << MORTON_BITS);
    float q = high > low ? (value - low) / (high - low) * steps : 0.0f;
    return q > 0.0f ? q < steps - 1.0f ? (uint32_t)q : (1u << MORTON_BITS) - 1 : 0;
}

static void morton_keys(void *context, int job, int worker)
{
    (void)worker;
    const pack_job *p = context;
    int64_t first = (int64_t)job * PACK_JOB * ORR_PACK_BLOCK;
    int64_t end = first + PACK_JOB * ORR_PACK_BLOCK;
    end = end < p->splats->count ? end : p->splats->count;
    for (int64_t i = first; i < end; i++) {
        const float *position = p->splats->position + 3 * i;
        uint32_t cell[3];
        for (int axis = 0; axis < 3; axis++) {
            cell[axis] = quantise(position[axis], p->pack->low[axis], p->pack->high[axis]);
        }
        p->keys[i] = orr_morton30(cell[0], cell[1], cell[2]);
        p->order[i] = (uint32_t)i;
    }
}

static void pack_splat(const pack_job *p, int64_t to, int64_t from)
{
    const orr_splats_view *s = p->splats;
    int lane = (int)(to % ORR_PACK_BLOCK);
    int64_t block = to / ORR_PACK_BLOCK;
    float *geometry = p->pack->geometry + block * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK + lane;
    const float *q = s->rotation + 4 * from;
    const float *log_scale = s->log_scale + 3 * from;
    real4 rotation = {.x = q[1], .y = q[2], .z = q[3], .w = q[0]};
    real3 scale = make_real3(expf(log_scale[0]), expf(log_scale[1]), expf(log_scale[2]));
    splat_axes m = splat_make_axes(rotation, scale);
    const float *p3 = s->position + 3 * from;
    float opacity = orr_sigmoid(s->opacity[from]);
    const float members[ORR_PACK_GEOMETRY] = {p3[0], p3[1], p3[2], m.a.x, m.a.y, m.a.z,  m.b.x,
                                              m.b.y, m.b.z, m.c.x, m.c.y, m.c.z, opacity};
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        geometry[k * ORR_PACK_BLOCK] = members[k];
    }
    int rest = 3 * orr_sh_rest(s->sh_degree);
    float *harmonics = p->pack->harmonics + block * (3 + rest) * ORR_PACK_BLOCK + lane;
    for (int k = 0; k < 3; k++) {
        harmonics[k * ORR_PACK_BLOCK] = s->colour[3 * from + k];
    }
    for (int k = 0; k < rest; k++) {
        harmonics[(3 + k) * ORR_PACK_BLOCK] = s->harmonics[rest * from + k];
    }
    p->pack->original[to] = (uint32_t)from;
}

static void pack_blocks(void *context, int job, int worker)
{
    (void)worker;
    const pack_job *p = context;
    int64_t first = (int64_t)(p->first + job) * PACK_JOB * ORR_PACK_BLOCK;
    int64_t end = first + PACK_JOB * ORR_PACK_BLOCK;
    end = end < p->splats->count ? end : p->splats->count;
    for (int64_t i = first; i < end; i++) {
        pack_splat(p, i, p->order[i]);
    }
}

// the last block's unused lanes: opacity 0 draws nothing, the rest only has to be finite
static void fill_up(orr_splat_pack *pack)
{
    size_t members = 3u * (size_t)((pack->sh_degree + 1) * (pack->sh_degree + 1));
    if (pack->blocks > 0) {
        size_t last = (size_t)pack->blocks - 1;
        memset(pack->geometry + last * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK, 0,
               ORR_PACK_GEOMETRY * ORR_PACK_BLOCK * sizeof(float));
        memset(pack->harmonics + last * members * ORR_PACK_BLOCK, 0,
               members * ORR_PACK_BLOCK * sizeof(float));
        memset(pack->original + last * ORR_PACK_BLOCK, 0, ORR_PACK_BLOCK * sizeof(uint32_t));
    }
}

static orr_result pack_all(orr_jobs *jobs, pack_job *job, int job_count, const orr_progress *progress,
                           orr_error *error)
{
    int slice = job_count / PACK_SLICES + 1;
    for (int first = 0; first < job_count; first += slice) {
        ORR_TRY(orr_progress_at(progress, "ordering", 0.3 + 0.7 * first / job_count, error));
        job->first = first;
        orr_jobs_for(jobs, first + slice < job_count ? slice : job_count - first, pack_blocks, job);
    }
    return ORR_OK;
}

static orr_result fill(orr_jobs *jobs, const orr_splats_view *splats, const orr_progress *progress,
                       orr_splat_pack *pack, orr_error *error)
{
    ORR_TRY(orr_progress_at(progress, "ordering", 0.0, error));
    ORR_TRY(trimmed_bounds(splats, pack->low, pack->high, error));
    orr_arena arena = {0};
    size_t count = (size_t)splats->count;
    pack_job job = {splats, pack, orr_arena_take(&arena, count, sizeof(uint32_t)),
                    orr_arena_take(&arena, count, sizeof(uint32_t)), 0};
    orr_result result = job.keys && job.order ? ORR_OK
                                              : orr_fail(error, ORR_CODE_OUT_OF_MEMORY,
                                                         "out of memory: ordering %zu splats", count);
    int job_count = orr_blocks(splats->count, PACK_JOB * ORR_PACK_BLOCK);
    if (result == ORR_OK) {
        orr_jobs_for(jobs, job_count, morton_keys, &job);
        result = orr_radix_sort(jobs, &arena, job.keys, job.order, splats->count, error);
    }
    if (result == ORR_OK) {
        fill_up(pack);
        result = pack_all(jobs, &job, job_count, progress, error);
    }
    orr_arena_destroy(&arena);
    return result;
}

orr_result orr_splat_pack_create(orr_jobs *jobs, const orr_splats_view *splats, const orr_progress *progress,
                                 orr_splat_pack **out, orr_error *error)
{
    *out = NULL;
    orr_splat_pack *pack = orr_alloc_zero(1, sizeof *pack);
    if (!pack) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a cloud");
    }
    pack->count = splats->count;
    pack->blocks = (splats->count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
    pack->sh_degree = splats->sh_degree;
    pack->antialiased = splats->antialiased;
    size_t capacity = (size_t)pack->blocks * ORR_PACK_BLOCK;
    size_t members = 3u * (size_t)((splats->sh_degree + 1) * (splats->sh_degree + 1));
    pack->geometry = orr_alloc(capacity, ORR_PACK_GEOMETRY * sizeof(float));
    pack->harmonics = orr_alloc(capacity, members * sizeof(float));
    pack->original = orr_alloc(capacity, sizeof(uint32_t));
    orr_result result = ORR_OK;
    if (!pack->geometry || !pack->harmonics || !pack->original) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld splats to draw",
                          (long long)pack->count);
    }
    if (result == ORR_OK) {
        result = fill(jobs, splats, progress, pack, error);
    }
    if (result != ORR_OK) {
        orr_splat_pack_destroy(pack);
        return result;
    }
    *out = pack;
    return ORR_OK;
}

void orr_splat_pack_destroy(orr_splat_pack *pack)
{
    if (pack) {
        orr_free(pack->geometry);
        orr_free(pack->harmonics);
        orr_free(pack->original);
        orr_free(pack);
    }
}

size_t orr_splat_pack_bytes(const orr_splat_pack *pack)
{
    size_t members = ORR_PACK_GEOMETRY + 3u * (size_t)((pack->sh_degree + 1) * (pack->sh_degree + 1)) + 1;
    return (size_t)pack->blocks * ORR_PACK_BLOCK * members * sizeof(float);
}

void orr_splat_pack_indices(const orr_splat_pack *pack, uint32_t *indices)
{
    for (int64_t i = 0; i < pack->count; i++) {
        indices[pack->original[i]] = (uint32_t)i;
    }
}

// index of a splat's first member, in an array of `members` per splat
static size_t member_index(int64_t splat, int members)
{
    return (size_t)(splat / ORR_PACK_BLOCK * members) * ORR_PACK_BLOCK + (size_t)(splat % ORR_PACK_BLOCK);
}

void orr_splat_pack_in_file_order(const void *array, int members, const uint32_t *indices, int64_t first,
                                  int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++) {
        const char *from = (const char *)array + member_index(indices[first + i], members) * FOUR;
        char *to = (char *)out + member_index(i, members) * FOUR;
        for (int k = 0; k < members; k++) {
            memcpy(to + k * ORR_PACK_BLOCK * FOUR, from + k * ORR_PACK_BLOCK * FOUR, FOUR);
        }
    }
}
