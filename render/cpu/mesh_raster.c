#include "render/appearance/neural_material.h"
#include "render/cpu/mesh_raster_stages.h"
#include "render/cpu/rays/frost_filter.h"
#include "render/glass/glass_sky.h"

#include <math.h>
#include <string.h>

enum { VERTEX_BLOCK = 4096 };

#define LANES(isa) &orr_mesh_lanes_##isa
static const mesh_lanes *const lanes_of[ORR_ISA_COUNT] = ORR_ISA_TABLE(LANES);
#define EDGE_LANES(isa) &orr_mesh_edge_lanes_##isa
static const mesh_edge_lanes *const edge_lanes_of[ORR_ISA_COUNT] = ORR_ISA_TABLE(EDGE_LANES);

#define TRY_TAKE(pointer, count)                                                                             \
    ORR_TRY(((pointer) = orr_arena_take(arena, (size_t)(count), sizeof *(pointer))) != NULL                  \
                ? ORR_OK                                                                                     \
                : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu x %zu bytes to draw meshes",   \
                           (size_t)(count), sizeof *(pointer)))

static void set_surface(mesh_surface *surface, const mesh_instance *instance, const orr_mesh_part *part)
{
    const orr_mesh *mesh = instance->mesh;
    const orr_mesh_material *material = &mesh->materials[part->material];
    *surface = (mesh_surface){.instance = instance, .material = material};
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        mesh_texture *texture = &surface->textures[use];
        int index = orr_material_texture(material, (orr_texture_use)use);
        if (index >= 0) {
            texture->image = &mesh->textures[index];
            texture->coordinates = orr_mesh_coordinates_of(mesh, material, (orr_texture_use)use);
            texture->sampler = material->samplers[use];
            texture->level_count = orr_mesh_texture_levels(mesh, texture->image, texture->level_first);
            texture->level_count = texture->sampler.no_mips ? 1 : texture->level_count;
        }
    }
    for (int i = 0; i < 2 && material->neural; i++) {
        mesh_texture *latents = &surface->latents[i];
        latents->image = &material->neural->latents[i];
        latents->coordinates = orr_mesh_coordinates_of(mesh, material, ORR_TEXTURE_BASE);
        latents->level_count = orr_mip_chain(latents->image, latents->level_first);
    }
}

static uint32_t chunk_size(const orr_mesh_part *part)
{
    uint32_t size = part->index_count / 3 / MESH_CHUNKS + 1;
    return size > MESH_CHUNK ? size : MESH_CHUNK;
}

// New lamps on what rays show of fields, in the shadows of what is drawn.
static orr_result set_field_light(mesh_raster *raster, orr_arena *arena, const orr_draw_list *list,
                                  orr_error *error)
{
    orr_field_lamps *lamps;
    TRY_TAKE(lamps, 1);
    raster->rays.lit = (orr_field_light_job){.lamps = orr_field_lamps_find(list, lamps) ? lamps : NULL,
                                             .captured = list->self_shadow ? list->self_shadow->depths : NULL,
                                             .maps = {raster->shadows, raster->picture.clouds}};
    return ORR_OK;
}

// Rays that walk what the list holds, where a surface asks for them and pictures are in colour.
static orr_result set_rays(mesh_raster *raster, orr_jobs *jobs, orr_isa isa, orr_arena *arena,
                           const orr_draw_list *list, orr_error *error)
{
    if (!list->rays || !raster->picture.rgb || !orr_ray_list_asks(list)) {
        return ORR_OK;
    }
    ORR_TRY(orr_ray_trees_hold(list->rays, isa, list, error));
    ORR_TRY(orr_affine_invert(list->lens.view, raster->rays.to_world, error));
    if (list->field_count > 0) {
        ORR_TRY(orr_field_rays_create(jobs, arena, list, &raster->rays.fields, error));
        ORR_TRY(set_field_light(raster, arena, list, error));
    }
    raster->rays.trees = list->rays;
    raster->rays.glass = orr_ray_list_transmits(list);
    raster->rays.frost = orr_ray_list_has_frost(list);
    raster->rays.shows_sky = orr_glass_shows_sky(list);
    raster->rays.sky = orr_sky_as_seen(&list->sky, &list->lens);
    raster->rays.first_surface = list->backdrop.mesh ? list->backdrop.mesh->part_count : 0;
    // those of probes have no panorama
    raster->rays.far = list->environment_count > 0 && list->environments[0].map->panorama.width > 0 ? 0 : -1;
    return ORR_OK;
}

