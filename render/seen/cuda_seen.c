#include "render/seen/cuda_seen.h"

#include <string.h>

// Offset of each table in the frame's memory [bytes].
typedef struct layout {
    size_t instances, clouds, firsts;
    size_t instances_before, clouds_before;
    size_t positions; // of meshes that have been deformed, one behind the other
    size_t bytes;
} layout;

static size_t take(size_t *end, size_t count, size_t size)
{
    const size_t at = *end;
    *end += (count * size + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
    return at;
}

// The backdrop is the first instance (meshes.c).
static size_t backdrops(const orr_draw_list *list)
{
    return list->backdrop.mesh ? 1 : 0;
}

static layout lay_out(const orr_draw_list *list)
{
    const orr_before *before = list->seen->before;
    const size_t instances = (size_t)list->mesh_count + backdrops(list), clouds = (size_t)list->splat_count;
    size_t vertices = 0;
    for (int i = 0; before && i < list->mesh_count; i++) {
        const bool deformed = before->meshes[i].known && before->meshes[i].vertices;
        vertices += deformed ? (size_t)list->meshes[i].mesh->vertex_count : 0;
    }
    layout l = {0};
    l.instances = take(&l.bytes, instances, sizeof(orr_item_name));
    l.clouds = take(&l.bytes, clouds, sizeof(orr_item_name));
    l.firsts = take(&l.bytes, clouds, sizeof(uint32_t));
    l.instances_before = take(&l.bytes, before ? instances : 0, sizeof(orr_cuda_item_before));
    l.clouds_before = take(&l.bytes, before ? clouds : 0, sizeof(orr_cuda_item_before));
    l.positions = take(&l.bytes, vertices, 3 * sizeof(float));
    return l;
}

static orr_result reserve(orr_cuda *cuda, orr_cuda_seen *seen, size_t bytes, orr_error *error)
{
    if (seen->staged_bytes < bytes) {
        cudaFreeHost(seen->staged);
        seen->staged = NULL;
        seen->staged_bytes = 0;
        ORR_CUDA_TRY(cudaMallocHost(&seen->staged, bytes + bytes / 4));
        seen->staged_bytes = bytes + bytes / 4;
    }
    return orr_cuda_reserve(cuda, &seen->tables, bytes, 1, error);
}

static void name_items(const orr_draw_list *list, const layout *l, const uint32_t *firsts, char *staged)
{
    orr_item_name *instances = (orr_item_name *)(staged + l->instances);
    if (backdrops(list)) {
        *instances++ = (orr_item_name){-1, -1};
    }
    for (int i = 0; i < list->mesh_count; i++) {
        instances[i] = list->seen->meshes[i];
    }
    for (int i = 0; i < list->splat_count; i++) {
        ((orr_item_name *)(staged + l->clouds))[i] = list->seen->clouds[i];
        ((uint32_t *)(staged + l->firsts))[i] = firsts[i];
    }
}

// positions: on the device
static void place_meshes(const orr_draw_list *list, const layout *l, char *staged, const float *positions)
{
    const orr_before *before = list->seen->before;
    orr_cuda_item_before *out = (orr_cuda_item_before *)(staged + l->instances_before);
    float *to = (float *)(staged + l->positions);
    if (backdrops(list)) {
        *out++ = (orr_cuda_item_before){.known = 0};
    }
    for (int i = 0; i < list->mesh_count; i++) {
        const orr_item_before *was = &before->meshes[i];
        out[i] = (orr_cuda_item_before){.known = was->known};
        if (!was->known) {
            continue;
        }
        orr_affine_multiply(before->lens.view, was->model, out[i].matrix);
        const size_t vertices = was->vertices ? (size_t)list->meshes[i].mesh->vertex_count : 0;
        out[i].positions = was->vertices ? positions : NULL;
        for (size_t k = 0; k < vertices; k++) {
            memcpy(to + 3 * k, was->vertices[k].position, 3 * sizeof *to);
        }
        to += 3 * vertices;
        positions += 3 * vertices;
    }
}

static void place_clouds(const orr_draw_list *list, const layout *l, char *staged)
{
    orr_cuda_item_before *out = (orr_cuda_item_before *)(staged + l->clouds_before);
    for (int i = 0; i < list->splat_count; i++) {
        out[i] = (orr_cuda_item_before){.known = 0};
        out[i].known = orr_seen_cloud_before(list, list->seen->before, i, out[i].matrix);
    }
}

orr_result orr_cuda_seen_take(orr_cuda *cuda, orr_cuda_seen *seen, const orr_draw_list *list,
                              const uint32_t *firsts, orr_error *error)
{
    const orr_draw_seen *asked = list->seen;
    seen->asked = asked && (asked->segmentation || asked->normals || asked->flow);
    if (!seen->asked) {
        return ORR_OK;
    }
    const layout l = lay_out(list);
    ORR_TRY(reserve(cuda, seen, l.bytes, error));
    char *staged = seen->staged, *tables = seen->tables.memory;
    name_items(list, &l, firsts, staged);
    seen->see = (orr_cuda_see){.cloud_firsts = (const uint32_t *)(tables + l.firsts),
                               .cloud_count = list->splat_count,
                               .instances = (const orr_item_name *)(tables + l.instances),
                               .clouds = (const orr_item_name *)(tables + l.clouds),
                               .lens = list->lens,
                               .segmentation = asked->segmentation,
                               .normals = asked->normals,
                               .flow = asked->flow};
    if (asked->flow && asked->before) {
        place_meshes(list, &l, staged, (const float *)(tables + l.positions));
        place_clouds(list, &l, staged);
        seen->see.lens_before = asked->before->lens;
        seen->see.instances_before = (const orr_cuda_item_before *)(tables + l.instances_before);
        seen->see.clouds_before = (const orr_cuda_item_before *)(tables + l.clouds_before);
    }
    if (l.bytes > 0) {
        ORR_CUDA_TRY(cudaMemcpyAsync(tables, staged, l.bytes, cudaMemcpyHostToDevice, cuda->stream));
    }
    return ORR_OK;
}

orr_result orr_cuda_seen_draw(orr_cuda *cuda, const orr_cuda_seen *seen, const orr_cuda_mesh_scene *scene,
                              const uint32_t *takers, const float *depth, orr_error *error)
{
    orr_cuda_see see = seen->see;
    see.takers = takers;
    see.has_meshes = scene != NULL;
    see.depth = depth;
    const orr_cuda_mesh_scene none = {.lens = see.lens};
    orr_cuda_seen_launch(cuda->stream, scene ? scene : &none, &see);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

void orr_cuda_seen_close(orr_cuda_seen *seen)
{
    cudaFreeHost(seen->staged);
    orr_cuda_release(&seen->tables);
    *seen = (orr_cuda_seen){0};
}
