#include "render/cuda/meshes/meshes.h"

#include "render/cpu/rays/ray_trees.h"

#include <string.h>

enum {
    TRIANGLES = INT32_MAX / 16, // at most: what they are cut into can still be summed up
    RECORDS = 1024,             // capacity at first, besides half the triangles: the others face away
    WARPS = 32                  // per multiprocessor, for the tiles of large records
};

// ---- tables: what kernels read of the list ----

// Offset of each table in the frame's memory [bytes].
typedef struct layout {
    size_t controls; // of the picture, then of the shadow maps
    size_t lighting, shadows, instances, surfaces, point_firsts, triangle_firsts;
    size_t staged;    // the host fills in the tables before this offset
    size_t to_camera; // filled in by the device
    size_t to_lights; // likewise, for each map
    size_t bytes;
} layout;

static size_t take(size_t *end, size_t count, size_t size)
{
    size_t at = *end;
    *end += (count * size + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
    return at;
}

static layout lay_out(size_t instances, size_t surfaces)
{
    layout l = {0};
    l.controls = take(&l.bytes, 1 + ORR_SHADOW_MAPS, sizeof(orr_cuda_mesh_control));
    l.lighting = take(&l.bytes, 1, sizeof(orr_draw_lighting));
    l.shadows = take(&l.bytes, 1, sizeof(orr_shadow_plan));
    l.instances = take(&l.bytes, instances, sizeof(orr_cuda_mesh_instance));
    l.surfaces = take(&l.bytes, surfaces, sizeof(orr_cuda_mesh_surface));
    l.point_firsts = take(&l.bytes, instances, sizeof(uint32_t));
    l.triangle_firsts = take(&l.bytes, surfaces, sizeof(uint32_t));
    l.staged = l.bytes;
    l.to_camera = take(&l.bytes, instances, 12 * sizeof(float));
    l.to_lights = take(&l.bytes, instances, ORR_SHADOW_MAPS * 12 * sizeof(float));
    return l;
}

// The backdrop comes first, so that everything covers it.
static const orr_draw_mesh *item_of(const orr_draw_list *list, int i)
{
    return !list->backdrop.mesh ? &list->meshes[i] : i == 0 ? &list->backdrop : &list->meshes[i - 1];
}

static int item_count(const orr_draw_list *list)
{
    return list->mesh_count + (list->backdrop.mesh ? 1 : 0);
}

static bool is_left_out(const orr_draw_list *list, const orr_draw_mesh *item, int part)
{
    return item->mesh->parts[part].index_count == 0 || orr_draw_leaves_out(list, item, part);
}

static orr_result reserve_tables(orr_cuda *cuda, orr_cuda_mesh_frame *frame, const layout *l,
                                 orr_error *error)
{
    if (frame->staged_bytes < l->staged) {
        cudaFreeHost(frame->staged);
        frame->staged = NULL;
        frame->staged_bytes = 0;
        ORR_CUDA_TRY(cudaMallocHost(&frame->staged, l->staged + l->staged / 4));
        frame->staged_bytes = l->staged + l->staged / 4;
    }
    frame->counted = frame->staged;
    return orr_cuda_reserve(cuda, &frame->tables, l->bytes, 1, error);
}

// As orr_mesh_coordinates_of, on the device.
static orr_mesh_coordinates coordinates_of(const orr_cuda_mesh *mesh, bool second)
{
    return second && mesh->second_uv
               ? (orr_mesh_coordinates){mesh->second_uv, 2}
               : (orr_mesh_coordinates){mesh->vertices->uv, sizeof(orr_mesh_vertex) / sizeof(float)};
}

// rays: the host follows those of smooth surfaces
static orr_cuda_mesh_surface surface_of(const orr_draw_mesh *item, const orr_cuda_mesh *mesh, int instance,
                                        const orr_mesh_part *part, bool rays)
{
    orr_cuda_mesh_surface surface = {.instance = instance,
                                     .indices = mesh->indices + part->first_index,
                                     .material = item->mesh->materials[part->material]};
    surface.blended = orr_glass_is_blended(&surface.material, rays);
    surface.two_sided = orr_glass_two_sided(&surface.material, rays);
    surface.film = orr_glass_is_film(&surface.material, rays);
    surface.traced = rays && orr_ray_material_asks(&surface.material);
    surface.casts = orr_glass_casts(&surface.material);
    surface.look = orr_glass_look_of(&surface.material);
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        orr_cuda_mesh_texture *texture = &surface.textures[use];
        int index = orr_material_texture(&surface.material, (orr_texture_use)use);
        if (index >= 0) {
            const orr_image8 *image = &item->mesh->textures[index];
            texture->texels = mesh->textures[index];
            texture->coordinates = coordinates_of(mesh, surface.material.second[use]);
            texture->sampler = surface.material.samplers[use];
            texture->width = image->width;
            texture->height = image->height;
            texture->level_count = orr_mesh_texture_levels(item->mesh, image, texture->level_first);
            texture->level_count = texture->sampler.no_mips ? 1 : texture->level_count;
        }
    }
    const orr_neural_material *neural = surface.material.neural;
    if (neural) {
        surface.neural = mesh->networks[part->material].weights;
    }
    for (int i = 0; i < 2 && neural; i++) {
        orr_cuda_mesh_texture *latents = &surface.latents[i];
        latents->coordinates = coordinates_of(mesh, false);
        latents->texels = mesh->networks[part->material].latents[i];
        latents->width = neural->latents[i].width;
        latents->height = neural->latents[i].height;
        latents->level_count = orr_mip_chain(&neural->latents[i], latents->level_first);
    }
    return surface;
}

