#include "render/cpu/kept/kept_view.h"

#include "engine/core/memory.h"
#include "render/cpu/kept/kept_lens.h"
#include "render/mirror/mirror.h"

#include <limits.h>
#include <string.h>

enum { LAYERS = 8, BLOCKS_MAX = (4 << 20) / ORR_PACK_BLOCK };

// What the splats on the screen follow from. Padding is 0, so that equal ones have equal bytes.
typedef struct splats_key {
    orr_kept_lens lens;
    int32_t layers; // -1: cannot be kept
    struct {
        uint64_t key;
        float model[12];
        const orr_splat_detail *detail;
        float merged_size;
        int32_t antialias;
    } layer[LAYERS];
} splats_key;

struct orr_kept_view {
    splats_key asked, held;
    int repeats; // lists in a row that asked for the same
    bool holds;
    int mesh_count;                             // that they were blended in front of
    orr_kept_meshes *meshes;                    // NULL: none are kept
    struct orr_kept_view *mirrors[ORR_MIRRORS]; // what they show; NULL: not seen yet
    orr_arena arena;                            // of what it holds
    orr_cpu_splats found;
    orr_kept_tile *tiles;
};

// while it comes to hold a list
typedef struct keep_job {
    const orr_kept_view *kept;
    const orr_splat_kernels *kernels;
    const orr_draw_list *list;
    const float *mesh_depth; // NULL: lists are taken down, without meshes
} keep_job;

static splats_key key_of(const orr_draw_list *list)
{
    splats_key key;
    memset(&key, 0, sizeof key);
    key.lens = orr_kept_lens_of(&list->lens);
    key.layers =
        list->splat_count > LAYERS || list->no_reuse || list->lens.distorted ? -1 : list->splat_count;
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

orr_result orr_kept_view_create(orr_kept_view **kept, orr_error *error)
{
    orr_kept_view *k = orr_alloc_zero(1, sizeof *k);
    *kept = k;
    return k ? orr_kept_meshes_create(&k->meshes, error)
             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: splats that are kept");
}

void orr_kept_view_destroy(orr_kept_view *kept)
{
    if (kept) {
        for (int i = 0; i < ORR_MIRRORS; i++) {
            orr_kept_view_destroy(kept->mirrors[i]);
        }
        orr_kept_meshes_destroy(kept->meshes);
        orr_arena_destroy(&kept->arena);
        orr_free(kept);
    }
}

bool orr_kept_view_has_splats(const orr_kept_view *kept, const orr_draw_list *list)
{
    const splats_key key = key_of(list);
    return kept->holds && are_equal(&key, &kept->held);
}

// Held in front of fewer meshes than move no more, or not at all.
static bool needs_splats(const orr_kept_view *kept, const orr_draw_list *list)
{
    const splats_key key = key_of(list);
    return key.layers > 0 && !(kept->holds && are_equal(&key, &kept->held) &&
                               kept->mesh_count <= orr_kept_meshes_still(kept->meshes, list));
}

static orr_result count_repeats(orr_kept_view *kept, const orr_draw_list *list, int *repeats,
                                orr_error *error)
{
    const splats_key key = key_of(list);
    ORR_TRY(orr_kept_meshes_repeats(kept->meshes, list, repeats, error));
    kept->repeats = are_equal(&key, &kept->asked) ? kept->repeats + (kept->repeats < INT_MAX) : 1;
    kept->asked = key;
    if (needs_splats(kept, list) && kept->repeats > *repeats) {
        *repeats = kept->repeats;
    }
    return ORR_OK;
}

orr_result orr_kept_view_repeats(orr_kept_view *kept, const orr_draw_list *list, int *repeats,
                                 orr_error *error)
{
    orr_mirror found[ORR_MIRRORS];
    ORR_TRY(count_repeats(kept, list, repeats, error));
    const int count = list->splat_count > 0 ? orr_mirrors_find(list, found) : 0;
    for (int i = 0; i < count; i++) {
        const orr_draw_list seen = orr_mirror_list(&found[i], list);
        int more;
        ORR_TRY(kept->mirrors[i] ? ORR_OK : orr_kept_view_create(&kept->mirrors[i], error));
        ORR_TRY(count_repeats(kept->mirrors[i], &seen, &more, error));
        *repeats = more > *repeats ? more : *repeats;
    }
    return ORR_OK;
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
static orr_result keep_lists(orr_kept_view *kept, keep_job *job, orr_jobs *jobs, orr_error *error)
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

static orr_result hold_splats(orr_kept_view *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *all,
                              orr_error *error)
{
    orr_draw_list still = *all; // with the meshes that are there in the pictures to come
    still.mesh_count = orr_kept_meshes_still(kept->meshes, all);
    const orr_draw_list *list = &still;
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
    kept->mesh_count = list->mesh_count;
    kept->holds = true;
    return ORR_OK;
}

static orr_result hold(orr_kept_view *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                       orr_error *error)
{
    ORR_TRY(needs_splats(kept, list) ? hold_splats(kept, jobs, isa, list, error) : ORR_OK);
    return orr_kept_meshes_hold(kept->meshes, jobs, isa, list, error);
}

orr_result orr_kept_view_hold(orr_kept_view *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                              orr_error *error)
{
    orr_mirror found[ORR_MIRRORS];
    ORR_TRY(hold(kept, jobs, isa, list, error));
    const int count = orr_mirrors_find(list, found);
    for (int i = 0; i < count && kept->mirrors[i]; i++) {
        const orr_draw_list seen = orr_mirror_list(&found[i], list);
        ORR_TRY(hold(kept->mirrors[i], jobs, isa, &seen, error));
    }
    return ORR_OK;
}

const orr_kept_view *orr_kept_view_mirror(const orr_kept_view *kept, int mirror)
{
    return kept ? kept->mirrors[mirror] : NULL;
}

const orr_kept_meshes_picture *orr_kept_view_meshes(const orr_kept_view *kept, const orr_draw_list *list)
{
    return kept ? orr_kept_meshes_picture_of(kept->meshes, list) : NULL;
}

const orr_cpu_splats *orr_kept_view_splats(const orr_kept_view *kept)
{
    return &kept->found;
}

const orr_kept_tile *orr_kept_view_tile(const orr_kept_view *kept, int tile)
{
    return &kept->tiles[tile];
}