// The backdrop comes first, so that everything covers it.
static const orr_draw_mesh *item_of(const orr_draw_list *list, int i)
{
    return !list->backdrop.mesh ? &list->meshes[i] : i == 0 ? &list->backdrop : &list->meshes[i - 1];
}

static void set_before(mesh_instance *instance, const orr_before *before, ptrdiff_t item)
{
    const orr_item_before *was = &before->meshes[item];
    if (was->known) {
        instance->vertices_before = was->vertices ? was->vertices : instance->mesh->vertices;
        orr_affine_multiply(before->lens.view, was->model, instance->to_camera_before);
    }
}

// Are all vertices beyond the same side of the picture, or nearer than its near plane, as mesh_see finds
// them? Decided by the corners of the mesh's box; what rounding leaves open is not outside.
static bool is_outside(const orr_lens *lens, const mesh_instance *instance)
{
    const orr_mesh *mesh = instance->mesh;
    const float rounding = 1e-5f; // of the largest number that a coordinate is summed up from
    float slack[3];
    for (int r = 0; r < 3; r++) {
        const float *row = instance->to_camera + 4 * r;
        slack[r] = fabsf(row[3]);
        for (int k = 0; k < 3; k++) {
            slack[r] += fabsf(row[k]) * fmaxf(fabsf(mesh->low[k]), fabsf(mesh->high[k]));
        }
        slack[r] *= rounding;
    }
    bool out[5] = {true, true, true, true, true}; // near, left, right, top, bottom
    for (int corner = 0; corner < 8; corner++) {
        float q[3];
        orr_box_corner(mesh->low, mesh->high, instance->to_camera, corner, q);
        out[0] &= q[2] < lens->near_plane - slack[2] - rounding * lens->near_plane;
        const float w = lens->orthographic ? 1.0f : q[2], w_slack = lens->orthographic ? 0.0f : slack[2];
        for (int axis = 0; axis < 2; axis++) {
            const float size = (float)(axis == 0 ? lens->width : lens->height), focal = lens->focal[axis],
                        centre = lens->centre[axis], at = focal * q[axis] + centre * w,
                        doubt = fabsf(focal) * slack[axis] +
                                (fabsf(centre) + size) * (w_slack + rounding * fabsf(w));
            out[1 + 2 * axis] &= at < -doubt;
            out[2 + 2 * axis] &= at > size * w + doubt;
        }
    }
    return out[0] || out[1] || out[2] || out[3] || out[4];
}

// What keeps light off does so with its back, too. The sun is outside of closed surfaces, and does not see
// their backs.
static bool casts_with_backs(const orr_draw_list *list, const orr_draw_mesh *item,
                             const orr_mesh_material *material)
{
    return material->two_sided || !(item->closed && list->lens.orthographic);
}