// Fills in the tables of an instance and its surfaces; uploads its mesh when it is new.
static orr_result add_instance(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_mesh_frame *frame,
                               const layout *l, const orr_draw_list *list, const orr_mirror_pictures *mirrors,
                               int i, orr_error *error)
{
    char *staged = frame->staged;
    orr_cuda_mesh_scene *scene = &frame->scene;
    const orr_draw_mesh *item = item_of(list, i);
    const orr_cuda_mesh *mesh;
    ORR_TRY(orr_cuda_mesh_store_take(cuda, &meshes->store, item, &mesh, error));
    orr_cuda_mesh_instance *instance = (orr_cuda_mesh_instance *)(staged + l->instances) + i;
    *instance = (orr_cuda_mesh_instance){.body = item->body,
                                         .backdrop = item == &list->backdrop,
                                         .environment = item->environment,
                                         .endless = item->endless,
                                         .vertices = mesh->vertices};
    if (item->bodies) {
        instance->bodies = *item->bodies;
    }
    memcpy(instance->model, item->model, sizeof instance->model);
    memcpy(instance->at, item->at, sizeof instance->at);
    ((uint32_t *)(staged + l->point_firsts))[i] = scene->point_count;
    scene->point_count += (uint32_t)item->mesh->vertex_count;
    for (int j = 0; j < item->mesh->part_count; j++) {
        const orr_mesh_part *part = &item->mesh->parts[j];
        if (is_left_out(list, item, j)) {
            continue;
        }
        orr_cuda_mesh_surface *surface =
            (orr_cuda_mesh_surface *)(staged + l->surfaces) + scene->surface_count;
        *surface = surface_of(item, mesh, i, part, list->rays != NULL);
        const orr_mirror_picture *mirror = orr_mirror_pictures_of(mirrors, (int)(item - list->meshes), j);
        surface->mirror = mirror ? mirror->rgba : NULL;
        ((uint32_t *)(staged + l->triangle_firsts))[scene->surface_count++] = scene->triangle_count;
        scene->triangle_count += part->index_count / 3;
        frame->transparent |= surface->blended != 0;
    }
    return ORR_OK;
}

// How many surfaces there are; fails where vertices or triangles are more than can be numbered.
static orr_result measure(const orr_draw_list *list, size_t *surfaces, orr_error *error)
{
    int64_t points = 0, triangles = 0;
    *surfaces = 0;
    for (int i = 0; i < item_count(list); i++) {
        const orr_draw_mesh *item = item_of(list, i);
        const orr_mesh *mesh = item->mesh;
        points += mesh->vertex_count;
        for (int j = 0; j < mesh->part_count; j++) {
            bool drawn = !is_left_out(list, item, j);
            *surfaces += drawn;
            triangles += drawn ? mesh->parts[j].index_count / 3 : 0;
        }
    }
    if (triangles > TRIANGLES || points > ORR_CUDA_MESH_SUM) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "CUDA: meshes of %lld triangles and %lld vertices; expected at most %d and %d",
                        (long long)triangles, (long long)points, TRIANGLES, ORR_CUDA_MESH_SUM);
    }
    return ORR_OK;
}

