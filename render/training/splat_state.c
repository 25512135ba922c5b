// State files of trainings of splats: eight letters, then numbers, all little-endian.
//
//     char[8]    "ORRSPT03"
//     int64[4]   steps, steps of the higher harmonics, splats n, most splats
//     float64    progress of the last step
//     float32    extent of the cameras
//     uint32     seed
//     float32    weight of depths in the loss
//     float32    share of the splats that is pruned; 0: none
//     int32[4]   degree to reach, degree d, switches, photos m
//                switches: 1 antialiased, 2 exposures, 4 poses, 8 masks are empty, 16 divisions,
//                32 bilateral grids, 64 lenses are kept
//     int32[m]   the photos in the order of this epoch
//     m times    float64[12] pose, float32[12] exposure, float32[24] its moments, float32[12] those of the
//                camera's motion, int64 steps (orr_splat_view)
//     m times    with bilateral grids three times float32[24576]: maps, first and second moments
//                (orr_photo_grid)
//     float32    three times (parameters, first and second moments): 11 stored members of the splats, then
//                3 (d + 1)^2 of their harmonics, in blocks of 16 splats (splat_training.h)
//     float32    with divisions two of each splat: sum of gradients, steps that saw it
#include "render/training/splat_state.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'O', 'R', 'R', 'S', 'P', 'T', '0', '3'};

enum { SPLATS_MOST = 1 << 28, PHOTOS_MOST = 1 << 24 };

typedef struct header {
    int64_t counts[4];
    double progress;
    float extent;
    uint32_t seed;
    float depth_weight;
    float prune;
    int32_t sizes[4];
} header;

_Static_assert(sizeof(header) == 72, "written as it is in memory");
_Static_assert(sizeof(orr_splat_view) == 296, "written as it is in memory");

enum {
    ANTIALIASED = 1,
    EXPOSURES = 2,
    POSES = 4,
    EMPTY_MASKS = 8,
    DIVIDES = 16,
    GRIDS = 32,
    KEPT_LENSES = 64,
    SWITCHES = 127
};

static int32_t switches_of(const orr_splat_state *s)
{
    return (s->antialias ? ANTIALIASED : 0) | (s->exposures ? EXPOSURES : 0) | (s->refine_poses ? POSES : 0) |
           (s->masks == ORR_SPLAT_MASKS_EMPTY ? EMPTY_MASKS : 0) |
           (s->strategy == ORR_SPLAT_ADC ? DIVIDES : 0) | (s->grids ? GRIDS : 0) |
           (s->lenses == ORR_SPLAT_LENSES_KEEP ? KEPT_LENSES : 0);
}