// Lays out the list's meshes: instances with memory for their vertices, surfaces, chunks.
static orr_result lay_out(mesh_raster *raster, orr_arena *arena, const orr_draw_list *list,
                          int64_t *triangles, orr_error *error)
{
    int64_t surface_count = 0, chunk_count = 0;
    const int has_backdrop = list->backdrop.mesh ? 1 : 0;
    *triangles = 0;
    for (int i = 0; i < raster->instance_count; i++) {
        const orr_mesh *mesh = item_of(list, i)->mesh;
        surface_count += mesh->part_count;
        for (int j = 0; j < mesh->part_count; j++) {
            chunk_count += orr_blocks(mesh->parts[j].index_count / 3, chunk_size(&mesh->parts[j]));
            *triangles += mesh->parts[j].index_count / 3;
        }
    }
    if (*triangles > INT32_MAX || chunk_count > INT32_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "meshes: %lld triangles: expected at most %d",
                        (long long)*triangles, INT32_MAX);
    }
    uint32_t *kept;
    TRY_TAKE(raster->instances, raster->instance_count);
    TRY_TAKE(raster->surfaces, surface_count);
    raster->surface_count = (int)surface_count;
    TRY_TAKE(raster->chunks, chunk_count);
    TRY_TAKE(kept, *triangles);
    mesh_surface *surface = raster->surfaces;
    for (int i = 0; i < raster->instance_count; i++) {
        const orr_draw_mesh *item = item_of(list, i);
        const orr_mesh *mesh = item->mesh;
        mesh_instance *instance = &raster->instances[i];
        instance->mesh = mesh;
        instance->backdrop = item == &list->backdrop;
        instance->ends = item->endless && raster->lighting.haze.reach_over_height > 0.0f;
        instance->environment = item->environment;
        orr_affine_multiply(list->lens.view, item->model, instance->to_camera);
        instance->vertices_before = NULL;
        if (raster->picture.before && !instance->backdrop) {
            set_before(instance, raster->picture.before, item - list->meshes);
        }
        instance->points = NULL;
        const bool is_kept = raster->picture.kept && i < raster->picture.kept->count + has_backdrop;
        // rays meet all of them
        const bool drawn = !is_kept && (raster->rays.trees || !is_outside(&list->lens, instance));
        instance->round = NULL;
        for (int j = 0; j < mesh->part_count; j++, surface++) {
            const orr_mesh_part *part = &mesh->parts[j];
            set_surface(surface, instance, part);
            surface->traced = raster->rays.trees && orr_ray_material_asks(surface->material);
            surface->blended =
                !list->only_casters && orr_glass_is_blended(surface->material, list->rays != NULL);
            surface->film = surface->blended && orr_glass_is_film(surface->material, list->rays != NULL);
            surface->two_sided = list->only_casters
                                     ? casts_with_backs(list, item, surface->material)
                                     : orr_glass_two_sided(surface->material, list->rays != NULL);
            surface->look = orr_glass_look_of(surface->material);
            surface->backdrop = instance->backdrop;
            surface->holes = surface->material->alpha_cutoff > 0.0f || instance->ends;
            if (!instance->backdrop) {
                surface->mirror =
                    orr_mirror_pictures_of(raster->picture.mirrors, (int)(item - list->meshes), j);
            }
            if (!drawn || orr_draw_leaves_out(list, item, j)) {
                continue;
            }
            raster->blended |= surface->blended;
            surface->round = orr_mesh_is_round(raster, item, surface, instance);
            uint32_t count = surface->round ? 1 : part->index_count / 3, size = chunk_size(part);
            for (uint32_t first = 0; first < count; first += size) {
                mesh_chunk *chunk = &raster->chunks[raster->chunk_count++];
                *chunk = (mesh_chunk){.surface = (int)(surface - raster->surfaces),
                                      .first = part->first_index / 3 + first,
                                      .count = count - first < size ? count - first : size,
                                      .kept = kept,
                                      .kept_count = surface->round ? 1 : 0};
                kept += chunk->count;
            }
        }
        if (drawn && !instance->round) {
            TRY_TAKE(instance->points, mesh->vertex_count);
        }
    }
    return ORR_OK;
}

// ---- the stages as jobs ----

// Vertices of an instance from number `first` on: the work of one job.
typedef struct vertex_block {
    const mesh_instance *instance;
    int64_t first;
} vertex_block;

typedef struct stage {
    const mesh_raster *raster;
    const mesh_lanes *lanes;
    const mesh_edge_lanes *edge_lanes;
    const vertex_block *blocks;
    const mesh_bins *bins;
} stage;

static void vertices_job(void *context, int i, int worker)
{
    (void)worker;
    const stage *s = context;
    const vertex_block b = s->blocks[i];
    const int64_t left = b.instance->mesh->vertex_count - b.first;
    s->lanes->vertices(s->raster, b.instance, b.first, left < VERTEX_BLOCK ? left : VERTEX_BLOCK);
}

static const orr_round *round_of(const mesh_raster *raster, int chunk)
{
    return raster->surfaces[raster->chunks[chunk].surface].instance->round;
}

static void cull_job(void *context, int i, int worker)
{
    (void)worker;
    const stage *s = context;
    if (!round_of(s->raster, i)) {
        s->lanes->cull(s->raster, &s->raster->chunks[i]);
    }
}

static void set_up_job(void *context, int i, int worker)
{
    (void)worker;
    const stage *s = context;
    (round_of(s->raster, i) ? orr_mesh_set_up_round : orr_mesh_set_up)(s->raster, &s->raster->chunks[i]);
}