static orr_result find_linear(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_error *error)
{
    if (meshes->linear) {
        return ORR_OK;
    }
    void *linear;
    ORR_TRY(orr_cuda_alloc(cuda, 256, sizeof *meshes->linear, &linear, error));
    orr_cuda_meshes_fill_linear(cuda->stream, linear);
    cudaError_t code = cudaGetLastError();
    if (code != cudaSuccess) {
        orr_cuda_free(linear);
        return orr_cuda_fail(error, code, "fill_linear");
    }
    meshes->linear = linear;
    return ORR_OK;
}

// The frame as the light of shadow map `index` sees it.
static orr_cuda_mesh_scene map_scene(const orr_cuda_mesh_frame *frame, int index)
{
    orr_cuda_mesh_scene scene = frame->scene;
    scene.lens = frame->shadows.maps[index].lens;
    scene.smooth = 0;
    scene.only_casters = 1;
    scene.control += 1 + index;
    scene.to_camera = frame->to_lights + (size_t)index * 12 * scene.instance_count;
    return scene;
}

orr_result orr_cuda_meshes_begin(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_mesh_frame *frame,
                                 const orr_draw_list *list, const orr_mirror_pictures *mirrors,
                                 orr_error *error)
{
    size_t surfaces;
    ORR_TRY(measure(list, &surfaces, error));
    const layout l = lay_out((size_t)item_count(list), surfaces);
    ORR_TRY(reserve_tables(cuda, frame, &l, error));
    ORR_TRY(find_linear(cuda, meshes, error));
    frame->transparent = false;
    frame->scene = (orr_cuda_mesh_scene){.lens = list->lens,
                                         .linear = meshes->linear,
                                         .occlusion = {.values = orr_occlusion_of(list)},
                                         .smooth = list->smooth};
    for (int i = 0; i < item_count(list); i++) {
        ORR_TRY(add_instance(cuda, meshes, frame, &l, list, mirrors, i, error));
    }
    orr_draw_light_up(list, (orr_draw_lighting *)((char *)frame->staged + l.lighting));
    orr_shadow_plan_make(list, &frame->shadows);
    memcpy((char *)frame->staged + l.shadows, &frame->shadows, sizeof frame->shadows);
    char *tables = frame->tables.memory;
    orr_cuda_mesh_scene *scene = &frame->scene;
    scene->control = (orr_cuda_mesh_control *)(tables + l.controls);
    scene->lighting = (const orr_draw_lighting *)(tables + l.lighting);
    scene->shadows = (const orr_shadow_plan *)(tables + l.shadows);
    scene->instances = (const orr_cuda_mesh_instance *)(tables + l.instances);
    scene->surfaces = (const orr_cuda_mesh_surface *)(tables + l.surfaces);
    scene->point_firsts = (const uint32_t *)(tables + l.point_firsts);
    scene->triangle_firsts = (const uint32_t *)(tables + l.triangle_firsts);
    scene->instance_count = (uint32_t)item_count(list);
    float *to_camera = (float *)(tables + l.to_camera);
    scene->to_camera = to_camera;
    ORR_CUDA_TRY(cudaMemcpyAsync(tables, frame->staged, l.staged, cudaMemcpyHostToDevice, cuda->stream));
    orr_cuda_meshes_transform(cuda->stream, scene, to_camera);
    ORR_CUDA_LAUNCHED();
    frame->to_lights = (float *)(tables + l.to_lights);
    for (int i = 0; i < frame->shadows.map_count; i++) {
        const orr_cuda_mesh_scene map = map_scene(frame, i);
        orr_cuda_meshes_transform(cuda->stream, &map, frame->to_lights + (size_t)i * 12 * map.instance_count);
        ORR_CUDA_LAUNCHED();
    }
    return ORR_OK;
}

// ---- drawing ----

static size_t pixels_of(const orr_cuda_mesh_frame *frame)
{
    return (size_t)frame->scene.lens.width * (size_t)frame->scene.lens.height;
}

// Of the largest shadow map; 0: there are none.
static size_t texels_of(const orr_cuda_mesh_frame *frame)
{
    return frame->shadows.map_count > 0 ? (size_t)frame->shadows.size * (size_t)frame->shadows.size : 0;
}

