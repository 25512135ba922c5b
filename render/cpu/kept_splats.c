#include "render/cpu/kept_splats.h"

#include "engine/core/memory.h"

#include <limits.h>
#include <string.h>

enum { LAYERS = 8, BLOCKS_MAX = (4 << 20) / ORR_PACK_BLOCK };

// What the splats on the screen follow from. Padding is 0, so that equal ones have equal bytes.
typedef struct splats_key {
    float view[12], position[3], focal[2], centre[2], planes[2], slopes[4];
    int32_t width, height, orthographic;
    int32_t layers; // -1: cannot be kept
    struct {
        uint64_t key;
        float model[12];
        const orr_splat_detail *detail;
        float merged_size;
        int32_t antialias;
    } layer[LAYERS];
} splats_key;

struct orr_kept_splats {
    splats_key asked, held;
    int repeats; // lists in a row that asked for the same
    bool holds;
    orr_arena arena; // of what it holds
    orr_cpu_splats found;
    orr_kept_tile *tiles;
};

// while it comes to hold a list
typedef struct keep_job {
    const orr_kept_splats *kept;
    const orr_splat_kernels *kernels;
    const orr_draw_list *list;
    const float *mesh_depth; // NULL: lists are taken down, without meshes
} keep_job;

static splats_key key_of(const orr_draw_list *list)
{
    splats_key key;
    memset(&key, 0, sizeof key);
    const orr_lens *lens = &list->lens;
    memcpy(key.view, lens->view, sizeof key.view);
    memcpy(key.position, lens->position, sizeof key.position);
    memcpy(key.focal, lens->focal, sizeof key.focal);
    memcpy(key.centre, lens->centre, sizeof key.centre);
    key.planes[0] = lens->near_plane;
    key.planes[1] = lens->far_plane;
    memcpy(key.slopes, lens->slope_low, sizeof lens->slope_low);
    memcpy(key.slopes + 2, lens->slope_high, sizeof lens->slope_high);
    key.width = lens->width;
    key.height = lens->height;
    key.orthographic = lens->orthographic;
    key.layers = list->splat_count > LAYERS || list->no_reuse ? -1 : list->splat_count;
    int64_t blocks = 0;
    for (int i = 0; i < list->splat_count && key.layers >= 0; i++) {
        const orr_draw_splats *splats = &list->splats[i];
        key.layer[i].key = splats->key;
        memcpy(key.layer[i].model, splats->model, sizeof splats->model);
        key.layer[i].detail = splats->detail;
        key.layer[i].merged_size = splats->merged_size;
        key.layer[i].antialias = splats->antialias;
        blocks += splats->pack->blocks;
        if (splats->deformation.piece_of || blocks > BLOCKS_MAX) {
            key.layers = -1;
        }
    }
    return key;
}

static bool are_equal(const splats_key *a, const splats_key *b)
{
    return a->layers > 0 && memcmp(a, b, sizeof *a) == 0;
}

orr_result orr_kept_splats_create(orr_kept_splats **kept, orr_error *error)
{
    *kept = orr_alloc_zero(1, sizeof **kept);
    return *kept ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: splats that are kept");
}

void orr_kept_splats_destroy(orr_kept_splats *kept)
{
    if (kept) {
        orr_arena_destroy(&kept->arena);
        orr_free(kept);
    }
}

bool orr_kept_splats_are(const orr_kept_splats *kept, const orr_draw_list *list)
{
    const splats_key key = key_of(list);
    return kept->holds && are_equal(&key, &kept->held);
}

int orr_kept_splats_repeats(orr_kept_splats *kept, const orr_draw_list *list)
{
    const splats_key key = key_of(list);
    kept->repeats = are_equal(&key, &kept->asked) ? kept->repeats + (kept->repeats < INT_MAX) : 1;
    kept->asked = key;
    return key.layers <= 0 || (kept->holds && are_equal(&key, &kept->held)) ? 0 : kept->repeats;
}