static void bin_count_job(void *context, int group, int worker)
{
    (void)worker;
    const stage *s = context;
    orr_mesh_bin_count(s->raster, s->bins, group);
}

static void bin_fill_job(void *context, int group, int worker)
{
    (void)worker;
    const stage *s = context;
    orr_mesh_bin_fill(s->raster, s->bins, group);
}

static void count_job(void *context, int tile, int worker)
{
    const stage *s = context;
    s->lanes->count(s->raster, tile, s->raster->scratch[worker]);
}

static void fill_job(void *context, int tile, int worker)
{
    const stage *s = context;
    s->lanes->fill(s->raster, tile, s->raster->scratch[worker]);
}

static void tile_job(void *context, int tile, int worker)
{
    const stage *s = context;
    s->lanes->tile(s->raster, tile, s->raster->scratch[worker], s->raster->lists[worker]);
}

static void mark_job(void *context, int tile, int worker)
{
    (void)worker;
    const stage *s = context;
    s->edge_lanes->mark(s->raster, tile);
}

static void sliver_job(void *context, int i, int worker)
{
    (void)worker;
    const stage *s = context;
    orr_mesh_set_up_slivers(s->raster, &s->raster->chunks[i]);
}

static void samples_job(void *context, int tile, int worker)
{
    const stage *s = context;
    s->edge_lanes->samples(s->raster, tile, s->raster->edges[worker], s->raster->lists[worker]);
}

// Vertices of all instances as jobs side by side: robots are many small meshes.
static orr_result see_vertices(orr_jobs *jobs, orr_arena *arena, stage *s, orr_error *error)
{
    const mesh_raster *raster = s->raster;
    vertex_block *blocks;
    int capacity = 0, count = 0;
    for (int i = 0; i < raster->instance_count; i++) {
        capacity += orr_blocks(raster->instances[i].mesh->vertex_count, VERTEX_BLOCK);
    }
    TRY_TAKE(blocks, capacity);
    for (int i = 0; i < raster->instance_count; i++) {
        const mesh_instance *instance = &raster->instances[i];
        for (int64_t v = 0; instance->points && v < instance->mesh->vertex_count; v += VERTEX_BLOCK) {
            blocks[count++] = (vertex_block){instance, v};
        }
    }
    s->blocks = blocks;
    orr_jobs_for(jobs, count, vertices_job, s);
    return ORR_OK;
}

// Allocates the records: one for each triangle that is not cut, and as many as a cut can leave for the
// others.
static orr_result take_records(mesh_raster *raster, orr_arena *arena, orr_error *error)
{
    uint64_t capacity = 0;
    for (int i = 0; i < raster->chunk_count; i++) {
        mesh_chunk *chunk = &raster->chunks[i];
        chunk->record_first = (uint32_t)capacity;
        capacity += chunk->kept_count + chunk->sliver_count + (uint64_t)chunk->cut_count * (MESH_PIECES - 1);
        if (capacity > MESH_RECORDS) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "meshes: over %d triangles in view: expected less",
                            MESH_RECORDS);
        }
    }
    TRY_TAKE(raster->records, capacity);
    return ORR_OK;
}

// Divides the chunks into groups of about equally many records.
static orr_result group_chunks(mesh_raster *raster, orr_arena *arena, int64_t *records, orr_error *error)
{
    *records = 0;
    for (int i = 0; i < raster->chunk_count; i++) {
        *records += raster->chunks[i].record_count;
    }
    TRY_TAKE(raster->group_chunks, MESH_GROUPS + 1);
    int64_t done = 0;
    int group = 0;
    for (int i = 0; i < raster->chunk_count; i++) {
        while (group * *records <= done * MESH_GROUPS && group < MESH_GROUPS) {
            raster->group_chunks[group++] = i;
        }
        done += raster->chunks[i].record_count;
    }
    while (group <= MESH_GROUPS) {
        raster->group_chunks[group++] = raster->chunk_count;
    }
    raster->group_chunks[0] = 0;
    return ORR_OK;
}