// Scratch for the frame: pointers in the scene that its kernels get.
static orr_result reserve(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_mesh_frame *frame,
                          orr_error *error)
{
    orr_cuda_mesh_scene *scene = &frame->scene;
    size_t pixels = pixels_of(frame), fragments, triangles = scene->triangle_count;
    size_t texels = texels_of(frame);
    size_t records = triangles / 2 + RECORDS;
    meshes->record_capacity = meshes->record_capacity > records ? meshes->record_capacity : records;
    meshes->fragment_capacity = meshes->fragment_capacity > pixels ? meshes->fragment_capacity : pixels;
    const size_t least_edges = frame->scene.smooth ? pixels / 16 + 1 : 0;
    meshes->edge_capacity = meshes->edge_capacity > least_edges ? meshes->edge_capacity : least_edges;
    const bool occluded = scene->occlusion.values.radius > 0.0f;
    const size_t edges = frame->scene.smooth ? meshes->edge_capacity : 0;
    records = meshes->record_capacity;
    fragments = frame->transparent ? meshes->fragment_capacity : 0;
    const struct {
        orr_cuda_buffer *buffer;
        size_t count, size;
    } buffers[] = {
        {&meshes->points, scene->point_count, sizeof(mesh_point)},
        {&meshes->record_firsts, triangles, sizeof(uint32_t)},
        {&meshes->records, records, sizeof(mesh_record)},
        {&meshes->tile_firsts, records, sizeof(uint32_t)},
        {&meshes->nearest, pixels > texels ? pixels : texels, sizeof(uint64_t)},
        {&meshes->shadow_maps, (size_t)frame->shadows.texels, sizeof(float)},
        {&meshes->occlusion, occluded ? pixels : 0, 3 * sizeof(float)},
        {&meshes->depth, pixels, sizeof(float)},
        {&meshes->colour, pixels, 3 * sizeof(float)},
        {&meshes->fragment_counts, frame->transparent ? pixels + 1 : 0, sizeof(uint32_t)},
        {&meshes->fragment_starts, frame->transparent ? pixels + 1 : 0, sizeof(uint32_t)},
        {&meshes->sources, fragments, sizeof(uint64_t)},
        {&meshes->fragments, fragments, sizeof(orr_fragment)},
        {&meshes->edge_of, scene->smooth ? pixels : 0, sizeof(uint32_t)},
        {&meshes->sample_keys, edges, 4 * sizeof(uint64_t)},
        {&meshes->edges, edges, sizeof(orr_edge_pixel)},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        ORR_TRY(orr_cuda_reserve(cuda, buffers[i].buffer, buffers[i].count, buffers[i].size, error));
    }
    scene->points = meshes->points.memory;
    scene->record_firsts = meshes->record_firsts.memory;
    scene->records = meshes->records.memory;
    scene->tile_firsts = meshes->tile_firsts.memory;
    scene->nearest = meshes->nearest.memory;
    scene->shadow_maps = texels > 0 ? meshes->shadow_maps.memory : NULL;
    if (occluded) {
        scene->occlusion.depth = meshes->occlusion.memory;
        scene->occlusion.above = scene->occlusion.depth + pixels;
        scene->occlusion.all_around = scene->occlusion.above + pixels;
    }
    scene->depth = meshes->depth.memory;
    scene->colour = meshes->colour.memory;
    scene->fragment_counts = meshes->fragment_counts.memory;
    scene->fragment_starts = meshes->fragment_starts.memory;
    scene->sources = meshes->sources.memory;
    scene->fragments = meshes->fragments.memory;
    scene->edge_of = meshes->edge_of.memory;
    scene->sample_keys = meshes->sample_keys.memory;
    scene->edges = meshes->edges.memory;
    scene->edge_capacity = (uint32_t)edges;
    scene->record_capacity = (uint32_t)records;
    scene->fragment_capacity = (uint32_t)fragments;
    return ORR_OK;
}

