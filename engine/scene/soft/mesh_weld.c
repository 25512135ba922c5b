#include "engine/scene/soft/mesh_weld.h"

#include "engine/core/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct weld_point {
    float at[3];
    int32_t vertex;
} weld_point;

static int compare_points(const void *a, const void *b)
{
    const weld_point *x = a, *y = b;
    int order = memcmp(x->at, y->at, sizeof x->at);
    return order != 0 ? order : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int compare_edges(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

orr_result orr_mesh_weld(const orr_mesh *mesh, int32_t **number, int *count, orr_error *error)
{
    weld_point *point;
    ORR_ALLOC(point, mesh->vertex_count, "the vertices of a mesh", error);
    *number = orr_alloc((size_t)mesh->vertex_count, sizeof **number);
    if (!*number) {
        orr_free(point);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the vertices of a mesh");
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        point[i].vertex = (int32_t)i;
        for (int k = 0; k < 3; k++) {
            point[i].at[k] = mesh->vertices[i].position[k] + 0.0f; // no -0
        }
    }
    qsort(point, (size_t)mesh->vertex_count, sizeof *point, compare_points);
    *count = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        *count += i == 0 || memcmp(point[i].at, point[i - 1].at, sizeof point[i].at) != 0;
        (*number)[point[i].vertex] = *count - 1;
    }
    orr_free(point);
    return ORR_OK;
}

orr_result orr_mesh_open_edges(const orr_mesh *mesh, int64_t *open, orr_error *error)
{
    int32_t *number;
    int places;
    ORR_TRY(orr_mesh_weld(mesh, &number, &places, error));
    int64_t *edge = orr_alloc((size_t)mesh->index_count, sizeof *edge);
    if (!edge) {
        orr_free(number);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the edges of a mesh");
    }
    for (int64_t i = 0; i < mesh->index_count; i++) {
        const int64_t from = number[mesh->indices[i]], to = number[mesh->indices[i / 3 * 3 + (i + 1) % 3]];
        const bool back = from > to;
        edge[i] = ((back ? to * places + from : from * places + to) << 1) + back;
    }
    qsort(edge, (size_t)mesh->index_count, sizeof *edge, compare_edges);
    *open = 0;
    for (int64_t i = 0; i < mesh->index_count;) {
        int64_t sum = 0, first = i;
        for (; i < mesh->index_count && edge[i] >> 1 == edge[first] >> 1; i++) {
            sum += edge[i] & 1 ? -1 : 1;
        }
        const int64_t key = edge[first] >> 1;
        *open += sum != 0 && key / places != key % places;
    }
    orr_free(number);
    orr_free(edge);
    return ORR_OK;
}