// Counts become the starts of the lists: tile after tile, each in the order of the groups.
static orr_result start_bins(const mesh_raster *raster, mesh_bins *bins, orr_arena *arena, orr_error *error)
{
    size_t tiles = (size_t)raster->columns * (size_t)raster->rows;
    TRY_TAKE(bins->starts, tiles + 1);
    uint64_t sum = 0;
    for (size_t tile = 0; tile < tiles; tile++) {
        bins->starts[tile] = (uint32_t)sum;
        for (size_t group = 0; group < MESH_GROUPS; group++) {
            uint32_t *bin = &bins->group_bins[group * tiles + tile], count = *bin;
            *bin = (uint32_t)sum;
            sum += count;
        }
    }
    if (sum > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %llu triangles in tiles",
                        (unsigned long long)sum);
    }
    bins->starts[tiles] = (uint32_t)sum;
    TRY_TAKE(bins->records, sum);
    return ORR_OK;
}

// The lists of a picture of one tile: all of the records.
static orr_result bin_one_tile(const mesh_raster *raster, mesh_bins *bins, orr_arena *arena, orr_error *error)
{
    uint32_t sum = 0;
    for (int c = 0; c < raster->chunk_count; c++) {
        sum += raster->chunks[c].record_count - raster->chunks[c].bin_first;
    }
    TRY_TAKE(bins->starts, 2);
    TRY_TAKE(bins->records, sum);
    bins->starts[0] = 0;
    bins->starts[1] = sum;
    uint32_t *next = bins->records;
    for (int c = 0; c < raster->chunk_count; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = chunk->bin_first; i < chunk->record_count; i++) {
            *next++ = chunk->record_first + i;
        }
    }
    return ORR_OK;
}

// Lists of the records from each chunk's bin_first on.
static orr_result bin(orr_jobs *jobs, orr_arena *arena, stage *s, mesh_bins *bins, orr_error *error)
{
    s->bins = bins;
    if (s->raster->columns * s->raster->rows == 1) {
        return bin_one_tile(s->raster, bins, arena, error);
    }
    TRY_TAKE(bins->group_bins, (size_t)MESH_GROUPS * (size_t)s->raster->columns * (size_t)s->raster->rows);
    orr_jobs_for(jobs, MESH_GROUPS, bin_count_job, s);
    ORR_TRY(start_bins(s->raster, bins, arena, error));
    orr_jobs_for(jobs, MESH_GROUPS, bin_fill_job, s);
    return ORR_OK;
}

// Memory of the workers for the tiles.
static orr_result take_scratch(orr_jobs *jobs, orr_arena *arena, mesh_raster *raster, orr_error *error)
{
    const int workers = orr_jobs_workers(jobs);
    TRY_TAKE(raster->scratch, workers);
    TRY_TAKE(raster->lists, workers);
    for (int i = 0; i < workers; i++) {
        TRY_TAKE(raster->scratch[i], 1);
        raster->lists[i] = NULL;
        if (raster->picture.rgb) {
            TRY_TAKE(raster->lists[i], 1);
            raster->lists[i]->count = raster->lists[i]->surface_count = 0;
            TRY_TAKE(raster->lists[i]->last, raster->surface_count);
            for (int s = 0; s < raster->surface_count; s++) {
                raster->lists[i]->last[s] = -1;
            }
        }
    }
    return ORR_OK;
}

// A number for each pixel, with what vectors read before the first and after the last.
static orr_result take_pixels(orr_arena *arena, size_t pixels, int32_t **numbers, orr_error *error)
{
    TRY_TAKE(*numbers, pixels + 2 * MESH_TILE);
    *numbers += MESH_TILE;
    for (int i = 1; i <= MESH_TILE; i++) {
        (*numbers)[-i] = (*numbers)[pixels + (size_t)i - 1] = -1;
    }
    return ORR_OK;
}

// Memory for marking edges, before anything is culled.
static orr_result take_edges(orr_jobs *jobs, orr_arena *arena, mesh_raster *raster, orr_error *error)
{
    const size_t pixels = (size_t)raster->lens.width * (size_t)raster->lens.height,
                 words = (size_t)raster->columns * (size_t)raster->lens.height;
    *raster->picture.edges = (orr_edge_list){.words = raster->columns};
    ORR_TRY(take_pixels(arena, pixels, &raster->nearest, error));
    if (raster->rays.trees) {
        ORR_TRY(take_pixels(arena, pixels, &raster->met, error));
        TRY_TAKE(raster->ray_bits, words);
    }
    TRY_TAKE(raster->edge_bits, words);
    TRY_TAKE(raster->edge_firsts, words);
    TRY_TAKE(raster->edges, orr_jobs_workers(jobs));
    for (int i = 0; i < orr_jobs_workers(jobs); i++) {
        TRY_TAKE(raster->edges[i], 1);
    }
    return ORR_OK;
}

