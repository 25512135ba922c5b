// The CPU's frame: meshes, then splats stage by stage, composed tile by tile.
#include "engine/core/memory.h"
#include "engine/maths/radix_sort.h"
#include "render/cpu/mesh_raster.h"
#include "render/cpu/splats_cpu.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define KERNELS(isa)                                                                                         \
    {                                                                                                        \
        orr_splat_project_##isa, orr_splat_blend_##isa                                                       \
    }
static const orr_splat_kernels kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);

const orr_splat_kernels *orr_splat_kernels_of(orr_isa isa)
{
    return &kernels[isa];
}

// The data of one frame between its stages, all in the arena.
struct orr_cpu_frame {
    orr_jobs *jobs;
    orr_arena *arena;
    orr_isa isa;
    const orr_splat_kernels *kernels;
    const orr_draw_list *list;

    splat_lens_values *lenses; // one per layer
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

    orr_splat_bins bins;
    const orr_picture *picture;
    int32_t *items;                        // nullable
    const float *mesh_depth, *mesh_colour; // NULL: no meshes
    orr_fragment_lists fragments;          // of transparent meshes
    orr_edge_list edges;                   // of opaque ones
    orr_shadow_maps shadows;
    orr_draw_lighting lighting;              // where an environment is behind everything
    const float *field_depth, *field_colour; // NULL: no fields
    atomic_llong evaluated;
};

static orr_result out_of_memory(orr_error *error, const char *what, int64_t count)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s for %lld splats", what,
                    (long long)count);
}

static orr_result plan_projection(orr_cpu_frame *f, orr_error *error)
{
    int64_t parts = 0, records = 0;
    for (int i = 0; i < f->list->splat_count; i++) {
        parts += orr_blocks(f->list->splats[i].pack->blocks, ORR_PROJECT_BLOCKS);
        records += f->list->splats[i].pack->blocks * ORR_PACK_BLOCK;
    }
    if (records > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%lld splats in one frame: expected at most 2^32 - 1",
                        (long long)records);
    }
    f->part_count = (int)parts;
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
    int part = 0;
    int64_t next = 0; // splat, of all layers
    for (int i = 0; i < f->list->splat_count; i++) {
        const orr_splat_pack *pack = f->list->splats[i].pack;
        uint32_t first = (uint32_t)next;
        ORR_TRY(orr_splat_lens_make(&f->list->lens, &f->list->splats[i], &f->lenses[i], error));
        for (int64_t block = 0; block < pack->blocks; block += ORR_PROJECT_BLOCKS) {
            int64_t end =
                block + ORR_PROJECT_BLOCKS < pack->blocks ? block + ORR_PROJECT_BLOCKS : pack->blocks;
            f->parts[part++] = (orr_project_job){.pack = pack,
                                                 .deformation = &f->list->splats[i].deformation,
                                                 .lens = &f->lenses[i],
                                                 .width = f->list->lens.width,
                                                 .height = f->list->lens.height,
                                                 .first_block = block,
                                                 .end_block = end,
                                                 .first_file_index = first,
                                                 .layer = (uint32_t)i,
                                                 .records = f->records + next,
                                                 .boxes = f->boxes + next,
                                                 .keys = f->part_keys + next};
            next += (end - block) * ORR_PACK_BLOCK;
        }
    }
    return ORR_OK;
}

static void project_part(void *context, int i, int worker)
{
    (void)worker;
    orr_cpu_frame *f = context;
    f->part_counts[i] = f->kernels->project(&f->parts[i]);
}

// the parts' keys one after the other, and where their records are
static void make_keys(void *context, int i, int worker)
{
    (void)worker;
    const orr_cpu_frame *f = context;
    int64_t to = f->part_counts[i];
    int64_t end = i + 1 < f->part_count ? f->part_counts[i + 1] : f->visible;
    uint32_t record = (uint32_t)(f->parts[i].records - f->records);
    memcpy(f->keys + to, f->parts[i].keys, (size_t)(end - to) * sizeof *f->keys);
    for (; to < end; to++, record++) {
        f->order[to] = record;
    }
}

static orr_result project(orr_cpu_frame *f, orr_error *error)
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
static orr_result order_ties(orr_cpu_frame *f, orr_error *error)
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

static orr_result sort(orr_cpu_frame *f, orr_error *error)
{
    f->keys = orr_arena_take(f->arena, (size_t)f->visible, sizeof *f->keys);
    f->order = orr_arena_take(f->arena, (size_t)f->visible, sizeof *f->order);
    if (!f->keys || !f->order) {
        return out_of_memory(error, "sorting", f->visible);
    }
    orr_jobs_for(f->jobs, f->part_count, make_keys, f);
    ORR_TRY(orr_radix_sort(f->jobs, f->arena, f->keys, f->order, f->visible, error));
    return order_ties(f, error);
}