// Vertices and triangles to records, and how many tiles the large ones reach.
static orr_result set_up(orr_cuda *cuda, orr_cuda_sort *sort, const orr_cuda_mesh_scene *scene,
                         orr_error *error)
{
    cudaStream_t stream = cuda->stream;
    orr_cuda_mesh_control *control = scene->control;
    orr_cuda_meshes_points(stream, scene);
    ORR_CUDA_LAUNCHED();
    orr_cuda_meshes_count(stream, scene);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(orr_cuda_running_sum(cuda, sort, scene->record_firsts, scene->record_firsts,
                                 &control->records_needed, &control->triangles, scene->triangle_count,
                                 error));
    orr_cuda_meshes_records(stream, scene);
    ORR_CUDA_LAUNCHED();
    return orr_cuda_running_sum(cuda, sort, scene->tile_firsts, scene->tile_firsts, &control->tiles,
                                &control->records, scene->record_capacity, error);
}

static orr_result raster(orr_cuda *cuda, const orr_cuda_mesh_scene *scene, orr_cuda_mesh_pass pass,
                         orr_error *error)
{
    orr_cuda_meshes_raster_small(cuda->stream, scene, pass);
    ORR_CUDA_LAUNCHED();
    orr_cuda_meshes_raster_large(cuda->stream, scene, pass, (unsigned int)cuda->info.processors * WARPS);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

// The nearest opaque record of each pixel.
static orr_result find_nearest(orr_cuda *cuda, orr_cuda_sort *sort, const orr_cuda_mesh_scene *scene,
                               orr_error *error)
{
    size_t pixels = (size_t)scene->lens.width * (size_t)scene->lens.height;
    ORR_CUDA_TRY(cudaMemsetAsync(scene->nearest, 0xff, pixels * sizeof(uint64_t), cuda->stream));
    if (scene->triangle_count > 0) {
        ORR_TRY(set_up(cuda, sort, scene, error));
        ORR_TRY(raster(cuda, scene, ORR_CUDA_MESH_NEAREST, error));
    }
    return ORR_OK;
}

static orr_result draw_shadow_maps(orr_cuda *cuda, const orr_cuda_meshes *meshes, orr_cuda_sort *sort,
                                   const orr_cuda_mesh_frame *frame, orr_error *error)
{
    float *maps = meshes->shadow_maps.memory;
    for (int i = 0; i < frame->shadows.map_count; i++) {
        const orr_cuda_mesh_scene map = map_scene(frame, i);
        ORR_TRY(find_nearest(cuda, sort, &map, error));
        orr_cuda_meshes_keep_depth(cuda->stream, &map, maps + frame->shadows.maps[i].first);
        ORR_CUDA_LAUNCHED();
    }
    return ORR_OK;
}

// The samples of pixels with edges, once their centres are shaded.
static orr_result draw_edges(orr_cuda *cuda, const orr_cuda_mesh_scene *scene, orr_error *error)
{
    orr_cuda_meshes_mark_edges(cuda->stream, scene);
    ORR_CUDA_LAUNCHED();
    if (scene->triangle_count > 0) {
        ORR_TRY(raster(cuda, scene, ORR_CUDA_MESH_SAMPLES, error));
    }
    orr_cuda_meshes_shade_samples(cuda->stream, scene);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

static orr_result draw_fragments(orr_cuda *cuda, orr_cuda_sort *sort, const orr_cuda_mesh_frame *frame,
                                 orr_error *error)
{
    const orr_cuda_mesh_scene *scene = &frame->scene;
    size_t starts = pixels_of(frame) + 1;
    ORR_CUDA_TRY(cudaMemsetAsync(scene->fragment_counts, 0, starts * sizeof(uint32_t), cuda->stream));
    ORR_TRY(raster(cuda, scene, ORR_CUDA_MESH_COUNT_FRAGMENTS, error));
    ORR_TRY(orr_cuda_running_sum(cuda, sort, scene->fragment_counts, scene->fragment_starts,
                                 &scene->control->fragments, &scene->control->starts, starts, error));
    orr_cuda_meshes_check_fragments(cuda->stream, scene);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(raster(cuda, scene, ORR_CUDA_MESH_FILL_FRAGMENTS, error));
    orr_cuda_meshes_shade_fragments(cuda->stream, scene);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_meshes_draw(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_sort *sort,
                                orr_cuda_mesh_frame *frame, orr_cuda_mesh_planes *planes, orr_error *error)
{
    ORR_TRY(reserve(cuda, meshes, frame, error));
    const orr_cuda_mesh_scene *scene = &frame->scene;
    cudaStream_t stream = cuda->stream;
    const size_t controls = (1 + (size_t)frame->shadows.map_count) * sizeof *frame->counted;
    for (int i = 0; i <= frame->shadows.map_count; i++) {
        frame->counted[i] = (orr_cuda_mesh_control){.triangles = scene->triangle_count,
                                                    .starts = (uint32_t)pixels_of(frame) + 1};
    }
    ORR_CUDA_TRY(cudaMemcpyAsync(scene->control, frame->counted, controls, cudaMemcpyHostToDevice, stream));
    ORR_TRY(draw_shadow_maps(cuda, meshes, sort, frame, error));
    ORR_TRY(find_nearest(cuda, sort, scene, error));
    if (scene->occlusion.depth) {
        orr_cuda_meshes_keep_depth(stream, scene, scene->occlusion.depth);
        ORR_CUDA_LAUNCHED();
        orr_cuda_meshes_occlude(stream, scene);
        ORR_CUDA_LAUNCHED();
    }
    orr_cuda_meshes_shade(stream, scene);
    ORR_CUDA_LAUNCHED();
    *planes = (orr_cuda_mesh_planes){.depth = scene->depth,
                                     .colour = scene->colour,
                                     .shadows = scene->shadows,
                                     .shadow_maps = scene->shadow_maps,
                                     .occlusion = scene->occlusion};
    if (scene->smooth) {
        ORR_TRY(draw_edges(cuda, scene, error));
        planes->edge_of = scene->edge_of;
        planes->edges = scene->edges;
    }
    if (frame->transparent) {
        ORR_TRY(draw_fragments(cuda, sort, frame, error));
        planes->fragment_starts = scene->fragment_starts;
        planes->fragments = scene->fragments;
    }
    ORR_CUDA_TRY(cudaMemcpyAsync(frame->counted, scene->control, controls, cudaMemcpyDeviceToHost, stream));
    return ORR_OK;
}

orr_result orr_cuda_meshes_check(orr_cuda_meshes *meshes, const orr_cuda_mesh_frame *frame, bool *again,
                                 orr_error *error)
{
    const orr_cuda_mesh_control *counted = frame->counted;
    *again = false;
    if (counted->tiles_needed > ORR_CUDA_MESH_SUM || counted->fragments_needed > ORR_CUDA_MESH_SUM) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "CUDA: meshes of %llu tiles and %llu transparent fragments; expected at most %d each",
                        (unsigned long long)counted->tiles_needed,
                        (unsigned long long)counted->fragments_needed, ORR_CUDA_MESH_SUM);
    }
    for (int i = 0; i <= frame->shadows.map_count; i++) {
        size_t needed = counted[i].records_needed;
        if (needed > frame->scene.record_capacity && needed + needed / 8 > meshes->record_capacity) {
            meshes->record_capacity = needed + needed / 8;
        }
        *again |= needed > frame->scene.record_capacity;
    }
    if (frame->scene.smooth && counted->edges_needed > frame->scene.edge_capacity) {
        meshes->edge_capacity = (size_t)counted->edges_needed + counted->edges_needed / 8;
        *again = true;
    }
    if (counted->fragments_needed > frame->scene.fragment_capacity) {
        meshes->fragment_capacity = (size_t)(counted->fragments_needed + counted->fragments_needed / 8);
        *again = true;
    }
    return ORR_OK;
}

// ---- the end ----

void orr_cuda_mesh_frame_destroy(orr_cuda_mesh_frame *frame)
{
    orr_cuda_release(&frame->tables);
    cudaFreeHost(frame->staged);
    *frame = (orr_cuda_mesh_frame){0};
}

void orr_cuda_meshes_release(orr_cuda_meshes *meshes, uint64_t key)
{
    orr_cuda_mesh_store_release(&meshes->store, key);
}

void orr_cuda_meshes_destroy(orr_cuda_meshes *meshes)
{
    orr_cuda_mesh_store_destroy(&meshes->store);
    orr_cuda_free(meshes->linear);
    orr_cuda_buffer *buffers[] = {
        &meshes->points,          &meshes->record_firsts, &meshes->records,   &meshes->tile_firsts,
        &meshes->nearest,         &meshes->depth,         &meshes->colour,    &meshes->fragment_counts,
        &meshes->fragment_starts, &meshes->sources,       &meshes->fragments, &meshes->shadow_maps,
        &meshes->edge_of,         &meshes->sample_keys,   &meshes->edges,     &meshes->occlusion};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_cuda_release(buffers[i]);
    }
    *meshes = (orr_cuda_meshes){0};
}