// floats of one of the three sets
static size_t set_floats(int64_t splats, int members)
{
    return (size_t)((splats + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK * ORR_PACK_BLOCK * members);
}

orr_result orr_splat_state_save(const orr_splat_state *s, const char *path, orr_error *error)
{
    const orr_splat_params *p = &s->params;
    const header h = {.counts = {s->step, s->rest_steps, p->count, s->most},
                      .progress = s->progress,
                      .extent = s->extent,
                      .seed = s->seed,
                      .depth_weight = s->depth_weight,
                      .prune = s->prune,
                      .sizes = {s->sh_degree, p->degree, switches_of(s), s->image_count}};
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_put(&writer, magic, sizeof magic);
    orr_file_put(&writer, &h, sizeof h);
    orr_file_put(&writer, s->images, (size_t)s->image_count * sizeof *s->images);
    orr_file_put(&writer, s->views, (size_t)s->image_count * sizeof *s->views);
    if (s->grids) {
        orr_file_put(&writer, s->grids, (size_t)s->image_count * sizeof *s->grids);
    }
    for (int set = 0; set < 3; set++) {
        orr_file_put(&writer, p->stored[set], set_floats(p->count, ORR_STORED) * sizeof(float));
        orr_file_put(&writer, p->harmonics[set],
                     set_floats(p->count, orr_harmonics_members(p->degree)) * sizeof(float));
    }
    for (int k = 0; k < 2 && p->has_statistic; k++) {
        orr_file_put(&writer, p->statistic[k], set_floats(p->count, 1) * sizeof(float));
    }
    return orr_file_commit(&writer, error);
}

// ---- reading ----

static bool is_plausible(const header *h)
{
    const int64_t splats = h->counts[2], most = h->counts[3];
    return h->counts[0] >= 0 && h->counts[0] <= INT32_MAX && h->counts[1] >= 0 &&
           h->counts[1] <= h->counts[0] && splats >= 1 && splats <= most && most <= SPLATS_MOST &&
           h->progress >= 0.0 && h->progress <= 1.0 && isfinite(h->extent) && h->extent > 0.0f &&
           h->depth_weight >= 0.0f && h->depth_weight <= ORR_SPLAT_DEPTH_WEIGHT_MAX && h->prune >= 0.0f &&
           h->prune <= ORR_SPLAT_PRUNE_MAX && h->sizes[0] <= 3 && h->sizes[1] >= 0 &&
           h->sizes[1] <= h->sizes[0] && h->sizes[2] >= 0 && h->sizes[2] <= SWITCHES && h->sizes[3] >= 2 &&
           h->sizes[3] <= PHOTOS_MOST;
}

static bool is_sound(const float *values, size_t count, bool square)
{
    bool sound = true;
    for (size_t i = 0; i < count; i++) {
        sound = sound && isfinite(values[i]) && (!square || values[i] >= 0.0f);
    }
    return sound;
}

static bool is_sound_view(const orr_splat_view *v)
{
    bool sound = v->steps >= 0 && v->steps <= INT32_MAX;
    for (int i = 0; i < 12; i++) {
        sound = sound && isfinite(v->pose[i]);
    }
    return sound && is_sound(v->exposure, ORR_EXPOSURE, false) &&
           is_sound(v->exposure_moments[0], ORR_EXPOSURE, false) &&
           is_sound(v->exposure_moments[1], ORR_EXPOSURE, true) &&
           is_sound(v->motion_moments[0], ORR_MOTION, false) &&
           is_sound(v->motion_moments[1], ORR_MOTION, true);
}

static const uint8_t *take(const uint8_t *from, void *to, size_t size)
{
    memcpy(to, from, size);
    return from + size;
}

// `from`: as many bytes as the header says
static orr_result read_arrays(const char *name, const header *h, const uint8_t *from, orr_splat_state *s,
                              orr_error *error)
{
    orr_splat_params *p = &s->params;
    ORR_ALLOC(s->images, h->sizes[3], name, error);
    from = take(from, s->images, (size_t)h->sizes[3] * sizeof *s->images);
    ORR_ALLOC(s->views, h->sizes[3], name, error);
    from = take(from, s->views, (size_t)h->sizes[3] * sizeof *s->views);
    for (int i = 0; i < h->sizes[3]; i++) {
        if (!is_sound_view(&s->views[i])) {
            return orr_fail(error, ORR_CODE_FILE_VALUE,
                            "%s: pose and exposure of photo %d: expected finite numbers", name, i);
        }
    }
    if (h->sizes[2] & GRIDS) {
        ORR_ALLOC(s->grids, h->sizes[3], name, error);
        from = take(from, s->grids, (size_t)h->sizes[3] * sizeof *s->grids);
        for (int i = 0; i < h->sizes[3]; i++) {
            const orr_photo_grid *g = &s->grids[i];
            if (!is_sound(g->value, ORR_GRID, false) || !is_sound(g->moments[0], ORR_GRID, false) ||
                !is_sound(g->moments[1], ORR_GRID, true)) {
                return orr_fail(error, ORR_CODE_FILE_VALUE,
                                "%s: bilateral grid of photo %d: expected finite numbers", name, i);
            }
        }
    }
    ORR_TRY(orr_splat_params_create(h->counts[2], (h->sizes[2] & DIVIDES) != 0, p, error));
    if (h->sizes[1] > 0) {
        ORR_TRY(orr_splat_params_raise(p, h->sizes[1], error));
    }
    p->count = h->counts[2];
    const size_t stored = set_floats(p->count, ORR_STORED);
    const size_t harmonics = set_floats(p->count, orr_harmonics_members(p->degree));
    for (int set = 0; set < 3; set++) {
        from = take(from, p->stored[set], stored * sizeof(float));
        from = take(from, p->harmonics[set], harmonics * sizeof(float));
        if (!is_sound(p->stored[set], stored, set == 2) ||
            !is_sound(p->harmonics[set], harmonics, set == 2)) {
            return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: %s of the splats: expected finite numbers%s",
                            name, set == 0 ? "parameters" : "moments", set == 2 ? ", none negative" : "");
        }
    }
    for (int k = 0; k < 2 && p->has_statistic; k++) {
        const size_t lanes = set_floats(p->count, 1);
        from = take(from, p->statistic[k], lanes * sizeof(float));
        if (!is_sound(p->statistic[k], lanes, true)) {
            return orr_fail(error, ORR_CODE_FILE_VALUE,
                            "%s: gradients of the splats: expected finite numbers, none negative", name);
        }
    }
    return ORR_OK;
}

