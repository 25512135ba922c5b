#include "render/splat_detail/cuda_levels.h"

#include "engine/core/isa.h"
#include "engine/maths/radix_sort.h"
#include "render/cpu/splats_cpu.h"

#include <string.h>

// ---- levels, under keys ----

static void free_levels(orr_cuda_levels *levels)
{
    orr_cuda_free(levels->geometry);
    orr_cuda_free(levels->harmonics);
    orr_cuda_free(levels->merged);
}

typedef enum which { GEOMETRY, HARMONICS, MERGED } which;

static const float *array_of(const orr_splat_level *level, which array)
{
    return array == GEOMETRY ? level->geometry : array == HARMONICS ? level->harmonics : level->merged;
}

// One array of levels from `first` on, behind one another. members: per node
static orr_result upload(orr_cuda *cuda, const orr_splat_detail *detail, int first, which array,
                         size_t members, float **out, orr_error *error)
{
    size_t blocks = 0, at = 0;
    void *memory;
    const size_t floats = members * ORR_PACK_BLOCK; // of a block
    for (int i = first; i < detail->level_count; i++) {
        blocks += (size_t)detail->levels[i].blocks;
    }
    ORR_TRY(orr_cuda_alloc(cuda, blocks * floats, sizeof(float), &memory, error));
    *out = memory;
    for (int i = first; i < detail->level_count; i++) {
        const size_t count = (size_t)detail->levels[i].blocks * floats;
        ORR_TRY(orr_cuda_upload(cuda, *out + at, array_of(&detail->levels[i], array), count * sizeof **out,
                                error));
        at += count;
    }
    return ORR_OK;
}

static orr_result create(orr_cuda *cuda, const orr_splat_detail *detail, orr_cuda_levels *levels,
                         orr_error *error)
{
    const size_t members = 3 * (size_t)(detail->sh_degree + 1) * (size_t)(detail->sh_degree + 1);
    *levels = (orr_cuda_levels){.whole = (uint32_t)detail->levels[0].blocks * ORR_PACK_BLOCK,
                                .sh_degree = detail->sh_degree};
    ORR_TRY(upload(cuda, detail, 0, GEOMETRY, ORR_PACK_GEOMETRY, &levels->geometry, error));
    ORR_TRY(upload(cuda, detail, 0, HARMONICS, members, &levels->harmonics, error));
    return upload(cuda, detail, 1, MERGED, ORR_DETAIL_MERGED, &levels->merged, error);
}

orr_result orr_cuda_level_store_take(orr_cuda *cuda, orr_cuda_level_store *store,
                                     const orr_draw_splats *splats, orr_cuda_levels *levels, orr_error *error)
{
    for (int i = 0; i < store->count; i++) {
        if (store->kept[i].key == splats->key && store->kept[i].of == splats->detail) {
            *levels = store->kept[i].levels;
            return ORR_OK;
        }
    }
    ORR_GROW(store->kept, store->capacity, store->count + 1, "level of detail on the device", error);
    const orr_result result = create(cuda, splats->detail, levels, error);
    if (result != ORR_OK) {
        free_levels(levels);
        return result;
    }
    store->kept[store->count++] = (orr_cuda_levels_kept){*levels, splats->key, splats->detail};
    return ORR_OK;
}

void orr_cuda_level_store_release(orr_cuda_level_store *store, uint64_t key)
{
    for (int i = store->count - 1; i >= 0; i--) {
        if (store->kept[i].key == key) {
            free_levels(&store->kept[i].levels);
            store->kept[i] = store->kept[--store->count];
        }
    }
}

void orr_cuda_level_store_destroy(orr_cuda_level_store *store)
{
    for (int i = 0; i < store->count; i++) {
        free_levels(&store->kept[i].levels);
    }
    orr_free(store->kept);
    *store = (orr_cuda_level_store){0};
}

// ---- the nodes of a picture ----

orr_result orr_cuda_nodes_begin(orr_cuda *cuda, orr_cuda_nodes *nodes, const orr_draw_list *list,
                                orr_error *error)
{
    size_t most = 0;
    for (int i = 0; i < list->splat_count; i++) {
        most += orr_draw_merges(list, &list->splats[i]) ? (size_t)list->splats[i].pack->count : 0;
    }
    nodes->count = 0;
    if (nodes->capacity < most) {
        cudaFreeHost(nodes->staged);
        nodes->staged = NULL;
        nodes->capacity = 0;
        ORR_CUDA_TRY(cudaMallocHost((void **)&nodes->staged, most * sizeof *nodes->staged));
        nodes->capacity = most;
    }
    return orr_cuda_reserve(cuda, &nodes->memory, most, sizeof *nodes->staged, error);
}

orr_result orr_cuda_nodes_add(orr_jobs *jobs, orr_arena *arena, orr_cuda_nodes *nodes,
                              const orr_draw_splats *splats, const splat_lens_values *lens, size_t *count,
                              orr_error *error)
{
    const orr_splat_detail *detail = splats->detail;
    const size_t capacity = (size_t)orr_splat_cut_capacity(detail);
    uint32_t first_block[ORR_DETAIL_LEVELS] = {0}, *out = nodes->staged + nodes->count;
    orr_splat_cut_job job = {.detail = detail, .lens = lens, .merged_size = splats->merged_size};
    job.runs = orr_arena_take(arena, capacity, sizeof *job.runs);
    if (!job.runs) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: level of detail");
    }
    orr_splat_kernels_of(orr_isa_best())->cut(&job);
    uint32_t *originals = orr_arena_take(arena, (size_t)job.node_count + 1, sizeof *originals);
    if (!originals) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: level of detail");
    }
    for (int i = 1; i < detail->level_count; i++) {
        first_block[i] = first_block[i - 1] + (uint32_t)detail->levels[i - 1].blocks;
    }
    size_t found = 0;
    for (int64_t i = 0; i < job.run_count; i++) {
        const orr_splat_run run = job.runs[i];
        for (uint32_t set = run.nodes; set; set &= set - 1, found++) {
            const uint32_t lane = (uint32_t)__builtin_ctz(set), node = run.block * ORR_PACK_BLOCK + lane;
            originals[found] = detail->levels[run.level].original[node];
            out[found] = first_block[run.level] * ORR_PACK_BLOCK + node;
        }
    }
    *count = found;
    nodes->count += found;
    // equal depths keep the order of the file, as on the CPU
    return orr_radix_sort(jobs, arena, originals, out, (int64_t)found, error);
}

orr_result orr_cuda_nodes_send(orr_cuda *cuda, const orr_cuda_nodes *nodes, orr_error *error)
{
    if (nodes->count > 0) {
        ORR_CUDA_TRY(cudaMemcpyAsync(nodes->memory.memory, nodes->staged,
                                     nodes->count * sizeof *nodes->staged, cudaMemcpyHostToDevice,
                                     cuda->stream));
    }
    return ORR_OK;
}

void orr_cuda_nodes_close(orr_cuda_nodes *nodes)
{
    cudaFreeHost(nodes->staged);
    orr_cuda_release(&nodes->memory);
    *nodes = (orr_cuda_nodes){0};
}