static void keep_tile(void *context, int i, int worker)
{
    (void)worker;
    const keep_job *job = context;
    const orr_cpu_splats *found = &job->kept->found;
    const orr_splat_bins *bins = found->bins;
    const uint32_t start = bins->starts[i];
    const orr_blend_job blend = {.records = found->records,
                                 .tile_splats = bins->tile_splats + start,
                                 .splat_count = bins->starts[i + 1] - start,
                                 .tile_x = i % bins->tiles_x,
                                 .tile_y = i / bins->tiles_x,
                                 .width = job->list->lens.width,
                                 .height = job->list->lens.height,
                                 .mesh_depth = job->mesh_depth,
                                 .kept = job->mesh_depth ? &job->kept->tiles[i] : NULL,
                                 .keep = &job->kept->tiles[i]};
    job->kernels->blend(&blend);
}

// The splats of each block are counted, then taken down.
static orr_result keep_lists(orr_kept_splats *kept, keep_job *job, orr_jobs *jobs, orr_error *error)
{
    const int count = kept->found.bins->tiles_x * kept->found.bins->tiles_y;
    kept->tiles = orr_arena_take(&kept->arena, (size_t)count, sizeof *kept->tiles);
    float *pixels = orr_arena_take(&kept->arena, (size_t)count * ORR_KEPT_PIXELS, sizeof *pixels);
    uint32_t *starts = orr_arena_take(&kept->arena, (size_t)count * ORR_KEPT_STARTS, sizeof *starts);
    if (!kept->tiles || !pixels || !starts) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d tiles that are kept", count);
    }
    memset(starts, 0, (size_t)count * ORR_KEPT_STARTS * sizeof *starts);
    for (int i = 0; i < count; i++) {
        kept->tiles[i] =
            (orr_kept_tile){pixels + (size_t)i * ORR_KEPT_PIXELS, starts + (size_t)i * ORR_KEPT_STARTS, NULL};
    }
    orr_jobs_for(jobs, count, keep_tile, job);
    size_t all = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 1; k < ORR_KEPT_STARTS; k++) {
            kept->tiles[i].starts[k] += kept->tiles[i].starts[k - 1];
        }
        all += kept->tiles[i].starts[ORR_KEPT_STARTS - 1];
    }
    uint32_t *splats = orr_arena_take(&kept->arena, all, sizeof *splats);
    if (!splats) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu splats that are kept", all);
    }
    for (int i = 0; i < count; i++) {
        kept->tiles[i].splats = splats;
        splats += kept->tiles[i].starts[ORR_KEPT_STARTS - 1];
    }
    orr_jobs_for(jobs, count, keep_tile, job);
    return ORR_OK;
}

orr_result orr_kept_splats_hold(orr_kept_splats *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                                orr_error *error)
{
    keep_job job = {kept, orr_splat_kernels_of(isa), list, NULL};
    orr_cpu_frame *meshes;
    orr_profile profile;
    orr_profile_reset(&profile);
    orr_arena_reset(&kept->arena);
    kept->holds = false;
    ORR_TRY(orr_splats_find(jobs, job.kernels, &kept->arena, list, &profile, &kept->found, error));
    ORR_TRY(keep_lists(kept, &job, jobs, error));
    ORR_TRY(orr_draw_cpu_begin(jobs, isa, &kept->arena, list, NULL, NULL, &profile, &meshes, error));
    job.mesh_depth = orr_draw_cpu_mesh_depth(meshes);
    if (job.mesh_depth) {
        orr_jobs_for(jobs, kept->found.bins->tiles_x * kept->found.bins->tiles_y, keep_tile, &job);
    }
    kept->held = key_of(list);
    kept->holds = true;
    return ORR_OK;
}

const orr_cpu_splats *orr_kept_splats_found(const orr_kept_splats *kept)
{
    return &kept->found;
}

const orr_kept_tile *orr_kept_splats_tile(const orr_kept_splats *kept, int tile)
{
    return &kept->tiles[tile];
}