orr_result orr_splat_state_read(const char *name, orr_bytes bytes, orr_splat_state *s, orr_error *error)
{
    header h;
    const size_t start = sizeof magic + sizeof h;
    *s = (orr_splat_state){0};
    if (bytes.size < sizeof magic || memcmp(bytes.data, magic, sizeof magic) != 0) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: expected the state of a training of splats (it begins with ORRSPT03)", name);
    }
    if (bytes.size < start) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: %zu bytes: expected a header of %zu", name,
                        bytes.size, start);
    }
    memcpy(&h, bytes.data + sizeof magic, sizeof h);
    if (!is_plausible(&h)) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: header: expected the numbers of a training of splats", name);
    }
    const size_t floats = 3 * (set_floats(h.counts[2], ORR_STORED) +
                               set_floats(h.counts[2], orr_harmonics_members(h.sizes[1]))) +
                          (h.sizes[2] & DIVIDES ? 2 * set_floats(h.counts[2], 1) : 0);
    const size_t photo =
        sizeof(int32_t) + sizeof(orr_splat_view) + (h.sizes[2] & GRIDS ? sizeof(orr_photo_grid) : 0);
    const size_t whole = start + (size_t)h.sizes[3] * photo + floats * sizeof(float);
    if (bytes.size != whole) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: %zu bytes: expected %zu, by its header", name,
                        bytes.size, whole);
    }
    s->step = h.counts[0];
    s->rest_steps = h.counts[1];
    s->progress = h.progress;
    s->extent = h.extent;
    s->most = h.counts[3];
    s->strategy = h.sizes[2] & DIVIDES ? ORR_SPLAT_ADC : ORR_SPLAT_MCMC;
    s->seed = h.seed;
    s->depth_weight = h.depth_weight;
    s->prune = h.prune;
    s->sh_degree = h.sizes[0];
    s->antialias = (h.sizes[2] & ANTIALIASED) != 0;
    s->exposures = (h.sizes[2] & EXPOSURES) != 0;
    s->refine_poses = (h.sizes[2] & POSES) != 0;
    s->masks = h.sizes[2] & EMPTY_MASKS ? ORR_SPLAT_MASKS_EMPTY : ORR_SPLAT_MASKS_IGNORE;
    s->lenses = h.sizes[2] & KEPT_LENSES ? ORR_SPLAT_LENSES_KEEP : ORR_SPLAT_LENSES_UNDISTORT;
    s->image_count = h.sizes[3];
    orr_result result = read_arrays(name, &h, bytes.data + start, s, error);
    if (result != ORR_OK) {
        orr_splat_state_destroy(s);
    }
    return result;
}

static int compare_images(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

orr_result orr_splat_state_has_images(const orr_splat_state *s, const int *images, int count, bool *same,
                                      orr_error *error)
{
    int *sorted;
    *same = s->image_count == count;
    if (!*same) {
        return ORR_OK;
    }
    ORR_ALLOC(sorted, 2 * count, "a list of photos", error);
    memcpy(sorted, s->images, (size_t)count * sizeof *sorted);
    memcpy(sorted + count, images, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_images);
    qsort(sorted + count, (size_t)count, sizeof *sorted, compare_images);
    *same = memcmp(sorted, sorted + count, (size_t)count * sizeof *sorted) == 0;
    orr_free(sorted);
    return ORR_OK;
}

void orr_splat_state_destroy(orr_splat_state *s)
{
    orr_splat_params_destroy(&s->params);
    orr_free(s->images);
    orr_free(s->views);
    orr_free(s->grids);
    *s = (orr_splat_state){0};
}
