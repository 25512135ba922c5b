// The splats of a picture: projected, sorted by depth, and a list for each tile.
#include "engine/core/memory.h"
#include "engine/maths/radix_sort.h"
#include "render/cpu/splats_cpu.h"
#include "render/splat_detail/draw_detail.h"

#include <string.h>

// The data between the stages, all in the arena.
typedef struct splat_search {
    orr_jobs *jobs;
    orr_arena *arena;
    const orr_splat_kernels *kernels;
    const orr_draw_list *list;
    bool only_shapes;

    splat_lens_values *lenses; // one per layer
    splat_photo_values *photo; // NULL: the lens is not distorted
    orr_project_job *parts;    // part_count: what one job projects
    int *part_counts;          // part_count: records it wrote, then the number of records before it
    int part_count;
    orr_splat_record *records; // the parts' records, with gaps between parts
    orr_tile_box *boxes;       // likewise
    uint32_t *part_keys;       // likewise
    int64_t record_capacity;

    int64_t visible;
    uint32_t *keys;  // visible: depth as sortable bits
    uint32_t *order; // visible: record indices, after the sort from front to back
} splat_search;

static orr_result out_of_memory(orr_error *error, const char *what, int64_t count)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s for %lld splats", what,
                    (long long)count);
}

static int64_t nodes_of(const orr_project_job *job)
{
    int64_t nodes = 0;
    for (int64_t i = job->first_block; i < job->end_block; i++) {
        nodes += __builtin_popcount(job->runs[i].nodes);
    }
    return nodes;
}

// The nodes that a layer shows. The runs take the same memory for all cameras.
static orr_result cut(const splat_search *f, int i, orr_splat_cut_job *job, orr_error *error)
{
    const orr_draw_splats *layer = &f->list->splats[i];
    *job = (orr_splat_cut_job){
        .detail = layer->detail, .lens = &f->lenses[i], .merged_size = layer->merged_size};
    job->runs = orr_arena_take(f->arena, (size_t)orr_splat_cut_capacity(layer->detail), sizeof *job->runs);
    if (!job->runs) {
        return out_of_memory(error, "level of detail", layer->pack->count);
    }
    f->kernels->cut(job);
    return ORR_OK;
}

static orr_result plan_projection(splat_search *f, orr_error *error)
{
    int64_t parts = 0, records = 0;
    for (int i = 0; i < f->list->splat_count; i++) {
        const orr_draw_splats *layer = &f->list->splats[i];
        const int64_t blocks =
            orr_draw_merges(f->list, layer) ? orr_splat_cut_capacity(layer->detail) : layer->pack->blocks;
        parts += orr_blocks(blocks, ORR_PROJECT_BLOCKS);
        records += layer->pack->blocks * ORR_PACK_BLOCK;
    }
    if (records > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%lld splats in one frame: expected at most 2^32 - 1",
                        (long long)records);
    }
    f->record_capacity = records;
    f->lenses = orr_arena_take(f->arena, (size_t)f->list->splat_count, sizeof *f->lenses);
    f->parts = orr_arena_take(f->arena, (size_t)parts, sizeof *f->parts);
    f->part_counts = orr_arena_take(f->arena, (size_t)parts, sizeof *f->part_counts);
    f->records = orr_arena_take(f->arena, (size_t)records, sizeof *f->records);
    f->boxes = orr_arena_take(f->arena, (size_t)records, sizeof *f->boxes);
    f->part_keys = orr_arena_take(f->arena, (size_t)records, sizeof *f->part_keys);
    if (!f->lenses || !f->parts || !f->part_counts || !f->records || !f->boxes || !f->part_keys) {
        return out_of_memory(error, "projection", records);
    }
    if (f->list->lens.distorted) {
        f->photo = orr_arena_take(f->arena, 1, sizeof *f->photo);
        if (!f->photo) {
            return out_of_memory(error, "projection", records);
        }
        *f->photo = orr_splat_photo_of(&f->list->lens);
    }
    int part = 0;
    int64_t next = 0; // splat, of all layers
    for (int i = 0; i < f->list->splat_count; i++) {
        const orr_draw_splats *layer = &f->list->splats[i];
        const bool merges = orr_draw_merges(f->list, layer);
        const int64_t first = next;
        ORR_TRY(orr_splat_lens_make(&f->list->lens, layer, &f->lenses[i], error));
        orr_project_job job = {.pack = layer->pack,
                               .detail = merges ? layer->detail : NULL,
                               .deformation = &layer->deformation,
                               .lens = &f->lenses[i],
                               .photo = f->photo,
                               .width = f->list->lens.width,
                               .height = f->list->lens.height,
                               .first_file_index = (uint32_t)first,
                               .layer = (uint32_t)i,
                               .only_shape = f->only_shapes};
        orr_splat_lens_clip(&f->list->lens, &f->lenses[i], job.clip);
        int64_t blocks = layer->pack->blocks;
        if (merges) {
            orr_splat_cut_job found;
            ORR_TRY(cut(f, i, &found, error));
            job.runs = found.runs;
            blocks = found.run_count;
        }
        for (int64_t block = 0; block < blocks; block += ORR_PROJECT_BLOCKS) {
            job.first_block = block;
            job.end_block = block + ORR_PROJECT_BLOCKS < blocks ? block + ORR_PROJECT_BLOCKS : blocks;
            job.records = f->records + next;
            job.boxes = f->boxes + next;
            job.keys = f->part_keys + next;
            f->parts[part++] = job;
            next += merges ? nodes_of(&job) : (job.end_block - block) * ORR_PACK_BLOCK;
        }
        next = first + layer->pack->blocks * ORR_PACK_BLOCK;
    }
    f->part_count = part;
    return ORR_OK;
}