// Once each pixel's centre is drawn.
static orr_result draw_edges(orr_jobs *jobs, orr_arena *arena, mesh_raster *raster, stage *s,
                             orr_error *error)
{
    const int tiles = raster->columns * raster->rows;
    orr_jobs_for(jobs, tiles, mark_job, s);
    const uint32_t count = orr_mesh_number_edges(raster);
    if (count == 0) {
        return ORR_OK;
    }
    TRY_TAKE(raster->edge_pixels, count);
    orr_jobs_for(jobs, raster->chunk_count, sliver_job, s);
    ORR_TRY(bin(jobs, arena, s, &raster->sliver_bins, error));
    orr_jobs_for(jobs, tiles, samples_job, s);
    raster->picture.edges->bits = raster->edge_bits;
    raster->picture.edges->firsts = raster->edge_firsts;
    raster->picture.edges->pixels = raster->edge_pixels;
    return ORR_OK;
}

// Transparent surfaces, once the depth of the opaque ones is known.
static orr_result draw_fragments(orr_jobs *jobs, orr_arena *arena, mesh_raster *raster, stage *s,
                                 orr_fragment_lists *fragments, orr_error *error)
{
    int tiles = raster->columns * raster->rows;
    TRY_TAKE(raster->fragment_starts, (size_t)raster->lens.width * (size_t)raster->lens.height + 1);
    orr_jobs_for(jobs, tiles, count_job, s);
    ORR_TRY(orr_mesh_allocate_fragments(raster, arena, error));
    orr_jobs_for(jobs, tiles, fill_job, s);
    *fragments = (orr_fragment_lists){raster->fragment_starts, raster->fragments};
    return ORR_OK;
}

orr_result orr_mesh_raster(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                           const orr_shadow_maps *shadows, orr_mesh_picture picture,
                           orr_fragment_lists *fragments, orr_mesh_counts *counts, orr_error *error)
{
    mesh_raster raster = {.lens = list->lens,
                          .shadows = shadows,
                          .environments = list->environments,
                          .instance_count = list->mesh_count + (list->backdrop.mesh ? 1 : 0),
                          .picture = picture,
                          .only_traced = list->only_traced,
                          .columns = orr_blocks(list->lens.width, MESH_TILE),
                          .rows = orr_blocks(list->lens.height, MESH_TILE)};
    stage s = {.raster = &raster, .lanes = lanes_of[isa], .edge_lanes = edge_lanes_of[isa]};
    orr_mesh_counts found;
    *fragments = (orr_fragment_lists){0};
    orr_draw_light_up(list, &raster.lighting);
    ORR_TRY(set_rays(&raster, jobs, isa, arena, list, error));
    ORR_TRY(lay_out(&raster, arena, list, &found.triangles, error));
    if (picture.edges) {
        ORR_TRY(take_edges(jobs, arena, &raster, error));
    }
    ORR_TRY(see_vertices(jobs, arena, &s, error));
    orr_jobs_for(jobs, raster.chunk_count, cull_job, &s);
    ORR_TRY(take_records(&raster, arena, error));
    orr_jobs_for(jobs, raster.chunk_count, set_up_job, &s);
    ORR_TRY(group_chunks(&raster, arena, &found.drawn, error));
    ORR_TRY(bin(jobs, arena, &s, &raster.bins, error));

    TRY_TAKE(raster.linear, 256);
    s.lanes->linear_table(raster.linear);
    ORR_TRY(take_scratch(jobs, arena, &raster, error));
    orr_jobs_for(jobs, raster.columns * raster.rows, tile_job, &s);
    if (raster.met && raster.rays.frost) {
        ORR_TRY(orr_frost_filter(jobs, arena, list->lens.width, list->lens.height, raster.met, picture.rgb,
                                 &raster.frosted, error));
    }
    if (picture.edges) {
        ORR_TRY(draw_edges(jobs, arena, &raster, &s, error));
    }
    if (raster.blended) {
        ORR_TRY(draw_fragments(jobs, arena, &raster, &s, fragments, error));
    }
    if (counts) {
        *counts = found;
    }
    return ORR_OK;
}