static void blend_tile(void *context, int i, int worker)
{
    (void)worker;
    orr_cpu_frame *f = context;
    uint32_t start = f->bins.starts[i];
    const orr_blend_job job = {
        .records = f->records,
        .tile_splats = f->bins.tile_splats + start,
        .splat_count = f->bins.starts[i + 1] - start,
        .tile_x = i % f->bins.tiles_x,
        .tile_y = i / f->bins.tiles_x,
        .width = f->list->lens.width,
        .height = f->list->lens.height,
        .mesh_depth = f->mesh_depth,
        .mesh_colour = f->mesh_colour,
        .fragments = f->fragments,
        .edges = f->edges,
        .backdrop = f->list->backdrop.mesh != NULL,
        .field_depth = f->field_depth,
        .field_colour = f->field_colour,
        .shadows = &f->shadows,
        .eye = orr_shadow_eye_of(&f->list->lens, f->list->umbra),
        .opaque = f->list->opaque,
        .sky = orr_sky_as_seen(&f->list->sky, &f->list->lens),
        .behind = f->list->environment_behind ? &f->list->environments[0] : NULL,
        .lighting = &f->lighting,
        .rgba = f->picture->rgba,
        .depth = f->picture->depth,
        .items = f->items,
    };
    atomic_fetch_add_explicit(&f->evaluated, f->kernels->blend(&job), memory_order_relaxed);
}

static orr_result draw_meshes(orr_cpu_frame *f, int32_t *items, int64_t *triangles, orr_error *error)
{
    *triangles = 0;
    for (int i = 0; items && i < f->list->lens.width * f->list->lens.height; i++) {
        items[i] = -1;
    }
    if (f->list->mesh_count == 0 && !f->list->backdrop.mesh) {
        return ORR_OK;
    }
    size_t pixels = (size_t)f->list->lens.width * (size_t)f->list->lens.height;
    orr_mesh_picture planes = {.depth = orr_arena_take(f->arena, pixels, sizeof(float)),
                               .rgb = orr_arena_take(f->arena, pixels, 3 * sizeof(float)),
                               .item = items,
                               .edges = f->list->smooth ? &f->edges : NULL};
    if (!planes.depth || !planes.rgb) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes on %zu pixels", pixels);
    }
    orr_mesh_counts counts;
    ORR_TRY(orr_shadow_maps_draw(f->jobs, f->isa, f->arena, f->list, &f->shadows, error));
    ORR_TRY(orr_mesh_raster(f->jobs, f->isa, f->arena, f->list, &f->shadows, planes, &f->fragments, &counts,
                            error));
    f->mesh_depth = planes.depth;
    f->mesh_colour = planes.rgb;
    *triangles = counts.triangles;
    return ORR_OK;
}

static orr_result bin(orr_cpu_frame *f, orr_error *error)
{
    const orr_bin_input input = {f->records,          f->boxes, f->order, f->visible, f->list->lens.width,
                                 f->list->lens.height};
    return orr_splats_bin(f->jobs, f->arena, &input, &f->bins, error);
}

static void blend(orr_cpu_frame *f)
{
    orr_jobs_for(f->jobs, f->bins.tiles_x * f->bins.tiles_y, blend_tile, f);
}

orr_result orr_draw_cpu_begin(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                              int32_t *items, orr_profile *profile, orr_cpu_frame **frame, orr_error *error)
{
    profile->stage_start = orr_clock_nanoseconds();
    orr_cpu_frame *f = orr_arena_take(arena, 1, sizeof *f);
    if (!f) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a frame");
    }
    memset(f, 0, sizeof *f);
    f->jobs = jobs;
    f->arena = arena;
    f->isa = isa;
    f->kernels = orr_splat_kernels_of(isa);
    f->list = list;
    f->items = items;
    int64_t triangles;
    ORR_TRY(draw_meshes(f, items, &triangles, error));
    orr_profile_end(profile, "meshes", triangles);
    *frame = f;
    return ORR_OK;
}

const float *orr_draw_cpu_mesh_depth(const orr_cpu_frame *f)
{
    return f->mesh_depth;
}

orr_cpu_splats orr_draw_cpu_splats(const orr_cpu_frame *f)
{
    return (orr_cpu_splats){
        f->records, f->boxes, f->order, f->visible, &f->bins, f->lenses, atomic_load(&f->evaluated)};
}

orr_result orr_draw_cpu_end(orr_cpu_frame *f, const orr_field_pass *fields, const orr_picture *picture,
                            orr_profile *profile, orr_error *error)
{
    f->picture = picture;
    if (f->list->field_count > 0) {
        f->field_depth = fields->depth;
        f->field_colour = fields->colour;
    }
    profile->stage_start = orr_clock_nanoseconds();
    ORR_TRY(project(f, error));
    orr_profile_end(profile, "project", f->record_capacity);
    ORR_TRY(sort(f, error));
    orr_profile_end(profile, "sort", f->visible);
    ORR_TRY(bin(f, error));
    orr_profile_end(profile, "bin", f->bins.pairs);
    if (f->list->environment_behind) {
        orr_draw_light_up(f->list, &f->lighting);
    }
    blend(f);
    orr_profile_end(profile, "blend", atomic_load(&f->evaluated));
    return ORR_OK;
}

orr_result orr_draw_cpu(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                        const orr_picture *picture, int32_t *items, orr_profile *profile, orr_error *error)
{
    orr_cpu_frame *frame;
    orr_field_pass fields;
    bool done;
    orr_profile_reset(profile);
    ORR_TRY(orr_draw_cpu_begin(jobs, isa, arena, list, items, profile, &frame, error));
    ORR_TRY(orr_field_pass_begin(&fields, jobs, arena, list, frame->mesh_depth, error));
    ORR_TRY(orr_field_pass_advance(&fields, INFINITY, &done, error));
    orr_profile_add(profile, "fields", fields.milliseconds,
                    list->field_count * (int64_t)list->lens.width * list->lens.height);
    return orr_draw_cpu_end(frame, &fields, picture, profile, error);
}