static void project_part(void *context, int i, int worker)
{
    (void)worker;
    splat_search *f = context;
    f->part_counts[i] = f->kernels->project(&f->parts[i]);
}

// the parts' keys one after the other, and where their records are
static void make_keys(void *context, int i, int worker)
{
    (void)worker;
    const splat_search *f = context;
    int64_t to = f->part_counts[i];
    int64_t end = i + 1 < f->part_count ? f->part_counts[i + 1] : f->visible;
    uint32_t record = (uint32_t)(f->parts[i].records - f->records);
    memcpy(f->keys + to, f->parts[i].keys, (size_t)(end - to) * sizeof *f->keys);
    for (; to < end; to++, record++) {
        f->order[to] = record;
    }
}

static orr_result project(splat_search *f, orr_error *error)
{
    ORR_TRY(plan_projection(f, error));
    orr_jobs_for(f->jobs, f->part_count, project_part, f);
    f->visible = 0;
    for (int i = 0; i < f->part_count; i++) {
        int count = f->part_counts[i];
        f->part_counts[i] = (int)f->visible;
        f->visible += count;
    }
    return ORR_OK;
}

// Splats of exactly the same depth are drawn in the order of their files, whatever their order in the pack.
static orr_result order_ties(splat_search *f, orr_error *error)
{
    enum { SMALL = 32 };
    for (int64_t first = 0; first < f->visible;) {
        int64_t end = first + 1;
        while (end < f->visible && f->keys[end] == f->keys[first]) {
            end++;
        }
        int64_t count = end - first;
        uint32_t *order = f->order + first;
        if (count > SMALL) { // a flat cloud, seen along its normal
            uint32_t *indices = orr_arena_take(f->arena, (size_t)count, sizeof *indices);
            if (!indices) {
                return out_of_memory(error, "equal depths", count);
            }
            for (int64_t i = 0; i < count; i++) {
                indices[i] = f->records[order[i]].file_index;
            }
            ORR_TRY(orr_radix_sort(f->jobs, f->arena, indices, order, count, error));
        } else {
            for (int64_t i = 1; i < count; i++) {
                uint32_t moved = order[i];
                int64_t k = i;
                for (; k > 0 && f->records[moved].file_index < f->records[order[k - 1]].file_index; k--) {
                    order[k] = order[k - 1];
                }
                order[k] = moved;
            }
        }
        first = end;
    }
    return ORR_OK;
}

static orr_result list_visible(splat_search *f, orr_error *error)
{
    f->keys = orr_arena_take(f->arena, (size_t)f->visible, sizeof *f->keys);
    f->order = orr_arena_take(f->arena, (size_t)f->visible, sizeof *f->order);
    if (!f->keys || !f->order) {
        return out_of_memory(error, "sorting", f->visible);
    }
    orr_jobs_for(f->jobs, f->part_count, make_keys, f);
    return ORR_OK;
}

static orr_result sort(splat_search *f, orr_error *error)
{
    ORR_TRY(list_visible(f, error));
    ORR_TRY(orr_radix_sort(f->jobs, f->arena, f->keys, f->order, f->visible, error));
    return order_ties(f, error);
}

static orr_result bin(splat_search *f, orr_cpu_splats *splats, orr_error *error)
{
    orr_splat_bins *bins = orr_arena_take(f->arena, 1, sizeof *bins);
    if (!bins) {
        return out_of_memory(error, "tiles", f->visible);
    }
    const orr_lens *lens = &f->list->lens;
    const orr_bin_input input = {f->records, f->boxes, f->order, f->visible, lens->width, lens->height};
    ORR_TRY(orr_splats_bin(f->jobs, f->arena, &input, bins, error));
    *splats = (orr_cpu_splats){f->records, f->boxes, f->order, f->visible, bins, f->lenses, f->photo, 0};
    return ORR_OK;
}

orr_result orr_splats_find(orr_jobs *jobs, const orr_splat_kernels *kernels, orr_arena *arena,
                           const orr_draw_list *list, orr_profile *profile, orr_cpu_splats *splats,
                           orr_error *error)
{
    splat_search search = {.jobs = jobs, .arena = arena, .kernels = kernels, .list = list}, *f = &search;
    ORR_TRY(project(f, error));
    orr_profile_end(profile, "project", f->record_capacity);
    ORR_TRY(sort(f, error));
    orr_profile_end(profile, "sort", f->visible);
    ORR_TRY(bin(f, splats, error));
    orr_profile_end(profile, "bin", splats->bins->pairs);
    return ORR_OK;
}

orr_result orr_splats_find_shapes(orr_jobs *jobs, const orr_splat_kernels *kernels, orr_arena *arena,
                                  const orr_draw_list *list, orr_cpu_splats *splats, orr_error *error)
{
    splat_search search = {
        .jobs = jobs, .arena = arena, .kernels = kernels, .list = list, .only_shapes = true};
    ORR_TRY(project(&search, error));
    ORR_TRY(list_visible(&search, error));
    return bin(&search, splats, error);
}
